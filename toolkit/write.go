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
	late   func() // of tests: called before a new file takes its place
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

// errChanged is what a body says when the file is not the one any more that
// the person saw.
var errChanged = errors.New("the file has changed since it was shown: nothing was written; read it again and make a new call")

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

// preview shows what a call would change of its file.
func preview(plan func(job.Call) (*change, error)) job.Preview {
	return func(_ context.Context, call job.Call) (job.Shown, error) {
		c, err := plan(call)
		if err != nil {
			return job.Shown{}, err
		}
		return job.Shown{Text: c.diff(), Image: string(c.image())}, nil
	}
}

// mutate does what a call asks of one file: wholly, or not at all.
func mutate(ctx context.Context, call job.Call, plan func(job.Call) (*change, error)) (job.Outcome, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c, err := plan(call)
	switch {
	case err != nil && call.Resumed && call.Begun:
		return failed(fmt.Errorf("%w (%w)", errResumed, err))
	case err != nil:
		return failed(err)
	}
	same := !c.absent && bytes.Equal(c.before, c.after)
	if !same {
		if call.Shown != "" && call.Shown != string(c.image()) {
			return failed(c.because(errChanged))
		}
		err := c.save(ctx)
		if ctx.Err() != nil && err != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return failed(c.because(err))
		}
	}
	text := "wrote " + c.shown
	switch {
	case same:
		text = c.shown + " is so already"
	case c.absent:
		text = "made " + c.shown
	}
	return job.JSON(writeOutcome{OK: true, Text: text, Diff: cutMiddle(c.diff(), maxText)})
}

// writing is what the tool write would do.
func writing(call job.Call) (*change, error) {
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

// edited is what the tool edit would do: the edits one after the other.
func edited(call job.Call) (*change, error) {
	var a editArguments
	if err := call.Decode(&a); err != nil {
		return nil, err
	}
	if len(a.Edits) == 0 {
		return nil, errors.New("no edits are given")
	}
	c, err := present(call)
	switch {
	case err != nil:
		return nil, err
	case c.absent:
		return nil, c.because(fs.ErrNotExist)
	}
	text := string(c.before)
	for i, e := range a.Edits {
		n := strings.Count(text, e.OldText)
		switch {
		case e.OldText == "":
			return nil, refusal("edit %d: oldText is empty", i+1)
		case n == 0:
			return nil, refusal("edit %d: oldText does not stand in %s", i+1, c.shown)
		case n > 1 && !e.ReplaceAll:
			return nil, refusal("edit %d: oldText stands %d times in %s: give more of what is around it, or set replaceAll", i+1, n, c.shown)
		case len(text)+n*(len(e.NewText)-len(e.OldText)) > maxFile:
			return nil, refusal("edit %d: %s would have more than %d bytes", i+1, c.shown, maxFile)
		}
		text = strings.ReplaceAll(text, e.OldText, e.NewText)
	}
	c.after = []byte(text)
	return c, nil
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
	defer root.Remove(temp) // gone already where all went well
	_, err = f.Write(c.after)
	if err == nil && !c.absent {
		err = f.Chmod(mode)
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
	if !c.absent {
		return plain(root.Rename(temp, name))
	}
	if c.late != nil {
		c.late()
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
	case err == nil && !c.absent && os.SameFile(now, c.info) && now.Size() == c.info.Size() && now.ModTime().Equal(c.info.ModTime()):
		return nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return errChanged
	}
	return plain(err)
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
