package cli

import (
	"io"
	"os"
	"strconv"
	"strings"

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
