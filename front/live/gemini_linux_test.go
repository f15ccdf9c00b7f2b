package live

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// generate is the protocol of Gemini CLI.
var generate = protocol{
	turn: func(r *http.Request, body string) bool {
		return strings.Contains(r.URL.Path, "enerateContent") && strings.Contains(body, `"run_shell_command"`) && strings.Contains(body, `"functionDeclarations"`)
	},
	stream: func(r *http.Request, _ string) bool { return strings.HasSuffix(r.URL.Path, ":streamGenerateContent") },
	call: func(w io.Writer, r *http.Request, _, _, command string) {
		say(w, r, `{"functionCall":{"name":"run_shell_command","args":`+object(map[string]string{"command": command})+`}}`)
	},
	text: func(w io.Writer, r *http.Request, _, text string) { say(w, r, `{"text":`+quoted(text)+`}`) },
}

func say(w io.Writer, r *http.Request, part string) {
	answer := `{"candidates":[{"index":0,"content":{"role":"model","parts":[` + part + `]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2},"modelVersion":"script"}`
	switch {
	case strings.HasSuffix(r.URL.Path, ":countTokens"):
		fmt.Fprint(w, `{"totalTokens":1}`)
	case strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
		event(w, "", answer)
	default:
		fmt.Fprint(w, answer)
	}
}

func TestGemini(t *testing.T) {
	program := installed(t, "@google/gemini-cli/bundle/gemini.js")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skipf("Gemini CLI needs node: %v", err)
	}
	m := newModel(t, generate)
	d := newDesk(t)
	d.write(t, filepath.Join(d.home, ".gemini", "settings.json"), `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false, "disableUpdateNag": true} // mine
}
`)
	d.connect(t, "gemini")
	env := append(d.env, "GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL="+m.URL, "GEMINI_CLI_TRUST_WORKSPACE=true")
	play(t, d, m, inWindow(t, d.project, env, node, program, "--yolo", "--model", "gemini-2.5-pro", "-p", "do as you are told"))
}
