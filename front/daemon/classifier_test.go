package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/approval"
	"assent/kernel"
	"assent/model/scripted"
	"assent/plexus"
)

// The classifier end to end, over loopback, in both protocols: config.json names the
// connection, a server answers, and the call is decided or comes before a person.
func TestTheClassifierAsksAServer(t *testing.T) {
	text := func(s string) scripted.Reply { return scripted.Reply{Text: s} }
	retrieve := func(cut string) scripted.Reply { return text(`{"retrieve":"` + cut + `"}`) }
	const yes, no = `{"decision":"allow","uncertainty":1,"severity":5}`, `{"decision":"deny","uncertainty":9,"severity":9}`
	for _, test := range []struct {
		why     string
		replies []scripted.Reply
		vote    string // "" for a failed attempt
		fails   string
	}{
		{"allow", []scripted.Reply{text(yes)}, `"allow"`, ""},
		{"deny", []scripted.Reply{text(no)}, `"deny"`, ""},
		{"more evidence once", []scripted.Reply{retrieve("quarantined"), text(yes)}, `"allow"`, ""},
		{"more evidence twice", []scripted.Reply{retrieve("prior-turn"), retrieve("quarantined"), text(no)}, `"deny"`, ""},
		{"withheld", []scripted.Reply{text(`{"decision":"allow","uncertainty":8,"severity":9}`)}, "", "72 is more than 50"},
		{"no JSON", []scripted.Reply{text("I allow it.")}, "", "not the JSON that was asked for"},
		{"JSON of other types", []scripted.Reply{text(`{"decision":"allow","uncertainty":"1","severity":5}`)}, "", "its uncertainty is no number"},
		{"HTTP 429", []scripted.Reply{{Status: 429, Body: `{"error":{"type":"rate_limit_error","message":"slow down"}}`}}, "", "HTTP 429"},
		{"HTTP 500", []scripted.Reply{{Status: 500, Body: `{"error":{"type":"api_error","message":"oops"}}`}}, "", "HTTP 500"},
		{"cut", []scripted.Reply{{Text: yes, Cut: true}}, "", "connection local"},
		{"hang", []scripted.Reply{{Hang: true}}, "", "connection local"},
	} {
		for _, api := range []string{"anthropic", "openai"} {
			t.Run(test.why+" by "+api, func(t *testing.T) {
				t.Parallel()
				server := scripted.Start(t, func(n int, a scripted.Ask) scripted.Reply {
					if n <= len(test.replies) {
						return test.replies[n-1]
					}
					return scripted.Reply{Status: 503, Body: "{}"} // of a later attempt
				})
				p := somewhere(t)
				url := server.URL
				if api == "openai" {
					url += "/v1"
				}
				write(t, p.ConfigFile(), fmt.Sprintf(`{"connections": {"local": {"api": %q, "url": %q, "model": "small", "timeoutMs": 2000}}, "judgeConnection": "local"}`, api, url))
				d := start(t, p)
				ada := plexus.Writer{Role: plexus.Human, Name: "ada"}
				if _, err := d.parts.Kernel.CreateSession(t.Context(), kernel.NewSession{ID: "s", Mode: "auto", Workspace: t.TempDir()}, ada); err != nil {
					t.Fatal(err)
				}
				call, err := d.parts.Kernel.Admit(t.Context(), kernel.NewCall{Session: "s", Name: "Bash", Arguments: []byte(`{"command":"make deploy"}`)}, ada)
				if err != nil {
					t.Fatal(err)
				}
				if test.vote != "" {
					if got := d.field("s", call.ID, plexus.JudgeResult); got != test.vote {
						t.Errorf("vote %s", got)
					}
					return
				}
				if got := d.field("s", call.ID, plexus.JudgeFail(1)); !strings.Contains(got, test.fails) {
					t.Errorf("failed: %s, want %s", got, test.fails)
				}
				if needs, err := d.parts.Kernel.NeedsHuman(t.Context(), "s", call.ID); err != nil || !needs {
					t.Errorf("a person is asked: %v, %v", needs, err)
				}
				if a := server.Asked()[0]; a.API != api || a.Model != "small" || !strings.Contains(a.Text(), "make deploy") || !strings.Contains(a.System, "You decide whether one tool call") {
					t.Errorf("asked %+v", a)
				}
			})
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A program of a person's own is in force as soon as it is saved, and the votes of
// the one before are forgotten.
func TestAProgramIsHot(t *testing.T) {
	p := somewhere(t)
	file := filepath.Join(p.Config, "judge.scm")
	write(t, p.ConfigFile(), `{"autoModeAsk": "judge.scm"}`)
	write(t, file, "deny")
	d := start(t, p)
	ada := plexus.Writer{Role: plexus.Human, Name: "ada"}
	if _, err := d.parts.Kernel.CreateSession(t.Context(), kernel.NewSession{ID: "s", Mode: "auto", Workspace: t.TempDir()}, ada); err != nil {
		t.Fatal(err)
	}
	ask := func() string {
		call, err := d.parts.Kernel.Admit(t.Context(), kernel.NewCall{Session: "s", Name: "Bash", Arguments: []byte(`{"command":"make deploy"}`)}, ada)
		if err != nil {
			t.Fatal(err)
		}
		return d.field("s", call.ID, plexus.LicenseReason)
	}
	if got := ask(); got != plexus.Text(approval.ClassifierDenied.Name()) {
		t.Error("deny:", got)
	}
	write(t, file, "allow")
	for ask() != plexus.Text(approval.ClassifierAllowed.Name()) { // until it was noticed; the test's time limit ends it
	}
	// One that cannot run is told of, until it can.
	write(t, file, "(lambda (q")
	warned := func(holds func(string) bool) {
		t.Helper()
		for values := range d.parts.Document.WatchPresence(t.Context(), "") {
			if holds(values[ConfigWarning]) {
				return
			}
		}
		t.Fatal("never said")
	}
	warned(func(text string) bool { return strings.Contains(text, "judge.scm:1:9") })
	write(t, file, "deny")
	warned(func(text string) bool { return text == "" })
}
