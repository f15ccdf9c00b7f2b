// Package drawn makes text of others fit for a terminal: nothing in it can move
// the cursor, hide what stands beside it or turn its direction. It also counts
// the columns that text takes, and breaks it into lines.
//
// Whatever a call or an agent says goes through here before a person sees it.
// Start at [Draw] and [OneLine].
package drawn

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"assent/internal/oneline"
)

// tabWidth is how far apart tab stops are on every terminal.
const tabWidth = 8

// Line is one line of text made fit for a terminal: what would move the
// cursor, hide or reorder text is written out, so that what is seen is what is
// judged.
type Line struct {
	Text string
	// At is the column where each byte of the line is drawn, one more entry
	// than there are bytes.
	At []int
}

// Draw makes a line without its line feed fit for a terminal.
func Draw(line string) Line {
	d := Line{At: make([]int, 0, len(line)+1)}
	var b strings.Builder
	column := 0
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		shown, width := Cell(r, size, column)
		for range size {
			d.At = append(d.At, column)
		}
		b.WriteString(shown)
		column += width
		i += size
	}
	d.At = append(d.At, column)
	d.Text = b.String()
	return d
}

// Cell is how a character is shown at a column and how many columns that
// takes.
func Cell(r rune, size, column int) (shown string, width int) {
	switch {
	case r == utf8.RuneError && size <= 1:
		return "�", 1
	case r == '\t':
		width = tabWidth - column%tabWidth
		return strings.Repeat(" ", width), width
	case r < 0x20:
		return string(0x2400 + r), 1 // the pictures of control characters
	case r == 0x7f:
		return "␡", 1
	case oneline.Unseen(r):
		// Invisible characters and those that turn the direction of text.
		shown = fmt.Sprintf("<U+%04X>", r)
		return shown, len(shown)
	case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r):
		return string(r), 0
	case r >= 0x1100 && (unicode.Is(wide, r) || eastAsian(r)):
		return string(r), 2
	}
	return string(r), 1
}

// eastAsian reports whether a character takes two columns by the Unicode standard.
func eastAsian(r rune) bool {
	kind := width.LookupRune(r).Kind()
	return kind == width.EastAsianWide || kind == width.EastAsianFullwidth
}

// wide are the characters that take two columns in newer versions of the standard
// than the tables above have, and pictures of which some are not assigned yet.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x2630, Hi: 0x2637, Stride: 1}, {Lo: 0x268a, Hi: 0x268f, Stride: 1}, {Lo: 0x4dc0, Hi: 0x4dff, Stride: 1}},
	R32: []unicode.Range32{
		{Lo: 0x16fe0, Hi: 0x18dff, Stride: 1}, {Lo: 0x1b000, Hi: 0x1b2ff, Stride: 1}, {Lo: 0x1d300, Hi: 0x1d376, Stride: 1}, {Lo: 0x1f300, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, {Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1}, {Lo: 0x1fa70, Hi: 0x1faff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// OneLine makes a text fit for one line of output, cut when it is long.
func OneLine(s string, limit int) string {
	cut := false
	if len(s) > 4*limit {
		s, cut = s[:4*limit], true
	}
	var b strings.Builder
	column := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		shown, width := Cell(r, size, column)
		if r == '\t' {
			shown, width = " ", 1
		}
		if column += width; column > limit {
			cut = true
			break
		}
		b.WriteString(shown)
	}
	if cut {
		return b.String() + "…"
	}
	return b.String()
}

// Columns is how many columns a text takes that is fit for a terminal.
func Columns(s string) int {
	columns := 0
	for _, r := range s {
		_, width := Cell(r, 2, columns)
		columns += width
	}
	return columns
}

// Wrap breaks a text that is fit for a terminal into lines of so many
// columns, at blanks where it can.
func Wrap(s string, width int) []string {
	width = max(width, 8)
	var lines []string
	for {
		end, blank, columns, whole := 0, -1, 0, true
		for i, r := range s {
			_, w := Cell(r, 2, columns)
			if columns += w; columns > width {
				if r == ' ' {
					blank = i
				}
				whole = false
				break
			}
			if r == ' ' {
				blank = i
			}
			end = i + utf8.RuneLen(r)
		}
		switch {
		case whole:
			return append(lines, s)
		case blank > 0 && strings.TrimSpace(s[:blank]) != "":
			lines = append(lines, s[:blank])
			s = s[blank+1:]
		default:
			lines = append(lines, s[:end])
			s = s[end:]
		}
	}
}

// Middle leaves out the middle of a text that is longer than so many bytes:
// its beginning and its end are kept.
func Middle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	half := limit / 2
	return strings.ToValidUTF8(s[:half], "") + " … " + strings.ToValidUTF8(s[len(s)-half:], "")
}
