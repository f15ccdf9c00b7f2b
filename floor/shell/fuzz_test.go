package shell_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"assent/floor/commands"
	"assent/floor/effect"
	"assent/floor/paths"
	"assent/floor/shell"
	"assent/floor/shell/oracle"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"
)

// fuzzPlace is a place with links, files and folders, so that a text has
// something to meet.
func fuzzPlace() *paths.Place {
	const root = "/srv/dev/tree"
	links, files, folders := oracle.Tree(root)
	p := &paths.Place{Workspace: root + "/work", Cwd: root + "/work", Home: root + "/home", Vars: map[string]string{"TMPDIR": root + "/tmp"},
		Facts: paths.Facts{Links: links, Files: map[string]string{}, Dirs: map[string]bool{}}}
	for _, f := range files {
		p.Facts.Files[f] = ""
	}
	for _, f := range folders {
		p.Facts.Dirs[f] = true
	}
	return p
}

// seedTexts adds the scripts of the oracle, the bases of the respellings,
// composed scripts and some that only a fuzzer would write.
func seedTexts(f *testing.F, add func(text string)) {
	scripts, err := oracle.Scripts("testdata/oracle")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range scripts {
		add(s.Text)
	}
	for _, b := range oracle.Bases {
		add(b.Text)
	}
	for seed := range uint64(30) {
		add(compose(seed, "bash"))
	}
	for _, text := range []string{
		"", " ", "\n", "#", "\x00", "a\x00b", "\xff\xfe", "\r\n", "$(", "`", "'", "\"", "<<", "<<E", "((", "))", "[[", "${", "$((", ">", "|", "&", ";;", "{", "}",
		"a=", "a=(", "a[", "$'\\", "\\", "!", "~", "~~", "{a,", "{1..", "case", "for", "if", "f()", "function", "coproc", "time", "select",
		strings.Repeat("(", 300), strings.Repeat("$(", 300), strings.Repeat("{ ", 300), strings.Repeat("a;", 3000), strings.Repeat("!", 500) + " a",
		strings.Repeat("if a; then ", 300), strings.Repeat("\"$(", 100), strings.Repeat("${a:-", 200), strings.Repeat("{a,b}", 20), "{1..1000000000}", "{1..9999}{1..9999}",
		"f() { f; f; }; f", "f() { g; g; }; g() { f; f; }; f", "while :; do while :; do while :; do a=$a$a; done; done; done", "a=x; " + strings.Repeat("a=$a$a; ", 26) + "$a",
		"eval " + strings.Repeat("eval ", 500) + "a", doubling(26), strings.Repeat("bash -c '", 3) + "a" + strings.Repeat("'", 3),
		strings.Repeat("if [ -f a ]; then cd sub; fi; ", 40), strings.Repeat("[ -f a ] && x=1 || x=2; ", 60) + "$x", strings.Repeat("case $a in x) a=1;; y) a=2;; z) a=3;; esac; ", 30),
		"for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8; do for c in 1 2 3 4 5 6 7 8; do for d in 1 2 3 4 5 6 7 8; do x$a$b$c$d; done; done; done; done",
		"printf '%s' " + strings.Repeat("x", 5000), "printf '%100000000d' 1", "x=$(printf '%s%s%s%s' a b c d); $x", "seq 100000 | xargs -n1 rm", "trap 'trap \"a\" EXIT' EXIT", "trap 'eval \"$x\"' DEBUG; x='trap a EXIT'",
		"alias a='a a'; shopt -s expand_aliases\na", "alias a=b b=a; shopt -s expand_aliases\na", "declare -n a=b b=a; $a", "a=b b=a; ${!a}", "$((a=b=a))", "a=a; $((a))",
	} {
		add(text)
	}
}

// doubling is a text of functions that each call the next one with an argument
// of twice the length.
func doubling(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "f%d() { f%d \"$1$1\"; }\n", i, i+1)
	}
	return b.String() + "f0 x"
}

// runsFirst reports whether the first thing a text does is to run something
// by a plain name: then it has an effect, whatever follows.
func runsFirst(text string) bool {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return strings.TrimSpace(text) != "" // what cannot be read is told as such
	}
	if len(f.Stmts) == 0 {
		return false
	}
	call, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && call.Args[0].Lit() != ""
}

// What one text may cost. The costliest honest text of the seeds takes a tenth;
// the race detector needs the rest of the time.
const (
	mostTime   = 10 * time.Second
	mostMemory = 64 << 20
)

// FuzzEffects holds for any text: it is read without panic and in bounded
// time, twice the same, with spans inside the text and effects that are whole,
// and a text that runs something has an effect.
func FuzzEffects(f *testing.F) {
	seedTexts(f, func(text string) { f.Add(text) })
	know := commands.Default()
	place := fuzzPlace()
	f.Fuzz(func(t *testing.T, text string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		effects := shell.Effects(text, place, know)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if took > mostTime {
			t.Errorf("%d bytes took %v", len(text), took)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > mostMemory {
			t.Errorf("%d bytes took %d MB", len(text), took>>20)
		}
		if again := shell.Effects(text, place, know); !cmp.Equal(effects, again) {
			t.Errorf("read twice:\n%s", cmp.Diff(effects, again))
		}
		if len(effects) == 0 && runsFirst(text) {
			t.Error("the text runs something and has no effect")
		}
		for _, e := range effects {
			checkWhole(t, text, place, e)
		}
	})
}

// checkWhole checks one effect by itself.
func checkWhole(t *testing.T, text string, place *paths.Place, e effect.Effect) {
	t.Helper()
	if e.Span.Start < 0 || e.Span.Start > e.Span.End || e.Span.End > len(text) {
		t.Errorf("%s %q: span %v is not in the text of %d bytes", e.Kind, e.Target, e.Span, len(text))
	}
	if strings.ContainsRune(e.Target, 0) {
		t.Errorf("%s %q: a mark is shown", e.Kind, e.Target)
	}
	switch e.Kind {
	case effect.Run:
		if e.Command == nil {
			t.Errorf("run %q has no command", e.Target)
		}
	case effect.Opaque, effect.Net, effect.Env:
		if e.Target == "" {
			t.Errorf("%s: the effect does not say what", e.Kind)
		}
	case effect.Read, effect.Write, effect.Delete:
		p := e.Path
		if p.Known() && (!filepath.IsAbs(p.Abs) || !p.Glob && filepath.Clean(p.Abs) != p.Abs) {
			t.Errorf("%s %q: path %q is not absolute and clean", e.Kind, e.Target, p.Abs)
		}
		inside := p.Abs == place.Workspace || strings.HasPrefix(p.Abs, place.Workspace+"/")
		if p.Known() && inside != p.Inside() {
			t.Errorf("%s %q: path %q, relative %q", e.Kind, e.Target, p.Abs, p.Rel)
		}
	}
}

// FuzzRespelled holds for any text that bash can read: wrapped and quoted, it
// is judged no less strictly.
func FuzzRespelled(f *testing.F) {
	seedTexts(f, func(text string) { f.Add(text, uint8(len(text))) })
	know := commands.Default()
	place := fuzzPlace()
	var rules []oracle.Respelling
	for _, r := range oracle.Respellings {
		switch r.Name {
		case "single-quotes", "double-quotes", "backslashes", "half-quoted", "empty-quotes-inside", "ansi-octal", "ansi-hex", "locale-quotes", "program-backslash",
			"group", "subshell", "and", "if-true", "blank-lines", "comment-before", "wide-blanks", "before-command", "before-env", "before-nice":
			rules = append(rules, r)
		}
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		switch {
		case len(text) > 2000: // the longer text may meet a limit, and limits are strict
			return
		case strings.ContainsRune(text, 0), !utf8.ValidString(text):
			return // told as a whole, and lost by what reads and writes it
		case strings.HasSuffix(text, `\`), strings.Contains(text, "<<"), strings.Contains(text, "alias"), strings.Contains(text, "ALIAS"):
			return // what follows would belong to it, or its lines are read one by one
		}
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), ""); err != nil {
			return
		}
		rule := rules[int(n)%len(rules)]
		switch rule.Name {
		case "group", "subshell", "and", "if-true":
			if strings.Contains(text, "\n") {
				return // an expansion that fails ends what was many lines
			}
		}
		want := strictness(place, shell.Effects(text, place, know))
		for _, other := range rule.Apply(text) {
			if got := strictness(place, shell.Effects(other, place, know)); got < want {
				t.Errorf("%d: %q\nby %s\n%q\nis only %d\n%s", want, text, rule.Name, other, got, showEffects(shell.Effects(other, place, know)))
			}
		}
	})
}
