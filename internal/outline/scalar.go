package outline

import "strings"

// scalar reads a text. A plain one ends at a comment, behind a key at ":", in
// brackets at a comma or bracket; without brackets it goes on in the lines
// below that are indented deeper than what it belongs to.
func (r *reader) scalar(indent int, flow, key bool) Node {
	n := r.node(Scalar)
	switch c := r.at(0); c {
	case '"', '\'':
		n.Quoted = true
		n.Text = r.quoted(c)
		return n
	case ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '%', '@', '`', '\n':
		r.give()
	case '?', ':', '-':
		if next := r.at(1); next == ' ' || next == '\n' || flow && strings.IndexByte(",[]{}", next) >= 0 {
			r.give()
		}
	}
	n.Text = r.plain(flow, key)
	if !key {
		n.Text = r.folded(n.Text, indent, flow)
	}
	if n.Text == "" {
		r.give()
	}
	if !key && null(n.Text) {
		n.Kind, n.Text = Nothing, ""
	}
	return n
}

func null(text string) bool {
	switch text {
	case "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// plain reads the plain text on one line.
func (r *reader) plain(flow, key bool) string {
	from := r.pos
	for r.at(0) != '\n' {
		switch c := r.at(0); c {
		case ':':
			next := r.at(1)
			if next == ' ' || next == '\n' || flow && strings.IndexByte(",[]{}", next) >= 0 {
				if !key {
					r.give()
				}
				return r.trimmed(from)
			}
		case '#':
			if r.pos > from && r.text[r.pos-1] == ' ' {
				return r.trimmed(from)
			}
		case ',', '[', ']', '{', '}':
			if flow {
				return r.trimmed(from)
			}
		}
		r.pos++
	}
	return r.trimmed(from)
}

func (r *reader) trimmed(from int) string { return strings.TrimRight(r.text[from:r.pos], " ") }

// folded adds the lines below to a plain text, with a blank between. What
// stands behind a comment or an empty line is not read here.
func (r *reader) folded(text string, indent int, flow bool) string {
	var b *strings.Builder
	for {
		if r.at(0) == '#' {
			break
		}
		if r.at(0) != '\n' || r.pos >= len(r.text) {
			break // a bracket or a comma
		}
		// Look at the line below without going there.
		next := r.pos + 1
		for next < len(r.text) && r.text[next] == ' ' {
			next++
		}
		if next >= len(r.text) || r.text[next] == '\n' || r.text[next] == '#' {
			break
		}
		if flow {
			if strings.IndexByte(",]}", r.text[next]) >= 0 {
				break
			}
		} else if next-(r.pos+1) <= indent {
			break
		}
		r.newline()
		r.pos = next
		if b == nil {
			b = new(strings.Builder)
			b.WriteString(text)
		}
		more := r.plain(flow, false)
		if more == "" {
			r.give()
		}
		b.WriteByte(' ')
		b.WriteString(more)
	}
	if b != nil {
		return b.String()
	}
	return text
}

// quoted reads a quoted text of one line.
func (r *reader) quoted(q byte) string {
	r.pos++
	from := r.pos
	var b *strings.Builder
	part := func() {
		if b == nil {
			b = new(strings.Builder)
		}
		b.WriteString(r.text[from:r.pos])
	}
	for {
		switch c := r.at(0); {
		case c == '\n':
			r.give()
		case c == q && q == '\'' && r.at(1) == q:
			r.pos++
			part()
			r.pos++
			from = r.pos
		case c == q:
			text := r.text[from:r.pos]
			if b != nil {
				b.WriteString(text)
				text = b.String()
			}
			r.pos++
			return text
		case c == '\\' && q == '"':
			part()
			r.pos++
			switch c := r.at(0); c {
			case '"', '\\', '/':
				b.WriteByte(c)
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '0':
				b.WriteByte(0)
			default:
				r.give()
			}
			r.pos++
			from = r.pos
		default:
			r.pos++
		}
	}
}
