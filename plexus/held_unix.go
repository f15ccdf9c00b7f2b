//go:build unix

package plexus

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openFile opens a file for reading and writing; what is none is not waited for.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
}

// idOf is which regular file lies at a path, zero for anything else.
func idOf(path string) (fileID, error) {
	var st unix.Stat_t
	switch err := unix.Lstat(path, &st); {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return fileID{}, nil
	case err != nil:
		return fileID{}, &os.PathError{Op: "lstat", Path: path, Err: err}
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return fileID{}, nil
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}, nil
}

// idOfOpen is which file was opened, and how many names it has.
func idOfOpen(f *os.File) (id fileID, names uint64, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fileID{}, 0, &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fileID{}, 0, fmt.Errorf("%w: not a regular file", ErrSchema)
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}, uint64(st.Nlink), nil
}

// stateOf is what the system says of the regular file at a path.
func stateOf(path string) (fileState, bool) {
	var st unix.Stat_t
	return stateIn(&st, unix.Lstat(path, &st))
}

// stateOfOpen is what the system says of an open file.
func stateOfOpen(f *os.File) (fileState, bool) {
	var st unix.Stat_t
	return stateIn(&st, unix.Fstat(int(f.Fd()), &st))
}

func stateIn(st *unix.Stat_t, err error) (fileState, bool) {
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fileState{}, false
	}
	return fileState{
		Device: uint64(st.Dev), Inode: uint64(st.Ino), Size: int64(st.Size),
		Written: st.Mtim.Nano(), Changed: st.Ctim.Nano(),
	}, true
}

// openSeal opens a seal for reading; what is no file is not waited for.
func openSeal(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}
