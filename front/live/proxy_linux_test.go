package live

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Servers of MCP tools behind assent mcp, in clients that ask no hook.

func TestCodexBehindTheProxy(t *testing.T) {
	m := newModel(t, responses)
	d, start := codexDesk(t, m) // nobody trusts what connect wrote
	config := filepath.Join(d.home, ".codex", "config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	d.write(t, config, string(text)+fmt.Sprintf("[mcp_servers.desk]\ncommand = %q\nargs = [\"mcp\", \"--\", %q]\ncwd = %q\n[mcp_servers.desk.env]\n%s = \"1\"\n",
		filepath.Join(d.bin, "assent"), d.server(t), d.project, serves))
	playTools(t, d, m, start("exec", "--dangerously-bypass-approvals-and-sandbox", "do as you are told"), func(tool, file string) {
		m.use(func(w io.Writer, id string) {
			respond(w, `{"type":"function_call","id":"fc_`+id+`","call_id":"`+id+`","namespace":"mcp__desk","name":"`+tool+`","arguments":`+
				quoted(object(map[string]string{"file": file}))+`}`)
		})
	})
}

func TestGeminiBehindTheProxy(t *testing.T) {
	program := installed(t, "@google/gemini-cli/bundle/gemini.js")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skipf("Gemini CLI needs node: %v", err)
	}
	m := newModel(t, generate)
	d := newDesk(t)
	d.write(t, filepath.Join(d.home, ".gemini", "settings.json"), object(map[string]any{
		"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
		"privacy":  map[string]any{"usageStatisticsEnabled": false},
		"general":  map[string]any{"enableAutoUpdate": false, "disableUpdateNag": true},
		"mcpServers": map[string]any{"desk": map[string]any{
			"command": filepath.Join(d.bin, "assent"), "args": []string{"mcp", "--", d.server(t)}, "cwd": d.project, "env": map[string]string{serves: "1"},
		}},
	}))
	env := append(d.env, "GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL="+m.URL, "GEMINI_CLI_TRUST_WORKSPACE=true")
	client := inWindow(t, d.project, env, node, program, "--yolo", "--model", "gemini-2.5-pro", "-p", "do as you are told")
	playTools(t, d, m, client, func(tool, file string) {
		m.say <- func(w io.Writer, r *http.Request, _ string) {
			say(w, r, `{"functionCall":{"name":"mcp_desk_`+tool+`","args":`+object(map[string]string{"file": file})+`}}`)
		}
	})
}

// playTools is the conversation about tools of a server: use calls one, which makes a
// file if it runs.
func playTools(t *testing.T, d *desk, m *model, client *window, use func(tool, file string)) {
	t.Helper()
	expect := func(why, file string, ran bool, told ...string) {
		t.Helper()
		request := m.next(t, client)
		if got := d.ran(t, file); got != ran {
			t.Errorf("%s: ran is %v, want %v; the client says\n%s", why, got, ran, client.all())
		}
		for _, text := range told {
			if !strings.Contains(request, text) {
				t.Errorf("%s: the model is not told %q:\n%s", why, text, request)
			}
		}
	}
	m.next(t, client)
	use("wipe", "never-by-policy") // no kernel runs yet: the proxy starts one
	expect("a policy blocks it", "never-by-policy", false, "Policy prohibits this tool use")
	use("mark", "allowed-by-policy")
	expect("a policy allows it", "allowed-by-policy", true)

	look := &watching{window: inWindow(t, d.project, d.env, filepath.Join(d.bin, "assent"), "watch")}
	use("draw", "refused-by-person")
	number := look.asked(t)
	if said := d.assent(t, "deny", number, "--comment", "rather in another folder"); !strings.Contains(said, "denied") {
		t.Fatalf("assent deny: %s", said)
	}
	expect("a person says no", "refused-by-person", false, "User refused this tool use", "rather in another folder")
	use("draw", "held-for-person")
	number = look.asked(t)
	if d.ran(t, "held-for-person") {
		t.Error("it ran while it was held")
	}
	if said := d.assent(t, "allow", number, "--whole"); !strings.Contains(said, "allowed") {
		t.Fatalf("assent allow: %s", said)
	}
	expect("a person says yes", "held-for-person", true)

	look.end(t) // it would start a kernel too
	d.kill(t)
	use("mark", "allowed-by-the-next")
	expect("the kernel was killed, and the proxy starts another", "allowed-by-the-next", true)
	d.kill(t)
	program := filepath.Join(d.bin, "assent")
	// The system tells a program where it was moved to, but not which other name it has.
	if err := errors.Join(os.Link(program, program+".away"), os.Remove(program)); err != nil {
		t.Fatal(err)
	}
	use("mark", "allowed-by-nobody")
	expect("no kernel runs and none can be started", "allowed-by-nobody", false, "the kernel does not run and cannot be started")
	if err := os.Rename(program+".away", program); err != nil {
		t.Fatal(err)
	}
	m.end()
	if status := client.wait(t); status != 0 {
		t.Errorf("the client ends with %d; it says\n%s", status, client.all())
	}
}

// server is a program beside assent's that is a server of tools called desk.
func (d *desk) server(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(d.bin, "desk")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}
