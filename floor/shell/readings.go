package shell

import (
	"regexp"
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"

	"mvdan.cc/sh/v3/syntax"
)

// A dialect is a shell that a text is read for. Nobody tells which shell a
// client hands its text to: a text that means something else elsewhere is read
// for the other shells as well, and what it does there is told with the rest.
type dialect uint8

const (
	bash  dialect = iota
	posix         // dash and its like, which know nothing of bash's own words
	zsh
)

// dialects are those besides bash in which something that was met means
// something else.
type dialects [zsh + 1]bool

// differs is told of something that another shell reads otherwise.
func (r *reader) differs(d dialect) {
	if r.lang == bash {
		r.others[d] = true
	}
}

// variant is the language of the parser.
func (d dialect) variant() syntax.LangVariant {
	return [...]syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX, syntax.LangZsh}[d]
}

// inOtherShells reads the text for the other shells to which it may mean
// something else and adds what it would do there.
func (r *reader) inOtherShells(text string) {
	if bashOnly(text) {
		r.differs(posix)
	}
	if zshOnly(text) {
		r.differs(zsh)
	}
	for d := posix; d <= zsh; d++ {
		if !r.others[d] {
			continue
		}
		o := &reader{place: r.place, know: r.know, whole: text, lang: d, second: true, out: make([]effect.Effect, 0, 4)}
		o.all(text)
		for _, e := range o.out {
			r.add(e)
		}
	}
}

// readable is what stands in a text before the first line that such a shell
// cannot read.
func readable(text string) *syntax.File {
	var best *syntax.File
	for _, t := range []string{text, strings.ReplaceAll(text, "&>", ";>")} { // which the parser does not split
		f, failed := &syntax.File{}, false
		for s, err := range syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).StmtsSeq(strings.NewReader(t)) {
			// No break: of some texts the parser tells a second error.
			if failed = failed || err != nil; !failed {
				f.Stmts = append(f.Stmts, s)
			}
		}
		if best == nil || len(f.Stmts) > len(best.Stmts) {
			best = f
		}
	}
	return best
}

// absent reports whether the first of these words is the name of no program in
// the shell that the text is read for, so that nothing happens.
func (r *reader) absent(ws []word, w *world) bool {
	name := ws[0].text
	_, isFunc := w.funcs.get(name)
	switch {
	case isFunc:
		return false
	case r.lang == zsh: // a name that bash splits
		return name == "" || strings.ContainsAny(name, " \t\n") && !strings.Contains(name, "/") && commands.Known(name)
	case r.lang == posix && !r.second:
		return bashWords[name]
	case r.lang == posix:
		return bashWords[name] || builtin(name) == nil && r.arithmetic(ws)
	}
	return false
}

// arithmetic reports whether what such a shell takes for a command is a piece
// of bash's arithmetic, or the rest of a test: "((n = 1))", "[[ -f a && -d b ]]".
// It would be chance if there were a program of that name.
func (r *reader) arithmetic(ws []word) bool {
	name := ws[0].text
	switch {
	case name == "" || strings.IndexByte("-$", name[0]) >= 0 || digits(name):
		return true
	case strings.Contains(name, "/"):
		return false
	case ws[0].src != nil && subscripted.MatchString(lead(ws[0].src)):
		return true
	case len(name) > 1 && r.know.Lookup(name) != nil: // one letter is a variable
		return false
	case r.compares || ws[len(ws)-1].text == "]]":
		return true
	}
	return commands.Known(name) && (strings.ContainsAny(name, "+*%=!?[],:^~") || len(ws) > 1 && operators[ws[1].text])
}

var (
	subscripted = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*[[*?]`)
	operators   = map[string]bool{"=": true, "==": true, "!=": true, "+": true, "-": true, "*": true, "/": true, "%": true,
		"+=": true, "-=": true, "*=": true, "/=": true, "%=": true, "\x00*": true}
)

// undeclared is told of a declaration that such a shell does not know. What the
// name was before stays, where that is known.
func (r *reader) undeclared(ws []word, w *world) {
	if ws[0].text != "declare" && ws[0].text != "typeset" {
		return
	}
	for _, x := range ws[1:] {
		name, text, assigns := strings.Cut(x.text, "=")
		if _, known := r.lookup(name, w); assigns && isName(name) && !known {
			r.assignVar(w, name, text, x.span)
		}
	}
}

// chance reports whether a sign of bash's tests and arithmetic, as such a shell
// reads it, writes a file that nobody can have meant: "[[ $a > $b ]]" with values
// that are not known, "((n > 1))".
func (r *reader) chance(target string) bool {
	return r.second && r.lang == posix && (digits(target) || !commands.Known(target))
}

// numeric is a pattern of zsh that other shells take for redirections.
var numeric = regexp.MustCompile(`<[0-9]*-[0-9]*>`)

// zshOnly reports whether a text holds signs that mean something to zsh and
// stand for themselves, or for something else, in bash.
func zshOnly(text string) bool {
	for _, sign := range []string{"$~", "$=", "$^", "$+"} {
		if i := strings.Index(text, sign); i >= 0 && i+2 < len(text) && (isName(text[i+2:i+3]) || strings.IndexByte("{~=^+", text[i+2]) >= 0) {
			return true
		}
	}
	return strings.Contains(text, "->") && numeric.MatchString(text)
}

// modifiers are the letters that zsh takes for a change of the value when they
// follow "$name:".
const modifiers = "aAcCefFghlopPqQrRsStuwWx&"

// follows is told of what stands behind a short expansion, such as "[1]" or
// ":h": text in bash, a part of the expansion in zsh.
func (x *expansion) follows(parts []syntax.WordPart, i int) (modified bool) {
	if x.r.lang == posix || i+1 >= len(parts) {
		return false
	}
	p, isParam := parts[i].(*syntax.ParamExp)
	lit, isLit := parts[i+1].(*syntax.Lit)
	if !isParam || !isLit || !p.Short || len(lit.Value) == 0 {
		return false
	}
	s := lit.Value
	switch {
	case s[0] == '[':
		x.r.differs(zsh)
	case s[0] == ':' && len(s) > 1 && strings.IndexByte(modifiers, s[1]) >= 0:
		x.r.differs(zsh)
		return x.r.lang == zsh
	}
	return false
}

// modify adds an expansion that zsh changes by the text behind it.
func (x *expansion) modify() {
	x.began = true
	x.cur.WriteString(commands.Unknown)
}

// equals is told of a word that begins with "=": zsh puts the path of the
// program of that name there.
func (x *expansion) equals(s string, more bool) bool {
	if s == "" || s[0] != '=' || x.quotes > 0 || x.literal || !more && strings.Trim(s, "=") == "" {
		return false
	}
	x.r.differs(zsh)
	return x.r.lang == zsh
}

// whole adds the value of a variable as zsh does, which neither splits it nor
// looks for patterns in it. An empty one is no word.
func (x *expansion) whole(s string) {
	if x.quotes == 0 && !x.literal && x.split && commands.Known(s) {
		if strings.ContainsAny(s, " \t\n*?[") {
			x.r.differs(zsh)
		}
		if x.r.lang == zsh {
			if s != "" {
				x.began = true
				x.cur.WriteString(s)
			}
			return
		}
	}
	x.text(s)
}

// zshParam follows an expansion where zsh reads it otherwise than bash does,
// and reports whether it did.
func (x *expansion) zshParam(p *syntax.ParamExp) bool {
	r, w := x.r, x.w
	name := p.Param.Value
	if p.IsSet {
		x.text(commands.Number)
		return true
	}
	v, known := r.lookup(name, w)
	if name == "argv" {
		v, known = variable{list: w.args, lost: w.argsLost, array: true}, true
	}
	if name == "@" || name == "*" {
		v, known = variable{list: w.args, lost: w.argsLost, array: true}, true
		if p.Index == nil {
			return false
		}
	}
	switch {
	case p.Length || p.Excl || p.Names != 0:
		return false
	case p.RcExpand == syntax.OptOn || p.Split == syntax.OptOn || p.GlobSubst == syntax.OptOn:
		if p.GlobSubst == syntax.OptOn && (v.array || !known || !commands.Known(v.text) || strings.Contains(v.text, "(")) {
			r.opaque(r.spans.span(p), "a value that zsh takes for a pattern")
		}
		if v.array || !known || p.Index != nil || p.Exp != nil || p.Slice != nil || p.Repl != nil {
			x.operands(p)
			x.text(commands.Words)
		} else {
			x.text(v.text)
		}
		return true
	case len(p.Modifiers) > 0:
		x.text(commands.Unknown)
		return true
	case !v.array && p.Index == nil:
		return false
	}
	x.operators(p)
	index := ""
	if p.Index != nil {
		if word, isWord := p.Index.(*syntax.Word); isWord && (word.Lit() == "@" || word.Lit() == "*") {
			index = word.Lit()
		} else if index = r.arithm(p.Index, w); index == "" {
			index = commands.Number
		}
	}
	if index == "@" || index == "*" {
		return false
	}
	if p.Exp != nil || p.Slice != nil || p.Repl != nil {
		x.operands(p)
		x.text(commands.Words)
		return true
	}
	switch {
	case !known:
		x.text(commands.Words)
	case index == "" && x.quotes == 0 && x.split && !v.lost: // all elements that are not empty
		x.list(slices.DeleteFunc(slices.Clone(v.list), func(s string) bool { return s == "" }), false, false)
	case index == "":
		x.list(v.list, v.lost, x.quotes > 0)
	case !v.array: // some characters
		x.text(commands.Unknown)
	case index == "0":
		x.whole("")
	default:
		x.whole(element(v, before(index)))
	}
	return true
}

// before is the number before a known one: zsh counts from one.
func before(index string) string {
	if n, fine := compute(syntax.Sub, index, "1"); fine {
		return n
	}
	return commands.Number
}

// qualified reports whether a pattern may end in a qualifier that runs code in
// zsh: "(e:'...':)", "(+f)", "(.Noe:'...':)".
func qualified(pattern string) bool {
	return !strings.ContainsAny(pattern, "|") && strings.ContainsAny(pattern, "e+")
}

// numbersIn is a format that takes a number.
var numbersIn = regexp.MustCompile(`%[^%sbqc]*[diouxXeEfFgGaA*]`)

// counted is told of words that zsh takes for arithmetic where bash takes
// numbers: in it a subscript may run commands.
func (r *reader) counted(ws []word) {
	for _, x := range ws[1:] {
		r.count(x.text, x.span)
	}
}

// count is told of one such text.
func (r *reader) count(text string, span effect.Span) {
	switch _, sub, has := strings.Cut(text, "["); {
	case has && strings.ContainsAny(sub, "$`"):
		r.opaque(span, "arithmetic of zsh's over text that runs commands")
	case strings.Contains(text, commands.Unknown) || strings.Contains(text, commands.Words):
		r.opaque(span, "arithmetic of zsh's over text that is not known")
	}
}

// zshNumbers are the variables that are numbers in zsh and texts in bash.
var zshNumbers = map[string]bool{"COLUMNS": true, "LINES": true, "ERRNO": true, "UID": true, "EUID": true, "GID": true, "EGID": true, "FUNCNEST": true,
	"HISTSIZE": true, "SAVEHIST": true, "KEYTIMEOUT": true, "LISTMAX": true, "MAILCHECK": true, "LOGCHECK": true, "SHLVL": true, "TMOUT": true, "BAUD": true,
	"DIRSTACKSIZE": true, "PPID": true, "TTYIDLE": true, "REPORTTIME": true, "REPORTMEMORY": true}

// bashWords are builtins that only bash has of the shells that may read a text
// as sh: elsewhere they are programs that there are not, and nothing happens.
var bashWords = map[string]bool{"[[": true, "function": true, "declare": true, "typeset": true, "let": true, "mapfile": true, "readarray": true,
	"pushd": true, "popd": true, "dirs": true, "shopt": true, "source": true, "enable": true, "builtin": true, "compgen": true, "complete": true, "select": true,
	"caller": true, "disown": true, "logout": true, "noglob": true, "nocorrect": true}
