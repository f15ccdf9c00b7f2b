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

func TestNear(t *testing.T) {
	names := []string{"now", "Task", "code", "run", "id", "allow", "arguments", "WebFetch", "shell"}
	for name, c := range map[string]struct{ word, want string }{
		"swapped":                   {"allwo", "allow"},
		"a short word, swapped":     {"rnu", "run"},
		"a short word, another one": {"ran", ""},
		"half of it":                {"Foo", ""},
		"half of a longer one":      {"nope", ""},
		"large letters":             {"webfetch", "WebFetch"},
		"one in five":               {"shall", "shell"},
		"three in nine":             {"argmnets", "arguments"},
		"nothing alike":             {"frobnicate", ""},
		"too short to be a slip":    {"ix", ""},
		"empty":                     {"", ""},
		"the nearest of several":    {"tsak", "Task"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Near(c.word, names); got != c.want {
				t.Errorf("%q: got %q, want %q", c.word, got, c.want)
			}
		})
	}
}
