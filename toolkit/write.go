package toolkit

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"assent/job"
)

// maxFile is how large a file may be that is written or edited, in bytes.
const maxFile = 32 << 20

type writeArguments struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

type editArguments struct {
	Path  string `json:"path"`
	Edits []edit `json:"edits"`
}

// edit replaces a text that stands exactly once in the file, or, with
// ReplaceAll, wherever it stands.
type edit struct {
	OldText    string `json:"oldText"`
	NewText    string `json:"newText"`
	ReplaceAll bool   `json:"replaceAll,omitzero"`
}

// change is what a call would do to a file, or did.
type change struct {
	target
	before []byte
	absent bool // there was no file
	info   fs.FileInfo
	after  []byte
	keep   bool   // what lies beside the file is somebody's
	late   func() // of tests: called before the new content takes its place
}

// Image names the content of a file: its SHA-256 in hexadecimal digits, or
// "absent".
type Image string

// Absent is the image of a file that does not exist.
const Absent Image = "absent"

func imageOf(content []byte) Image {
	sum := sha256.Sum256(content)
	return Image(hex.EncodeToString(sum[:]))
}

func (c *change) image() Image {
	if c.absent {
		return Absent
	}
	return imageOf(c.before)
}

// diff is the change as a unified diff: empty when nothing changes.
func (c *change) diff() string {
	old := "a/" + c.shown
	if c.absent {
		old = "/dev/null"
	}
	return unified(old, c.before, "b/"+c.shown, c.after)
}

// What a body says when the file is not, or may not be, the one any more about
// which somebody was asked.
var (
	errChanged   = errors.New("the file has changed since it was shown: nothing was written; read it again and make a new call")
	errUnseen    = errors.New("the file could not be looked at when this was asked: nothing was written; make a new call")
	errForgotten = errors.New("the host was started anew since this was asked, and does not know whether the file has changed: nothing was written; make a new call")
)

type writeOutcome struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	Diff string `json:"diff,omitzero"`
}

func write(ctx context.Context, call job.Call) (job.Outcome, error) {
	return mutate(ctx, call, writing)
}

func editing(ctx context.Context, call job.Call) (job.Outcome, error) {
	return mutate(ctx, call, edited)
}

// plan is what a call asks of its file. One that fails gives what it read so far.
type plan func(context.Context, job.Call) (*change, error)

// preview shows what a call would change of its file.
func preview(plan plan) job.Preview {
	return func(ctx context.Context, call job.Call) (job.Shown, error) {
		c, err := plan(ctx, call)
		if err != nil {
			shown := job.Shown{}
			if c != nil {
				shown.Image = string(c.image())
			}
			return shown, err
		}
		return job.Shown{Text: c.diff(), Image: string(c.image())}, nil
	}
}

// asked says whether the file is as it was when somebody was asked, and whether
// the model may be told of its content: only where the person could see it, which
// reading it by itself allows.
func (c *change) asked(call job.Call) (told bool, err error) {
	image, withheld := strings.CutPrefix(call.Shown, job.Withheld+":")
	switch {
	case call.Shown == "":
		return false, nil
	case image == job.Unseen:
		return false, errUnseen
	case call.Shown == job.Withheld:
		return false, errForgotten
	case image != string(c.image()):
		return false, errChanged
	}
	return !withheld, nil
}

// mutate does what a call asks of one file: wholly, or not at all.
func mutate(ctx context.Context, call job.Call, plan plan) (job.Outcome, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c, err := plan(ctx, call)
	again := call.Resumed && call.Begun
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && again:
		return failed(fmt.Errorf("%w (%w)", errResumed, err))
	case err != nil:
		return failed(err)
	}
	same := !c.absent && bytes.Equal(c.before, c.after)
	told, err := c.asked(call)
	switch {
	case again && (err != nil || call.Shown == "") && !(same && call.Shown != ""):
		// Whether it was done already cannot be told: an edit fits twice, and what was
		// written may have been changed since.
		return failed(errResumed)
	case same:
	case err != nil:
		return failed(c.because(err))
	default:
		err := c.save(ctx)
		if ctx.Err() != nil && err != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return failed(c.because(err))
		}
	}
	out := writeOutcome{OK: true, Text: "wrote " + c.shown}
	if told {
		switch {
		case same:
			out.Text = c.shown + " is so already"
		case c.absent:
			out.Text = "made " + c.shown
		}
		out.Diff = cutMiddle(c.diff(), maxText)
	}
	return job.JSON(out)
}

// writing is what the tool write would do.
func writing(_ context.Context, call job.Call) (*change, error) {
	var a writeArguments
	if err := call.Decode(&a); err != nil {
		return nil, err
	}
	c, err := present(call)
	if err != nil {
		return nil, err
	}
	c.after = []byte(a.Content)
	return c, nil
}

// maxEdited is how much the edits of one call may go through, in bytes: each
// looks through the whole text.
const maxEdited = 1 << 30

// edited is what the tool edit would do: the edits one after the other.
func edited(ctx context.Context, call job.Call) (*change, error) {
	var a editArguments
	if err := call.Decode(&a); err != nil {
		return nil, err
	}
	c, err := present(call)
	if err != nil {
		return nil, err
	}
	return c, c.edit(ctx, a.Edits, "oldText")
}

// edit makes the edits one after the other. argument is what their old text is called.
func (c *change) edit(ctx context.Context, edits []edit, argument string) error {
	switch {
	case len(edits) == 0:
		return errors.New("no edits are given")
	case c.absent:
		return c.because(fs.ErrNotExist)
	}
	text := string(c.before)
	through := 0
	for i, e := range edits {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if through += len(text); through > maxEdited {
			return refusal("%s is too large for %d edits at a time: %d bytes are gone through at most; make several calls", c.shown, len(edits), maxEdited)
		}
		n := strings.Count(text, e.OldText)
		switch {
		case e.OldText == "":
			return refusal("edit %d: %s is empty", i+1, argument)
		case n == 0:
			return refusal("edit %d: %s does not stand in %s", i+1, argument, c.shown)
		case n > 1 && !e.ReplaceAll:
			return refusal("edit %d: %s stands %d times in %s: give more of what is around it, or set replaceAll", i+1, argument, n, c.shown)
		case len(text)+n*(len(e.NewText)-len(e.OldText)) > maxFile:
			return refusal("edit %d: %s would have more than %d bytes", i+1, c.shown, maxFile)
		}
		text = strings.ReplaceAll(text, e.OldText, e.NewText)
	}
	c.after = []byte(text)
	return nil
}

// present is the file of a call as it is now.
func present(call job.Call) (*change, error) {
	j, err := jailOf(call)
	if err != nil {
		return nil, err
	}
	t, err := j.only()
	if err != nil {
		return nil, err
	}
	c := &change{target: t}
	f, err := t.open()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.absent = true
		return c, nil
	case err != nil:
		return nil, err
	}
	defer f.Close()
	c.info, err = f.Stat()
	if err != nil {
		return nil, t.because(plain(err))
	}
	if c.info.Size() > maxFile {
		return nil, t.because(fmt.Errorf("it has %d bytes, %d are the most", c.info.Size(), maxFile))
	}
	c.before, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, t.because(plain(err))
	case len(c.before) > maxFile:
		return nil, t.because(fmt.Errorf("it has more than %d bytes", maxFile))
	}
	return c, nil
}

// save writes the new content beside the file and puts it in its place, so
// that nobody ever reads half of it, and so that what else a hard link of that
// name names stays as it was.
func (c *change) save(ctx context.Context) error {
	root, name, err := c.made()
	if err != nil {
		return err
	}
	defer root.Close()
	mode := fs.FileMode(0o666)
	if !c.absent {
		if mode = c.info.Mode().Perm(); mode&0o200 == 0 {
			return errors.New("it is read-only")
		}
	}
	temp := "." + name + "." + rand.Text()
	if len(temp) > 255 {
		temp = "." + rand.Text()
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return plain(err)
	}
	defer func() {
		if !c.keep {
			root.Remove(temp)
		}
	}()
	_, err = f.Write(c.after)
	if err == nil && !c.absent {
		err = keepOwner(f, c.info)
	}
	if err == nil && !c.absent {
		err = f.Chmod(mode)
	}
	if err == nil && !c.absent {
		err = c.keepAttributes(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return plain(err)
	}
	if err := c.still(root, name); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.late != nil {
		c.late()
	}
	if !c.absent {
		return c.replace(root, temp, name)
	}
	// A second name replaces nothing that appeared meanwhile.
	switch err := root.Link(temp, name); {
	case err == nil: // the first name goes
		return nil
	case errors.Is(err, fs.ErrExist):
		return errChanged
	}
	return plain(root.Rename(temp, name)) // a file system without hard links
}

// still refuses a file that is not the one any more whose content was taken.
func (c *change) still(root *os.Root, name string) error {
	now, err := root.Lstat(name)
	switch {
	case c.absent && errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !c.absent && os.SameFile(now, c.info) && sameContent(now, c.info) && changeTime(now) == changeTime(c.info):
		return nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return errChanged
	}
	return plain(err)
}

func (c *change) keepAttributes(to *os.File) error {
	old, err := c.open()
	if err != nil {
		return err
	}
	defer old.Close()
	return copyAttributes(old, to)
}

// sameContent is what times and sizes tell of it.
func sameContent(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// replace puts the new file into the place of the old one. Where the system can
// exchange two names, what comes out is looked at, and put back when it is not
// what was read: somebody put their file there in the last moment.
func (c *change) replace(root *os.Root, temp, name string) error {
	switch err := exchange(root, temp, name); {
	case errors.Is(err, errors.ErrUnsupported):
		return plain(root.Rename(temp, name))
	case err != nil:
		return plain(err)
	}
	old, err := root.Lstat(temp)
	if err == nil && os.SameFile(old, c.info) && sameContent(old, c.info) {
		return nil
	}
	if err := exchange(root, temp, name); err != nil {
		c.keep = true
		return fmt.Errorf("somebody changed it in the last moment, and what was there could not be put back (%w): it is in %s", plain(err), temp)
	}
	return errChanged
}

// made opens the folder of the target, and makes what is missing of it.
func (t target) made() (*os.Root, string, error) {
	root, name, err := t.folder()
	if !errors.Is(err, fs.ErrNotExist) {
		return root, name, err
	}
	parent := target{abs: filepath.Dir(t.abs), shown: filepath.Dir(t.shown)}
	above, last, err := parent.made()
	if err != nil {
		return nil, "", err
	}
	if err := above.Mkdir(last, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		above.Close()
		return nil, "", plain(err)
	}
	above.Close()
	return t.folder()
}

// cutMiddle shortens a long text and says so.
func cutMiddle(text string, most int) string {
	if len(text) <= most {
		return text
	}
	half := most / 2
	return strings.ToValidUTF8(text[:half], "") + fmt.Sprintf("\n[%d bytes left out]\n", len(text)-2*half) + strings.ToValidUTF8(text[len(text)-half:], "")
}
