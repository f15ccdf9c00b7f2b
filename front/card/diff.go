package card

import (
	"strings"

	"assent/internal/drawn"
)

// isDiff reports whether a text is a change of files in one of the forms that
// people know.
func isDiff(text string) bool {
	for _, begin := range []string{"--- ", "diff --git ", "*** Begin Patch", "Index: "} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	// The kernel's own begin so.
	if first, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(first, "diff ") && strings.HasPrefix(rest, "--- ") {
		return true
	}
	return strings.HasPrefix(text, "@@ ")
}

// fileOf is the file that a header of a diff names, "" for a line that is none.
func fileOf(line string) string {
	for _, begin := range []string{"+++ ", "*** Add File: ", "*** Update File: ", "*** Delete File: "} {
		if name, ok := strings.CutPrefix(line, begin); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// changed are the lines of a diff: signs say what each is, colours repeat it.
type changed struct {
	lang *language
	file string
}

// line is a line of a diff in its colours.
func (c *changed) line(text string, plain bool) []Segment {
	if file := fileOf(text); file != "" {
		c.file, c.lang = file, languageOf(file)
		return see(text, style{ink: drawn.Bold, plain: plain})
	}
	switch {
	case strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "*** "), strings.HasPrefix(text, "diff "), strings.HasPrefix(text, "index "):
		return see(text, style{ink: drawn.Bold, plain: plain})
	case strings.HasPrefix(text, "@@"):
		return see(text, style{ink: inkHunk, plain: plain})
	}
	return c.exchanged(text, plain)
}

// exchanged is a line that its sign alone tells about.
func (c *changed) exchanged(text string, plain bool) []Segment {
	sign, rest := "", text
	if text != "" && strings.IndexByte("+- ", text[0]) >= 0 {
		sign, rest = text[:1], text[1:]
	}
	switch {
	case sign == "+":
		return c.put("+", "added: ", inkAdded, rest, style{ink: inkAdded, spans: c.lang.spans(rest), plain: plain})
	case sign == "-":
		return c.put("-", "removed: ", inkRemoved, rest, style{ink: inkRemoved, plain: plain})
	case sign == " ":
		return c.put(" ", "as it is: ", drawn.None, rest, style{spans: c.lang.spans(rest), plain: plain})
	}
	return see(text, style{ink: drawn.Faint, plain: plain})
}

func (c *changed) put(sign, words string, ink drawn.Ink, rest string, how style) []Segment {
	if how.plain {
		sign = words
	}
	return append([]Segment{{sign, ink, true}}, see(rest, how)...)
}

// exchange are the lines by which one text becomes another: what they begin and
// end with alike, and between it all of the one and all of the other.
func exchange(before, after string) []string {
	a, b := linesOf(before), linesOf(after)
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	tail := 0
	for tail < len(a)-same && tail < len(b)-same && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []string
	add := func(sign string, lines []string) {
		for _, l := range lines {
			out = append(out, sign+l)
		}
	}
	add(" ", a[:same])
	add("-", a[same:len(a)-tail])
	add("+", b[same:len(b)-tail])
	add(" ", a[len(a)-tail:])
	if ended(before) != ended(after) {
		out = append(out, map[bool]string{true: "\\ its last line gets an end", false: "\\ its last line loses its end"}[ended(after)])
	}
	return out
}

func ended(text string) bool { return text == "" || strings.HasSuffix(text, "\n") }

// linesOf are the lines of a text without their line feeds. One at the end ends
// the last line and begins none.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
