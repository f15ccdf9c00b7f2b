package spell

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		want int
	}{
		"same":      {"allow", "allow", 0},
		"swapped":   {"allwo", "allow", 1},
		"dropped":   {"alow", "allow", 1},
		"inserted":  {"alllow", "allow", 1},
		"changed":   {"ablow", "allow", 1},
		"all-of-it": {"", "deny", 4},
		"two":       {"wirt", "write", 2},
		"too-long":  {strings.Repeat("a", 65), "a", 64},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Distance(c.a, c.b); got != c.want {
				t.Errorf("%q to %q: got %d, want %d", c.a, c.b, got, c.want)
			}
			if got := Distance(c.b, c.a); got != c.want {
				t.Errorf("%q to %q: got %d, want %d", c.b, c.a, got, c.want)
			}
		})
	}
}
