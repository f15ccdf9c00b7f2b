package place

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// The lock is one of an open file description: like flock it belongs to the
// open file and not to the process, and unlike flock it can be looked at
// without taking it, so that asking who runs never makes a start fail.

func take(file *os.File) (bool, error) {
	err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

func taken(file *os.File) (bool, error) {
	probe := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &probe); err != nil {
		return false, err
	}
	return probe.Type != unix.F_UNLCK, nil
}
