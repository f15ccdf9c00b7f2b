package shell

import (
	"strings"

	"assent/floor/commands"
)

// show writes the words of a command as one would type them: what a quote kept
// together or took the meaning from is quoted, and a pattern is not.
func (r *reader) show(ws []word) string {
	if len(ws) == 1 {
		return spelled(ws[0].text)
	}
	if text, same := r.typed(ws); same {
		return text
	}
	n := len(ws)
	for i := range ws {
		n += len(ws[i].text)
	}
	var b strings.Builder
	b.Grow(n)
	for i := range ws {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(spelled(ws[i].text))
	}
	return b.String()
}

// typed is the piece of the call's text where the words stand, if they are
// spelled there as show would spell them.
func (r *reader) typed(ws []word) (text string, same bool) {
	span := spanOf(ws)
	if span.Start < 0 || span.Start > span.End || span.End > len(r.whole) {
		return "", false
	}
	text = r.whole[span.Start:span.End]
	rest := text
	for i := range ws {
		if i > 0 {
			if rest, same = strings.CutPrefix(rest, " "); !same {
				return "", false
			}
		}
		if rest, same = strings.CutPrefix(rest, spelled(ws[i].text)); !same {
			return "", false
		}
	}
	return text, rest == ""
}

// spelled is a word as it could be typed, with the marks of what nobody can
// tell as display writes them.
func spelled(s string) string {
	if s == "" {
		return "''"
	}
	if bare(s, true) && commands.Known(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != commands.Mark {
			end := strings.IndexByte(s[i:], commands.Mark)
			if end < 0 {
				end = len(s) - i
			}
			b.WriteString(quotedText(s[i:i+end], i == 0))
			i += end
			continue
		}
		end := min(i+2, len(s))
		switch {
		case strings.HasPrefix(s[i:], commands.Set):
			if n := strings.IndexByte(s[i:], ']'); n > 0 {
				end = i + n + 1
			}
		case strings.HasPrefix(s[i:], named):
			if end = len(s); strings.IndexByte(s[i+1:], commands.Mark) >= 0 {
				end = i + 1 + strings.IndexByte(s[i+1:], commands.Mark)
			}
		}
		b.WriteString(display(s[i:end]))
		i = end
	}
	return b.String()
}

// quotedText is text in the quotes that it needs.
func quotedText(s string, first bool) string {
	switch {
	case bare(s, first):
		return s
	case first && strings.IndexByte(s, '=') > 0 && bare(s[:strings.IndexByte(s, '=')], true): // --include='*.go'
		i := strings.IndexByte(s, '=') + 1
		return s[:i] + quotedText(s[i:], false)
	case strings.IndexByte(s, '\'') >= 0 && !strings.ContainsAny(s, "\"$`\\!"):
		return `"` + s + `"`
	}
	return quote(s)
}

// bare reports whether text means itself without quotes. A bracket or a brace
// alone does; what could be a pattern or a list does not.
func bare(s string, first bool) bool {
	if s == "[" || s == "]" || s == "{}" || s == "!" {
		return true
	}
	for i := range len(s) {
		switch c := s[i]; c {
		case ' ', '\t', '\n', '\r', '\'', '"', '\\', '$', '`', '*', '?', '[', ';', '|', '&', '<', '>', '(', ')':
			return false
		case '#', '~':
			if i == 0 && first {
				return false
			}
		case '{':
			if strings.ContainsAny(s[i:], ",.") && strings.IndexByte(s[i:], '}') > 0 {
				return false
			}
		}
	}
	return true
}
