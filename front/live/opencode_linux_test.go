package live

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// completions is the protocol of opencode.
var completions = protocol{
	turn: func(r *http.Request, body string) bool {
		return strings.HasSuffix(r.URL.Path, "/chat/completions") && strings.Contains(body, `"name":"bash"`)
	},
	stream: func(_ *http.Request, body string) bool { return strings.Contains(body, `"stream":true`) },
	call: func(w io.Writer, _ *http.Request, body, id, command string) {
		arguments := quoted(object(map[string]string{"command": command, "description": "does as it is told"}))
		complete(w, body, "tool_calls", `"tool_calls":[{"index":0,"id":"`+id+`","type":"function","function":{"name":"bash","arguments":`+arguments+`}}]`)
	},
	text: func(w io.Writer, _ *http.Request, body, text string) {
		complete(w, body, "stop", `"content":`+quoted(text))
	},
}

func complete(w io.Writer, body, reason, members string) {
	const head, usage = `{"id":"c","created":1,"model":"script",`, `"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`
	message := `{"role":"assistant",` + members + `}`
	if !strings.Contains(body, `"stream":true`) {
		fmt.Fprint(w, head+`"object":"chat.completion","choices":[{"index":0,"message":`+message+`,"finish_reason":"`+reason+`"}],`+usage)
		return
	}
	event(w, "", head+`"object":"chat.completion.chunk","choices":[{"index":0,"delta":`+message+`,"finish_reason":null}]}`)
	event(w, "", head+`"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"`+reason+`"}],`+usage)
	event(w, "", "[DONE]")
}

func TestOpencode(t *testing.T) {
	program := installed(t, "opencode-linux-x64/bin/opencode")
	m := newModel(t, completions)
	d := newDesk(t)
	d.write(t, filepath.Join(d.home, ".config", "opencode", "opencode.json"), object(map[string]any{
		"model": "script/script", "small_model": "script/script", "autoupdate": false, "share": "disabled",
		"provider": map[string]any{"script": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "script",
			"options": map[string]any{"baseURL": m.URL + "/v1", "apiKey": "none"},
			"models":  map[string]any{"script": map[string]any{"name": "script"}},
		}},
	}))
	d.connect(t, "opencode")
	client := inWindow(t, d.project, append(d.env, "OPENCODE_DISABLE_MODELS_FETCH=1", "npm_config_fetch_retries=0"), program, "run", "do as you are told")
	play(t, d, m, client)
}
