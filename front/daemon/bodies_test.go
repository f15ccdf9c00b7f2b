package daemon

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"assent/internal/peer"
	"assent/job"
	"assent/kernel"
	"assent/plexus"
)

// settled is the outcome of a call that a person has the kernel run.
func (d *running) settled(session string, kind job.Kind, tool, arguments string) string {
	d.t.Helper()
	ada := plexus.Writer{Role: plexus.Human, Name: "ada"}
	call, err := d.parts.Kernel.Admit(d.t.Context(), kernel.NewCall{Session: session, Kind: kind, Name: tool, Arguments: []byte(arguments)}, ada)
	if err != nil {
		d.t.Fatal(err)
	}
	for rows, err := range d.parts.Document.Watch(d.t.Context(), 0, plexus.Filter{Session: session}) {
		if err != nil {
			d.t.Fatal(err)
		}
		for _, row := range rows {
			if f, ok := row.(plexus.Field); ok && f.Job == call.ID && f.Name == plexus.OutcomeJSON {
				return f.Value
			}
		}
	}
	return ""
}

// The kernel runs calls of the host's own tools itself: as its user, without
// what else is in its environment, and as far as was judged.
func TestTheKernelRunsTheHostsOwnTools(t *testing.T) {
	t.Setenv("A_SECRET", "word")
	d := start(t, somewhere(t))
	ws := t.TempDir()
	ada := plexus.Writer{Role: plexus.Human, Name: "ada"}
	for _, mode := range []string{"manual", "yolo"} {
		if _, err := d.parts.Kernel.CreateSession(t.Context(), kernel.NewSession{ID: mode, Mode: mode, Workspace: ws}, ada); err != nil {
			t.Fatal(err)
		}
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusFound)
			return
		}
		fmt.Fprint(w, "a page")
	}))
	defer site.Close()
	for _, row := range []struct {
		why, session    string
		kind            job.Kind
		tool, arguments string
		want            string
	}{
		{"a command", "yolo", job.SystemTool, "bash", `{"command":"echo \"$ASSENT_BODY.$A_SECRET\" >a.txt; cat a.txt"}`, `"text":"1.\n"`},
		{"a file", "manual", job.SystemTool, "read", `{"path":"a.txt"}`, `"text":"1.\n"`},
		{"a page", "yolo", job.WebExtractTool, "web_extract", `{"url":"` + site.URL + `/"}`, `"text":"a page"`},
		{"a page that leads elsewhere", "yolo", job.WebExtractTool, "web_extract", `{"url":"` + site.URL + `/away"}`, `that was not judged with this call`},
		{"what the floor blocks", "yolo", job.WebExtractTool, "web_extract", `{"url":"http://169.254.169.254/latest/"}`, `Policy prohibits this tool use`},
		{"a search that nobody set up", "yolo", job.WebSearchTool, "web_search", `{"query":"x"}`, `webSearch`},
		{"a server that nobody set up", "yolo", job.MCPTool, "mcp__x__get_y", `{}`, `no server that is set up`},
	} {
		if got := d.settled(row.session, row.kind, row.tool, row.arguments); !strings.Contains(got, row.want) {
			t.Errorf("%s: %s", row.why, got)
		}
	}
	hook := plexus.Writer{Role: plexus.Agent, Name: "hook"}
	if _, err := d.parts.Kernel.Admit(context.Background(), kernel.NewCall{Session: "yolo", Kind: job.SystemTool, Name: "bash", Arguments: []byte(`{"command":"true"}`)}, hook); err == nil {
		t.Error("an agent has the kernel run a command")
	}
}

func TestVariablesThatAreHandedOn(t *testing.T) {
	got := strings.Join(handedOn([]string{"PATH=/bin", "AWS_SECRET_ACCESS_KEY=x", "LC_ALL=C", "HOME=/h", "LD_PRELOAD=/x", "PATHS=x", "ASSENT_BODY=0"}), " ")
	if got != peer.BodyMark+"=1 TERM=dumb PATH=/bin LC_ALL=C HOME=/h" {
		t.Error(got)
	}
}
