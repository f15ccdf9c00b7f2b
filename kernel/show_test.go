package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/floor"
	"assent/job"
	"assent/plexus"
	"assent/toolkit"
)

// shipped is the floor without anybody's policy.
type shipped struct{}

func (shipped) Layers(string) Layers               { return Layers{Floor: floor.Floor{}} }
func (shipped) Notify(string, func()) (end func()) { return func() {} }

// A person sees what a call would change, the body changes that and nothing
// else, and what may not be read in silence is shown to nobody: agents read the
// document too.
func TestAPersonSeesWhatACallWouldChange(t *testing.T) {
	for _, test := range []struct {
		why, path, before, meanwhile string
		shown, hidden                string
		outcome, after               string
	}{
		{"as it was shown", "a.txt", "one\n", "", "-one", "", `"ok":true`, "two\n"},
		{"a new file", "new.txt", "", "", "+two", "", `"ok":true`, "two\n"},
		{"changed meanwhile", "a.txt", "one\n", "three\n", "-one", "", "has changed since it was shown", "three\n"},
		{"made meanwhile", "new.txt", "", "three\n", "+two", "", "has changed since it was shown", "three\n"},
		{"a file that is not read in silence", ".env", "TOKEN=one\n", "", "it is not shown", "TOKEN", `{"ok":true,"text":"wrote .env"}`, "two\n"},
		{"such a file, in another life", ".env", "TOKEN=one\n", "TOKEN=one\n", "it is not shown", "TOKEN", "started anew since this was asked", "TOKEN=one\n"},
	} {
		t.Run(test.why, func(t *testing.T) {
			tools := new(job.Registry)
			if _, err := toolkit.Register(tools, toolkit.Options{}); err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, Options{Registry: tools, Policies: shipped{}})
			dir, err := filepath.EvalSymlinks(w.dir)
			if err != nil {
				t.Fatal(err)
			}
			ws := filepath.Join(dir, "ws")
			file := filepath.Join(ws, test.path)
			write := func(text string) {
				t.Helper()
				if text == "" {
					return
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(ws, 0o755); err != nil {
				t.Fatal(err)
			}
			write(test.before)
			if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Mode: "manual", Workspace: ws}, ada); err != nil {
				t.Fatal(err)
			}
			w.admit(NewCall{Session: "s", ID: "w", Kind: job.FileMutateTool, Name: "write", Arguments: []byte(`{"path":"` + test.path + `","content":"two\n"}`)}, host)
			w.await("s", "w", plexus.PolicyResult)
			explanation := w.await("s", "w", plexus.Explanation)
			if !strings.Contains(explanation, test.shown) || test.hidden != "" && strings.Contains(explanation, test.hidden) {
				t.Errorf("the explanation is %s", explanation)
			}
			write(test.meanwhile)
			if test.meanwhile != "" {
				w.restart() // the next life knows what was shown
			}
			w.answer("s", "w", true)
			if got := w.outcome("s", "w"); !strings.Contains(got, test.outcome) {
				t.Errorf("the outcome is %s", got)
			}
			if got, _ := os.ReadFile(file); string(got) != test.after {
				t.Errorf("the file holds %q", got)
			}
		})
	}
}
