package commands

import (
	"slices"
	"strings"

	"assent/floor/effect"
)

// The marks of abstract text. A word of a command line is plain text, except
// that NUL, which no real word can hold, introduces what is not plain.
const (
	Mark    = 0       // starts a mark
	Star    = "\x00*" // an active glob star
	One     = "\x00?" // an active glob question mark
	Set     = "\x00[" // an active bracket expression, up to "]"
	Unknown = "\x00$" // text nobody can tell, one word
	Words   = "\x00+" // text nobody can tell, any number of words
	Number  = "\x00#" // an unknown whole number
	Many    = "\x00m" // stands in a word that may be any number of such words, at least one
	Temp    = "\x00t" // the path of a temporary file that this call made
)

// Known reports whether a word is plain text.
func Known(word string) bool { return strings.IndexByte(word, Mark) < 0 }

// Globbed reports whether a word is a pattern that the shell expands.
func Globbed(word string) bool {
	return strings.Contains(word, Star) || strings.Contains(word, One) || strings.Contains(word, Set)
}

// Reading is how the words of one command line are understood.
type Reading struct {
	Entry    *Entry
	Class    effect.Class
	Sub      []string
	Options  []Use
	Operands []Arg
	Effects  []Fixed
	Inner    []Inner
	Issues   []Issue
	// Loose holds every word that is no option and no subcommand, in order.
	Loose []int
	// Turned holds the options that turn a look-up into something else.
	Turned []string
	// Brings says that files come into the tree whose names no word tells.
	Brings bool
	// Raised holds the options without which the class would be another one.
	Raised []string
}

// Use is one option in one command line.
type Use struct {
	Option *Option // nil when the entry does not list it
	Name   string  // as spelled when Option is nil, else the canonical name
	Value  string
	Valued bool
	Word   int // index of the word with the option
	At     int // index of the word with the value
}

// Arg is an operand with its meaning.
type Arg struct {
	Type    Type
	Text    string
	Word    int // -1 for a default
	Default bool
}

// Inner is a command within the command: words [From, To).
type Inner struct {
	From, To int
	Stdin    bool   // further words come from standard input
	Module   string // the words are arguments of this module
	Option   string // the option that runs it, "" for a wrapper
}

// Issue is something that could not be understood. Coverable issues are about
// what the data does not list; the others are about words nobody can tell.
type Issue struct {
	Word      int
	Why       string
	Coverable bool
}

// Read understands the words of a command line; words[0] is the program.
func (e *Entry) Read(words []string) Reading {
	r := reader{words: words, cur: e}
	r.Class = e.Class
	switch e.Style {
	case Plain:
		r.ended = true
	case DD:
		r.dd()
		return r.Reading
	case Tar:
		r.tarBundle()
	}
	r.run()
	r.finish()
	return r.Reading
}

type reader struct {
	Reading
	words  []string
	cur    *Entry
	i      int
	ended  bool // no more options
	dashed bool // because of "--"
	noSubs bool
	stop   bool
	maybe  []int // words that may be options, which matters only beside others
	expr   bool  // find: in the expression
}

func (r *reader) issue(word int, why string, coverable bool) {
	r.Issues = append(r.Issues, Issue{word, why, coverable})
}

// maybeOption is the issue of a word that may be an option.
const maybeOption = "a word that is not known and may be an option"

// severalWords is the issue of a value behind which further words may hide.
const severalWords = "a value that is not known and may be several words"

func (r *reader) run() {
	if r.i == 0 {
		r.i = 1
	}
	for r.i < len(r.words) && !r.stop {
		w := r.words[r.i]
		if !r.ended {
			if w == "--" {
				r.ended = r.cur.Style != Find
				r.dashed = r.ended
				r.i++
				continue
			}
			if len(w) > 1 && (w[0] == '-' || w[0] == '+' && r.plus(w) || w[0] == '/' && r.cur.option(w) != nil) {
				if r.cur.Style == Find && !r.expr && !r.global(w) {
					r.expr = true
				}
				r.parseOption(w)
				continue
			}
			if mayBeOption(w) {
				switch {
				case !r.cur.tame || r.hasCommands() && !r.noSubs || r.cur.turned && strings.Contains(w, Words):
					r.issue(r.i, maybeOption, false)
				case r.cur.turned:
					r.maybe = append(r.maybe, r.i)
				}
			}
			if r.cur.Style == Find && (w == "(" || w == ")" || w == "!" || w == ",") {
				r.expr = true
				r.i++
				continue
			}
		} else if r.cur.Style == Plain && !r.dashed {
			r.passed(w)
		}
		r.positional(w)
	}
}

// passed tells an option of the program among the words it hands on: where it
// takes its own options anywhere, one that says which folder, shell or file
// counts is not only the script's.
func (r *reader) passed(w string) {
	if w == "--" {
		r.dashed = true
		return
	}
	if r.cur.parent == nil || len(w) < 2 || w[0] != '-' {
		return
	}
	name, value, joined := strings.Cut(w, "=")
	if !Known(name) {
		return
	}
	if strings.HasPrefix(name, "--config.") { // pnpm: any of its settings
		r.issue(r.i, "a setting that cannot be told", false)
	}
	o := r.cur.option(name)
	if o == nil || o.Type.Tame() || o.Next != nil {
		return
	}
	at := r.i
	if !joined {
		if at++; o.Optional || at >= len(r.words) {
			return
		}
		value = r.words[at]
	}
	r.Options = append(r.Options, Use{Option: o, Name: o.Name, Value: value, Valued: true, Word: r.i, At: at})
}

func (r *reader) global(w string) bool {
	return w == "-H" || w == "-L" || w == "-P" || w == "-D" || strings.HasPrefix(w, "-O")
}

func (r *reader) plus(w string) bool { return r.cur.option(w) != nil || r.cur.option(w[:2]) != nil }

func (r *reader) hasCommands() bool { return r.cur.commands != nil }

func mayBeOption(w string) bool {
	return strings.HasPrefix(w, Unknown) || strings.Contains(w, Words)
}

func (r *reader) positional(w string) {
	if r.hasCommands() && !r.noSubs && !r.ended {
		if !Known(w) {
			if !r.cur.hasOperand {
				r.issue(r.i, "a subcommand that cannot be told", false)
				r.Class = effect.Unknown
			}
		} else if s := r.cur.sub(w); s != nil {
			r.Sub = append(r.Sub, w)
			r.cur = s
			r.Class = s.Class
			r.ended = s.Style == Plain
			r.i++
			return
		} else if !r.cur.hasOperand {
			r.issue(r.i, "unknown subcommand "+w, true)
			r.Class = effect.Unknown
		}
		r.noSubs = true
	}
	// What is a subcommand in front of "--" is one behind it to many programs
	// (make -- install), and so is every goal of several (make all install).
	if r.hasCommands() && r.cur.hasOperand && Known(w) && (r.dashed && !r.noSubs || r.goals()) && r.cur.sub(w) != nil {
		r.issue(r.i, "a further subcommand: "+w, true)
	}
	// A wrapper's command starts where its operand is an argv.
	ops := r.cur.Operands
	if r.cur.wraps() {
		_, ops, _ = r.applied(r.count(r.Loose) + r.count([]int{r.i}))
	}
	if from, stdin, ok := r.argvAt(ops, w); ok {
		if from {
			r.Inner = append(r.Inner, Inner{From: r.i, To: len(r.words), Stdin: stdin})
			r.i = len(r.words)
			r.stop = true
			return
		}
	}
	if spills(w) && slices.ContainsFunc(ops, func(o Operand) bool { return o.Type == Argv || o.Type == ArgvStdin }) {
		r.issue(r.i, severalWords, false) // the command may begin within
	}
	if r.Loose == nil {
		r.Loose = make([]int, 0, len(r.words)-r.i)
	}
	r.Loose = append(r.Loose, r.i)
	if r.cur.Style == POSIX {
		r.ended = true
	}
	r.i++
}

// wraps reports whether an option may make the operands those of a wrapper, or of
// none.
func (e *Entry) wraps() bool {
	argv := func(o Operand) bool { return o.Type == Argv || o.Type == ArgvStdin }
	return len(e.When) > 0 && (slices.ContainsFunc(e.Operands, argv) ||
		slices.ContainsFunc(e.When, func(a Alternative) bool { return slices.ContainsFunc(a.Operands, argv) }))
}

// goals reports whether operands are goals, which come several to a line.
func (r *reader) goals() bool { return len(r.cur.Operands) > 0 && r.cur.Operands[0].Type == MakeArg }

// argvAt reports whether the word at this position begins the inner command.
func (r *reader) argvAt(ops []Operand, w string) (from, stdin, ok bool) {
	n := len(r.Loose)
	for _, o := range ops {
		switch {
		case o.Type == Assign && o.Variadic:
			for n > 0 && isAssign(r.words[r.Loose[len(r.Loose)-n]]) {
				n--
			}
			if n == 0 && isAssign(w) {
				return false, false, true
			}
		case o.Type == Argv || o.Type == ArgvStdin:
			return n == 0, o.Type == ArgvStdin, true
		case o.Variadic:
			return false, false, false
		default:
			if n == 0 {
				return false, false, false
			}
			n--
		}
	}
	return false, false, false
}

func isAssign(w string) bool {
	i := strings.IndexByte(w, '=')
	return i > 0 && Known(w[:i])
}

func (r *reader) use(o *Option, value string, valued bool, word, at, off int) {
	if r.Options == nil {
		r.Options = make([]Use, 0, min(len(r.words)-word, 4))
	}
	r.Options = append(r.Options, Use{Option: o, Name: o.Name, Value: value, Valued: valued, Word: word, At: at})
	if o.Last {
		r.ended = true
	}
	if o.Next != nil {
		r.valued(o.Next, word)
	}
	switch o.Type {
	case Argv, ArgvStdin:
		// The value and what follows, up to ";" or "+", is a command.
		end := at
		for end < len(r.words) && r.words[end] != ";" && !(r.words[end] == "+" && end > at && r.words[end-1] == "{}") {
			end++
		}
		switch {
		case off > 0:
			r.issue(word, "a command joined to its option", false)
		case at < len(r.words):
			r.Inner = append(r.Inner, Inner{From: at, To: end, Stdin: o.Type == ArgvStdin, Option: o.Name})
			for i := at + 1; i < end; i++ { // the command may end within
				if spills(r.words[i]) {
					r.issue(i, severalWords, false)
					break
				}
			}
		}
		r.i = min(end+1, len(r.words))
	case Module:
		r.Inner = append(r.Inner, Inner{From: min(at+1, len(r.words)), To: len(r.words), Module: value})
		r.i = len(r.words)
		r.stop = true
	}
}

// parseOption reads the option at r.i and moves behind it and its value.
func (r *reader) parseOption(w string) {
	at := r.i
	r.i++
	if r.cur.Style == Single || r.cur.Style == Find {
		r.single(w, at)
		return
	}
	if strings.HasPrefix(w, "--") {
		r.long(w, at)
		return
	}
	if o := r.cur.option(w); o != nil && len(w) > 2 { // a long option with one dash
		r.valued(o, at)
		return
	}
	if name, _, ok := strings.Cut(w, "="); ok && len(name) > 2 && Known(name) {
		if o := r.cur.option(name); o != nil {
			r.use(o, w[len(name)+1:], true, at, at, len(name)+1)
			return
		}
	}
	r.cluster(w, at)
}

// valued takes the value of an option from the next word where it needs one.
func (r *reader) valued(o *Option, at int) {
	if o.Near && r.i < len(r.words) && r.near(o, at) {
		return
	}
	if o.Type == Flag || o.Optional {
		r.use(o, "", false, at, at, 0)
		return
	}
	if r.i >= len(r.words) {
		if o.Type != Argv && o.Type != ArgvStdin {
			r.issue(at, "option "+o.Name+" without its value", true)
		}
		return
	}
	v := r.i
	r.i++
	if !r.cur.inert && spills(r.words[v]) {
		r.issue(v, severalWords, false)
	}
	r.use(o, r.words[v], true, at, v, 0)
}

// near takes the next word as the value of an option that may have one. A word
// nobody knows may be the value, an option or an operand, and is read as each.
func (r *reader) near(o *Option, at int) bool {
	v := r.i
	switch w := r.words[v]; {
	case mayBeOption(w):
	case w == "" || w[0] == '-' || w[0] == '+':
		return false
	default:
		r.i++
	}
	r.use(o, r.words[v], true, at, v, 0)
	return true
}

func (r *reader) unknown(name, value string, valued bool, at int) {
	if !Known(name) {
		r.issue(at, "an option that cannot be told", false)
		return
	}
	if !r.cur.Lenient {
		r.issue(at, "unknown option "+name, true)
	}
	r.Options = append(r.Options, Use{Name: name, Value: value, Valued: valued, Word: at, At: at})
}

func (r *reader) long(w string, at int) {
	name, value, joined := strings.Cut(w, "=")
	if !Known(name) {
		r.issue(at, "an option that cannot be told", false)
		return
	}
	if spills(value) && !r.cur.inert {
		r.issue(at, severalWords, false)
	}
	o, short := r.cur.option(name), false
	if o == nil && r.cur.Style != Plain {
		var ambiguous bool
		if o, ambiguous = r.cur.abbreviated(name); ambiguous {
			r.issue(at, "ambiguous option "+name, true)
			return
		}
		short = o != nil
	}
	switch {
	case short && !joined && o.Type != Flag && at+1 < len(r.words) && strings.HasPrefix(r.words[at+1], "-"):
		// An option that nobody listed may be a switch of that name.
		r.issue(at, "an option "+name+" that may take the next word", true)
	case o == nil:
		r.unknown(name, value, joined, at)
	case joined:
		r.use(o, value, true, at, at, len(name)+1)
	default:
		r.valued(o, at)
	}
}

func (r *reader) single(w string, at int) {
	name, value, joined := strings.Cut(w, "=")
	o := r.cur.option(w)
	if o != nil {
		joined = false
	} else if Known(name) {
		if o = r.cur.option(name); o == nil && strings.HasPrefix(name, "--") {
			o = r.cur.option(name[1:])
		} else if o == nil {
			o = r.cur.option("-" + name)
		}
	}
	if o == nil && r.cur.Style == Single {
		if n, v, colon := strings.Cut(w, ":"); colon && Known(n) { // java -javaagent:FILE
			if c := r.cur.option(n); c != nil && c.Type != Flag {
				r.use(c, v, true, at, at, len(n)+1)
				return
			}
		}
	}
	switch {
	case o == nil && r.cur.Style == Single && Known(w) && len(w) > 2 && w[1] != '-' && r.prefixed(w, at):
	case o == nil:
		r.unknown(name, value, joined, at)
	case joined:
		r.use(o, value, true, at, at, len(name)+1)
	default:
		r.valued(o, at)
	}
}

// prefixed handles single-dash options whose value is joined without a sign,
// such as -DNAME or -Ipath: the two-letter option takes the rest.
func (r *reader) prefixed(w string, at int) bool {
	o := r.cur.options[w[:2]]
	if o == nil || o.Type == Flag {
		return false
	}
	r.use(o, w[2:], true, at, at, 2)
	if _, v, signed := strings.Cut(w[2:], "="); signed && !o.Type.Tame() && o.Next == nil && o.Type != Assign {
		r.use(o, v, true, at, at, len(w)-len(v)) // as -alh=FILE
	}
	return true
}

// cluster reads short options: -abc, -ofile, -o file.
func (r *reader) cluster(w string, at int) {
	digits := true
	for j := 1; j < len(w); j++ {
		digits = digits && (w[j] >= '0' && w[j] <= '9')
	}
	if digits && r.cur.option(w[:2]) == nil || w[1:] == Number { // -5: a count
		r.Options = append(r.Options, Use{Name: w, Word: at, At: at})
		return
	}
	sign := w[:1]
	for j := 1; j < len(w); j++ {
		if w[j] == Mark {
			r.issue(at, "an option that cannot be told", false)
			return
		}
		name := sign + w[j:j+1]
		o := r.cur.option(name)
		if o == nil {
			if w[j] >= '0' && w[j] <= '9' && j > 1 { // -C3, -n10 behind a flag
				continue
			}
			if r.cur.Lenient && r.laterEffect(sign, w[j+1:]) {
				r.unknown(name, "", false, at)
				continue
			}
			r.unknown(map[bool]string{true: w, false: name}[j == 1], "", false, at)
			return
		}
		rest := w[j+1:]
		switch {
		case o.Type == Flag:
			r.use(o, "", false, at, at, 0)
			if o.Last {
				return
			}
		case rest != "":
			if spills(rest) && !r.cur.inert {
				r.issue(at, severalWords, false)
			}
			r.use(o, rest, true, at, at, j+1)
			if v, signed := strings.CutPrefix(rest, "="); signed && !o.Type.Tame() && o.Next == nil && o.Type != Argv && o.Type != ArgvStdin && o.Type != Module {
				r.use(o, v, true, at, at, j+2) // what -o=v means to some programs
			}
			return
		default:
			r.valued(o, at)
			return
		}
	}
}

// laterEffect reports whether one of the letters is an option with an effect.
// Behind a letter nobody listed it may be one too.
func (r *reader) laterEffect(sign, letters string) bool {
	for i := range len(letters) {
		if letters[i] == Mark {
			return false
		}
		if o := r.cur.option(sign + letters[i:i+1]); o != nil && !o.Type.Tame() {
			return true
		}
	}
	return false
}

// tarBundle reads the old form of tar's first word: letters without a dash,
// their values in the words that follow.
func (r *reader) tarBundle() {
	if len(r.words) < 2 || r.words[1] == "" || r.words[1][0] == '-' || !Known(r.words[1]) {
		return
	}
	r.i = 2
	for _, c := range r.words[1] {
		o := r.cur.option("-" + string(c))
		switch {
		case o == nil:
			r.unknown("-"+string(c), "", false, 1)
		case o.Type == Flag || o.Optional:
			r.use(o, "", false, 1, 1, 0)
		case r.i < len(r.words):
			at := r.i
			r.i++
			r.use(o, r.words[at], true, 1, at, 0)
		}
	}
}

// dd reads NAME=value operands.
func (r *reader) dd() {
	for i, w := range r.words[1:] {
		name, value, ok := strings.Cut(w, "=")
		switch {
		case w == "--":
			continue
		case w == "--help" || w == "--version":
			r.Class = effect.Look
		case spills(w):
			r.issue(i+1, severalWords, false)
			r.Operands = append(r.Operands, Arg{Type: Read, Text: value, Word: i + 1}, Arg{Type: Write, Text: value, Word: i + 1})
		case !ok || !Known(name):
			r.issue(i+1, "an operand that cannot be told", !Known(w))
		case name == "if":
			r.Operands = append(r.Operands, Arg{Type: Read, Text: value, Word: i + 1})
		case name == "of":
			r.Operands = append(r.Operands, Arg{Type: Write, Text: value, Word: i + 1})
		}
		r.Loose = append(r.Loose, i+1)
	}
	r.Entry = r.cur
}

// applied returns the class, operands and effects after the alternatives whose
// conditions hold with n operands.
func (r *reader) applied(n int) (effect.Class, []Operand, []Fixed) {
	class, ops, fixed := r.cur.Class, r.cur.Operands, r.cur.Effects
	for i := range r.cur.When {
		a := &r.cur.When[i]
		if !r.holds(a, n) {
			continue
		}
		if a.Class != "" {
			class = a.Class
			r.Turned, r.Raised = nil, nil
			if a.Class != r.cur.Class {
				r.Raised = r.names(a.has)
			}
			if r.cur.Class == effect.Look && a.Class != effect.Look {
				r.Turned = r.names(a.has)
			}
		}
		if a.setsArgs {
			ops = a.Operands
		}
		if len(a.Effects) > 0 {
			from := len(fixed)
			fixed = append(slices.Clip(fixed), a.Effects...)
			if by := r.names(a.has); len(by) > 0 {
				for k := range fixed[from:] {
					fixed[from+k].Option = by[0]
				}
			}
		}
	}
	return class, ops, fixed
}

// brought reports whether the command brings files whose names no word tells.
func (r *reader) brought(n int) bool {
	if r.hasCommands() && !r.noSubs && len(r.Sub) == 0 {
		return false
	}
	name := r.words[0][strings.LastIndexByte(r.words[0], '/')+1:]
	if len(r.Sub) > 0 {
		name = r.Sub[len(r.Sub)-1]
	}
	if r.cur.brings(name) {
		return true
	}
	for i := range r.cur.When {
		a := &r.cur.When[i]
		if !a.Brings {
			continue
		}
		if r.holds(a, n) || a.args != nil && slices.ContainsFunc(r.Loose, func(w int) bool { return strings.Contains(r.words[w], Words) }) {
			return true
		}
	}
	return false
}

// names returns the canonical names of the options a condition is about.
func (r *reader) names(list []anyOf) []string {
	var out []string
	for i := range r.Options {
		u := &r.Options[i]
		for _, a := range list {
			if slices.Contains(a.names, u.Name) || u.Option != nil && slices.ContainsFunc(u.Option.Names, func(n string) bool { return slices.Contains(a.names, n) }) {
				out = append(out, u.Name)
				break
			}
		}
	}
	return out
}

// holds reports whether the conditions of an alternative hold.
func (r *reader) holds(a *Alternative, n int) bool {
	return (a.args == nil || a.args(n)) && r.all(a.has, true) && r.all(a.lacks, false)
}

// all reports whether every condition of the list holds (want) or none does.
func (r *reader) all(list []anyOf, want bool) bool {
	for i := range list {
		if r.present(&list[i], want) != want {
			return false
		}
	}
	return true
}

// present reports whether one of the options is there. A value that is not
// known counts against the looser reading: it is present where presence is
// asked with != or ~=, and not where it is asked with =.
func (r *reader) present(a *anyOf, _ bool) bool {
	for i := range r.Options {
		u := &r.Options[i]
		named := slices.Contains(a.names, u.Name)
		if !named && u.Option != nil {
			for _, n := range u.Option.Names {
				if slices.Contains(a.names, n) {
					named = true
					break
				}
			}
		}
		if !named {
			continue
		}
		if a.values == nil {
			return true
		}
		match := a.holds && !Known(u.Value)
		for _, v := range a.values {
			match = match || strings.EqualFold(v, u.Value) || strings.EqualFold(v, strings.TrimPrefix(u.Value, "=")) || a.holds && strings.Contains(strings.ToLower(u.Value), v)
		}
		if match != a.not {
			return true
		}
	}
	return false
}

// alone reads a call without a subcommand as what the bare program does, unless
// an option tells more (yarn installs, yarn --version looks).
func (r *reader) alone(b *Entry) {
	top := r.cur
	r.cur, r.Entry = b, b
	class, ops, fixed := r.applied(0)
	for i := range top.When {
		if a := &top.When[i]; a.has != nil && a.Class != "" && r.holds(a, 0) {
			class = a.Class
			fixed = append(slices.Clip(fixed), a.Effects...)
		}
	}
	r.Class, r.Effects = class, fixed
	r.assign(ops)
}

// finish applies the alternatives and gives every operand its type.
func (r *reader) finish() {
	r.Entry = r.cur
	if r.hasCommands() && !r.noSubs && len(r.Loose) == 0 && r.cur.bare != nil {
		r.alone(r.cur.bare)
		return
	}
	n := r.commandWords()
	class, ops, fixed := r.applied(n)
	if !(r.Class == effect.Unknown && r.cur.Class != effect.Unknown) { // an unknown subcommand stays unknown
		r.Class = class
	}
	if r.Class == effect.Unknown && r.hasCommands() && !r.noSubs {
		r.Class = effect.Look // only help is printed
	}
	r.Effects = fixed
	r.Brings = r.brought(n)
	if r.helps() {
		r.Class, r.Turned, r.Raised, r.Effects, r.Brings = effect.Look, nil, nil, nil, false
	}
	if r.noSubs && !r.cur.hasOperand {
		return
	}
	if len(r.Loose) > 1 {
		for _, w := range r.maybe {
			r.issue(w, maybeOption, false)
		}
	}
	// A word that may be several shifts the count: both readings are told.
	for _, w := range r.Loose {
		if strings.Contains(r.words[w], Words) && len(r.cur.When) > 0 {
			for i := range r.cur.When {
				if a := &r.cur.When[i]; a.args != nil && !a.Brings {
					r.issue(w, "the number of words cannot be told", false)
					break
				}
			}
		}
	}
	r.assign(ops)
	for i := range r.cur.When {
		a := &r.cur.When[i]
		if (a.Also == nil && a.Options == nil) || !r.holds(a, n) {
			continue
		}
		if a.Also != nil {
			issues := len(r.Issues)
			r.assign(a.Also)
			r.Issues = r.Issues[:issues] // the first meaning tells what is too many
		}
		for j := range r.Options {
			u := &r.Options[j]
			if u.Option == nil {
				continue
			}
			for _, n := range u.Option.Names {
				if o := a.Options[n]; o != nil {
					u.Option = o
					break
				}
			}
		}
	}
}

// helps reports whether a subcommand is only asked for its help: there is
// nothing else for it to act on.
func (r *reader) helps() bool {
	if len(r.Sub) == 0 || len(r.Loose) > 0 || len(r.Inner) > 0 || len(r.Issues) > 0 {
		return false
	}
	asked := false
	for i := range r.Options {
		u := &r.Options[i]
		asked = asked || u.Name == "--help" && !u.Valued
		if u.Option != nil && !u.Option.Type.Tame() {
			return false
		}
	}
	return asked
}

// count counts operands, which assignments before a command are not.
func (r *reader) count(at []int) int {
	n := 0
	assigns := len(r.cur.Operands) > 0 && r.cur.Operands[0].Type == Assign
	for _, i := range at {
		if !assigns || !isAssign(r.words[i]) {
			n++
		}
	}
	return n
}

// commandWords counts the operands with the words of the command that a
// wrapper runs.
func (r *reader) commandWords() int {
	n := r.count(r.Loose)
	for i := range r.Inner {
		if in := &r.Inner[i]; in.Option == "" && in.Module == "" {
			n += in.To - in.From
		}
	}
	return n
}

func (r *reader) assign(ops []Operand) {
	words := r.Loose
	n := len(words)
	if len(ops) > 0 {
		r.Operands = slices.Grow(r.Operands, n)
	}
	pos := 0
	add := func(t Type, w int) {
		r.Operands = append(r.Operands, Arg{Type: t, Text: r.words[w], Word: w})
	}
	for k, o := range ops {
		switch {
		case o.Type == Assign && o.Variadic:
			for pos < n && isAssign(r.words[words[pos]]) {
				add(Assign, words[pos])
				pos++
			}
		case o.Type == Argv || o.Type == ArgvStdin:
			// taken by the reader before; what is left over belongs to nobody
			if o.Type == ArgvStdin && len(r.Inner) == 0 && pos >= n {
				continue
			}
		case o.Variadic:
			after := 0
			for _, rest := range ops[k+1:] {
				if !rest.Maybe && rest.Type != Argv && rest.Type != ArgvStdin {
					after++
				}
			}
			took := false
			for pos < n-after {
				add(o.Type, words[pos])
				took = true
				pos++
			}
			if !took && o.Default != "" {
				r.Operands = append(r.Operands, Arg{Type: o.Type, Text: o.Default, Word: -1, Default: true})
			}
		case pos < n:
			w := words[pos]
			add(o.Type, w)
			// A pattern or an unknown that may be several words reaches into
			// the operands that follow, as far as no other word holds them.
			if several(r.words[w]) {
				left := n - pos - 1
				for _, next := range ops[k+1 : max(k+1, len(ops)-left)] {
					if !next.Type.Tame() && next.Type != Argv && next.Type != ArgvStdin {
						add(next.Type, w)
					}
				}
			}
			pos++
		case o.Default != "":
			r.Operands = append(r.Operands, Arg{Type: o.Type, Text: o.Default, Word: -1, Default: true})
		}
	}
	for ; pos < n; pos++ {
		r.issue(words[pos], "an operand nobody described", true)
	}
	r.reach(ops)
}

// reach gives a word that may be several every meaning that one of them may
// have: of the operands in front of a repeated one and behind it, as far as no
// other word holds them.
func (r *reader) reach(ops []Operand) {
	n, repeated := len(r.Loose), slices.IndexFunc(ops, func(o Operand) bool { return o.Variadic && o.Type != Assign })
	if repeated < 0 {
		return
	}
	for p, w := range r.Loose {
		if !several(r.words[w]) {
			continue
		}
		for k, o := range ops {
			if k < repeated && p > k || k > repeated && n-1-p > len(ops)-1-k {
				continue
			}
			given := slices.ContainsFunc(r.Operands, func(a Arg) bool { return a.Word == w && a.Type == o.Type })
			if !given && !o.Type.Tame() && o.Type != Argv && o.Type != ArgvStdin && o.Type != Assign {
				r.Operands = append(r.Operands, Arg{Type: o.Type, Text: r.words[w], Word: w})
			}
		}
	}
}

func several(w string) bool { return spills(w) || Globbed(w) }

// spills reports whether a word that is computed may be several.
func spills(w string) bool { return strings.Contains(w, Words) || strings.Contains(w, Many) }
