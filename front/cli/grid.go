package cli

import (
	"io"
	"strings"
)

// grid is a table for people: columns under their names, the last of them as
// wide as there is room. Where there is none, each row is a few lines.
type grid struct {
	head []string
	rows [][]gridCell
}

type gridCell struct {
	text string // as it came; it is made fit for a terminal when it is drawn
	ink  ink
}

func plainCell(text string) gridCell { return gridCell{text: text} }

func (g *grid) add(cells ...gridCell) { g.rows = append(g.rows, cells) }

// The columns between columns, the widest column that others are lined up
// with, and the narrowest that the last one may get before rows are stacked.
const (
	gridGap    = 2
	gridWidest = 40
	gridLeast  = 24
)

// drawn is what is in the table, fit for a terminal, how wide its columns are, and
// how much stands before the last.
func (g *grid) drawn() (rows [][]string, widths []int, before int) {
	last := len(g.head) - 1
	widths = make([]int, len(g.head))
	for i, name := range g.head {
		widths[i] = columnsOf(name)
	}
	rows = make([][]string, len(g.rows))
	for i, row := range g.rows {
		rows[i] = make([]string, len(row))
		for j, cell := range row {
			text := oneLine(cell.text, 4*maxFull)
			if j != last {
				text = oneLine(text, gridWidest)
			}
			rows[i][j] = text
			widths[j] = max(widths[j], columnsOf(text))
		}
	}
	for _, width := range widths[:last] {
		before += width + gridGap
	}
	return rows, widths, before
}

// fits reports whether the table is drawn as one on a screen.
func (g *grid) fits(s screen) bool {
	_, widths, before := g.drawn()
	return s.width == 0 || before+min(gridLeast, widths[len(widths)-1]) <= s.width
}

// write draws the table for a screen.
func (g *grid) write(w io.Writer, s screen) error {
	rows, widths, before := g.drawn()
	var b strings.Builder
	if g.fits(s) {
		g.lines(&b, rows, widths, before, s)
	} else {
		g.stack(&b, rows, s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (g *grid) lines(b *strings.Builder, rows [][]string, widths []int, before int, s screen) {
	last := len(g.head) - 1
	pad := func(text string, width int) string { return strings.Repeat(" ", max(0, width-columnsOf(text))+gridGap) }
	for i, name := range g.head {
		b.WriteString(s.paint.faint(name))
		if i < last {
			b.WriteString(pad(name, widths[i]))
		}
	}
	b.WriteByte('\n')
	for i, row := range rows {
		for j, text := range row[:last] {
			b.WriteString(g.rows[i][j].ink.of(s.paint, text) + pad(text, widths[j]))
		}
		texts := []string{row[last]}
		if s.width > 0 {
			texts = wrap(row[last], s.width-before)
		}
		for k, text := range texts {
			if k > 0 {
				b.WriteString(strings.Repeat(" ", before))
			}
			b.WriteString(g.rows[i][last].ink.of(s.paint, text) + "\n")
		}
	}
}

// stack writes each row as lines of name and text.
func (g *grid) stack(b *strings.Builder, rows [][]string, s screen) {
	names := 0
	for _, name := range g.head {
		names = max(names, columnsOf(name))
	}
	for i, row := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for j, text := range row {
			if text == "" {
				continue
			}
			name := g.head[j]
			for k, part := range wrap(text, s.width-names-gridGap) {
				head := s.paint.faint(name) + strings.Repeat(" ", names-columnsOf(name)+gridGap)
				if k > 0 {
					head = strings.Repeat(" ", names+gridGap)
				}
				b.WriteString(head + g.rows[i][j].ink.of(s.paint, part) + "\n")
			}
		}
	}
}
