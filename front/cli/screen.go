package cli

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// screen is what is known of where output for people goes.
type screen struct {
	paint paint
	// width is how many columns a line may have, 0 when that is not known: then
	// lines are as long as they are.
	width int
}

// minWidth is the narrowest screen that output is fitted to.
const minWidth = 30

// screenOf looks at an output. COLUMNS tells the width where it is set.
func screenOf(w io.Writer) screen {
	s := screen{paint: paintFor(w)}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.width = n
	} else if f, ok := fileOf(w); ok && terminal(f) {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
			s.width = int(size.Col)
		}
	}
	if s.width > 0 {
		s.width = max(s.width, minWidth)
	}
	return s
}

// columnsOf is how many columns a text takes that is fit for a terminal.
func columnsOf(s string) int {
	columns := 0
	for _, r := range s {
		_, width := cell(r, 2, columns)
		columns += width
	}
	return columns
}

// wrap breaks a text that is fit for a terminal into lines of so many
// columns, at blanks where it can.
func wrap(s string, width int) []string {
	width = max(width, 8)
	var lines []string
	for columnsOf(s) > width {
		end, blank, columns := 0, -1, 0
		for i, r := range s {
			_, w := cell(r, 2, columns)
			if columns += w; columns > width {
				if r == ' ' {
					blank = i
				}
				break
			}
			if r == ' ' {
				blank = i
			}
			end = i + utf8.RuneLen(r)
		}
		if blank > 0 && strings.TrimSpace(s[:blank]) != "" {
			lines = append(lines, s[:blank])
			s = s[blank+1:]
			continue
		}
		lines = append(lines, s[:end])
		s = s[end:]
	}
	return append(lines, s)
}

// hang writes a text behind a first indentation, its further lines behind
// another one.
func hang(b *strings.Builder, first, text, then string, width int) {
	lines := []string{text}
	if width > 0 {
		lines = wrap(text, width-len(then))
	}
	for i, line := range lines {
		if i > 0 {
			first = then
		}
		b.WriteString(first + line + "\n")
	}
}

// middle leaves out the middle of a text that is longer than so many bytes:
// its beginning and its end are kept.
func middle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	half := limit / 2
	return strings.ToValidUTF8(s[:half], "") + " … " + strings.ToValidUTF8(s[len(s)-half:], "")
}
