package outline_test

import (
	"fmt"
	"strings"
	"testing"

	"assent/internal/outline"
)

// shown writes a node so that tests can be read.
func shown(n outline.Node) string {
	switch n.Kind {
	case outline.Scalar:
		if n.Quoted {
			return fmt.Sprintf("%q", n.Text)
		}
		return n.Text
	case outline.List:
		var parts []string
		for _, v := range n.Values {
			parts = append(parts, shown(v))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case outline.Mapping:
		var parts []string
		for i, v := range n.Values {
			parts = append(parts, shown(n.Keys[i])+": "+shown(v))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "nothing"
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ reason, text, want string }{
		{"mapping", "a: b\nc: d\n", "{a: b, c: d}"},
		{"nested", "a:\n  b:\n    c: d\n  e: f\n", "{a: {b: {c: d}, e: f}}"},
		{"list", "a:\n  - b\n  - c: d\n    e: f\n  - [g, h]\n", "{a: [b, {c: d, e: f}, [g, h]]}"},
		{"brackets over lines", "a: {b: [c,\n   d], e: f}\n", "{a: {b: [c, d], e: f}}"},
		{"plain text over lines", "a: b\n  c\n  d\ne: f\n", "{a: b c d, e: f}"},
		{"comments", "# x\na: b # y\n  # z\nc: d#e\n", "{a: b, c: d#e}"},
		{"comment in a list", "a: [b, # x\n  c]\n", "{a: [b, c]}"},
		{"quotes", "a: \"b: \\\"c\\\" # d\"\n'e f': 'g''\\n'\n", `{a: "b: \"c\" # d", "e f": "g'\\n"}`},
		{"nothing", "a:\nb: null\nc: \"null\"\nd: ~\n", `{a: nothing, b: nothing, c: "null", d: nothing}`},
		{"colons in names", "python:venv: a:b\n", "{python:venv: a:b}"},
		{"anchor and alias", "a: &x {b: c}\nd: *x\n", "{a: {b: c}, d: {b: c}}"},
		{"anchor above a block", "a: &x\n  b: c\nd: *x\n", "{a: {b: c}, d: {b: c}}"},
		{"merge", "a: &x {b: c, d: e}\nf:\n  <<: *x\n  d: g\n", "{a: {b: c, d: e}, f: {b: c, d: g}}"},
		{"options", "flag: -1 --x|-y - +z\n", "{flag: -1 --x|-y - +z}"},
	} {
		n, ok := outline.Read(c.text)
		if have := shown(n); !ok || have != c.want {
			t.Errorf("%s: %q\n have %s, %t\n want %s", c.reason, c.text, have, ok, c.want)
		}
	}
}

// What is not read here, or could be understood in two ways, is left to the
// full reader.
func TestReadLeaves(t *testing.T) {
	for reason, text := range map[string]string{
		"no line feed at the end": "a: b", "tab": "a:\tb\n", "carriage return": "a: b\r\n", "empty": "\n", "literal": "a: |\n  b\n",
		"folded": "a: >\n  b\n", "tag": "a: !x b\n", "unknown alias": "a: *x\n", "anchor twice": "a: &x b\nc: &x d\n", "documents": "a: b\n---\nc: d\n",
		"quoted over lines": "a: \"b\n  c\"\n", "odd escape": "a: \"\\x41\"\n", "open bracket": "a: [b\n", "brackets that differ": "a: [b}\n",
		"key alone in brackets": "a: {b}\n", "text behind brackets": "a: [b] c\n", "text behind quotes": "a: \"b\" c\n", "colon in a value": "a: b: c\n",
		"deeper without reason": "a: b\nc: d\n    e: f\n", "list at the height of its key": "a:\n- b\n", "percent": "a: %b\n", "complex key": "? a\n: b\n",
		"merge of a text": "a: &x b\nc:\n  <<: *x\n", "list of merges": "a: &x {b: c}\nd:\n  <<: [*x]\n", "comma twice": "a: [b,, c]\n", "nesting without end": "a: " + strings.Repeat("[", 100) + "\n",
	} {
		if n, ok := outline.Read(text); ok {
			t.Errorf("%s: %q was read as %s", reason, text, shown(n))
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"a: b\n", "a:\n  - {b: [c, 'd']}\n", "a: &x {b: c}\nd: {<<: *x}\n", "a: b # c\n  d\n", "\"a\": \"b\\\"\"\n", "- a\n-\n", "a: {b:\n c}\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { outline.Read(text) }) // it ends, without a panic
}
