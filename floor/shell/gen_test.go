package shell_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"assent/floor/commands"
)

// composer writes scripts that mix the constructs of bash: what one construct
// does to variables, functions, folders and options meets what another one
// makes of them. A seed gives the same script for ever. Scripts always end, and
// they touch only names of the world they run in.
type composer struct {
	*rand.Rand
	budget int // statements left
	depth  int
	calls  int // functions a body may call: those of a lower number
	tags   int
	plain  bool // for one that reads little of what bash reads
	away   bool // the text is for another shell than bash
	hidden bool // the text is written to a file: what it does does not come from there
}

func compose(seed uint64, sh string) string {
	c := &composer{Rand: rand.New(rand.NewPCG(seed, 0)), budget: 14, calls: 2, away: sh != "bash", plain: sh == "dash"}
	var b strings.Builder
	switch {
	case c.IntN(3) == 0:
	case c.plain:
		b.WriteString("u=alpha v=beta w=gamma n=1; set -- one two\n")
	default:
		b.WriteString("u=alpha v=beta w=gamma n=1 l=(alpha x); set -- one two\n")
	}
	for b.Len() == 0 || c.budget > 0 && c.IntN(6) > 0 {
		b.WriteString(c.statement())
		b.WriteString(c.pick(";\n", "\n", "\n\n", " # and on\n", " ;\n"))
	}
	b.WriteString(c.use())
	b.WriteString("\nwait\n")
	return b.String()
}

func (c *composer) pick(from ...string) string { return from[c.IntN(len(from))] }

func (c *composer) variable() string { return c.pick("u", "v", "w") }

// value is plain text that makes sense as a program, an option or a file.
func (c *composer) value() string {
	return c.pick("alpha", "beta", "gamma", "tool", "rm", "cat", "one", "-f", "a.txt", "b.txt", "sub", "sub/c.txt", "two words", "*.txt", "f?",
		"../outside/secret.txt", "list.txt", "alpha one", "link")
}

// spelled quotes a plain text in one of many ways.
func (c *composer) spelled(s string) string {
	plain := !strings.ContainsAny(s, " *?'\"$\\`;&|<>(){}[]~#!\n")
	switch n := c.IntN(8); {
	case n < 3 && plain:
		return s
	case n == 3 && plain && len(s) > 1:
		i := 1 + c.IntN(len(s)-1)
		return s[:i] + c.pick("''", `""`, "\\\n") + s[i:]
	case n == 4 && plain && len(s) > 1:
		i := 1 + c.IntN(len(s)-1)
		return s[:i] + `"` + s[i:] + `"`
	case n == 5:
		var b strings.Builder
		b.WriteString("$'")
		for i := range len(s) {
			if c.IntN(3) == 0 || s[i] == '\'' || s[i] == '\\' {
				fmt.Fprintf(&b, `\%03o`, s[i])
			} else {
				b.WriteByte(s[i])
			}
		}
		return b.String() + "'"
	case n == 6 && plain && s[0] != '-':
		return `\` + s
	}
	return single(s)
}

// single quotes any text.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// beyond are signs of what is an error, not a different meaning, to a plain
// shell: a script with one of them would do nothing.
var beyond = regexp.MustCompile(`=\(|[<>]\(|<<<|\$\{!|\[@\]|l\[|m\[|\$\{[a-z](\^|,|/|:[ 0-9]|@)|for \(\(|coproc|\|&|;;?&|16#|\{fd\}|\$\{@:|ERR|RETURN|DEBUG|\{[a-z0-9.]*(,|\.\.)[a-z0-9.]*\}|\(\( n >|printf -v`)

// fits makes a piece of the script, again where the shell would not read it.
func (c *composer) fits(piece func() string) string {
	for range 8 {
		if s := piece(); !c.plain || !beyond.MatchString(s) {
			return s
		}
	}
	return "alpha"
}

// word is an argument.
func (c *composer) word() string { return c.fits(c.anyWord) }

func (c *composer) anyWord() string {
	if c.depth > 3 {
		return c.spelled(c.value())
	}
	c.depth++
	defer func() { c.depth-- }()
	v := c.variable()
	switch c.IntN(26) {
	case 0, 1, 2, 3, 4, 5:
		return c.spelled(c.value())
	case 6, 7:
		return "$" + v
	case 8:
		return `"$` + v + `"`
	case 9:
		return "${" + v + c.pick(":-", "-", ":+", "+", ":=", "=") + c.spelled(c.value()) + "}"
	case 10:
		return `"${` + v + c.pick("#al", "##*/", "%.txt", "%%a*", "/a/b", "//a/", "/#a/x", "/%a/x", "^", "^^", ",,", ":1", ":0:2", ": -2", "@Q", "@U") + `}"`
	case 11:
		return "${!" + v + "}"
	case 12:
		return c.pick(`"$@"`, "$*", "$1", `"${2:-none}"`, "$#", `"${@:2}"`)
	case 13:
		return c.pick(`"${l[@]}"`, "${l[0]}", "${l[1]:-x}", "${#l[@]}", `"${l[-1]:-x}"`, `"${m[k]:-x}"`)
	case 14:
		return "$(" + c.brief() + ")"
	case 15:
		return `"$(` + c.brief() + `)"`
	case 16:
		return "$(( " + c.pick("1 + 2", "n = 3", "n++", "n ? 1 : 0", "l[0] = 1", "16#f") + " ))"
	case 17:
		return c.pick("*.txt", "f?", "sub/*", "[ab].txt", "sub/**", "no*match", "*/c.txt")
	case 18:
		return c.pick("{a,b}.txt", "{1..3}", "{alpha,beta}", "x{,y}", "sub/{c.txt,deep}")
	case 19:
		return c.pick("~", "~/notes.txt", "$HOME/notes.txt", "$PWD/a.txt", "${PWD%/*}", "$OLDPWD")
	case 20:
		return "<(" + c.brief() + ")"
	case 21:
		return c.spelled(c.value()) + "$" + v
	case 22:
		return "`printf %s " + c.pick("alpha", "a.txt", "x") + "`"
	case 23:
		return "$(<" + c.pick("list.txt", "a.txt") + ")"
	case 24:
		return "${" + v + ":-$(" + c.brief() + ")}"
	}
	return c.spelled(c.value())
}

func (c *composer) words(most int) string {
	var b strings.Builder
	for range c.IntN(most + 1) {
		b.WriteString(c.pick(" ", "  ", "\t", " \\\n"))
		b.WriteString(c.word())
	}
	return b.String()
}

func (c *composer) program() string {
	return c.spelled(c.pick("alpha", "beta", "gamma", "tool", "rm", "git", "cat"))
}

// run is a program with a tag among its words.
func (c *composer) run(most int) string {
	return c.program() + c.pick(" ", " ", " \\\n") + c.tag("at") + c.words(most)
}

// brief is a simple command without redirections.
func (c *composer) brief() string {
	switch c.IntN(5) {
	case 0:
		return "printf '%s\\n' " + c.spelled(c.value())
	case 1:
		return "echo " + c.pick("alpha", "a.txt", "one two")
	}
	return c.run(2)
}

func (c *composer) out() string {
	return c.pick("", "sub/", "../outside/", "'two words'", "$PWD/", "~/", "\"$TMPDIR\"/") + c.tag("out")
}

// tag is a word that occurs only once, by which it can be told where in the
// text something comes from.
func (c *composer) tag(kind string) string {
	c.tags++
	if c.hidden {
		return fmt.Sprintf("%s%d", kind, c.tags)
	}
	return fmt.Sprintf("%s%03d", kind, c.tags)
}

func (c *composer) redirection() string { return c.fits(c.anyRedirection) }

func (c *composer) anyRedirection() string {
	switch c.IntN(12) {
	case 0:
		return " > " + c.out()
	case 1:
		return " >> " + c.out()
	case 2:
		return " 2>" + c.out()
	case 3:
		return " &> " + c.out()
	case 4:
		return " < " + c.pick("a.txt", "sub/c.txt", "list.txt", "secretlink")
	case 5:
		return " <<< " + c.spelled(c.value())
	case 6:
		return " 2>&1"
	case 7:
		return " {fd}> " + c.out()
	}
	return ""
}

// use runs what a variable, the arguments or an array hold by now.
func (c *composer) use() string { return c.fits(c.anyUse) }

func (c *composer) anyUse() string {
	switch c.IntN(6) {
	case 0:
		return `"$@" one`
	case 1:
		return `"${l[@]}" one`
	case 2:
		return c.function() + c.words(2)
	}
	return "$" + c.variable() + c.words(2)
}

func (c *composer) function() string {
	if c.calls < 0 {
		return "alpha"
	}
	return "f" + strconv.Itoa(c.IntN(c.calls+1))
}

func (c *composer) assignment() string { return c.fits(c.anyAssignment) }

func (c *composer) anyAssignment() string {
	v := c.variable()
	switch c.IntN(16) {
	case 0:
		return v + "+=" + c.spelled(c.value())
	case 1:
		return c.pick("export ", "declare ", "typeset ", "readonly r; ") + v + "=" + c.spelled(c.value())
	case 2:
		return v + "=$(" + c.brief() + ")"
	case 3:
		return "l=(" + c.spelled(c.value()) + c.words(2) + ")"
	case 4:
		return "l+=(" + c.word() + ")"
	case 5:
		return "l[" + c.pick("0", "1", "n", "n+1") + "]=" + c.word()
	case 6:
		return "set --" + c.words(3)
	case 7:
		return "read " + v + " <<< " + c.spelled(c.value())
	case 8:
		return "printf -v " + v + " %s " + c.spelled(c.value())
	case 9:
		return c.pick("cd sub", "cd ..", "cd - > /dev/null", "cd ../outside", "cd \"$HOME\"", "cd @WORK@", "pushd sub > /dev/null", "popd > /dev/null 2>&1", "cd linkdir", "cd no-such-folder 2> /dev/null")
	case 10:
		return c.pick("IFS=:", "IFS=' '", "unset IFS", "IFS=t", "set -f", "set +f", "shopt -s nullglob", "shopt -s dotglob", "shopt -s globstar", "shopt -s lastpipe", "set -a", "shift", "unset "+v)
	case 11:
		return "declare -A m=([k]=" + c.spelled(c.value()) + ")"
	case 12:
		return v + "=" + c.variable()
	case 13:
		return ": ${" + v + ":=" + c.spelled(c.value()) + "}"
	}
	return v + "=" + c.spelled(c.value())
}

// statement is any construct.
func (c *composer) statement() string { return c.fits(c.anyStatement) }

func (c *composer) anyStatement() string {
	c.budget--
	if c.depth > 3 || c.budget < 0 {
		return c.run(2)
	}
	c.depth++
	defer func() { c.depth-- }()
	switch c.IntN(36) {
	case 0, 1, 2, 3:
		return c.run(3) + c.redirection()
	case 4, 5, 6, 7, 8:
		return c.assignment()
	case 9, 10, 11:
		return c.use() + c.redirection()
	case 12:
		return c.statement() + c.pick(" && ", " || ", "; ", " &&\n") + c.statement()
	case 13:
		return c.inline() + c.pick(" | ", " |& ", " |\n") + c.inline()
	case 14:
		return "{ " + c.body() + "; }" + c.redirection()
	case 15:
		return "( " + c.body() + " )" + c.redirection()
	case 16:
		return "if " + c.condition() + "; then " + c.body() + c.pick("", "; else "+c.body(), "; elif "+c.condition()+"; then "+c.body()) + "; fi" + c.redirection()
	case 17:
		return "for " + c.variable() + " in" + c.words(3) + "; do " + c.body() + "; done" + c.redirection()
	case 18:
		i := "i" + strconv.Itoa(c.budget+100) // of this loop alone, or an inner one would keep it going
		return "for ((" + i + "=0; " + i + "<" + c.pick("0", "1", "2") + "; " + i + "++)); do " + c.body() + "; done"
	case 19:
		return "while " + c.condition() + "; do " + c.body() + "; break; done" + c.redirection()
	case 20:
		return "case " + c.word() + " in " + c.pick("a*", "alpha", "'two words'", "$v") + ") " + c.body() + c.pick(";;", ";&", ";;&") + " *) " + c.body() + ";; esac"
	case 21:
		return c.definition()
	case 22:
		return "eval " + single(c.statement())
	case 23:
		return c.pick("bash -c ", "sh -c ", "env bash -c ", "timeout 20 bash -c ") + single(c.statement()) + c.words(2)
	case 24:
		return c.pick("env ", "env A=1 ", "nice ", "command ", "nohup ", "timeout 20 ", "time ", "! ", "stdbuf -oL ") + c.run(2) + " 2> /dev/null"
	case 25:
		return "printf '%s\\n' " + c.spelled(c.value()) + " | " + c.pick("xargs ", "xargs -I{} ", "xargs -n1 ", "xargs env ") + c.pick("alpha", "beta x", "alpha {}", "cat")
	case 26:
		return "{ " + c.pick("cat", "bash", "read "+c.variable(), "while read "+c.variable()+"; do "+c.body()+"; done") + " <<" + c.pick("E", "'E'", "\\E", "-E") + "\n" +
			c.pick("alpha from-here", "$v from-here", "$(beta in-here)", "text") + "\nE\n}"
	case 27:
		return "trap " + c.pick(single(c.statement())+" EXIT", single(c.statement())+" ERR", "'alpha in-trap' RETURN", "'$v in-trap' DEBUG", "- EXIT")
	case 28:
		return "find " + c.pick("sub", ".", "sub/deep") + " -name '*.txt' -exec " + c.pick("alpha {} \\;", "beta {} +", "sh -c 'gamma \"$1\"' _ {} \\;", "cat {} +")
	case 29:
		return "(( " + c.pick("n = 1", "n++", "n > 0", "l[n] = 2", "n = l[0]") + " ))" + c.pick("", " && "+c.use())
	case 30:
		file := "made" + strconv.Itoa(c.budget+100) + ".sh"
		was := c.hidden
		c.hidden = true
		text := c.statement()
		c.hidden = was
		return "echo " + single(text) + " > " + file + "; " + c.pick(". ./", "source ./", "bash ./", "sh ") + file
	case 31:
		return c.inline() + " & wait"
	case 32:
		if c.away {
			return c.run(3) // one of zsh waits for its output to be read
		}
		return "coproc { " + c.body() + "\n} < /dev/null; wait" // its input would be a pipe that nobody closes
	case 33:
		return "declare -n r=" + c.variable() + "; r=" + c.spelled(c.value()) + "; $r one"
	case 34:
		return "shopt -s expand_aliases\nalias tool=" + single(c.pick("alpha", "rm -f", "beta ", "alpha; gamma")) + "\ntool one"
	}
	return "exec " + c.pick("3< a.txt", "4> "+c.out(), "2> "+c.out(), "5<> a.txt")
}

func (c *composer) body() string {
	if c.IntN(3) == 0 {
		return c.statement() + c.pick("; ", "\n") + c.statement()
	}
	return c.statement()
}

// inline is a statement that may stand in a pipe.
func (c *composer) inline() string {
	switch c.IntN(5) {
	case 0:
		return "{ " + c.body() + "\n}"
	case 1:
		return "echo " + c.pick("alpha", "beta one", "list.txt")
	case 2:
		return "while read -r " + c.variable() + "; do " + c.body() + "\ndone"
	}
	return c.run(2)
}

func (c *composer) condition() string {
	return c.pick("true", "false", "[ -f a.txt ]", "[[ $v == a* ]]", "[[ -n $w ]]", "(( n > 1 ))", "! false", "[ \"$u\" = alpha ]", "fails", "alpha in-condition", "[[ $u =~ a(.*) ]]")
}

// definition makes a function; its body calls only functions of a lower number,
// so that nothing calls itself.
func (c *composer) definition() string {
	saved := c.calls
	n := c.IntN(3)
	c.calls = n - 1
	body := c.body()
	c.calls = saved
	name := "f" + strconv.Itoa(n)
	call := name + c.words(2)
	if saved < n {
		call = ":" // this is the body of a function of a lower number
	}
	return name + "() " + c.pick("{ "+c.pick("", "local v=beta; ", "local u; ")+body+c.pick("", "; return")+"\n}", "( "+body+"\n)") + "\n" + call
}

// seeds is how many composed scripts a normal run takes; ORACLE_SEEDS asks for
// another number, and ORACLE_FIRST where to begin.
func seeds(t *testing.T) (first, n uint64) {
	n = 300
	if testing.Short() {
		n = 40
	}
	for name, into := range map[string]*uint64{"ORACLE_FIRST": &first, "ORACLE_SEEDS": &n} {
		if v := os.Getenv(name); v != "" {
			got, err := strconv.ParseUint(v, 10, 64)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			*into = got
		}
	}
	return first, n
}

// TestComposed is TestRealBash for scripts that nobody thought of.
func TestComposed(t *testing.T) {
	know := commands.Default()
	first, n := seeds(t)
	var c tally
	t.Run("scripts", func(t *testing.T) {
		for seed := first; seed < first+n; seed++ {
			t.Run(fmt.Sprint("seed-", seed), func(t *testing.T) {
				t.Parallel()
				w := bash.world(t)
				checkTold(t, w, know, "bash", w.Expand(compose(seed, "bash")), &c)
			})
		}
	})
	// Composed scripts pile eval, aliases and references on each other, so more
	// of them than of the written ones can only be announced.
	c.check(t, 50)
}
