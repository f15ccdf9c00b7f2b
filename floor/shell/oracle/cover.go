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
// script does beside it. Effects of the shell itself answer for everything,
// unless it is known where in the text the fact comes from: at, or below zero
// when it is not known. Then they answer for nothing that stands before them.
func (f Fact) Covered(effects []effect.Effect, at int) Cover {
	if f.List && strings.Contains(f.Path+"/", "/tree/work/") {
		return Told // the names in the workspace are nobody's secret
	}
	if f.plumbing() {
		return Told
	}
	best := Untold
	for i := range effects {
		best = max(best, f.covered(&effects[i], at))
	}
	return best
}

// plumbing reports a shell by which a program runs a command line: that
// program is told to run the command, which is a fact of its own.
func (f Fact) plumbing() bool {
	if f.Kind != effect.Run || len(f.By) == 0 && !f.Anywhere || len(f.Args) != 3 || f.Args[1] != "-c" || f.Program() != "sh" {
		return false
	}
	return f.Anywhere || slices.Contains([]string{"awk", "sed"}, f.By[len(f.By)-1])
}

func (f Fact) covered(e *effect.Effect, at int) Cover {
	if e.Certainty == effect.Maybe && !f.List && e.Kind != effect.Write {
		return Untold // a guess is no telling, but for a copy that may go into a folder
	}
	best := Untold
	switch {
	case f.made(e):
		return Told
	case e.Kind == effect.Run && f.Kind == effect.Run:
		best = f.runCovered(e)
	case e.Kind == f.Kind, f.List && e.Kind == effect.Delete, f.Moved && e.Kind == effect.Write:
		best = f.pathCovered(e)
	}
	if at >= 0 && at < e.Span.Start {
		return best
	}
	return max(best, f.announced(e))
}

// announced reports whether the effect says that something happens there that
// cannot be told: an opaque one, a program nobody described, one that runs
// code, a variable that makes a later program do something else.
func (f Fact) announced(e *effect.Effect) Cover {
	switch {
	case e.Kind == effect.Opaque && f.at(e.Command),
		e.Kind == effect.Run && (!e.Command.Described || e.Command.Class == effect.Code) && f.happensIn(e.Command),
		e.Kind == effect.Env && e.Target != "PATH":
		return Opaque
	}
	return Untold
}

// made reports whether the fact is how the effect comes about: a folder that is
// made on the way to a file (mkdir -p), and the name that mktemp chooses in a
// folder that was told.
func (f Fact) made(e *effect.Effect) bool {
	switch {
	case f.Folder && e.Kind == effect.Write && e.Path.Known():
		return under(e.Path.Abs, f.Path)
	case !f.Anywhere && !slices.Contains(f.By, "mktemp") || e.Command == nil || e.Command.Program != "mktemp":
		return false
	case e.Kind == effect.Run:
		return f.Kind == effect.Read || strings.Contains(f.Path, "/tree/tmp/")
	}
	dir := filepath.Dir(f.Path)
	return e.Kind == effect.Write && (e.Path.Abs == dir || filepath.Dir(e.Path.Abs) == dir)
}

// builtins act in the shell itself.
var builtins = []string{"", ".", "source", "eval", "exec", "command", "builtin", "trap", "alias", "hash", "enable", "printf", "read", "set", "shopt",
	"unset", "let", "test", "[", "declare", "typeset", "local", "export", "readonly", "mapfile", "readarray", "cd", "pushd", "popd", "bind",
	"complete", "compgen", "fc", "history", "coproc", "getopts"}

// at reports whether the fact lies where the command acts.
func (f Fact) at(c *effect.Command) bool {
	if c == nil || f.Anywhere || slices.Contains(builtins, c.Program) {
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
	return f.Anywhere || slices.Contains(f.By, filepath.Base(c.Program))
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

var descriptor = regexp.MustCompile(`/(?:dev|proc/self)/fd/[0-9]+`)

// matchWords compares the words of a run as they are shown, where "…" stands
// for anything and a glob for any number of words, with the words that were
// really run. The first word only names the program.
func matchWords(shown string, args []string) bool {
	_, words, _ := strings.Cut(withoutQuotes(strings.ReplaceAll(shown, "(temporary file)", "…")), " ")
	if len(args) == 0 {
		return words == ""
	}
	real := ""
	for _, a := range args[1:] {
		real += " " + a
	}
	// Which descriptor a process substitution gets is nobody's business.
	words, real = descriptor.ReplaceAllString(words, "/dev/fd/63"), descriptor.ReplaceAllString(real, "/dev/fd/63")
	if literal.Replace(words) == strings.TrimPrefix(real, " ") {
		return true
	}
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for _, word := range strings.Split(words, " ") {
		switch {
		case strings.HasPrefix(word, "/") && strings.Contains(word, "…"):
			b.WriteString(` ?.*`) // find tells its paths from where it begins, here they are absolute
		case strings.Contains(word, "…"):
			b.WriteString(`(?: ` + pattern(word) + `)?`) // it may be any number of words
		case strings.ContainsAny(word, "*?["):
			b.WriteString(`(?: ` + meta(word) + `|(?: ` + pattern(word) + `)*)`)
		default:
			b.WriteString(` ` + meta(word))
		}
	}
	b.WriteString(`$`)
	re, err := regexp.Compile(b.String())
	return err == nil && re.MatchString(real)
}

// Characters that a quote takes the meaning from, and what stands for them
// while words are compared.
var (
	masked  = strings.NewReplacer(" ", "\ue000", "*", "\ue001", "?", "\ue002", "[", "\ue003", "…", "\ue004")
	literal = strings.NewReplacer("\ue000", " ", "\ue001", "*", "\ue002", "?", "\ue003", "[", "\ue004", "…")
)

// meta is a word as a regular expression that only fits the word.
func meta(word string) string { return regexp.QuoteMeta(literal.Replace(word)) }

// withoutQuotes takes the quotes from shown words.
func withoutQuotes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\'', '"':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return b.String() + s[i:]
			}
			b.WriteString(masked.Replace(s[i+1 : i+1+end]))
			i += end + 1
		case '\\':
			i++
			if i < len(s) {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// pattern turns one shown word into a regular expression. A set is not
// compared: from there on anything will do.
func pattern(word string) string {
	word, _, set := strings.Cut(word, "[")
	quoted := regexp.QuoteMeta(word)
	quoted = strings.NewReplacer(`……/`, `(?:.*/)?`, `…`, `.*`, `\*`, `.*`, `\?`, `.`).Replace(quoted)
	quoted = strings.NewReplacer("\ue000", " ", "\ue001", `\*`, "\ue002", `\?`, "\ue003", `\[`, "\ue004", "…").Replace(quoted)
	if set {
		quoted += `.*`
	}
	return quoted
}

func (f Fact) pathCovered(e *effect.Effect) Cover {
	if e.Meta && !f.List {
		return Untold
	}
	p := e.Path
	if !p.Known() {
		// A glob is expanded by the shell for the command that gets its words.
		if e.Own || f.at(e.Command) || f.List && len(f.By) == 0 {
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
