package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"assent/floor"
	"assent/job"
	"assent/plexus"
	"assent/senses"
	"assent/session"
)

var (
	spy   = plexus.Writer{Role: plexus.Agent, Name: "spy"}
	other = plexus.Writer{Role: plexus.Agent, Name: "other"}
)

// Reading in a workspace is silent, so an agent does not choose one that holds
// everything, and none where it was not started.
func TestWorkspaceOfAnAgent(t *testing.T) {
	root := real(t.TempDir())
	at := func(name string) string { return filepath.Join(root, name) }
	for _, dir := range []string{"home/ada/code/deep", "home/ada/.ssh", "elsewhere", "home/ada/projects/x", "open"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"home/ada/code/all": "/", "home/ada/code/up": at("home/ada"), "short": at("home/ada/code")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t, Options{Home: at("home/ada"), Settings: Settings{AgentFolders: []string{"~/projects", at("open"), "relative"}}})
	code := at("home/ada/code")
	for _, c := range []struct {
		name      string
		workspace string
		home      string
		folder    string
		want      string // the workspace, "" for refused
	}{
		{"where-it-was-started", at("home/ada/code"), "", code, at("home/ada/code")},
		{"below", at("home/ada/code/deep"), at("home/ada"), code, at("home/ada/code/deep")},
		{"by-another-name", at("short"), "", code, at("home/ada/code")},
		{"where-it-was-started-by-another-name", at("home/ada/code"), "", at("short"), at("home/ada/code")},
		{"nobody-knows-where-it-was-started", at("elsewhere"), "", "", at("elsewhere")},
		{"started-above-all", at("home/ada/code"), "", "/", at("home/ada/code")},

		{"where-the-settings-let-it", at("home/ada/projects/x"), "", code, at("home/ada/projects/x")},
		{"where-the-settings-let-it-itself", at("open"), "", code, at("open")},

		{"everything", "/", "", "", ""},
		{"everything-where-it-was-started", "/", "", "/", ""},
		{"everything-by-another-name", at("home/ada/code/all"), "", code, ""},
		{"the-system", "/etc", "", "/", ""},
		{"processes", "/proc/1", "", "/", ""},
		{"devices", "/dev/fd", "", "", ""},
		{"the-home", at("home/ada"), "", at("home/ada"), ""},
		{"the-home-by-another-name", at("home/ada/code/up"), "", code, ""},
		{"above-the-home", at("home"), "", "", ""},
		{"above-where-it-was-started", at("home/ada/code"), "", at("home/ada/code/deep"), ""},
		{"beside-where-it-was-started", at("home/ada/.ssh"), "", code, ""},
		{"a-folder-of-a-like-name", at("home/ada/code"), "", at("home/ada/co"), ""},
		{"where-it-was-started-is-gone", at("elsewhere"), "", at("gone"), ""},
		{"a-home-of-its-own", at("home/ada/code"), at("elsewhere"), code, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSession{Workspace: c.workspace, Home: c.home, Folder: c.folder}
			row, err := w.CreateSession(t.Context(), s, hook)
			switch {
			case c.want == "" && !errors.Is(err, ErrBounds):
				t.Errorf("got %q, %v, want %v", row.Workspace, err, ErrBounds)
			case c.want != "" && (err != nil || row.Workspace != c.want || row.Home != w.Home):
				t.Errorf("got %q with home %q, %v, want %q", row.Workspace, row.Home, err, c.want)
			}
			if _, err := w.CreateSession(t.Context(), s, ada); err != nil {
				t.Errorf("a person: %v", err)
			}
		})
	}
}

// An agent acts in sessions of its own: those that it made, and those of people
// in which nobody else asked before.
func TestSessionsOfOthers(t *testing.T) {
	w := newWorld(t, Options{})
	w.session("person's", "yolo")
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "spy's", Workspace: w.dir}, spy); err != nil {
		t.Fatal(err)
	}
	asks := func(session, id string, by plexus.Writer) error {
		_, err := w.Admit(t.Context(), NewCall{Session: session, ID: id, Name: "Bash", Arguments: []byte(`{"command":"other"}`)}, by)
		return err
	}
	under := func(parent string, by plexus.Writer) error {
		_, err := w.CreateSession(t.Context(), NewSession{Workspace: w.dir, Parent: parent}, by)
		return err
	}
	check := func(t *testing.T) {
		t.Helper()
		for why, c := range map[string]struct{ got, want error }{
			"its own":                    {asks("spy's", w.NewID(), spy), nil},
			"another's":                  {asks("spy's", w.NewID(), hook), ErrOther},
			"under another's":            {under("spy's", hook), ErrOther},
			"under its own":              {under("spy's", spy), nil},
			"a person's":                 {asks("person's", w.NewID(), hook), nil},
			"a person's, another":        {asks("person's", w.NewID(), spy), ErrOther},
			"a person's, under it":       {under("person's", hook), nil},
			"a person's, under, another": {under("person's", spy), ErrOther},
			"none":                       {asks("none", w.NewID(), hook), plexus.ErrNoSession},
			"a person in an agent's":     {asks("spy's", w.NewID(), ada), nil},
		} {
			if !errors.Is(c.got, c.want) {
				t.Errorf("%s: got %v, want %v", why, c.got, c.want)
			}
		}
	}
	if err := asks("person's", "first", hook); err != nil {
		t.Fatal(err)
	}
	check(t)
	w.restart()
	check(t)

	// A person takes it from one and gives it to another.
	if err := w.Give(t.Context(), "person's", spy.Name, hook); !errors.Is(err, plexus.ErrRole) {
		t.Errorf("an agent gives: %v", err)
	}
	if err := w.Give(t.Context(), "none", spy.Name, ada); !errors.Is(err, plexus.ErrNoSession) {
		t.Errorf("none is given: %v", err)
	}
	if err := w.Give(t.Context(), "person's", spy.Name, ada); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := asks("person's", w.NewID(), spy); err != nil {
			t.Errorf("whom it was given to: %v", err)
		}
		if err := asks("person's", w.NewID(), hook); !errors.Is(err, ErrOther) {
			t.Errorf("whom it was taken from: %v", err)
		}
		w.restart()
	}
}

// Of many agents that want a session at once it is one's.
func TestOneAgentHasASession(t *testing.T) {
	w := newWorld(t, Options{})
	w.session("s", "yolo")
	got := make(chan error)
	agents := []plexus.Writer{hook, spy, other}
	for _, by := range agents {
		go func() { got <- w.admits(t.Context(), "s", by) }()
	}
	have := 0
	for range agents {
		switch err := <-got; {
		case err == nil:
			have++
		case !errors.Is(err, ErrOther):
			t.Error(err)
		}
	}
	if have != 1 {
		t.Errorf("%d agents have it", have)
	}
}

// What is made a link after its session was made opens nothing: what lies where
// it leads now was not meant.
func TestAWorkspaceThatLeadsElsewhere(t *testing.T) {
	root := real(t.TempDir())
	at := func(name string) string { return filepath.Join(root, name) }
	for _, dir := range []string{"w", "v1", "secrets"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(dir+"/file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("v1"), at("current")); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, Options{Prepare: func(_ context.Context, f *floor.Floor, call floor.Call) floor.Call {
		return senses.CompleteFor(f, call)
	}})
	n := 0
	reads := func(session, file string) string {
		t.Helper()
		n++
		id := fmt.Sprint("j", n)
		w.admit(NewCall{Session: session, ID: id, Name: "Read", Arguments: []byte(`{"file_path":` + plexus.Text(file) + `}`)}, hook)
		return w.await(session, id, plexus.PolicyResult)
	}
	for _, name := range []string{"w", "current"} {
		if _, err := w.CreateSession(t.Context(), NewSession{ID: name, Mode: "manual", Workspace: at(name)}, ada); err != nil {
			t.Fatal(err)
		}
		if got := reads(name, at(name+"/file")); got != `"allow"` {
			t.Errorf("%s as it was: %s", name, got)
		}
		if err := os.RemoveAll(at(name)); err != nil {
			t.Fatal(err)
		}
		if got := reads(name, at(name+"/gone")); name == "w" && got != `"allow"` {
			t.Errorf("%s that is gone: %s", name, got)
		}
		if err := os.Symlink(at("secrets"), at(name)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := reads(name, at(name+"/file")); got != `"deny"` {
				t.Errorf("%s elsewhere: %s", name, got)
			}
			w.restart()
		}
	}
}

// What an agent left under way in a session that another has now is cancelled, and
// no mode or grant that is meant for the other answers it.
func TestWhatAnAgentLeavesInASession(t *testing.T) {
	w := newWorld(t, Options{})
	w.session("s", "manual")
	for id, by := range map[string]plexus.Writer{"left": hook, "persons": ada} {
		w.admit(NewCall{Session: "s", ID: id, Name: "Bash", Arguments: bash("other")}, by)
		w.await("s", id, plexus.PolicyResult)
	}
	w.must(w.Give(t.Context(), "s", spy.Name, ada))
	if got := w.fields("s", "left"); got[plexus.Cancelled] != plexus.True || got[plexus.Completed] != plexus.True {
		t.Errorf("what was left is %v", got)
	}
	w.admit(NewCall{Session: "s", ID: "theirs", Name: "Bash", Arguments: bash("other")}, spy)
	if _, err := w.Assign(t.Context(), "s", "yolo", false, ada); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"theirs", "persons"} {
		if got := w.await("s", id, plexus.OrchestrationResult); got != plexus.True {
			t.Errorf("%s: %s", id, got)
		}
	}
	if got, ok := w.fields("s", "left")[plexus.OrchestrationResult]; ok {
		t.Errorf("what was left is licensed: %s", got)
	}
	// Who lost the session between its license and the body does not begin it.
	w.must(w.Give(t.Context(), "s", hook.Name, ada))
	if err := w.Begin(t.Context(), "s", "theirs", spy); err == nil {
		t.Error("a call is begun in a session that is another's")
	}
}

// Sessions have so many below them and no more, whoever makes them, by whichever way.
func TestHowManyStandBelowASession(t *testing.T) {
	w, ws, _ := speaking(t)
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Workspace: ws}, hook); err != nil {
		t.Fatal(err)
	}
	made := func(i int) (err error) {
		id := fmt.Sprint("c", i)
		if i%2 == 0 {
			id, err = w.Spawn(t.Context(), job.Call{Session: "s", Job: session.JobID(fmt.Sprint("j", i)), Workspace: ws, RealWorkspace: ws}, "x")
		} else {
			_, err = w.CreateSession(t.Context(), NewSession{ID: id, Parent: "s", Workspace: ws}, hook)
		}
		if err == nil {
			err = w.ask(id, "j", "let it", hook) // of those with nothing in them there may be fewer yet
		}
		return err
	}
	for i := range maxChildren {
		w.must(made(i))
	}
	for i := range 2 {
		if err := made(maxChildren + i); !errors.Is(err, ErrTooMany) {
			t.Errorf("one more: %v", err)
		}
	}
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "c1", Parent: "s", Workspace: ws}, hook); !errors.Is(err, plexus.ErrWritten) {
		t.Errorf("one that is there: %v", err)
	}
}

// What a client makes below a session counts for how deep the agents in it start others.
func TestHowDeepAgentsStartOthers(t *testing.T) {
	w, ws, _ := speaking(t)
	parent := ""
	for range maxDepth + 1 {
		s, err := w.CreateSession(t.Context(), NewSession{Workspace: ws, Parent: parent}, hook)
		w.must(err)
		parent = s.ID
	}
	if _, err := w.Spawn(t.Context(), job.Call{Session: parent, Job: "j", Workspace: ws, RealWorkspace: ws}, "x"); !errors.Is(err, ErrTooMany) {
		t.Errorf("below the deepest: %v", err)
	}
}

// Sessions stand below each other so deep and no deeper, whoever makes them.
func TestHowDeepAgentsNest(t *testing.T) {
	w := newWorld(t, Options{})
	dir := t.TempDir()
	parent := ""
	for depth := range maxDepth + 3 {
		s, err := w.CreateSession(t.Context(), NewSession{Workspace: dir, Parent: parent}, hook)
		if fits := depth <= maxDepth; (err == nil) != fits || !fits && !errors.Is(err, ErrTooMany) {
			t.Fatalf("%d above: %v", depth, err)
		} else if !fits {
			return
		}
		parent = s.ID
	}
}
