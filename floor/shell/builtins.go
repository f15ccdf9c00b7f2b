package shell

import (
	"path"
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a simple command after expansion.
type word struct {
	text string
	span effect.Span
	src  *syntax.Word
}

func texts(ws []word) []string {
	out := make([]string, len(ws))
	for i := range ws {
		out[i] = ws[i].text
	}
	return out
}

// call runs a simple command. Where a default stands for a variable nobody
// assigned, both courses are told.
func (r *reader) call(c *syntax.CallExpr, w *world) []*world {
	if r.unset || literal(c) {
		return r.callOnce(c, w)
	}
	before := w.fork()
	met, both, chosen := r.met, r.both, r.chosen
	r.met, r.both, r.chosen = false, true, ""
	out := r.callOnce(c, w)
	if r.met {
		r.unset = true
		r.branch++
		out = append(out, r.callOnce(c, before)...)
		r.branch--
		r.unset = false
	}
	r.met, r.both, r.chosen = met, both, chosen
	return out
}

func literal(c *syntax.CallExpr) bool {
	for _, a := range c.Args {
		if a.Lit() == "" {
			return false
		}
	}
	return len(c.Assigns) == 0
}

func (r *reader) callOnce(c *syntax.CallExpr, w *world) []*world {
	secrets := r.secrets
	r.secrets = nil
	defer func() { r.secrets = secrets }()
	if len(c.Args) == 0 {
		w.status = ok
		may := r.mayFail
		for _, a := range c.Assigns {
			r.assign(a, w, false)
		}
		if r.mayFail > may {
			w.status = unknown
		}
		r.tellSecrets(r.spans.span(c), nil)
		return w.alone()
	}
	ws := make([]word, 0, len(c.Args))
	for _, a := range c.Args {
		span := r.spans.span(a)
		if text, plain := plainWord(a); plain {
			ws = append(ws, word{text, span, a})
			continue
		}
		many := splits(a)
		hidden := computed(a) && strings.Trim(lead(a), "-") == ""
		for _, f := range r.fields(a, w) {
			if hidden && len(f) > 1 && f[0] == '-' && f[1] != ' ' && len(ws) > 0 {
				r.opaque(span, "an option that a substitution spells")
			}
			if many {
				f = manyOf(f)
			}
			ws = append(ws, word{f, span, a})
		}
	}
	if len(ws) == 0 { // nothing is left to run: the assignments stay
		for _, a := range c.Assigns {
			r.assign(a, w, false)
		}
		w.status = unknown
		return w.alone()
	}
	var assigns []string
	var folders []given
	in := w
	if len(c.Assigns) > 0 {
		in = w.fork() // each sees those before it
	}
	for _, a := range c.Assigns {
		if a.Name == nil {
			continue
		}
		v := r.assigned(a.Value, in)
		if a.Append {
			v = commands.Unknown
		}
		span := r.spans.span(a)
		if computed(a.Value) {
			r.add(effect.Effect{Kind: effect.Env, Target: a.Name.Value, Span: span})
		} else {
			at := len(r.out)
			r.pass(a.Name.Value, v, span, nil, in)
			if dirs := r.foldersOf(a.Name.Value, v, in); dirs != nil && len(r.out) > at {
				folders = append(folders, given{a.Name.Value, at, dirs})
			}
		}
		if a.Array != nil || a.Index != nil {
			r.assign(a, w, false)
			continue
		}
		assigns = append(assigns, a.Name.Value+"="+v)
		r.give(in, a.Name.Value, v, span)
	}
	if len(folders) == 0 {
		return r.simple(ws, assigns, w, context{})
	}
	from, at := len(r.out), w.fork()
	after := r.simple(ws, assigns, w, context{})
	r.modules(folders, from, at)
	return after
}

// lead is the literal text at the start of a word.
func lead(wd *syntax.Word) string {
	if len(wd.Parts) == 0 {
		return ""
	}
	p := wd.Parts[0]
	if q, quoted := p.(*syntax.DblQuoted); quoted && len(q.Parts) > 0 {
		p = q.Parts[0]
	}
	switch p := p.(type) {
	case *syntax.Lit:
		return p.Value
	case *syntax.SglQuoted:
		return p.Value
	}
	return ""
}

// computed reports whether a word holds a command substitution.
func computed(wd *syntax.Word) bool {
	if wd == nil {
		return false
	}
	found := false
	for _, p := range wd.Parts {
		switch p := p.(type) {
		case *syntax.CmdSubst:
			found = true
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if _, sub := q.(*syntax.CmdSubst); sub {
					found = true
				}
			}
		}
	}
	return found
}

func (r *reader) tellSecrets(span effect.Span, cmd *effect.Command) {
	for _, name := range r.secrets {
		r.add(effect.Effect{Target: "uses the variable " + name + ", which looks like a secret", Span: span, Command: cmd, Coverable: cmd != nil})
	}
	r.secrets = nil
}

// context is what a command inherits from what runs it.
type context struct {
	wrappers   []string
	renamed    []effect.Option
	privileged bool
	option     string // the option of the outer command that runs this one
	noFuncs    bool   // functions and builtins are passed over
	noBuiltins bool   // run by another program: no shell is involved
}

// simple runs the words of a simple command.
func (r *reader) simple(ws []word, assigns []string, w *world, ctx context) []*world {
	if !r.step() {
		return w.alone()
	}
	r.depth++
	defer func() { r.depth-- }()
	name := ws[0].text
	span := spanOf(ws)
	w.status = unknown
	if r.absent(ws, w) {
		r.undeclared(ws, w)
		r.print(commands.Words)
		w.status = failed
		return w.alone()
	}
	if r.lang == posix && r.missing(name, w) {
		r.print(commands.Words)
		return w.alone()
	}
	if name == "--" {
		r.opaque(span, "a command that begins with --")
	}
	if !commands.Known(name) {
		r.unknownProgram(ws, w, ctx)
		r.print(commands.Words)
		return w.alone()
	}
	if !ctx.noFuncs && !ctx.noBuiltins {
		if text, isAlias := w.aliases.get(name); isAlias && ws[0].src != nil && ws[0].src.Lit() == name {
			// Nobody knows whether aliases are on: both courses are told.
			r.branch++
			rest := make([]string, 0, len(ws))
			for _, x := range ws[1:] {
				rest = append(rest, quote(x.text))
			}
			in := w.fork()
			in.dropAlias(name)
			where := span
			out := r.nested(string(text)+" "+strings.Join(rest, " "), in.alone(), spans{fixed: &where}, span)
			ws[0].src = nil
			out = append(out, r.simple(ws, assigns, w, ctx)...)
			r.branch--
			return collapse(out)
		}
		if f, isFunc := w.funcs.get(name); isFunc {
			return r.function(f, ws, assigns, w, span)
		}
	}
	if !ctx.noBuiltins {
		if bashWords[name] {
			r.differs(posix)
		}
		if b := builtin(name); b != nil {
			return r.builtin(b, ws, assigns, w, ctx)
		}
	}
	in := w
	if len(assigns) > 0 {
		in = w.fork()
		r.environ(assigns, in, span)
	}
	r.command(ws, in, ctx)
	if !idle[name] {
		r.take()
	}
	return w.alone()
}

// idle are programs that never read from standard input.
var idle = map[string]bool{"ls": true, "mkdir": true, "touch": true, "rmdir": true, "find": true, "which": true, "date": true, "uname": true,
	"sleep": true, "basename": true, "dirname": true, "stat": true, "seq": true, "nproc": true, "chmod": true, "du": true, "df": true}

// environ puts assignments into the environment of one command.
func (r *reader) environ(assigns []string, w *world, span effect.Span) {
	for _, a := range assigns {
		name, v, _ := strings.Cut(a, "=")
		r.give(w, name, v, span)
		w.mark(name, func(v *variable) { v.exported = true })
	}
}

// builtin runs a builtin with the assignments before it, which it sees and
// which are gone afterwards, unless it assigns variables itself.
func (r *reader) builtin(b builtinFunc, ws []word, assigns []string, w *world, ctx context) []*world {
	if len(assigns) == 0 {
		return b(r, ws, nil, w, ctx)
	}
	locals := w.locals
	w.locals = dict[local]{}
	for _, a := range assigns {
		if name, _, _ := strings.Cut(a, "="); name != "OLDPWD" {
			w.hide(name)
		}
	}
	r.environ(assigns, w, spanOf(ws))
	out := b(r, ws, assigns, w, ctx)
	keeps := true // the builtin may make the assignments last
	switch ws[0].text {
	case "cd", "pushd", "popd", "echo", "printf", "test", "[", "pwd", "read", "true", "false":
		keeps = false
	}
	for _, o := range out {
		o.show(locals)
		for _, a := range assigns {
			if name, _, _ := strings.Cut(a, "="); keeps || slices.ContainsFunc(ws, func(x word) bool { return strings.Contains(x.text, name) }) {
				o.set(name, commands.Unknown)
			}
		}
	}
	return out
}

// quote spells abstract text as one word of shell text; marks stay marks, which
// makes the whole unreadable on purpose.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (r *reader) function(f function, ws []word, assigns []string, w *world, span effect.Span) []*world {
	if f.body == nil {
		r.opaque(span, "a function that cannot be told")
		return w.alone()
	}
	if r.active[f.body] > 0 && r.beside > 0 {
		r.opaque(span, "a fork bomb: a function that starts itself again beside itself")
		return w.alone()
	}
	if r.active == nil {
		r.active = map[*syntax.Stmt]int{}
	}
	r.active[f.body]++
	r.again++
	defer func() {
		r.active[f.body]--
		r.again--
	}()
	if !r.step() {
		return w.alone()
	}
	args, lost := w.args, w.argsLost
	w.args, w.argsLost = nil, false
	for _, x := range ws[1:] {
		if strings.Contains(x.text, commands.Words) || commands.Globbed(x.text) {
			w.argsLost = true
		}
		w.args = append(w.args, x.text)
	}
	if w.argsLost {
		w.args = nil
	}
	locals := w.locals
	w.locals = dict[local]{}
	for _, a := range assigns {
		name, v, _ := strings.Cut(a, "=")
		w.hide(name)
		r.give(w, name, v, span)
		w.mark(name, func(v *variable) { v.exported = true })
	}
	saved, outer := r.spans, r.frame
	r.spans = f.spans
	r.frame = frame{calls: outer.calls + 1, within: outer.within || len(outer.loops) > 0}
	out := r.stmt(f.body, w)
	out = append(out, r.frame.returns...)
	failing := r.frame.failing
	r.spans, r.frame = saved, outer
	for _, o := range slices.Concat(out, failing) {
		o.args, o.argsLost = args, lost
		o.show(locals)
	}
	r.frame.failing = collapse(append(r.frame.failing, failing...))
	return collapse(out)
}

// unknownProgram tells what can be told of a command whose name is not known.
func (r *reader) unknownProgram(ws []word, w *world, ctx context) {
	span := spanOf(ws)
	r.add(effect.Effect{Target: "the program's name is not known", Span: span, Privileged: ctx.privileged})
	destructive := false
	for _, x := range ws[1:] {
		if strings.HasPrefix(x.text, "-") && !strings.HasPrefix(x.text, "--") && strings.ContainsAny(x.text, "rR") ||
			x.text == "--recursive" {
			destructive = true
		}
	}
	if !destructive {
		return
	}
	for _, x := range ws[1:] {
		if !strings.HasPrefix(x.text, "-") {
			r.path(pathEffect{kind: effect.Delete, text: x.text, span: x.span, tree: true, maybe: true}, w)
		}
	}
}

type builtinFunc func(r *reader, ws []word, assigns []string, w *world, ctx context) []*world

// builtin returns the handler of a builtin that is followed in code.
func builtin(name string) builtinFunc {
	switch name {
	case ":", "true", "false":
		return (*reader).constantStatus
	case "cd", "pushd", "popd":
		return (*reader).chdir
	case "eval":
		return (*reader).eval
	case "source", ".":
		return (*reader).sourceFile
	case "exec", "command", "builtin", "noglob", "nocorrect":
		return (*reader).prefix
	case "export", "declare", "typeset", "local", "readonly":
		return (*reader).declWords
	case "set":
		return (*reader).setBuiltin
	case "shift":
		return (*reader).shift
	case "unset":
		return (*reader).unsetBuiltin
	case "alias", "unalias":
		return (*reader).alias
	case "trap":
		return (*reader).trap
	case "read", "mapfile", "readarray":
		return (*reader).read
	case "getopts":
		return (*reader).getopts
	case "wait":
		return (*reader).wait
	case "enable":
		return (*reader).enable
	case "printf":
		return (*reader).printf
	case "echo", "pwd", "test", "[", "let":
		return (*reader).simpleBuiltin
	case "shopt":
		return (*reader).shopt
	case "hash":
		return (*reader).hash
	case "exit", "return":
		return (*reader).leave
	case "logout":
		return (*reader).logout
	case "break", "continue":
		return (*reader).jump
	case "jobs":
		return (*reader).jobs
	}
	return nil
}

// run tells the run effect of a builtin.
func (r *reader) runBuiltin(ws []word, class effect.Class, ctx context) *effect.Command {
	cmd := &effect.Command{Program: ws[0].text, Class: class, Described: true, Wrappers: ctx.wrappers, Renamed: ctx.renamed}
	for _, x := range ws[1:] {
		if strings.HasPrefix(x.text, "-") && len(x.text) > 1 {
			cmd.Options = append(cmd.Options, effect.Option{Name: display(x.text)})
		} else {
			cmd.Operands = append(cmd.Operands, display(x.text))
		}
	}
	r.add(effect.Effect{Kind: effect.Run, Target: r.show(ws), Span: spanOf(ws), Command: cmd, Privileged: ctx.privileged, Option: ctx.option})
	r.tellSecrets(spanOf(ws), cmd)
	return cmd
}

func (r *reader) constantStatus(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	w.status = ok
	if ws[0].text == "false" {
		w.status = failed
	}
	return w.alone()
}

// chdir follows cd, pushd and popd: one course where it worked and, where that
// is not certain, one where it did not.
func (r *reader) chdir(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	name := ws[0].text
	args := ws[1:]
	physical, doubt := w.physical, false
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") && args[0].text != "-" && !digits(strings.TrimPrefix(args[0].text, "-")) {
		if args[0].text == "--" {
			args = args[1:]
			break
		}
		if name != "cd" && strings.Contains(args[0].text, "n") { // only the stack changes
			w.dirs = []string{""}
			w.status = unknown
			return w.alone()
		}
		physical = physical || strings.Contains(args[0].text, "P")
		doubt = doubt || strings.Trim(args[0].text, "-LPe") != ""
		args = args[1:]
	}
	if name != "cd" || len(args) > 0 && args[0].text == "-" {
		r.print(commands.Words)
	}
	doubt = doubt || len(args) > 1 // too many, which fails
	if name == "cd" && (len(args) > 1 || len(args) == 1 && len(args[0].text) > 1 && strings.ContainsAny(args[0].text[:1], "+-") && digits(args[0].text[1:])) {
		r.opaque(spanOf(ws), "a folder that zsh finds by the folders it was in")
	}
	to := ""
	certain := false
	switch {
	case name == "popd":
		if len(w.dirs) > 0 && len(args) == 0 {
			to = w.dirs[len(w.dirs)-1]
			w.dirs = slices.Clip(w.dirs[:len(w.dirs)-1])
		} else {
			w.dirs = nil
		}
	case len(args) == 0 && name == "cd":
		if v, isSet := w.vars.get("HOME"); isSet {
			to = v.text
		} else if !w.alien {
			to = r.place.Home
		}
		certain = to == r.place.Home
	case len(args) == 0: // pushd swaps
		w.dirs = []string{""}
	case args[0].text == "-" && name == "cd":
		to = w.old
	case strings.HasPrefix(args[0].text, "+") || strings.HasPrefix(args[0].text, "-"):
		w.dirs = []string{""} // rotates the stack
	default:
		to = args[0].text
		if to == "" {
			to = "."
		}
	}
	if v, isSet := w.vars.get("CDPATH"); isSet && v.text != "" {
		r.print(commands.Words)
	}
	if v, isSet := w.vars.get("CDPATH"); isSet && v.text != "" && !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, ".") {
		to = ""
	}
	moved := w.fork()
	moved.old = w.cwd
	if name == "pushd" {
		moved.dirs = append(slices.Clip(w.dirs), w.cwd)
	}
	moved.cwd = r.folder(to, w.cwd)
	if physical && moved.cwd != "" {
		moved.cwd = r.place.Prepare(to, w.cwd).Abs
	}
	moved.status = ok
	r.moveKept(moved, ws[0].span)
	if !doubt && (moved.cwd != "" && (certain || !backs(to) && r.exists(moved.cwd)) || moved.cwd == w.cwd && w.cwd != "" && !backs(to)) {
		return []*world{moved}
	}
	w.status = failed
	return []*world{moved, w}
}

// backs reports whether a path goes back out of a folder that it names, which
// fails where there is no such folder.
func backs(to string) bool {
	for strings.HasPrefix(to, "../") {
		to = to[3:]
	}
	return to != ".." && (strings.HasSuffix(to, "/..") || strings.Contains(to, "/../"))
}

// folder is the folder a cd leads to, "" when it cannot be told.
func (r *reader) folder(to, cwd string) string {
	if to == "" || !commands.Known(to) {
		return ""
	}
	if !strings.HasPrefix(to, "/") {
		if cwd == "" {
			return ""
		}
		to = cwd + "/" + to
	}
	return path.Clean(to)
}

// exists reports whether a folder is known to be there: the workspace, the
// home folder and what is above them.
func (r *reader) exists(dir string) bool {
	for _, known := range []string{r.place.Workspace, r.place.Home, r.place.Cwd} {
		if known == "" {
			continue
		}
		if dir == "/" || known == dir || strings.HasPrefix(known, dir+"/") {
			return true
		}
	}
	return r.place.Facts.Dirs[dir]
}

func (r *reader) eval(ws []word, _ []string, w *world, ctx context) []*world {
	span := spanOf(ws)
	args := ws[1:]
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	text := strings.Join(texts(args), " ")
	if !commands.Known(text) {
		r.runBuiltin(ws, effect.Code, ctx)
		r.opaque(span, "eval of text that is not known")
		r.opaqueWords(args, w)
		return r.lostWorld(w)
	}
	r.runBuiltin(ws, effect.Wrap, ctx)
	// eval is rarely needed and often hides something, so it is asked about
	// even when what it runs can be told.
	r.opaque(span, "eval of text")
	return r.nested(text, w.alone(), spans{fixed: &span}, span)
}

// lostWorld is the world after text that is not known has run in this shell.
func (r *reader) lostWorld(w *world) []*world {
	o := w.fork()
	o.cwd, o.old, o.dirs = "", "", nil
	o.args, o.argsLost = nil, true
	o.globbing, o.ifs = true, true
	return []*world{o}
}

// opaqueWords tells paths that stand in words nobody can read otherwise.
func (r *reader) opaqueWords(ws []word, w *world) {
	for _, x := range ws {
		if pathLike(x.text) {
			r.path(pathEffect{kind: effect.Read, text: x.text, span: x.span, maybe: true}, w)
		}
	}
}

func (r *reader) sourceFile(ws []word, _ []string, w *world, ctx context) []*world {
	cmd := r.runBuiltin(ws, effect.Code, ctx)
	if len(ws) < 2 {
		return w.alone()
	}
	r.path(pathEffect{kind: effect.Read, text: ws[1].text, span: ws[1].span, cmd: cmd}, w)
	r.add(effect.Effect{Target: "runs the text of a file in this shell", Span: spanOf(ws), Command: cmd, Coverable: true})
	r.print(commands.Words)
	// What the file changes is not known; folders stay as they are in the
	// ordinary case of settings, but nobody can rely on it.
	return []*world{w, r.lostWorld(w)[0]}
}

// prefix follows exec, command, builtin and the like.
func (r *reader) prefix(ws []word, assigns []string, w *world, ctx context) []*world {
	name := ws[0].text
	args := ws[1:]
	look, refused, bare := false, name == "noglob" || name == "nocorrect", false
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		t := args[0].text
		args = args[1:]
		if t == "--" {
			break
		}
		if name == "command" && strings.ContainsAny(t, "vV") {
			look = true
		}
		valid := map[string]string{"command": "-pvV", "exec": "-cla", "builtin": "-"}[name]
		refused = refused || strings.Trim(t, valid) != "" && name != "exec" || !commands.Known(t)
		flags, _, _ := strings.Cut(t, "a")
		bare = bare || name == "exec" && strings.Contains(flags, "c")
		// exec -a NAME, joined or not
		if _, joined, named := strings.Cut(t, "a"); name == "exec" && named && joined == "" && len(args) > 0 {
			args = args[1:]
		}
	}
	if name == "exec" && len(args) == 0 {
		r.emptyExec = true
	}
	if look || len(args) == 0 {
		r.runBuiltin(ws, effect.Look, ctx)
		if look {
			r.print(commands.Words)
		}
		return w.alone()
	}
	ctx.wrappers = append(slices.Clip(ctx.wrappers), name)
	ctx.noFuncs = name == "command" || name == "builtin" || name == "exec"
	if name == "exec" {
		ctx.noBuiltins = true
	}
	if bare {
		w = w.child(r.place)
		w.bare()
	}
	if !refused {
		return r.simple(args, assigns, w, ctx)
	}
	// An option that there is not, or a name that only zsh knows: it may run
	// nothing at all.
	r.branch++
	before := w.fork()
	out := append(r.simple(args, assigns, w, ctx), before)
	r.branch--
	return collapse(out)
}

func (r *reader) shift(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	r.counted(ws)
	switch {
	case len(ws) > 1:
		w.args, w.argsLost = nil, true
	case len(w.args) > 0:
		w.args = w.args[1:]
	}
	return w.alone()
}

// setBuiltin follows set: options of the shell, then parameters.
func (r *reader) setBuiltin(ws []word, _ []string, w *world, ctx context) []*world {
	args := ws[1:]
	if len(args) == 0 {
		r.runBuiltin(ws, effect.Environ, ctx)
		r.print(commands.Words)
		return w.alone()
	}
	r.runBuiltin(ws, effect.Look, ctx)
	for i := 0; i < len(args); i++ {
		t, span := args[i].text, args[i].span
		switch {
		case t == "-" && i+1 == len(args):
			return w.alone()
		case t == "--" || t == "-":
			r.setArgs(w, args[i+1:])
			return w.alone()
		case !commands.Known(t):
			r.opaque(span, "an option of the shell that is not known")
			w.args, w.argsLost = nil, true
			continue
		case t == "" || t[0] != '-' && t[0] != '+':
			r.setArgs(w, args[i:])
			return w.alone()
		case t == "+":
			r.print(commands.Words)
		}
		for _, c := range t[1:] {
			name := shellOptions[c]
			if c == 'o' {
				if i+1 == len(args) { // it shows them
					r.print(commands.Words)
					continue
				}
				i++
				name = args[i].text
			}
			r.shellOption(name, t[0] == '-', span, w)
		}
	}
	return w.alone()
}

// shellOptions are the names of the letters of set.
var shellOptions = map[rune]string{'a': "allexport", 'B': "braceexpand", 'b': "notify", 'C': "noclobber", 'E': "errtrace", 'e': "errexit",
	'f': "noglob", 'H': "histexpand", 'h': "hashall", 'k': "keyword", 'm': "monitor", 'n': "noexec", 'P': "physical", 'p': "privileged",
	'T': "functrace", 't': "onecmd", 'u': "nounset", 'v': "verbose", 'x': "xtrace"}

// shellOption turns an option on or off.
func (r *reader) shellOption(name string, on bool, span effect.Span, w *world) {
	switch name {
	case "notify", "noclobber", "errtrace", "hashall", "monitor", "noexec", "functrace", "verbose", "xtrace", "pipefail", "ignoreeof", "nolog":
	case "noglob":
		w.globbing = true
	case "allexport":
		w.exportAll = on
	case "physical":
		w.physical = on
	case "errexit", "onecmd":
		r.aborts = true
	case "nounset":
		r.aborts, r.nounset = true, true
	default:
		if name != "braceexpand" || !on {
			r.opaque(span, "an option that changes how commands are read")
		}
	}
}

func (r *reader) setArgs(w *world, args []word) {
	w.args, w.argsLost = nil, false
	for _, a := range args {
		if strings.Contains(a.text, commands.Words) || commands.Globbed(a.text) {
			w.argsLost = true
		}
		w.args = append(w.args, a.text)
	}
	if w.argsLost {
		w.args = nil
	}
}

func (r *reader) unsetBuiltin(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	funcs, vars := false, false
	for _, x := range ws[1:] {
		r.element(x.text, x.span, w)
		if name, _, _ := strings.Cut(x.text, "["); !funcs {
			r.pathless(name, x.span)
		}
		switch {
		case strings.HasPrefix(x.text, "-"):
			funcs = funcs || strings.Contains(x.text, "f")
			vars = vars || strings.ContainsAny(x.text, "vn")
			if strings.Contains(x.text, "m") {
				r.opaque(x.span, "zsh unsets what a pattern matches")
			}
		case isName(x.text):
			// Without -f a function goes only when there is no variable.
			_, isFunc := w.funcs.get(x.text)
			v, isVar := w.vars.get(x.text)
			switch {
			case !isFunc || vars:
			case funcs || isVar && v.unset:
				w.dropFunc(x.text)
			case !isVar:
				w.setFunc(x.text, nil, r.spans)
			}
			_, own := w.locals.get(x.text)
			switch {
			case funcs:
			case r.frame.calls > 1 && !own: // one of a function that called this one may come to light
				w.setVar(x.text, variable{text: commands.Unknown})
			default:
				w.setVar(x.text, variable{unset: true})
			}
		case funcs:
			w.dropFunc(x.text)
		default:
			if i := strings.IndexByte(x.text, '['); i > 0 && isName(x.text[:i]) {
				w.setVar(x.text[:i], anyElements(w.vars.at(x.text[:i]), true))
			}
		}
	}
	return w.alone()
}

func (r *reader) alias(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	if ws[0].text == "unalias" {
		return w.alone()
	}
	for _, x := range ws[1:] {
		name, text, set := strings.Cut(x.text, "=")
		if set {
			r.opaque(x.span, "an alias changes what a name runs")
			w.setAlias(name, text)
		}
		if !commands.Known(x.text) {
			r.opaque(x.span, "an alias that cannot be told")
		}
	}
	return w.alone()
}

// trap runs its text at some later point, in a state that is not known then.
func (r *reader) trap(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Wrap, ctx)
	args, options := ws[1:], true
	if len(args) > 0 && args[0].text == "--" {
		args, options = args[1:], false
	}
	if len(args) < 2 || args[0].text == "-" || args[0].text == "" || options && strings.HasPrefix(args[0].text, "-") {
		r.print(commands.Words)
		return w.alone()
	}
	span := args[0].span
	if !commands.Known(args[0].text) {
		r.opaque(span, "a trap whose text is not known")
		return w.alone()
	}
	r.traps = append(r.traps, trapped{args[0].text, span})
	outer := r.frame
	r.frame = frame{}
	r.again++
	defer func() { r.again-- }()
	r.branch++
	after := r.nested(args[0].text, w.fork().alone(), spans{fixed: &span}, span)
	r.branch--
	r.frame = outer
	atEnd := !slices.ContainsFunc(args[1:], func(x word) bool { return x.text != "EXIT" && x.text != "0" })
	for _, a := range after {
		a.status = w.status
		if !atEnd && !a.equal(w) {
			r.opaque(span, "a trap that changes the state of the shell at any time")
		}
	}
	return w.alone()
}

type trapped struct {
	text string
	span effect.Span
}

// read follows the builtins that fill variables from standard input.
func (r *reader) read(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	value := commands.Unknown
	lost := variable{text: commands.Unknown, array: true, lost: true}
	all := false                         // the name is that of a list, to zsh
	end, whole, raw := "\n", true, false // what is read ends there, and nothing ends it before
	if r.stdin != nil {
		lost.numbers = !slices.ContainsFunc(strings.Fields(r.stdin.text), func(f string) bool { return !digits(f) })
	}
	lists := ws[0].text != "read"
	take := "adinNptu" // the options that take a value
	if lists {
		take = "dnOsuCc"
	}
	in := r.stdin
	args := ws[1:]
	for ; len(args) > 0 && len(args[0].text) > 1 && args[0].text[0] == '-'; args = args[1:] {
		t := args[0].text
		if t == "--" {
			args = args[1:]
			break
		}
		i := strings.IndexAny(t[1:], take) + 1
		all = all || i == 0 && !lists && strings.Contains(t, "A") || strings.Contains(t[:max(i, 0)], "A")
		raw = raw || strings.Contains(t[:max(i, 0)], "r") || i == 0 && strings.Contains(t, "r")
		if whole = whole && strings.Trim(t[1:max(i, 1)], "rs") == "" && (i > 0 || strings.Trim(t[1:], "rs") == ""); i == 0 {
			continue
		}
		v := word{t[i+1:], args[0].span, nil}
		if v.text == "" && len(args) > 1 {
			args = args[1:]
			v = args[0]
		}
		switch t[i] {
		case 'a':
			r.fillVar(v, w, lost)
		case 'C':
			r.child(v.text, w.fork(), spans{fixed: &v.span}, v.span)
			r.opaque(v.span, "a command that is run for what is read")
		case 'd':
			if end = v.text; end == "" {
				end = nul
			}
		case 'p':
		default: // a part of it, or from elsewhere
			r.count(v.text, v.span)
			whole = false
		}
	}
	at := "" // what takes names apart
	if end == "\n" {
		at = end
	}
	if !raw {
		at += "\\"
	}
	if len(args) > 1 {
		at += blanks
	}
	if in != nil && whole && w.blankIFS() && !r.torn(in.text, at, w.cwd) {
		if line, same := in.paths(); same && strings.TrimPrefix(in.text, line) == end {
			value = line
		}
		if end == "\n" && (in.text == someNumbers || in.text == anyNumbers) {
			value = commands.Number
		}
	}
	r.take()
	var none *world // there was nothing more to read
	if value != commands.Unknown && !lists {
		none = w.fork()
		none.status = failed
		w.status = ok
		for _, x := range args {
			r.fillVar(x, none, variable{})
		}
		if len(args) == 0 {
			r.assignVar(none, "REPLY", "", spanOf(ws))
		}
	}
	for i, x := range args {
		if i > 0 {
			value = commands.Unknown
		}
		if all {
			r.tabled(x.text, x.span)
		}
		if lists {
			r.fillVar(x, w, lost)
		} else {
			r.fillVar(x, w, variable{text: value})
		}
	}
	if len(args) == 0 {
		if lists {
			r.fillVar(word{"MAPFILE", spanOf(ws), nil}, w, lost)
		} else {
			r.assignVar(w, "REPLY", value, spanOf(ws))
		}
	}
	if none != nil {
		return collapse([]*world{w, none})
	}
	return w.alone()
}

// fillVar gives the variable that a builtin is told to fill its value.
func (r *reader) fillVar(x word, w *world, v variable) {
	r.element(x.text, x.span, w)
	name, _, element := strings.Cut(x.text, "[")
	switch {
	case !isName(name):
		r.opaque(x.span, "a variable that cannot be told is assigned")
	case element || v.array:
		r.tabled(name, x.span)
		old := w.vars.at(name)
		if old.integer && !v.numeric() {
			r.number(commands.Unknown, x.span, w)
		}
		if v.array { // all of it is new
			old = variable{integer: old.integer}
		}
		w.setVar(name, anyElements(old, v.numeric()))
		r.steer(name, commands.Unknown, x.span, nil, w)
	default:
		r.assignVar(w, name, v.text, x.span)
	}
}

// getopts fills the variable that it is given, and two of its own.
func (r *reader) getopts(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	if len(ws) > 2 {
		r.fillVar(ws[2], w, variable{text: commands.Unknown})
	}
	r.assignVar(w, "OPTARG", commands.Unknown, spanOf(ws))
	w.set("OPTIND", commands.Number)
	return w.alone()
}

// enable takes builtins away or loads them from files.
func (r *reader) enable(ws []word, _ []string, w *world, ctx context) []*world {
	cmd := r.runBuiltin(ws, effect.Look, ctx)
	r.print(commands.Words)
	for _, x := range ws[1:] {
		if strings.Trim(x.text, "-aps") != "" {
			r.add(effect.Effect{Target: "enable changes what a name runs", Span: spanOf(ws), Command: cmd})
		}
	}
	return w.alone()
}

// wait fills the variable behind -p.
func (r *reader) wait(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	for i, x := range ws[1:] {
		switch {
		case !commands.Known(x.text):
			r.element(x.text, x.span, w)
		case !strings.HasPrefix(x.text, "-"):
		case strings.HasSuffix(x.text, "p") && i+2 < len(ws):
			r.fillVar(ws[i+2], w, variable{text: commands.Unknown})
		case strings.Contains(x.text, "p"):
			_, name, _ := strings.Cut(x.text, "p")
			r.fillVar(word{name, x.span, nil}, w, variable{text: commands.Unknown})
		}
	}
	return w.alone()
}

func (r *reader) printf(ws []word, _ []string, w *world, ctx context) []*world {
	cmd := r.runBuiltin(ws, effect.Look, ctx)
	args := ws[1:]
	if f := formatOf(args); f != "" && (!commands.Known(f) || numbersIn.MatchString(f)) {
		r.counted(ws)
	}
	if len(args) > 0 && strings.HasPrefix(args[0].text, "-v") {
		r.differs(posix)
		name := strings.TrimPrefix(args[0].text, "-v")
		args = args[1:]
		if name == "" && len(args) > 0 {
			name = args[0].text
			args = args[1:]
		}
		r.element(name, spanOf(ws), w)
		if !isName(name) {
			r.add(effect.Effect{Target: "printf assigns a variable that cannot be told", Span: spanOf(ws), Command: cmd})
			return w.alone()
		}
		if _, known := r.lookup(name, w); known && r.lang == posix && r.second { // which has no such option
			w.status = failed
			return w.alone()
		}
		text := format(args)
		if strings.Contains(text, nul) { // which ends the value
			text = commands.Unknown
		}
		r.assignVar(w, name, one(text), spanOf(ws))
		return w.alone()
	}
	if len(args) > 0 && leads(args[0].text, "-v") {
		r.element(args[0].text, args[0].span, w)
	}
	option := len(args) == 0 || strings.HasPrefix(args[0].text, "-")
	if len(args) > 0 && args[0].text == "--" {
		args, option = args[1:], len(args) == 1
	}
	text := format(args)
	if r.rerouted == 0 && !option && text != commands.Words {
		w.status = ok
	}
	r.print(text)
	return w.alone()
}

// formatOf is the format among the words of printf.
func formatOf(args []word) string {
	if len(args) > 0 && strings.HasPrefix(args[0].text, "-v") {
		if args[0].text == "-v" {
			args = args[1:]
		}
		args = args[min(len(args), 1):]
	}
	if len(args) > 1 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	return args[0].text
}

// format is what printf prints, as far as it is known.
func format(args []word) string {
	if len(args) == 0 {
		return ""
	}
	f := args[0].text
	if !commands.Known(f) {
		return commands.Words
	}
	rest := args[1:]
	var b strings.Builder
	for round := 0; round == 0 || len(rest) > 0; round++ {
		before := len(rest)
		for i := 0; i < len(f); i++ {
			switch {
			case f[i] == '\\' && i+1 < len(f):
				j := escape(f[i:]) + i
				switch text := ansi(f[i:j]); {
				case f[i+1] == 'c' || strings.HasPrefix(f[i:], `\x{`): // mean nothing here
					b.WriteString(f[i:j])
				case text != "":
					b.WriteString(text)
				default:
					b.WriteString(nul)
				}
				i = j - 1
			case f[i] == '%' && i+1 < len(f):
				i++
				switch f[i] {
				case '%':
					b.WriteByte('%')
				case 's':
					if len(rest) > 0 {
						b.WriteString(rest[0].text)
						rest = rest[1:]
					}
				default:
					return commands.Words
				}
			default:
				b.WriteByte(f[i])
			}
		}
		if len(rest) == before || b.Len() > maxKnown {
			break
		}
	}
	return b.String()
}

// escape is the length of the escape that a format begins with.
func escape(f string) int {
	most, hex := 0, true
	switch c := f[1]; {
	case c >= '0' && c <= '7':
		most, hex = 2, false
	case c == 'x':
		most = 2
	case c == 'u':
		most = 4
	case c == 'U':
		most = 8
	}
	n := 2
	for n < len(f) && n-2 < most && (f[n] >= '0' && f[n] <= '7' || hex && isHex(f[n])) {
		n++
	}
	return n
}

// simpleBuiltin runs the builtins that have an entry in the data as well.
func (r *reader) simpleBuiltin(ws []word, _ []string, w *world, ctx context) []*world {
	name := ws[0].text
	cmd := r.runBuiltin(ws, effect.Look, ctx)
	switch name {
	case "echo":
		if r.rerouted == 0 {
			w.status = ok
		}
		args := ws[1:]
		line, escapes := true, false
		for len(args) > 0 && len(args[0].text) > 1 && strings.Trim(args[0].text[1:], "neE") == "" && args[0].text[0] == '-' {
			line = line && !strings.Contains(args[0].text, "n")
			escapes = escapes || strings.ContainsAny(args[0].text, "eE")
			args = args[1:]
		}
		if r.sink != nil {
			text := strings.Join(texts(args), " ")
			if escapes || strings.Contains(text, `\`) || commands.Globbed(text) { // shells differ in what echo makes of it
				text = commands.Words
			}
			if line {
				text += "\n"
			}
			r.print(text)
		}
	case "pwd":
		if w.cwd == "" || w.physical || len(ws) > 1 && ws[1].text != "-L" {
			r.print(commands.Unknown + "\n")
			break
		}
		r.print(w.cwd + "\n")
		if r.rerouted == 0 {
			w.status = ok
		}
	case "test", "[":
		r.subscripted(ws)
		for i := 1; i < len(ws); i++ {
			t := ws[i].text
			switch {
			case t == "-t" && i+1 < len(ws):
				r.count(ws[i+1].text, ws[i+1].span)
			case t == "-v" || t == "-R":
				if i+1 < len(ws) {
					r.element(ws[i+1].text, ws[i+1].span, w)
				}
			case len(t) == 2 && t[0] == '-' && strings.IndexByte("abcdefghkLNOpGrsSuwx", t[1]) >= 0 && i+1 < len(ws) && ws[i+1].text != "]":
				if t[1] == 'a' && i > 1 && i+1 < len(ws) {
					continue // the "and" of old
				}
				i++
				r.path(pathEffect{kind: effect.Read, text: ws[i].text, span: ws[i].span, cmd: cmd, meta: true}, w)
			case (t == "-nt" || t == "-ot" || t == "-ef") && i > 1 && i+1 < len(ws):
				r.path(pathEffect{kind: effect.Read, text: ws[i-1].text, span: ws[i-1].span, cmd: cmd, meta: true}, w)
				r.path(pathEffect{kind: effect.Read, text: ws[i+1].text, span: ws[i+1].span, cmd: cmd, meta: true}, w)
			}
		}
	case "let":
		for _, x := range ws[1:] {
			r.number(x.text, x.span, w)
		}
	}
	return w.alone()
}

// subscripted is told of a test among whose words there may be "-v" and a name
// with a subscript, which is expanded: words that are not known may be both.
func (r *reader) subscripted(ws []word) {
	for i, x := range ws[1:] {
		if !leads(x.text, "-v") && !leads(x.text, "-R") {
			continue
		}
		if i == 0 && x.matched() || strings.Contains(x.text, commands.Words) || strings.Contains(x.text, commands.Unknown) && i+2 < len(ws) && !commands.Known(ws[i+2].text) {
			r.opaque(x.span, "a test that may be one of a subscript that runs commands")
			return
		}
	}
}

// leads reports whether a text that is not known may begin with another one.
func leads(text, with string) bool {
	for text != "" && with != "" && text[0] == with[0] {
		text, with = text[1:], with[1:]
	}
	return with != "" && text != "" && text[0] == commands.Mark && !strings.HasPrefix(text, commands.Number)
}

func (r *reader) shopt(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	turns, on, shows := false, true, true // it is about the options of set
	for _, x := range ws[1:] {
		if strings.HasPrefix(x.text, "-") {
			turns = turns || strings.Contains(x.text, "o")
			on = on && !strings.Contains(x.text, "u")
			shows = shows && !strings.ContainsAny(x.text, "suq")
			continue
		}
		if !commands.Known(x.text) {
			r.opaque(x.span, "an option of the shell that is not known")
		} else if turns {
			r.shellOption(x.text, on, x.span, w)
		}
		r.shoptOption(x.text, x.span, w)
	}
	if shows {
		r.print(commands.Words)
	}
	return w.alone()
}

// shoptOption turns an option of shopt on or off.
func (r *reader) shoptOption(name string, span effect.Span, w *world) {
	switch name {
	case "dotglob", "nullglob", "globstar", "failglob", "globskipdots":
		w.globbing = true
	case "nocaseglob", "nocasematch", "cdable_vars", "autocd", "extdebug", "compat31", "assoc_expand_once", "expand_aliases", "localvar_inherit", "patsub_replacement":
		r.opaque(span, "an option that changes how commands are read")
	case "lastpipe":
		w.lastpipe = true
	default:
		if !commands.Known(name) {
			w.globbing, w.lastpipe = true, true
		}
	}
}

// jobs lists what runs beside the text, or runs a command with the numbers of
// jobs put into its words.
func (r *reader) jobs(ws []word, _ []string, w *world, ctx context) []*world {
	for i, x := range ws[1:] {
		if !leads(x.text, "-x") && (!strings.HasPrefix(x.text, "-") || !strings.Contains(x.text, "x") && commands.Known(x.text)) {
			continue
		}
		r.runBuiltin(ws, effect.Wrap, ctx)
		r.opaque(x.span, "a command with the numbers of jobs")
		if rest := ws[i+2:]; len(rest) > 0 {
			return r.simple(rest, nil, w, ctx)
		}
		return w.alone()
	}
	r.runBuiltin(ws, effect.Look, ctx)
	return w.alone()
}

// logout ends a login shell, and any other complains.
func (r *reader) logout(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	r.counted(ws)
	return w.alone()
}

// leave follows exit and return: what comes after them does not run.
func (r *reader) leave(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	r.counted(ws)
	var stays []*world
	if len(ws) > 1 && (ws[1].text == "--help" || !commands.Known(ws[1].text) && !digits(ws[1].text)) {
		stays = append(stays, w.fork()) // it only says what it is for
	}
	switch {
	case ws[0].text == "exit":
		if len(r.exits) < maxWorlds {
			r.exits = append(r.exits, w)
		}
		return stays
	case r.frame.calls > 0:
		r.frame.returns = append(r.frame.returns, w)
		return stays
	}
	return w.alone()
}

func (r *reader) hash(ws []word, _ []string, w *world, ctx context) []*world {
	cmd := r.runBuiltin(ws, effect.Look, ctx)
	for _, x := range ws[1:] {
		if strings.HasPrefix(x.text, "-p") || strings.Contains(x.text, "=") || !commands.Known(x.text) {
			r.add(effect.Effect{Target: "hash -p makes a name run another program", Span: spanOf(ws), Command: cmd})
		}
	}
	return w.alone()
}
