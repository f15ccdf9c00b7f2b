package card

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"

	"assent/internal/drawn"
	"assent/internal/oneline"
)

// The longest runs that are shown as they are. Longer ones say how long they
// are: what stands behind them would be overlooked.
const (
	mostBlanks = 24
	mostEmpty  = 8
	mostMarks  = 2 // signs upon one character
)

const tab = 8

// style is how a piece of a call's text is shown.
type style struct {
	ink   drawn.Ink
	spans []span // of colours; those of the text, in order
	edges bool   // blanks at either end are marked
	plain bool
}

// span is a range of bytes in one colour.
type span struct {
	start, end int
	ink        drawn.Ink
}

// see makes one line of a call's text fit for a terminal: whatever is not seen for
// what it is becomes a mark.
func see(line string, how style) []Segment {
	var out []Segment
	put := func(text string, ink drawn.Ink) {
		if k := len(out) - 1; k >= 0 && out[k].Ink == ink && !out[k].whole {
			out[k].Text += text
			return
		}
		out = append(out, Segment{text, ink, false})
	}
	mark := func(short, words string) {
		if how.plain {
			out = append(out, Segment{" (" + words + ") ", inkMark, true})
			return
		}
		out = append(out, Segment{"⟨" + short + "⟩", inkMark, true})
	}
	likes := alike(line)
	column, upon := 0, 0
	spans := how.spans
	end := len(line)
	if how.edges {
		end = len(strings.TrimRight(line, " "))
	}
	turned := false // within letters that are read from right to left
	for i := 0; i < len(line); {
		if turned && !turns(line[i:]) {
			turned = false
			mark("/rtl", "end of it")
		}
		for len(spans) > 0 && spans[0].end <= i {
			spans = spans[1:]
		}
		ink := how.ink
		if len(spans) > 0 && spans[0].start <= i {
			ink = spans[0].ink
		}
		if n := ordinary(line[i:]); n > 0 {
			if len(spans) > 0 {
				stop := spans[0].start
				if stop <= i {
					stop = spans[0].end
				}
				n = min(n, stop-i)
			}
			put(line[i:i+n], ink)
			column, upon = column+n, 0
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if r == ' ' {
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], " "))
			if n > mostBlanks || how.edges && (i == 0 || i >= end) {
				short := strconv.Itoa(n) + " blanks"
				if n == 1 {
					short = "1 blank"
				}
				mark(short, short)
			} else {
				put(line[i:i+n], ink)
			}
			column += n
			i += n
			upon = 0
			continue
		}
		if unicode.In(r, unicode.Mn, unicode.Me) && !oneline.Unseen(r) {
			if upon++; column == 0 || upon > mostMarks {
				mark(code(r), "sign upon a character, "+code(r))
			} else {
				put(string(r), ink)
			}
			i += size
			continue
		}
		upon = 0
		if !turned && rightToLeft(r) {
			turned = true
			mark("rtl", "right to left: ")
		}
		switch {
		case r == utf8.RuneError && size == 1:
			mark(fmt.Sprintf("byte %02X", line[i]), fmt.Sprintf("byte %02X, which is no text", line[i]))
		case r == '\t':
			n := tab - column%tab
			put(strings.Repeat(" ", n), ink)
			column += n
		case oneline.Unseen(r):
			mark(code(r), unseen(r)+", "+code(r))
		case likes[i] != 0:
			put(string(r), ink)
			mark(code(r)+" like "+string(likes[i]), code(r)+", which looks like "+string(likes[i]))
		case strange(r):
			mark(code(r), "character "+code(r))
		default:
			put(string(r), ink)
			column += width(r)
		}
		i += size
	}
	if turned {
		mark("/rtl", "end of it")
	}
	return out
}

// rightToLeft are the letters and numbers that are read from right to left. Terminals
// that know of it move what stands beside them; the Latin letters of the marks around
// them keep it where it is.
func rightToLeft(r rune) bool {
	if r < 0x590 {
		return false
	}
	p, _ := bidi.LookupRune(r)
	switch p.Class() {
	case bidi.R, bidi.AL, bidi.AN:
		return !oneline.Unseen(r)
	}
	return false
}

// turns reports whether what began from right to left goes on so.
func turns(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return rightToLeft(r) || unicode.In(r, unicode.Mn, unicode.Me) && !oneline.Unseen(r)
}

// Plainly reports whether a text of one line is seen for what it is also where nothing
// of it is marked, as in a list.
func Plainly(text string) bool {
	if strings.ContainsAny(text, "\t\n") || strings.Contains(text, "  ") {
		return false
	}
	for _, s := range see(text, style{edges: true}) {
		if s.whole {
			return false
		}
	}
	return true
}

// ordinary is how many bytes of a text begin it that are ASCII, seen, and no more
// than single blanks between them.
func ordinary(s string) int {
	n := 0
	for n < len(s) && (' ' < s[n] && s[n] < 0x7f || s[n] == ' ' && n > 0 && n+1 < len(s) && s[n-1] > ' ' && ' ' < s[n+1] && s[n+1] < 0x7f) {
		n++
	}
	return n
}

func code(r rune) string { return fmt.Sprintf("U+%04X", r) }

// strange are the characters that terminals do not agree about how wide they are.
// They would push the end of a line out of sight.
func strange(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case 0x1f1e6 <= r && r <= 0x1f1ff, // halves of flags
		0x1f3fb <= r && r <= 0x1f3ff,                           // colours of skin
		0x1160 <= r && r <= 0x11ff, 0xd7b0 <= r && r <= 0xd7ff, // parts of syllables
		0xfdd0 <= r && r <= 0xfdef, r&0xfffe == 0xfffe:
		return true
	}
	return unicode.In(r, unicode.Mc) || !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs)
}

// unseen says in words what a character is that is not seen.
func unseen(r rune) string {
	if name := names[r]; name != "" {
		return name
	}
	switch {
	case unicode.Is(unicode.Cc, r):
		return "control character"
	case unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp):
		return "another blank"
	case unicode.Is(unicode.Variation_Selector, r):
		return "variation selector"
	case unicode.Is(unicode.Co, r):
		return "character of private use"
	case 0xe0000 <= r && r <= 0xe007f:
		return "tag character"
	}
	return "invisible character"
}

var names = map[rune]string{
	0x00: "null", 0x07: "bell", 0x08: "backspace", 0x0a: "line feed", 0x0b: "vertical tab", 0x0c: "form feed", 0x0d: "carriage return", 0x1b: "escape", 0x7f: "delete", 0x9b: "control sequence",
	0xa0: "no-break blank", 0xad: "soft hyphen", 0x61c: "Arabic letter mark", 0x200b: "zero width blank", 0x200c: "zero width non-joiner", 0x200d: "zero width joiner",
	0x200e: "left-to-right mark", 0x200f: "right-to-left mark", 0x2028: "line separator", 0x2029: "paragraph separator",
	0x202a: "left-to-right embedding", 0x202b: "right-to-left embedding", 0x202c: "end of direction", 0x202d: "left-to-right override", 0x202e: "right-to-left override",
	0x2060: "word joiner", 0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate", 0x2068: "first strong isolate", 0x2069: "end of isolate", 0xfeff: "byte order mark",
}

// See is a text of a call on one line of so many columns, what is not seen for
// what it is marked, and with a sign where there is more of it. 0 is for as many
// columns as it takes.
func See(text string, most int, ink drawn.Ink) Line {
	if most > 0 && len(text) > 8*most { // no character has more bytes for a column but marks
		text = strings.ToValidUTF8(text[:8*most], "") + " …"
	}
	line := see(text, style{ink: ink})
	if most <= 0 || Line(line).Columns() <= most {
		return line
	}
	parts := fold(line, most-1, false)
	return append(Line(parts[0]), Segment{"…", ink, true})
}
