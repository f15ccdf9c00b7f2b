package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// ErrSocketTaken: a daemon of another place, or another program, answers there.
var ErrSocketTaken = errors.New("somebody answers on this socket already; another kernel with another state folder?")

// listen makes the socket. One that is left over from a daemon that was killed
// is replaced: whoever calls holds the lock, so nobody of this place answers
// there, and whoever does all the same is left alone.
func listen(path string, shared bool) (*net.UnixListener, error) {
	if err := clear(path); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	// The folder keeps others away, also in this moment.
	mode := fs.FileMode(0o600)
	if shared {
		mode = 0o660 // of the group that the folder gives it
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), l.Close())
	}
	return l, nil
}

func clear(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%s is no socket; remove it if it is not needed", path)
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
		return fmt.Errorf("%s: %w", path, ErrSocketTaken)
	}
	if !errors.Is(err, unix.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
