package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// runWhatif runs the command as `assent whatif` does.
func runWhatif(t *testing.T, in io.Reader) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := newWhatif()
	cmd.SetIn(in)
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs([]string{})
	err = cmd.Execute()
	return out.String(), errs.String(), err
}

// TestWhatif runs the scripts of testdata without the binary they are written
// for.
func TestWhatif(t *testing.T) {
	scripts, err := filepath.Glob("testdata/whatif*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts found: %v", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			commands, files, found := strings.Cut(string(text), "-- in --\n")
			in, want, found2 := strings.Cut(files, "-- out --\n")
			if !found || !found2 {
				t.Fatal("no files in and out, in this order")
			}
			stdout, stderr, err := runWhatif(t, strings.NewReader(in))
			if diff := cmp.Diff(want, stdout); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if stderr != "" {
				t.Errorf("standard error: %s", stderr)
			}
			if want := strings.Contains(commands, "! exec"); (err != nil) != want {
				t.Errorf("error %v, want one: %v", err, want)
			}
		})
	}
}

func TestWhatifAnswersEveryLine(t *testing.T) {
	for _, row := range []struct {
		name, in string
		errors   bool
	}{
		{"nothing", "", false},
		{"no end of line", `{"leaf":{"name":"Bash"}}`, false},
		{"carriage return", "{\"leaf\":{\"name\":\"Bash\"}}\r\n", false},
		{"NUL", "\x00\n", true},
		{"invalid UTF-8", "{\"leaf\":{\"name\":\"\xff\"}}\n", true},
		{"lone surrogate", `{"leaf":{"name":"\ud800"}}` + "\n", true},
		{"deep nesting", `{"leaf":{"name":"Bash","arguments":` + strings.Repeat(`{"a":`, 100_000) + "\n", true},
		{"deep arguments", `{"leaf":{"name":"Bash","arguments":{"a":` + strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000) + "}}}\n", false},
		{"a megabyte", `{"leaf":{"name":"Bash","arguments":{"command":"` + strings.Repeat("x", 1<<20) + `"}}}` + "\n", false},
		{"too long", strings.Repeat(" ", maxRow+1) + "\n", true},
		{"too long, no end of line", strings.Repeat(" ", maxRow+1), true},
		{"byte order mark", "\ufeff{\"leaf\":{\"name\":\"Bash\"}}\n", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			const after = `{"leaf":{"name":"Bash","policyResult":"deny"}}`
			in := row.in
			if in != "" && !strings.HasSuffix(in, "\n") {
				in += "\n"
			}
			stdout, _, err := runWhatif(t, strings.NewReader(in+after))
			if (err != nil) != row.errors {
				t.Errorf("error %v, want one: %v", err, row.errors)
			}
			if code := (interface{ ExitCode() int })(nil); err != nil && (!errors.As(err, &code) || code.ExitCode() != exitUsage) {
				t.Errorf("error %v does not exit with 2", err)
			}
			lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
			want := 1
			if in != "" {
				want = 2
			}
			if len(lines) != want {
				t.Fatalf("%d lines out, want %d: %.300q", len(lines), want, stdout)
			}
			if got := strings.HasPrefix(lines[0], `{"error":"line 1: `); got != row.errors {
				t.Errorf("first line is %.300s", lines[0])
			}
			last := lines[len(lines)-1]
			if want := `"license":"wait","needsHuman":true`; !strings.Contains(last, want) {
				t.Errorf("last line is %s, want %s in it", last, want)
			}
			for _, line := range lines {
				var answer map[string]any
				if err := json.Unmarshal([]byte(line), &answer); err != nil {
					t.Errorf("%.300s: %v", line, err)
				}
			}
		})
	}
}

// TestWhatifDefaults holds that what is left out is what the law says it is.
func TestWhatifDefaults(t *testing.T) {
	for _, row := range []struct{ name, short, long string }{
		{"everything",
			`{"leaf":{"name":"Bash"}}`,
			`{"leaf":{"name":"Bash","arguments":{},"policyResult":null,"judgeResult":null,"judgeFailMessage":null,"approved":null},"session":{"currentPolicy":"manual","autoAllow":{"write":false,"bash":false,"mcp":false},"standingAutoAllow":{},"autoCoverDeny":true,"attended":true,"workspace":"","readAllowlist":[]}}`},
		{"nulls",
			`{"leaf":{"name":"Bash","policyResult":"deny"},"session":{"currentPolicy":"auto"}}`,
			`{"leaf":{"name":"Bash","arguments":null,"policyResult":"deny","outcomeJson":null},"session":{"currentPolicy":"auto","autoAllow":null,"standingAutoAllow":null,"autoCoverDeny":null,"attended":null,"workspace":null,"readAllowlist":null}}`},
		{"unknown mode",
			`{"leaf":{"name":"Bash","policyResult":"ask"},"session":{"currentPolicy":"manual"}}`,
			`{"leaf":{"name":"Bash","policyResult":"ask"},"session":{"currentPolicy":"acceptEdits"}}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			short, _, err := runWhatif(t, strings.NewReader(row.short))
			if err != nil {
				t.Fatal(err)
			}
			long, _, err := runWhatif(t, strings.NewReader(row.long))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(short, long); diff != "" {
				t.Errorf("(-short +long)\n%s", diff)
			}
		})
	}
}

// TestWhatifHatchIsNoMatterOfSpelling joins both halves of hatch.
func TestWhatifHatchIsNoMatterOfSpelling(t *testing.T) {
	for _, row := range []struct {
		name, command string
		want          string
	}{
		{"plain", `npx x`, `"hatch":true`},
		{"quoted", `n"p"x x`, `"hatch":true`},
		{"escaped", `n\px x`, `"hatch":true`},
		{"in a variable", `p=np; ${p}x x`, `"hatch":true`},
		{"none", `npm run build`, `"hatch":false`},
	} {
		t.Run(row.name, func(t *testing.T) {
			in, err := json.Marshal(map[string]any{"leaf": map[string]any{"name": "Bash", "arguments": map[string]string{"command": row.command}}})
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := runWhatif(t, bytes.NewReader(in)); err != nil || !strings.Contains(got, row.want) {
				t.Errorf("%s\ngot %s, %v; want %s", in, got, err, row.want)
			}
		})
	}
}
