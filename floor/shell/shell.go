// Package shell tells what a bash text would do: it reads the text, follows
// what can be followed (folders, assignments, functions, loops, here-documents,
// substitutions, wrappers) and returns the effects. It never runs anything and
// does no I/O; what it cannot tell it says so, as an opaque effect.
//
// It never says less than what the text may do. Where the course of the text
// depends on what only running it would show, both courses are told.
//
// The text is read as bash reads it, and where zsh or dash would read it
// otherwise, a second time for them: see readings.go.
//
// Start reading at [Effects]; words.go expands words, command.go reads external
// programs, builtins.go what the shell does itself.
package shell

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"assent/floor/commands"
	"assent/floor/effect"
	"assent/floor/paths"

	"mvdan.cc/sh/v3/syntax"
)

// The limits of policy §2 and of the work one text may cause.
const (
	MaxText   = 10_000 // characters; a longer text is told and asked about
	maxParse  = 1 << 20
	maxDepth  = 40     // texts within texts, functions, substitutions
	maxNest   = 200    // brackets within brackets, before the parser sees them
	maxWork   = 20_000 // statements and words
	maxWorlds = 8      // courses that are followed side by side
	maxFields = 256    // words one word may become
	maxKnown  = 1 << 16
	maxRounds = 16 // passes over a loop with a known list
)

// Effects returns what the text would do at that place, in the order of the
// text. A text that does nothing has no effects; one that cannot be read has
// at least an opaque one.
func Effects(text string, place *paths.Place, know *commands.Knowledge) []effect.Effect {
	return After(nil, text, place, know)
}

// After is Effects for a text of a call that does something else as well: what
// that writes may be what the text runs.
func After(before []effect.Effect, text string, place *paths.Place, know *commands.Knowledge) []effect.Effect {
	r := &reader{before: before, place: place, know: know, whole: text, out: make([]effect.Effect, 0, 4)}
	whole := effect.Span{Start: 0, End: len(text)}
	switch {
	case len(text) > maxParse:
		r.add(effect.Effect{Target: "the text is too long to read", Span: whole})
		return r.out
	case strings.IndexByte(text, 0) >= 0:
		r.add(effect.Effect{Target: "the text holds a NUL character", Span: whole})
		return r.out
	case !utf8.ValidString(text):
		r.add(effect.Effect{Target: "the text is not valid UTF-8", Span: whole})
	case len(text) > MaxText && utf8.RuneCountInString(text) > MaxText: // no text has more characters than bytes
		r.add(effect.Effect{Target: "the text is longer than 10,000 characters", Span: whole})
	}
	r.all(text)
	r.inOtherShells(text)
	if len(r.out) == 0 && r.ran {
		r.out = append(r.out, effect.Effect{Kind: effect.Run, Target: strings.TrimSpace(text), Span: whole,
			Command: &effect.Command{Program: ":", Class: effect.Look, Described: true}})
	}
	return r.out
}

// all reads the whole text for one shell.
func (r *reader) all(text string) {
	w := newWorld(r.place)
	w.lastpipe = r.lang == zsh
	ws := r.nested(text, w.alone(), spans{}, effect.Span{Start: 0, End: len(text)})
	// A trap may run after everything else has changed the state.
	ws = collapse(append(append(ws, r.exits...), r.passed...))
	for _, t := range r.traps {
		r.nested(t.text, ws, spans{fixed: &t.span}, t.span)
	}
	r.steered()
	r.led()
}

// spans maps positions of a nested text to the text of the call: either by an
// offset or, when the nested text is spelled otherwise, all to one range.
type spans struct {
	offset int
	fixed  *effect.Span
}

func (s spans) span(n syntax.Node) effect.Span {
	if s.fixed != nil {
		return *s.fixed
	}
	return effect.Span{Start: int(n.Pos().Offset()) + s.offset, End: int(n.End().Offset()) + s.offset}
}

// reader walks one text.
type reader struct {
	place   *paths.Place
	know    *commands.Knowledge
	whole   string
	out     []effect.Effect
	starry  []starry    // see led
	seen    map[key]int // where an effect stands in out, once there are many
	indexed int         // how many of them are in seen
	spans   spans
	work    int
	depth   int
	over    bool // the limits were met and told
	ran     bool // something was run, even without an effect

	sink      *sink  // where standard output goes, nil when nobody needs it
	stdin     *input // what standard input holds, nil when there is none
	branch    int    // > 0 where it cannot be told whether this runs
	unset     bool   // take variables that nobody assigned as unset
	met       bool   // such a variable with a default was met
	both      bool   // both courses of such a variable are told
	chosen    string // the variable they are about
	secrets   []string
	traps     []trapped
	passed    []*world                            // where the text has been since the first trap
	active    map[*syntax.Stmt]int                // functions that run
	beside    int                                 // pipes and background commands around this one
	again     int                                 // loops and functions around, whatever process they are of
	obeying   []obeying                           // see steered
	shadows   map[*commands.Entry]*commands.Entry // see shadowed
	before    []effect.Effect                     // what the call does besides
	compared  int                                 // writes that were looked at, see steered
	through   *paths.Place                        // the place with the links that the text made
	mixed     bool                                // temporary files of this call may be links
	exits     []*world                            // where the text ends before its end
	frame     frame
	mayFail   int    // what may have failed so far, besides commands
	rerouted  int    // redirections around: what prints may fail
	emptyExec bool   // exec without a command
	nounset   bool   // variables nobody set end the shell
	printed   string // what the last <(...) prints
	lang      dialect
	others    dialects
	second    bool  // it was read as bash before
	compares  bool  // this may be a comparison of bash: "((n > 1))"
	piped     *sink // of the pipe that standard output goes to
	aborts    bool  // this shell may have ended before: what is printed may not be

	leading struct { // see linksOf
		place *paths.Place
		links []leading
	}
}

// sink collects the known standard output of a substitution or a pipe.
type sink struct {
	text strings.Builder
	lost bool // something that cannot be told was printed
}

func (s *sink) String() string {
	if s.lost {
		return commands.Words
	}
	return s.text.String()
}

var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

// parse reads a text; nesting is measured before, because the parser recurses.
func parse(text string, lang dialect) (*syntax.File, error) {
	if lang != bash {
		return syntax.NewParser(syntax.Variant(lang.variant())).Parse(strings.NewReader(text), "")
	}
	p := parsers.Get().(*syntax.Parser)
	f, err := p.Parse(strings.NewReader(text), "")
	if err == nil {
		parsers.Put(p)
	}
	return f, err
}

// deep reports whether a text opens more brackets than a person would write.
func deep(text string) bool {
	open, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '`':
			open++
			most = max(most, open)
		case ')', '}':
			open = max(0, open-1)
		}
	}
	if most > maxNest {
		return true
	}
	return strings.Count(text, "if ")+strings.Count(text, "while ")+strings.Count(text, "for ")+
		strings.Count(text, "case ")+strings.Count(text, "! ") > 10*maxNest
}

// add tells an effect and returns where it stands. Courses that agree tell the
// same effect twice; it is kept once.
func (r *reader) add(e effect.Effect) int {
	if n := len(r.out); n < 16 {
		for i := range r.out {
			if o := &r.out[i]; o.Span == e.Span && o.Kind == e.Kind && o.Target == e.Target && keyOf(o) == keyOf(&e) {
				return i
			}
		}
	} else {
		if r.seen == nil {
			r.seen = make(map[key]int, 64)
		}
		for ; r.indexed < n; r.indexed++ {
			r.seen[keyOf(&r.out[r.indexed])] = r.indexed
		}
		if i, told := r.seen[keyOf(&e)]; told {
			return i
		}
	}
	r.out = append(r.out, e)
	return len(r.out) - 1
}

// key is what makes two effects the same.
type key struct {
	effect.Effect
	program string
}

func keyOf(e *effect.Effect) key {
	k := key{Effect: *e}
	if e.Command != nil {
		k.program, k.Command = e.Command.Program, nil
	}
	return k
}

func (r *reader) opaque(span effect.Span, why string) {
	r.add(effect.Effect{Target: why, Span: span})
}

// step counts work; it reports false when the text has had its share.
func (r *reader) step() bool {
	r.work++
	if r.work <= maxWork && r.depth <= maxDepth {
		return true
	}
	r.tooMuch()
	return false
}

func (r *reader) tooMuch() {
	if !r.over {
		r.over = true
		r.add(effect.Effect{Target: "too much to follow", Span: effect.Span{Start: 0, End: len(r.whole)}})
	}
}

// child reads a text that another shell runs, which this one starts.
func (r *reader) child(text string, w *world, sp spans, where effect.Span) {
	outer, aborts := r.frame, r.aborts
	r.frame = frame{}
	r.nested(text, w.alone(), sp, where)
	r.frame, r.aborts = outer, aborts
}

// coproc follows coproc NAME command, which runs beside the rest.
func (r *reader) coproc(c *syntax.CoprocClause, w *world) []*world {
	if c.Stmt != nil {
		r.branch++
		r.beside++
		outer := r.apart()
		saved := r.sink
		r.sink = nil
		r.stmt(c.Stmt, w.fork())
		r.sink, r.frame = saved, outer
		r.beside--
		r.branch--
	}
	name := "COPROC"
	if c.Name != nil {
		name = r.value(c.Name, w)
	}
	w.setVar(name, variable{text: commands.Number, array: true, lost: true, numbers: true})
	w.status = ok
	return w.alone()
}

// nested reads a text that the current one runs. where is what to point at.
func (r *reader) nested(text string, ws []*world, sp spans, where effect.Span) []*world {
	if !commands.Known(text) {
		r.opaque(where, "runs text that is not known")
		return ws
	}
	if deep(text) {
		r.opaque(where, "the text is nested too deep")
		return ws
	}
	if continued(text) {
		r.opaque(where, "a line continuation inside an operator")
	}
	if strings.IndexByte(text, '\r') >= 0 { // shells keep it, the parser does not
		r.opaque(where, "a carriage return")
	}
	if trailing := len(text) - len(strings.TrimRight(text, "\\")); trailing%2 == 1 {
		r.opaque(where, "a backslash with nothing behind it")
	}
	r.depth++
	defer func() { r.depth-- }()
	if !r.step() {
		return ws
	}
	f, err := parse(text, r.lang)
	if err != nil && r.second && r.lang == posix {
		f, err = readable(text), nil // such a shell does what stands before
	}
	if err != nil && r.second {
		r.opaque(where, "the text cannot be read as zsh: "+parseError(err))
		return ws
	}
	if err != nil {
		r.opaque(where, "the text cannot be read as bash: "+parseError(err))
		return ws
	}
	if why := misread(text, f); why != "" {
		r.opaque(where, why)
	}
	saved := r.spans
	r.spans = sp
	ws = r.lines(f.Stmts, ws)
	r.spans = saved
	return ws
}

// lines runs the statements of a text. An expansion that fails ends the line,
// with all that the line is part of, and the next line goes on from there.
func (r *reader) lines(list []*syntax.Stmt, ws []*world) []*world {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Pos().Line() <= list[n-1].End().Line() {
			n++
		}
		ws = r.stmts(list[:n], ws)
		list = list[n:]
		if failing := r.frame.failing; len(failing) > 0 {
			r.frame.failing = nil
			ws = collapse(append(ws, failing...))
		}
	}
	return ws
}

// fails is told of an expansion that may fail in that world.
func (r *reader) fails(w *world) {
	f := w.fork()
	f.status = failed
	r.frame.failing = collapse(append(r.frame.failing, f))
}

// continued reports whether a backslash at the end of a line splits what bash
// reads as one operator ("$" and "(", "<" and "("): the parser reads it as two.
func continued(text string) bool {
	for rest := text; ; {
		i := strings.Index(rest, "\\\n")
		if i < 0 {
			return false
		}
		after := strings.TrimLeft(strings.ReplaceAll(rest[i:min(len(rest), i+64)], "\\\n", "\x00"), "\x00")
		if i > 0 && after != "" {
			next := after[0]
			switch rest[i-1] {
			case '$':
				if strings.IndexByte(" \t\n;|&\"", next) < 0 {
					return true
				}
			case '<', '>':
				if strings.IndexByte("(<>&|", next) >= 0 {
					return true
				}
			case '|', '&', ';':
				if strings.IndexByte("|&;>", next) >= 0 {
					return true
				}
			}
		}
		rest = rest[i+2:]
	}
}

func parseError(err error) string {
	s := err.Error()
	if len(s) > 120 {
		s = s[:120]
	}
	return strings.ToValidUTF8(s, "?")
}

// stmts runs statements one after the other in every world.
func (r *reader) stmts(list []*syntax.Stmt, ws []*world) []*world {
	for _, s := range list {
		ws = r.then(s, ws)
	}
	return ws
}

// then runs the next statement in every world.
func (r *reader) then(s *syntax.Stmt, ws []*world) []*world {
	if len(ws) == 1 {
		ws = r.stmt(s, ws[0])
	} else {
		var next []*world
		r.branch++
		for _, w := range ws {
			next = append(next, r.stmt(s, w)...)
		}
		r.branch--
		ws = next
	}
	ws = collapse(ws)
	if len(r.traps) > 0 { // a trap may run here
		for _, w := range ws {
			f := w.fork()
			f.status = unknown
			r.passed = collapse(append(r.passed, f))
		}
	}
	return ws
}

// aside runs statements in a subshell: what they change is lost.
func (r *reader) aside(list []*syntax.Stmt, w *world) {
	r.depth++
	if r.step() {
		outer := r.apart()
		r.stmts(list, w.fork().alone())
		r.frame = outer
	}
	r.depth--
}

func (r *reader) stmt(s *syntax.Stmt, w *world) []*world {
	if !r.step() {
		return w.alone()
	}
	r.ran = true
	if s.Background || s.Coprocess || s.Disown {
		// It runs beside the rest, in a subshell.
		r.beside++
		defer func() { r.beside-- }()
		r.branch++
		outer := r.apart()
		r.redirected(s, w.fork())
		r.frame = outer
		r.branch--
		w.status = ok
		return w.alone()
	}
	ws := r.redirected(s, w)
	if s.Negated {
		for _, w := range ws {
			w.status = w.status.not()
		}
	}
	return ws
}

func (r *reader) cmd(s *syntax.Stmt, w *world) []*world {
	switch c := s.Cmd.(type) {
	case nil:
		return w.alone()
	case *syntax.CallExpr:
		return r.call(c, w)
	case *syntax.DeclClause:
		return r.decl(c, w)
	case *syntax.BinaryCmd:
		return r.binary(c, w)
	case *syntax.Block:
		return r.stmts(c.Stmts, w.alone())
	case *syntax.Subshell:
		r.aside(c.Stmts, w)
		w.status = unknown
		return w.alone()
	case *syntax.IfClause:
		return r.ifClause(c, w)
	case *syntax.WhileClause:
		return r.while(c, w)
	case *syntax.ForClause:
		return r.forClause(c, w)
	case *syntax.CaseClause:
		return r.caseClause(c, w)
	case *syntax.FuncDecl:
		if c.Name == nil {
			r.opaque(r.spans.span(c), "several functions declared at once")
			return w.alone()
		}
		if list := declared(c); list != nil {
			if b, isBinary := c.Body.Cmd.(*syntax.BinaryCmd); isBinary && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
				r.opaque(r.spans.span(c), "a function declared in a pipe")
			}
			return r.stmt(list, w)
		}
		w.setFunc(c.Name.Value, c.Body, r.spans)
		if w.exportAll {
			w.exportFuncs = true
			r.add(effect.Effect{Kind: effect.Env, Target: "BASH_FUNC_" + c.Name.Value + "%%", Span: r.spans.span(c)})
		}
		if hook(c.Name.Value) { // it runs without being named
			in := w.fork()
			in.args, in.argsLost = nil, true
			r.branch++
			r.function(in.funcs.at(c.Name.Value), []word{{commands.Words, r.spans.span(c), nil}, {commands.Words, r.spans.span(c), nil}}, nil, in, r.spans.span(c))
			r.branch--
		}
		w.status = ok
		return w.alone()
	case *syntax.ArithmCmd:
		r.arithm(c.X, w)
		w.status = unknown
		return w.alone()
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			r.arithm(x, w)
		}
		w.status = unknown
		return w.alone()
	case *syntax.TestClause:
		r.test(c.X, w)
		w.status = unknown
		return w.alone()
	case *syntax.TimeClause:
		if c.Stmt == nil {
			w.status = ok
			return w.alone()
		}
		return r.stmt(c.Stmt, w)
	case *syntax.CoprocClause:
		return r.coproc(c, w)
	default:
		r.opaque(r.spans.span(s), "a construct of the shell that is not followed")
		return w.alone()
	}
}

// hook reports whether some shell runs a function of that name by itself: for a
// name that it does not find, on entering a folder, at its end, on a signal.
func hook(name string) bool {
	switch name {
	case "command_not_found_handle", "command_not_found_handler", "chpwd", "precmd", "preexec", "periodic", "zshexit", "zshaddhistory", "zsh_directory_name":
		return true
	}
	signal, is := strings.CutPrefix(name, "TRAP")
	return is && signal != "" && strings.ToUpper(signal) == signal
}

// declared returns a list that begins with the declaration of a function. The
// parser takes what follows "f() { ...; } &&" for the function's body; in bash
// the body ends with the brace.
func declared(c *syntax.FuncDecl) *syntax.Stmt {
	b, joined := c.Body.Cmd.(*syntax.BinaryCmd)
	if !joined {
		return nil
	}
	first := *b
	list, last := *c.Body, &first
	list.Cmd = &first
	for {
		x := *last.X
		next, more := x.Cmd.(*syntax.BinaryCmd)
		if !more {
			f := *c
			f.Body = last.X
			last.X = &syntax.Stmt{Cmd: &f, Position: x.Position}
			return &list
		}
		deeper := *next
		x.Cmd = &deeper
		last.X, last = &x, &deeper
	}
}

func (r *reader) binary(c *syntax.BinaryCmd, w *world) []*world {
	switch c.Op {
	case syntax.AndStmt, syntax.OrStmt:
		stop := failed
		if c.Op == syntax.OrStmt {
			stop = ok
		}
		ws := r.stmt(c.X, w)
		out, run := make([]*world, 0, 2*len(ws)), make([]*world, 0, len(ws))
		for _, w := range ws {
			switch w.status {
			case stop:
				out = append(out, w)
			case unknown:
				skipped := w.fork()
				skipped.status = stop
				out = append(out, skipped)
				w.status = stop.not()
				run = append(run, w)
			default:
				run = append(run, w)
			}
		}
		certain := len(out) == 0
		if !certain {
			r.branch++
		}
		for _, w := range run {
			out = append(out, r.stmt(c.Y, w)...)
		}
		if !certain {
			r.branch--
		}
		return collapse(out)
	case syntax.Pipe, syntax.PipeAll:
		r.beside++
		defer func() { r.beside-- }()
		saved, savedIn, branch := r.sink, r.stdin, r.branch
		s := &sink{}
		piped := r.piped
		r.sink, r.piped, r.branch = s, s, 0
		r.depth++
		left := w.fork()
		outer, aborts := r.apart(), r.aborts
		r.aborts = false
		r.then(c.X, left.alone())
		r.sink, r.piped, r.branch, r.aborts = saved, piped, branch, aborts
		text := s.String()
		if c.Op == syntax.PipeAll { // messages get there as well
			text = commands.Words
		}
		r.stdin = &input{text: text, piped: true}
		// The last part of a pipe runs in a subshell as well (lastpipe is off
		// unless the text sets it; a world keeps both courses then).
		right := w.fork()
		ws := r.then(c.Y, right.alone())
		r.stdin, r.frame = savedIn, outer
		r.depth--
		w.status = unknown
		if r.lang == bash && slices.ContainsFunc(ws, func(o *world) bool { return !o.equal(w) }) {
			r.differs(zsh)
		}
		if w.lastpipe {
			return collapse(append(ws, w))
		}
		return w.alone()
	default:
		r.opaque(r.spans.span(c), "an operator of the shell that is not followed")
		return w.alone()
	}
}

func (r *reader) ifClause(c *syntax.IfClause, w *world) []*world {
	ws := r.stmts(c.Cond, w.alone())
	var out []*world
	r.branch++
	defer func() { r.branch-- }()
	then := make([]*world, 0, len(ws))
	rest := make([]*world, 0, len(ws))
	for _, w := range ws {
		if w.status != failed {
			then = append(then, w.fork())
		}
		if w.status != ok {
			rest = append(rest, w)
		}
	}
	out = append(out, r.stmts(c.Then, then)...)
	if c.Else == nil {
		for _, w := range rest { // no branch was taken, which is no failure
			w.status = ok
		}
		return collapse(append(out, rest...))
	}
	for _, w := range rest {
		if len(c.Else.Cond) == 0 { // plain else
			out = append(out, r.stmts(c.Else.Then, w.alone())...)
		} else {
			out = append(out, r.ifClause(c.Else, w)...)
		}
	}
	return collapse(out)
}

// one turns a field into the value of a single variable.
func one(field string) string { return strings.ReplaceAll(field, commands.Words, commands.Unknown) }

func numbers(items []string) bool {
	for _, it := range items {
		if it != commands.Number && !isNumber(it) {
			return false
		}
	}
	return len(items) > 0
}

func isNumber(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (i > 0 || s[i] != '-') {
			return false
		}
	}
	return true
}

func (r *reader) caseClause(c *syntax.CaseClause, w *world) []*world {
	r.value(c.Word, w)
	r.branch++
	defer func() { r.branch-- }()
	var out, through []*world
	for _, it := range c.Items {
		for _, p := range it.Patterns {
			r.value(p, w)
		}
		in := append([]*world{w.fork()}, through...)
		ws := r.stmts(it.Stmts, in)
		through = nil
		if it.Op != syntax.Break { // ;& and ;;& go on
			for _, w := range ws {
				through = append(through, w.fork())
			}
		}
		out = append(out, ws...)
	}
	return ended(append(append(out, through...), w))
}

// test follows [[ ]].
func (r *reader) test(x syntax.TestExpr, w *world) {
	switch x := x.(type) {
	case *syntax.Word:
		r.value(x, w)
	case *syntax.ParenTest:
		r.test(x.X, w)
	case *syntax.UnaryTest:
		if word, isWord := x.X.(*syntax.Word); isWord {
			v := r.value(word, w)
			switch x.Op {
			case syntax.TsVarSet, syntax.TsRefVar:
				r.element(v, r.spans.span(word), w)
			case syntax.TsFdTerm:
				r.count(v, r.spans.span(word))
			case syntax.TsExists, syntax.TsRegFile, syntax.TsDirect, syntax.TsCharSp, syntax.TsBlckSp, syntax.TsNmPipe,
				syntax.TsSocket, syntax.TsSmbLink, syntax.TsSticky, syntax.TsGIDSet, syntax.TsUIDSet, syntax.TsGrpOwn,
				syntax.TsUsrOwn, syntax.TsModif, syntax.TsRead, syntax.TsWrite, syntax.TsExec, syntax.TsNoEmpty:
				r.path(pathEffect{kind: effect.Read, text: v, span: r.spans.span(word), meta: true}, w)
			}
			return
		}
		r.test(x.X, w)
	case *syntax.BinaryTest:
		l, lok := x.X.(*syntax.Word)
		rt, rok := x.Y.(*syntax.Word)
		if !lok || !rok {
			r.test(x.X, w)
			r.test(x.Y, w)
			return
		}
		a, b := r.value(l, w), r.value(rt, w)
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			r.number(a, r.spans.span(l), w)
			r.number(b, r.spans.span(rt), w)
		case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
			r.path(pathEffect{kind: effect.Read, text: a, span: r.spans.span(l), meta: true}, w)
			r.path(pathEffect{kind: effect.Read, text: b, span: r.spans.span(rt), meta: true}, w)
		default:
			if x.Op == syntax.TsReMatch {
				numbers := matchesNumbers(r.source(rt)) || commands.Known(b) && matchesNumbers(unmarked(b))
				w.setVar("BASH_REMATCH", variable{text: commands.Unknown, array: true, lost: true, numbers: numbers})
			}
			// Where zsh reads this, a pattern may end in a glob qualifier
			// that runs code: (e:'...':), (+f).
			raw := r.source(rt)
			if strings.Contains(raw, "(e:") || strings.Contains(raw, "(e{") || strings.Contains(raw, "(+") {
				r.opaque(r.spans.span(rt), "a pattern with a qualifier that runs code in zsh")
			}
		}
	default:
		r.opaque(r.spans.span(x), "a test that is not followed")
	}
}

// source is the text of a node as it was written, "" when it cannot be told.
func (r *reader) source(n syntax.Node) string {
	s := r.spans.span(n)
	if r.spans.fixed != nil || s.Start < 0 || s.End > len(r.whole) || s.Start > s.End {
		return ""
	}
	return r.whole[s.Start:s.End]
}
