package shell

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSimpleGlobs compares the matcher of simple globs with the regular
// expression that any other glob becomes.
func TestSimpleGlobs(t *testing.T) {
	part := rapid.SampledFrom([]string{"*", "?", "a", "B", "b", ".", "/", "+", "{", "$", "a.b", "id_rsa", ".ENV", "pem"})
	name := rapid.SampledFrom(append(slices.Concat(secretNames...), append(ordinary, "", "a", "ab", "a.b", "x/a", "*", "?", "a?B")...))
	rapid.Check(t, func(t *rapid.T) {
		glob := strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "glob"), "")
		text := rapid.SampledFrom([]string{"", "./", "x/"}).Draw(t, "folder") + name.Draw(t, "name")
		if !simpleGlob(glob) {
			t.Fatalf("%q is not taken for simple", glob)
		}
		if got, want := fits(glob, text), regexMatch(globRegex(glob))(text); got != want {
			t.Fatalf("%q and %q: %v, as a regular expression %v", glob, text, got, want)
		}
	})
}

// TestNamesArePlain: what globs are compared with is what [globMatch] asks for.
func TestNamesArePlain(t *testing.T) {
	for _, name := range append(slices.Concat(secretNames...), ordinary...) {
		if strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Errorf("%q is not plain", name)
		}
	}
}
