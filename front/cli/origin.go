package cli

import (
	"slices"
	"strconv"
	"strings"

	"assent/floor/effect"
)

// mark is a note on a range of a text.
type mark struct {
	span effect.Span
	note string
	ink  ink
}

const (
	// maxShown is how many columns of a line are shown; a line that is longer
	// was not written by a person.
	maxShown = 400
	// maxMarks is how many notes are shown beside a text.
	maxMarks = 200
)

// origins writes the lines of a text that have marks, each mark underlined on
// a line of its own below, with its note. The other lines are left out when
// the text has many.
func origins(text string, marks []mark, p paint) string {
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
		d := draw(strings.TrimSuffix(line, "\n"))
		b.WriteString(p.faint(strings.Repeat(" ", digits-len(number))+number+" │") + " " + clip(d.text) + "\n")
		for _, m := range here {
			b.WriteString(p.faint(strings.Repeat(" ", digits)+" │") + " " + underline(d, m, start, len(line), p) + "\n")
		}
		start = end
	}
	if more > 0 {
		b.WriteString("and " + strconv.Itoa(more) + " more\n")
	}
	return b.String()
}

// clip cuts a drawn line at the last column that is shown.
func clip(s string) string {
	column := 0
	for i, r := range s {
		_, width := cell(r, 2, column)
		if column += width; column > maxShown {
			return s[:i] + "…"
		}
	}
	return s
}

// underline is the row below a line for one mark. A mark that goes on over
// the line's end says so.
func underline(d drawn, m mark, start, length int, p paint) string {
	from := d.at[min(m.span.Start-start, len(d.at)-1)]
	to := d.at[min(m.span.End-start, len(d.at)-1)]
	if from > maxShown {
		return m.ink.of(p, "column "+strconv.Itoa(from+1)) + " " + m.note
	}
	line := strings.Repeat("^", max(1, min(to, maxShown)-from))
	if m.span.End-start > length {
		line += "…"
	}
	return strings.Repeat(" ", from) + m.ink.of(p, line) + " " + m.note
}
