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
		return []*world{w}
	}
	ws := make([]word, 0, len(c.Args))
	for _, a := range c.Args {
		span := r.spans.span(a)
		if text, plain := plainWord(a); plain {
			ws = append(ws, word{text, span, a})
			continue
		}
		hidden := computed(a) && strings.Trim(lead(a), "-") == ""
		for _, f := range r.fields(a, w) {
			if hidden && len(f) > 1 && f[0] == '-' && f[1] != ' ' && len(ws) > 0 {
				r.opaque(span, "an option that a substitution spells")
			}
			ws = append(ws, word{f, span, a})
		}
	}
	if len(ws) == 0 { // nothing is left to run: the assignments stay
		for _, a := range c.Assigns {
			r.assign(a, w, false)
		}
		w.status = unknown
		return []*world{w}
	}
	var assigns []string
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
			r.pass(a.Name.Value, v, span, nil)
		}
		if a.Array != nil || a.Index != nil {
			r.assign(a, w, false)
			continue
		}
		assigns = append(assigns, a.Name.Value+"="+v)
		r.give(in, a.Name.Value, v, span)
	}
	return r.simple(ws, assigns, w, context{})
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
	privileged bool
	option     string // the option of the outer command that runs this one
	noFuncs    bool   // functions and builtins are passed over
	noBuiltins bool   // run by another program: no shell is involved
}

// simple runs the words of a simple command.
func (r *reader) simple(ws []word, assigns []string, w *world, ctx context) []*world {
	if !r.step() {
		return []*world{w}
	}
	r.depth++
	defer func() { r.depth-- }()
	name := ws[0].text
	span := spanOf(ws)
	w.status = unknown
	if !commands.Known(name) {
		r.unknownProgram(ws, w, ctx)
		r.print(commands.Words)
		return []*world{w}
	}
	if !ctx.noFuncs && !ctx.noBuiltins {
		if text, isAlias := w.aliases[name]; isAlias && ws[0].src != nil && ws[0].src.Lit() == name {
			r.branch++
			rest := make([]string, 0, len(ws))
			for _, x := range ws[1:] {
				rest = append(rest, quote(x.text))
			}
			in := w.fork()
			dropAlias(in, name)
			r.nested(text+" "+strings.Join(rest, " "), []*world{in}, spans{fixed: &span}, span)
			r.branch--
		}
		if f, isFunc := w.funcs[name]; isFunc {
			return r.function(f, ws, assigns, w, span)
		}
	}
	if !ctx.noBuiltins {
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
	return []*world{w}
}

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
	w.locals = nil
	for _, a := range assigns {
		if name, _, _ := strings.Cut(a, "="); name != "OLDPWD" {
			w.hide(name)
		}
	}
	r.environ(assigns, w, spanOf(ws))
	out := b(r, ws, assigns, w, ctx)
	keeps := true // the builtin may make the assignments last
	switch ws[0].text {
	case "cd", "pushd", "popd", "echo", "printf", "test", "[", "pwd", "read", ":", "true", "false":
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

func dropAlias(w *world, alias string) {
	w.own()
	delete(w.aliases, alias)
}

// quote spells abstract text as one word of shell text; marks stay marks, which
// makes the whole unreadable on purpose.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (r *reader) function(f function, ws []word, assigns []string, w *world, span effect.Span) []*world {
	if f.body == nil {
		r.opaque(span, "a function that cannot be told")
		return []*world{w}
	}
	if !r.step() {
		return []*world{w}
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
	locals, zero := w.locals, w.zero
	w.locals = nil
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
	r.spans, r.frame = saved, outer
	for _, o := range out {
		o.args, o.argsLost, o.zero = args, lost, zero
		o.show(locals)
	}
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
	case "exec", "command", "builtin", "time", "noglob", "nocorrect":
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
	case "read", "mapfile", "readarray", "getopts":
		return (*reader).read
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
	case "break", "continue":
		return (*reader).jump
	}
	return nil
}

// run tells the run effect of a builtin.
func (r *reader) runBuiltin(ws []word, class effect.Class, ctx context) *effect.Command {
	cmd := &effect.Command{Program: ws[0].text, Class: class, Described: true, Wrappers: ctx.wrappers}
	for _, x := range ws[1:] {
		if strings.HasPrefix(x.text, "-") && len(x.text) > 1 {
			cmd.Options = append(cmd.Options, effect.Option{Name: display(x.text)})
		} else {
			cmd.Operands = append(cmd.Operands, display(x.text))
		}
	}
	r.add(effect.Effect{Kind: effect.Run, Target: show(ws), Span: spanOf(ws), Command: cmd, Privileged: ctx.privileged, Option: ctx.option})
	r.tellSecrets(spanOf(ws), cmd)
	return cmd
}

func show(ws []word) string {
	if len(ws) == 1 {
		return display(ws[0].text)
	}
	n := len(ws)
	for i := range ws {
		n += len(ws[i].text)
	}
	var b strings.Builder
	b.Grow(n)
	for i := range ws {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(display(ws[i].text))
	}
	return b.String()
}

func (r *reader) constantStatus(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	w.status = ok
	if ws[0].text == "false" {
		w.status = failed
	}
	return []*world{w}
}

// chdir follows cd, pushd and popd: one course where it worked and, where that
// is not certain, one where it did not.
func (r *reader) chdir(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	name := ws[0].text
	args := ws[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") && args[0].text != "-" && !digits(strings.TrimPrefix(args[0].text, "-")) {
		if args[0].text == "--" {
			args = args[1:]
			break
		}
		args = args[1:]
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
		if v, isSet := w.vars["HOME"]; isSet {
			to = v.text
		} else {
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
	if v, isSet := w.vars["CDPATH"]; isSet && v.text != "" && !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, ".") {
		to = ""
	}
	moved := w.fork()
	moved.old = w.cwd
	if name == "pushd" {
		moved.dirs = append(slices.Clip(w.dirs), w.cwd)
	}
	moved.cwd = r.folder(to, w.cwd)
	moved.status = ok
	if moved.cwd != "" && (certain || r.exists(moved.cwd)) || moved.cwd == w.cwd && w.cwd != "" {
		moved.shared = w.shared
		return []*world{moved}
	}
	w.status = failed
	return []*world{moved, w}
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
	return r.nested(text, []*world{w}, spans{fixed: &span}, span)
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
		return []*world{w}
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
	look := false
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		t := args[0].text
		args = args[1:]
		if t == "--" {
			break
		}
		if name == "command" && strings.ContainsAny(t, "vV") {
			look = true
		}
		if name == "exec" && strings.Contains(t, "a") && len(args) > 0 { // -a NAME
			args = args[1:]
		}
	}
	if look || len(args) == 0 {
		r.runBuiltin(ws, effect.Look, ctx)
		if look {
			r.print(commands.Words)
		}
		return []*world{w}
	}
	ctx.wrappers = append(slices.Clip(ctx.wrappers), name)
	ctx.noFuncs = name == "command" || name == "builtin" || name == "exec"
	if name == "exec" {
		ctx.noBuiltins = true
	}
	return r.simple(args, assigns, w, ctx)
}

func (r *reader) shift(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	switch {
	case len(ws) > 1:
		w.args, w.argsLost = nil, true
	case len(w.args) > 0:
		w.args = w.args[1:]
	}
	return []*world{w}
}

func (r *reader) setBuiltin(ws []word, _ []string, w *world, ctx context) []*world {
	args := ws[1:]
	if len(args) == 0 {
		r.runBuiltin(ws, effect.Environ, ctx)
		return []*world{w}
	}
	r.runBuiltin(ws, effect.Look, ctx)
	for i := 0; i < len(args); i++ {
		t := args[i].text
		switch {
		case t == "--" || t == "-":
			r.setArgs(w, args[i+1:])
			return []*world{w}
		case strings.HasPrefix(t, "-") || strings.HasPrefix(t, "+"):
			if !commands.Known(t) {
				r.opaque(args[i].span, "an option of the shell that is not known")
			}
			if strings.HasSuffix(t, "o") && i+1 < len(args) {
				i++
			}
			if strings.Contains(t, "f") {
				w.globbing = true
			}
			if strings.Contains(t, "a") {
				w.exportAll = true
			}
		default:
			r.setArgs(w, args[i:])
			return []*world{w}
		}
	}
	return []*world{w}
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
	for _, x := range ws[1:] {
		r.subscript(x.text, x.span)
		switch {
		case strings.HasPrefix(x.text, "-"):
		case isName(x.text):
			if _, isFunc := w.funcs[x.text]; isFunc {
				w.own()
				delete(w.funcs, x.text)
			}
			w.setVar(x.text, variable{unset: true})
			if x.text == "IFS" {
				w.ifs = false // unset means the default
			}
		default:
			if i := strings.IndexByte(x.text, '['); i > 0 && isName(x.text[:i]) {
				w.setVar(x.text[:i], variable{text: commands.Unknown, array: true, lost: true})
			}
		}
	}
	return []*world{w}
}

func (r *reader) alias(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	if ws[0].text == "unalias" {
		return []*world{w}
	}
	for _, x := range ws[1:] {
		name, text, set := strings.Cut(x.text, "=")
		if set {
			w.setAlias(name, text)
			if !commands.Known(x.text) {
				r.opaque(x.span, "an alias that cannot be told")
			}
		}
	}
	return []*world{w}
}

// trap runs its text at some later point, in a state that is not known then.
func (r *reader) trap(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Wrap, ctx)
	args := ws[1:]
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) < 2 || args[0].text == "-" || args[0].text == "" || strings.HasPrefix(args[0].text, "-") {
		return []*world{w}
	}
	span := args[0].span
	if !commands.Known(args[0].text) {
		r.opaque(span, "a trap whose text is not known")
		return []*world{w}
	}
	r.traps = append(r.traps, trapped{args[0].text, span})
	r.branch++
	r.child(args[0].text, w.fork(), spans{fixed: &span}, span)
	r.branch--
	return []*world{w}
}

type trapped struct {
	text string
	span effect.Span
}

// read follows the builtins that fill variables from standard input.
func (r *reader) read(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	value := commands.Unknown
	if r.stdin != nil {
		if line := strings.TrimRight(*r.stdin, "\n"); strings.Contains(line, found) && !strings.ContainsAny(line, " \n\t") {
			value = line
		}
	}
	names := 0
	mapping := ws[0].text == "mapfile" || ws[0].text == "readarray"
	for i := 1; i < len(ws); i++ {
		t := ws[i].text
		if strings.HasPrefix(t, "-") && len(t) > 1 {
			last := t[len(t)-1]
			if mapping && last == 'C' && i+1 < len(ws) {
				r.nested(ws[i+1].text, []*world{w.fork()}, spans{fixed: &ws[i+1].span}, ws[i+1].span)
			}
			if last == 'a' && !mapping && i+1 < len(ws) {
				i++
				w.setVar(ws[i].text, variable{text: commands.Unknown, array: true, lost: true})
				names++
			} else if strings.IndexByte("dinNptuCcOs", last) >= 0 && i+1 < len(ws) {
				i++
			}
			continue
		}
		r.subscript(t, ws[i].span)
		name, _, _ := strings.Cut(t, "[")
		if !isName(name) {
			if ws[0].text == "getopts" && i == 1 {
				continue
			}
			r.opaque(ws[i].span, "a variable that cannot be told is assigned")
			continue
		}
		names++
		if mapping {
			w.setVar(name, variable{text: commands.Unknown, array: true, lost: true})
		} else {
			v := value
			if names > 1 {
				v = commands.Unknown
			}
			r.assignVar(w, name, v, ws[i].span)
		}
	}
	switch {
	case mapping && names == 0:
		w.setVar("MAPFILE", variable{text: commands.Unknown, array: true, lost: true})
	case names == 0:
		w.set("REPLY", value)
	}
	if ws[0].text == "getopts" {
		w.set("OPTARG", commands.Unknown)
		w.set("OPTIND", commands.Number)
	}
	return []*world{w}
}

func (r *reader) printf(ws []word, _ []string, w *world, ctx context) []*world {
	cmd := r.runBuiltin(ws, effect.Look, ctx)
	args := ws[1:]
	if len(args) > 0 && strings.HasPrefix(args[0].text, "-v") {
		name := strings.TrimPrefix(args[0].text, "-v")
		args = args[1:]
		if name == "" && len(args) > 0 {
			name = args[0].text
			args = args[1:]
		}
		r.subscript(name, spanOf(ws))
		if !isName(name) {
			r.add(effect.Effect{Target: "printf assigns a variable that cannot be told", Span: spanOf(ws), Command: cmd})
			return []*world{w}
		}
		r.assignVar(w, name, one(format(args)), spanOf(ws))
		return []*world{w}
	}
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	w.status = ok
	r.print(format(args))
	return []*world{w}
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
				j := i + 2
				for j < len(f) && j-i < 5 && (f[j] >= '0' && f[j] <= '9' || isHex(f[j]) && f[i+1] == 'x') {
					j++
				}
				b.WriteString(ansi(f[i:j]))
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

// simpleBuiltin runs the builtins that have an entry in the data as well.
func (r *reader) simpleBuiltin(ws []word, _ []string, w *world, ctx context) []*world {
	name := ws[0].text
	cmd := r.runBuiltin(ws, effect.Look, ctx)
	switch name {
	case "echo":
		w.status = ok
		args := ws[1:]
		line := true
		for len(args) > 0 && len(args[0].text) > 1 && strings.Trim(args[0].text[1:], "neE") == "" && args[0].text[0] == '-' {
			line = line && !strings.Contains(args[0].text, "n")
			args = args[1:]
		}
		if r.sink != nil {
			text := strings.Join(texts(args), " ")
			if strings.Contains(text, `\`) { // shells differ in what echo makes of it
				text = commands.Words
			}
			if line {
				text += "\n"
			}
			r.print(text)
		}
	case "pwd":
		if w.cwd == "" {
			r.print(commands.Unknown + "\n")
		} else {
			r.print(w.cwd + "\n")
		}
		w.status = ok
	case "test", "[":
		for i := 1; i < len(ws); i++ {
			t := ws[i].text
			switch {
			case t == "-v" || t == "-R":
				if i+1 < len(ws) {
					r.subscript(ws[i+1].text, ws[i+1].span)
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
	return []*world{w}
}

func (r *reader) shopt(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	for _, x := range ws[1:] {
		switch x.text {
		case "dotglob", "nullglob", "globstar", "nocaseglob", "failglob":
			w.globbing = true
		case "lastpipe":
			w.lastpipe = true
		default:
			if !commands.Known(x.text) {
				w.globbing, w.lastpipe = true, true
			}
		}
	}
	return []*world{w}
}

// leave follows exit and return: what comes after them does not run.
func (r *reader) leave(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	switch {
	case ws[0].text == "exit":
		if len(r.exits) < maxWorlds {
			r.exits = append(r.exits, w)
		}
		return nil
	case r.frame.calls > 0:
		r.frame.returns = append(r.frame.returns, w)
		return nil
	}
	return []*world{w}
}

func (r *reader) hash(ws []word, _ []string, w *world, ctx context) []*world {
	cmd := r.runBuiltin(ws, effect.Look, ctx)
	for _, x := range ws[1:] {
		if strings.HasPrefix(x.text, "-p") || !commands.Known(x.text) {
			r.add(effect.Effect{Target: "hash -p makes a name run another program", Span: spanOf(ws), Command: cmd})
		}
	}
	return []*world{w}
}
