package toolkit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// walkTo opens a folder, one component after the other, none of which may be a link. A
// command is started in what was opened, whatever its name leads to by then. To go
// through a folder is enough, as for the command itself: it need not be readable.
func walkTo(path string) (starting, error) {
	const how = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open("/", how, 0)
	if err != nil {
		return starting{}, err
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		below, err := unix.Openat(fd, name, how, 0)
		if err != nil {
			err = whyNot(fd, name, err)
			unix.Close(fd)
			return starting{}, err
		}
		unix.Close(fd)
		fd = below
	}
	// Before the command is run its process has the same numbers.
	return starting{path: "/proc/self/fd/" + strconv.Itoa(fd), real: path, end: func() { unix.Close(fd) }}, nil
}

// whyNot says of a link that it is one.
func whyNot(fd int, name string, err error) error {
	var st unix.Stat_t
	if (errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)) && unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return fmt.Errorf("%s is a link by now: %w", name, ErrElsewhere)
	}
	return fmt.Errorf("%s: %w", name, err)
}
