package paths

import "strings"

// Expand replaces a leading "~" and the variables "$NAME" and "${NAME}" by
// what is known of them, for tools and patterns that do so themselves; the
// shell reader has its own rules. What is not known becomes the mark of an
// unknown value, so that [Place.Prepare] gives the unknown path.
func (p *Place) Expand(path string) string {
	if path == "" || path[0] != '~' && strings.IndexByte(path, '$') < 0 && strings.IndexByte(path, 0) < 0 {
		return path
	}
	var b strings.Builder
	rest := path
	if rest[0] == '~' {
		name, after := rest[1:], ""
		if i := strings.IndexByte(name, '/'); i >= 0 {
			name, after = name[:i], name[i:]
		}
		if home, ok := p.Var("HOME"); ok && name == "" {
			b.WriteString(home)
			rest = after
		} else {
			b.WriteString("\x00$")
			rest = after
		}
	}
	for i := 0; i < len(rest); {
		switch c := rest[i]; c {
		case 0:
			b.WriteString("\x00$")
			i++
		case '$':
			name, n := varName(rest[i+1:])
			if n == 0 {
				b.WriteByte(c)
				i++
				continue
			}
			if v, ok := p.Var(name); ok && strings.IndexByte(v, 0) < 0 {
				b.WriteString(v)
			} else {
				b.WriteString("\x00$")
			}
			i += 1 + n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// Var is the value of a variable, if it is known.
func (p *Place) Var(name string) (string, bool) {
	var v string
	switch name {
	case "HOME":
		v = p.Home
	case "PWD":
		v = p.Cwd
	default:
		v = p.Vars[name]
	}
	return v, v != ""
}

// varName reads NAME or {NAME} after a "$" and tells how many bytes that was,
// 0 when there is no name. Anything else in braces has an empty name: it is
// nobody's variable and stays unknown.
func varName(s string) (name string, n int) {
	if strings.HasPrefix(s, "{") {
		end := strings.IndexByte(s, '}')
		if end < 0 {
			return "", len(s)
		}
		if body := s[1:end]; len(body) == nameLen(body) {
			return body, end + 1
		}
		return "", end + 1
	}
	n = nameLen(s)
	return s[:n], n
}

func nameLen(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '_' && !isLetter(c) && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(s)
}
