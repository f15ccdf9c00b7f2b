//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package plexus

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lock is held as long as its file is open; the system lets go of it when the
// process ends, however it ends.
type lock struct{ file *os.File }

func acquire(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
			return nil, fmt.Errorf("%w: %w", ErrReadOnly, err)
		}
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		b := make([]byte, 20)
		n, _ := f.ReadAt(b, 0)
		if pid := strings.TrimSpace(string(b[:n])); pid != "" {
			return nil, fmt.Errorf("%w (in process %s)", ErrLocked, pid)
		}
		return nil, ErrLocked
	}
	// Only for the message above: a full disk must not keep anybody from
	// looking at the document.
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &lock{f}, nil
}

func (l *lock) release() error { return l.file.Close() }
