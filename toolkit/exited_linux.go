package toolkit

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exited returns when a child has ended, and leaves it to be collected.
func exited(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
