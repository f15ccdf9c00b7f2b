//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package plexus

import (
	"errors"
	"fmt"
	"os"
)

// lock is held as long as its file is there. Where the system has no lock that
// ends with the process, a file that was left behind has to be removed by hand.
type lock struct{ path string }

func acquire(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%w (or was left so: then remove %s)", ErrLocked, path)
	}
	if err != nil {
		return nil, err
	}
	return &lock{path}, f.Close()
}

func (l *lock) release() error { return os.Remove(l.path) }
