package toolkit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"assent/approval"
	"assent/job"

	"github.com/bmatcuk/doublestar/v4"
)

// What is found at most, and how deep.
const (
	maxEntries = 1000
	maxMatches = 500
	maxDepth   = 64
)

type listArguments struct {
	Path string `json:"path,omitzero"`
}

type globArguments struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitzero"`
}

type grepArguments struct {
	// Pattern is a regular expression as Go's package regexp reads it (RE2).
	Pattern    string `json:"pattern"`
	Path       string `json:"path,omitzero"`
	Include    string `json:"include,omitzero"`
	IgnoreCase bool   `json:"ignoreCase,omitzero"`
}

type foundOutcome struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	// Count is how many lines the text has, More that there would be more.
	Count int  `json:"count"`
	More  bool `json:"more,omitzero"`
	// Unread are what could not be looked into, and why.
	Unread []string `json:"unread,omitzero"`
}

// found gathers lines.
type found struct {
	foundOutcome
	lines []string
	most  int
	size  int
}

// add takes a line; false when there is room for no more.
func (f *found) add(line string) bool {
	if len(f.lines) == f.most || f.size+len(line) > maxText {
		f.More = true
		return false
	}
	f.lines = append(f.lines, strings.ToValidUTF8(line, string(utf8.RuneError)))
	f.size += len(line) + 1
	return true
}

func (f *found) unread(name string, err error) {
	switch {
	case len(f.Unread) < 20:
		f.Unread = append(f.Unread, fmt.Sprintf("%s: %v", name, err))
	case len(f.Unread) == 20:
		f.Unread = append(f.Unread, "and others")
	}
}

func (f *found) outcome() (job.Outcome, error) {
	f.OK, f.Text, f.Count = true, strings.Join(f.lines, "\n"), len(f.lines)
	return job.JSON(f.foundOutcome)
}

// list is the body of the tool list: what lies in one folder. A folder ends
// with "/", a link with "@".
func list(ctx context.Context, call job.Call) (job.Outcome, error) {
	var a listArguments
	if err := call.Decode(&a); err != nil {
		return failed(err)
	}
	root, _, err := folderOf(call)
	if err != nil {
		return failed(err)
	}
	defer root.Close()
	entries, more, err := entriesOf(ctx, root)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return failed(plain(err))
	}
	f := found{most: maxEntries}
	f.More = more
	for _, e := range entries {
		if !f.add(e.Name() + mark(e.Type())) {
			break
		}
	}
	return f.outcome()
}

func mark(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "/"
	case mode&fs.ModeSymlink != 0:
		return "@"
	}
	return ""
}

// glob is the body of the tool glob: the names below a folder that a pattern
// matches. "**" stands for any number of folders.
func glob(ctx context.Context, call job.Call) (job.Outcome, error) {
	var a globArguments
	if err := call.Decode(&a); err != nil {
		return failed(err)
	}
	if err := below(a.Pattern); err != nil {
		return failed(err)
	}
	root, _, err := folderOf(call)
	if err != nil {
		return failed(err)
	}
	defer root.Close()
	f := found{most: maxEntries}
	err = walk(ctx, root, &f, func(_ *os.Root, name string, e fs.DirEntry) bool {
		return !doublestar.MatchUnvalidated(a.Pattern, name) || f.add(name+mark(e.Type()))
	})
	if err != nil {
		return nil, err
	}
	return f.outcome()
}

// Opens says whether a call that opens what lies below a judged folder may open
// that path too. It gives nil where no rule is against it.
type Opens func(ctx context.Context, call job.Call, path string) error

// search is the body of the tool grep.
type search struct{ opens Opens }

// maxExpression is how large a regular expression may be, in instructions of the
// program that matches it: each may be tried at every byte of a line.
const maxExpression = 1000

// expression reads a regular expression whose matching takes no longer than a
// body may be asked to wait.
func expression(pattern string, flags syntax.Flags) (*regexp.Regexp, error) {
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if len(prog.Inst) > maxExpression {
		return nil, refusal("the pattern is too large: repetitions of repetitions multiply")
	}
	if flags&syntax.FoldCase != 0 {
		pattern = "(?i)" + pattern
	}
	return regexp.Compile(pattern)
}

// grep finds the lines of a file, or of the files below a folder, that a regular
// expression matches. Files that are no text are passed over. So are, below a
// folder, files that a rule keeps from being read: whether one of them would
// have matched is not told either.
func (s search) grep(ctx context.Context, call job.Call) (job.Outcome, error) {
	var a grepArguments
	if err := call.Decode(&a); err != nil {
		return failed(err)
	}
	flags := syntax.Perl
	if a.IgnoreCase {
		flags |= syntax.FoldCase
	}
	re, err := expression(a.Pattern, flags)
	if err != nil {
		return failed(err)
	}
	include := ""
	if a.Include != "" {
		if err := below(a.Include); err != nil {
			return failed(err)
		}
		include = "**/" + strings.TrimPrefix(strings.TrimPrefix(a.Include, "./"), "**/")
	}
	f := found{most: maxMatches}
	root, t, err := folderOf(call)
	if err != nil {
		if info, e := t.look(); t.abs == "" || e != nil || info.IsDir() {
			return failed(err)
		}
		file, err := t.open()
		if err != nil {
			return failed(err)
		}
		defer file.Close()
		err = f.matches(ctx, file, re, t.shown, func() bool { return true })
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return failed(t.because(err))
		}
		return f.outcome()
	}
	defer root.Close()
	err = walk(ctx, root, &f, func(folder *os.Root, name string, e fs.DirEntry) bool {
		if !e.Type().IsRegular() || include != "" && !doublestar.MatchUnvalidated(include, name) {
			return true
		}
		file, err := openFile(folder, path.Base(name))
		if err != nil {
			f.unread(name, err)
			return true
		}
		defer file.Close()
		// Asked where something matches, because asking costs more than looking.
		may := func() bool {
			return s.opens != nil && s.opens(ctx, call, filepath.Join(t.abs, filepath.FromSlash(name))) == nil
		}
		if err := f.matches(ctx, file, re, name, may); err != nil && !errors.Is(err, errNoText) && ctx.Err() == nil {
			f.unread(name, err)
		}
		return !f.More
	})
	if err != nil {
		return nil, err
	}
	return f.outcome()
}

var errNoText = errors.New("it is no text")

// matches adds the lines of a text that match, if it may.
func (f *found) matches(ctx context.Context, r io.Reader, re *regexp.Regexp, name string, may func() bool) error {
	asked := false
	b := bufio.NewReaderSize(contextReader{ctx, r}, 64<<10)
	if head, _ := b.Peek(4096); bytes.IndexByte(head, 0) >= 0 {
		return errNoText
	}
	for n := 1; ; n++ {
		text, cut, err := line(b, true)
		if err != nil && err != io.EOF {
			return plain(err)
		}
		if len(text) == 0 && err == io.EOF {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if text = bytes.TrimSuffix(text, []byte("\n")); re.Match(text) {
			if !asked && !may() {
				return nil
			}
			asked = true
			if len(text) > 500 {
				text, cut = text[:500], true
			}
			shown := fmt.Sprintf("%s:%d:%s", name, n, text)
			if cut {
				shown += "…"
			}
			if !f.add(shown) {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// maxAlternatives is how many patterns the braces of one may stand for: a match
// tries them all, for every name.
const maxAlternatives = 256

// alternatives is how many patterns a pattern with braces stands for, or more.
func alternatives(pattern string) int {
	all := 1
	var open []int // the alternatives of the braces that are open
	for i := 0; i < len(pattern) && all <= maxAlternatives; i++ {
		switch last := len(open) - 1; pattern[i] {
		case '\\':
			i++
		case '{':
			open = append(open, 1)
		case ',':
			if last >= 0 {
				open[last]++
			}
		case '}':
			if last >= 0 {
				all *= open[last]
				open = open[:last]
			}
		}
	}
	return all
}

// below refuses a pattern that could leave the folder it is matched in.
func below(pattern string) error {
	switch {
	case !doublestar.ValidatePattern(pattern):
		return refusal("the pattern %q cannot be read", pattern)
	case alternatives(pattern) > maxAlternatives:
		return refusal("the pattern %q has too many alternatives in braces: use more than one call", pattern)
	case strings.HasPrefix(pattern, "/"), slices.Contains(strings.FieldsFunc(pattern, func(r rune) bool { return r == '/' || r == '{' || r == '}' || r == ',' }), ".."):
		return refusal("the pattern %q leaves its folder: name the folder in path", pattern)
	}
	return nil
}

// folderOf opens the folder of a call: the one path of its leaf that is known.
// A pattern that was judged beside it is a path that cannot be told, and stays
// below the folder.
func folderOf(call job.Call) (*os.Root, target, error) {
	j, err := jailOf(call)
	if err != nil {
		return nil, target{}, err
	}
	j.paths = slices.DeleteFunc(slices.Clone(j.paths), func(p approval.Path) bool { return p == "" })
	t, err := j.only()
	if err != nil {
		return nil, t, err
	}
	root, err := t.tree()
	return root, t, err
}

// maxFolder is how many names of one folder are looked at.
const maxFolder = 200_000

// entriesOf are what lies in a folder, by their names, and whether there is more
// than is looked at.
func entriesOf(ctx context.Context, root *os.Root) (entries []fs.DirEntry, more bool, err error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	for err == nil && !more {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		var some []fs.DirEntry
		some, err = f.ReadDir(1000)
		entries = append(entries, some...)
		more = len(entries) > maxFolder
	}
	if err == io.EOF {
		err = nil
	}
	entries = entries[:min(len(entries), maxFolder)]
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, more, err
}

// walk visits everything below a folder, in the order of names, until visit
// says false. It follows no link, and does not look into a repository's own
// folder.
func walk(ctx context.Context, root *os.Root, f *found, visit func(folder *os.Root, name string, e fs.DirEntry) bool) error {
	_, err := walkIn(ctx, root, "", 0, f, visit)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func walkIn(ctx context.Context, folder *os.Root, at string, depth int, f *found, visit func(*os.Root, string, fs.DirEntry) bool) (on bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	entries, more, err := entriesOf(ctx, folder)
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		f.unread(path.Join(at, "."), plain(err))
	case more:
		f.unread(path.Join(at, "."), errors.New("too many names, the rest is left out"))
	}
	for _, e := range entries {
		name := path.Join(at, e.Name())
		if !visit(folder, name, e) {
			return false, nil
		}
		if !e.IsDir() || e.Name() == ".git" {
			continue
		}
		if depth == maxDepth {
			f.unread(name, errors.New("too deep"))
			continue
		}
		below, err := enter(folder, e.Name())
		if err != nil {
			f.unread(name, err)
			continue
		}
		on, err := walkIn(ctx, below, name, depth+1, f, visit)
		below.Close()
		if err != nil || !on {
			return on, err
		}
	}
	return true, nil
}
