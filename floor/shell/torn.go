package shell

import (
	"slices"
	"strings"

	"assent/floor/commands"
)

// A list of names is text, and what takes it apart may take names apart as well:
// a file "x /etc/y" becomes two words to xargs and to $(...) without quotes, one
// with a line break two lines to read. Where files with such names are known to
// lie below what was listed, nobody knows the words.

// What takes names apart, besides the end of each.
const (
	blanks = " \t\n"
	breaks = blanks + "\"'\\" // of xargs
)

// torn reports whether some name in a list is known to hold one of the characters
// at which its reader would take it apart.
func (r *reader) torn(text, at, cwd string) bool {
	if len(r.place.Facts.Files) == 0 || at == "" || !strings.Contains(text, "\x00") {
		return false
	}
	for line := range strings.FieldsFuncSeq(strings.ReplaceAll(text, nul, "\n"), func(c rune) bool { return c == '\n' || c == ' ' }) {
		base, names := "", ""
		if f, _ := findings(line); f.is {
			base, names = f.base, f.names
		} else if commands.Globbed(line) {
			base, _, _ = strings.Cut(line, "\x00")
			base = base[:strings.LastIndexByte(base, '/')+1]
			if base == "" {
				base = "."
			}
		} else {
			continue
		}
		if base = r.folder(base, cwd); base != "" && r.tornBelow(strings.TrimSuffix(base, "/")+"/", names, at) {
			return true
		}
	}
	return false
}

func (r *reader) tornBelow(folder, names, at string) bool {
	for f := range r.place.Facts.Files {
		rel, below := strings.CutPrefix(f, folder)
		if !below || !strings.ContainsAny(rel, at) {
			continue
		}
		if names == "" || slices.ContainsFunc(strings.Split(names, "|"), func(n string) bool { return globMatch(n)(rel[strings.LastIndexByte(rel, '/')+1:]) }) {
			return true
		}
	}
	return false
}
