package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/shell"

	"assent/internal/place"
)

// minutes is the heading of the part of README.md that shows the kernel.
const minutes = "\n## Five minutes with the kernel\n"

// What that part shows is what the program says, a person and a call that waits
// at the same time. Starting and ending the process stand for themselves; times
// are not compared. A block without a command is what the call that waits says
// in the end.
func TestReadmeKernel(t *testing.T) {
	const page = "../../README.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(page)
	if err != nil {
		t.Fatal(err)
	}
	before, part, found := strings.Cut(string(text), minutes)
	part, after, more := strings.Cut(part, "\n## ")
	if !found || !more {
		t.Fatalf("%s has no part of that name", page)
	}
	home := t.TempDir()
	project := filepath.Join(home, "project")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tbare = false\n"} {
		if err := os.WriteFile(filepath.Join(project, ".git", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(project)
	t.Setenv("HOME", home)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "COLUMNS", tokenVariable} {
		t.Setenv(name, "")
	}
	sessions := 0
	d := &testDaemon{env: place.Env{Home: home, UID: os.Getuid()}, policy: "version: 1", looks: true, newID: func() string {
		sessions++ // calls get ids too; a list shows those of sessions alone
		return fmt.Sprintf("%dQ7KVXM2ZP4TJWNA", sessions)
	}}
	defer func() {
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	}()

	var waits *waiting
	ran := 0
	blocks := strings.Split(part, "```")
	for i := 1; i < len(blocks); i += 2 {
		shown, ok := strings.CutPrefix(blocks[i], "\n")
		if !ok {
			continue
		}
		var made strings.Builder
		if !strings.HasPrefix(shown, "$ ") {
			if waits == nil {
				t.Fatalf("nothing waits that could say\n%s", shown)
			}
			made.WriteString(waits.end())
			waits = nil
		}
		for rest := shown; strings.HasPrefix(rest, "$ "); {
			line, out, _ := strings.Cut(rest, "\n")
			out, rest = upToPrompt(out)
			made.WriteString(line + "\n")
			ran++
			command, _, _ := strings.Cut(strings.TrimPrefix(line, "$ assent "), " && ")
			args, err := shell.Fields(command, func(string) string { return "" })
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			switch args[0] {
			case "up":
				if err := d.start(); err != nil {
					t.Fatal(err)
				}
				made.WriteString(out)
			case "down":
				made.WriteString(out)
			case "call":
				w := call(args)
				if said := w.soon(); said != "" {
					waits = w
					made.WriteString(said)
				} else {
					made.WriteString(w.end())
				}
			default:
				var b bytes.Buffer
				if code := Run(args, strings.NewReader(""), &b, &b); code != exitAllow {
					t.Fatalf("%s: exit code %d\n%s", line, code, b.String())
				}
				made.WriteString(b.String())
			}
		}
		got := times.ReplaceAllString(made.String(), "14:02:11")
		if diff := cmp.Diff(got, times.ReplaceAllString(shown, "14:02:11")); diff != "" && !*update {
			t.Errorf("%s shows something else (-program +page)\n%s", page, diff)
		}
		blocks[i] = "\n" + got
	}
	if ran < 5 {
		t.Errorf("only %d commands were found", ran)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+minutes+strings.Join(blocks, "```")+"\n## "+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var times = regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`)

// upToPrompt cuts a text before the next command in it.
func upToPrompt(text string) (before, rest string) {
	if strings.HasPrefix(text, "$ ") {
		return "", text
	}
	before, rest, found := strings.Cut(text, "\n$ ")
	if !found {
		return text, ""
	}
	return before + "\n", "$ " + rest
}

// waiting is a call that is asked for and may have to wait.
type waiting struct {
	out  heard
	done chan struct{}
}

// call runs the command until it ends, elsewhere.
func call(args []string) *waiting {
	w := &waiting{out: heard{said: make(chan struct{})}, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		Run(args, strings.NewReader(""), &w.out, &w.out)
	}()
	return w
}

// soon is what the call says while it waits, "" when it does not.
func (w *waiting) soon() string {
	select {
	case <-w.done:
		return ""
	case <-w.out.said:
		return w.out.take()
	}
}

// end is what else the call says until it ends.
func (w *waiting) end() string {
	<-w.done
	return w.out.take()
}

// heard takes what is written, and tells when that is what a call waits for.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
	once sync.Once
	said chan struct{}
}

var _ io.Writer = (*heard)(nil)

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if bytes.Contains(b, []byte("it waits for a person")) {
		defer h.once.Do(func() { close(h.said) })
	}
	return h.text.Write(b)
}

func (h *heard) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.text.Reset()
	return h.text.String()
}
