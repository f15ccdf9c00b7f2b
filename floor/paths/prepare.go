package paths

import (
	"path"
	"strings"

	"assent/floor/effect"
)

// maxLinks bounds how many symlinks one path may lead through, as the kernel
// does: beyond it there is a loop and nothing can be told.
const maxLinks = 40

// Prepare turns a word into the path it names: absolute against cwd, clean,
// with the symlinks of Facts resolved, and relative to the workspace when it
// lies inside (policy §1). What cannot be told is the unknown path, never a
// guess.
//
// The word is abstract text: plain, except that NUL marks what is not. NUL
// before "*", "?" or "[" makes that glob character active ("]" ends the
// bracket expression); NUL before "$" stands for any text at all. A "*"
// without NUL is just a character of a name. A leading "~" is not expanded
// here, see [Place.Expand]. An empty cwd is an unknown one.
func (p *Place) Prepare(word, cwd string) effect.Path {
	if word == "" || foreign(word) {
		return effect.Path{}
	}
	if word[0] != '/' && (cwd == "" || cwd[0] != '/') {
		return effect.Path{}
	}
	if strings.IndexByte(word, 0) >= 0 {
		return p.prepareMarked(word, cwd)
	}
	named := path.Clean(word)
	if word[0] != '/' {
		named = join(cwd, word)
	}
	if len(p.Facts.Links) == 0 && !magic(named) && !strings.Contains(word, "..") {
		return effect.Path{Abs: named, Rel: p.rel(named)}
	}
	full := word
	if word[0] != '/' {
		full = cwd + "/" + word
	}
	abs, ok := p.resolve(full, cwd)
	if !ok {
		return effect.Path{}
	}
	out := effect.Path{Abs: abs, Rel: p.rel(abs)}
	if named != abs {
		out.Named = named
	}
	return out
}

// foreign reports whether the word is no path of this system: a file URL, a
// Windows drive, network or device path. Such a word must never be taken for
// a name inside the workspace.
func foreign(w string) bool {
	if len(w) >= 5 && strings.EqualFold(w[:5], "file:") {
		return true
	}
	if len(w) >= 3 && w[1] == ':' && isLetter(w[0]) && (w[2] == '\\' || w[2] == '/') {
		return true
	}
	i := strings.IndexByte(w, '\\')
	return i == 0 || i > 0 && (strings.HasPrefix(w, `..\`) || strings.Contains(w, `\..`))
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// join is path.Join for two parts that are not empty, without the slice.
func join(dir, name string) string {
	if name == "." || name == "./" {
		return path.Clean(dir)
	}
	if dir == "/" {
		return path.Clean("/" + name)
	}
	return path.Clean(dir + "/" + name)
}

// resolve walks a path segment by segment as the kernel does: ".." is taken
// after the links before it were followed.
func (p *Place) resolve(full, cwd string) (string, bool) {
	links := 0
	return p.follow("/", full, cwd, &links)
}

// follow resolves rest against the resolved folder dir.
func (p *Place) follow(dir, rest, cwd string, links *int) (string, bool) {
	for rest != "" {
		var seg string
		seg, rest, _ = strings.Cut(rest, "/")
		switch seg {
		case "", ".":
			continue
		}
		if openFile(dir) {
			return "", false // whatever folder that descriptor stands for
		}
		switch seg {
		case "..":
			dir = parent(dir)
			continue
		}
		next := child(dir, seg)
		target, ok := p.Facts.Links[next]
		if !ok {
			var known bool
			target, ok, known = procLink(next, cwd)
			if ok && !known {
				return "", false
			}
		}
		if !ok {
			dir = next
			continue
		}
		if *links++; *links > maxLinks || target == "" || strings.IndexByte(target, 0) >= 0 {
			return "", false
		}
		if target[0] == '/' {
			dir = "/"
		}
		if dir, ok = p.follow(dir, target, cwd, links); !ok {
			return "", false
		}
	}
	return dir, true
}

func parent(dir string) string {
	if i := strings.LastIndexByte(dir, '/'); i > 0 {
		return dir[:i]
	}
	return "/"
}

func child(dir, seg string) string {
	if dir == "/" {
		return "/" + seg
	}
	return dir + "/" + seg
}

// magic reports whether a clean path may lead through one of the links that
// every machine has and no facts need to tell of.
func magic(abs string) bool {
	return strings.HasPrefix(abs, "/proc/") || strings.HasPrefix(abs, "/dev/fd/") ||
		strings.HasPrefix(abs, dataVolume)
}

// openFile reports whether abs is one of a process's open files.
func openFile(abs string) bool {
	if strings.HasPrefix(abs, "/dev/fd/") {
		return true
	}
	rest, ok := strings.CutPrefix(abs, "/proc/")
	if !ok {
		return false
	}
	_, rest, _ = strings.Cut(rest, "/fd/")
	return rest != "" && strings.IndexByte(rest, '/') < 0
}

// dataVolume is where macOS keeps what is also visible under "/".
const dataVolume = "/System/Volumes/Data"

// procLink follows the links of /proc: link says that there is one, known
// that its target can be told. The root of a process is "/" unless it was
// changed, which needs privilege; the folder of another process is anybody's
// guess.
func procLink(abs, cwd string) (target string, link, known bool) {
	if abs == dataVolume {
		return "/", true, true
	}
	rest, ok := strings.CutPrefix(abs, "/proc/")
	if !ok {
		return "", false, false
	}
	pid, rest, _ := strings.Cut(rest, "/")
	own := pid == "self" || pid == "thread-self"
	if !own && (pid == "" || pid[0] < '0' || pid[0] > '9') {
		return "", false, false
	}
	if task, ok := strings.CutPrefix(rest, "task/"); ok {
		_, rest, _ = strings.Cut(task, "/")
	}
	switch rest {
	case "root":
		return "/", true, own
	case "cwd":
		return cwd, true, own && cwd != ""
	case "exe":
		return "", false, false
	}
	if strings.HasPrefix(rest, "map_files/") {
		return "", true, false
	}
	return "", false, false
}

// rel is abs relative to the workspace, "" when it is not inside.
func (p *Place) rel(abs string) string {
	return p.under(p.root(), abs)
}

// root is the workspace with its own symlinks resolved.
func (p *Place) root() string { return p.real(p.Workspace) }

// Top is an absolute path with the folder directly under "/" resolved, from which
// an absolute pattern starts as well.
func (p *Place) Top(abs string) string {
	if len(p.Facts.Links) == 0 || abs == "" || abs[0] != '/' {
		return abs
	}
	top, rest, deeper := strings.Cut(abs[1:], "/")
	real := p.real("/" + top)
	if !deeper {
		return real
	}
	return child(real, rest)
}

// real resolves one of the place's own folders.
func (p *Place) real(dir string) string {
	if dir == "" || dir[0] != '/' || len(p.Facts.Links) == 0 {
		return dir
	}
	if r, ok := p.resolve(dir, ""); ok {
		return r
	}
	return dir
}

// under is abs relative to dir, "." for dir itself, "" when it is not under
// it.
func (p *Place) under(dir, abs string) string {
	switch {
	case dir == "" || dir[0] != '/' || abs == "":
		return ""
	case dir == "/":
		if abs == "/" {
			return "."
		}
		return abs[1:]
	case len(abs) > len(dir) && abs[len(dir)] == '/' && abs[:len(dir)] == dir:
		return abs[len(dir)+1:]
	case abs == dir:
		return "."
	case !p.Fold:
		return ""
	}
	// The file system ignores case: compare segment by segment, since folded
	// text may be longer or shorter than what was folded.
	rest := abs
	for d := dir; d != ""; {
		var ds, as string
		ds, d, _ = strings.Cut(strings.TrimPrefix(d, "/"), "/")
		if rest == "" {
			return ""
		}
		as, rest, _ = strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		if Fold(ds) != Fold(as) {
			return ""
		}
	}
	if rest == "" {
		return "."
	}
	return rest
}
