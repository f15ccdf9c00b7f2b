package plexus

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockAt is a byte that the engine never locks: its own locks are at the first
// GiB of the file.
const lockAt = 1 << 62

// lockFile locks an open file against others that do the same, under whatever
// name they know it. The lock is one of the open file and ends with it.
func lockFile(f *os.File) error {
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: lockAt, Len: 1})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return ErrLocked
	}
	if err != nil {
		return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return nil
}

// Magic numbers of file systems (statfs(2)).
const (
	ext4  = 0xEF53
	xfs   = 0x58465342
	btrfs = 0x9123683E
	f2fs  = 0xF2F52010
)

// keepsTimes reports whether the file system is one of those of which it is
// known that no change of a file leaves its times alone: also not one through
// memory that maps it, once the disk has what was there. A tmpfs never moves
// them for those, and who knows what others do.
func keepsTimes(f *os.File) bool {
	var fs unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &fs) != nil {
		return false
	}
	switch uint32(fs.Type) {
	case ext4, xfs, btrfs, f2fs:
		return true
	}
	return false
}
