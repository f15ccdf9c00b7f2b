package floor

import (
	"fmt"
	"slices"
	"strings"

	"assent/internal/spell"
)

// Problem is one thing that is wrong with a policy document.
type Problem struct {
	File         string
	Line, Column int
	// Message says what is wrong, Hint what to write instead.
	Message, Hint string
}

// String is "file:line:column: message (hint)".
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// Problems is everything that is wrong with a policy document, in the order
// of the document. It is the error of [ParsePolicy].
type Problems []Problem

// Error is one problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return ps
}

func didYouMean(word string, names []string) string {
	if n := spell.Near(word, names); n != "" {
		return "did you mean " + n + "?"
	}
	return ""
}
