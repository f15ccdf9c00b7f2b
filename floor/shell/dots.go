package shell

import (
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// A pattern that begins with a dot may match "." and "..": in bash before 5.2,
// with its globskipdots off, and in dash. So ".?/x" is also "../x". zsh never
// matches either.

// maxDots bounds the spellings of one pattern.
const maxDots = 16

// refuses are programs that never delete "." and "..".
var refuses = set("rm grm rmdir grmdir unlink gunlink")

// upward tells a path whose pattern may have matched "." or ".." under those
// names. What is only looked at is left out, and so is the folder itself where it
// would be read or deleted as a file: that fails.
func (r *reader) upward(p pathEffect, w *world) {
	if r.lang == zsh || p.meta || !strings.Contains(p.text, ".") || !commands.Globbed(p.text) {
		return
	}
	text, rest := p.text, ""
	if i := strings.Index(text, found); i >= 0 {
		text, rest = text[:i], text[i:]
	}
	segments := strings.Split(text, "/")
	if !slices.ContainsFunc(segments, func(s string) bool { return dots(s) != nil }) {
		return
	}
	last := len(segments) - 1
	for last > 0 && segments[last] == "" {
		last--
	}
	spellings := [][]string{nil}
	for i, s := range segments {
		options := append(dots(s), s)
		if i == last && rest == "" && (!p.tree && p.kind == effect.Read || p.kind == effect.Delete && p.cmd != nil && refuses[p.cmd.Program]) {
			options = []string{s}
		}
		var next [][]string
		for _, before := range spellings {
			for _, o := range options {
				next = append(next, append(slices.Clip(before), o))
			}
		}
		if spellings = next; len(spellings) > maxDots {
			p.text, p.maybe = commands.Unknown, true
			r.path(p, w)
			return
		}
	}
	p.maybe = true
	for _, s := range spellings {
		if also := strings.Join(s, "/"); also != text {
			p.text = also + rest
			r.told(p, w)
		}
	}
}

// dots are those of "." and ".." that a segment of a pattern matches.
func dots(segment string) (names []string) {
	if segment == "" || segment[0] != '.' || !commands.Globbed(segment) {
		return nil
	}
	if dotted(segment[1:], "") {
		names = append(names, ".")
	}
	if dotted(segment[1:], ".") {
		names = append(names, "..")
	}
	return names
}

// dotted reports whether a pattern may match nothing or one dot.
func dotted(pattern, text string) bool {
	switch {
	case pattern == "":
		return text == ""
	case strings.HasPrefix(pattern, commands.Star):
		rest := pattern[len(commands.Star):]
		return dotted(rest, text) || text != "" && dotted(rest, "")
	case strings.HasPrefix(pattern, commands.One):
		return text != "" && dotted(pattern[len(commands.One):], "")
	case strings.HasPrefix(pattern, commands.Set):
		end := 1 + bracket(pattern[1:])
		if end == 1 {
			return true // it does not close: in doubt it matches
		}
		return text != "" && hasDot(pattern[2:end-1]) && dotted(pattern[end:], "")
	case pattern[0] == commands.Mark: // text nobody can tell
		return !strings.HasPrefix(pattern, commands.Number)
	default:
		return text != "" && pattern[0] == '.' && dotted(pattern[1:], "")
	}
}

// hasDot reports whether the inside of a bracket expression may match a dot: in
// doubt it does.
func hasDot(set string) bool {
	not := set != "" && (set[0] == '!' || set[0] == '^')
	if not {
		return !strings.Contains(strings.TrimLeft(set, "!^"), ".")
	}
	for _, class := range [...]string{"alnum", "alpha", "digit", "lower", "upper", "xdigit"} {
		set = strings.ReplaceAll(set, "[:"+class+":]", "")
	}
	for i := 0; i < len(set); i++ {
		if !letterOrDigit(set[i]) && set[i] != '_' && set[i] != '-' {
			return true
		}
	}
	return false
}

func letterOrDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }
