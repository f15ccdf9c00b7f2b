package shell

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"assent/floor/commands"
	"assent/floor/effect"

	"mvdan.cc/sh/v3/syntax"
)

// plain reports whether a literal means itself: no escapes, globs, braces or
// tildes, and no "=" at the start, which zsh looks at.
func plain(s string) bool {
	if len(s) > 1 && s[0] == '=' {
		return false
	}
	for i := range len(s) {
		switch s[i] {
		case '\\', '*', '?', '[', '{', '~', '<', '>':
			return false
		}
	}
	return true
}

// plainWord returns the text of a word that nothing is expanded in.
func plainWord(word *syntax.Word) (string, bool) {
	if len(word.Parts) == 1 {
		switch p := word.Parts[0].(type) {
		case *syntax.Lit:
			return p.Value, plain(p.Value)
		case *syntax.SglQuoted:
			return p.Value, !p.Dollar
		}
	}
	return "", false
}

// fields expands a word into the words a command gets.
func (r *reader) fields(word *syntax.Word, w *world) []string {
	list := r.items(word, w)
	if len(list) > 1 && list[0] == commands.Number && counts(list) {
		return []string{commands.Words} // nobody knows how many there are
	}
	return list
}

// items expands a word into words that are taken one by one.
func (r *reader) items(word *syntax.Word, w *world) []string {
	if text, fixed := plainWord(word); fixed {
		return []string{text}
	}
	if !r.step() {
		return []string{commands.Words}
	}
	var out []string
	for _, b := range r.braces(word) {
		x := expansion{r: r, w: w, split: true}
		if len(b.Parts) > 0 {
			if lit, isLit := b.Parts[0].(*syntax.Lit); isLit {
				if name, _, has := strings.Cut(lit.Value, "="); has && isName(name) {
					x.colons, x.assigns = true, true
				}
			}
		}
		x.word(b)
		list := x.done()
		for _, f := range list {
			if f != "" && f[0] == 0 && commands.Globbed(f[:min(2, len(f))]) {
				r.dashed(word, w)
				r.starry = append(r.starry, starry{f, r.spans.span(word), w.cwd})
			}
		}
		out = append(out, list...)
		if len(out) > maxFields {
			r.opaque(r.spans.span(word), "a word that becomes too many words")
			return []string{commands.Words}
		}
	}
	return out
}

// starry is a pattern that begins with a wildcard, in a folder: the names that it
// matches may be those of options.
type starry struct {
	text string
	span effect.Span
	cwd  string
}

// led tells the patterns that no program is told to read: the shell looks at the
// names all the same, and so must whoever says what is true of the machine.
func (r *reader) led() {
	for _, l := range r.starry {
		p := r.place.Prepare(l.text, l.cwd)
		if !p.Known() || slices.ContainsFunc(r.out, func(e effect.Effect) bool { return e.Path.Abs == p.Abs && e.Path.Glob }) {
			continue
		}
		r.tell(effect.Effect{Kind: effect.Read, Meta: true, Span: l.span, Path: p}, l.text)
	}
}

// dashed tells a pattern that a file with the name of an option may match.
func (r *reader) dashed(word *syntax.Word, w *world) {
	if r.optional(w.cwd) {
		r.opaque(r.spans.span(word), "a pattern that matches a file named like an option")
	}
}

// optional reports whether something in a folder is known to be called like an
// option.
func (r *reader) optional(folder string) bool {
	in := strings.TrimSuffix(folder, "/") + "/-"
	for f := range r.place.Facts.Files {
		if strings.HasPrefix(f, in) {
			return true
		}
	}
	return false
}

// value expands a word into one text: the right side of an assignment, the
// target of a redirection, the subject of a case.
func (r *reader) value(word *syntax.Word, w *world) string {
	if word == nil {
		return ""
	}
	if lit := word.Lit(); lit != "" && plain(lit) {
		return lit
	}
	x := expansion{r: r, w: w}
	x.word(word)
	return x.one()
}

// assigned expands the right side of an assignment, where ~ is expanded after
// each colon too.
func (r *reader) assigned(word *syntax.Word, w *world) string {
	if word == nil {
		return ""
	}
	x := expansion{r: r, w: w, colons: true}
	x.word(word)
	return x.one()
}

// braces expands {a,b} and {1..3} of a word.
func (r *reader) braces(word *syntax.Word) []*syntax.Word {
	has := false
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			has = has || strings.IndexByte(p.Value, '{') >= 0
		case *syntax.BraceExp:
			has = true
		}
	}
	if !has {
		return []*syntax.Word{word}
	}
	c := &syntax.Word{Parts: append([]syntax.WordPart(nil), word.Parts...)}
	syntax.SplitBraces(c)
	if leftover(c.Parts) {
		r.opaque(r.spans.span(word), "braces that do not match")
	}
	out, fine := expandBraces(c.Parts, maxFields)
	if !fine {
		r.opaque(r.spans.span(word), "braces that become too many words")
		return []*syntax.Word{{Parts: []syntax.WordPart{&syntax.ParamExp{Param: &syntax.Lit{Value: "\x00"}}}}}
	}
	words := make([]*syntax.Word, len(out))
	for i, parts := range out {
		words[i] = &syntax.Word{Parts: merged(parts)}
	}
	return words
}

// leftover reports whether braces and what stands between them in lists are
// left where the parser found no list: bash may find one.
func leftover(parts []syntax.WordPart) bool {
	open, closed, listed := false, false, false
	for _, p := range parts {
		lit, is := p.(*syntax.Lit)
		if !is {
			_, list := p.(*syntax.BraceExp)
			listed = listed || list
			continue
		}
		for i := 0; i < len(lit.Value); i++ {
			switch c := lit.Value[i]; {
			case c == '\\':
				i++
			case c == '{':
				open = true
			case c == '}':
				closed = true
			case c == ',':
				listed = true
			}
		}
	}
	return open && closed && listed
}

// merged joins literals that stand side by side: a tilde or a bracket counts
// once the braces are gone.
func merged(parts []syntax.WordPart) []syntax.WordPart {
	out := parts[:0:0]
	for _, p := range parts {
		lit, isLit := p.(*syntax.Lit)
		if n := len(out); isLit && n > 0 {
			if last, joins := out[n-1].(*syntax.Lit); joins {
				out[n-1] = &syntax.Lit{ValuePos: last.ValuePos, ValueEnd: lit.ValueEnd, Value: last.Value + lit.Value}
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

func expandBraces(parts []syntax.WordPart, limit int) ([][]syntax.WordPart, bool) {
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		b, isBrace := p.(*syntax.BraceExp)
		if !isBrace {
			for i := range out {
				out[i] = append(out[i][:len(out[i]):len(out[i])], p)
			}
			continue
		}
		var alts [][]syntax.WordPart
		if b.Sequence {
			seq, fine := sequence(b, limit)
			if !fine {
				return nil, false
			}
			for _, s := range seq {
				alts = append(alts, []syntax.WordPart{&syntax.Lit{Value: s}})
			}
		} else {
			for _, e := range b.Elems {
				in, fine := expandBraces(e.Parts, limit)
				if !fine {
					return nil, false
				}
				alts = append(alts, in...)
			}
		}
		if len(out)*len(alts) > limit {
			return nil, false
		}
		next := make([][]syntax.WordPart, 0, len(out)*len(alts))
		for _, o := range out {
			for _, a := range alts {
				next = append(next, append(o[:len(o):len(o)], a...))
			}
		}
		out = next
	}
	return out, true
}

// sequence expands {1..9..2} and {a..e}.
func sequence(b *syntax.BraceExp, limit int) ([]string, bool) {
	if len(b.Elems) < 2 {
		return nil, false
	}
	from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
	step := 1
	if len(b.Elems) > 2 {
		n, err := strconv.Atoi(b.Elems[2].Lit())
		if err != nil {
			return nil, false
		}
		step = n
	}
	if step < 0 {
		step = -step
	}
	if step == 0 {
		step = 1
	}
	a, errA := strconv.Atoi(from)
	z, errZ := strconv.Atoi(to)
	numeric := errA == nil && errZ == nil
	if !numeric {
		if len(from) != 1 || len(to) != 1 {
			return nil, false
		}
		a, z = int(from[0]), int(to[0])
	}
	if (max(a, z)-min(a, z))/step >= limit || a < -1<<40 || z > 1<<40 {
		return nil, false
	}
	width := 0
	if numeric && (padded(from) || padded(to)) {
		width = max(len(from), len(to))
	}
	var out []string
	for i := a; ; {
		if numeric {
			s := strconv.Itoa(i)
			for len(s) < width {
				if strings.HasPrefix(s, "-") {
					s = "-0" + s[1:]
				} else {
					s = "0" + s
				}
			}
			out = append(out, s)
		} else {
			c := string(rune(i))
			if c == "\\" {
				c = "\\\\"
			}
			out = append(out, c)
		}
		if a <= z {
			i += step
			if i > z {
				return out, true
			}
		} else {
			i -= step
			if i < z {
				return out, true
			}
		}
	}
}

func padded(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0'
}

// expansion builds the abstract text of one word.
type expansion struct {
	r        *reader
	w        *world
	cur      strings.Builder
	out      []string
	began    bool // the current field exists, even when it is empty
	split    bool // unquoted expansions are split, globs are marked
	pattern  bool // globs are marked and nothing is split
	literal  bool // the word of an expansion in double quotes: quotes in it are text
	open     bool // the field has a bracket that may turn out to open a glob
	colons   bool
	vanished bool // a list without elements was expanded
	assigns  bool // the word looks like an assignment: ~ counts after its sign
	quotes   int
}

// bracketed is told of an unquoted "[" or "]" that is no glob by itself: with
// what stands between them it may be one.
func (x *expansion) bracketed(c byte) {
	x.cur.WriteByte(c)
	if c == ']' && x.open {
		x.cur.WriteString(commands.Unknown)
	}
	x.open = c == '[' || x.open
}

func (x *expansion) done() []string {
	x.open = false
	if x.began || x.cur.Len() > 0 {
		x.out = append(x.out, x.cur.String())
	}
	return x.out
}

func (x *expansion) one() string {
	if len(x.out) == 0 {
		return x.cur.String()
	}
	f := x.done()
	return strings.Join(f, " ")
}

func (x *expansion) flush() {
	if x.began || x.cur.Len() > 0 {
		x.out = append(x.out, x.cur.String())
		x.cur.Reset()
		x.began = false
	}
	x.open = false
}

func (x *expansion) word(word *syntax.Word) {
	for i, p := range word.Parts {
		if lit, isLit := p.(*syntax.Lit); isLit {
			if i == 0 && x.equals(lit.Value, len(word.Parts) > 1) {
				x.modify()
				continue
			}
			if i > 0 && x.follows(word.Parts, i-1) {
				continue
			}
			x.lit(lit.Value, i == 0, i == len(word.Parts)-1)
			continue
		}
		if x.follows(word.Parts, i) {
			x.modify()
			continue
		}
		x.part(p)
	}
}

// lit adds an unquoted literal.
func (x *expansion) lit(s string, first, last bool) {
	if x.literal {
		x.cur.WriteString(strings.ReplaceAll(dquoted(s), `\}`, "}"))
		return
	}
	if first && strings.HasPrefix(s, "~") {
		s = x.tilde(s, last)
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
			if i < len(s) && s[i] != '\n' {
				x.cur.WriteByte(s[i])
				x.began = true
			}
		case (c == '*' || c == '?') && (x.split || x.pattern):
			x.glob(string([]byte{0, c}))
		case c == '[' && (x.split || x.pattern):
			if end := bracket(s[i:]); end > 0 {
				x.glob("\x00" + unescape(s[i:i+end]))
				i += end - 1
			} else {
				x.bracketed(c)
			}
		case c == ']' && x.open:
			x.bracketed(c)
		case (c == '<' || c == '>') && i+1 < len(s) && s[i+1] == '(': // where the parser sees none: within ${x:-...}
			x.r.opaque(effect.Span{Start: 0, End: len(x.r.whole)}, "a substitution within an expansion")
			x.cur.WriteString(commands.Unknown)
		case (c == ':' || c == '=' && x.assigns) && x.colons && i+1 < len(s) && s[i+1] == '~':
			x.cur.WriteByte(c)
			s = x.tilde(s[i+1:], last)
			i = -1
		default:
			x.cur.WriteByte(c)
		}
	}
	x.began = x.began || x.cur.Len() > 0
}

func (x *expansion) glob(mark string) {
	x.began = true
	if x.w.globbing {
		x.r.fails(x.w) // where nothing matches
		x.cur.WriteString(commands.Unknown)
		return
	}
	x.cur.WriteString(mark)
}

// bracket returns the length of a bracket expression at the start of s, 0 when
// there is none.
func bracket(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if i+1 < len(s) && (s[i+1] == ':' || s[i+1] == '.' || s[i+1] == '=') {
				if j := strings.Index(s[i+2:], string(s[i+1])+"]"); j >= 0 {
					i += j + 3
				}
			}
		case ']':
			return i + 1
		case '/':
			return 0
		}
	}
	return 0
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// tilde expands a leading ~ and returns what follows it.
func (x *expansion) tilde(s string, last bool) string {
	end := strings.IndexAny(s, "/:")
	if end < 0 || s[end] == ':' && !x.colons {
		if end >= 0 {
			end = strings.IndexByte(s, '/')
		}
	}
	name := s[1:]
	rest := ""
	if end >= 0 {
		name, rest = s[1:end], s[end:]
	} else if !last {
		// ~"x" and ~$x are not expanded, or not known.
		x.cur.WriteString(commands.Unknown)
		return s[1:]
	}
	dir := ""
	switch name {
	case "":
		if v, isSet := x.w.vars.get("HOME"); isSet {
			dir = v.text
		} else if !x.w.alien {
			dir = x.r.place.Home
		}
	case "+":
		dir = x.w.cwd
		if v, isSet := x.w.vars.get("PWD"); isSet {
			dir = v.text
		}
	case "-":
		dir = x.w.old
	case "root":
		dir = "/root"
	default:
		if strings.IndexByte(name, '\\') >= 0 {
			x.cur.WriteByte('~')
			return s[1:]
		}
		if h := x.r.place.Home; h != "" && h[strings.LastIndexByte(h, '/')+1:] == name {
			dir = h
		}
	}
	x.began = true
	if dir == "" {
		dir = commands.Unknown
	}
	if dir == "/" && strings.HasPrefix(rest, "/") {
		dir = ""
	}
	x.cur.WriteString(dir)
	return rest
}

func (x *expansion) part(p syntax.WordPart) {
	r := x.r
	if !r.step() {
		x.unquoted(commands.Words)
		return
	}
	switch p := p.(type) {
	case *syntax.Lit:
		x.lit(p.Value, false, true)
	case *syntax.SglQuoted:
		x.began = true
		switch {
		case p.Dollar:
			x.cur.WriteString(ansi(p.Value))
		case x.literal && strings.ContainsAny(p.Value, "$`\\"):
			r.opaque(r.spans.span(p), "an expansion behind a quote that is none within quotes")
			x.cur.WriteString(commands.Unknown)
		case x.literal:
			x.cur.WriteString("'" + p.Value + "'")
		default:
			x.cur.WriteString(p.Value)
		}
	case *syntax.DblQuoted:
		x.began = true
		x.vanished = false
		x.quotes++
		for i, q := range p.Parts {
			switch lit, isLit := q.(*syntax.Lit); {
			case isLit && i > 0 && x.follows(p.Parts, i-1):
			case x.follows(p.Parts, i):
				x.modify()
			case isLit:
				x.cur.WriteString(dquoted(lit.Value))
			default:
				x.part(q)
			}
		}
		x.quotes--
		if len(p.Parts) == 1 {
			// "$@" without parameters is no word at all.
			if pe, isParam := p.Parts[0].(*syntax.ParamExp); isParam && x.vanished && x.cur.Len() == 0 && pe.Exp == nil && len(x.out) == 0 {
				x.began = false
			}
		}
	case *syntax.ParamExp:
		x.param(p)
	case *syntax.CmdSubst:
		x.text(r.substitute(p, x.w))
	case *syntax.ArithmExp:
		if r.risky(p.X, x.w) {
			r.fails(x.w)
		}
		r.arithm(p.X, x.w)
		x.text(r.constant(p.X, x.w))
	case *syntax.ProcSubst:
		r.process(p, x.w)
		x.began = true
		x.cur.WriteString("/dev/fd/63")
	case *syntax.ExtGlob:
		x.began = true
		x.cur.WriteString(commands.Unknown)
		if qualified(p.Pattern.Value) {
			r.opaque(r.spans.span(p), "a pattern with a qualifier that may run code in zsh")
		}
		if raw := p.Pattern.Value; strings.Contains(raw, "$(") || strings.Contains(raw, "`") || strings.Contains(raw, "${") || strings.Contains(raw, "<(") || strings.Contains(raw, ">(") {
			r.opaque(r.spans.span(p), "a pattern that runs commands")
		}
	case *syntax.BraceExp:
		x.cur.WriteString(commands.Unknown)
	default:
		r.opaque(r.spans.span(p), "a part of a word that is not followed")
		x.unquoted(commands.Words)
	}
}

// text adds the result of an expansion, split and globbed unless it is quoted.
func (x *expansion) text(s string) {
	if x.cur.Len()+len(s) > maxKnown {
		s = commands.Words
	}
	if x.quotes > 0 || x.literal || !x.split && !x.pattern {
		if s == commands.Words || strings.Contains(s, commands.Words) {
			s = strings.ReplaceAll(s, commands.Words, commands.Unknown)
		}
		x.cur.WriteString(s)
		return
	}
	x.unquoted(s)
}

func (x *expansion) unquoted(s string) {
	if !x.split && !x.pattern {
		x.cur.WriteString(strings.ReplaceAll(s, commands.Words, commands.Unknown))
		return
	}
	if x.split && x.w.ifs && s != "" && !(digits(s) && x.w.plainIFS()) {
		x.cur.WriteString(commands.Words)
		return
	}
	if x.split && x.r.torn(s, blanks, x.w.cwd) {
		x.cur.WriteString(commands.Words)
		return
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case x.split && (c == ' ' || c == '\t' || c == '\n'):
			x.flush()
		case c == 0 && i+1 < len(s):
			i++
			m := s[i]
			if m == '$' && x.split { // unquoted, it may be several words
				m = '+'
			}
			x.cur.WriteByte(0)
			x.cur.WriteByte(m)
			if m == '[' {
				for i+1 < len(s) && s[i] != ']' {
					i++
					x.cur.WriteByte(s[i])
				}
			}
		case i+1 < len(s) && s[i+1] == '(' && strings.IndexByte("?*+@!", c) >= 0: // a pattern where extglob is on
			x.cur.WriteString(commands.Unknown)
			if end := strings.LastIndexByte(s, ')'); end > i && !strings.ContainsAny(s[i:end], " \t\n\x00") {
				i = end
			}
		case c == '*' || c == '?':
			x.glob(string([]byte{0, c}))
		case c == '[':
			if end := bracket(s[i:]); end > 0 && strings.IndexByte(s[i:i+end], 0) < 0 && !strings.ContainsAny(s[i:i+end], " \t\n") {
				x.glob("\x00" + s[i:i+end])
				i += end - 1
			} else {
				x.bracketed(c)
			}
		case c == ']' && x.open:
			x.bracketed(c)
		default:
			x.cur.WriteByte(c)
		}
	}
}

// list adds the elements of "$@" or ${a[@]}.
func (x *expansion) list(items []string, lost, joined bool) {
	switch {
	case lost:
		if x.split {
			x.cur.WriteString(commands.Words)
		} else {
			x.cur.WriteString(commands.Unknown)
		}
		x.began = true
	case joined || !x.split:
		sep := " "
		if x.w.ifs && joined { // by what IFS begins with
			switch v := x.w.vars.at("IFS"); {
			case !commands.Known(v.text) || v.array:
				sep = commands.Unknown
			case v.text == "":
				sep = ""
			default:
				sep = v.text[:1]
			}
		}
		x.text(strings.Join(items, sep))
	default:
		x.vanished = len(items) == 0
		for i, it := range items {
			if i > 0 {
				x.flush()
			}
			if x.quotes > 0 {
				x.began = true
				x.cur.WriteString(it)
			} else {
				x.unquoted(it)
			}
		}
	}
}

// dquoted removes the escapes of a literal between double quotes.
func dquoted(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '$', '`', '"', '\\':
				i++
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansi decodes $'...'.
func ansi(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'a':
			b.WriteByte(7)
		case 'b':
			b.WriteByte(8)
		case 'e', 'E':
			b.WriteByte(27)
		case 'f':
			b.WriteByte(12)
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'v':
			b.WriteByte(11)
		case '\\', '\'', '"', '?':
			b.WriteByte(c)
		case 'c':
			if i+1 < len(s) {
				i++
				if s[i] == '\\' && i+1 < len(s) && s[i+1] == '\\' {
					i++
				}
				if ctl := s[i] & 0x1f; ctl != 0 {
					b.WriteByte(ctl)
				} else {
					return b.String()
				}
			}
		case 'x', 'u', 'U':
			if c == 'x' && i+1 < len(s) && s[i+1] == '{' { // \x{HEX}, however long; the brace may be missing
				n := byte(0)
				for i += 2; i < len(s) && isHex(s[i]); i++ {
					d, _ := strconv.ParseUint(s[i:i+1], 16, 8)
					n = n<<4 | byte(d)
				}
				if n == 0 {
					return b.String()
				}
				b.WriteByte(n)
				if i >= len(s) || s[i] != '}' {
					i--
				}
				continue
			}
			most := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			j := i + 1
			for j < len(s) && j-i <= most && isHex(s[j]) {
				j++
			}
			if j == i+1 {
				b.WriteByte('\\')
				b.WriteByte(c)
				continue
			}
			n, _ := strconv.ParseUint(s[i+1:j], 16, 32)
			i = j - 1
			switch {
			case n == 0: // bash ends the text at a NUL
				return b.String()
			case c == 'x':
				b.WriteByte(byte(n))
			case n <= utf8.MaxRune:
				b.WriteRune(rune(n))
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			j := i
			for j < len(s) && j-i < 3 && s[j] >= '0' && s[j] <= '7' {
				j++
			}
			n, _ := strconv.ParseUint(s[i:j], 8, 32)
			i = j - 1
			if byte(n) == 0 {
				return b.String()
			}
			b.WriteByte(byte(n))
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// substitute runs $(...) aside and returns what is known of its output.
func (r *reader) substitute(c *syntax.CmdSubst, w *world) string {
	if len(c.Stmts) == 0 {
		return ""
	}
	if c.TempFile || c.ReplyVar {
		r.opaque(r.spans.span(c), "a substitution that runs in this shell")
	}
	saved, branch, aborts := r.sink, r.branch, r.aborts
	s := &sink{}
	r.sink, r.branch, r.aborts = s, 0, false
	met, unset := r.met, r.unset
	r.aside(c.Stmts, w)
	r.sink, r.branch, r.aborts = saved, branch, aborts
	r.mayFail++
	r.met, r.unset = r.met || met, unset
	if len(c.Stmts) == 1 && c.Stmts[0].Cmd == nil { // $(<file)
		return commands.Words
	}
	text := s.String()
	if len(text) > maxKnown {
		return commands.Words
	}
	if strings.Contains(text, found) && (strings.Contains(text, nul) || r.torn(text, "\n", w.cwd)) { // one path runs into the next
		return commands.Words
	}
	// Bash leaves NUL characters out.
	return strings.TrimRight(strings.ReplaceAll(text, nul, ""), "\n")
}

func (r *reader) process(p *syntax.ProcSubst, w *world) {
	saved, savedIn, branch, aborts := r.sink, r.stdin, r.branch, r.aborts
	s := &sink{}
	r.sink, r.branch, r.aborts = s, 0, false
	if p.Op == syntax.CmdOut { // >(cmd): it reads what is written
		r.stdin = &input{text: commands.Words}
	}
	r.aside(p.Stmts, w)
	r.sink, r.stdin, r.branch, r.aborts = saved, savedIn, branch, aborts
	r.printed = s.String()
}

// print adds to the known standard output.
func (r *reader) print(s string) {
	if r.sink == nil {
		return
	}
	if r.branch > 0 || r.aborts || r.sink.text.Len() > maxKnown {
		s = commands.Words
	}
	r.sink.text.WriteString(s)
}

// display makes abstract text readable: marks become what was written or "…".
func display(s string) string {
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != 0 || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case '*', '?', '[':
			b.WriteByte(s[i])
		case 't':
			b.WriteString("(temporary file)")
		case 'o', 'p', 'd', 'm': // what was found, see found
		case 'n':
			for i+1 < len(s) && s[i+1] != 0 {
				i++
			}
		case 'z':
			b.WriteString(`\0`)
		default:
			b.WriteString("…")
		}
	}
	return b.String()
}

func spanOf(w []word) effect.Span {
	if len(w) == 0 {
		return effect.Span{}
	}
	return effect.Span{Start: w[0].span.Start, End: w[len(w)-1].span.End}
}

// matched reports whether a word names files that are there: a pattern that the
// shell looks for as it stands. What a variable was given by a pattern (for f in
// in*) was found before, and with more behind it ($f/new) is a new name.
func (w word) matched() bool {
	marks := wildcards(w.text)
	if marks == 0 || w.src == nil || strings.Contains(w.text, found) {
		return false
	}
	written, put, braced := 0, false, false
	for _, p := range w.src.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			x := expansion{split: true, w: &world{}}
			x.lit(p.Value, false, false)
			written += wildcards(x.one())
			braced = braced || strings.Contains(p.Value, "{")
		case *syntax.SglQuoted:
		case *syntax.BraceExp:
			braced = true
		default:
			put = true
		}
	}
	return written >= marks && !(put && braced)
}

// wildcards counts the wildcards of a text that the shell expands.
func wildcards(text string) (n int) {
	for _, mark := range [...]string{commands.Star, commands.One, commands.Set} {
		n += strings.Count(text, mark)
	}
	return n
}
