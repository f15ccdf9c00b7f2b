package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/shell"
)

// What README.md shows is what the program says. Every block that starts with
// "$ assent" is run; -update writes the blocks anew.
func TestReadme(t *testing.T) {
	const readme = "../../README.md"
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(readme)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		".git/HEAD":   "ref: refs/heads/main\n",
		".git/config": "[core]\n\tbare = false\n",
		"README.md":   "",
		".env":        "",
		"src/x":       "",
		"policy.yaml": "version: 1\nrun:\n  allwo: [make fmt]\n",
	} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", "/home/you")
	t.Setenv("XDG_CONFIG_HOME", "")

	blocks := strings.Split(string(text), "```")
	ran := 0
	for i := 1; i < len(blocks); i += 2 {
		line, rest, _ := strings.Cut(strings.TrimPrefix(blocks[i], "\n"), "\n")
		command, ok := strings.CutPrefix(line, "$ assent ")
		if !ok || !strings.HasPrefix(blocks[i], "\n") {
			continue
		}
		ran++
		// The words of the line, as a shell would pass them.
		args, err := shell.Fields(command, func(string) string { return "" })
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var out bytes.Buffer
		if code := Run(args, strings.NewReader(""), &out, &out); code == exitUsage || code == exitFailed {
			t.Errorf("%s: exit code %d", line, code)
		}
		got := strings.ReplaceAll(out.String(), here+"/", "")
		if !*update {
			if diff := cmp.Diff(got, rest); diff != "" {
				t.Errorf("%s: README.md shows something else (-program +README)\n%s", line, diff)
			}
		}
		blocks[i] = "\n" + line + "\n" + got
	}
	if ran < 5 {
		t.Errorf("only %d examples were found", ran)
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(blocks, "```")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
