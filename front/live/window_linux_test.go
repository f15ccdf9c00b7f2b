package live

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// opens is the variable by which this program opens a window and ends.
const opens = "ASSENT_TEST_OPENS_WINDOW"

func TestMain(m *testing.M) {
	if os.Getenv(opens) != "" {
		open(os.Args[1:])
		return
	}
	if os.Getenv(serves) != "" {
		serve(os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

// window is a program in a terminal of its own, below nobody: what runs in one of
// them is not an agent's because another has an agent in it, whoever runs the
// tests.
type window struct {
	pid    int
	screen *os.File // the other end of its terminal

	mu   sync.Mutex
	said bytes.Buffer
	news chan struct{} // one token where more was said

	ended  chan struct{}
	status int
}

// longest is longer than anything here takes by itself.
const longest = 2 * time.Minute

// inWindow starts a program in a window.
func inWindow(t *testing.T, dir string, env []string, args ...string) *window {
	t.Helper()
	w := &window{news: make(chan struct{}, 1), ended: make(chan struct{})}
	var err error
	if w.screen, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(int(w.screen.Fd()), unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(int(w.screen.Fd()), unix.TIOCSPTLCK, 0)); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	said, says, err1 := os.Pipe()
	states, tells, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	opener := &exec.Cmd{
		Path: self, Args: append([]string{self}, args...), Env: append([]string{opens + "=1"}, env...), Dir: dir,
		Stdin: tty, Stdout: says, Stderr: says, ExtraFiles: []*os.File{tells},
	}
	if err := opener.Run(); err != nil {
		t.Fatalf("opening a window: %v", err)
	}
	tty.Close()
	says.Close()
	tells.Close()
	state := bufio.NewReader(states)
	if _, err := fmt.Fscanln(state, &w.pid); err != nil {
		t.Fatalf("opening a window: %v", err)
	}
	go io.Copy(io.Discard, w.screen)
	var heard sync.WaitGroup
	heard.Go(func() {
		b := make([]byte, 32<<10)
		for {
			n, err := said.Read(b)
			w.mu.Lock()
			w.said.Write(b[:n])
			w.mu.Unlock()
			select {
			case w.news <- struct{}{}:
			default:
			}
			if err != nil {
				said.Close()
				return
			}
		}
	})
	go func() {
		w.status = -1
		fmt.Fscanln(state, &w.status)
		states.Close()
		// What it left running may hold its output for ever.
		syscall.Kill(-w.pid, syscall.SIGKILL)
		heard.Wait()
		close(w.ended)
	}()
	t.Cleanup(func() {
		w.end(t)
		w.screen.Close()
	})
	return w
}

// end closes the window.
func (w *window) end(t *testing.T) {
	t.Helper()
	select {
	case <-w.ended: // its number may be another's by now
		return
	default:
	}
	syscall.Kill(-w.pid, syscall.SIGKILL)
	w.wait(t)
}

// open starts the program and is gone, so that nobody is above it.
func open(args []string) {
	tells := os.NewFile(3, "tells")
	shell := &exec.Cmd{
		Path: "/bin/sh", Args: append([]string{"sh", "-c", `"$@" 3>&-; echo "$?" >&3`, "sh"}, args...),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, ExtraFiles: []*os.File{tells},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, opens+"=") {
			shell.Env = append(shell.Env, e)
		}
	}
	if err := shell.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(tells, shell.Process.Pid)
}

// all is what the program has said.
func (w *window) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said.String()
}

// wait waits for the end of the program.
func (w *window) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-w.ended:
	case <-time.After(longest):
		t.Fatalf("it does not end; it says\n%s", w.all())
	}
	return w.status
}

// line waits for a whole line that is wanted, behind those that were read before.
func (w *window) line(t *testing.T, from *int, want func(line string) bool) string {
	t.Helper()
	limit := time.After(longest)
	for {
		text := w.all()[*from:]
		for {
			line, rest, whole := strings.Cut(text, "\n")
			if !whole {
				break
			}
			*from += len(line) + 1
			if text = rest; want(line) {
				return line
			}
		}
		select {
		case <-w.news:
		case <-w.ended:
			t.Fatalf("it has ended; it said\n%s", w.all())
		case <-limit:
			t.Fatalf("what is waited for is not said; it says\n%s", w.all())
		}
	}
}
