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

// nearest is the name most like a word that is none of them, "" when none is
// like it.
func nearest(word string, names []string) string {
	best, least := "", 1+len(word)/3
	for _, n := range names {
		if d := spell.Distance(strings.ToLower(word), strings.ToLower(n)); d <= least && d < len(n) {
			if d < least || best == "" {
				best, least = n, d
			}
		}
	}
	return best
}

func didYouMean(word string, names []string) string {
	if n := nearest(word, names); n != "" {
		return "did you mean " + n + "?"
	}
	return ""
}
