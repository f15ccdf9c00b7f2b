package toolkit

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The diff of a long text tells where the change is, and costs what changes.
func TestADiffOfALongText(t *testing.T) {
	var text bytes.Buffer
	for i := range 1_000_000 {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	before := text.Bytes()
	after := bytes.Replace(before, []byte("\nline 500000\n"), []byte("\nanother\nand one more\n"), 1)
	want := "diff a b\n--- a\n+++ b\n@@ -499997,7 +499997,8 @@\n line 499997\n line 499998\n line 499999\n-line 500000\n+another\n+and one more\n line 500001\n line 500002\n line 500003\n"
	if got := unified("a", before, "b", after); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := unified("a", before, "b", bytes.ReplaceAll(before, []byte("line"), []byte("row"))); len(got) > 200 || !strings.Contains(got, "too much changes to be shown") {
		t.Errorf("much changes: %.300s", got)
	}
}

// patcher is the program patch, applied to a text.
func patcher(t *testing.T) func(before, diff string) (after string, err error) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "f")
	return func(before, diff string) (string, error) {
		if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
			return "", err
		}
		cmd := exec.Command(patch, "-s", "--posix", file)
		cmd.Stdin = strings.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		after, err := os.ReadFile(file)
		return string(after), err
	}
}

// What is compared holds everything that changes: patch makes the one text of the
// other.
func TestADiffIsAPatch(t *testing.T) {
	patch := patcher(t)
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "@@ -1,2 +3,4 @@\n"})
		lines := func(name string, most int) string {
			return strings.Join(rapid.SliceOfN(line, 0, most).Draw(t, name), "")
		}
		end := rapid.SampledFrom([]string{"", "x", "\n"})
		head, tail := lines("head", 6), lines("tail", 6)
		a := head + lines("old", 4) + tail + end.Draw(t, "end of old")
		b := head + lines("new", 4) + tail + end.Draw(t, "end of new")
		from, to := window([]byte(a), []byte(b), around+1)
		if a[:from] != b[:from] || a[len(a)-to:] != b[len(b)-to:] || from+to > min(len(a), len(b)) {
			t.Fatalf("%q %q: %d %d", a, b, from, to)
		}
		if a == b || strings.Count(a+b, "") > 200 {
			return
		}
		text := windowed("a", []byte(a), "b", []byte(b))
		got, err := patch(a, text)
		if err != nil || got != b {
			t.Fatalf("%q to %q: patched to %q, %v\n%s", a, b, got, err, text)
		}
	})
}

// A change among lines that repeat has lines of the file around it, also where what
// was compared ends before the file does.
func TestADiffAmongLinesThatRepeat(t *testing.T) {
	patch := patcher(t)
	for _, row := range []struct{ why, before, after string }{
		{"an end without a line's end", "a\na\na\na\nx", "a\na\na\na\na\nx"},
		{"many", strings.Repeat("a\n", 50) + "x\ny\nz\nw\n", strings.Repeat("a\n", 51) + "x\ny\nz\nw\n"},
		{"removed", strings.Repeat("a\n", 51) + "x\ny\nz\nw\n", strings.Repeat("a\n", 50) + "x\ny\nz\nw\n"},
		{"at the beginning", "x\n" + strings.Repeat("a\n", 50), strings.Repeat("a\n", 50)},
	} {
		text := windowed("a", []byte(row.before), "b", []byte(row.after))
		if got, err := patch(row.before, text); err != nil || got != row.after {
			t.Errorf("%s: patched to %q, %v, by\n%s", row.why, got, err, text)
		}
	}
}
