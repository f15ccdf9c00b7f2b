package kernel

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/floor"
	"assent/plexus"
)

func TestSame(t *testing.T) {
	w := newWorld(t, Options{})
	other := plexus.Writer{Role: plexus.Agent, Name: "other"}
	w.session("s", "manual")
	w.session("else", "manual")
	ask := func(session, id, tool, arguments string, by plexus.Writer) {
		t.Helper()
		w.admit(NewCall{Session: session, ID: id, Name: tool, Arguments: []byte(arguments)}, by)
		w.await(session, id, plexus.PolicyResult)
	}
	const wanted = `{"command":"other", "n":9007199254740993}`
	ask("s", "first", "Bash", wanted, hook)
	ask("s", "spaced", "Bash", `{ "command" : "other","n":9007199254740993 }`, hook)
	ask("s", "denied", "Bash", wanted, hook)
	ask("s", "gone", "Bash", wanted, hook)
	ask("s", "claimed", "Bash", wanted, hook)
	ask("s", "another-number", "Bash", `{"command":"other","n":9007199254740992}`, hook)
	ask("s", "another-order", "Bash", `{"n":9007199254740993,"command":"other"}`, hook)
	ask("s", "another-tool", "Shell", wanted, hook)
	w.answer("s", "first", true)
	w.answer("s", "denied", false)
	w.answer("s", "claimed", true)
	for _, id := range []string{"first", "denied", "claimed"} {
		w.await("s", id, plexus.OrchestrationResult)
	}
	w.await("s", "denied", plexus.Completed)
	w.must(w.Cancel(t.Context(), "s", "gone", hook))
	w.must(w.Begin(t.Context(), "s", "claimed", hook))

	same := func(session, tool string, by plexus.Writer) (ids []string, calls []SameCall) {
		t.Helper()
		calls, err := w.Same(t.Context(), session, tool, []byte(wanted), "", by)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			ids = append(ids, c.ID)
		}
		return ids, calls
	}
	for _, life := range []string{"this life", "the next life"} {
		ids, calls := same("s", "Bash", hook)
		if want := []string{"first", "spaced", "claimed"}; !slices.Equal(ids, want) {
			t.Fatalf("%s: got %q, want %q", life, ids, want)
		}
		for i, want := range []struct{ decided, begun bool }{{true, false}, {false, false}, {true, true}} {
			if c := calls[i]; (c.Decided != nil) != want.decided || c.Begun != want.begun || c.Decided != nil && !*c.Decided {
				t.Errorf("%s: %s: got %+v, want %+v", life, c.ID, c, want)
			}
		}
		w.restart()
	}
	for why, get := range map[string]func() ([]string, []SameCall){
		"another agent's":   func() ([]string, []SameCall) { return same("s", "Bash", other) },
		"another session's": func() ([]string, []SameCall) { return same("else", "Bash", hook) },
		"another tool's":    func() ([]string, []SameCall) { return same("s", "bash", hook) },
	} {
		if ids, _ := get(); len(ids) != 0 {
			t.Errorf("%s: got %q", why, ids)
		}
	}
	if _, err := w.Same(t.Context(), "none", "Bash", nil, "", hook); !errors.Is(err, plexus.ErrNoSession) {
		t.Errorf("a session that there is not: %v", err)
	}
	for known := true; known; runtime.Gosched() { // is let go of, once its owner has answered
		_, known = w.Loads()["none"]
	}
	if _, err := w.Same(t.Context(), "s", "Bash", nil, "", plexus.Writer{}); err == nil {
		t.Error("nobody asked, and was told")
	}
}

// The same words do another thing in another folder.
func TestSameStartsInTheSameFolder(t *testing.T) {
	w := newWorld(t, Options{})
	w.session("s", "manual")
	for id, facts := range map[string]string{"here": `{"cwd":"/a/b"}`, "there": `{"cwd":"/a/c"}`, "unsaid": ""} {
		w.admit(NewCall{Session: "s", ID: id, Name: "Bash", Arguments: bash("other"), Facts: facts}, hook)
		w.await("s", id, plexus.PolicyResult)
	}
	snap, err := w.doc.Open(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	session := snap.Session.Cwd
	for _, row := range []struct {
		cwd  string
		want []string
	}{{"/a/b", []string{"here"}}, {"/a/b/.", []string{"here"}}, {"/a", nil}, {session, []string{"unsaid"}}} {
		calls, err := w.Same(t.Context(), "s", "Bash", bash("other"), row.cwd, hook)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, c := range calls {
			ids = append(ids, c.ID)
		}
		if !slices.Equal(ids, row.want) {
			t.Errorf("in %s: got %q, want %q", row.cwd, ids, row.want)
		}
	}
	if calls, err := w.Same(t.Context(), "s", "Bash", bash("other"), "", hook); err != nil || len(calls) != 3 {
		t.Errorf("anywhere: %v, %v", calls, err)
	}
}

// What was left is taken up where a person said yes, a day at most, and where no
// policy blocks it by now. A license of a mode or a grant is nobody's afterwards.
func TestWhatIsTakenUp(t *testing.T) {
	never, err := floor.ParsePolicy("/policy.yaml", []byte("version: 1\nrun:\n  block: [other]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		why string
		do  func(w *world)
		yes bool
	}{
		{"it waits", func(*world) {}, true},
		{"it waits, and is blocked by now", func(w *world) { w.policies.operator = never }, false},
		{"a person's yes", func(w *world) { w.answer("s", "j", true); w.await("s", "j", plexus.OrchestrationResult) }, true},
		{"a person's yes, and it is blocked by now", func(w *world) {
			w.answer("s", "j", true)
			w.await("s", "j", plexus.OrchestrationResult)
			w.policies.operator = never
		}, false},
		{"a person's yes, nearly a day old", func(w *world) {
			w.answer("s", "j", true)
			time.Sleep(TicketLasts - time.Minute)
		}, true},
		{"a person's yes, a day old", func(w *world) { w.answer("s", "j", true); time.Sleep(TicketLasts) }, false},
		{"yolo", func(w *world) {
			_, err := w.Assign(w.Context(), "s", "yolo", false, ada)
			w.must(err)
			w.await("s", "j", plexus.OrchestrationResult)
			_, err = w.Assign(w.Context(), "s", "manual", false, ada)
			w.must(err)
		}, false},
		{"a person's yes that was used", func(w *world) {
			w.answer("s", "j", true)
			w.await("s", "j", plexus.OrchestrationResult)
			synctest.Wait()
			w.must(w.Begin(w.Context(), "s", "j", hook))
		}, false},
		{"a person's no while somebody waits", func(w *world) { w.answer("s", "j", false); w.await("s", "j", plexus.Completed) }, false},
		{"a person's no after it was left", func(w *world) {
			w.must(w.Leave(w.Context(), "s", "j", hook))
			w.answer("s", "j", false)
			w.await("s", "j", plexus.Completed)
		}, true},
		{"a person's no after it was left, a day old", func(w *world) {
			w.must(w.Leave(w.Context(), "s", "j", hook))
			w.answer("s", "j", false)
			time.Sleep(TicketLasts)
		}, false},
		{"a person's no that was heard", func(w *world) {
			w.must(w.Leave(w.Context(), "s", "j", hook))
			w.answer("s", "j", false)
			w.await("s", "j", plexus.Completed)
			w.must(w.Heard(w.Context(), "s", "j", hook))
			if err := w.Heard(w.Context(), "s", "j", hook); !errors.Is(err, ErrBegun) {
				t.Errorf("heard a second time: %v", err)
			}
		}, false},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				now := &turning{rulesOf(t)}
				w := newWorld(t, Options{Policies: now})
				w.policies = now
				w.session("s", "manual")
				w.admit(NewCall{Session: "s", ID: "j", Name: "Bash", Arguments: bash("other")}, hook)
				w.await("s", "j", plexus.PolicyResult)
				row.do(w)
				for _, life := range []string{"this life", "the next life"} {
					synctest.Wait()
					calls, err := w.Same(t.Context(), "s", "Bash", bash("other"), "", hook)
					if err != nil {
						t.Fatal(err)
					}
					got := slices.ContainsFunc(calls, func(c SameCall) bool { return c.ID == "j" && c.TakeUp })
					if got != row.yes {
						t.Errorf("%s: taken up: %v, want %v (%+v)", life, got, row.yes, calls)
					}
					w.restart()
				}
				w.stop()
			})
		})
	}
}

// turning is a floor that is another one by and by.
type turning struct{ rules }

// Asking for the same does not read the arguments of all that wait: whoever else asks
// the session waits behind it.
func TestSameReadsNoOtherArguments(t *testing.T) {
	const calls, size = 20, 1_000_000
	w := newWorld(t, Options{})
	w.session("s", "manual")
	for i := range calls {
		id := fmt.Sprint("c", i)
		w.must(w.ask("s", id, strings.Repeat("x", size), hook))
		w.await("s", id, plexus.PolicyResult)
	}
	if _, err := w.NeedsHuman(t.Context(), "s", "c0"); err != nil { // the owner has seen them all
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := w.Same(t.Context(), "s", "Bash", bash("y"), "", hook); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > calls*size/2 {
		t.Errorf("%d bytes were taken, for %d calls of %d", got, calls, size)
	}
}
