package floor

import (
	"maps"
	"slices"

	"assent/internal/spell"
)

// NearTool is the built-in tool that an unknown name was probably meant to be,
// "" when the name is a tool's or is near none.
func NearTool(name string) string {
	if _, known := tools[name]; known || len(name) < 3 {
		return ""
	}
	near := nearest(name, slices.Sorted(maps.Keys(tools)))
	if near == "" || spell.Distance(name, near) > 2 {
		return ""
	}
	return near
}
