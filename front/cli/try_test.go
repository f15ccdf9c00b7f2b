package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// scratch is a folder of a play, whose name differs from time to time.
var scratch = regexp.MustCompile(`/\S*/assent-try-\d+`)

// tried is what a play says, without what differs from time to time.
func tried(t *testing.T) string {
	t.Helper()
	t.Setenv("COLUMNS", "")
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, "")
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var out bytes.Buffer
	if code := Run([]string{"try"}, strings.NewReader(""), &out, &out); code != exitAllow {
		t.Fatalf("exit code %d\n%s", code, out.String())
	}
	for what, dir := range map[string]string{"in the home folder": home, "of the scratch folder": tmp} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("something is left %s: %v, %v", what, left, err)
		}
	}
	return times.ReplaceAllString(scratch.ReplaceAllString(out.String(), "/tmp/assent-try"), "14:02:11")
}

// What the play shows is the same every time, leaves nothing behind, and touches
// nothing of the person's own.
func TestTry(t *testing.T) {
	got := tried(t)
	const golden = "testdata/try.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// README.md shows parts of it; … stands for what is left out.
func TestReadmeTry(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, ok := strings.Cut(string(page), "\n$ assent try\n")
	shown, _, _ = strings.Cut(shown, "```")
	if !ok {
		t.Fatal("README.md does not show it")
	}
	rest := tried(t)
	for part := range strings.SplitSeq(shown, "…\n") {
		if part = strings.Trim(part, "\n"); part == "" {
			continue
		}
		at := strings.Index(rest, part+"\n")
		if at < 0 {
			t.Fatalf("it does not say, or not there:\n%s\nwhat is left of it:\n%s", part, rest)
		}
		rest = rest[at+len(part):]
	}
}

// Somebody answers otherwise than the script.
func TestTryByHand(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, test := range []struct {
		why     string
		answers []string
		want    []string // in this order
	}{
		{"a no, nonsense, a yes to a secret, a refusal of what could be granted", []string{"n not now", "what", "y", "n"}, []string{
			`> `, "refused: a person refused it", "That is none of them.", "allowed: a person allowed it", "TOKEN=not-a-real-one",
			"attempt 2, as soon as a connection for the classifier is chosen", "refused: a person refused it", "attempt 2, as soon as a connection for the classifier is chosen", "refused: a person refused it", "All of it is in the log:", "deny    you     bash",
		}},
		{"a grant of writing, and none of reading", []string{"g", "g", "n", "G", ""}, []string{
			"allowed: the cluster is granted", "That is none of them.", "refused: a person refused it", "allowed: the cluster is granted", "checked: tea coffee",
		}},
		{"nothing but Enter", []string{"", "", ""}, []string{"Enter: allow, with the comment", "wrote README.md", "Enter: deny", "User refused", "grant 52"}},
		{"somebody who has seen enough", []string{"y", "q"}, []string{"wrote README.md", "4. The agent", "> "}},
		{"the end of input", nil, []string{"2. The agent", "> \n"}},
	} {
		t.Run(test.why, func(t *testing.T) {
			answers := make(chan string, len(test.answers)+10)
			for _, a := range test.answers {
				answers <- a
			}
			if len(test.answers) > 0 && test.answers[len(test.answers)-1] == "n" {
				answers <- "n" // what no grant answers is asked about again
			}
			close(answers)
			var out bytes.Buffer
			p := &performance{out: &out, answers: answers}
			if err := p.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			rest := out.String()
			for _, want := range test.want {
				at := strings.Index(rest, want)
				if at < 0 {
					t.Fatalf("%q is not there\n%s", want, out.String())
				}
				rest = rest[at+len(want):]
			}
		})
	}
}

// However it ends, the scratch folder goes.
func TestTryIsInterrupted(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ctx, interrupt := context.WithCancel(t.Context())
	asked := make(chan struct{})
	p := &performance{out: prompts{io.Discard, func() { close(asked) }}, answers: make(chan string)}
	ended := make(chan error, 1)
	go func() { ended <- p.run(ctx) }()
	select {
	case <-asked:
	case err := <-ended:
		t.Fatal("it ended by itself:", err)
	}
	if found, err := filepath.Glob(filepath.Join(tmp, "assent-try-*", "project", "README.md")); err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	interrupt()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it says nothing of that")
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// prompts tells when somebody is asked for an answer.
type prompts struct {
	io.Writer
	asked func()
}

func (p prompts) Write(b []byte) (int, error) {
	if string(b) == "> " {
		p.asked()
	}
	return len(b), nil
}
