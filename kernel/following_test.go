package kernel

import (
	"context"
	"slices"
	"strings"
	"testing"

	"assent/approval"
	"assent/job"
	"assent/plexus"
)

// family is a session of an agent's with others below it:
//
//	s ─┬─ a ─── aa     started by calls
//	   ├─ c ─── cc     made by the client
//	   ├─ own ─ ownc   made by a person in a mode that they named
//	   └─ theirs       another agent's by now
func family(t *testing.T, mode string) (w *world, modes func() string, name map[string]string) {
	t.Helper()
	w, ws, _ := speaking(t)
	name = map[string]string{"s": "s", "c": "c", "cc": "cc", "own": "own", "ownc": "ownc", "theirs": "theirs"}
	add := func(id, parent, mode string, by plexus.Writer) {
		t.Helper()
		if _, err := w.CreateSession(t.Context(), NewSession{ID: id, Parent: parent, Mode: mode, Workspace: ws}, by); err != nil {
			t.Fatal(err)
		}
	}
	spawn := func(parent string) string {
		t.Helper()
		id, err := w.Spawn(t.Context(), job.Call{Session: parent, Job: "j", Workspace: ws, RealWorkspace: ws}, "x")
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	add("s", "", mode, ada)
	w.must(w.Give(t.Context(), "s", hook.Name, ada))
	name["a"] = spawn("s")
	name["aa"] = spawn(name["a"])
	add("c", "s", "", hook)
	add("cc", "c", "", hook)
	add("own", "s", "auto", ada)
	w.must(w.Give(t.Context(), "own", hook.Name, ada))
	add("ownc", "own", "", hook)
	add("theirs", "s", "", hook)
	w.must(w.Give(t.Context(), "theirs", spy.Name, ada))
	return w, func() string {
		t.Helper()
		var all []string
		for _, n := range []string{"s", "a", "aa", "c", "cc", "own", "ownc", "theirs"} {
			view, err := w.View(t.Context(), name[n])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, n+"="+view.CurrentPolicy.String())
		}
		return strings.Join(all, " ")
	}, name
}

// What is below a session follows its mode, until a person gives it another.
func TestTheModeReachesWhatIsBelow(t *testing.T) {
	w, modes, name := family(t, "manual")
	for _, step := range []struct {
		why, session, mode string
		followed           int
		own                []string
		want               string
	}{
		{"at first", "", "", 0, nil, "s=manual a=manual aa=manual c=manual cc=manual own=auto ownc=auto theirs=manual"},
		{"wider", "s", "yolo", 4, []string{"own", "theirs"}, "s=yolo a=yolo aa=yolo c=yolo cc=yolo own=auto ownc=auto theirs=manual"},
		{"stricter again", "s", "manual", 4, []string{"own", "theirs"}, "s=manual a=manual aa=manual c=manual cc=manual own=auto ownc=auto theirs=manual"},
		{"one below has its own from now on", "c", "auto", 1, nil, "s=manual a=manual aa=manual c=auto cc=auto own=auto ownc=auto theirs=manual"},
		{"and keeps it, with what is below", "s", "yolo", 2, []string{"c", "own", "theirs"}, "s=yolo a=yolo aa=yolo c=auto cc=auto own=auto ownc=auto theirs=manual"},
		{"what is below one with its own follows that", "own", "manual", 1, nil, "s=yolo a=yolo aa=yolo c=auto cc=auto own=manual ownc=manual theirs=manual"},
		{"the same once more", "s", "yolo", 2, []string{"c", "own", "theirs"}, "s=yolo a=yolo aa=yolo c=auto cc=auto own=manual ownc=manual theirs=manual"},
	} {
		if step.session != "" {
			got, err := w.Assign(t.Context(), step.session, step.mode, false, ada)
			slices.Sort(got.Own)
			if err != nil || got.Sessions != step.followed || !slices.Equal(got.Own, step.own) {
				t.Errorf("%s: %+v %v", step.why, got, err)
			}
		}
		if got := modes(); got != step.want {
			t.Errorf("%s: %s\nwant %s", step.why, got, step.want)
		}
		if step.why == "stricter again" {
			w.restart() // nothing of it is in memory alone
		}
	}
	latest, err := w.doc.Latest(t.Context(), name["a"])
	if by, ok := latest[plexus.StandingPolicy].Writer.Asked(); err != nil || !ok || by != ada {
		t.Errorf("it says that %v set it, %v", latest[plexus.StandingPolicy].Writer, err)
	}
}

// A register that a person writes by themselves is a mode of its own, too.
func TestAModeThatIsWrittenByItself(t *testing.T) {
	w, modes, _ := family(t, "yolo")
	w.write(ada, plexus.Register{Session: "c", Name: plexus.StandingPolicy, Value: `"manual"`})
	if _, err := w.Assign(t.Context(), "s", "auto", false, ada); err != nil {
		t.Fatal(err)
	}
	if got, want := modes(), "s=auto a=auto aa=auto c=manual cc=yolo own=auto ownc=auto theirs=yolo"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Whoever takes a mode back has the calls that wait below answered by the new one, and
// that also in a turn with a mode of its own.
func TestATurnBelowFollows(t *testing.T) {
	w, modes, name := family(t, "manual")
	w.write(host, plexus.Job{Session: name["a"], ID: "turn", Kind: plexus.SessionTurn})
	w.write(host, plexus.Register{Session: name["a"], Name: plexus.Overlay("turn"), Value: `"manual"`})
	w.must(w.ask(name["a"], "waits", "other", hook))
	w.await(name["a"], "waits", plexus.PolicyResult)
	if _, err := w.Assign(t.Context(), "s", "yolo", false, ada); err != nil {
		t.Fatal(err)
	}
	if got := w.await(name["a"], "waits", plexus.OrchestrationResult); got != plexus.True {
		t.Error("what waited:", got)
	}
	if _, err := w.Assign(t.Context(), "s", "manual", false, ada); err != nil {
		t.Fatal(err)
	}
	if got := modes(); !strings.HasPrefix(got, "s=manual a=manual ") {
		t.Error(got)
	}
}

// An agent sets no mode, and none below.
func TestAgentsSetNoModeBelow(t *testing.T) {
	w, modes, _ := family(t, "manual")
	was := modes()
	for _, by := range []plexus.Writer{hook, spy, {}} {
		if _, err := w.Assign(t.Context(), "s", "yolo", false, by); err == nil {
			t.Errorf("%v sets a mode", by)
		}
	}
	if got := modes(); got != was {
		t.Errorf("%s\nwas %s", got, was)
	}
}

// Unattended sessions keep the mode that they were admitted with, and so do those below.
func TestUnattendedSessionsFollowNobody(t *testing.T) {
	w, ws, _ := speaking(t)
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Seat: approval.Unattended, Mode: "auto", Workspace: ws}, ada); err != nil {
		t.Fatal(err)
	}
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "c", Parent: "s", Workspace: ws}, ada); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Assign(t.Context(), "s", "yolo", false, ada); err == nil {
		t.Error("its mode is set")
	}
	if view, err := w.View(t.Context(), "c"); err != nil || view.CurrentPolicy != approval.Auto {
		t.Error("below:", view.CurrentPolicy, err)
	}
}

// hasty is a document in which a person gives a session a mode while that of the one
// above is on its way there.
type hasty struct {
	*plexus.Store
	meanwhile func()
}

func (h *hasty) Apply(ctx context.Context, tx plexus.Tx) (plexus.Rev, error) {
	if _, follows := tx.Writer.Asked(); follows && h.meanwhile != nil {
		f := h.meanwhile
		h.meanwhile = nil
		f()
	}
	return h.Store.Apply(ctx, tx)
}

// A mode that a person gives meanwhile is not overwritten.
func TestAModeThatIsGivenMeanwhileStays(t *testing.T) {
	var h hasty
	w := newWorldOver(t, Options{}, func(doc *plexus.Store) Document {
		h.Store = doc
		return &h
	})
	w.session("s", "manual")
	for _, id := range []string{"a", "b"} {
		if _, err := w.CreateSession(t.Context(), NewSession{ID: id, Parent: "s", Workspace: w.dir}, ada); err != nil {
			t.Fatal(err)
		}
	}
	h.meanwhile = func() {
		w.write(ada, plexus.Register{Session: "a", Name: plexus.StandingPolicy, Value: `"auto"`})
	}
	followed, err := w.Assign(t.Context(), "s", "yolo", false, ada)
	if err != nil || followed.Sessions != 1 || !slices.Equal(followed.Own, []string{"a"}) {
		t.Errorf("%+v %v", followed, err)
	}
	for id, want := range map[string]approval.Mode{"a": approval.Auto, "b": approval.Yolo} {
		if view, err := w.View(t.Context(), id); err != nil || view.CurrentPolicy != want {
			t.Errorf("%s: %v %v", id, view.CurrentPolicy, err)
		}
	}
}
