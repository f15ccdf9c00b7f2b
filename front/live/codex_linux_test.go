package live

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// responses is the protocol of Codex.
var responses = protocol{
	turn: func(r *http.Request, body string) bool {
		return strings.HasSuffix(r.URL.Path, "/responses") && strings.Contains(body, `"exec_command"`)
	},
	stream: func(*http.Request, string) bool { return true },
	call: func(w io.Writer, _ *http.Request, _, id, command string) {
		arguments := quoted(object(map[string]string{"cmd": command}))
		respond(w, `{"type":"function_call","id":"fc_`+id+`","call_id":"`+id+`","name":"exec_command","arguments":`+arguments+`}`)
	},
	text: func(w io.Writer, _ *http.Request, _, text string) {
		respond(w, `{"type":"message","id":"msg","role":"assistant","content":[{"type":"output_text","text":`+quoted(text)+`}]}`)
	},
}

func respond(w io.Writer, item string) {
	event(w, "response.created", `{"type":"response.created","response":{"id":"resp"}}`)
	event(w, "response.output_item.done", `{"type":"response.output_item.done","output_index":0,"item":`+item+`}`)
	event(w, "response.completed", `{"type":"response.completed","response":{"id":"resp","usage":{"input_tokens":1,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":2}}}`)
}

// quoted is a text as JSON.
func quoted(text string) string { return object(text) }

func object(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

const codex = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"

// codexDesk is a desk with Codex, told of the model, and connected.
func codexDesk(t *testing.T, m *model) (d *desk, start func(args ...string) *window) {
	t.Helper()
	program := installed(t, codex)
	d = newDesk(t)
	d.write(t, filepath.Join(d.home, ".codex", "config.toml"), fmt.Sprintf(`model = "gpt-5.1-codex"
model_provider = "script"
[model_providers.script]
name = "script"
base_url = %q
wire_api = "responses"
env_key = "SCRIPT_KEY"
supports_websockets = false
[projects.%q]
trust_level = "trusted"
`, m.URL+"/v1", d.project))
	d.connect(t, "codex")
	return d, func(args ...string) *window {
		t.Helper()
		return inWindow(t, d.project, append(d.env, "SCRIPT_KEY=none"), append([]string{program}, args...)...)
	}
}

// trust trusts the hooks that connect has written, as a person does where Codex
// shows them, by the way its own screen does it.
func (d *desk) trust(t *testing.T) {
	t.Helper()
	server := exec.Command(installed(t, codex), "app-server")
	server.Env, server.Dir = d.env, d.project
	in, err1 := server.StdinPipe()
	out, err2 := server.StdoutPipe()
	if err := errors.Join(err1, err2, server.Start()); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(longest, func() { server.Process.Kill() })
	defer func() {
		late.Stop()
		in.Close()
		server.Process.Kill()
		server.Wait()
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	ask := func(id int, method string, params, result any) {
		t.Helper()
		if _, err := fmt.Fprintln(in, object(map[string]any{"id": id, "method": method, "params": params})); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			var answer struct {
				ID     int            `json:"id"`
				Method string         `json:"method"`
				Result jsontext.Value `json:"result"`
			}
			if err := json.Unmarshal(lines.Bytes(), &answer); err != nil || answer.ID != id || answer.Method != "" {
				continue // a notification
			}
			if err := json.Unmarshal(answer.Result, result); err != nil {
				t.Fatalf("%s: %v: %s", method, err, lines.Text())
			}
			return
		}
		t.Fatalf("codex app-server does not answer %s: %v", method, lines.Err())
	}
	var nothing jsontext.Value
	ask(1, "initialize", map[string]any{"clientInfo": map[string]string{"name": "test", "version": "1"}}, &nothing)
	fmt.Fprintln(in, `{"method":"initialized"}`)
	var list struct {
		Data []struct {
			Hooks []struct {
				Key     string `json:"key"`
				Command string `json:"command"`
				Hash    string `json:"currentHash"`
				Trust   string `json:"trustStatus"`
			} `json:"hooks"`
		} `json:"data"`
	}
	ask(2, "hooks/list", map[string]any{"cwds": []string{d.project}}, &list)
	trusted := make(map[string]map[string]string)
	for _, at := range list.Data {
		for _, h := range at.Hooks {
			if strings.Contains(h.Command, "assent-hook") {
				trusted[h.Key] = map[string]string{"trusted_hash": h.Hash}
			}
		}
	}
	if len(trusted) < 2 {
		t.Fatalf("Codex knows no hooks of ours: %+v", list)
	}
	ask(3, "config/batchWrite", map[string]any{
		"edits":            []any{map[string]any{"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}},
		"filePath":         filepath.Join(d.home, ".codex", "config.toml"),
		"reloadUserConfig": true,
	}, &nothing)
}

func TestCodex(t *testing.T) {
	m := newModel(t, responses)
	d, start := codexDesk(t, m)
	d.trust(t)
	play(t, d, m, start("exec", "--dangerously-bypass-approvals-and-sandbox", "do as you are told"))
}

// What connect says must be done yet: without it nothing is asked. Once that is
// not so any more, the words can go.
func TestCodexRunsNoHookThatIsNotTrusted(t *testing.T) {
	m := newModel(t, responses)
	d, start := codexDesk(t, m)
	client := start("exec", "--dangerously-bypass-approvals-and-sandbox", "do as you are told")
	m.next(t, client)
	m.shell("touch never-by-policy")
	m.next(t, client)
	m.end()
	client.wait(t)
	if !d.ran(t, "never-by-policy") {
		t.Error("Codex has asked a hook that nobody trusted: say so, and no longer that it must be trusted")
	}
}

// A tool of an MCP server, which Codex would have refused where nobody sits: the
// one question is assent's.
func TestCodexTools(t *testing.T) {
	m := newModel(t, responses)
	d, start := codexDesk(t, m)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(d.home, ".codex", "config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	d.write(t, config, string(text)+fmt.Sprintf("[mcp_servers.desk]\ncommand = %q\ncwd = %q\n[mcp_servers.desk.env]\n%s = \"1\"\n", self, d.project, serves))
	d.trust(t)
	client := start("exec", "do as you are told")
	mark := func(tool, file string) string {
		t.Helper()
		m.use(func(w io.Writer, id string) {
			respond(w, `{"type":"function_call","id":"fc_`+id+`","call_id":"`+id+`","namespace":"mcp__desk","name":"`+tool+`","arguments":`+
				quoted(object(map[string]string{"file": file, "description": "an argument of its own"}))+`}`)
		})
		return m.next(t, client)
	}
	m.next(t, client)
	mark("mark", "allowed-by-policy")
	if !d.ran(t, "allowed-by-policy") {
		t.Errorf("an allowed tool did not run; the client says\n%s", client.all())
	}
	if told := mark("wipe", "never-by-policy"); d.ran(t, "never-by-policy") || !strings.Contains(told, "Policy prohibits this tool use") {
		t.Errorf("a blocked tool ran, or the model is not told:\n%s", told)
	}
	m.end()
	client.wait(t)
}
