//go:build !linux

package place

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func take(file *os.File) (bool, error) {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// taken takes a shared lock for a moment: a daemon that starts in that moment
// takes the asker for another one and gives up.
func taken(file *os.File) (bool, error) {
	err := unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
