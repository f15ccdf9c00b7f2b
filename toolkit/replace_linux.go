package toolkit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// exchange gives each of two names in a folder what the other named.
func exchange(root *os.Root, a, b string) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	err = unix.Renameat2(int(f.Fd()), a, int(f.Fd()), b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return errors.ErrUnsupported
	}
	return err
}

// changeTime is when anything of a file was changed. Nobody can set it.
func changeTime(info fs.FileInfo) syscall.Timespec {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim
	}
	return syscall.Timespec{}
}

// keepOwner gives a new file the owner of the old one, and its access list: who
// could read and write it still can, and nobody else.
func keepOwner(f *os.File, old fs.FileInfo) error {
	was, ok := old.Sys().(*syscall.Stat_t)
	info, err := f.Stat()
	if err != nil || !ok {
		return err
	}
	if is := info.Sys().(*syscall.Stat_t); is.Uid != was.Uid || is.Gid != was.Gid {
		if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
			return fmt.Errorf("it belongs to another user or group (%d:%d), and would not any more: %w", was.Uid, was.Gid, plain(err))
		}
	}
	return nil
}

// copyAttributes gives a new file what the old one has beside its content: access
// lists, and what users noted. What the system itself labels stays.
func copyAttributes(from, to *os.File) error {
	list := make([]byte, 64<<10)
	n, err := unix.Flistxattr(int(from.Fd()), list)
	if err != nil {
		return nil // a file system without them
	}
	for name := range strings.SplitSeq(strings.Trim(string(list[:n]), "\x00"), "\x00") {
		if !strings.HasPrefix(name, "user.") && name != "system.posix_acl_access" {
			continue
		}
		value := make([]byte, 64<<10)
		n, err := unix.Fgetxattr(int(from.Fd()), name, value)
		if err == nil {
			err = unix.Fsetxattr(int(to.Fd()), name, value[:n], 0)
		}
		if err != nil {
			return fmt.Errorf("its attribute %s cannot be kept: %w", name, err)
		}
	}
	return nil
}
