package shell

import (
	"maps"
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
	"assent/floor/paths"

	"mvdan.cc/sh/v3/syntax"
)

// Marks between a folder and found say more of what was found there.
const (
	files  = "\x00p" // plain files: no links
	linked = "\x00d" // and what lies behind links to folders
	named  = "\x00n" // files of the names that follow, see nameMark
)

// maxLinked bounds how many links of one tree are told one by one.
const maxLinked = 32

// foundAt takes a path with the mark apart: the folder, and what is meant by
// what was found there.
type foundAt struct {
	base  string
	is    bool // there is a mark
	some  bool // only what meets conditions, and not the folder itself
	plain bool
	deep  bool
	names string // see effect.Names
}

// manyOf is a path of which there may be many.
func manyOf(text string) string {
	base, rest, is := strings.Cut(text, found)
	if !is || rest != "" || strings.Contains(base, commands.Many) {
		return text
	}
	return base + commands.Many + found
}

// splits reports whether a word may become several by what is put into it.
func splits(word *syntax.Word) bool {
	return slices.ContainsFunc(word.Parts, func(p syntax.WordPart) bool {
		switch p.(type) {
		case *syntax.CmdSubst, *syntax.ParamExp:
			return true
		}
		return false
	})
}

func findings(text string) (f foundAt, rest string) {
	base, rest, is := strings.Cut(text, found)
	f = foundAt{base: base, is: is}
	for is {
		switch b := f.base; {
		case strings.HasSuffix(b, commands.Many):
			f.base = b[:len(b)-len(commands.Many)]
		case strings.HasSuffix(b, only):
			f.base, f.some = b[:len(b)-len(only)], true
		case strings.HasSuffix(b, files):
			f.base, f.plain = b[:len(b)-len(files)], true
		case strings.HasSuffix(b, linked):
			f.base, f.deep = b[:len(b)-len(linked)], true
		default:
			if base, names, has := strings.Cut(b, named); has {
				f.base, f.names = base, strings.NewReplacer("\x01", "*", "\x02", "?", "\x03", "|").Replace(names)
			}
			return f, rest
		}
	}
	return f, rest
}

// nameMark is the mark for files of some names. What follows it holds nothing
// that a shell would read: no wildcard, no blank.
func nameMark(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return named + strings.NewReplacer("*", "\x01", "?", "\x02", "|", "\x03").Replace(strings.Join(names, "|"))
}

// marks are what a search says of what it finds, to each of its actions.
func (t *typed) marks() string {
	if t.mark == nil {
		m := t.readMarks()
		t.mark = &m
	}
	return *t.mark
}

func (t *typed) readMarks() string {
	name, reading := t.cmd.Program, &t.reading
	m := nameMark(t.chosen().names)
	if narrowed(name, reading) {
		m += only
	}
	follows, plain := false, false
	for i := range reading.Options {
		switch o := &reading.Options[i]; o.Name {
		case "-L", "-follow", "--follow", "--dereference":
			follows = true
		case "-type", "--type", "-t":
			plain = plain || o.Value == "f" || o.Value == "file" || o.Value == "d" || o.Value == "directory" || o.Value == "f,d"
		}
	}
	switch name {
	case "find", "fd", "fdfind":
		for _, w := range texts(t.ws) {
			if w == "!" || w == "-not" || w == "-o" || w == "-or" { // what a condition excludes may still be there
				plain = false
			}
		}
	case "rg", "grep": // the files they find something in
		plain = !t.has("--dereference-recursive")
	default:
		plain = false
	}
	switch {
	case follows:
		m += linked
	case plain:
		m += files
	}
	return m
}

// throughLinks tells where the links in a tree lead that is read through them.
func (r *reader) throughLinks(e effect.Effect, f foundAt) {
	place := r.place
	if r.through != nil {
		place = r.through
	}
	if len(place.Facts.Links) == 0 || f.plain || !e.Path.Known() {
		return
	}
	deep, opens := opensLinks(&e, f)
	if !opens {
		return
	}
	top := e.Path.Abs
	if e.Path.Glob {
		i := strings.IndexAny(top, `*?[\`)
		top = top[:strings.LastIndexByte(top[:max(i, 1)], '/')+1]
	}
	below := func(p string) bool { return p == top || strings.HasPrefix(p, strings.TrimSuffix(top, "/")+"/") }
	told := 0
	for _, l := range r.linksOf(place) {
		link, to := l.link, l.to
		if !below(link) || link == top {
			continue
		}
		if f.is && f.names != "" && !f.deep && !paths.AnyName(f.names, link[strings.LastIndexByte(link, '/')+1:]) {
			continue // not found by that name
		}
		if to.Known() && below(to.Abs) && !e.Path.Glob {
			continue // told with the tree
		}
		if told++; told > maxLinked {
			r.add(effect.Effect{Target: "more links lead out of the tree than are told", Span: e.Span, Command: e.Command, Privileged: e.Privileged})
			return
		}
		also := e
		also.Path, also.Tree, also.Below = to, deep, false
		r.tell(also, link)
	}
}

// leading is a link and the path it stands for.
type leading struct {
	link string
	to   effect.Path
}

// linksOf are the links of a place in order. A text may open the same tree many
// times, and a tree may hold thousands of them.
func (r *reader) linksOf(place *paths.Place) []leading {
	if r.leading.place != place {
		links := make([]leading, 0, len(place.Facts.Links))
		for _, link := range slices.Sorted(maps.Keys(place.Facts.Links)) {
			links = append(links, leading{link, place.Prepare(link, "/")})
		}
		r.leading.place, r.leading.links = place, links
	}
	return r.leading.links
}

// opensLinks reports whether a program that is given a tree opens the links in
// it, and whether it then goes on below those that lead to folders. f tells
// whether it was given the names of what is there or the folder itself.
func opensLinks(e *effect.Effect, f foundAt) (deep, opens bool) {
	c := e.Command
	if c == nil {
		return true, true
	}
	has := func(options ...string) bool { return slices.ContainsFunc(options, c.Has) }
	name := c.Program[strings.LastIndexByte(c.Program, '/')+1:]
	if e.Kind == effect.Delete { // rm takes the link away
		follows := (name == "find" || name == "gfind" || name == "bfs") && has("-L", "-follow")
		return follows, follows
	}
	if e.Kind != effect.Read || e.Meta {
		return false, false
	}
	switch name {
	case "tar", "bsdtar", "gtar", "cpio", "pax", "mksquashfs":
		return true, has("-h", "--dereference", "-L", "-H")
	case "cp", "gcp", "install":
		if has("-L", "--dereference", "-H") {
			return true, true
		}
		if has("--recursive", "-R", "--archive", "-d", "-P", "--no-dereference") {
			return false, false
		}
	case "rsync":
		follows := has("--copy-links", "-L", "--copy-unsafe-links", "--copy-dirlinks", "-k")
		return follows, follows
	case "zip", "7z", "7za", "7zz":
		if has("-y", "--symlinks", "-snl") {
			return false, false
		}
	case "mv", "gmv", "rm", "ln", "git", "readlink", "du", "find", "gfind", "bfs":
		return false, false
	case "grep", "egrep", "fgrep", "rgrep", "ggrep", "zgrep", "pcregrep", "pcre2grep", "ugrep", "ug":
		deep = has("-R", "--dereference-recursive")
		return deep || f.is && e.Tree, deep || f.is || f.deep
	case "rg", "ag", "ack", "fd", "fdfind":
		deep = has("-L", "--follow", "-f", "-R")
		return deep || f.is, deep || f.is
	case "diff", "gdiff", "colordiff":
		if has("--no-dereference") {
			return false, false
		}
	}
	if c.Class == effect.Build && !f.is {
		return false, false // it runs what is in the tree; the links in it are its own
	}
	return f.deep || !f.is, true
}
