package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rogpeppe/go-internal/testscript"

	"assent/front/daemon"
	"assent/internal/peer"
	"assent/internal/place"
)

func placeIn(home string) (place.Place, error) {
	return place.Of(place.Env{Home: home, UID: os.Getuid()})
}

// endKernel ends what a script left running.
func endKernel(t *testing.T, home string) {
	p, err := placeIn(home)
	if err != nil {
		t.Error(err)
		return
	}
	if pid, held, err := place.Held(p.LockFile()); err == nil && held && pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGCONT) // a script may have left it stopped
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, err := daemon.Stop(ctx, p); err != nil && !errors.Is(err, daemon.ErrNotRunning) && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("ending the kernel of a script: %v", err)
	}
}

// condition is [person]: what runs in a terminal of its own here is a person's,
// as no agent runs these tests.
func condition(cond string) (bool, error) {
	if cond != "person" {
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@assent-test-" + fmt.Sprint(os.Getpid()), Net: "unix"})
	if err != nil {
		return false, nil // no Linux: nobody is a person
	}
	defer l.Close()
	conn, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		return false, err
	}
	defer conn.Close()
	other, err := l.AcceptUnix()
	if err != nil {
		return false, err
	}
	defer other.Close()
	f, err := peer.Of(other)
	return peer.Supported && f.Whole && f.Env == peer.Clean, err
}

// answers: waits until a kernel answers on the socket of the script's home.
func answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: answers")
	}
	p, err := placeIn(ts.Getenv("HOME"))
	ts.Check(err)
	for {
		conn, err := net.Dial("unix", p.Socket)
		if err == nil {
			conn.Close()
			return
		}
		if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED) {
			ts.Fatalf("%v", err)
		}
		time.Sleep(5 * time.Millisecond) // a socket tells nobody that it begins
	}
}

// killed: kills the kernel, and waits until it is gone.
func killed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: killed")
	}
	p, err := placeIn(ts.Getenv("HOME"))
	ts.Check(err)
	pid, held, err := place.Held(p.LockFile())
	ts.Check(err)
	if !held {
		ts.Fatalf("no kernel runs")
	}
	ts.Check(syscall.Kill(pid, syscall.SIGKILL))
	for held {
		if _, held, err = place.Held(p.LockFile()); err != nil {
			ts.Fatalf("%v", err)
		}
		time.Sleep(time.Millisecond) // it is no child of ours that could be waited for
	}
}

// halted, goeson: stops the kernel, and lets it go on; then it has the lock, or
// was told to end meanwhile and does.
func halted(ts *testscript.TestScript, neg bool, args []string) {
	signalled(ts, neg, args, syscall.SIGSTOP)
}
func goesOn(ts *testscript.TestScript, neg bool, args []string) {
	signalled(ts, neg, args, syscall.SIGCONT)
}

func signalled(ts *testscript.TestScript, neg bool, args []string, signal syscall.Signal) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: halted or goeson")
	}
	p, err := placeIn(ts.Getenv("HOME"))
	ts.Check(err)
	pid, held, err := place.Held(p.LockFile())
	ts.Check(err)
	if !held {
		ts.Fatalf("no kernel runs")
	}
	ts.Check(syscall.Kill(pid, signal))
}

// logged REGEXP: waits until the log of the kernel has a line of that form.
func logged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: logged REGEXP")
	}
	p, err := placeIn(ts.Getenv("HOME"))
	ts.Check(err)
	line, err := regexp.Compile(args[0])
	ts.Check(err)
	watcher, err := fsnotify.NewWatcher()
	ts.Check(err)
	defer watcher.Close()
	ts.Check(watcher.Add(filepath.Dir(p.LogFile())))
	for {
		text, err := os.ReadFile(p.LogFile())
		ts.Check(err)
		if line.Match(text) {
			return
		}
		select {
		case <-watcher.Events:
		case err := <-watcher.Errors:
			ts.Fatalf("%v", err)
		}
	}
}
