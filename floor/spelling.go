package floor

import (
	"slices"
	"strings"
	"unicode"

	"assent/floor/effect"
	"assent/floor/paths"
)

// maxSpellings bounds how many further readings of one path are judged.
const maxSpellings = 48

// perhaps adds, as guesses, what else a path may name: on another system, or
// for a client that takes its text apart before it opens a file. A denied or
// blocked file then holds under those names too. What was seen is told already.
func (r *reading) perhaps(arg, text string, seen []string, how about, kinds ...effect.Kind) {
	if plainPath(text) || strings.Contains(text, "://") || strings.ContainsAny(text, "\x00\n\r") || len(text) > maxPath {
		return // nothing else, or told as unknown already
	}
	add := func(p effect.Path, certainty effect.Certainty) {
		was := r.certainty
		r.certainty = max(r.certainty, certainty)
		for _, k := range kinds {
			r.add(effect.Effect{Kind: k, Arg: arg, Meta: how.meta, Tree: how.tree, Path: p, Target: targetOf(p, text)})
		}
		r.certainty = was
	}
	var globs []string
	texts, all := r.readings(text)
	for _, t := range texts {
		if strings.ContainsAny(t, "*?[(") && !slices.Contains(seen, "") {
			marked, ok := markGlob(t)
			if p := r.place.Prepare(marked, r.place.Cwd); ok && p.Glob && p.Known() && !slices.Contains(globs, p.Abs) {
				globs = append(globs, p.Abs)
				add(p, effect.Maybe)
			}
			all = all && ok
		}
		p := r.place.Prepare(t, r.place.Cwd)
		switch {
		case !p.Known():
			all = false
		case !slices.Contains(seen, p.Abs):
			seen = append(seen, p.Abs)
			add(p, effect.Maybe)
		}
	}
	if !all && !slices.Contains(seen, "") {
		add(effect.Path{}, effect.Sure) // no rule for the tool answers what cannot be told
	}
}

// plainPath reports whether every system and client takes the text for the same
// path.
func plainPath(text string) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case isAlnum(c) && c < 0x80, c == '/', c == '_', c == '-', c == '+':
		case c != '.':
			return false
		case i+1 == len(text) || text[i+1] == '/':
			name := text[strings.LastIndexByte(text[:i], '/')+1 : i+1]
			if name != "." && name != ".." {
				return false
			}
		}
	}
	return true
}

// maxRead bounds how many texts of a call are read in all their ways.
const maxRead = 128

// readings are those of a text, while the call has few of them.
func (r *reading) readings(text string) (texts []string, ok bool) {
	if r.read++; r.read > maxRead {
		return []string{text}, false
	}
	return readings(r.place, text)
}

// readings are the texts that some system or client may take a path for, itself
// first. It is not ok when there may be others that cannot be told.
func readings(place *paths.Place, text string) (texts []string, ok bool) {
	texts, ok = []string{text}, true
	for i := 0; i < len(texts); i++ {
		t := texts[i]
		if shortened(t) || windowsVariable(t) {
			ok = false
		}
		for _, step := range steps {
			for _, u := range step(place, t) {
				switch {
				case u == untold:
					ok = false
				case u == "" || u == "." || u == "/" || slices.Contains(texts, u) || strings.ContainsAny(u, "\x00\n\r"):
				case len(texts) > maxSpellings:
					return texts, false
				default:
					texts = append(texts, u)
				}
			}
		}
	}
	return texts, ok
}

// untold is a reading that cannot be told.
const untold = "\x00"

// steps are the ways to read a path as another one, each by itself.
var steps = []func(*paths.Place, string) []string{
	bare, unquoted, positioned, undotted, slashed, unfolded, percent, spelledOut, expanded,
}

// bare is a path without the blanks around it and the mark with which clients
// begin a mention of a file.
func bare(_ *paths.Place, t string) []string {
	t = strings.TrimFunc(t, func(c rune) bool { return unicode.IsSpace(c) || unicode.In(c, unicode.Cf, unicode.Zs) })
	out := []string{t, strings.TrimRight(strings.TrimLeft(t, "@<="), ">")}
	if text, to, ok := strings.Cut(t, "]("); ok && strings.HasPrefix(text, "[") { // a link in prose
		out = append(out, text[1:], strings.TrimSuffix(to, ")"))
	}
	return out
}

const quotes = "\"'`" + "“”„‟‘’‚‛«»"

// unquoted is a path without quotes.
func unquoted(_ *paths.Place, t string) []string {
	if !strings.ContainsAny(t, quotes) {
		return nil
	}
	return []string{strings.Map(func(c rune) rune {
		if strings.ContainsRune(quotes, c) {
			return -1
		}
		return c
	}, t)}
}

// positioned is a path without what some clients take for a place in the file, a
// fragment, a query or a stream, and the parts of a list.
func positioned(_ *paths.Place, t string) (out []string) {
	if k := strings.LastIndexByte(t, '('); k > 0 && strings.Trim(t[k:], "(0123456789,:) ") == "" {
		out = append(out, t[:k])
	}
	for _, c := range []string{":", "#", "?", ";", ",", "|"} {
		first, last := strings.Index(t, c), strings.LastIndex(t, c)
		if first < 0 || c == "," && strings.Contains(t, "{") {
			continue
		}
		out = append(out, t[:first], t[:last])
		if rest := t[first+1:]; c != "#" && c != "?" && strings.Trim(rest, "0123456789:-") != "" {
			out = append(out, rest, t[last+1:])
		}
	}
	return out
}

// undotted is a path as Windows takes it: names end before their last dots,
// blanks and streams. On macOS a file also has forks.
func undotted(_ *paths.Place, t string) []string {
	parts := strings.Split(t, "/")
	for i, p := range parts {
		if p == "." || p == ".." {
			continue
		}
		if k := strings.IndexByte(p, ':'); k > 0 {
			p = p[:k]
		}
		if short := strings.TrimRight(p, ". "); short != "" {
			p = short
		}
		parts[i] = p
	}
	out := []string{strings.Join(parts, "/")}
	if file, _, ok := strings.Cut(t, "/..namedfork"); ok {
		out = append(out, file)
	}
	return out
}

// slashed is a path with backslashes, which part it, or make the next character
// plain, or begin a code for one.
func slashed(_ *paths.Place, t string) []string {
	if strings.IndexByte(t, '\\') < 0 {
		return nil
	}
	out := []string{strings.ReplaceAll(t, `\`, "/"), strings.ReplaceAll(t, `\`, "")}
	for i := 0; i+2 < len(t); i++ {
		if t[i] == '\\' && strings.IndexByte("xuU01234567", t[i+1]) >= 0 && isHex(t[i+2]) {
			out = append(out, untold)
		}
	}
	return out
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// unfolded is a path with plain characters for those that only look otherwise.
func unfolded(_ *paths.Place, t string) []string {
	if u := paths.Plain(t); u != t {
		return []string{u}
	}
	return nil
}

// percent is a path as part of an address.
func percent(_ *paths.Place, t string) []string {
	if strings.IndexByte(t, '%') < 0 {
		return nil
	}
	return []string{unescape(t)}
}

// spelledOut are the paths that braces stand for.
func spelledOut(_ *paths.Place, t string) []string {
	open := strings.IndexByte(t, '{')
	switch {
	case open < 0:
		return nil
	case strings.Contains(t[open:], ".."):
		return []string{untold} // a sequence
	case !strings.Contains(t[open:], ","):
		return []string{strings.NewReplacer("{", "", "}", "").Replace(t)}
	}
	out, ok := braces(t)
	if !ok {
		return []string{untold}
	}
	return out
}

// expanded is a path with what its home and variables stand for. A variable that
// is not known is a part of the name, as in "routes/$id.tsx", unless it is
// written as nobody writes names.
func expanded(place *paths.Place, t string) []string {
	if t[0] != '~' && strings.IndexByte(t, '$') < 0 {
		return nil
	}
	x := place.Expand(t)
	switch {
	case strings.Contains(t, "$("):
		return []string{untold}
	case strings.IndexByte(x, 0) < 0:
		return []string{x}
	case t[0] == '$', strings.Contains(t, "${"), t[0] == '~' && strings.IndexByte(t, '/') > 0:
		return []string{untold}
	}
	return nil
}

// shortened reports whether a path has a name of the form in which Windows
// shortens others: "GIT~1", "PROGRA~2", "SECRET~1.YML".
func shortened(t string) bool {
	for part := range strings.FieldsFuncSeq(t, func(c rune) bool { return c == '/' || c == '\\' }) {
		name, ending, _ := strings.Cut(strings.TrimRight(part, ". "), ".")
		k := strings.LastIndexByte(name, '~')
		if k > 0 && k+1 < len(name) && len(name) <= 8 && len(ending) <= 3 && strings.Trim(name[k+1:], "0123456789") == "" {
			return true
		}
	}
	return false
}

// windowsVariable reports whether a path holds the like of "%USERPROFILE%".
func windowsVariable(t string) bool {
	_, rest, ok := strings.Cut(t, "%")
	for ok {
		var name string
		name, rest, ok = strings.Cut(rest, "%")
		if ok && len(name) > 1 && !(isHex(name[0]) && isHex(name[1])) && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_()") == "" {
			return true
		}
	}
	return false
}
