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

// What is compared holds everything that changes: patch makes the one text of the
// other.
func TestADiffIsAPatch(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "@@ -1,2 +3,4 @@\n"})
		lines := func(name string, most int) string {
			return strings.Join(rapid.SliceOfN(line, 0, most).Draw(t, name), "")
		}
		end := rapid.SampledFrom([]string{"", "x", "\n"})
		head, tail := lines("head", 6), lines("tail", 6)
		a := head + lines("old", 4) + tail + end.Draw(t, "end of old")
		b := head + lines("new", 4) + tail + end.Draw(t, "end of new")
		from, to := window([]byte(a), []byte(b))
		if a[:from] != b[:from] || a[len(a)-to:] != b[len(b)-to:] || from+to > min(len(a), len(b)) {
			t.Fatalf("%q %q: %d %d", a, b, from, to)
		}
		if a == b || strings.Count(a+b, "") > 200 {
			return
		}
		text := windowed("a", []byte(a), "b", []byte(b))
		file := filepath.Join(dir, "f")
		if err := os.WriteFile(file, []byte(a), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(patch, "-s", "--posix", file)
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q to %q: %v %s\n%s", a, b, err, out, text)
		}
		if got, _ := os.ReadFile(file); string(got) != b {
			t.Fatalf("%q to %q: patched to %q\n%s", a, b, got, text)
		}
	})
}
