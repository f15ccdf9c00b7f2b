package shell

import (
	"slices"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func TestBracket(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"[a]b", 3}, {"[abc]", 5}, {"[]a]", 4}, {"[!]a]", 5}, {"[^a]", 4}, {"[[:alpha:]x]", 12}, {"[[.a.]]", 7},
		{"[a\\]b]", 6}, {"[a", 0}, {"[", 0}, {"[]", 0}, {"[a/b]", 0},
	} {
		if got := bracket(c.text); got != c.want {
			t.Errorf("bracket(%q) = %d, want %d", c.text, got, c.want)
		}
	}
}

func TestAnsi(t *testing.T) {
	for in, want := range map[string]string{
		`plain`: "plain", `\n\t\r\a\b\e\f\v`: "\n\t\r\a\b\x1b\f\v", `\\\'\"\?`: `\'"?`, `\x41`: "A", `\x4`: "\x04", `\xzz`: `\xzz`,
		`\101\60`: "A0", `\u41\u00e9`: "Aé", `\U0001F600`: "\U0001F600", `\cA`: "\x01", `a\0b`: "a", `a\x00b`: "a", `\q`: `\q`, `a\`: `a\`,
	} {
		if got := ansi(in); got != want {
			t.Errorf("ansi(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDquoted(t *testing.T) {
	for in, want := range map[string]string{
		`a`: "a", `\$x`: "$x", "\\`": "`", `\"`: `"`, `\\`: `\`, `\a`: `\a`, "a\\\nb": "ab",
	} {
		if got := dquoted(in); got != want {
			t.Errorf("dquoted(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSequence(t *testing.T) {
	lit := func(s string) *syntax.Word {
		return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}}
	}
	for _, c := range []struct {
		elems []string
		want  []string
	}{
		{[]string{"1", "3"}, []string{"1", "2", "3"}},
		{[]string{"3", "1"}, []string{"3", "2", "1"}},
		{[]string{"1", "7", "3"}, []string{"1", "4", "7"}},
		{[]string{"1", "3", "-1"}, []string{"1", "2", "3"}},
		{[]string{"1", "2", "0"}, []string{"1", "2"}},
		{[]string{"08", "10"}, []string{"08", "09", "10"}},
		{[]string{"-1", "01"}, []string{"-1", "00", "01"}},
		{[]string{"a", "e", "2"}, []string{"a", "c", "e"}},
		{[]string{"a", "3x"}, nil},
		{[]string{"1", "100000"}, nil},
		{[]string{"1"}, nil},
	} {
		b := &syntax.BraceExp{Sequence: true}
		for _, e := range c.elems {
			b.Elems = append(b.Elems, lit(e))
		}
		got, fine := sequence(b, maxFields)
		if fine != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, %v, want %v", c.elems, got, fine, c.want)
		}
	}
}
