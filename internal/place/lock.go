package place

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrTaken is the error of a lock that another process holds. Use errors.As
// with [*TakenError] to learn which.
var ErrTaken = errors.New("another kernel is running")

// TakenError says who holds a lock.
type TakenError struct {
	// PID is the holder as it wrote itself down, 0 when it has not yet.
	PID int
}

func (e *TakenError) Error() string {
	if e.PID == 0 {
		return ErrTaken.Error()
	}
	return fmt.Sprintf("%s (process %d)", ErrTaken, e.PID)
}

// Is makes a TakenError an [ErrTaken].
func (e *TakenError) Is(target error) bool { return target == ErrTaken }

// Lock is a lock that is held.
type Lock struct{ file *os.File }

// Take takes the lock, or says at once who holds it. The kernel gives the lock
// back when the process ends, however it ends, so there are no stale ones; the
// file stays, because whoever removed it could remove another's lock.
func Take(path string) (*Lock, error) {
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	switch got, err := take(file); {
	case err != nil:
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	case !got:
		defer file.Close()
		return nil, &TakenError{PID: holder(file)}
	}
	// The number is for people and for messages; nothing is decided by it, and
	// a full disk must not keep anybody from looking at what is on it. An old
	// number is gone in any case.
	if err := file.Truncate(0); err != nil {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	_, _ = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return &Lock{file: file}, nil
}

// Held says whether somebody holds the lock, and who, without being in the way
// of anybody who takes it. A file that does not exist is held by nobody.
func Held(path string) (pid int, held bool, err error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return 0, false, nil
	}
	file, err := open(path)
	if err != nil {
		return 0, false, err
	}
	defer file.Close()
	held, err = taken(file)
	if err != nil {
		return 0, false, fmt.Errorf("look at lock %s: %w", path, err)
	}
	if !held {
		return 0, false, nil
	}
	return holder(file), true, nil
}

// Note writes down where the holder listens, for people and for messages;
// nothing is decided by it either.
func (l *Lock) Note(socket string) {
	_, _ = l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"+socket+"\n"), 0)
}

// Noted is where whoever holds a lock listens, as it wrote that down; "" when it
// did not.
func Noted(path string) string {
	file, err := open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	_, socket := noted(file)
	return socket
}

// Release gives the lock back.
func (l *Lock) Release() error { return l.file.Close() }

func open(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w: not a regular file", path, ErrUntrusted)
	}
	return file, nil
}

func holder(file *os.File) int {
	pid, _ := noted(file)
	return pid
}

// maxNote is more than a number and a path of a socket have.
const maxNote = 1 << 10

func noted(file *os.File) (pid int, socket string) {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, maxNote))
	if err != nil {
		return 0, ""
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	if pid, err = strconv.Atoi(strings.TrimSpace(first)); err != nil || pid < 0 {
		return 0, ""
	}
	socket, whole, _ := strings.Cut(rest, "\n")
	if _, ended := strings.CutSuffix(rest, "\n"); !ended || whole != "" || !strings.HasPrefix(socket, "/") {
		return pid, ""
	}
	return pid, socket
}
