package paths

import (
	"path"
	"strings"

	"assent/floor/effect"
)

// prepareMarked prepares a word with glob marks or unknown parts.
func (p *Place) prepareMarked(word, cwd string) effect.Path {
	var segs []string // as glob text
	wild := false
	first := -1 // index of the first segment that is a glob
	plain := ""
	for i := 0; i <= len(word); {
		j := strings.IndexByte(word[i:], '/')
		if j < 0 {
			j = len(word) - i
		}
		raw := word[i : i+j]
		i += j + 1
		glob, isGlob, ok := globSegment(raw)
		switch {
		case !ok:
			return effect.Path{}
		case first < 0 && !isGlob:
			// still in the fixed part; kept as plain text for resolving
			if plain != "" || len(raw) > 0 {
				plain += unmark(raw)
			}
			plain += "/"
			continue
		case raw == "" || raw == ".":
			continue
		case raw == "..":
			// What a glob matches may be a link: its parent is unknown.
			return effect.Path{}
		}
		if first < 0 {
			first = len(segs)
		}
		wild = wild || isGlob
		segs = append(segs, glob)
	}
	if first < 0 {
		// Every mark turned out to be plain text ("[" without "]").
		return p.Prepare(strings.TrimSuffix(plain, "/"), cwd)
	}
	base, named := cwd, path.Clean(cwd+"/"+plain)
	if word[0] == '/' {
		base, named = "/", path.Clean("/"+plain)
	}
	if len(plain) > 0 && foreign(plain) {
		return effect.Path{}
	}
	abs := named
	if len(p.Facts.Links) > 0 || magic(named+"/") {
		var ok bool
		if abs, ok = p.resolve(base+"/"+plain, cwd); !ok {
			return effect.Path{}
		}
		if p.mayFollow(abs, segs) || abs != named && p.mayFollow(named, segs) {
			// Where it leads cannot be told; that it goes by this name can.
			return effect.Path{Named: child(escape(named), strings.Join(segs, "/")), Glob: true}
		}
	}
	tail := strings.Join(segs, "/")
	if abs == "/proc" || strings.HasPrefix(abs, "/proc/") {
		return effect.Path{Named: child(escape(named), tail), Glob: true} // "/proc/*/root" and its like
	}
	out := effect.Path{Abs: child(escape(abs), tail), Glob: true}
	if r := p.rel(abs); r == "." {
		out.Rel = tail
	} else if r != "" {
		out.Rel = escape(r) + "/" + tail
	}
	if named != abs {
		out.Named = child(escape(named), tail)
	}
	return out
}

// mayFollow reports whether a known symlink may be among what the glob
// segments match below dir, at any depth.
func (p *Place) mayFollow(dir string, segs []string) bool {
	for link := range p.Facts.Links {
		rest := p.under(dir, link)
		if rest == "" || rest == "." {
			continue
		}
		for i := 0; i < len(segs) && rest != ""; i++ {
			if segs[i] == "**" {
				return true // at any depth, for those who read it so
			}
			var name string
			name, rest, _ = strings.Cut(rest, "/")
			if !shellMatch(segs[i], name) {
				break
			}
			if rest == "" {
				return true
			}
		}
	}
	return false
}

// globSegment turns one marked segment into glob text. ok is false when the
// segment holds an unknown part.
func globSegment(raw string) (glob string, wild, ok bool) {
	if strings.IndexByte(raw, 0) < 0 {
		return escape(raw), false, true
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != 0 {
			escapeByte(&b, c)
			continue
		}
		if i++; i >= len(raw) {
			return "", false, false
		}
		switch raw[i] {
		case '*', '?':
			b.WriteByte(raw[i])
			wild = true
		case '[':
			end := bracketEnd(raw, i)
			if end < 0 {
				b.WriteString(`\[`)
				continue
			}
			if strings.Contains(raw[i:end], "\x00$") {
				return "", false, false
			}
			b.WriteString(bracketText(raw[i+1 : end]))
			wild = true
			i = end
		default:
			return "", false, false
		}
	}
	return b.String(), wild, true
}

// bracketEnd is the index of the "]" that ends the bracket expression whose
// "[" is at i, or -1 when there is none.
func bracketEnd(s string, i int) int {
	i++
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for ; i < len(s); i++ {
		if s[i] == ']' {
			return i
		}
		if s[i] == '[' && i+1 < len(s) && (s[i+1] == ':' || s[i+1] == '.' || s[i+1] == '=') {
			if k := strings.Index(s[i+2:], s[i+1:i+2]+"]"); k >= 0 {
				i += 2 + k + 1
			}
		}
	}
	return -1
}

// bracketText keeps a bracket expression that every reader of globs takes the
// same way, and widens any other to "?": a larger set of paths is never
// judged more loosely.
func bracketText(body string) string {
	inner := strings.TrimLeft(body, "!^")
	if inner == "" || strings.ContainsAny(inner, "[]\\\x00!^/") {
		return "?"
	}
	for i := 0; i < len(inner); i++ {
		if inner[i] >= 0x80 {
			return "?"
		}
	}
	if body[0] == '!' || body[0] == '^' {
		return "[^" + inner + "]"
	}
	return "[" + inner + "]"
}

// unmark drops the marks of a segment that is no glob after all.
func unmark(raw string) string { return strings.ReplaceAll(raw, "\x00", "") }

// globChars are the characters that mean something in glob text.
const globChars = `*?[]{}\`

// escape quotes a plain name for glob text.
func escape(s string) string {
	if !strings.ContainsAny(s, globChars) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		escapeByte(&b, s[i])
	}
	return b.String()
}

func escapeByte(b *strings.Builder, c byte) {
	if strings.IndexByte(globChars, c) >= 0 {
		b.WriteByte('\\')
	}
	b.WriteByte(c)
}

// Quote is a plain path as a pattern that matches just it.
func Quote(path string) string {
	q := escape(path)
	if strings.Contains(q, "$") {
		q = strings.ReplaceAll(q, "$", `\$`)
	}
	if q != "" && strings.IndexByte("@!~", q[0]) >= 0 {
		q = `\` + q
	}
	return q
}
