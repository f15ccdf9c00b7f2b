package approval

import (
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Path is a prepared path (law §10): absolute and clean when it lies outside
// the workspace, relative to the workspace when inside ("." for itself), and
// "" when it cannot be told. The zero value is the path that cannot be told;
// it is covered by nothing.
type Path string

// Known reports whether it can be told where the path lies. A text that is not
// clean, or climbs out of the workspace, was not prepared and cannot be told,
// nor can one that no document keeps as it is (not UTF-8, or with a NUL).
func (p Path) Known() bool {
	return p != "" && utf8.ValidString(string(p)) && strings.IndexByte(string(p), 0) < 0 && path.Clean(string(p)) == string(p) && p != ".." && !strings.HasPrefix(string(p), "../")
}

// Outside reports whether the path is known to lie outside the workspace.
func (p Path) Outside() bool { return p.Known() && path.IsAbs(string(p)) }

func inside(paths []Path) bool {
	for _, p := range paths {
		if !p.Known() || p.Outside() {
			return false
		}
	}
	return len(paths) > 0
}

var (
	scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	globs  = "*?[{"
)

// LexicalPath prepares a path by its text alone: "~" is the session's home, a
// relative path lies in the workspace, "." and ".." are resolved, and what is
// in the workspace becomes relative to it. It knows no symlinks; a host hands
// resolved paths to the law and uses this only where there is no machine to
// look at. Text that could mean another path on some machine (a scheme, a
// drive, a backslash, a variable, another user's home, a ".." among glob
// characters) cannot be told.
func LexicalPath(word string, session Session) Path {
	switch {
	case word == "", strings.ContainsAny(word, "\x00\\$"), scheme.MatchString(word):
		return ""
	case strings.Contains(word, "..") && strings.ContainsAny(word, globs):
		return ""
	case word == "~" || strings.HasPrefix(word, "~/"):
		if !path.IsAbs(session.Home) {
			return ""
		}
		word = session.Home + word[1:]
	case strings.HasPrefix(word, "~"):
		return ""
	}
	workspace := ""
	if path.IsAbs(session.Workspace) {
		workspace = path.Clean(session.Workspace)
	}
	if !path.IsAbs(word) {
		if workspace == "" {
			return ""
		}
		word = workspace + "/" + word
	}
	abs := path.Clean(word)
	switch {
	case workspace == "":
		return Path(abs)
	case abs == workspace:
		return "."
	case under(abs, workspace):
		return Path(strings.TrimPrefix(abs[len(workspace):], "/"))
	}
	return Path(abs)
}

// under reports whether p is the folder or lies under it; both are absolute
// and clean.
func under(p, folder string) bool {
	return p == folder || folder == "/" || strings.HasPrefix(p, folder+"/")
}
