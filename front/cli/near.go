package cli

import (
	"fmt"
	"slices"
	"strings"

	"assent/internal/spell"
)

// nearest is the known name that an unknown one was probably meant to be, ""
// when none is near.
func nearest(name string, known []string) string {
	switch strings.ToLower(name) {
	case "args", "input":
		if slices.Contains(known, "arguments") {
			return "arguments"
		}
	}
	return spell.Near(name, known)
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
