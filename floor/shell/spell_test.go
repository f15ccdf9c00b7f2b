package shell

import (
	"testing"

	"assent/floor/commands"
)

// A command is shown as one could type it, whatever way it was typed in.
func TestSpelled(t *testing.T) {
	for _, c := range []struct{ reason, text, want string }{
		{"a plain word", "a.b-c_d/e=f:g@h%i+j,k", "a.b-c_d/e=f:g@h%i+j,k"},
		{"nothing", "", "''"},
		{"a blank", "hello world", "'hello world'"},
		{"a single quote", "it's so", `"it's so"`},
		{"both quotes", `it's "so"`, `'it'\''s "so"'`},
		{"what the shell would expand", "$HOME", "'$HOME'"},
		{"a star that is none", "*.go", "'*.go'"},
		{"the value of an option", "--include=*.go", "--include='*.go'"},
		{"a pattern", commands.Star + ".go", "*.go"},
		{"a pattern behind a blank", "my dir/" + commands.Star, "'my dir/'*"},
		{"a set of letters", "x" + commands.Set + "a-c]y z", "x[a-c]'y z'"},
		{"a part that nobody can tell", "a b" + commands.Unknown, "'a b'…"},
		{"a test", "[", "["},
		{"where find and xargs put a name", "{}", "{}"},
		{"a list of the shell", "{a,b}", "'{a,b}'"},
		{"a comment", "#x", "'#x'"},
		{"a number sign", "a#x", "a#x"},
		{"a home that is none", "~", "'~'"},
		{"a revision", "HEAD~1", "HEAD~1"},
	} {
		if got := spelled(c.text); got != c.want {
			t.Errorf("%s: %q is shown as %s, want %s", c.reason, c.text, got, c.want)
		}
	}
}
