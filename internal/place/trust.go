package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrUntrusted is the error of a folder that another user could write in, or
// look into where it is private.
var ErrUntrusted = errors.New("another user could reach it")

// Privacy is what a folder must keep from others.
type Privacy uint8

// The two kinds of folder.
const (
	// Private: nobody else may list or enter it (mode 0700). State and runtime.
	Private Privacy = iota
	// Shown: others may read it, nobody else may write it. The config folder,
	// which people make by hand and keep in repositories of their own; it may be
	// reached through a symlink.
	Shown
)

// Prepare makes the folders of a place that are missing, with mode 0700, and
// checks all of them. Nothing that exists is changed: a folder with a wrong
// mode may already hold what somebody else put there, and its owner has to look
// at it.
func Prepare(p Place, uid int) error {
	for _, f := range []struct {
		dir     string
		privacy Privacy
	}{{p.Config, Shown}, {p.State, Private}, {p.Runtime, Private}} {
		if err := os.MkdirAll(f.dir, 0o700); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
		if err := Check(f.dir, uid, f.privacy); err != nil {
			return err
		}
	}
	return nil
}

// PrepareShared is [Prepare] for a daemon that runs as another user than those
// who connect. The folder of the socket is not made: root made it, as
// [MakeShared] does. It must belong to the daemon's user, and nobody else may
// write in it.
func PrepareShared(p Place, uid int) error {
	own := p
	own.Runtime = p.State
	if err := Prepare(own, uid); err != nil {
		return err
	}
	info, err := os.Lstat(p.Runtime)
	if err != nil {
		return fmt.Errorf("folder of the socket: %w", err)
	}
	owner, _, ok := owners(info)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s: %w: it is not a folder", p.Runtime, ErrUntrusted)
	case !ok || owner != uid:
		return fmt.Errorf("%s: %w: it belongs to user %d, not %d", p.Runtime, ErrUntrusted, owner, uid)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s: %w: its mode is %04o", p.Runtime, ErrUntrusted, info.Mode().Perm())
	}
	return ways(p.Runtime, uid)
}

// MakeShared makes the folder of a shared socket (see [Shared]), as root: it
// belongs to the kernel's user, and the group may enter it and no more. What is
// made in it is of that group too, so that the socket can be.
func MakeShared(socket string, kernel, group int) error {
	dir := filepath.Dir(socket)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make folder: %w", err)
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return errors.Join(fmt.Errorf("%s: %w: it is not a folder", dir, ErrUntrusted), err)
	}
	if err := ways(dir, 0); err != nil {
		return err
	}
	if err := os.Lchown(dir, kernel, group); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := os.Chmod(dir, 0o710|fs.ModeSetgid); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return nil
}

// SharedKernel is the user of the kernel behind a shared socket, as root set it
// up; false when there is none. Folders that others than root could have made
// are an error.
func SharedKernel(socket string) (uid int, ok bool, err error) {
	dir := filepath.Dir(socket)
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("look at folder: %w", err)
	}
	if !info.IsDir() {
		return 0, false, fmt.Errorf("%s: %w: it is not a folder", dir, ErrUntrusted)
	}
	if err := ways(dir, 0); err != nil {
		return 0, false, err
	}
	if uid, _, ok = owners(info); !ok {
		return 0, false, fmt.Errorf("%s: %w: its owner cannot be told", dir, ErrUntrusted)
	}
	return uid, true, nil
}

// Check says whether a folder belongs to the user and is kept from others as it
// should be, and whether anybody else could swap it for another one: every
// folder above it must belong to the user or to root and be writable by them
// alone, or be sticky as /tmp is. A group of the user's own (of the same
// number as the user, as distributions make them) counts as the user.
func Check(dir string, uid int, privacy Privacy) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at folder: %w", err)
	}
	if privacy == Private && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s: %w: it is a symlink", dir, ErrUntrusted)
	}
	if info, err = os.Stat(dir); err != nil {
		return fmt.Errorf("look at folder: %w", err)
	}
	if err := folder(dir, info, uid, privacy); err != nil {
		return err
	}
	return ways(dir, uid)
}

// ways checks what is above a folder.
func ways(dir string, uid int) error {
	// The links on the way are looked at too: whoever can write the folder of a
	// link can turn it elsewhere.
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("look at folder: %w", err)
	}
	for _, start := range []string{filepath.Clean(dir), real} {
		for at := filepath.Dir(start); ; at = filepath.Dir(at) {
			info, err := os.Stat(at)
			if err != nil {
				return fmt.Errorf("look at folder: %w", err)
			}
			if err := above(at, info, uid); err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return nil
}

// folder checks one of our own folders.
func folder(dir string, info fs.FileInfo, uid int, privacy Privacy) error {
	owner, group, ok := owners(info)
	mode := info.Mode().Perm()
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s: %w: it is not a folder", dir, ErrUntrusted)
	case !ok:
		return fmt.Errorf("%s: %w: its owner cannot be told", dir, ErrUntrusted)
	case owner != uid && (privacy == Private || owner != 0):
		return fmt.Errorf("%s: %w: it belongs to user %d, not %d", dir, ErrUntrusted, owner, uid)
	case privacy == Private && mode&0o077 != 0:
		return fmt.Errorf("%s: %w: its mode is %04o; if nobody else has been there: chmod 700 %s", dir, ErrUntrusted, mode, dir)
	case writable(mode, group, uid):
		return fmt.Errorf("%s: %w: its mode is %04o; if nobody else has been there: chmod go-w %s", dir, ErrUntrusted, mode, dir)
	}
	return nil
}

// above checks a folder on the way to one of ours.
func above(dir string, info fs.FileInfo, uid int) error {
	owner, group, ok := owners(info)
	switch {
	case !ok:
		return fmt.Errorf("%w: the owner of %s cannot be told", ErrUntrusted, dir)
	case owner != uid && owner != 0:
		return fmt.Errorf("%w: %s above it belongs to user %d", ErrUntrusted, dir, owner)
	case info.Mode()&fs.ModeSticky == 0 && writable(info.Mode().Perm(), group, uid):
		return fmt.Errorf("%w: others may write %s above it (mode %04o)", ErrUntrusted, dir, info.Mode().Perm())
	}
	return nil
}

// writable says whether somebody besides the user and root may write.
func writable(mode fs.FileMode, group, uid int) bool {
	return mode&0o002 != 0 || mode&0o020 != 0 && group != 0 && group != uid
}

func owners(info fs.FileInfo) (uid, gid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}
