//go:build unix

package daemon

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// KeepInherited keeps what the process was started with open, beside its input and
// outputs, from every program that it starts: a file that was open in the shell of
// who started the kernel is nothing for a body. What the process opens itself is never
// handed on.
func KeepInherited() error {
	if closeRange() == nil {
		return nil
	}
	return keepListed("/dev/fd")
}

// keepListed does it one by one, where the system cannot do it at once.
func keepListed(folder string) error {
	dir, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("what is open: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("what is open: %w", err)
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
