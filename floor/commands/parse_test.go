package commands

import (
	"strings"
	"testing"
)

// TestParseRefuses shows every message about data that is wrong, once, with
// the place it points to.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ reason, text, want string }{
		{"no name", "x\n", `f.yaml:1: a line at column 0 must be "NAME [NAME...]:"`},
		{"an open quote", "\"x\n", `f.yaml:1: a line at column 0 must be "NAME [NAME...]:"`},
		{"a name twice", "x: {class: look}\n# more\ny x: {class: edit}\n", `f.yaml:3: "x" is described before, at f.yaml:1`},
		{"no YAML", "x: {class: look\n", "f.yaml:1: "},
		{"an empty name", "\"\": {class: look}\n", "f.yaml:1: an entry without a name"},
		{"a subcommand without a name", "x: {class: look, commands: {\"\": look}}\n", "f.yaml:1: x.commands: an entry without a name"},
		{"no mapping", "x: [look]\n", "f.yaml:1: x: an entry is a mapping or a class, not []interface {}"},
		{"no class", "x: {operands: [text]}\n", "f.yaml:1: x: no class"},
		{"an unknown class", "x: {class: peek}\n", `f.yaml:1: x: unknown class "peek"`},
		{"an unknown class in short", "x: peek\n", `f.yaml:1: x: unknown class "peek"`},
		{"an unknown style", "x: {class: look, style: loud}\n", "f.yaml:1: x: unknown style loud"},
		{"an unknown field", "x: {class: look, option: {}}\n", "f.yaml:1: x.option: unknown field"},
		{"options that are no mapping", "x: {class: look, options: [-a]}\n", "f.yaml:1: x.options: want a mapping of type to spellings"},
		{"an unknown type", "x: {class: look, options: {flags: -a}}\n", `f.yaml:1: x.options: unknown type "flags"`},
		{"an unknown further type", "x: {class: look, options: {text+flag: -a}}\n", `f.yaml:1: x.options: unknown type "text+flag"`},
		{"marks on several types", "x: {class: look, options: {text+read?: -a}}\n", `f.yaml:1: x.options: unknown type "text+read?"`},
		{"a spelling that is none", "x: {class: look, options: {flag: a}}\n", `f.yaml:1: x.options: "a" is not an option`},
		{"a spelling twice", "x: {class: look, options: {flag: -a, text: -a}}\n", `f.yaml:1: x.options: option "-a" appears twice`},
		{"an index of a subcommand", "x: {bare: look, commands: {y: {class: fetch, index: example.com}}}\n", "f.yaml:1: y.index: only a program has an index"},
		{"operands that are no list", "x: {class: look, operands: {a: b}}\n", "f.yaml:1: x.operands: want a list of types"},
		{"an unknown operand", "x: {class: look, operands: [flag]}\n", `f.yaml:1: x.operands: unknown operand type "flag"`},
		{"two repeated operands", "x: {class: look, operands: [read..., write...]}\n", "f.yaml:1: x.operands: more than one repeated operand"},
		{"obeyed files that are no text", "x: {class: look, obeys: [a]}\n", "f.yaml:1: x.obeys: want the names of files, or none"},
		{"no obeyed files", "x: {class: look, obeys: ' '}\n", "f.yaml:1: x.obeys: want the names of files, or none"},
		{"an obeyed file outside of the project", "x: {class: look, obeys: /etc/x}\n", `f.yaml:1: x.obeys: "/etc/x" is no name of a file of a project`},
		{"obeyed files in another notation", "x: {class: look, obeys: \"{a,b}.x\"}\n", `f.yaml:1: x.obeys: "{a,b}.x" is no name of a file of a project`},
		{"any obeyed file", "x: {class: look, obeys: a .*}\n", `f.yaml:1: x.obeys: ".*" is any file`},
		{"an obeyed file twice", "x: {class: look, obeys: a b a}\n", `f.yaml:1: x.obeys: "a" appears twice`},
		{"what brings files is no text", "x: {class: look, brings: true}\n", "f.yaml:1: x.brings: want the names of the commands that bring files"},
		{"another brings files", "x: {class: look, brings: x y}\n", `f.yaml:1: x.brings: "y" is no name of the entry`},
		{"another subcommand brings files", "x:\n  commands:\n    a: {class: look, brings: x}\n", `f.yaml:3: a.brings: "x" is no name of the entry`},
		{"an option that brings no files", "x: {class: look, options: {flag: -a}, when: [{has: -a, brings: false}]}\n", "f.yaml:1: x.when[0].brings: only true"},
		{"settings of what obeys nothing", "x: {class: look, options: {settings: -c}}\n", "f.yaml:1: x.options: option -c names settings, and which files are obeyed is not told"},
		{"lenient that is no truth", "x: {class: look, lenient: 1}\n", "f.yaml:1: x.lenient: want true or false"},
		{"an unknown fact", "x: {class: look, needs: svn}\n", "f.yaml:1: x.needs: unknown fact svn"},
		{"effects that are no list", "x: {class: look, effects: 1}\n", "f.yaml:1: x.effects: want a list of effects"},
		{"an effect without a target", "x: {class: look, effects: [write]}\n", `f.yaml:1: x.effects: "write" is not "KIND TARGET"`},
		{"an unknown effect", "x: {class: look, effects: [run y]}\n", `f.yaml:1: x.effects: "run y" is not "KIND TARGET"`},
		{"alternatives that are no list", "x: {class: look, when: {has: -a}}\n", "f.yaml:1: x.when: want a list"},
		{"an alternative that is no mapping", "x: {class: look, when: [-a]}\n", "f.yaml:1: x.when[0]: want a mapping"},
		{"an unknown field of an alternative", "x: {class: look, options: {flag: -a}, when: [{has: -a, operand: [text]}]}\n", `f.yaml:1: x.when[0]: unknown field "operand"`},
		{"no condition", "x: {class: look, when: [{class: edit}]}\n", "f.yaml:1: x.when[0]: no condition"},
		{"a condition that is no spelling", "x: {class: look, when: [{has: 1, class: edit}]}\n", "f.yaml:1: x.when[0].has: want a spelling or a list of them"},
		{"an empty spelling", "x: {class: look, options: {flag: -a}, when: [{has: \"-a|\", class: edit}]}\n", `f.yaml:1: x.when[0].has: empty spelling in "-a|"`},
		{"a condition on what is not listed", "x: {class: look, when: [{has: -a, class: edit}]}\n", "f.yaml:1: x.when: option -a is not among the options"},
		{"a value compared with two options", "x: {class: look, options: {text: -a -b}, when: [{has: \"-a|-b=1\", class: edit}]}\n", "f.yaml:1: x.when: a value is compared with one option, not with -a|-b"},
		{"a meaning that changes the words", "x: {class: look, options: {flag: -a, text: -b}, when: [{has: -a, options: {flag: -b}}]}\n", "f.yaml:1: x.when: option -b must be among the options and take a value in the same way"},
		{"a count that is none", "x: {class: look, when: [{args: some, class: edit}]}\n", `f.yaml:1: x.when[0].args: want a comparison such as ">=1", have "some"`},
		{"a count of no number", "x: {class: look, when: [{args: \">x\", class: edit}]}\n", `f.yaml:1: x.when[0].args: want a comparison such as ">=1", have ">x"`},
		{"subcommands that are no mapping", "x: {class: look, commands: [a]}\n", "f.yaml:1: x.commands: want a mapping"},
		{"a subcommand twice", "x: {class: look, commands: {a b: look, b: look}}\n", `f.yaml:1: x.commands: "b" appears twice`},
		{"a subcommand without a class", "x: {class: look, commands: {a: {operands: [text]}}}\n", "f.yaml:1: a: no class"},
		{"a subcommand on its own line", "x:\n  class: look\n  commands:\n    a: look\n    b:\n      class: peek\n", `f.yaml:5: b: unknown class "peek"`},
		{"another entry that is not there", "x: {same: y}\n", "f.yaml:1: x: same: names no entry"},
		{"another entry that leads back", "x: {same: y}\ny: {same: x}\n", "f.yaml:1: x: same: names no entry"},
		{"the line of a later entry", "# one\nx: look\n\ny:\n  class: peek\n", `f.yaml:4: y: unknown class "peek"`},
	} {
		_, err := Parse("f.yaml", []byte(c.text))
		if err == nil {
			t.Errorf("%s: it was accepted:\n%s", c.reason, c.text)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got\n%v", c.reason, c.want, err)
		}
	}
}

// Everything that is wrong is told at once.
func TestParseTellsAll(t *testing.T) {
	_, err := Parse("f.yaml", []byte("x: {class: peek, needs: svn}\ny: {class: loud}\n"))
	if err == nil {
		t.Fatal("it was accepted")
	}
	for _, want := range []string{"peek", "svn", "loud"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s in\n%v", want, err)
		}
	}
}

// What the format allows beside the plain way.
func TestParseAccepts(t *testing.T) {
	for reason, text := range map[string]string{
		"comments and blank lines":    "# a\n\nx: look\n\n# b\n",
		"a quoted name":               "\"[\": look\n'y': look\n",
		"a name with a colon":         "python:venv: look\n",
		"several documents":           "---\nx: look\n---\ny: look\n",
		"windows line ends":           "x:\r\n  class: look\r\n",
		"no line end":                 "x: look",
		"operands as a word":          "x: {class: look, operands: text}\n",
		"no operands":                 "x: {class: look, operands: }\n",
		"no spellings":                "x: {class: look, options: {flag: }}\n",
		"effects as a mapping":        "x: {class: look, effects: {write: .git}}\n",
		"nothing but subcommands":     "x:\n  commands:\n    a: look\n",
		"subcommands that are shared": "x:\n  commands:\n    a: &a {class: look}\n    b: *a\n",
		"nothing at all":              "",
	} {
		if _, err := Parse("f.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v", reason, err)
		}
	}
}
