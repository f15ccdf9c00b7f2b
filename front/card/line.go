package card

import (
	"strings"
	"unicode/utf8"

	"assent/internal/drawn"
)

// The inks beside those of results.
const (
	inkMark    drawn.Ink = "1;35" // what was made visible
	inkHunk    drawn.Ink = "36"
	inkAdded   drawn.Ink = "32"
	inkRemoved drawn.Ink = "31"
	inkWord    drawn.Ink = "34" // keywords
	inkString  drawn.Ink = "36"
	inkNote    drawn.Ink = "2" // comments of a program
)

// Segment is a part of a line in one colour. Its text is fit for a terminal.
type Segment struct {
	Text string
	Ink  drawn.Ink
	// whole says that it is not broken over two lines.
	whole bool
}

// Line is one line of a card.
type Line []Segment

// Text is the line as it is written, with colours or without.
func (l Line) Text(coloured bool) string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Ink.Of(coloured, s.Text))
	}
	return b.String()
}

// Columns is how many columns the line takes.
func (l Line) Columns() int {
	n := 0
	for _, s := range l {
		n += columns(s.Text)
	}
	return n
}

// Text is a card as it is written.
func Text(lines []Line, coloured bool) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l.Text(coloured), " ") + "\n")
	}
	return b.String()
}

// columns is how many columns a text takes that is fit for a terminal.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += width(r)
	}
	return n
}

// width is how many columns a character takes.
func width(r rune) int {
	if ' ' <= r && r < 0x7f {
		return 1
	}
	_, w := drawn.Cell(r, 2, 0)
	return w
}

// fold breaks what stands on a line into pieces of so many columns, nothing left
// out; at blanks where words says so, and a blank at the break is dropped then.
// most 0 is no limit. The first piece has so many columns more.
func foldFirst(line []Segment, most, more int, words bool) [][]Segment {
	if most <= 0 {
		return [][]Segment{line}
	}
	most = max(most, 4)
	var out [][]Segment
	var now []Segment
	at := -max(0, more) // columns of now
	put := func(s Segment, n int) {
		if s.Text == "" {
			return
		}
		if k := len(now) - 1; k >= 0 && now[k].Ink == s.Ink && !now[k].whole && !s.whole {
			now[k].Text += s.Text
		} else {
			now = append(now, s)
		}
		at += n
	}
	next := func() {
		out = append(out, now)
		now, at = nil, 0
	}
	for _, s := range line {
		if s.whole {
			n := columns(s.Text)
			if n <= most || at+n <= most {
				if at+n > most {
					next()
				}
				put(s, n)
				continue
			}
			s.whole = false
		}
		if words {
			for word := range strings.SplitAfterSeq(s.Text, " ") {
				n := columns(strings.TrimSuffix(word, " "))
				if now != nil && at+n > most && n <= most {
					next()
				}
				if at+n <= most {
					if at+columns(word) > most {
						word = strings.TrimSuffix(word, " ")
					}
					put(Segment{word, s.Ink, false}, columns(word))
					continue
				}
				hard(word, s.Ink, most, &at, put, next)
			}
			continue
		}
		hard(s.Text, s.Ink, most, &at, put, next)
	}
	if now != nil || out == nil {
		next()
	}
	return out
}

// fold is the same with all of them alike.
func fold(line []Segment, most int, words bool) [][]Segment { return foldFirst(line, most, 0, words) }

// hard breaks a text wherever a line is full.
func hard(text string, ink drawn.Ink, most int, at *int, put func(Segment, int), next func()) {
	start, n := 0, 0
	for i, r := range text {
		w := width(r)
		if *at+n+w > most {
			put(Segment{text[start:i], ink, false}, n)
			next()
			start, n = i, 0
		}
		n += w
	}
	put(Segment{text[start:], ink, false}, n)
}

// cutTo is a text of the card's own, no wider than so many columns.
func cutTo(s string, most int) string {
	n := 0
	for i, r := range s {
		if n += width(r); n > most {
			for i > 0 && n > most-1 {
				last, size := utf8.DecodeLastRuneInString(s[:i])
				n -= width(last)
				i -= size
			}
			return s[:i] + "…"
		}
	}
	return s
}
