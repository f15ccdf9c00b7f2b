package commands

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tools is a small knowledge with one program for each way words are told
// apart.
const tools = `
gnu:
  class: look
  options:
    flag: -a|--all -b -v|--verbose --version --no-color -1
    text: -n|--number -w|--width
    text?: --color
    write: -o|--output
    write?: -i|--in-place
    read: -f|--file
    code!: -c
    read+write: --map
    program: --pager
  operands: [text, read...]
posix:
  class: wrap
  style: posix
  options: {flag: -p -v, text: -k|--kill, chdir: -C, split: -S}
  operands: [text, argv]
env:
  class: wrap
  style: posix
  options: {flag: -i, text: -u}
  operands: [assign..., argv?]
  when: [{args: "==0", class: environ}]
single:
  class: build
  style: single
  options: {flag: -race -v, text: -run -D, write: -o}
  operands: [read...]
plain:
  class: look
  style: plain
  options: {write: -o}
  operands: [text...]
find:
  class: look
  style: find
  options: {flag: -print -L -not, text: -name, delete_tree: -rm, argv: -exec -ok, write: -fprint, flag?: -O}
  operands: [meta_tree(.)...]
tar:
  class: look
  style: tar
  options: {flag: -c -x -t -v -z, read: -f, chdir: -C, text: -b}
  operands: [read...]
  when: [{has: -x, class: edit, operands: [text...], effects: [write .]}]
dd:
  class: edit
  style: dd
  operands: [text...]
sort:
  class: look
  options: {flag: +r -r, text: +k, write: +o}
  operands: [read...]
link:
  class: look
  options: {flag: /NOLOGO, write: /OUT}
  operands: [read...]
cp:
  class: edit
  options: {flag: -r, write: -t}
  operands: [read..., write]
  when: [{has: -t, operands: [read...]}]
defaults:
  class: look
  operands: [text, read(.), write?]
xargs:
  class: wrap
  style: posix
  options: {text: -n -I, read: -a}
  operands: [argv_stdin?]
  when: [{args: "==0", class: look}]
run:
  class: code
  style: posix
  options: {module!: -m, code!: -c, flag: -u}
  operands: [script, text...]
  when: [{has: -c, operands: [text...]}]
tool:
  class: look
  options: {flag: --version}
  persistent: {flag: -q|--quiet, chdir: -C, text: -s}
  bare: {class: ui, effects: [opaque a screen]}
  commands:
    list: look
    "get show":
      class: look
      options: {text: -o|--output}
      operands: [text...]
      when:
        - {has: "-o=yaml|json", class: secret}
        - {has: "-o!=yaml|json", effects: [read wide]}
        - {has: "-o~=env", class: environ}
    "config-*": {class: edit, operands: [write]}
    config-look: look
    remote:
      class: look
      commands:
        add: {class: repo, options: {flag: -f}, operands: [text, url]}
        rm*: {class: repo, operands: [text]}
    set: {class: edit, style: plain, operands: [write...]}
only:
  commands:
    a: look
lenient:
  class: look
  lenient: true
  options: {write: -o|--output, flag: -z}
  operands: [read...]
switch:
  class: look
  options: {flag: -d -D -v, text: -m}
  operands: [text...]
  when:
    - {has: -d|-D, class: repo}
    - {has: [-d, -v], class: discard}
    - {lacks: [-d|-D, -m], args: ">=2", class: edit, operands: [text, write]}
meant:
  class: look
  options: {flag: -n, write: -o, read: -x}
  operands: [jq, read...]
  when:
    - {args: "==1", lacks: -n, also: [read]}
    - {has: -n, options: {read: -o}}
counts:
  class: look
  operands: [text...]
  when:
    - {args: "==1", class: edit}
    - {args: ">2", class: repo}
    - {args: ">=4", class: send}
    - {args: "!=0", effects: [write some]}
    - {args: "<=1", effects: [read few]}
    - {args: "<1", effects: [net none]}
tame:
  class: look
  options: {flag: -a, text: -m}
  operands: [read...]
inert:
  class: look
  options: {flag: -a, text: -m}
  operands: [text...]
alias: {same: gnu}
fixed:
  class: edit
  operands: []
  effects: [write /etc/x, "delete ~/y", net h, env PATH, opaque why]
goals:
  class: build
  commands: {"install*": {class: install, operands: [makearg...]}}
  operands: [makearg...]
`

// TestRead reads one command line for every way words are told apart. The
// marks of abstract text are written $ (unknown), + (unknown, several words),
// # (a number) and * (a pattern) behind a percent sign.
func TestRead(t *testing.T) {
	k, err := Parse("tools.yaml", []byte(tools))
	if err != nil {
		t.Fatal(err)
	}
	marks := strings.NewReplacer("%$", Unknown, "%+", Words, "%#", Number, "%*", Star)
	for _, c := range []struct{ reason, line, want string }{
		// gnu
		{"nothing", "gnu", "look"},
		{"operands", "gnu p a b", "look text=p read=a read=b"},
		{"short options", "gnu -a -v p", "look --all --verbose text=p"},
		{"a cluster", "gnu -abv p", "look --all -b --verbose text=p"},
		{"a cluster with a value", "gnu -abn5 p", "look --all -b --number:5 text=p"},
		{"a cluster with a value in the next word", "gnu -abo out p", "look --all -b --output:out text=p"},
		{"a joined value", "gnu -oout p", "look --output:out text=p"},
		{"a joined value behind a sign", "gnu -o=out p", "look --output:=out --output:out text=p"},
		{"a text behind a sign", "gnu -n=5 p", "look --number:=5 text=p"},
		{"a joined value that looks like options", "gnu -oab p", "look --output:ab text=p"},
		{"a value that looks like an option", "gnu -o -a p", "look --output:-a text=p"},
		{"a long option", "gnu --output=out p", "look --output:out text=p"},
		{"a long option with a separate value", "gnu --output out p", "look --output:out text=p"},
		{"an empty value", "gnu --output= p", "look --output: text=p"},
		{"a value with a sign", "gnu --output=a=b p", "look --output:a=b text=p"},
		{"an abbreviation", "gnu --out=out p", "look --output:out text=p"},
		{"an ambiguous abbreviation", "gnu --ver p", "look text=p !~ambiguous option --ver"},
		{"an exact name is not ambiguous", "gnu --version", "look --version"},
		{"options behind operands", "gnu p f -a", "look --all text=p read=f"},
		{"the end of options", "gnu -a -- -p -o", "look --all text=-p read=-o"},
		{"a dash alone", "gnu p -", "look text=p read=-"},
		{"an optional value that is joined", "gnu --color=always -i.bak p", "look --color:always --in-place:.bak text=p"},
		{"an optional value that is not", "gnu --color always", "look --color text=always"},
		{"an option that ends them", "gnu -c code -a -o", "look -c:code text=-a read=-o"},
		{"an option of several words", "gnu --map a b p", "look --map:a --map:b text=p"},
		{"an option of several words, joined", "gnu --map=a b p", "look --map:a --map:b text=p"},
		{"a count", "gnu -5 p", "look -5 text=p"},
		{"a digit that is an option", "gnu -1 p", "look -1 text=p"},
		{"a count nobody knows", "gnu -%# p", "look -# text=p"},
		{"an unknown short option", "gnu -q p", "look -q? text=p !~unknown option -q"},
		{"an unknown option in a cluster", "gnu -aqo p", "look --all -q? text=p !~unknown option -q"},
		{"an unknown long option", "gnu --what=x p", "look --what?:x text=p !~unknown option --what"},
		{"an option without its value", "gnu p -o", "look text=p !~option --output without its value"},
		{"an unknown word", "gnu %$ a", "look text=$ read=a !a word that is not known and may be an option"},
		{"an unknown word behind the end of options", "gnu -- %$ a", "look text=$ read=a"},
		{"an unknown end of a word", "gnu p a%$", "look text=p read=a$"},
		{"an unknown option name", "gnu --%$ p", "look text=p !an option that cannot be told"},
		{"an unknown short option name", "gnu -%$ p", "look text=p !an option that cannot be told"},
		{"an unknown part of a cluster", "gnu -a%$ p", "look --all text=p !an option that cannot be told"},
		{"an unknown value", "gnu -o %$ p", "look --output:$ text=p"},
		{"a value that may be several words", "gnu -o %+ p", "look --output:+ text=p !a value that is not known and may be several words"},
		{"a text that may be several words", "gnu -n %+ p", "look --number:+ text=p !a value that is not known and may be several words"},
		{"a joined value that may be several words", "gnu -n%+ --output=%+ p", "look --number:+ --output:+ text=p !a value that is not known and may be several words !a value that is not known and may be several words"},
		{"a pattern reaches the next operand", "gnu %*", "look text=* read=*"},
		{"a pattern that another word holds back", "cp %* b", "edit read=* write=b"},
		{"a pattern alone", "cp %*", "edit write=* read=*"},
		{"an unknown word alone", "cp %+", "edit write=+ read=+ !a word that is not known and may be an option"},
		{"the last operand binds from the end", "cp a b c", "edit read=a read=b write=c"},
		{"operands another option takes", "cp -t d a b", "edit -t:d read=a read=b"},
		{"a default", "defaults p", "look text=p read=.(default)"},
		{"a default that is given", "defaults p a", "look text=p read=a"},
		{"an operand that may be missing", "defaults p a b", "look text=p read=a write=b"},
		{"too many operands", "defaults p a b c", "look text=p read=a write=b !~an operand nobody described"},
		{"no operands described", "fixed a", "edit +write /etc/x +delete ~/y +net h +env PATH +opaque why !~an operand nobody described"},

		// posix, wrappers
		{"the first operand ends the options", "posix -v 5 rm -v x", "wrap -v text=5 {rm -v x}"},
		{"options in front of it", "posix -k 1 -p 5 ls", "wrap --kill:1 -p text=5 {ls}"},
		{"no command", "posix 5", "wrap text=5"},
		{"an unknown operand in front of the command", "posix %$ ls", "wrap text=$ {ls} !a word that is not known and may be an option"},
		{"operands that may be the command", "posix %+ ls", "wrap text=+ {ls} !a word that is not known and may be an option !a value that is not known and may be several words"},
		{"assignments", "env A=1 B=2 ls -l", "wrap assign=A=1 assign=B=2 {ls -l}"},
		{"assignments alone", "env A=1", "environ assign=A=1"},
		{"an assignment of an unknown name", "env %$=1 ls", "wrap {$=1 ls}"},
		{"a command from standard input", "xargs rm -f", "wrap {rm -f}<"},
		{"nothing but standard input", "xargs", "look"},

		// single
		{"a long option with one dash", "single -race -run x f", "build -race -run:x read=f"},
		{"with a sign", "single -run=x -o=out f", "build -run:x -o:out read=f"},
		{"with two dashes", "single --run=x --race f", "build -run:x -race read=f"},
		{"a joined value without a sign", "single -Dx=1 -oout f", "build -D:x=1 -o:out read=f"},
		{"an unknown one", "single -what f", "build -what? read=f !~unknown option -what"},
		{"a value that may be several words", "single -run %+ f", "build -run:+ read=f !a value that is not known and may be several words"},

		// plain
		{"no options", "plain -o out --", "look text=-o text=out text=--"},

		// plus and slash options
		{"a plus option", "sort +r +k 1 +oout f", "look +r +k:1 +o:out read=f"},
		{"a plus that is none", "sort +x", "look read=+x"},
		{"a slash option", "link /NOLOGO /OUT x /x", "look /NOLOGO /OUT:x read=/x"},

		// find
		{"conditions", "find a b -name x -print", "look -name:x -print meta_tree=a meta_tree=b"},
		{"no start", "find -name x", "look -name:x meta_tree=.(default)"},
		{"options in front", "find -L a", "look -L meta_tree=a"},
		{"brackets", "find a ( -name x -not -name y ) -print", "look -name:x -not -name:y -print meta_tree=a"},
		{"a command", "find a -exec rm {} ; -print", "look -exec:rm -print meta_tree=a {rm {}}"},
		{"a command for all", "find a -exec rm {} + -print", "look -exec:rm -print meta_tree=a {rm {}}"},
		{"a plus that ends nothing", "find a -exec rm + {} ; -print", "look -exec:rm -print meta_tree=a {rm + {}}"},
		{"two commands", "find a -exec ls ; -ok rm {} ;", "look -exec:ls -ok:rm meta_tree=a {ls} {rm {}}"},
		{"a command without an end", "find a -exec rm {}", "look -exec:rm meta_tree=a {rm {}}"},
		{"a command that may end within", "find a -exec ls %+ ;", "look -exec:ls meta_tree=a {ls +} !a value that is not known and may be several words"},
		{"a start nobody knows", "find %+ -print", "look -print meta_tree=+ !a word that is not known and may be an option"},

		// tar
		{"a bundle", "tar xzf a.tgz b", "edit -x -z -f:a.tgz text=b +write ."},
		{"a bundle with two values", "tar tbf 20 a.tar", "look -t -b:20 -f:a.tar"},
		{"options", "tar -x -f a.tar -C d b", "edit -x -f:a.tar -C:d text=b +write ."},
		{"a bundle with an unknown letter", "tar tq a", "look -t -q? read=a !~unknown option -q"},
		{"a first word nobody knows", "tar %$ a", "look read=$ read=a !a word that is not known and may be an option"},

		// dd
		{"files", "dd if=a of=b bs=1", "edit read=a write=b"},
		{"help", "dd --help", "look"},
		{"the end of options is no help", "dd -- of=b", "edit write=b"},
		{"a word that is none", "dd x", "edit !an operand that cannot be told"},
		{"a name nobody knows", "dd %$=x", "edit !~an operand that cannot be told"},
		{"a value that may be several words", "dd bs=%+ of=b", "edit read=+ write=+ write=b !a value that is not known and may be several words"},

		// modules and code
		{"a module", "run -u -m pip list -v", "code -u -m:pip {list -v}pip"},
		{"code", "run -c x -c y", "code -c:x text=-c text=y"},
		{"a script", "run x.py -u", "code script=x.py text=-u"},

		// subcommands
		{"no subcommand", "tool", "ui +opaque a screen"},
		{"an option and no subcommand", "tool -q", "ui --quiet +opaque a screen"},
		{"a subcommand that is a class", "tool list", "look list"},
		{"a persistent option in front", "tool -q list", "look --quiet list"},
		{"a persistent option behind", "tool list -q -C d", "look --quiet -C:d list"},
		{"an option of the program behind", "tool list --version", "look --version? list !~unknown option --version"},
		{"a shared key", "tool show -o wide x", "look --output:wide show text=x +read wide"},
		{"a value that is compared", "tool get -o yaml x", "secret --output:yaml get text=x"},
		{"a value behind a sign", "tool get -o=yaml x", "secret --output:=yaml get text=x"},
		{"a value in another case", "tool get -o YAML x", "secret --output:YAML get text=x"},
		{"a value that holds a word", "tool get -o myenv x", "environ --output:myenv get text=x +read wide"},
		{"a value nobody knows", "tool get -o %$ x", "environ --output:$ get text=x +read wide"},
		{"a pattern of subcommands", "tool config-set f", "edit config-set write=f"},
		{"the exact name wins over a pattern", "tool config-look", "look config-look"},
		{"nested", "tool remote add -f n u", "repo -f remote add text=n url=u"},
		{"nested with a pattern", "tool remote rm-all n", "repo remote rm-all text=n"},
		{"nested alone", "tool remote", "look remote"},
		{"a style of its own", "tool set -q", "edit set write=-q"},
		{"an unknown subcommand", "tool what x", "unknown !~unknown subcommand what"},
		{"a subcommand nobody knows", "tool %$ x", "unknown !a word that is not known and may be an option !a subcommand that cannot be told"},
		{"nothing but subcommands", "only", "look"},
		{"an unknown one among nothing but subcommands", "only b", "unknown !~unknown subcommand b"},
		{"a goal behind a goal", "goals all install-x", "build makearg=all makearg=install-x !~a further subcommand: install-x"},
		{"a goal that is a subcommand", "goals install-x", "install install-x"},

		// lenient
		{"an unlisted option", "lenient -q --what=x f", "look -q? --what?:x read=f"},
		{"an unlisted letter in front of one with an effect", "lenient -qo out f", "look -q? --output:out read=f"},
		{"an unlisted letter in front of one without", "lenient -qz f", "look -qz? read=f"},

		// when
		{"one of several options", "switch -D x", "repo -D text=x"},
		{"all of several options", "switch -d -v x", "discard -d -v text=x"},
		{"none of several options", "switch a b", "edit text=a write=b"},
		{"one is there", "switch -m x a b", "look -m:x text=a text=b"},
		{"too few operands", "switch a", "look text=a"},
		{"an option that turns it may hide", "switch %$ a -m x", "look -m:x text=$ text=a !a word that is not known and may be an option"},
		{"an option that turns it, but nothing", "switch %$", "look text=$"},
		{"an option that turns it and something", "switch %+", "look text=+ !a word that is not known and may be an option !the number of words cannot be told"},
		{"a second meaning", "meant f", "look jq=f read=f"},
		{"no second meaning", "meant -n f", "look -n jq=f"},
		{"another meaning of a value", "meant -n -o f p", "look -n -o:f jq=p"},
		{"one operand", "counts a", "edit text=a +write some +read few"},
		{"no operand", "counts", "look +read few +net none"},
		{"three operands", "counts a b c", "repo text=a text=b text=c +write some"},
		{"four operands", "counts a b c d", "send text=a text=b text=c text=d +write some"},
		{"a number of operands nobody knows", "counts %+", "edit text=+ +write some +read few !the number of words cannot be told"},

		// unknown words and what they can matter for
		{"no option has an effect", "tame %$ -m %$", "look --m:$ read=$"},
		{"but an operand has", "tame -m %+ a", "look --m:+ read=a !a value that is not known and may be several words"},
		{"nothing has an effect", "inert %+ -m %+ -m%+", "look --m:+ --m:+ text=+"},
		{"under another name", "alias -oout p", "look --output:out text=p"},
	} {
		words := strings.Fields(marks.Replace(c.line))
		r := k.Lookup(words[0]).Read(words)
		want := strings.ReplaceAll(c.want, "--m:", "-m:")
		if diff := cmp.Diff(want, describe(words, r)); diff != "" {
			t.Errorf("%s: %s (-want +got)\n%s", c.reason, c.line, diff)
		}
	}
}

// describe writes a reading in one line: class, options (? when not listed),
// subcommands, operands, commands within, effects and issues (~ when a rule
// that names the command covers them).
func describe(words []string, r Reading) string {
	shown := strings.NewReplacer("\x00", "")
	class := string(r.Class)
	if class == "" {
		class = "unknown"
	}
	out := []string{class}
	for _, u := range r.Options {
		s := u.Name
		if u.Option == nil && strings.Trim(u.Name, "-0123456789\x00#") != "" {
			s += "?"
		}
		if u.Valued {
			s += ":" + u.Value
		}
		out = append(out, s)
	}
	out = append(out, r.Sub...)
	for _, a := range r.Operands {
		s := fmt.Sprintf("%s=%s", a.Type, a.Text)
		if a.Default {
			s += "(default)"
		}
		out = append(out, s)
	}
	for _, in := range r.Inner {
		s := "{" + strings.Join(words[in.From:in.To], " ") + "}" + in.Module
		if in.Stdin {
			s += "<"
		}
		out = append(out, s)
	}
	for _, f := range r.Effects {
		out = append(out, "+"+f.Kind.String()+" "+f.Target)
	}
	for _, i := range r.Issues {
		mark := "!"
		if i.Coverable {
			mark = "!~"
		}
		out = append(out, mark+i.Why)
	}
	return shown.Replace(strings.Join(out, " "))
}
