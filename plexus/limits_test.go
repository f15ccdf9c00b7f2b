//go:build linux || darwin

package plexus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func init() {
	children["limited"] = limited
	children["nobody"] = unprivileged
}

// fillUp writes jobs until one is refused, and returns how many were taken
// and why the next was not.
func fillUp(s *Store, prefix string) (taken int, err error) {
	arguments := Value(map[string]string{"command": strings.Repeat("x", 1000)})
	for ; taken < 100_000; taken++ {
		_, err := s.Apply(context.Background(), Tx{Writer: agent, Writes: []Row{
			Job{Session: "s", ID: prefix + strconv.Itoa(taken), Name: "Bash", Arguments: arguments}}})
		if err != nil {
			return taken, err
		}
	}
	return taken, nil
}

// A full file refuses writes and keeps what it has; when there is room again,
// it takes them again.
func TestFull(t *testing.T) {
	s := newStore(t)
	must(t, s, host, 0, Session{ID: "s"})
	limit := func(pages int) {
		if _, err := s.conn.conn.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(200)
	taken, err := fillUp(s, "a")
	if !errors.Is(err, ErrFull) || taken == 0 {
		t.Fatalf("after %d: got %v, want %v", taken, err, ErrFull)
	}
	head, err := s.Verify(t.Context())
	if err != nil || head.Rev != Rev(taken)+1 {
		t.Fatalf("%d were taken, the document ends at %v, %v", taken, head, err)
	}
	// What is refused with it: a license is not there because it was asked for.
	_, err = s.Apply(t.Context(), Tx{Writer: host, Writes: []Row{Job{Session: "s", ID: "x", Arguments: Value(map[string]string{"a": strings.Repeat("x", 1<<20)})}}})
	if !errors.Is(err, ErrFull) {
		t.Errorf("got %v, want %v", err, ErrFull)
	}
	limit(1 << 20)
	must(t, s, agent, 0, Job{Session: "s", ID: "again"})
	mustVerify(t, s)
}

// limited writes until its file may not grow.
func limited(path string, out io.Writer) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(path, Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Apply(context.Background(), Tx{Writer: host, Writes: []Row{Session{ID: "s"}}}); err != nil {
		return err
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 300_000, Max: was.Max}); err != nil {
		return err
	}
	taken, first := fillUp(s, "a")
	again, second := fillUp(s, "b")
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	// The store does not know what is on the disk and takes nothing any more.
	more, third := fillUp(s, "c")
	fmt.Fprintln(out, taken, again, more)
	for _, err := range []error{first, second, third} {
		fmt.Fprintln(out, errors.Is(err, ErrDisk), errors.Is(err, ErrFull), err)
	}
	return nil
}

// A disk that fails in the middle of a write ends the store; the document has
// what was acknowledged.
func TestDiskFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	cmd := child(t, "limited", path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var taken, again, more int
	if _, err := fmt.Sscan(string(out), &taken, &again, &more); err != nil {
		t.Fatal(err)
	}
	if taken == 0 || again != 0 || more != 0 || strings.Count(string(out), "\ntrue false ") != 3 {
		t.Errorf("the child says\n%s", out)
	}
	s := openAt(t, path)
	mustVerify(t, s)
	jobs, err := s.Jobs(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != taken {
		t.Errorf("%d jobs were taken, %d are there", taken, len(jobs))
	}
	must(t, s, agent, 0, Job{Session: "s", ID: "again"})
}

// A second process that opens the document is told which one has it, and the
// first goes on.
func TestSecondOpener(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	s := openAt(t, path)
	must(t, s, host, 0, Session{ID: "s"})
	var said strings.Builder
	cmd := child(t, "open", path)
	cmd.Stderr = &said
	if err := cmd.Run(); err == nil {
		t.Fatal("it was opened twice")
	}
	want := fmt.Sprintf("%v (in process %d)", ErrLocked, os.Getpid())
	if !strings.Contains(said.String(), want) {
		t.Errorf("the second says %q, want %q", said.String(), want)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("a second time in one process: got %v, want %v", err, ErrLocked)
	}
	must(t, s, agent, 0, Job{Session: "s", ID: "j"})
	mustVerify(t, s)
}

// A document that turns read-only refuses writes, and is still read.
func TestReadOnlyWhileOpen(t *testing.T) {
	s := newJob(t)
	if _, err := s.conn.conn.ExecContext(t.Context(), "PRAGMA query_only = ON"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), Tx{Writer: host, Writes: []Row{of(PolicyResult, `"allow"`)}}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("got %v, want %v", err, ErrReadOnly)
	}
	mustVerify(t, s)
	if _, err := s.Session(t.Context(), "s"); err != nil {
		t.Error(err)
	}
}

// unprivileged opens a document as somebody who may not write there.
func unprivileged(path string, out io.Writer) error {
	if os.Getuid() == 0 {
		if err := syscall.Setgid(65534); err != nil {
			return err
		}
		if err := syscall.Setuid(65534); err != nil {
			return err
		}
	}
	s, err := Open(path, Options{})
	if err == nil {
		return s.Close()
	}
	fmt.Fprintln(out, errors.Is(err, ErrReadOnly), err)
	return nil
}

func TestReadOnlyFile(t *testing.T) {
	for _, test := range []struct {
		why  string
		dir  os.FileMode
		file os.FileMode
	}{
		{"the file", 0o777, 0o444},
		{"the folder", 0o555, 0o666},
	} {
		t.Run(test.why, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "document")
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(path + ".lock"); err != nil {
				t.Fatal(err)
			}
			for name, mode := range map[string]os.FileMode{path: test.file, dir: test.dir, filepath.Dir(dir): 0o755} {
				if err := os.Chmod(name, mode); err != nil {
					t.Fatal(err)
				}
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o755) }) // or it cannot be removed
			cmd := child(t, "nobody", path)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil || !strings.HasPrefix(string(out), "true ") {
				t.Errorf("opening says %q, %v", out, err)
			}
		})
	}
}
