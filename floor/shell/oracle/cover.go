package oracle

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assent/floor/effect"

	"github.com/bmatcuk/doublestar/v4"
)

// Cover is how well a fact was told beforehand.
type Cover uint8

// From nothing to all. Opaque: something that cannot be told was announced at
// that place. Loose: an effect of that kind with an unknown path or program.
const (
	Untold Cover = iota
	Opaque
	Loose
	Told
)

// Covered finds the best telling of a fact among the effects.
//
// The place of an effect is the program that causes it: an opaque effect of a
// program answers for what happens in it and below it, never for what the
// script does beside it. Effects of the shell itself answer for everything.
func (f Fact) Covered(effects []effect.Effect) Cover {
	if f.List && strings.Contains(f.Path+"/", "/tree/work/") {
		return Told // the names in the workspace are nobody's secret
	}
	best := Untold
	for i := range effects {
		best = max(best, f.covered(&effects[i]))
	}
	if best < Opaque && slices.Contains(f.By, "mktemp") {
		// mktemp makes its file where nobody can name it beforehand; its run is
		// what is told.
		best = Fact{Kind: effect.Run, Path: "mktemp", Args: []string{"mktemp"}}.Covered(effects)
	}
	return best
}

func (f Fact) covered(e *effect.Effect) Cover {
	switch {
	case e.Certainty == effect.Maybe:
		return Untold // a guess is no telling
	case e.Kind == effect.Run && f.Kind == effect.Run:
		return f.runCovered(e)
	case e.Kind == effect.Run && !e.Command.Described && e.Command.Program != "" && f.happensIn(e.Command),
		e.Kind == effect.Run && e.Command.Class == effect.Code && f.happensIn(e.Command):
		return Opaque // an unknown program, or one that runs code, is announced
	case e.Kind == effect.Opaque && f.at(e.Command):
		return Opaque
	case e.Kind == f.Kind && e.Kind != effect.Run:
		return f.pathCovered(e)
	}
	return Untold
}

// builtins act in the shell itself.
var builtins = []string{"", ".", "source", "eval", "exec", "command", "builtin", "trap", "alias", "hash", "enable", "printf", "read", "set", "shopt",
	"unset", "let", "test", "[", "declare", "typeset", "local", "export", "readonly", "mapfile", "readarray", "cd", "pushd", "popd", "bind",
	"complete", "compgen", "fc", "history", "coproc", "getopts"}

// at reports whether the fact lies where the command acts.
func (f Fact) at(c *effect.Command) bool {
	if c == nil || slices.Contains(builtins, c.Program) {
		return true
	}
	return f.happensIn(c)
}

// happensIn reports whether the fact is the work of the command.
func (f Fact) happensIn(c *effect.Command) bool {
	if c == nil {
		return false
	}
	if (c.Program == "." || c.Program == "source" || c.Program == "eval") && c.Class == effect.Code {
		return true
	}
	return slices.Contains(f.By, filepath.Base(c.Program))
}

func (f Fact) runCovered(e *effect.Effect) Cover {
	c := e.Command
	if c == nil {
		return Untold
	}
	switch {
	case filepath.Base(c.Program) == f.Program() && matchWords(e.Target, f.Args):
		if strings.Contains(e.Target, "…") {
			return Loose
		}
		return Told
	case strings.Contains(c.Program, "…") && f.at(nil):
		return Loose
	}
	return Untold
}

// matchWords compares the words of a run as they are shown, where "…" stands
// for anything and a glob for any number of words, with the words that were
// really run. The first word only names the program.
func matchWords(shown string, args []string) bool {
	_, words, _ := strings.Cut(strings.ReplaceAll(shown, "(temporary file)", "…"), " ")
	if len(args) == 0 {
		return words == ""
	}
	real := ""
	for _, a := range args[1:] {
		real += " " + a
	}
	if words == strings.TrimPrefix(real, " ") {
		return true
	}
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for _, word := range strings.Split(words, " ") {
		switch {
		case strings.Contains(word, "…"):
			b.WriteString(` ?` + pattern(word))
		case strings.ContainsAny(word, "*?["):
			b.WriteString(`(?: ` + regexp.QuoteMeta(word) + `|(?: ` + pattern(word) + `)*)`)
		default:
			b.WriteString(` ` + regexp.QuoteMeta(word))
		}
	}
	b.WriteString(`$`)
	re, err := regexp.Compile(b.String())
	return err == nil && re.MatchString(real)
}

// pattern turns one shown word into a regular expression.
func pattern(word string) string {
	var b strings.Builder
	for i, r := range word {
		switch {
		case r == '…' || r == '*':
			b.WriteString(`.*`)
		case r == '?':
			b.WriteString(`.`)
		case r == '[' && strings.ContainsRune(word[i+1:], ']'):
			b.WriteString(`.`)
			// The set itself is not compared: any one character will do.
			rest := word[i+1:]
			if len(rest) > 1 {
				end := strings.IndexByte(rest[1:], ']') + 1
				if end > 0 {
					return b.String() + pattern(rest[end+1:])
				}
			}
			return b.String() + `.*`
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}

func (f Fact) pathCovered(e *effect.Effect) Cover {
	if e.Meta && !f.List {
		return Untold
	}
	p := e.Path
	if !p.Known() {
		if e.Own || f.at(e.Command) {
			return Loose
		}
		return Untold
	}
	if !p.Glob {
		if p.Abs == f.Path || e.Tree && under(f.Path, p.Abs) {
			return Told
		}
		return Untold
	}
	// A folder is listed to find what a glob under it matches.
	segments := strings.Split(p.Abs, "/")
	for path := f.Path; ; path = filepath.Dir(path) {
		if ok, _ := doublestar.Match(p.Abs, path); ok && (e.Tree || path == f.Path) {
			return Told
		}
		if path == "/" {
			break
		}
	}
	if f.List {
		for n := len(segments) - 1; n > 0; n-- {
			if ok, _ := doublestar.Match(strings.Join(segments[:n], "/"), f.Path); ok {
				return Told
			}
		}
	}
	return Untold
}
