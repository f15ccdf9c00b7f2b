package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Respelling is a rule that spells a bash text otherwise and keeps what it
// does. What the floor says of the text may become stricter by it and never
// looser.
type Respelling struct {
	Name string
	// Apply returns the new texts, none when the rule does not fit the text.
	Apply func(text string) []string
	// Hides says that what the text does can hardly be told without running it.
	Hides bool
	// Computes says that a value must be worked out to tell what the text does.
	// One such rule alone hides nothing; several on top of each other may.
	Computes bool
}

// Respellings are the rules that fit any text of the kind; see [Base] for those
// that need to know what its words are.
var Respellings = fitting(slices.Concat(wordRules, commandRules, textRules))

// hiding are the rules after which only bash itself knows what happens, or a
// reader that does more than one can ask for: what they make of a text must
// still not be allowed.
var hiding = strings.Fields(`arguments-in-associative-array arithmetic-subscript prompt-expansion mapfile program-by-nameref
	program-by-read program-declared-lower other-separator sourced sourced-substitution written-and-run compgen null-separated-by-xargs`)

// computing are further rules that leave a value to be worked out.
var computing = strings.Fields(`default-value printed printed-in-backticks program-echoed program-in-default empty-substitution-inside unset-variable-inside
	eval-variable shell-variable shell-piped shell-echoed shell-here-string shell-here-document function-by-variable`)

// fitting drops the empty texts by which a rule says that it does not fit.
func fitting(rules []Respelling) []Respelling {
	for i, r := range rules {
		rules[i].Hides = slices.Contains(hiding, r.Name)
		rules[i].Computes = r.Computes || slices.Contains(computing, r.Name)
		rules[i].Apply = func(text string) []string {
			return slices.DeleteFunc(r.Apply(text), func(s string) bool { return s == "" || s == text })
		}
	}
	return rules
}

// single quotes a text so that the shell sees it unchanged.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// parse reads a text as bash does, nil when it cannot.
func parse(text string) *syntax.File {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	return f
}

// splice replaces the words that with returns something for.
func splice(text string, with func(call *syntax.CallExpr, i int, plain string) string) []string {
	f := parse(text)
	if f == nil {
		return nil
	}
	type edit struct {
		from, to int
		text     string
	}
	var edits []edit
	syntax.Walk(f, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.CmdSubst); ok && s.Backquotes {
			return false // a backslash means something else there
		}
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		for i, w := range call.Args {
			if len(w.Parts) != 1 {
				continue
			}
			lit, ok := w.Parts[0].(*syntax.Lit)
			if !ok || !plain.MatchString(lit.Value) {
				continue
			}
			if s := with(call, i, lit.Value); s != "" {
				edits = append(edits, edit{int(w.Pos().Offset()), int(w.End().Offset()), s})
			}
		}
		return true
	})
	if len(edits) == 0 {
		return nil
	}
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	for _, e := range edits {
		text = text[:e.from] + e.text + text[e.to:]
	}
	return []string{text}
}

// plain is a word that means itself wherever it stands.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:,@%+-]+$`)

// everyWord spells every plain word of every command otherwise.
func everyWord(name string, spell func(string) string) Respelling {
	return Respelling{Name: name, Apply: func(text string) []string {
		return splice(text, func(_ *syntax.CallExpr, _ int, w string) string { return spell(w) })
	}}
}

// programWord spells only the names of programs otherwise.
func programWord(name string, spell func(string) string) Respelling {
	return Respelling{Name: name, Apply: func(text string) []string {
		return splice(text, func(_ *syntax.CallExpr, i int, w string) string {
			if i > 0 {
				return ""
			}
			return spell(w)
		})
	}}
}

// each rewrites the letters of a word.
func each(s string, f func(c byte) string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString(f(s[i]))
	}
	return b.String()
}

// halves puts something between two halves of a word.
func halves(s, between string) string { return s[:(len(s)+1)/2] + between + s[(len(s)+1)/2:] }

var wordRules = []Respelling{
	everyWord("single-quotes", single),
	everyWord("double-quotes", func(s string) string { return `"` + s + `"` }),
	everyWord("backslashes", func(s string) string { return each(s, func(c byte) string { return `\` + string(c) }) }),
	everyWord("empty-quotes-inside", func(s string) string { return halves(s, "''") }),
	everyWord("empty-double-quotes-before", func(s string) string { return `""` + s }),
	everyWord("half-quoted", func(s string) string { n := len(s) / 2; return s[:n] + `"` + s[n:] + `"` }),
	everyWord("ansi-octal", func(s string) string {
		return "$'" + each(s, func(c byte) string { return fmt.Sprintf(`\%03o`, c) }) + "'"
	}),
	everyWord("ansi-hex", func(s string) string {
		return "$'" + each(s, func(c byte) string { return fmt.Sprintf(`\x%02x`, c) }) + "'"
	}),
	everyWord("ansi-unicode", func(s string) string {
		return "$'" + each(s, func(c byte) string { return fmt.Sprintf(`\u%04x`, c) }) + "'"
	}),
	everyWord("locale-quotes", func(s string) string { return `$"` + s + `"` }),
	everyWord("continued-line-inside", func(s string) string { return halves(s, "\\\n") }),
	everyWord("empty-substitution-inside", func(s string) string { return halves(s, "$(:)") }),
	everyWord("unset-variable-inside", func(s string) string { return halves(s, "${never_set-}") }),
	everyWord("default-value", func(s string) string { return "${never_set:-" + s + "}" }),
	everyWord("printed", func(s string) string { return "$(printf %s " + s + ")" }),
	everyWord("printed-in-backticks", func(s string) string { return "`printf %s " + s + "`" }),
	programWord("program-backslash", func(s string) string { return `\` + s }),
	programWord("program-mixed-quotes", func(s string) string {
		n := len(s) / 2
		return "'" + s[:n] + `'"` + s[n:] + `"`
	}),
	programWord("program-echoed", func(s string) string { return "$(echo " + s + ")" }),
	programWord("program-in-default", func(s string) string { return "${never_set-" + s + "}" }),
}

// command is a text that is one simple command and nothing else.
type command struct {
	text  string
	words []string // of its words, unquoted
	from  int      // where the first word begins
	plain bool     // no redirections or assignments, and every word means itself
}

// shellWords are names that mean something to the shell itself.
var shellWords = strings.Fields(". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit " +
	"export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt " +
	"source suspend test times trap true type typeset ulimit umask unalias unset wait")

// programName is what any wrapper takes for a program and not for an option,
// an assignment or a path.
var programName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.+-]*$`)

// simple takes a text apart that is one simple command of an external program.
func simple(text string) (command, bool) {
	f := parse(text)
	if f == nil || len(f.Stmts) != 1 || len(f.Last) > 0 {
		return command{}, false
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Background || s.Negated || s.Coprocess || len(call.Args) == 0 || len(call.Assigns) > 0 || len(s.Comments) > 0 {
		return command{}, false
	}
	c := command{text: text, from: int(call.Args[0].Pos().Offset()), plain: len(s.Redirs) == 0}
	for i, w := range call.Args {
		value, fixed := unquoted(w)
		if !fixed {
			if c.plain = false; i == 0 {
				return command{}, false
			}
		}
		c.words = append(c.words, value)
	}
	if slices.Contains(shellWords, c.words[0]) || !programName.MatchString(c.words[0]) {
		return command{}, false
	}
	for _, rd := range s.Redirs {
		if rd.Hdoc != nil {
			return command{}, false
		}
	}
	return c, true
}

// unquoted is the text of a word that is the same wherever it stands.
func unquoted(w *syntax.Word) (text string, fixed bool) {
	var b strings.Builder
	literal := func(s string, special string) {
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) {
				switch {
				case s[i+1] == '\n':
					i++
					continue
				case special == "" || strings.IndexByte(special, s[i+1]) >= 0:
					i++
				}
			}
			b.WriteByte(s[i])
		}
	}
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "~*?[{") {
				return "", false
			}
			literal(p.Value, "")
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					return "", false
				}
				literal(lit.Value, "$`\"\\")
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// before puts something in front of the first word of a simple command.
func before(prefix string) Respelling {
	return Respelling{Name: "before-" + strings.ReplaceAll(prefix, " ", "_"), Apply: func(text string) []string {
		c, ok := simple(text)
		if !ok {
			return nil
		}
		return []string{c.text[:c.from] + prefix + " " + c.text[c.from:]}
	}}
}

// ofWords builds a text from the words of a plain simple command.
func ofWords(name string, build func(words []string) string) Respelling {
	return Respelling{Name: name, Computes: true, Apply: func(text string) []string {
		c, ok := simple(text)
		if !ok || !c.plain {
			return nil
		}
		return []string{build(c.words)}
	}}
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = single(w)
	}
	return strings.Join(quoted, " ")
}

// unsplit reports whether the words survive the splitting of a variable that
// is not quoted.
func unsplit(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return w == "" || strings.ContainsAny(w, " \t\n*?[\\'\"") })
}

func ofSplitWords(name string, build func(words []string) string) Respelling {
	return ofWords(name, func(words []string) string {
		if !unsplit(words) {
			return ""
		}
		return build(words)
	})
}

var commandRules = []Respelling{
	before("command"), before("env"), before("nice"), before("nice -n 5"), before("nohup"), before("timeout 20"), before("timeout -k 1 -s TERM 20s"),
	before("exec"), before("time"), before("time -p"), before("stdbuf -oL"), before("setsid -w"), before("env A=1"), before("env -u NEVER_SET"),
	before("A=1"), before("command -p --"), before("env nice timeout 20"), before("!"), before("2>/dev/null"), before("xargs -a /dev/null"),
	ofWords("array", func(w []string) string { return "c=(" + quoteAll(w) + `); "${c[@]}"` }),
	ofWords("array-built", func(w []string) string {
		var b strings.Builder
		b.WriteString("c=()\n")
		for _, x := range w {
			b.WriteString("c+=(" + single(x) + ")\n")
		}
		return b.String() + `"${c[@]}"`
	}),
	ofWords("positionals", func(w []string) string { return "set -- " + quoteAll(w) + `; "$@"` }),
	ofWords("function-of-arguments", func(w []string) string { return `f() { "$@"; }; f ` + quoteAll(w) }),
	ofWords("function-with-program", func(w []string) string {
		return "f() { " + single(w[0]) + ` "$@"; }; f ` + quoteAll(w[1:])
	}),
	ofWords("function-of-that-name", func(w []string) string {
		return w[0] + `() { command ` + single(w[0]) + ` "$@"; }; ` + quoteAll(w)
	}),
	ofWords("program-in-variable", func(w []string) string { return "p=" + single(w[0]) + "; $p " + quoteAll(w[1:]) }),
	ofWords("program-in-halves", func(w []string) string {
		n := len(w[0]) / 2
		return "a=" + single(w[0][:n]) + " b=" + single(w[0][n:]) + "; $a$b " + quoteAll(w[1:])
	}),
	ofWords("program-by-reference", func(w []string) string { return "p=" + single(w[0]) + "; r=p; ${!r} " + quoteAll(w[1:]) }),
	ofWords("program-by-nameref", func(w []string) string {
		return "p=" + single(w[0]) + "; declare -n r=p; $r " + quoteAll(w[1:])
	}),
	ofWords("program-by-printf", func(w []string) string { return "printf -v p %s " + single(w[0]) + "; $p " + quoteAll(w[1:]) }),
	ofWords("program-by-read", func(w []string) string { return "read -r p <<< " + single(w[0]) + "; $p " + quoteAll(w[1:]) }),
	ofWords("program-cut-out", func(w []string) string { return "p=xx" + w[0] + "yy; p=${p#xx}; ${p%yy} " + quoteAll(w[1:]) }),
	ofWords("program-replaced", func(w []string) string {
		return "p=" + halves(w[0], "_Z_") + "; ${p/_Z_/} " + quoteAll(w[1:])
	}),
	ofWords("program-lower-case", func(w []string) string {
		if w[0] != strings.ToLower(w[0]) {
			return ""
		}
		return "p=" + strings.ToUpper(w[0]) + "; ${p,,} " + quoteAll(w[1:])
	}),
	ofWords("program-declared-lower", func(w []string) string {
		if w[0] != strings.ToLower(w[0]) {
			return ""
		}
		return "declare -l p=" + strings.ToUpper(w[0]) + "; $p " + quoteAll(w[1:])
	}),
	ofWords("program-by-alias", func(w []string) string {
		return "shopt -s expand_aliases\nalias zz=" + single(w[0]) + "\nzz " + quoteAll(w[1:])
	}),
	ofWords("program-in-loop", func(w []string) string {
		return "for p in " + single(w[0]) + "; do $p " + quoteAll(w[1:]) + "; done"
	}),
	ofWords("program-from-local", func(w []string) string {
		return "p=" + single(w[0]) + "; f() { local p=true; }; f; $p " + quoteAll(w[1:])
	}),
	ofWords("program-from-subshell-unchanged", func(w []string) string {
		return "p=" + single(w[0]) + "; (p=true); p=true & wait; echo x | read p; $p " + quoteAll(w[1:])
	}),
	ofWords("arguments-in-variables", func(w []string) string {
		var b strings.Builder
		out := single(w[0])
		for i, x := range w[1:] {
			fmt.Fprintf(&b, "v%d=%s; ", i, single(x))
			out += fmt.Sprintf(` "$v%d"`, i)
		}
		return b.String() + out
	}),
	ofWords("arguments-in-associative-array", func(w []string) string {
		var b strings.Builder
		b.WriteString("declare -A m; ")
		out := single(w[0])
		for i, x := range w[1:] {
			fmt.Fprintf(&b, "m[k%d]=%s; ", i, single(x))
			out += fmt.Sprintf(` "${m[k%d]}"`, i)
		}
		return b.String() + out
	}),
	ofSplitWords("split-variable", func(w []string) string { return "c='" + strings.Join(w, " ") + "'; $c" }),
	ofSplitWords("separator-variable", func(w []string) string { return strings.Join(w, "${IFS}") }),
	ofSplitWords("separator-variable-cut", func(w []string) string { return strings.Join(w, "${IFS:0:1}") }),
	ofSplitWords("other-separator", func(w []string) string {
		if strings.Contains(strings.Join(w, ""), "^") {
			return ""
		}
		return "c='" + strings.Join(w, "^") + "'; IFS=^; $c"
	}),
	ofSplitWords("words-echoed", func(w []string) string { return "$(echo " + strings.Join(w, " ") + ")" }),
	ofSplitWords("brace-list", func(w []string) string {
		if len(w) < 2 || strings.ContainsAny(strings.Join(w, ""), ",{}") {
			return ""
		}
		return "{" + strings.Join(w, ",") + "}"
	}),
	ofSplitWords("last-argument-by-xargs", func(w []string) string {
		if len(w) < 2 {
			return ""
		}
		return "echo " + w[len(w)-1] + " | xargs " + strings.Join(w[:len(w)-1], " ")
	}),
	ofSplitWords("all-arguments-by-xargs", func(w []string) string {
		if len(w) < 2 || strings.HasPrefix(w[1], "-") { // echo would take the option
			return ""
		}
		return "echo " + strings.Join(w[1:], " ") + " | xargs " + w[0]
	}),
	ofSplitWords("program-by-xargs", func(w []string) string {
		if len(w) < 2 {
			return ""
		}
		return "printf '%s\\n' " + strings.Join(w, " ") + " | xargs env"
	}),
	ofSplitWords("last-argument-replaced-by-xargs", func(w []string) string {
		if len(w) < 2 {
			return ""
		}
		return "echo " + w[len(w)-1] + " | xargs -I@@ " + strings.Join(w[:len(w)-1], " ") + " @@"
	}),
	ofSplitWords("null-separated-by-xargs", func(w []string) string {
		if len(w) < 2 {
			return ""
		}
		return `printf '%s\0' ` + strings.Join(w[1:], " ") + " | xargs -0 " + w[0]
	}),
	ofWords("find-exec", func(w []string) string {
		if slices.ContainsFunc(w, func(s string) bool { return strings.Contains(s, "{}") || s == ";" }) {
			return ""
		}
		return "find . -maxdepth 0 -exec " + quoteAll(w) + ` \;`
	}),
	ofWords("env-split", func(w []string) string {
		if !unsplit(w) || strings.ContainsAny(strings.Join(w, ""), `\$#"'`) {
			return ""
		}
		return "env -S '" + strings.Join(w, " ") + "'"
	}),
	ofWords("env-split-partly", func(w []string) string {
		if !unsplit(w) || strings.ContainsAny(strings.Join(w, ""), `\$#"'`) || len(w) < 2 {
			return ""
		}
		return "env -S'" + w[0] + "' " + quoteAll(w[1:])
	}),
	ofWords("shell-arguments", func(w []string) string { return `bash -c '"$@"' shell ` + quoteAll(w) }),
	ofWords("shell-zero", func(w []string) string { return `bash -c '"$0" "$@"' ` + quoteAll(w) }),
	ofWords("shell-quoted-words", func(w []string) string { return "bash -c " + single(quoteAll(w)) + " one two" }),
	ofWords("compgen", func(w []string) string { return "compgen -W " + single("$("+quoteAll(w)+")") }),
	ofWords("jobs-x", func(w []string) string { return "jobs -x " + quoteAll(w) }),
	ofWords("mapfile", func(w []string) string {
		return "mapfile -t c <<< " + single(strings.Join(w, "\n")) + `; "${c[@]}"`
	}),
	ofWords("arithmetic-subscript", func(w []string) string {
		return "e=" + single("a[$("+quoteAll(w)+" >&2)0]") + "; ((e))"
	}),
	ofWords("prompt-expansion", func(w []string) string { return "e=" + single("$("+quoteAll(w)+" >&2)") + `; : "${e@P}"` }),
	ofWords("trap-on-exit", func(w []string) string { return "trap " + single(quoteAll(w)) + " EXIT" }),
	ofWords("trap-on-debug-once", func(w []string) string { return "trap " + single(quoteAll(w)+"; trap - DEBUG") + " DEBUG; :" }),
}

// whole wraps the whole text, whatever it is.
func whole(name string, wrap func(text string) string) Respelling {
	return Respelling{Name: name, Apply: func(text string) []string { return []string{wrap(text)} }}
}

var textRules = []Respelling{
	whole("group", func(s string) string { return "{ " + s + "\n}" }),
	whole("group-in-group", func(s string) string { return "{ { " + s + "\n}; }" }),
	whole("subshell", func(s string) string { return "( " + s + "\n)" }),
	whole("subshell-in-subshell", func(s string) string { return "( ( " + s + "\n) )" }),
	whole("if-true", func(s string) string { return "if true; then " + s + "\nfi" }),
	whole("if-condition", func(s string) string { return "if " + s + "\nthen :; fi" }),
	whole("else-branch", func(s string) string { return "if false; then :; else " + s + "\nfi" }),
	whole("and", func(s string) string { return "true && { " + s + "\n}" }),
	whole("or", func(s string) string { return "false || { " + s + "\n}" }),
	whole("unknown-condition", func(s string) string { return "if [ -f a.txt ]; then " + s + "\nfi" }),
	whole("pattern-condition", func(s string) string { return "[[ abc == a* ]] && { " + s + "\n}" }),
	whole("loop-once", func(s string) string { return "for zi in 1; do " + s + "\ndone" }),
	whole("while-once", func(s string) string { return "while true; do " + s + "\nbreak; done" }),
	whole("until-once", func(s string) string { return "until false; do " + s + "\nbreak; done" }),
	whole("c-loop-once", func(s string) string { return "for ((zi=0; zi<1; zi++)); do " + s + "\ndone" }),
	whole("case-branch", func(s string) string { return "case x in x) " + s + "\n;; esac" }),
	whole("case-fall-through", func(s string) string { return "case x in x) ;& y) " + s + "\n;; esac" }),
	whole("function", func(s string) string { return "zf() { " + s + "\n}; zf" }),
	whole("function-keyword", func(s string) string { return "function zf {\n" + s + "\n}\nzf" }),
	whole("function-subshell", func(s string) string { return "zf() ( " + s + "\n); zf" }),
	whole("function-by-variable", func(s string) string { return "zf() { " + s + "\n}; zv=zf; $zv" }),
	whole("negated", func(s string) string { return "! { " + s + "\n}" }),
	whole("timed", func(s string) string { return "time { " + s + "\n}" }),
	whole("background", func(s string) string { return "{ " + s + "\n} & wait" }),
	whole("coproc", func(s string) string { return "coproc { " + s + "\n} < /dev/null; wait" }),
	whole("pipe-first", func(s string) string { return "{ " + s + "\n} | { :; cat > /dev/null; }" }),
	whole("pipe-last", func(s string) string { return ": | { " + s + "\n}" }),
	whole("substitution", func(s string) string { return ": \"$( " + s + "\n)\"" }),
	whole("substitution-assigned", func(s string) string { return "zv=$( " + s + "\n)" }),
	whole("substitution-in-default", func(s string) string { return ": ${never_set:-$( " + s + "\n)}" }),
	whole("substitution-in-here-document", func(s string) string {
		if strings.Contains(s, "\nZE") {
			return ""
		}
		return ": <<ZE\n$( " + s + "\n)\nZE"
	}),
	whole("substitution-in-test", func(s string) string { return "[[ -n $( " + s + "\n) ]]" }),
	whole("substitution-in-arithmetic", func(s string) string { return "(( $( { " + s + "\n} > /dev/null; echo 1 ) ))" }),
	whole("substitution-in-subscript", func(s string) string { return "za[$( { " + s + "\n} > /dev/null; echo 1 )]=x" }),
	whole("process-substitution", func(s string) string { return ": <( " + s + "\n); wait; sleep 0.2" }),
	whole("process-substitution-read", func(s string) string { return "cat <( " + s + "\n) > /dev/null" }),
	whole("eval", func(s string) string { return "eval " + single(s) }),
	whole("eval-variable", func(s string) string { return "zv=" + single(s) + `; eval "$zv"` }),
	whole("shell", func(s string) string { return "bash -c " + single(s) }),
	whole("shell-options", func(s string) string { return "bash --norc -o pipefail -c -- " + single(s) + " zero" }),
	whole("shell-variable", func(s string) string { return "zv=" + single(s) + `; bash -c "$zv"` }),
	whole("shell-env", func(s string) string { return "env bash -c " + single(s) }),
	whole("shell-here-string", func(s string) string { return "bash <<< " + single(s) }),
	whole("shell-here-document", func(s string) string {
		if strings.Contains(s, "\nZE") {
			return ""
		}
		return "bash <<'ZE'\n" + s + "\nZE"
	}),
	whole("shell-piped", func(s string) string { return "printf '%s\\n' " + single(s) + " | bash" }),
	whole("shell-echoed", func(s string) string {
		if strings.HasPrefix(s, "-") || strings.Contains(s, `\`) {
			return "" // some echo would make something else of it
		}
		return "echo " + single(s) + " | bash -s"
	}),
	whole("sourced", func(s string) string { return ". /dev/stdin <<< " + single(s) }),
	whole("sourced-substitution", func(s string) string { return "source <(printf '%s\\n' " + single(s) + ")" }),
	whole("written-and-run", func(s string) string { return "printf '%s\\n' " + single(s) + " > zz.sh; bash zz.sh" }),
	whole("after-other-commands", func(s string) string { return ":; true\n" + s }),
	whole("before-other-commands", func(s string) string { return s + "\n:" }),
	whole("comment-after", func(s string) string {
		if strings.Contains(s, "<<") {
			return ""
		}
		return s + " # and that is all"
	}),
	whole("comment-before", func(s string) string { return "# first\n" + s }),
	whole("blank-lines", func(s string) string { return "\n\n \t" + s + "\n\n" }),
	whole("after-semicolon", func(s string) string { return ": ;" + s }),
	whole("harmless-options", func(s string) string { return "set -o pipefail; set -u; shopt -s extglob; " + s }),
	whole("errexit", func(s string) string { return "set -e\n" + s }),
	whole("strict-separator", func(s string) string {
		if strings.Contains(s, "$") {
			return "" // what splits would split otherwise
		}
		return "IFS=$'\\n\\t'\n" + s
	}),
	{Name: "printed-again", Apply: func(text string) []string {
		f := parse(text)
		if f == nil {
			return nil
		}
		var out []string
		for _, options := range [][]syntax.PrinterOption{{}, {syntax.Minify(true)}, {syntax.SpaceRedirects(true), syntax.BinaryNextLine(true)}, {syntax.SwitchCaseIndent(true), syntax.FunctionNextLine(true)}} {
			var b strings.Builder
			if syntax.NewPrinter(options...).Print(&b, f) == nil {
				out = append(out, strings.TrimSuffix(b.String(), "\n"))
			}
		}
		return out
	}},
	{Name: "wide-blanks", Apply: func(text string) []string {
		return between(text, func(gap string) string {
			if strings.Trim(gap, " ") == "" {
				return "\t  "
			}
			return ""
		})
	}},
	{Name: "continued-lines", Apply: func(text string) []string {
		return between(text, func(gap string) string {
			if strings.Trim(gap, " ") == "" {
				return " \\\n "
			}
			return ""
		})
	}},
	{Name: "redirections-first", Apply: redirectionsFirst},
}

// between rewrites what stands between the words of simple commands.
func between(text string, with func(gap string) string) []string {
	f := parse(text)
	if f == nil {
		return nil
	}
	type gap struct{ from, to int }
	var gaps []gap
	syntax.Walk(f, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			for i := 1; i < len(call.Args); i++ {
				from, to := int(call.Args[i-1].End().Offset()), int(call.Args[i].Pos().Offset())
				if from < to {
					gaps = append(gaps, gap{from, to})
				}
			}
		}
		return true
	})
	if len(gaps) == 0 {
		return nil
	}
	slices.SortFunc(gaps, func(a, b gap) int { return b.from - a.from })
	out := text
	for _, g := range gaps {
		if s := with(text[g.from:g.to]); s != "" {
			out = out[:g.from] + s + out[g.to:]
		}
	}
	return []string{out}
}

// redirectionsFirst moves the redirections of a simple command before it.
func redirectionsFirst(text string) []string {
	f := parse(text)
	if f == nil || len(f.Stmts) != 1 {
		return nil
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(s.Redirs) == 0 || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return nil
	}
	var first, rest strings.Builder
	at := int(call.Args[0].Pos().Offset())
	for _, rd := range s.Redirs {
		from, to := int(rd.Pos().Offset()), int(rd.End().Offset())
		if rd.Hdoc != nil || from < at {
			return nil
		}
		first.WriteString(text[from:to] + " ")
		rest.WriteString(text[at:from])
		at = to
	}
	rest.WriteString(text[at:])
	return []string{text[:int(call.Args[0].Pos().Offset())] + first.String() + rest.String()}
}
