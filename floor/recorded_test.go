package floor_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assent/floor"
)

// recordings are what real clients sent; they lie beside the repository.
const recordings = "../../shared/clients"

// recordedCall is a tool call as a client's hook told it.
type recordedCall struct {
	file, name string
	arguments  json.RawMessage
}

// Of every tool that a real client was seen to call, the floor knows what it
// does: no recorded call is of an unknown tool, has arguments nobody reads, or
// loses an effect.
func TestRecordedCalls(t *testing.T) {
	calls := recordedCalls(t)
	// The kinds of effects that must be told of each tool.
	want := map[string]string{
		"Bash": "run", "run_shell_command": "run", "bash": "run",
		"Write": "write", "write_file": "write", "write": "write", "apply_patch": "write",
		"Edit": "read write", "replace": "read write", "edit": "read write",
		"Read": "read", "read_file": "read", "read": "read", "view_image": "read", "list_directory": "read",
		"WebFetch": "net", "web_fetch": "net", "webfetch": "net", "WebSearch": "run",
		"Agent": "run", "invoke_agent": "run", "task": "run", "collaborationspawn_agent": "run", "collaborationwait_agent": "run",
		"TaskCreate": "run", "create_goal": "run", "list_mcp_resources": "run",
		"mcp__fakemcp__danger": "mcp", "mcp__fakemcp__echo": "mcp", "mcp_fakemcp_danger": "mcp", "mcp_fakemcp_echo": "mcp",
		"fakemcp_danger": "mcp", "fakemcp_echo": "mcp", // of opencode: no prefix tells it from a tool nobody knows
	}
	seen := make(map[string]bool)
	for _, c := range calls {
		kinds, ok := want[c.name]
		if !ok {
			t.Errorf("%s: the tool %s is in no row of this test", c.file, c.name)
			continue
		}
		seen[c.name] = true
		v := new(floor.Floor).Judge(floor.Call{Name: c.name, Arguments: c.arguments, Workspace: "/workspace", Home: "/home/user"})
		var told []string
		for _, e := range v.Effects {
			told = append(told, e.Kind.String())
			if e.Kind.String() == "opaque" && !strings.HasPrefix(c.name, "fakemcp_") {
				t.Errorf("%s: %s %s: %s", c.file, c.name, c.arguments, e.Target)
			}
		}
		for _, kind := range strings.Fields(kinds) {
			if !slices.Contains(told, kind) {
				t.Errorf("%s: %s %s tells %v, and no %s", c.file, c.name, c.arguments, told, kind)
			}
		}
	}
	for name := range want {
		if !seen[name] {
			t.Errorf("no recording calls %s", name)
		}
	}
	t.Logf("%d recorded calls of %d tools", len(calls), len(seen))
}

func recordedCalls(t *testing.T) []recordedCall {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(recordings, "*", "*.json*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("the recordings of clients are not at hand: nothing in %s", recordings)
	}
	var out []recordedCall
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		client := filepath.Base(filepath.Dir(file))
		for d := json.NewDecoder(bytes.NewReader(data)); ; {
			var doc any
			if err := d.Decode(&doc); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			walk(doc, func(o map[string]any) {
				name, arguments := o["tool_name"], o["tool_input"]
				if in, ok := o["input"].(map[string]any); ok && strings.Contains(file, "tool.execute.before") {
					if after, ok := o["output"].(map[string]any); ok {
						name, arguments = in["tool"], after["args"]
					}
				}
				text, ok := name.(string)
				if !ok || arguments == nil {
					return
				}
				raw, err := json.Marshal(arguments)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, recordedCall{client + "/" + filepath.Base(file), text, raw})
			})
		}
	}
	return out
}

// walk calls visit with every object in a document.
func walk(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v)
		for _, x := range v {
			walk(x, visit)
		}
	case []any:
		for _, x := range v {
			walk(x, visit)
		}
	}
}
