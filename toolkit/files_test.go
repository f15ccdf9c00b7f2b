//go:build unix

package toolkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"assent/job"
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
		{"a new file", "write", "new.txt", `{"path":"new.txt","content":"x\n"}`, true, "wrote new.txt", "x\n"},
		{"folders that are missing are made", "write", "p/q/new.txt", `{"path":"p/q/new.txt","content":"x"}`, true, "wrote p/q/new.txt", "x"},
		{"another content", "write", "a.txt", `{"path":"a.txt","content":"x"}`, true, "wrote a.txt", "x"},
		{"the same content", "write", "a.txt", `{"path":"a.txt","content":"one\ntwo\nthree\n"}`, true, "wrote a.txt", "one\ntwo\nthree\n"},
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

// A receipt is read by the model: it tells of the file's content only where that
// was shown to a person, which reading it by itself must allow.
func TestAReceiptTellsNoMoreThanWasShown(t *testing.T) {
	image := string(imageOf([]byte("one\ntwo\nthree\n")))
	for _, row := range []struct {
		name, path, shown, content string
		text, diff                 string
	}{
		{"shown", "a.txt", image, "one\n2\nthree\n", "wrote a.txt", "diff a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"},
		{"withheld", "a.txt", job.Withheld + ":" + image, "one\n2\nthree\n", "wrote a.txt", ""},
		{"nobody was asked", "a.txt", "", "one\n2\nthree\n", "wrote a.txt", ""},
		{"shown and so already", "a.txt", image, "one\ntwo\nthree\n", "a.txt is so already", ""},
		{"a guess of what is withheld", "a.txt", job.Withheld + ":" + image, "one\ntwo\nthree\n", "wrote a.txt", ""},
		{"a guess where nobody was asked", "a.txt", "", "one\ntwo\nthree\n", "wrote a.txt", ""},
		{"a new file, shown", "new.txt", string(Absent), "x\n", "made new.txt", "diff /dev/null b/new.txt\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+x\n"},
		{"a new file, withheld", "new.txt", job.Withheld + ":" + string(Absent), "x\n", "wrote new.txt", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := newGround(t)
			call := g.call("write", `{"path":"`+row.path+`","content":`+strconv.Quote(row.content)+`}`, row.path)
			call.Shown = row.shown
			if out := do(t, call); !out.OK || out.Text != row.text || out.Diff != row.diff {
				t.Errorf("got %+v, want %q and %q", out, row.text, row.diff)
			}
		})
	}
}

// A body that may have been done already does nothing twice, and overwrites
// nothing that came after it.
func TestAResumedChange(t *testing.T) {
	image := string(imageOf([]byte("one\ntwo\nthree\n")))
	edit, content := `{"path":"a.txt","edits":[{"oldText":"two\n","newText":"two\n2\n"}]}`, `{"path":"a.txt","content":"mine\n"}`
	for _, row := range []struct {
		name, tool, arguments, shown, now string
		begun                             bool
		ok                                bool
		after                             string
	}{
		{"nothing was done yet", "edit", edit, image, "one\ntwo\nthree\n", true, true, "one\ntwo\n2\nthree\n"},
		{"nothing was done yet, withheld", "edit", edit, job.Withheld + ":" + image, "one\ntwo\nthree\n", true, true, "one\ntwo\n2\nthree\n"},
		{"it never began", "edit", edit, "", "one\ntwo\nthree\n", false, true, "one\ntwo\n2\nthree\n"},
		{"an edit that fits twice was done", "edit", edit, image, "one\ntwo\n2\nthree\n", true, false, "one\ntwo\n2\nthree\n"},
		{"it may have been done, nobody was asked", "edit", edit, "", "one\ntwo\n2\nthree\n", true, false, "one\ntwo\n2\nthree\n"},
		{"it may have been done, and the image is lost", "edit", edit, job.Withheld, "one\ntwo\n2\nthree\n", true, false, "one\ntwo\n2\nthree\n"},
		{"what was written was changed since", "write", content, image, "a person's\n", true, false, "a person's\n"},
		{"the same where nobody was asked", "write", content, "", "a person's\n", true, false, "a person's\n"},
		{"what was written stands there", "write", content, image, "mine\n", true, true, "mine\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := newGround(t)
			g.file("ws/a.txt", row.now)
			call := g.call(row.tool, row.arguments, "a.txt")
			call.Shown, call.Resumed, call.Begun = row.shown, true, row.begun
			out := do(t, call)
			if got := g.content("ws/a.txt"); out.OK != row.ok || got != row.after || !row.ok && !strings.Contains(out.Text, "may have had its effect") {
				t.Errorf("%+v, the file holds %q", out, got)
			}
		})
	}
}

// What happens to the file between the look at it and the moment in which the
// new content takes its place is never lost.
func TestWhatIsChangedInTheLastMomentStays(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(g ground)
		after  string
	}{
		{"another file in its place", func(g ground) {
			g.file("ws/b.txt", "WORK OF ANOTHER")
			must(g.t, os.Rename(g.at("ws/b.txt"), g.at("ws/a.txt")))
		}, "WORK OF ANOTHER"},
		{"another content", func(g ground) { g.file("ws/a.txt", "longer than it was before") }, "longer than it was before"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := newGround(t)
			c, err := writing(t.Context(), g.call("write", `{"path":"a.txt","content":"mine"}`, "a.txt"))
			must(t, err)
			c.late = func() { row.change(g) }
			if err := c.save(t.Context()); !errors.Is(err, errChanged) {
				t.Errorf("got %v, want %v", err, errChanged)
			}
			if got := g.content("ws/a.txt"); got != row.after {
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

// A time that is put back hides no change.
func TestAChangeWithItsTimePutBack(t *testing.T) {
	g := newGround(t)
	c, err := writing(t.Context(), g.call("write", `{"path":"a.txt","content":"mine"}`, "a.txt"))
	must(t, err)
	g.file("ws/a.txt", "ONE\ntwo\nthree\n")
	must(t, os.Chtimes(g.at("ws/a.txt"), c.info.ModTime(), c.info.ModTime()))
	if err := c.save(t.Context()); !errors.Is(err, errChanged) {
		t.Errorf("got %v, want %v", err, errChanged)
	}
}

// Edits end when their time is over, and do not go through more than they may.
func TestEditsAreBounded(t *testing.T) {
	g := newGround(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := edited(ended, g.call("edit", `{"path":"a.txt","edits":[{"oldText":"two","newText":"2"}]}`, "a.txt")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	g.file("ws/large.txt", "a"+strings.Repeat("x", 16<<20))
	var edits []string
	for i := range 100 {
		edits = append(edits, fmt.Sprintf(`{"oldText":%q,"newText":%q}`, string(rune('a'+i%2)), string(rune('a'+(i+1)%2))))
	}
	call := g.call("edit", `{"path":"large.txt","edits":[`+strings.Join(edits, ",")+`]}`, "large.txt")
	if out := do(t, call); out.OK || !strings.Contains(out.Text, "too large for 100 edits at a time") {
		t.Errorf("%+v", out)
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
		{"it is as it was, and was not shown", job.Withheld + ":" + shown, "one\ntwo\nthree\n", true},
		{"somebody wrote, and it was not shown", job.Withheld + ":" + shown, "four\n", false},
		{"nobody could look", job.Unseen, "one\ntwo\nthree\n", false},
		{"nobody could look at what is not shown", job.Withheld + ":" + job.Unseen, "one\ntwo\nthree\n", false},
		{"the host does not know any more", job.Withheld, "one\ntwo\nthree\n", false},
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
			if out.OK != row.ok || row.ok && after != "mine" || !row.ok && (after != before || !strings.Contains(out.Text, "nothing was written")) {
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

// A file stays its owner's.
func TestWritingKeepsTheOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	g := newGround(t)
	must(t, os.Chown(g.at("ws/a.txt"), 12345, 54321))
	if out := do(t, g.call("write", `{"path":"a.txt","content":"mine"}`, "a.txt")); !out.OK {
		t.Fatalf("%+v", out)
	}
	info, err := os.Stat(g.at("ws/a.txt"))
	must(t, err)
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 54321 {
		t.Errorf("it belongs to %d:%d", st.Uid, st.Gid)
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

// A search below a folder opens what may be read by itself, and tells nothing of
// the rest.
func TestASearchLeavesOutWhatARuleIsAgainst(t *testing.T) {
	g := newGround(t)
	g.file("ws/.env", "TOKEN=two\n")
	g.file("ws/src/key.pem", "two\n")
	var asked []string
	s := search{func(_ context.Context, _ job.Call, path string) error {
		asked = append(asked, strings.TrimPrefix(path, g.ws+"/"))
		if strings.HasSuffix(path, ".env") || strings.HasSuffix(path, ".pem") {
			return errors.New("a rule is against it")
		}
		return nil
	}}
	text, err := s.grep(t.Context(), g.call("grep", `{"pattern":"two"}`, "."))
	must(t, err)
	if got, want := string(text), `{"ok":true,"text":"a.txt:2:two","count":1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := []string{".env", "a.txt", "src/key.pem"}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
	if text, err = (search{}).grep(t.Context(), g.call("grep", `{"pattern":"two"}`, ".")); err != nil || strings.Contains(string(text), "two") {
		t.Errorf("without anybody to ask: %s, %v", text, err)
	}
}

// No expression takes a body longer than it may.
func TestExpressionsAreBounded(t *testing.T) {
	for _, row := range []struct {
		why, pattern string
		ok           bool
	}{
		{"a word", `func \w+\(`, true},
		{"a class of many", `[\p{L}\p{N}]+`, true},
		{"a count", `x{3,100}`, true},
		{"counts of counts", strings.Repeat(`((a?){30}){30}`, 60), false},
		{"long", strings.Repeat("abc", 1000), false},
	} {
		t.Run(row.why, func(t *testing.T) {
			for _, flags := range []syntax.Flags{syntax.Perl, syntax.Perl | syntax.FoldCase} {
				if _, err := expression(row.pattern, flags); (err == nil) != row.ok {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}
