package plexus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func init() {
	children["full"] = full
}

// full fills a file system of its own to the last byte, gives it room again
// and goes on.
func full(dir string, out io.Writer) error {
	if err := syscall.Mount("document", dir, "tmpfs", 0, "size=1m"); err != nil {
		return errors.Join(errNoDisk, err)
	}
	path := filepath.Join(dir, "document")
	s, err := Open(path, Options{})
	if err != nil {
		return err
	}
	if _, err := s.Apply(context.Background(), Tx{Writer: host, Writes: []Row{Session{ID: "s"}}}); err != nil {
		return err
	}
	// What else is on the disk goes on taking what is left.
	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		return err
	}
	taken, first := fillUp(s, "a")
	for err == nil {
		_, err = ballast.Write(make([]byte, 4096))
	}
	again, second := fillUp(s, "b")
	fmt.Fprintln(out, errors.Is(first, ErrFull), errors.Is(second, ErrFull), again)
	if _, err := s.Verify(context.Background()); err != nil {
		return fmt.Errorf("verify on a full disk: %w", err)
	}
	// A daemon that starts on a full disk still shows what is there.
	if err := s.Close(); err != nil {
		return fmt.Errorf("close on a full disk: %w", err)
	}
	if s, err = Open(path, Options{}); err != nil {
		return fmt.Errorf("open on a full disk: %w", err)
	}
	jobs, err := s.Jobs(context.Background(), "s")
	if err != nil {
		return fmt.Errorf("read on a full disk: %w", err)
	}
	fmt.Fprintln(out, len(jobs) == taken)
	if err := ballast.Close(); err != nil {
		return err
	}
	if err := syscall.Mount("document", dir, "tmpfs", syscall.MS_REMOUNT, "size=8m"); err != nil {
		return err
	}
	more, third := fillUp(s, "c")
	fmt.Fprintln(out, more > 0, errors.Is(third, ErrFull))
	_, err = s.Verify(context.Background())
	return errors.Join(err, s.Close())
}

var errNoDisk = errors.New("no file system of its own")

// A file system without room refuses writes; none that was acknowledged is
// lost, and when there is room again they are taken again. This is a real
// full disk, a tmpfs that a process mounts for itself alone; [TestFull] and
// [TestDiskFails] run where that is not allowed.
func TestFullDisk(t *testing.T) {
	cmd := child(t, "full", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	switch {
	case err != nil && strings.Contains(said.String(), errNoDisk.Error()), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOSYS):
		t.Skipf("no process may mount a disk of its own here: %v %s", err, said.String())
	case err != nil:
		t.Fatalf("%v\n%s%s", err, out, said.String())
	}
	if want := "true true 0\ntrue\ntrue true\n"; string(out) != want {
		t.Errorf("the child says\n%s, want\n%s", out, want)
	}
}
