package cli

import (
	"slices"
	"strconv"
	"strings"

	"assent/floor/effect"
	"assent/internal/drawn"
)

// mark is a note on a range of a text.
type mark struct {
	span effect.Span
	note string
	ink  ink
}

const (
	// maxShown is the longest piece of a line that is shown where the width of
	// the screen is not known.
	maxShown = 400
	// maxMarks is how many notes are shown beside a text.
	maxMarks = 200
)

// origins writes the lines of a text that have marks, each mark underlined on
// a line of its own below, with its note. The other lines are left out when
// the text has many.
func origins(text string, marks []mark, s screen) string {
	p := s.paint
	kept := make([]mark, 0, len(marks))
	for _, m := range marks {
		if !m.span.Empty() && m.span.Start >= 0 && m.span.End <= len(text) {
			kept = append(kept, m)
		}
	}
	slices.SortStableFunc(kept, func(a, b mark) int {
		if a.span.Start != b.span.Start {
			return a.span.Start - b.span.Start
		}
		return b.span.End - a.span.End
	})
	more := 0
	if len(kept) > maxMarks {
		more = len(kept) - maxMarks
		kept = kept[:maxMarks]
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	digits := len(strconv.Itoa(len(lines)))
	all := len(lines) <= 40
	columns := maxShown
	if s.width > 0 {
		columns = max(8, s.width-digits-3)
	}

	var b strings.Builder
	start, left := 0, false
	for i, line := range lines {
		end := start + len(line)
		var here []mark
		for len(kept) > 0 && kept[0].span.Start < end {
			here, kept = append(here, kept[0]), kept[1:]
		}
		if len(here) == 0 && !all {
			if !left {
				b.WriteString(p.faint(strings.Repeat(" ", digits)+" ┆") + "\n")
			}
			left = true
			start = end
			continue
		}
		left = false
		number := strconv.Itoa(i + 1)
		gutter := p.faint(strings.Repeat(" ", digits) + " │")
		d := draw(strings.TrimSuffix(line, "\n"))
		skipped := false
		for k, piece := range pieces(d.Text, columns) {
			var notes []string
			for _, m := range here {
				notes = append(notes, underline(d, m, start, len(line), piece, columns, p)...)
			}
			if len(notes) == 0 && k > 0 {
				// A piece of a long line that does nothing of its own.
				if !skipped {
					b.WriteString(p.faint(strings.Repeat(" ", digits)+" ┆") + "\n")
				}
				skipped = true
				continue
			}
			skipped = false
			head := gutter
			if k == 0 {
				head = p.faint(strings.Repeat(" ", digits-len(number)) + number + " │")
			}
			b.WriteString(head + " " + piece.text + "\n")
			for _, n := range notes {
				b.WriteString(gutter + " " + n + "\n")
			}
		}
		start = end
	}
	if more > 0 {
		b.WriteString("and " + strconv.Itoa(more) + " more\n")
	}
	return b.String()
}

// piece is a part of a drawn line that fits the screen.
type piece struct {
	text     string
	from, to int // columns of the line
}

// pieces breaks a drawn line into parts of so many columns.
func pieces(s string, columns int) []piece {
	var out []piece
	start, from, column := 0, 0, 0
	for i, r := range s {
		_, width := cell(r, 2, column)
		if column+width-from > columns {
			out = append(out, piece{s[start:i], from, column})
			start, from = i, column
		}
		column += width
	}
	return append(out, piece{s[start:], from, column})
}

// underline are the rows below a piece of a line for one mark, none when the
// mark is not in the piece. The note stands where the mark begins. A mark that
// goes on over the line's end says so.
func underline(d drawn.Line, m mark, start, length int, piece piece, columns int, p paint) []string {
	from := d.At[min(m.span.Start-start, len(d.At)-1)]
	to := max(from+1, d.At[min(m.span.End-start, len(d.At)-1)])
	last := piece.to == d.At[len(d.At)-1]
	begins := piece.from <= from && (from < piece.to || last)
	if !begins && (to <= piece.from || from >= piece.to) {
		return nil
	}
	at := max(from, piece.from) - piece.from
	end := to - piece.from
	if !last {
		end = min(end, piece.to-piece.from)
	}
	carets := strings.Repeat("^", max(1, end-at))
	if last && m.span.End-start > length {
		carets += "…"
	}
	row := strings.Repeat(" ", at) + m.ink.of(p, carets)
	switch {
	case !begins:
		return []string{row}
	case at+columnsOf(carets)+1+columnsOf(m.note) <= columns || columns == maxShown:
		return []string{row + " " + m.note}
	}
	return append([]string{row}, wrap(m.note, columns)...)
}
