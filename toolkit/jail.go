package toolkit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"assent/approval"
	"assent/job"
)

// Why a path is not opened, although its leaf is licensed.
var (
	// ErrElsewhere: the path leads to another place than the one that was judged.
	ErrElsewhere = errors.New("it leads elsewhere than when it was judged")
	// ErrUnprepared: the leaf's prepared paths do not name it.
	ErrUnprepared = errors.New("it is not what was judged")
	// ErrNoFile: what lies there is neither a file nor a folder.
	ErrNoFile = errors.New("it is neither a file nor a folder")
	// ErrSystem: the kernel's own view of processes and devices. There a name
	// such as "self" means whoever opens it, which is the host and not the agent.
	ErrSystem = errors.New("what the system shows as files (/proc, /sys, /dev) is not opened by a file tool")
)

// jail is what the body of one call may open: the prepared paths of its
// licensed leaf, and nothing else (law ruling 9).
//
// A prepared path has no links left in it. So it is walked from the root of
// the file system, one component after the other, and each must still be what
// it is named: no link, and the very thing that was looked at when its name
// was. A link that was put there after the vote is met by the walk, not
// followed.
type jail struct {
	workspace string // absolute, no links in it
	paths     []approval.Path
}

func jailOf(call job.Call) (jail, error) {
	if !filepath.IsAbs(call.RealWorkspace) {
		return jail{}, fmt.Errorf("where the workspace %q really lies was not known when it was judged: %w", call.Workspace, ErrUnprepared)
	}
	return jail{workspace: filepath.Clean(call.RealWorkspace), paths: call.Paths}, nil
}

// only is the one path of a leaf of a tool that has one.
func (j jail) only() (target, error) {
	if len(j.paths) != 1 {
		return target{}, fmt.Errorf("%d paths were judged where the tool opens one: %w", len(j.paths), ErrUnprepared)
	}
	return j.target(j.paths[0])
}

// target is a path that may be opened.
type target struct {
	abs   string // for opening
	shown string // for people: as it was judged
}

// target is one of the leaf's prepared paths as a place in the file system.
func (j jail) target(p approval.Path) (target, error) {
	t := target{shown: string(p)}
	switch {
	case !p.Known():
		return t, fmt.Errorf("where it lies was not known when it was judged: %w", ErrUnprepared)
	case p.Outside():
		t.abs = string(p)
	default:
		t.abs = filepath.Join(j.workspace, filepath.FromSlash(string(p)))
	}
	for _, system := range [...]string{"/proc", "/sys", "/dev"} {
		if t.abs == system || strings.HasPrefix(t.abs, system+"/") {
			return t, t.because(ErrSystem)
		}
	}
	return t, nil
}

func (t target) because(err error) error { return fmt.Errorf("%s: %w", t.shown, err) }

// folder opens the folder in which the target lies, and gives its last name
// there. The root has no folder: its name is ".".
func (t target) folder() (*os.Root, string, error) {
	root, err := os.OpenRoot(string(filepath.Separator))
	if err != nil {
		return nil, "", err
	}
	names := strings.Split(strings.Trim(t.abs, string(filepath.Separator)), string(filepath.Separator))
	if names[0] == "" {
		return root, ".", nil
	}
	for _, name := range names[:len(names)-1] {
		below, err := enter(root, name)
		root.Close()
		if err != nil {
			return nil, "", t.because(err)
		}
		root = below
	}
	return root, names[len(names)-1], nil
}

// enter opens a folder by its name in another, unless the name is a link.
func enter(root *os.Root, name string) (*os.Root, error) {
	named, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, plain(err)
	case named.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s is a link by now: %w", name, ErrElsewhere)
	case !named.IsDir():
		return nil, fmt.Errorf("%s is no folder", name)
	}
	below, err := root.OpenRoot(name)
	if err != nil {
		return nil, plain(err)
	}
	opened, err := below.Stat(".")
	if err == nil && !os.SameFile(named, opened) {
		err = fmt.Errorf("%s was exchanged: %w", name, ErrElsewhere)
	}
	if err != nil {
		below.Close()
		return nil, err
	}
	return below, nil
}

// look is the target itself, without following a link.
func (t target) look() (fs.FileInfo, error) {
	root, name, err := t.folder()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil {
		return nil, t.because(plain(err))
	}
	return info, nil
}

// open opens a file for reading.
func (t target) open() (*os.File, error) {
	root, name, err := t.folder()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := openFile(root, name)
	if err != nil {
		return nil, t.because(err)
	}
	return f, nil
}

// openFile opens a file by its name in a folder, unless the name is a link, or
// what it names is no file. It never waits for the other end of a pipe.
func openFile(root *os.Root, name string) (*os.File, error) {
	named, err := root.Lstat(name)
	if err != nil {
		return nil, plain(err)
	}
	if err := isFile(named); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, plain(err)
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(named, opened) {
		err = fmt.Errorf("it was exchanged: %w", ErrElsewhere)
	}
	if err == nil && ofTheSystem(f) {
		err = ErrSystem
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func isFile(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return fmt.Errorf("it is a link by now: %w", ErrElsewhere)
	case mode.IsDir():
		return errors.New("it is a folder")
	case !mode.IsRegular():
		return fmt.Errorf("%s: %w", kindOf(mode), ErrNoFile)
	}
	return nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// tree opens a folder for walking what lies in it.
func (t target) tree() (*os.Root, error) {
	root, name, err := t.folder()
	if err != nil || name == "." {
		return root, err
	}
	defer root.Close()
	below, err := enter(root, name)
	if err != nil {
		return nil, t.because(err)
	}
	return below, nil
}

// plain is an error of the file system without the path that it repeats.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
