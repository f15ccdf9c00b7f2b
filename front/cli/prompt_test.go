package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/internal/place"
	"assent/kernel"
	"assent/plexus"
)

// A terminal is a program on a pseudo-terminal, and what a person would see there.
type console struct {
	t      *testing.T
	cmd    *exec.Cmd
	file   *os.File
	before *unix.Termios
	mu     sync.Mutex
	more   chan struct{} // holds one when the screen has changed
	screen *vt.Emulator
	all    strings.Builder
	ended  chan error
}

// person starts assent on a terminal of its own.
func (k *prompted) person(columns, rows uint16, env []string, args ...string) *console {
	t := k.t
	t.Helper()
	file, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(file, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	before, err := unix.IoctlGetTermios(int(tty.Fd()), termiosOf)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("assent", args...)
	cmd.Env = append(os.Environ(), append([]string{"HOME=" + k.home, "TERM=xterm-256color", "COLUMNS=", "NO_COLOR="}, env...)...)
	cmd.Dir = k.home
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, cmd: cmd, file: file, before: before, more: make(chan struct{}, 1), screen: vt.NewEmulator(int(columns), int(rows)), ended: make(chan error, 1)}
	var copying sync.WaitGroup
	copying.Go(func() { // what the terminal answers to questions
		b := make([]byte, 1024)
		for {
			n, err := c.screen.Read(b)
			if err != nil {
				return
			}
			_, _ = file.Write(b[:n])
		}
	})
	copying.Go(func() {
		b := make([]byte, 64<<10)
		for {
			n, err := file.Read(b)
			c.mu.Lock()
			c.all.Write(b[:n])
			_, _ = c.screen.Write(b[:n])
			c.mu.Unlock()
			select {
			case c.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	})
	go func() { c.ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		tty.Close()
		file.Close()
		_ = c.screen.InputPipe().(io.Closer).Close()
		copying.Wait()
	})
	return c
}

func (c *console) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(strings.Fields(c.screen.String()), " ")
}

// sees waits until something is on the screen.
func (c *console) sees(want string) {
	c.t.Helper()
	c.until(want, func() bool { return strings.Contains(c.text(), want) })
}

// loses waits until something is not there any more.
func (c *console) loses(gone string) {
	c.t.Helper()
	c.until("no "+gone, func() bool { return !strings.Contains(c.text(), gone) })
}

func (c *console) until(what string, ok func() bool) {
	c.t.Helper()
	late := time.After(30 * time.Second)
	for !ok() {
		select {
		case <-c.more:
		case <-late:
			c.mu.Lock()
			defer c.mu.Unlock()
			c.t.Fatalf("never seen: %s; the screen is\n%s", what, c.screen.String())
		}
	}
}

// types writes what a person types.
func (c *console) types(keys string) {
	c.t.Helper()
	if _, err := c.file.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// presses types a key that counts where nothing was typed before it, once more where
// the screen says that it came too soon.
func (c *console) presses(key, want string) {
	c.t.Helper()
	soon := false
	c.types(key)
	c.until(want, func() bool {
		soon = strings.Contains(c.text(), "came too close")
		return soon || strings.Contains(c.text(), want)
	})
	if soon {
		c.sees("one moment")
		c.loses("one moment")
		c.types(key)
		c.sees(want)
	}
}

// ends waits until the program has ended, and looks whether the terminal is as it
// was.
func (c *console) ends() {
	c.t.Helper()
	select {
	case err := <-c.ended:
		if err != nil {
			c.t.Errorf("it ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		c.t.Fatal("it does not end")
	}
	after, err := unix.IoctlGetTermios(int(c.file.Fd()), termiosOf)
	if err != nil {
		c.t.Fatal(err)
	}
	if *after != *c.before {
		c.t.Errorf("the terminal was %+v and is %+v", *c.before, *after)
	}
	c.until("the screen left", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		all := c.all.String()
		on, off := strings.LastIndex(all, "\x1b[?1049h"), strings.LastIndex(all, "\x1b[?1049l")
		pasteOn, pasteOff := strings.LastIndex(all, "\x1b[?2004h"), strings.LastIndex(all, "\x1b[?2004l")
		return off >= on && pasteOff >= pasteOn
	})
}

// prompted is a kernel with a session, for prompts.
type prompted struct {
	*testDaemon
	t    *testing.T
	home string
}

func newPrompted(t *testing.T, mode string) *prompted {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config", "assent"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", tokenVariable} {
		t.Setenv(name, "")
	}
	config := `{"approvalAskThrottleMs": 0, "bell": true}`
	if err := os.WriteFile(filepath.Join(home, ".config", "assent", "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	k := &prompted{&testDaemon{env: place.Env{Home: home, UID: os.Getuid()}, policy: scriptPolicy, asks: make(chan struct{})}, t, home}
	if err := k.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.stop(); err != nil {
			t.Error(err)
		}
	})
	_, err := k.kernel.CreateSession(t.Context(), kernel.NewSession{ID: "s", Mode: mode, Client: "Claude Code", Workspace: home}, *k.by.Load())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *prompted) asks(id, name, arguments string) {
	k.t.Helper()
	_, err := k.kernel.Admit(k.t.Context(), kernel.NewCall{Session: "s", ID: id, Name: name, Arguments: []byte(arguments)}, plexus.Writer{Role: plexus.Agent, Name: "hook"})
	if err != nil {
		k.t.Fatal(err)
	}
}

// has waits until a field of a call is written, and compares it.
func (k *prompted) has(id, field, want string) {
	k.t.Helper()
	if err := k.await("s", id, field); err != nil {
		k.t.Fatal(err)
	}
	snap, err := k.doc.Job(k.t.Context(), "s", id)
	if err != nil {
		k.t.Fatal(err)
	}
	if got := snap.Fields[field].Value; got != want {
		k.t.Errorf("%s of %s is %s, want %s", field, id, got, want)
	}
}

func (k *prompted) answers(id, value string) {
	k.t.Helper()
	_, err := k.doc.Apply(k.t.Context(), plexus.Tx{Writer: plexus.Writer{Role: plexus.Human, Name: "bob"}, Writes: []plexus.Row{
		plexus.Field{Session: "s", Job: id, Name: plexus.Approved, Value: value},
	}})
	if err != nil {
		k.t.Fatal(err)
	}
}

const (
	escape = "\x1b"
	enter  = "\r"
)

// Each key does in the document what it says, on a terminal and through the socket.
func TestPromptKeys(t *testing.T) {
	k := newPrompted(t, "manual")
	k.asks("a", "Bash", `{"command":"make deploy"}`)
	c := k.person(80, 40, nil)
	c.sees("make deploy")
	c.sees("a allow d deny c comment")
	c.types("a")
	k.has("a", plexus.Approved, "true")
	c.sees("(Bash) allowed. Nothing waits for a person.")

	k.asks("d", "Bash", `{"command":"frob two"}`)
	c.sees("frob two")
	c.sees("a allow d deny")
	c.types("d")
	k.has("d", plexus.Approved, "false")
	k.has("d", plexus.OrchestrationResult, "false")

	k.asks("c", "Bash", `{"command":"frob three"}`)
	c.sees("frob three")
	c.sees("a allow d deny")
	c.types("c")
	c.sees("Comment:")
	c.types(escape + "[200~after\nlunch" + escape + "[201~")
	c.sees("Comment: after lunch")
	c.types(enter)
	c.sees("a allow with it")
	c.types("d")
	k.has("c", plexus.Approved, "false")
	k.has("c", plexus.ApprovalComment, `"after lunch"`)

	k.asks("x", "Bash", `{"command":"frob four"}`)
	c.sees("frob four")
	c.sees("a allow d deny")
	c.types("x")
	c.sees("x cancel it")
	c.types("x")
	k.has("x", plexus.Cancelled, "true")

	k.asks("m", "Bash", `{"command":"frob five"}`)
	c.sees("frob five")
	c.sees("a allow d deny")
	c.types("?")
	c.sees("any key: back")
	c.types("?")
	c.sees("a allow d deny")
	c.types("m")
	c.sees("m manual a auto alt+y yolo")
	c.types("y")
	c.sees("alt+y confirms it")
	c.types(escape + "y")
	k.has("m", plexus.OrchestrationResult, "true")
	c.sees("(Bash) was allowed:")
	c.types("\x03")
	c.ends()
}

func TestPromptGrants(t *testing.T) {
	k := newPrompted(t, "manual")
	for _, id := range []string{"one", "two", "folder"} {
		k.asks(id, "Read", `{"file_path":"/opt/sdk/docs/`+id+`.txt"}`)
		if err := k.await("s", id, plexus.PolicyResult); err != nil {
			t.Fatal(err)
		}
	}
	c := k.person(100, 40, nil, "prompt")
	c.sees("f allow the folder /opt/sdk/docs")
	c.types("f")
	for _, id := range []string{"one", "two", "folder"} {
		k.has(id, plexus.OrchestrationResult, "true")
	}
	list, err := k.doc.Latest(t.Context(), "s")
	if err != nil || list[plexus.ReadAllowlist].Value != `["/opt/sdk/docs"]` {
		t.Errorf("the allowlist is %s, %v", list[plexus.ReadAllowlist].Value, err)
	}

	grant := func(id, command, key, what string) {
		t.Helper()
		k.asks(id, "Bash", `{"command":"`+command+`"}`)
		c.sees(command)
		c.sees("a allow d deny")
		c.types("g")
		c.sees(what)
		c.loses("one moment")
		c.types(escape + key)
	}
	grant("g", "make deploy", "s", "alt+s: grant it in this session")
	k.has("g", plexus.Approved, "true")
	list, err = k.doc.Latest(t.Context(), "s")
	if err != nil || list[plexus.AutoAllow].Value != `{"bash":true,"mcp":false,"write":false}` {
		t.Errorf("granted is %s, %v", list[plexus.AutoAllow].Value, err)
	}
	grant("w", "frob two", "w", "alt+w: grant it in all sessions")
	k.has("w", plexus.Approved, "true")
	list, err = k.doc.Latest(t.Context(), "")
	if err != nil || list[plexus.StandingAutoAllow].Value != `{"bash":true,"mcp":false,"write":false}` {
		t.Errorf("granted in all sessions is %s, %v", list[plexus.StandingAutoAllow].Value, err)
	}

	k.asks("h", "Bash", `{"command":"npx cowsay"}`)
	c.sees("npx cowsay")
	c.sees("a allow d deny c comment m mode")
	c.types("g")
	c.sees("No grant is offered for npx and bunx, under whatever name.")
	c.types("\x03")
	c.ends()
}

// What happens elsewhere while a card is shown.
func TestPromptRaces(t *testing.T) {
	k := newPrompted(t, "manual")
	c := k.person(80, 40, nil)
	shows := func(id, command string) {
		t.Helper()
		k.asks(id, "Bash", `{"command":"`+command+`"}`)
		c.sees(command)
		c.sees("a allow d deny")
	}
	c.sees("Nothing waits for a person.")
	shows("a", "make deploy")
	k.answers("a", "false")
	c.sees("(Bash) was refused by bob.")

	shows("b", "frob two")
	if err := k.kernel.Cancel(t.Context(), "s", "b", *k.by.Load()); err != nil {
		t.Fatal(err)
	}
	c.sees("(Bash) was cancelled.")

	shows("c", "frob three")
	if _, err := k.kernel.Assign(t.Context(), "s", "yolo", false, *k.by.Load()); err != nil {
		t.Fatal(err)
	}
	c.sees("(Bash) was allowed:")
	if _, err := k.kernel.Assign(t.Context(), "s", "manual", false, *k.by.Load()); err != nil {
		t.Fatal(err)
	}

	shows("d", "frob six")
	c.types("c")
	c.sees("Comment:")
	c.types("when it is back")
	c.sees("Comment: when it is back")
	if err := k.stop(); err != nil {
		t.Fatal(err)
	}
	c.sees("The kernel does not answer; trying again.")
	c.types(enter)
	c.sees("a allow with it")
	c.types("a")
	c.sees("Nothing was done: the kernel does not answer.")
	if err := k.start(); err != nil {
		t.Fatal(err)
	}
	c.loses("does not answer; trying")
	c.sees("With the comment: when it is back")
	c.presses("a", "(Bash) allowed, with a comment")
	k.has("d", plexus.Approved, "true")
	k.has("d", plexus.ApprovalComment, `"when it is back"`)

	// Two terminals: one answers, and the other says who did.
	other := k.person(40, 20, []string{"NO_COLOR=1"})
	other.sees("Nothing waits for a person.")
	shows("e", "frob seven")
	other.sees("frob seven")
	c.types("a")
	k.has("e", plexus.Approved, "true")
	other.sees("(Bash) was allowed by ada.")
	if err := pty.Setsize(other.file, &pty.Winsize{Rows: 10, Cols: 30}); err != nil {
		t.Fatal(err)
	}
	other.types("\x03")
	other.ends()
	c.types("\x03")
	c.ends()
}

// A screen reader hears one line after the other; nothing is drawn.
func TestPromptPlain(t *testing.T) {
	k := newPrompted(t, "manual")
	k.asks("a", "Bash", `{"command":"make deploy"}`)
	for _, way := range [][]string{{"--plain"}, {"prompt", "--plain"}, nil} {
		c := k.person(80, 50, []string{"TERM=dumb"}, way...)
		c.sees("argument command: make deploy")
		c.sees("End of the card.")
		c.mu.Lock()
		if all := c.all.String(); strings.Contains(all, "\x1b[?1049h") || strings.Contains(all, "│") {
			t.Errorf("something is drawn: %q", all)
		} else if !strings.Contains(all, "\a") {
			t.Errorf("no bell rang: %q", all)
		}
		c.mu.Unlock()
		c.types("q")
		c.ends()
	}
	c := k.person(80, 50, nil, "--plain")
	c.sees("End of the card.")
	c.sees("Keys: a allow, d deny")
	c.types("d")
	k.has("a", plexus.Approved, "false")
	c.sees("(Bash) refused.")
	c.types("\x03")
	c.ends()
}

// Without a kernel it waits for one; without a terminal there is help, and no
// prompt.
func TestPromptWithout(t *testing.T) {
	k := newPrompted(t, "manual")
	p, err := place.Of(k.env)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.stop(); err != nil {
		t.Fatal(err)
	}
	c := k.person(80, 24, nil, "--socket", p.Socket)
	c.sees("The kernel does not answer; trying again.")
	if err := k.start(); err != nil {
		t.Fatal(err)
	}
	c.sees("Nothing waits for a person.")
	k.asks("a", "Bash", `{"command":"make deploy"}`)
	c.sees("make deploy")
	c.types("q")
	c.ends()

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "assent").CombinedOutput(); err != nil || !strings.Contains(string(out), "Usage:") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := exec.CommandContext(ctx, "assent", "prompt").CombinedOutput(); err == nil || !strings.Contains(string(out), "needs a terminal") {
		t.Errorf("%v: %s", err, out)
	}
}

// Two people answer the same call at the same time, 500 times: one answer counts,
// and both read the same.
func TestTwoAnswerOneCall(t *testing.T) {
	k := newPrompted(t, "manual")
	p, err := place.Of(k.env)
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 500
	var people [2]*client.Client
	for i := range people {
		people[i] = client.New(p.Socket, client.Options{})
		defer people[i].Close()
	}
	for round := range rounds {
		id := fmt.Sprint("j", round)
		k.asks(id, "Bash", `{"command":"frob"}`)
		if err := k.await("s", id, plexus.PolicyResult); err != nil {
			t.Fatal(err)
		}
		var errs [2]error
		var both sync.WaitGroup
		for i, c := range people {
			both.Go(func() { _, errs[i] = c.Answer(t.Context(), "s", id, i == 0, "") })
		}
		both.Wait()
		won := 0
		if errs[0] != nil {
			won = 1
		}
		if errs[won] != nil || !errors.Is(errs[1-won], wire.Written) && !errors.Is(errs[1-won], wire.Completed) {
			t.Fatalf("round %d: %v and %v", round, errs[0], errs[1])
		}
		if err := k.await("s", id, plexus.OrchestrationResult); err != nil {
			t.Fatal(err)
		}
		for _, c := range people {
			job, err := c.Job(t.Context(), "s", id)
			if err != nil || *job.Leaf.Approved != (won == 0) || *job.Leaf.OrchestrationResult != (won == 0) {
				t.Fatalf("round %d: %d won, and it is %+v, %v", round, won, job.Leaf, err)
			}
		}
	}
}

// The keys that answer nothing: reading to the end, the next call, the views; and what
// a person leaves to the classifier.
func TestPromptReads(t *testing.T) {
	k := newPrompted(t, "auto")
	k.asks("long", "Bash", `{"command":"frob one\n`+strings.Repeat(`echo\n`, 60)+`frob last"}`)
	k.asks("no", "Bash", `{"command":"no way"}`)
	for _, id := range []string{"long", "no"} {
		if err := k.await("s", id, plexus.PolicyResult); err != nil {
			t.Fatal(err)
		}
	}
	c := k.person(80, 24, nil)
	c.sees("frob one")
	c.sees("Space: more")
	c.types("a")
	c.sees("There is more of it: read to the end first")
	c.types(" ")
	c.loses("frob one")
	c.types("n")
	c.sees("no way")
	c.sees("a allow d deny")
	c.types("g")
	c.sees("autoCoverDeny off")
	c.loses("one moment")
	c.types(escape + "o")
	// What is told of it goes with the card when that asks nobody any more.
	c.until("what was written", func() bool {
		text := c.text()
		return !strings.Contains(text, "autoCoverDeny off") && (strings.Contains(text, "the classifier's from now on") || strings.Contains(text, "Space: more"))
	})
	list, err := k.doc.Latest(t.Context(), "s")
	if err != nil || list[plexus.AutoCoverDeny].Value != "false" {
		t.Errorf("autoCoverDeny is %s, %v", list[plexus.AutoCoverDeny].Value, err)
	}
	c.types("2")
	c.sees("[Queue 2]")
	c.types("\x1b[H") // to the first one
	snap, err := k.doc.Job(t.Context(), "s", "long")
	if err != nil {
		t.Fatal(err)
	}
	c.sees(fmt.Sprintf("> %d ", snap.Job.Rev))
	c.types(enter)
	c.sees("frob one")
	c.sees("Space: more")
	c.types("\x1b[F") // and to its end
	c.sees("a allow d deny")
	c.presses("d", "(Bash) refused")
	k.has("long", plexus.Approved, "false")
	c.types("\t\t")
	c.sees("[History]")
	c.sees("deny ada: Bash frob one")
	c.types("4")
	c.sees("[Sessions]")
	c.sees("> s auto")
	c.types("\x03")
	c.ends()
}

// What was typed before a call was shown is no answer to the question below it, and
// neither is what comes sooner than anybody reads.
func TestAllowAsks(t *testing.T) {
	k := newPrompted(t, "manual")
	_, err := k.kernel.Admit(t.Context(), kernel.NewCall{Session: "s", ID: "a", Name: "Bash", Arguments: []byte(`{"command":"make deploy"}`), Facts: `{"cwd":"/opt/evil"}`},
		plexus.Writer{Role: plexus.Agent, Name: "hook"})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.await("s", "a", plexus.PolicyResult); err != nil {
		t.Fatal(err)
	}
	c := k.person(80, 50, nil, "allow", "s/a")
	c.types("y\n")
	c.sees("/opt/evil")
	c.sees("Allow it? y for yes:")
	c.types("n\n")
	c.sees("nothing was answered")
	if err := <-c.ended; err == nil {
		t.Error("a no ends well")
	}
	snap, err := k.doc.Job(t.Context(), "s", "a")
	if err != nil {
		t.Fatal(err)
	}
	if f, there := snap.Fields[plexus.Approved]; there {
		t.Errorf("approved is %s", f.Value)
	}

	c = k.person(80, 50, nil, "allow", "s/a")
	c.sees("Allow it? y for yes:")
	for yes, done := 1, false; !done; yes++ {
		c.types("y\n")
		c.until("an answer", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			all := c.all.String()
			done = strings.Contains(all, "allowed: Bash make deploy")
			return done || strings.Count(all, "That came sooner") == yes && strings.Count(all, "Allow it?") > yes
		})
	}
	k.has("a", plexus.Approved, "true")
}
