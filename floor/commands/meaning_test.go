package commands

import (
	"fmt"
	"strings"
	"testing"

	"assent/floor/effect"

	"github.com/google/go-cmp/cmp"
)

const meanings = `
filter:
  class: look
  options: {flag: -n, text+read: --file, text+text+text: --range}
  operands: [jq, read...]
  when:
    - {args: "==1", lacks: -n, also: [read]}
pack:
  class: look
  options: {flag: -c -t, read: -f|--file}
  operands: [text...]
  when:
    - {has: -c, class: edit, operands: [read...], options: {write: --file}}
around:
  class: wrap
  style: posix
  options: {flag: -i, argv: -x}
  operands: [assign..., argv?]
  when:
    - {args: "==0", class: environ}
tell:
  class: look
  options: {text: -f|--format}
  operands: [text...]
  when: [{has: "-f~=env|{.}", class: environ}]
forge:
  class: build
  options: {flag: -k}
  commands: {"install*": {class: install, operands: [text...]}}
  operands: [text...]
lone:
  class: wrap
  options: {flag: --version}
  persistent: {flag: --all}
  bare: {class: install, when: [{has: --all, effects: [write .]}]}
  commands: {x: look}
  operands: [argv...]
  when: [{has: --version, args: "==0", class: look}, {args: "==0", class: code}]
goals:
  class: build
  commands: {"install*": {class: install, operands: [makearg...]}}
  operands: [makearg...]
seek:
  class: look
  style: find
  options: {argv: -exec, flag: -print}
  operands: [meta_tree...]
`

// What options of several words, second meanings, options with another meaning
// and wrapped commands are read as.
func TestMeaning(t *testing.T) {
	k, err := Parse("meanings.yaml", []byte(meanings))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ reason, line, want string }{
		{"every word of an option has its own type", "filter --file a b . f", "look --file:text=a --file:read=b jq=. read=f"},
		{"a joined first word is still followed by the second", "filter --file=a b .x f", "look --file:text=a --file:read=b jq=.x read=f"},
		{"three words", "filter --range a 1 9 . f", "look --range:text=a --range:text=1 --range:text=9 jq=. read=f"},
		{"a missing word is told", "filter . f --file a", "look --file:text=a jq=. read=f !option --file without its value"},
		{"a lone operand means both", "filter .env", "look jq=.env read=.env"},
		{"unless the option says which", "filter -n .env", "look -n:flag= jq=.env"},
		{"an option is written with one mode", "pack -c -f out in", "edit -c:flag= --file:write=out read=in"},
		{"and read with another, in any spelling", "pack --file=out -t", "look --file:read=out -t:flag="},
		{"no command", "around", "environ"},
		{"assignments are no command", "around A=1 B=2", "environ assign=A=1 assign=B=2"},
		{"the words of a command count", "around -i A=1 ls -l", "wrap -i:flag= assign=A=1 {ls -l}"},
		{"a command joined to its option is not followed", "around -xls", "environ -x:argv=ls !a command joined to its option"},
		{"a value that holds a word, in any case", "tell --format={{.Config.ENV}} x", "environ --format:text={{.Config.ENV}} text=x"},
		{"a value that does not", "tell -f {{.Name}} x", "look --format:text={{.Name}} text=x"},
		{"a value that cannot be told", "tell -f a" + Unknown, "environ --format:text=a" + Unknown},
		{"a subcommand behind --", "forge -k -- all install", "build -k:flag= text=all text=install !a further subcommand: install"},
		{"a word behind -- that is none", "forge -- all", "build text=all"},
		{"a bare call", "lone", "install"},
		{"an option of a bare call", "lone --all", "install --all:flag= +write ."},
		{"an option that asks for a look", "lone --version", "look --version:flag="},
		{"a goal behind others", "goals all install-x", "build makearg=all makearg=install-x !a further subcommand: install-x"},
		{"+ ends a command behind {} only", "seek . -exec cp a + b ; -print", "look -exec:argv=cp -print:flag= meta_tree=. {cp a + b}"},
		{"and there it does", "seek . -exec cp {} + -print", "look -exec:argv=cp -print:flag= meta_tree=. {cp {}}"},
	} {
		words := strings.Fields(tc.line)
		r := k.Lookup(words[0]).Read(words)
		if diff := cmp.Diff(tc.want, told(words, r)); diff != "" {
			t.Errorf("%s: %s: (-want +got)\n%s", tc.reason, tc.line, diff)
		}
	}
}

func told(words []string, r Reading) string {
	out := []string{string(r.Class)}
	for _, u := range r.Options {
		out = append(out, fmt.Sprintf("%s:%s=%s", u.Name, u.Option.Type, u.Value))
	}
	for _, a := range r.Operands {
		out = append(out, fmt.Sprintf("%s=%s", a.Type, a.Text))
	}
	for _, in := range r.Inner {
		out = append(out, "{"+strings.Join(words[in.From:in.To], " ")+"}")
	}
	for _, f := range r.Effects {
		out = append(out, "+"+f.Kind.String()+" "+f.Target)
	}
	for _, i := range r.Issues {
		out = append(out, "!"+i.Why)
	}
	return strings.Join(out, " ")
}

// A meaning that would change how words are told apart is refused.
func TestMeaningRefused(t *testing.T) {
	for _, tc := range []struct{ reason, options, when string }{
		{"an option that is not listed", "flag: -c", "{has: -c, options: {write: -f}}"},
		{"a flag that would take a value", "flag: -c -f", "{has: -c, options: {write: -f}}"},
		{"a value that would be joined only", "{flag: -c, read: -f}", "{has: -c, options: {write?: -f}}"},
		{"a type that does not exist", "{flag: -c, text+nothing: -f}", "{has: -c, class: edit}"},
		{"a command among several words", "{flag: -c, text+argv: -f}", "{has: -c, class: edit}"},
	} {
		if !strings.HasPrefix(tc.options, "{") {
			tc.options = "{" + tc.options + "}"
		}
		text := "x:\n  class: " + string(effect.Look) + "\n  options: " + tc.options + "\n  operands: []\n  when: [" + tc.when + "]\n"
		if _, err := Parse("x.yaml", []byte(text)); err == nil {
			t.Errorf("%s: it was accepted:\n%s", tc.reason, text)
		}
	}
}
