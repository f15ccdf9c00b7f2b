package senses

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"assent/approval"
	"assent/floor"
)

// A second name of a file that matters is judged as the first would be, and files
// that a store of packages links are not noticed.
func TestTwins(t *testing.T) {
	root := world(t, map[string]string{
		"w/.git/hooks/pre-commit": "x", "w/.git/config": "", "w/.env": "x", "w/main.go": "x", "w/Makefile": "x", "w/.github/workflows/ci.yml": "x",
		"home/.bashrc": "x", "home/.ssh/config": "x", "home/.config/git/config": "", "home/.local/share/store/v3/aa": "x", "home/.notes": "x",
		"home/.cache/uv/x": "x",
	})
	twin := map[string]string{
		"hook": "w/.git/hooks/pre-commit", "gitconfig": "w/.git/config", "env": "w/.env", "source": "w/main.go", "make": "w/Makefile", "workflow": "w/.github/workflows/ci.yml",
		"rc": "home/.bashrc", "ssh": "home/.ssh/config", "mine": "home/.config/git/config", "notes": "home/.notes",
		"node_modules/a/index.js": "home/.local/share/store/v3/aa", ".venv/lib/x.py": "home/.cache/uv/x",
	}
	if err := os.Symlink("w", filepath.Join(root, "work")); err != nil {
		t.Fatal(err)
	}
	for name, old := range twin {
		p := filepath.Join(root, "w", name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(root, old), p); err != nil {
			t.Skip("this file system has no hard links: ", err)
		}
	}
	policy, err := floor.ParseLayer("p.yaml", []byte("write: {allow: [\".\"]}\n"), floor.Operator)
	if err != nil {
		t.Fatal(err)
	}
	f := &floor.Floor{Operator: policy}
	work := "w"
	judge := func(command string) floor.Result {
		arguments, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		return f.Judge(CompleteFor(f, floor.Call{Name: "Bash", Arguments: arguments, Workspace: root + "/" + work, Home: root + "/home"})).Result
	}
	for _, name := range []string{"hook", "gitconfig", "env", "make", "workflow", "rc", "ssh", "mine", "notes"} {
		if got := judge("echo x > " + name); got == approval.Allow {
			t.Errorf("writing %s, which is %s as well, is allowed", name, twin[name])
		}
	}
	for _, name := range []string{"env", "ssh", "notes"} {
		if got := judge("cat " + name); got == approval.Allow {
			t.Errorf("reading %s, which is %s as well, is allowed", name, twin[name])
		}
	}
	for _, command := range []string{"echo x > source", "echo x > main.go", "cat source", "echo x > node_modules/a/index.js", "cat node_modules/a/index.js", "cat .venv/lib/x.py", "cat make", "cat hook", "echo x > new"} {
		if got := judge(command); got != approval.Allow {
			t.Errorf("%s: %v", command, got)
		}
	}
	work = "work" // a link to it
	for command, want := range map[string]floor.Result{"echo x > hook": approval.Deny, "echo x > source": approval.Allow, "echo x > main.go": approval.Allow, "cat make Makefile .github/workflows/ci.yml": approval.Allow, "cat env": approval.Deny} {
		if got := judge(command); (got == approval.Allow) != (want == approval.Allow) {
			t.Errorf("in a workspace that is a link: %s: %v", command, got)
		}
	}
	work = "w"
	// Both names in one call: neither leads to the other for ever.
	if got := judge("echo x > make; cat Makefile hook .git/hooks/pre-commit"); got == approval.Allow {
		t.Errorf("both names: %v", got)
	}
}
