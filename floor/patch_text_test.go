package floor

import (
	"strings"
	"testing"

	"assent/approval"

	"github.com/go-json-experiment/json"
)

// What some reader of patches would write is judged, and what is not understood is
// asked about.
func TestPatches(t *testing.T) {
	const begin, end = "*** Begin Patch\n", "*** End Patch\n"
	for _, test := range []struct {
		why, text string
		want      approval.PolicyResult
	}{
		{"plain", begin + "*** Add File: docs/a.md\n+x\n+*** Add File: no\n" + end, approval.Allow},
		{"many files", begin + "*** Update File: docs/a.md\n*** Move to: docs/b.md\n@@ x\n-a\n+b\n*** End of File\n*** Delete File: docs/c.md\n" + end, approval.Allow},
		{"line ends of Windows", begin + "*** Add File: docs/a.md\r\n+x\r\n" + end, approval.Allow},
		{"stars in the file", begin + "*** Update File: docs/a.md\n@@\n ***\n **bold**\n *** a heading\n-*** x: y\n+*** Delete File: x\n" + end, approval.Allow},
		{"a line that begins with minus", begin + "*** Update File: docs/a.sql\n@@\n--- a comment\n+-- another\n" + end, approval.Allow},
		{"blanks before a header", begin + "  *** Delete File: .git/config\n" + end, approval.Block},
		{"small letters", begin + "*** Add File: docs/a.md\n+x\n*** add file: .git/config\n" + end, approval.Block},
		{"no blank behind the stars", begin + "*** Add File: docs/a.md\n***Add File: .git/config\n" + end, approval.Block},
		{"no blank behind the colon", begin + "*** Add File:.git/config\n" + end, approval.Block},
		{"blanks within", begin + "***  Delete   File :  .git/config\n" + end, approval.Block},
		{"a tab", begin + "***\tDelete File:\t.git/config\n" + end, approval.Block},
		{"no colon", begin + "*** Delete File .git/config\n" + end, approval.Block},
		{"two stars", begin + "** Delete File: .git/config\n" + end, approval.Block},
		{"another verb", begin + "*** Remove File: .git/config\n" + end, approval.Block},
		{"a header in odd form", begin + "*** add file: docs/a.md\n" + end, approval.Ask},
		{"a bare carriage return", begin + "*** Add File: docs/a.md\r+x\r*** Delete File: .git/config\r" + end, approval.Block},
		{"a bare carriage return in the file", begin + "*** Add File: docs/a.md\n+x\ry\n" + end, approval.Ask},
		{"a line separator", begin + "*** Add File: docs/a.md\n+x\u2028*** Delete File: .git/config\n" + end, approval.Block},
		{"trailing blanks", begin + "*** Add File: .git/config  \n" + end, approval.Block},
		{"quotes", begin + "*** Add File: \".git/config\"\n" + end, approval.Block},
		{"elsewhere", begin + "*** Environment ID: box\n*** Add File: docs/a.md\n" + end, approval.Ask},
		{"nobody knows", begin + "*** Frobnicate: docs/a.md\n" + end, approval.Ask},
		{"moved", begin + "*** Update File: docs/a.md\n*** Move to: .git/config\n" + end, approval.Block},
		{"moved, in capitals", begin + "*** Update File: docs/a.md\n*** Move To: .git/config\n" + end, approval.Block},
		{"renamed", begin + "*** Update File: docs/a.md\n*** Rename to: .git/config\n" + end, approval.Block},
		{"moved by an arrow", begin + "*** Update File: docs/a.md -> .git/config\n" + end, approval.Block},
		{"moved, nobody knows what", begin + "*** Move to: docs/a.md\n" + end, approval.Ask},
		{"moved twice", begin + "*** Update File: docs/a.md\n*** Move to: docs/b.md\n*** Move to: .git/config\n" + end, approval.Block},
		{"no name", begin + "*** Add File: \n*** Add File: docs/a.md\n" + end, approval.Ask},
		{"in a hunk", begin + "*** Update File: docs/a.md\n@@\n-a\n*** Delete File: .git/config\n" + end, approval.Block},
		{"the same header twice", begin + "*** Add File: docs/a.md\n*** Add File: docs/a.md\n*** Add File: .git/config\n" + end, approval.Block},
		{"behind its end", begin + "*** Add File: docs/a.md\n" + end + begin + "*** Add File: .git/config\n" + end, approval.Block},

		{"a unified diff", "--- a/docs/x\n+++ b/docs/x\n@@ -1 +1 @@\n-a\n+b\n", approval.Ask}, // a/docs/x may be meant
		{"a unified diff without prefixes", "--- docs/docs/x\n+++ docs/docs/x\n@@ -1 +1 @@\n", approval.Ask},
		{"a unified diff in the other", begin + "*** Update File: docs/a.md\n--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n" + end, approval.Block},
		{"a time", "--- .git/config 2026-01-01 00:00:00\n+++ .git/config\t2026-01-01 00:00:00\n", approval.Block},
		{"one with a time alone", "--- docs/x\n+++ .git/config 2026-01-01 00:00:00 +0000\n", approval.Block},
		{"escapes", "--- \"a/.g\\151t/config\"\n+++ /dev/null\n", approval.Block},
		{"a rename", "diff --git a/docs/x b/.git/config\nsimilarity index 100%\nrename from docs/x\nrename to .git/config\n", approval.Block},
		{"a copy", "diff --git a/docs/x b/docs/y\ncopy from docs/x\ncopy to .git/config\n", approval.Block},
		{"a mode", "diff --git a/.git/hooks/x b/.git/hooks/x\nold mode 100644\nnew mode 100755\n", approval.Block},
		{"taken away", "--- a/.git/config\n+++ /dev/null\n", approval.Block},
		{"with context", "*** a/.git/config\tMon\n--- b/.git/config\tMon\n***************\n*** 1,2 ****\n", approval.Block},
		{"an index line", "Index: .git/config\n=====\n", approval.Block},
		{"further in", "    --- a/.git/config\n    +++ b/.git/config\n", approval.Block},
		{"more is stripped", "--- x/y/.git/config\n+++ x/y/.git/config\n", approval.Block},
		{"a link", "diff --git a/docs/x b/docs/x\nnew file mode 120000\n--- /dev/null\n+++ b/docs/x\n+.git\n", approval.Ask},
		{"no patch", "hello\n", approval.Ask},
	} {
		t.Run(test.why, func(t *testing.T) {
			policy, err := ParsePolicy("p", []byte("write: {allow: [docs/**]}\n"))
			if err != nil {
				t.Fatal(err)
			}
			arguments, err := json.Marshal(map[string]string{"input": test.text})
			if err != nil {
				t.Fatal(err)
			}
			call := at("apply_patch", string(arguments))
			if v := (&Floor{Operator: policy}).Judge(call); v.Result != test.want {
				t.Errorf("%q: %v, want %v\n%s", test.text, v.Result, test.want, strings.Join(told(effectsOf(call)), "\n"))
			}
		})
	}
	v := new(Floor).Judge(at("apply_patch", `{"changes":{"docs/a":{"type":"add"},".git/config":{"type":"update"}}}`))
	if v.Result != approval.Block {
		t.Errorf("files as names of members: %v\n%s", v.Result, story(v))
	}
}
