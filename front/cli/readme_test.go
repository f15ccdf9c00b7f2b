package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/floor"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/shell"
)

// What README.md and POLICY.md show is what the program says. Every block that
// starts with "$ assent" is run; -update writes the blocks anew. A block of YAML
// is the policy.yaml of the blocks after it, and must be a good one; a block may
// make another file first, with "$ cat >".
func TestReadme(t *testing.T) { pageIsTrue(t, "../../README.md", 6) }

func TestPolicyPage(t *testing.T) { pageIsTrue(t, "../../POLICY.md", 9) }

func pageIsTrue(t *testing.T, page string, least int) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(page)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".git/HEAD", "ref: refs/heads/main\n")
	write(".git/config", "[core]\n\tbare = false\n")
	write("README.md", "")
	write(".env", "")
	write("src/x", "")
	t.Chdir(dir)
	t.Setenv("HOME", "/home/you")
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("COLUMNS", "")

	blocks := strings.Split(string(text), "```")
	ran, elsewhere := 0, false
	for i := 1; i < len(blocks); i += 2 {
		// What needs a kernel is compared by TestReadmeKernel.
		if at := strings.LastIndex(blocks[i-1], "\n## "); at >= 0 {
			elsewhere = strings.HasPrefix(blocks[i-1][at:], minutes)
		}
		if elsewhere {
			continue
		}
		if policy, ok := strings.CutPrefix(blocks[i], "yaml\n"); ok {
			write("policy.yaml", policy)
			if _, err := floor.ParsePolicy("policy.yaml", []byte(policy)); err != nil {
				t.Errorf("%s: the policy of block %d: %v", page, i, err)
			}
			continue
		}
		shown, isPlain := strings.CutPrefix(blocks[i], "\n")
		made := "" // the file that the block makes first
		if name, more, is := strings.Cut(shown, " <<'END'\n"); is && strings.HasPrefix(name, "$ cat >") {
			text, after, _ := strings.Cut(more, "END\n")
			write(strings.TrimPrefix(name, "$ cat >"), text)
			made, shown = strings.TrimSuffix(shown, after), after
		}
		line, rest, _ := strings.Cut(shown, "\n")
		command, ok := strings.CutPrefix(line, "$ assent ")
		if !ok || !isPlain || command == "try" { // that one is compared by TestReadmeTry
			continue
		}
		ran++
		in := ""
		if command, ok = strings.CutSuffix(command, " <<'END'"); ok {
			in, rest, _ = strings.Cut(rest, "END\n")
		}
		// The words of the line, as a shell would pass them.
		args, err := shell.Fields(command, func(string) string { return "" })
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var out bytes.Buffer
		if code := Run(args, strings.NewReader(in), &out, &out); code == exitUsage {
			t.Errorf("%s: exit code %d", line, code)
		}
		if !*update {
			if diff := cmp.Diff(out.String(), rest); diff != "" {
				t.Errorf("%s: %s shows something else (-program +page)\n%s", line, page, diff)
			}
		}
		blocks[i] = "\n" + made + line + "\n"
		if in != "" {
			blocks[i] += in + "END\n"
		}
		blocks[i] += out.String()
	}
	if ran < least {
		t.Errorf("only %d examples were found", ran)
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(blocks, "```")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
