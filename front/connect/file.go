package connect

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"

	"assent/internal/place"
)

// largest is larger than a configuration is, in bytes.
const largest = 8 << 20

// Change is what is done to one file.
type Change struct {
	Path string
	// Before and After are its texts; Existed and Exists say whether it was and
	// will be there.
	Before, After   string
	Existed, Exists bool

	mode   fs.FileMode
	record string
	kept   *kept
}

// kept is what is remembered of a configuration: the text from before, and the
// sum of what was written, so that an untouched one can be given back.
type kept struct {
	Path    string `json:"path"`
	Existed bool   `json:"existed"`
	Before  string `json:"before"`
	Wrote   string `json:"wrote"`
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// Same: nothing has to be done.
func (c *Change) Same() bool { return c.Existed == c.Exists && c.Before == c.After }

// Backup is the file that has the text from before.
func (c *Change) Backup() string { return c.record }

// plan looks at a file and at what is remembered of it in a folder.
func plan(file, keep string, uid int) (*Change, *kept, error) {
	c := &Change{Path: file, mode: 0o600, record: filepath.Join(keep, sum(file)[:16]+".json")}
	// A folder on the way that another may write could be turned elsewhere.
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			if err := place.Check(dir, uid, place.Shown); err != nil {
				return nil, nil, err
			}
			break
		} else if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return nil, nil, err
		}
	}
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, nil, fmt.Errorf("%s is a link: it is not written through; change the file that it leads to, or put a file there", file)
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s %w", file, place.ErrIrregular)
	default:
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Nlink != 1 || int(st.Uid) != uid {
			return nil, nil, fmt.Errorf("%s has a second name or another owner: it stays as it is", file)
		}
		text, _, err := place.Read(file, largest, "configuration")
		if err != nil {
			return nil, nil, err
		}
		c.Before, c.Existed, c.mode = string(text), true, info.Mode().Perm()
	}
	c.After, c.Exists = c.Before, c.Existed
	var k kept
	text, _, err := place.Read(c.record, 2*largest, "record of a configuration")
	if err != nil || json.Unmarshal(text, &k) != nil || k.Path != file {
		return c, nil, nil // what is not remembered is taken out entry by entry
	}
	return c, &k, nil
}

// Connect plans to put the hook in. Keep is the folder for what is remembered.
func (c Client) Connect(file, keep string, uid int, s Setting) (*Change, error) {
	change, k, err := plan(file, keep, uid)
	if err != nil {
		return nil, err
	}
	if off := c.off(change.Before, s.Name); off != "" {
		return nil, fmt.Errorf("%s switches hooks off (%s): a hook in it would not run; take that out first", file, off)
	}
	text, err := c.With(change.Before, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if change.Existed && text == change.Before {
		return change, nil
	}
	base, existed := change.Before, change.Existed
	switch {
	case k != nil && existed && k.Wrote == sum(base):
		base, existed = k.Before, k.Existed
		if name := c.nameIn(change.Before); name != "" {
			s.Name = name
		}
		if text, err = c.With(base, s); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	case existed:
		if base, err = c.Without(base); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		existed = !c.plugin // a plugin file is ours alone
	}
	change.After, change.Exists = text, true
	change.kept = &kept{file, existed, base, sum(text)}
	return change, nil
}

// Undo plans to take the hook out: what nobody has touched since becomes what it
// was, and otherwise only the entries of ours go.
func (c Client) Undo(file, keep string, uid int) (*Change, error) {
	change, k, err := plan(file, keep, uid)
	if err != nil || !change.Existed {
		return change, err
	}
	if k != nil && k.Wrote == sum(change.Before) {
		change.After, change.Exists = k.Before, k.Existed
		return change, nil
	}
	text, err := c.Without(change.Before)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	change.After, change.Exists = text, !c.plugin
	return change, nil
}

// Apply does what was planned, unless the file is another one by now.
func (c *Change) Apply() error {
	if c.Same() {
		return nil
	}
	now, _, err := place.Read(c.Path, largest, "configuration")
	if existed := err == nil; existed != c.Existed || existed && string(now) != c.Before || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s was changed in this moment: try again", c.Path)
	}
	if c.kept != nil {
		text, err := json.Marshal(c.kept)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(c.record), 0o700)
		}
		if err == nil {
			err = place.Replace(c.record, text, 0o600)
		}
		if err != nil {
			return fmt.Errorf("keeping a copy of what was there: %w", err)
		}
	}
	if !c.Exists {
		return os.Remove(c.Path)
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return err
	}
	return place.Replace(c.Path, []byte(c.After), c.mode)
}

// Beside is the hook's program beside another one, as a path that nobody but the
// user and root can exchange.
func Beside(program string, uid int) (string, error) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return "", err
	}
	hook := filepath.Join(filepath.Dir(real), Program)
	if _, err := os.Lstat(hook); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is not there: build it beside assent: go build -o %s ./cmd/assent-hook", hook, quote(filepath.Dir(real)+"/"))
	}
	if err := Sound(hook, uid); err != nil {
		return "", err
	}
	return hook, nil
}

// Sound says what is wrong with a program of the hook: it must be one that nobody
// but the user and root can exchange.
func Sound(hook string, uid int) error {
	info, err := os.Lstat(hook)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is no program", hook)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != uid && st.Uid != 0 {
		return fmt.Errorf("%s belongs to another user", hook)
	}
	if mode := info.Mode().Perm(); mode&0o002 != 0 || mode&0o020 != 0 && int(st.Gid) != uid && st.Gid != 0 {
		return fmt.Errorf("others may write %s (mode %04o): chmod go-w %s", hook, mode, quote(hook))
	}
	return place.Check(filepath.Dir(hook), uid, place.Shown)
}

// Diff are the lines that a change takes out and puts in, of the part between
// what stays the same.
func (c *Change) Diff() (out, in []string) {
	a, b := lines(c.Before), lines(c.After)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
