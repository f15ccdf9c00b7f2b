package shell

import (
	"testing"

	"assent/floor/commands"
)

// What printf prints is known where every shell prints the same.
func TestFormat(t *testing.T) {
	for _, c := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"nothing", nil, ""},
		{"text", []string{"a b"}, "a b"},
		{"a word", []string{"%s-", "a"}, "a-"},
		{"more words than places", []string{"%s,", "a", "b"}, "a,b,"},
		{"fewer words than places", []string{"%s%s.", "a"}, "a."},
		{"words and no place", []string{"x", "a"}, "x"},
		{"a percent sign", []string{"100%%"}, "100%"},
		{"escapes", []string{`a\tb\n`}, "a\tb\n"},
		{"octal", []string{`\101\0101`}, "A\b1"},
		{"nul", []string{`a\0b`}, "a" + nul + "b"},
		{"a number", []string{"%d", "5"}, commands.Words},
		{"a width", []string{"%5s", "a"}, commands.Words},
		{"a format nobody knows", []string{commands.Unknown, "a"}, commands.Words},
		{"a word nobody knows", []string{"%s/b", commands.Unknown}, commands.Unknown + "/b"},
	} {
		var args []word
		for _, a := range c.args {
			args = append(args, word{text: a})
		}
		if got := format(args); got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestBacks(t *testing.T) {
	for path, want := range map[string]bool{"..": false, "../..": false, "../x": false, "x": false, "x/..": true, "x/../y": true, "../x/..": true, "...": false} {
		if got := backs(path); got != want {
			t.Errorf("backs(%q) = %v", path, got)
		}
	}
}
