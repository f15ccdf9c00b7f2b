//go:build linux || darwin

package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
)

// watched is a watch that runs.
type watched struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func (k *prompted) watches(env []string, args ...string) *watched {
	k.t.Helper()
	cmd := exec.Command("assent", append([]string{"watch"}, args...)...)
	cmd.Env = append(os.Environ(), append([]string{"HOME=" + k.home}, env...)...)
	cmd.Dir, cmd.Stderr = k.home, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return &watched{k.t, cmd, bufio.NewScanner(out)}
}

func (w *watched) next() (h happened) {
	w.t.Helper()
	if !w.lines.Scan() {
		w.t.Fatalf("it has ended: %v", w.lines.Err())
	}
	if err := json.Unmarshal(w.lines.Bytes(), &h); err != nil {
		w.t.Fatalf("%s: %v", w.lines.Text(), err)
	}
	return h
}

// until gives the first line of a call and an event.
func (w *watched) until(event, job string) happened {
	w.t.Helper()
	for {
		if h := w.next(); h.Event == event && h.Job == job {
			return h
		}
	}
}

func (w *watched) ends() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		w.t.Fatal(err)
	}
	for w.lines.Scan() {
	}
	if err := w.cmd.Wait(); err != nil {
		w.t.Errorf("it ended with %v", err)
	}
}

func TestWatch(t *testing.T) {
	k := newPrompted(t, "manual")
	k.asks("a", "Bash", `{"command":"make deploy"}`)
	k.has("a", "policyResult", `"ask"`)
	w := k.watches(nil)
	asked := w.until("asked", "a")
	if asked.Tool != "Bash" || asked.What != "make deploy" || asked.Number == 0 || asked.PolicyResult == nil || *asked.PolicyResult != "ask" {
		t.Errorf("got %+v", asked)
	}
	k.asks("b", "Bash", `{"command":"frob"}`)
	second := w.until("asked", "b")
	k.answers("a", "true")
	k.answers("b", "false")
	for _, row := range []struct{ event, job, by, approved, allowed, reason string }{
		{"answered", "a", "human:bob", "true", "", ""},
		{"decided", "a", "", "", "true", `"person-allowed"`},
		{"answered", "b", "human:bob", "false", "", ""},
		{"decided", "b", "", "", "false", `"person-refused"`},
		{"settled", "b", "", "", "", ""},
	} {
		if row.event == "answered" && row.job == "b" {
			// The two answers may be told before or after what follows from the first.
			continue
		}
		h := w.until(row.event, row.job)
		if h.By != row.by || string(h.Approved) != row.approved || string(h.Allowed) != row.allowed || string(h.Reason) != row.reason {
			t.Errorf("%s %s: got %+v", row.event, row.job, h)
		}
	}
	w.ends()

	// Taken up where it was: what has happened since, and nothing before.
	again := k.watches(nil, "--from", int64String(second.Rev))
	h := again.until("answered", "a")
	if h.Rev <= second.Rev {
		t.Errorf("rev %d is not behind %d", h.Rev, second.Rev)
	}
	again.until("settled", "b")
	again.ends()
}

// A call that waits for a moment is told as asked, and before its answer: also where
// the queue was never read meanwhile.
func TestWatchTellsWhatIsAnsweredAtOnce(t *testing.T) {
	k := newPrompted(t, "manual")
	w := k.watches(nil)
	k.asks("first", "Bash", `{"command":"frob"}`)
	w.until("asked", "first")
	for i := range 20 {
		id := fmt.Sprint("quick", i)
		k.asks(id, "Bash", `{"command":"frob"}`)
		k.has(id, "policyResult", `"ask"`)
		k.answers(id, "false")
		asked := false
		for {
			h := w.next()
			if h.Job == id && h.Event == "asked" {
				if asked {
					t.Errorf("%s was told twice", id)
				}
				asked = true
			}
			if h.Job == id && h.Event == "answered" {
				break
			}
		}
		if !asked {
			t.Fatalf("%s was answered and never asked", id)
		}
		w.until("settled", id)
	}
	// What a policy allows, and what is said no to before anybody was asked, never waited.
	k.asks("let", "Bash", `{"command":"let it"}`)
	for {
		h := w.next()
		if h.Job != "let" {
			t.Errorf("got %+v", h)
		}
		if h.Event == "asked" {
			t.Error("what nobody was asked about is told as asked")
		}
		if h.Event == "decided" {
			break
		}
	}
	w.ends()
}

func int64String(n int64) string {
	text, _ := json.Marshal(n)
	return string(text)
}

// Notifications and the command of config.json are told, and cannot answer.
func TestWatchTells(t *testing.T) {
	k := newPrompted(t, "manual")
	bin := filepath.Join(k.home, "bin")
	told, hooked := filepath.Join(k.home, "told"), filepath.Join(k.home, "hooked")
	for _, pipe := range []string{told, hooked} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(bin, "notify-send"): "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + told + "\n",
		filepath.Join(bin, "osascript"):   "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + told + "\n",
		filepath.Join(bin, "on-ask"):      "#!/bin/sh\n{ cat; echo \"args $*\"; env | grep ASSENT; } >" + hooked + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	config := `{"onAsk": ["` + filepath.Join(bin, "on-ask") + `", "--now; touch x"]}`
	if err := os.WriteFile(filepath.Join(k.home, ".config", "assent", "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	w := k.watches([]string{"PATH=" + bin + ":" + os.Getenv("PATH")}, "--notify", "--bell")
	k.asks("a", "Bash", `{"command":"frob --hint=<b>\u202ex"}`)
	w.until("asked", "a")
	read := func(path string) string {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := read(told); !strings.Contains(got, "A call waits: Bash\n") || !strings.Contains(got, "frob --hint=") || strings.Contains(got, "\u202e") {
		t.Errorf("the notification is %q", got)
	}
	got := read(hooked)
	line, rest, _ := strings.Cut(got, "\n")
	var h happened
	if err := json.Unmarshal([]byte(line), &h); err != nil || h.Job != "a" || h.Event != "asked" {
		t.Errorf("the command got %q: %v", line, err)
	}
	if !strings.HasPrefix(rest, "args --now; touch x\n") || !strings.Contains(rest, "ASSENT_BODY=1") {
		t.Errorf("the command has %q", rest)
	}
	w.ends()
}

// Each call is told of, however slow that is; what is too much is told as a number.
func TestEachCallIsTold(t *testing.T) {
	var said strings.Builder
	told, begin := make(chan int64), make(chan struct{})
	teller := &teller{say: &said}
	teller.start(func(h happened, _ int) {
		<-begin
		told <- h.Number
	})
	const all = mostUntold + 1000
	for n := range int64(all) {
		teller.tell(happened{Number: n})
	}
	close(begin)
	// One may have been on its way before the queue was full.
	for want := range int64(mostUntold) {
		if got := <-told; got != want {
			t.Fatalf("told %d, want %d", got, want)
		}
	}
	teller.tell(happened{Number: all})
	got := <-told
	if got == mostUntold {
		got = <-told
	}
	if got != all {
		t.Errorf("told %d, want %d", got, all)
	}
	teller.close()
	if text := said.String(); !strings.Contains(text, "1000 more began to wait") && !strings.Contains(text, "999 more began to wait") {
		t.Errorf("said %q", text)
	}
}
