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
	return spell.Near(name, slices.Sorted(maps.Keys(tools)))
}
