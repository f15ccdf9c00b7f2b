package approval_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"assent/approval"

	"pgregory.net/rapid"
)

func TestHatchShape(t *testing.T) {
	for _, row := range []struct {
		name, tool, arguments string
		want                  bool
	}{
		{"npx", "Bash", `{"command":"npx create-app"}`, true},
		{"bunx", "Bash", `{"command":"bunx x"}`, true},
		{"later in the text", "Bash", `{"command":"cd a && npx x"}`, true},
		{"with a path", "Bash", `{"command":"/usr/bin/npx x"}`, true},
		{"escaped in JSON", "Bash", `{"command":"\u006epx x"}`, true},
		{"argument list", "shell", `{"command":["bash","-lc","npx x"]}`, true},
		{"other argument name", "exec_command", `{"cmd":"npx x"}`, true},
		{"keys", "write_stdin", `{"session_id":1,"chars":"npx x\n"}`, true},
		{"no known argument name", "Bash", `{"line":"npx x"}`, true},
		{"repeated argument", "Bash", `{"command":"npx x","command":"ls"}`, true},
		{"repeated argument, turned", "Bash", `{"command":"ls","command":"npx x"}`, true},
		{"dash is no letter", "Bash", `{"command":"npx-like"}`, true},
		{"unreadable", "Bash", `{"command":"ls"`, true},
		{"no object", "Bash", `"npx x"`, true},
		{"two objects", "Bash", `{} {}`, true},

		{"longer word", "Bash", `{"command":"snpx x"}`, false},
		{"underscore is a letter", "Bash", `{"command":"npx_x"}`, false},
		{"npm run", "Bash", `{"command":"npm run build"}`, false},
		{"cargo run", "Bash", `{"command":"cargo run"}`, false},
		{"git commit", "Bash", `{"command":"git commit -m x"}`, false},
		{"git add", "Bash", `{"command":"git add ."}`, false},
		{"git fetch", "Bash", `{"command":"git fetch"}`, false},
		{"said in the description only", "Bash", `{"command":"ls","description":"no npx here"}`, false},
		{"a member's name", "Bash", `{"command":"ls","npx":true}`, false},
		{"no arguments", "Bash", ``, false},
		{"null", "Bash", `null`, false},
		{"capitals", "Bash", `{"command":"NPX x"}`, false},
		{"write", "Write", `{"file_path":"a","content":"npx x"}`, false},
		{"read", "Read", `{"file_path":"npx"}`, false},
		{"server tool", "mcp__x__run", `{"command":"npx x"}`, false},
		{"server tool, unreadable", "mcp__x__run", `{`, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := approval.HatchShape(row.tool, []byte(row.arguments)); got != row.want {
				t.Errorf("HatchShape(%s, %s) = %v, want %v", row.tool, row.arguments, got, row.want)
			}
		})
	}
}

// TestHatchIsThePattern holds the hand-written word search against the
// patterns as the law gives them.
func TestHatchIsThePattern(t *testing.T) {
	pattern := regexp.MustCompile(`\bnpx\b|\bbunx\b`)
	piece := rapid.SampledFrom([]string{"npx", "bunx", "bun", "x", "_", " ", "-", "é", "1", "\n", "'", "np", "\u0301"})
	rapid.Check(t, func(t *rapid.T) {
		command := ""
		for _, p := range rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces") {
			command += p
		}
		arguments, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := approval.HatchShape("Bash", arguments), pattern.MatchString(command); got != want {
			t.Fatalf("%q: got %v, want %v", command, got, want)
		}
	})
}

func TestHatchJoinsTheRun(t *testing.T) {
	for _, row := range []struct {
		name string
		leaf approval.Leaf
		want bool
	}{
		{"run told by the floor", approval.Leaf{Name: "Bash", Arguments: []byte(`{"command":"n\"p\"x x"}`), RunsHatch: true}, true},
		{"pattern alone", approval.Leaf{Name: "Bash", Arguments: []byte(`{"command":"echo npx"}`)}, true},
		{"neither", approval.Leaf{Name: "Bash", Arguments: []byte(`{"command":"ls"}`)}, false},
		{"not a bash call", approval.Leaf{Name: "mcp__x__run", RunsHatch: true}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := row.leaf.Hatch(); got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}
