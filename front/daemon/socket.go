package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// ErrSocketTaken: a daemon of another place, or another program, answers there.
var ErrSocketTaken = errors.New("somebody answers on this socket already; another kernel with another state folder?")

// socket is a listener at a path. When its file goes, it can be made again
// there: connections are then taken from the new one, and those that stand
// stay.
type socket struct {
	path   string
	shared bool

	mu     sync.Mutex
	now    *net.UnixListener
	file   fs.FileInfo
	closed bool
}

// listen makes the socket. One that is left over from a daemon that was killed
// is replaced: whoever calls holds the lock, so nobody of this place answers
// there, and whoever does all the same is left alone.
func listen(path string, shared bool) (*socket, error) {
	s := &socket{path: path, shared: shared}
	if err := s.bind(); err != nil {
		return nil, err
	}
	return s, nil
}

// bind makes the socket's file, and lets go of the listener before.
func (s *socket) bind() error {
	l, file, err := bind(s.path, s.shared)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.Join(net.ErrClosed, l.Close(), os.Remove(s.path))
	}
	if s.now != nil {
		_ = s.now.Close() // whoever waited for it takes the new one
	}
	s.now, s.file = l, file
	return nil
}

func bind(path string, shared bool) (*net.UnixListener, fs.FileInfo, error) {
	if err := clear(path); err != nil {
		return nil, nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	l.SetUnlinkOnClose(false) // by then it may be another's
	// The folder keeps others away, also in this moment.
	mode := fs.FileMode(0o600)
	if shared {
		mode = 0o660 // of the group that the folder gives it
	}
	err = os.Chmod(path, mode)
	if err == nil {
		var file fs.FileInfo
		if file, err = os.Lstat(path); err == nil {
			return l, file, nil
		}
	}
	return nil, nil, errors.Join(err, l.Close())
}

// stands says whether the file at the path is still the socket.
func (s *socket) stands() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	file, err := os.Lstat(s.path)
	return err == nil && os.SameFile(file, s.file) && file.ModTime().Equal(s.file.ModTime()) && file.Mode().Type() == fs.ModeSocket
}

// Accept takes a connection, as of [net.Listener].
func (s *socket) Accept() (net.Conn, error) {
	for {
		s.mu.Lock()
		l := s.now
		s.mu.Unlock()
		conn, err := l.Accept()
		s.mu.Lock()
		moved := s.now != l && !s.closed
		s.mu.Unlock()
		if err == nil || !moved {
			return conn, err
		}
	}
}

// Addr is where it listens.
func (s *socket) Addr() net.Addr { return &net.UnixAddr{Name: s.path, Net: "unix"} }

// Close ends it and takes its file away, if it is still its own.
func (s *socket) Close() error {
	if s.stands() {
		_ = os.Remove(s.path) // one that is left over is replaced by the next
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.now.Close()
}

// lookAgain is how often the socket's file is looked at where nothing tells of
// changes, and besides.
const lookAgain = 10 * time.Second

// guard sees to it that the socket can be reached, until ctx is done: a kernel
// that nobody reaches keeps others from being started and answers nobody. A file
// that is gone is made again; where that is not possible, or something else
// stands there, the error says so, and the kernel has no use any more.
func (s *socket) guard(ctx context.Context, prepare func() error, log *slog.Logger) error {
	var events chan fsnotify.Event
	var errs chan error
	watch := func() {}
	if watcher, err := fsnotify.NewWatcher(); err == nil {
		defer watcher.Close()
		events, errs = watcher.Events, watcher.Errors
		watch = func() { _ = watcher.Add(filepath.Dir(s.path)) }
	} else {
		log.Warn("nothing tells of changes of the socket; it is looked at now and then", "error", err)
	}
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		watch() // again, as the folder may be another
		if !s.stands() {
			if err := s.again(prepare); err != nil {
				return fmt.Errorf("the socket %s was taken away and cannot be made again: %w", s.path, err)
			}
			log.Warn("the socket was gone and was made again", "socket", s.path)
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-events:
		case <-errs:
		case <-tick.C:
		}
	}
}

// again makes the socket's file and the folder it is in. Somebody may be taking
// them away at this moment; that is tried a few times.
func (s *socket) again(prepare func() error) (err error) {
	for range 3 {
		if err = prepare(); err == nil {
			err = s.bind()
		}
		// What is put there in this moment is looked at, too.
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EADDRINUSE) {
			return err
		}
	}
	return err
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
