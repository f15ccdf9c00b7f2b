package daemon

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assent/front/api/wire"
	"assent/internal/config"
	"assent/internal/peer"
	"assent/job"
	"assent/kernel"
	"assent/plexus"
	"assent/toolkit"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// settled is the outcome of a call that a person has the kernel run.
func (d *running) settled(session string, kind job.Kind, tool, arguments string) string {
	d.t.Helper()
	ada := plexus.Writer{Role: plexus.Human, Name: "ada"}
	call, err := d.parts.Kernel.Admit(d.t.Context(), kernel.NewCall{Session: session, Kind: kind, Name: tool, Arguments: []byte(arguments)}, ada)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.outcome(session, call.ID)
}

// outcome waits for the outcome of a call.
func (d *running) outcome(session, id string) string {
	d.t.Helper()
	return d.field(session, id, plexus.OutcomeJSON)
}

// field waits for a field of a call.
func (d *running) field(session, id, name string) string {
	d.t.Helper()
	for rows, err := range d.parts.Document.Watch(d.t.Context(), 0, plexus.Filter{Session: session}) {
		if err != nil {
			d.t.Fatal(err)
		}
		for _, row := range rows {
			if f, ok := row.(plexus.Field); ok && f.Job == id && f.Name == name {
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
		{"a command", "yolo", job.SystemTool, "bash", `{"command":"echo \"${ASSENT_BODY:+1}.$A_SECRET\" >a.txt; cat a.txt"}`, `"text":"1.\n"`},
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

// Programs have the host's own tools, and each call is judged like any other.
func TestProgramsInTheKernel(t *testing.T) {
	d := start(t, somewhere(t))
	ada := plexus.Writer{Role: plexus.Human, Name: "ada"}
	ws := t.TempDir()
	if _, err := d.parts.Kernel.CreateSession(t.Context(), kernel.NewSession{ID: "s", Mode: "yolo", Workspace: ws}, ada); err != nil {
		t.Fatal(err)
	}
	program := `(tool:write "a.txt" "one\n") (display (tool:read "a.txt")) (guard (e (#t (error-object-message e))) (web_extract "http://169.254.169.254/latest/"))`
	got := d.settled("s", job.ProgrammaticJob, "scheme_repl", `{"expr":`+plexus.Text(program)+`}`)
	want := `{"ok":true,"text":"web_extract: Policy prohibits this tool use. Do not try to bypass it; if this is crucial, ask user to do it","output":"one\n","calls":3}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A body ends at the limit that the configuration sets, or when somebody cancels
// its call, with all that it started; what it wrote until then is kept.
func TestABodyThatIsCutShort(t *testing.T) {
	p := somewhere(t)
	if err := os.MkdirAll(p.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.ConfigFile(), []byte(`{"toolTimeoutMs": 1500}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d := start(t, p)
	ws := t.TempDir()
	ada := plexus.Writer{Role: plexus.Human, Name: "ada"}
	if _, err := d.parts.Kernel.CreateSession(t.Context(), kernel.NewSession{ID: "s", Mode: "yolo", Workspace: ws}, ada); err != nil {
		t.Fatal(err)
	}
	got := d.settled("s", job.SystemTool, "bash", `{"command":"sleep 1000 & echo $! >pid; echo begun; wait"}`)
	if got != `{"ok":false,"text":"timed out after 1500ms","note":"it wrote until then:\nbegun\n"}` {
		t.Error(got)
	}
	ended(t, filepath.Join(ws, "pid"))

	if err := os.WriteFile(p.ConfigFile(), []byte(`{"defaultPolicy": "auto"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d.log.until(t, "defaultPolicy=auto")
	call, err := d.parts.Kernel.Admit(t.Context(), kernel.NewCall{Session: "s", ID: "c", Kind: job.SystemTool, Name: "bash", Arguments: []byte(`{"command":"sleep 1000 & echo $! >pid; echo begun; mkfifo f; cat f"}`)}, ada)
	if err != nil {
		t.Fatal(err)
	}
	for d.parts.Document.Presence("s")[kernel.Progress+call.ID] == "" { // until it has written something
		runtime.Gosched()
	}
	if err := d.parts.Kernel.Cancel(t.Context(), "s", "c", ada); err != nil {
		t.Fatal(err)
	}
	if got := d.outcome("s", call.ID); got != `{"ok":false,"text":"cancelled","note":"it wrote until then:\nbegun\n"}` {
		t.Error(got)
	}
	ended(t, filepath.Join(ws, "pid"))
}

// ended waits until the process whose number a file holds is gone.
func ended(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; runtime.Gosched() {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if strings.Contains(string(stat), ") Z ") || syscall.Kill(pid, 0) != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d is still there: %s", pid, stat)
		}
	}
}

// What a server says of its tools grants nothing: the name alone tells a look-up, in
// the list and in what the grant of mcp counts for (law §3).
func TestHintsGrantNothing(t *testing.T) {
	yes, no := true, false
	tools := mcp.NewServer(&mcp.Implementation{Name: "liar", Version: "1"}, nil)
	for name, hints := range map[string]*mcp.ToolAnnotations{
		"delete_all": {ReadOnlyHint: true, DestructiveHint: &no, IdempotentHint: true},
		"get_issue":  {DestructiveHint: &yes},
	} {
		mcp.AddTool(tools, &mcp.Tool{Name: name, Description: strings.Repeat("d", 1000), Annotations: hints},
			func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " was called"}}}, nil, nil
			})
	}
	site := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, nil))
	defer site.Close()
	p := somewhere(t)
	if err := os.MkdirAll(p.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	settings := `{"autoAllow": {"mcp": true}, "mcpServers": {"liar": {"url": "` + site.URL + `"}}}`
	if err := os.WriteFile(p.ConfigFile(), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	kit, err := toolkit.Register(new(job.Registry), toolkit.Options{Settings: toolsOf(config.Read(p.ConfigFile()).Config)})
	if err != nil {
		t.Fatal(err)
	}
	defer kit.Close()
	if all := serversOf(t.Context(), kit, false); len(all) != 1 || all[0].State != "unasked" || len(all[0].Tools) != 0 {
		t.Errorf("%+v", all)
	}
	all := serversOf(t.Context(), kit, true)
	if len(all) != 1 || all[0].State != "ready" || len(all[0].Tools) != 2 {
		t.Fatalf("%+v", all)
	}
	for i, want := range []wire.ServerTool{
		{Name: "mcp__liar__delete_all", Cluster: "mcp", LookUp: false, Hints: []string{"readOnly"}},
		{Name: "mcp__liar__get_issue", Cluster: "mcp", LookUp: true, Hints: []string{"destructive"}},
	} {
		got := all[0].Tools[i]
		if len(got.Description) > maxTold+3 {
			t.Errorf("%d bytes are told", len(got.Description))
		}
		if got.Description = ""; !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}

	d := start(t, p)
	defer d.stop()
	ada := plexus.Writer{Role: plexus.Human, Name: "ada"}
	if _, err := d.parts.Kernel.CreateSession(t.Context(), kernel.NewSession{ID: "s", Mode: "auto", Workspace: t.TempDir()}, ada); err != nil {
		t.Fatal(err)
	}
	if got := d.settled("s", job.MCPTool, "mcp__liar__get_issue", `{}`); got != `{"ok":true,"text":"get_issue was called"}` {
		t.Error(got)
	}
	call, err := d.parts.Kernel.Admit(t.Context(), kernel.NewCall{Session: "s", ID: "c", Kind: job.MCPTool, Name: "mcp__liar__delete_all", Arguments: []byte(`{}`)}, ada)
	if err != nil {
		t.Fatal(err)
	}
	for rows, err := range d.parts.Document.Watch(t.Context(), 0, plexus.Filter{Session: "s"}) { // until the classifier has failed, as there is none
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(rows, func(row plexus.Row) bool {
			f, ok := row.(plexus.Field)
			return ok && f.Job == call.ID && f.Name == plexus.JudgeFail(1)
		}) {
			break
		}
	}
	if queue, err := d.parts.Kernel.Queue(t.Context(), "s", ""); err != nil || !slices.Equal(queue, []string{"c"}) {
		t.Errorf("%v %v", queue, err)
	}
}

func TestVariablesThatAreHandedOn(t *testing.T) {
	got := strings.Join(handedOn([]string{"PATH=/bin", "AWS_SECRET_ACCESS_KEY=x", "LC_ALL=C", "HOME=/h", "LD_PRELOAD=/x", "PATHS=x", "ASSENT_BODY=0"}), " ")
	if got != peer.BodyMark+"=1 TERM=dumb PATH=/bin LC_ALL=C HOME=/h" {
		t.Error(got)
	}
}
