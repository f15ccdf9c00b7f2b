package shell

import (
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"

	"mvdan.cc/sh/v3/syntax"
)

// input is what standard input holds. Everything that reads the same input
// shares one, because what one takes another does not get.
type input struct {
	text  string
	used  bool
	piped bool // it comes from a pipe or a redirection before
}

// take is told of a command that may have read from standard input.
func (r *reader) take() {
	in := r.stdin
	if in == nil || in.text == "" {
		return
	}
	in.used = true
	if in.text == someNumbers {
		in.text = anyNumbers
	}
	if _, same := in.paths(); !same && in.text != anyNumbers {
		in.text = commands.Words
	}
}

// paths returns the one line that stands for every line of what a search
// prints: whoever takes some of them leaves some of them.
func (in *input) paths() (line string, same bool) {
	line = strings.TrimSuffix(strings.TrimSuffix(in.text, nul), "\n")
	return line, strings.Contains(line, found) && !strings.ContainsAny(line, " \n\t")
}

// lose says that something else than what is told may get into the sink.
func (r *reader) lose() {
	if r.sink != nil {
		r.sink.text.WriteString(commands.Words)
	}
}

// redirected applies the redirections of a statement and runs it.
func (r *reader) redirected(s *syntax.Stmt, w *world) []*world {
	if len(s.Redirs) == 0 {
		return r.cmd(s, w)
	}
	savedIn, savedSink, compares := r.stdin, r.sink, r.compares
	var stayed *world // where a redirection failed and the command did not run
	// Words are expanded before redirections for a simple command; only an
	// assignment by ${x:=...} could tell the difference.
	for _, rd := range s.Redirs {
		if r.redirect(rd, w) && stayed == nil {
			stayed = w.fork()
		}
	}
	r.rerouted++
	r.emptyExec = false
	if s.Cmd == nil && r.sink != nil && r.bare(s) {
		r.differs(zsh)
		if r.lang == zsh { // which shows the file
			r.lose()
		}
	}
	ws := r.cmd(s, w)
	r.rerouted--
	for _, w := range ws { // output may fail, and the command with it
		w.status = unknown
	}
	if stayed != nil {
		stayed.status = failed
		ws = collapse(append(ws, stayed))
	}
	r.compares = compares
	kept := r.emptyExec
	r.emptyExec = false
	r.stdin, r.sink = savedIn, savedSink
	if kept { // exec without a command: the redirections stay
		r.rerouted++
		r.stdin = &input{text: commands.Words}
		r.lose()
	}
	return ws
}

// redirect tells one redirection and reports whether it may fail.
func (r *reader) redirect(rd *syntax.Redirect, w *world) (may bool) {
	if rd.Word == nil && rd.Hdoc == nil {
		return false
	}
	span := r.spans.span(rd)
	fd := ""
	if rd.N != nil {
		fd = rd.N.Value
		if strings.HasPrefix(fd, "{") {
			r.assignVar(w, strings.Trim(fd, "{}"), commands.Number, span)
		}
	}
	in, out := fd == "" || fd == "0", fd == "" || fd == "1"
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		text := r.heredoc(rd, w)
		if in {
			r.feed(text)
		}
		return false
	case syntax.WordHdoc:
		text := r.value(rd.Word, w) + "\n"
		if in {
			r.feed(text)
		}
		return false
	}
	r.printed = commands.Words
	list := r.fields(rd.Word, w)
	if len(list) != 1 {
		if len(list) > 1 {
			r.opaque(span, "a redirection to several words")
		}
		return true
	}
	target := list[0]
	if rest, is := strings.CutPrefix(target, "!"); is { // to zsh, the mark that overwrites
		r.opaque(span, "a redirection that zsh reads otherwise")
		if rest != "" {
			r.path(pathEffect{kind: effect.Write, text: rest, span: span}, w)
		}
	}
	reads, writes := false, false
	switch rd.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob:
		writes = true
	case syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
		writes, out = true, true
	case syntax.RdrIn:
		reads = true
	case syntax.RdrInOut:
		reads, writes = true, true
		in, out = fd == "" || fd == "0", fd == "1"
	case syntax.DplIn, syntax.DplOut:
		if len(target) > 1 && target[0] == '-' { // bash ends the redirection behind the dash
			r.opaque(span, "a word joined to a descriptor that is closed")
		}
		if from := strings.TrimSuffix(target, "-"); isNumber(from) || from == commands.Number || from == "" {
			return r.duplicate(rd.Op, fd, from)
		}
		reads, writes = rd.Op == syntax.DplIn, rd.Op == syntax.DplOut
	default:
		r.opaque(span, "a redirection that is not followed")
		return true
	}
	for _, net := range []string{"/dev/tcp/", "/dev/udp/"} {
		if host, isNet := strings.CutPrefix(target, net); isNet {
			r.net(host, span, nil, "")
			reads, writes = false, false
			if in && rd.Op != syntax.RdrOut && rd.Op != syntax.AppOut {
				r.stdin = &input{text: commands.Words}
			}
			if out {
				r.sink = nil
			}
			return true
		}
	}
	if reads {
		r.path(pathEffect{kind: effect.Read, text: target, span: span}, w)
	}
	if reads && in || writes && fd == "0" {
		r.stdin = &input{text: commands.Words}
		if len(rd.Word.Parts) == 1 && rd.Op == syntax.RdrIn {
			if p, is := rd.Word.Parts[0].(*syntax.ProcSubst); is && p.Op == syntax.CmdIn {
				r.stdin.text = r.printed
			}
		}
	}
	r.compares = r.compares || r.second && r.lang == posix && isNumber(target)
	if writes && !r.chance(target) {
		r.path(pathEffect{kind: effect.Write, text: target, span: span}, w)
		if r.device(target, w) { // it may be where the sink is
			r.lose()
		}
		if out {
			r.divert()
		}
	}
	return target != "/dev/null"
}

// bare reports whether a statement is nothing but redirections, one of which
// reads.
func (r *reader) bare(s *syntax.Stmt) bool {
	for _, rd := range s.Redirs {
		switch rd.Op {
		case syntax.RdrIn, syntax.RdrInOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			return true
		}
	}
	return false
}

// divert is told that standard output goes to a file. Where zsh sees it go to a
// pipe as well, it goes to both.
func (r *reader) divert() {
	if r.sink != nil && r.sink == r.piped {
		r.differs(zsh)
		if r.lang == zsh {
			return
		}
	}
	r.sink = nil
}

// feed gives text to standard input, which zsh puts behind what a pipe gives.
func (r *reader) feed(text string) {
	if r.stdin != nil && r.stdin.piped {
		r.differs(zsh)
		if r.lang == zsh {
			text = r.stdin.text + text
		}
	}
	r.stdin = &input{text: text, piped: true}
}

// duplicate follows N>&M and N<&M, M- and -.
func (r *reader) duplicate(op syntax.RedirOperator, fd, from string) (may bool) {
	to := fd
	if to == "" {
		to = "1"
		if op == syntax.DplIn {
			to = "0"
		}
	}
	if to == from {
		return false
	}
	if to == "0" {
		r.stdin = &input{text: commands.Words}
	}
	if from == "1" || from == commands.Number { // more than the command prints gets there
		r.lose()
	}
	if to == "1" {
		if from != "2" && from != "" {
			r.lose() // that one may lead to the same place
		}
		r.divert()
	}
	// One that is closed cannot be had twice, and there are not that many.
	return from != "1" && from != "2" && from != "" || r.rerouted > 0 && from != "" || from == "" && strings.HasPrefix(fd, "{") || len(fd) > 1 && fd[0] != '{'
}

// device reports whether a file that is written may be one of the open files
// of this process, or nothing but a name for another file.
func (r *reader) device(target string, w *world) bool {
	if target == "/dev/null" {
		return false
	}
	p := r.place.Prepare(strings.ReplaceAll(strings.ReplaceAll(target, commands.Words, commands.Unknown), commands.Number, commands.Star), w.cwd)
	return !p.Known() && !strings.HasPrefix(target, commands.Temp) || strings.HasPrefix(p.Abs, "/dev/") || strings.HasPrefix(p.Abs, "/proc/")
}

// heredoc is the text of a here-document, expanded unless its word is quoted.
func (r *reader) heredoc(rd *syntax.Redirect, w *world) string {
	if rd.Hdoc == nil {
		return ""
	}
	quoted := false
	for _, p := range rd.Word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			quoted = quoted || strings.IndexByte(p.Value, '\\') >= 0
		default:
			quoted = true
		}
	}
	x := expansion{r: r, w: w, quotes: 1}
	start := true // of a line, where <<- takes tabs away
	for _, p := range rd.Hdoc.Parts {
		lit, isLit := p.(*syntax.Lit)
		if !isLit {
			x.part(p)
			start = false
			continue
		}
		text := lit.Value
		if rd.Op == syntax.DashHdoc {
			text = untabbed(text, start)
		}
		start = strings.HasSuffix(text, "\n")
		if quoted {
			x.cur.WriteString(text)
		} else {
			x.cur.WriteString(dquoted(strings.ReplaceAll(text, `\"`, `\\"`)))
		}
	}
	return x.one()
}

// untabbed removes the tabs at the start of lines.
func untabbed(text string, start bool) string {
	var b strings.Builder
	for i := range len(text) {
		if text[i] == '\t' && start {
			continue
		}
		b.WriteByte(text[i])
		start = text[i] == '\n'
	}
	return b.String()
}
