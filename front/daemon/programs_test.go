package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"assent/approval"
	"assent/job"
	"assent/kernel"
	"assent/model/scripted"
	"assent/plexus"
	"assent/turn"
)

// A model writes a program, whose calls people answer one by one; the program starts
// another agent, and what that finds reaches the first one.
func TestAModelWritesAProgram(t *testing.T) {
	const text = `(tool:write "a.txt" "one\n")
(define child (cdr (assq 'session (call-tool 'agent_call '((task . "count them"))))))
(guard (e (#t (display (car (error-object-irritants e))))) (bash "rm -rf build"))
child`
	expr, err := json.Marshal(map[string]string{"expr": text})
	if err != nil {
		t.Fatal(err)
	}
	server := scripted.Start(t, func(_ int, a scripted.Ask) scripted.Reply {
		switch first := a.Messages[0].Parts[0]; {
		case first == "count them" && len(a.Messages) == 1:
			return scripted.Reply{Calls: []scripted.Call{{ID: "c", Name: "agent_callback", Arguments: `{"text":"it is 3"}`}}}
		case first == "count them":
			return scripted.Reply{Text: "Told."}
		case len(a.Messages) == 1:
			return scripted.Reply{Text: "I clean up.", Calls: []scripted.Call{{ID: "p", Name: "scheme_repl", Arguments: string(expr)}}}
		}
		return scripted.Reply{Text: "Done: " + a.Text()}
	})
	p := somewhere(t)
	write(t, p.ConfigFile(), fmt.Sprintf(`{"connections": {"local": {"api": "openai", "url": %q, "model": "small"}}}`, server.URL+"/v1"))
	d := start(t, p)
	ada, ws := plexus.Writer{Role: plexus.Human, Name: "ada"}, t.TempDir()
	if _, err := d.parts.Kernel.CreateSession(t.Context(), kernel.NewSession{ID: "s", Mode: "manual", Workspace: ws}, ada); err != nil {
		t.Fatal(err)
	}
	call := kernel.NewCall{
		Session: "s", ID: "t", Kind: job.SessionTurn, Name: turn.Name, Arguments: []byte(`{"prompt":"clean up"}`), Facts: `{"connection":"local"}`,
	}
	if _, err := d.parts.Kernel.Admit(t.Context(), call, ada); err != nil {
		t.Fatal(err)
	}
	d.answer("s", "t.1.1.1", true)
	child := d.outcome("s", "t.1.1.2")
	var started struct {
		OK            bool
		Text, Session string
	}
	if err := json.Unmarshal([]byte(child), &started, json.MatchCaseInsensitiveNames(true)); err != nil || !started.OK {
		t.Fatal(child, err)
	}
	if got := d.outcome(started.Session, "task"); got != `{"ok":true,"text":"Told."}` {
		t.Errorf("the child ended with %s", got)
	}
	view, err := d.parts.Kernel.View(t.Context(), started.Session)
	if err != nil || view.CurrentPolicy != approval.Manual || view.AutoAllow != (approval.Grants{}) {
		t.Errorf("the child has %+v, %v", view, err)
	}
	d.field("s", "t.1.1.3", plexus.PolicyResult)
	note := plexus.Field{Session: "s", Job: "t.1.1.3", Name: plexus.ApprovalComment, Value: `"keep it"`}
	if _, err := d.parts.Document.Apply(t.Context(), plexus.Tx{Writer: ada, Writes: []plexus.Row{note}}); err != nil {
		t.Fatal(err)
	}
	d.answer("s", "t.1.1.3", false)
	want := fmt.Sprintf(`{"ok":true,"text":%q,"output":"refused","calls":3}`, started.Session)
	if got := d.outcome("s", "t.1.1"); got != want {
		t.Errorf("the program ended with %s, want %s", got, want)
	}
	if got := d.outcome("s", "t"); !strings.Contains(got, "Another agent says") || !strings.Contains(got, "it is 3") || !strings.Contains(got, "keep it") {
		t.Errorf("the turn ended with %s", got)
	}
	if got, err := os.ReadFile(filepath.Join(ws, "a.txt")); err != nil || string(got) != "one\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// answer is a person's, as soon as it is possible.
func (d *running) answer(session, id string, yes bool) {
	d.t.Helper()
	d.field(session, id, plexus.PolicyResult)
	ada := plexus.Writer{Role: plexus.Human, Name: "ada"}
	_, err := d.parts.Document.Apply(d.t.Context(), plexus.Tx{Writer: ada, Writes: []plexus.Row{plexus.Field{Session: session, Job: id, Name: plexus.Approved, Value: plexus.Bool(yes)}}})
	if err != nil {
		d.t.Fatal(err)
	}
}
