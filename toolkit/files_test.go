//go:build unix

package toolkit

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	g := newGround(t)
	g.file("ws/long", strings.Repeat("x", 3*maxLine)+"\nlast\n")
	g.file("ws/many", strings.Repeat("line\n", maxLines+5))
	g.file("ws/latin", "caf\xe9\n")
	g.file("ws/bin", "a\x00b")
	g.file("ws/empty", "")
	for _, row := range []struct {
		name, path, arguments string
		ok                    bool
		want                  string
		more, cut             bool
	}{
		{"all", "a.txt", `{"path":"a.txt"}`, true, "one\ntwo\nthree\n", false, false},
		{"some lines", "a.txt", `{"path":"a.txt","offset":2,"limit":1}`, true, "two\n", true, false},
		{"the last line", "a.txt", `{"path":"a.txt","offset":3,"limit":1}`, true, "three\n", false, false},
		{"behind the end", "a.txt", `{"path":"a.txt","offset":9}`, false, "it has no line 9", false, false},
		{"nothing", "empty", `{"path":"empty"}`, true, "", false, false},
		{"more lines than are given", "many", `{"path":"many"}`, true, strings.Repeat("line\n", maxLines), true, false},
		{"a long line is cut", "long", `{"path":"long"}`, true, strings.Repeat("x", maxLine) + "\nlast\n", false, true},
		{"a long line is passed over", "long", `{"path":"long","offset":2}`, true, "last\n", false, false},
		{"bytes that are no text", "latin", `{"path":"latin"}`, true, "caf\uFFFD\n", false, false},
		{"no text at all", "bin", `{"path":"bin"}`, false, "it is no text", false, false},
		{"no such file", "none", `{"path":"none"}`, false, "no such file", false, false},
		{"an argument nobody knows", "a.txt", `{"path":"a.txt","pages":1}`, false, "pages", false, false},
		{"a line before the first", "a.txt", `{"path":"a.txt","offset":-1}`, false, "from 1", false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			out := do(t, g.call("read", row.arguments, row.path))
			if out.OK != row.ok || row.ok && out.Text != row.want || !strings.Contains(out.Text, row.want) || out.More != row.more || out.Cut != row.cut {
				t.Errorf("%+v", out)
			}
		})
	}
}

func TestWriteAndEdit(t *testing.T) {
	for _, row := range []struct {
		name, tool, path, arguments string
		ok                          bool
		want                        string // in the outcome
		content                     string // of the file afterwards
	}{
		{"a new file", "write", "new.txt", `{"path":"new.txt","content":"x\n"}`, true, "made new.txt", "x\n"},
		{"folders that are missing are made", "write", "p/q/new.txt", `{"path":"p/q/new.txt","content":"x"}`, true, "made p/q/new.txt", "x"},
		{"another content", "write", "a.txt", `{"path":"a.txt","content":"x"}`, true, "wrote a.txt", "x"},
		{"the same content", "write", "a.txt", `{"path":"a.txt","content":"one\ntwo\nthree\n"}`, true, "so already", "one\ntwo\nthree\n"},
		{"a folder", "write", "src", `{"path":"src","content":"x"}`, false, "it is a folder", "(is a directory)"},
		{"below a file", "write", "a.txt/b", `{"path":"a.txt/b","content":"x"}`, false, "no folder", "(not a directory)"},
		{"one edit", "edit", "a.txt", `{"path":"a.txt","edits":[{"oldText":"two","newText":"2"}]}`, true, "wrote", "one\n2\nthree\n"},
		{"an edit sees the one before", "edit", "a.txt", `{"path":"a.txt","edits":[{"oldText":"two","newText":"2"},{"oldText":"2\nthree","newText":"3"}]}`, true, "wrote", "one\n3\n"},
		{"everywhere", "edit", "a.txt", `{"path":"a.txt","edits":[{"oldText":"e","newText":"E","replaceAll":true}]}`, true, "wrote", "onE\ntwo\nthrEE\n"},
		{"a text that stands twice", "edit", "a.txt", `{"path":"a.txt","edits":[{"oldText":"two","newText":"2"},{"oldText":"e","newText":"E"}]}`, false, "edit 2: oldText stands 3 times", "one\ntwo\nthree\n"},
		{"a text that is not there", "edit", "a.txt", `{"path":"a.txt","edits":[{"oldText":"four","newText":"4"}]}`, false, "does not stand in a.txt", "one\ntwo\nthree\n"},
		{"an empty text", "edit", "a.txt", `{"path":"a.txt","edits":[{"oldText":"","newText":"4"}]}`, false, "empty", "one\ntwo\nthree\n"},
		{"no edits", "edit", "a.txt", `{"path":"a.txt","edits":[]}`, false, "no edits", "one\ntwo\nthree\n"},
		{"a file that is not there", "edit", "none", `{"path":"none","edits":[{"oldText":"a","newText":"b"}]}`, false, "does not exist", "(no such file or directory)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := newGround(t)
			out := do(t, g.call(row.tool, row.arguments, row.path))
			if out.OK != row.ok || !strings.Contains(out.Text, row.want) {
				t.Errorf("%+v", out)
			}
			if got := g.content("ws/" + row.path); got != row.content {
				t.Errorf("the file holds %q", got)
			}
			entries, _ := os.ReadDir(g.ws)
			for _, e := range entries {
				if strings.HasPrefix(e.Name(), ".") {
					t.Errorf("%s was left behind", e.Name())
				}
			}
		})
	}
}

func TestADiffTellsWhatWasDone(t *testing.T) {
	g := newGround(t)
	out := do(t, g.call("edit", `{"path":"a.txt","edits":[{"oldText":"two","newText":"2"}]}`, "a.txt"))
	if !strings.Contains(out.Diff, "-two\n+2\n") || !strings.Contains(out.Diff, "--- a/a.txt\n+++ b/a.txt") {
		t.Errorf("%s", out.Diff)
	}
}

// Nothing is overwritten that the person did not see.
func TestWhatChangedSinceItWasShownIsNotOverwritten(t *testing.T) {
	shown := string(imageOf([]byte("one\ntwo\nthree\n")))
	for _, row := range []struct {
		name, shown, now string
		ok               bool
	}{
		{"it is as it was", shown, "one\ntwo\nthree\n", true},
		{"somebody wrote", shown, "one\ntwo\nfour\n", false},
		{"it is gone", shown, "", false},
		{"it was made meanwhile", string(Absent), "one\ntwo\nthree\n", false},
		{"nothing was there, and is not", string(Absent), "", true},
		{"nobody was shown anything", "", "four\n", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := newGround(t)
			g.file("ws/a.txt", row.now)
			if row.now == "" {
				must(t, os.Remove(g.at("ws/a.txt")))
			}
			before := g.content("ws/a.txt")
			call := g.call("write", `{"path":"a.txt","content":"mine"}`, "a.txt")
			call.Shown = row.shown
			out := do(t, call)
			after := g.content("ws/a.txt")
			if out.OK != row.ok || row.ok && after != "mine" || !row.ok && (after != before || !strings.Contains(out.Text, "has changed since it was shown")) {
				t.Errorf("%+v, the file holds %q", out, after)
			}
		})
	}
}

func TestWritingKeepsWhatElseTheFileIs(t *testing.T) {
	g := newGround(t)
	must(t, os.Chmod(g.at("ws/a.txt"), 0o750))
	must(t, os.Link(g.at("ws/a.txt"), g.at("out/same")))
	if out := do(t, g.call("write", `{"path":"a.txt","content":"mine"}`, "a.txt")); !out.OK {
		t.Fatalf("%+v", out)
	}
	if info, err := os.Stat(g.at("ws/a.txt")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if got := g.content("out/same"); got != "one\ntwo\nthree\n" {
		t.Errorf("the other name of the file holds %q", got)
	}
	must(t, os.Chmod(g.at("ws/a.txt"), 0o444))
	if out := do(t, g.call("write", `{"path":"a.txt","content":"more"}`, "a.txt")); out.OK || !strings.Contains(out.Text, "read-only") {
		t.Errorf("%+v", out)
	}
}

func TestTrees(t *testing.T) {
	g := newGround(t)
	g.file("ws/src/deep/x.go", "func Two() {}\n")
	g.file("ws/.git/config", "two\n")
	must(t, os.Symlink(g.at("out"), g.at("ws/away")))
	must(t, os.Symlink(g.at("out/secret"), g.at("ws/src/link.go")))
	for _, row := range []struct {
		name, tool, path, arguments string
		ok                          bool
		want                        string
	}{
		{"a folder", "list", ".", `{}`, true, ".git/\na.txt\naway@\nsrc/"},
		{"no folder", "list", "a.txt", `{"path":"a.txt"}`, false, "a.txt: a.txt is no folder"},
		{"names", "glob", ".", `{"pattern":"**/*.go"}`, true, "src/deep/x.go\nsrc/link.go@\nsrc/main.go"},
		{"one level", "glob", ".", `{"pattern":"*"}`, true, ".git/\na.txt\naway@\nsrc/"},
		{"alternatives", "glob", ".", `{"pattern":"*.{txt,md}"}`, true, "a.txt"},
		{"a pattern that leaves", "glob", ".", `{"pattern":"../out/*"}`, false, "leaves its folder"},
		{"one that leaves in an alternative", "glob", ".", `{"pattern":"{a,..}/*"}`, false, "leaves its folder"},
		{"one from the root", "glob", ".", `{"pattern":"/etc/*"}`, false, "leaves its folder"},
		{"one that cannot be read", "glob", ".", `{"pattern":"[a"}`, false, "cannot be read"},
		{"lines", "grep", ".", `{"pattern":"[tT]wo"}`, true, "a.txt:2:two\nsrc/deep/x.go:1:func Two() {}"},
		{"lines, whatever the case", "grep", ".", `{"pattern":"TWO","ignoreCase":true,"include":"*.go"}`, true, "src/deep/x.go:1:func Two() {}"},
		{"lines of one file", "grep", "a.txt", `{"pattern":"o$","path":"a.txt"}`, true, "a.txt:2:two"},
		{"nothing", "grep", ".", `{"pattern":"not for you"}`, true, ""},
		{"no expression", "grep", ".", `{"pattern":"("}`, false, "missing closing"},
	} {
		t.Run(row.name, func(t *testing.T) {
			out := do(t, g.call(row.tool, row.arguments, row.path))
			if out.OK != row.ok || row.ok && out.Text != row.want || !strings.Contains(out.Text, row.want) {
				t.Errorf("%+v\nwant %q", out, row.want)
			}
		})
	}
}

func TestMuchIsCutAndSaid(t *testing.T) {
	g := newGround(t)
	for i := range maxEntries + 10 {
		g.file(fmt.Sprintf("ws/many/%04d", i), "hit\n")
	}
	for _, row := range []struct {
		tool, arguments string
		most            int
	}{
		{"list", `{}`, maxEntries},
		{"glob", `{"pattern":"*"}`, maxEntries},
		{"grep", `{"pattern":"hit"}`, maxMatches},
	} {
		out := do(t, g.call(row.tool, row.arguments, "many"))
		if n := strings.Count(out.Text, "\n") + 1; !out.OK || !out.More || n != row.most {
			t.Errorf("%s: %d lines, more %v", row.tool, n, out.More)
		}
	}
}
