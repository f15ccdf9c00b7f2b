package cli

import (
	"fmt"
	"strings"

	"assent/internal/spell"
)

// nearest is the known name that an unknown one was probably meant to be, ""
// when none is near.
func nearest(name string, known []string) string {
	best, at := "", 3
	lower := strings.ToLower(name)
	for _, k := range known {
		if k == "arguments" && (lower == "args" || lower == "input") {
			return k
		}
		limit := 2
		if len(k) <= 4 {
			limit = 1
		}
		if len(lower) <= 2 {
			limit = 0
		}
		if d := spell.Distance(lower, strings.ToLower(k)); d <= limit && d < at {
			best, at = k, d
		}
	}
	return best
}

// meant asks about the known name that is nearest, in words for the end of a
// sentence; "" when none is near.
func meant(name string, known []string) string {
	near := nearest(name, known)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", oneLine(near, maxTarget))
}
