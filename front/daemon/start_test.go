package daemon

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"assent/internal/place"
)

// As a child the test binary is a detached daemon of the home it is told.
const childHome = "ASSENT_TEST_HOME"

// With this it stays until its input ends.
const childWaits = "ASSENT_TEST_WAITS"

// part is another program that the test binary is, on systems that have one.
var part func() (played bool)

func TestMain(m *testing.M) {
	if part != nil && part() {
		return
	}
	if os.Getenv(childWaits) != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	home := os.Getenv(childHome)
	if home == "" {
		os.Exit(m.Run())
	}
	report, err := NewReport()
	if err != nil {
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	p, err := place.Of(place.Env{Home: home, UID: os.Geteuid()})
	if err == nil && len(os.Args) > 1 && os.Args[1] == "dies" {
		os.Exit(7)
	}
	if err == nil {
		_, err = Settle()
	}
	if err == nil {
		err = Run(ctx, Options{Place: p, Ready: report.Ready})
	}
	if err != nil {
		report.Failed(err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(t *testing.T, p place.Place, args ...string) Child {
	t.Helper()
	home := strings.TrimSuffix(p.Config, "/.config/assent")
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if _, err := Stop(ctx, p); err != nil && !errors.Is(err, ErrNotRunning) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("ending it: %v", err)
		}
	})
	return Child{Path: os.Args[0], Args: args, Env: []string{childHome + "=" + home}}
}

func TestDetach(t *testing.T) {
	p := somewhere(t)
	c := child(t, p)
	pid, err := Detach(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !answers(p.Socket) {
		t.Error("it does not answer")
	}
	// It leads a session of its own: what ends ours does not end it.
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("its session is %d (%v), want %d", sid, err, pid)
	}
	if _, err := Detach(t.Context(), c); err == nil || !strings.Contains(err.Error(), place.ErrTaken.Error()) {
		t.Errorf("a second one: %v", err)
	}
	if got, err := Stop(t.Context(), p); err != nil || got != pid {
		t.Errorf("stopped %d, %v, want %d", got, err, pid)
	}
	if answers(p.Socket) {
		t.Error("it answers still")
	}
	if _, err := Stop(t.Context(), p); !errors.Is(err, ErrNotRunning) {
		t.Errorf("stopped again: %v", err)
	}
}

func TestDetachSaysWhyNot(t *testing.T) {
	p := somewhere(t)
	if _, err := Detach(t.Context(), child(t, p, "dies")); err == nil || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("died without a word: %v", err)
	}
	if err := place.Prepare(p, os.Geteuid()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.StoreFile(), []byte("no document"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Detach(t.Context(), child(t, p)); err == nil || !strings.Contains(err.Error(), "plexus.db") {
		t.Errorf("no document: %v", err)
	}
	c := child(t, p)
	c.Path += "-is-not-there"
	if _, err := Detach(t.Context(), c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
}

// Of many that need a daemon one starts it, and all have it.
func TestEnsureAtOnce(t *testing.T) {
	p := somewhere(t)
	c := child(t, p)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if err := Ensure(t.Context(), p, c); err != nil {
				t.Error(err)
			}
			if !answers(p.Socket) {
				t.Error("it does not answer")
			}
		})
	}
	all.Wait()
}

// Whoever waits for a daemon that gives up is told so.
func TestEnsureOneThatGivesUp(t *testing.T) {
	p := somewhere(t)
	if err := place.Prepare(p, os.Geteuid()); err != nil {
		t.Fatal(err)
	}
	lock, err := place.Take(p.LockFile())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*glance)
	defer cancel()
	if err := Ensure(ctx, p, Child{Path: "/nowhere"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it starts: %v", err)
	}
	given := make(chan error)
	go func() { given <- Await(t.Context(), p) }()
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-given; !errors.Is(err, errGivenUp) {
		t.Errorf("given up: %v", err)
	}
}

// A kernel that is stopped takes connections and says nothing: whoever asks or
// ends it is told why, and does not wait for ever.
func TestOneThatIsStopped(t *testing.T) {
	p := somewhere(t)
	pid, err := Detach(t.Context(), child(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if err := Await(t.Context(), p); err != nil {
		t.Error("it runs:", err)
	}
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGCONT) })
	for what, ask := range map[string]func() error{
		"await":  func() error { return Await(t.Context(), p) },
		"listen": func() error { return Listen(t.Context(), p.Socket) },
		"ensure": func() error { return Ensure(t.Context(), p, Child{Path: "/nowhere"}) },
		"stop":   func() error { _, err := Stop(t.Context(), p); return err },
	} {
		err := ask()
		if what == "ensure" && err == nil { // it is there; who asks it then is told
			continue
		}
		if silent, ok := errors.AsType[*Silent](err); !ok || *silent != (Silent{pid, true}) || !strings.Contains(err.Error(), "is stopped") {
			t.Errorf("%s: it is stopped: %v", what, err)
		}
	}
}
