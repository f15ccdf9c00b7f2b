package shell

import (
	"slices"
	"strconv"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"

	"mvdan.cc/sh/v3/syntax"
)

// lookup returns what is known of a parameter. known says that the text itself
// assigned it or that its value is a fact; an unset variable of that sort is
// known and empty.
func (r *reader) lookup(name string, w *world) (v variable, known bool) {
	if name == "OLDPWD" {
		if w.old == "" {
			return variable{text: commands.Unknown}, true
		}
		return variable{text: w.old}, true
	}
	if v, found := w.vars.get(name); found {
		return v, true
	}
	switch name {
	case "HOME":
		if r.place.Home != "" && !w.alien {
			return variable{text: r.place.Home}, true
		}
	case "PWD":
		if w.cwd != "" {
			return variable{text: w.cwd}, true
		}
	case "IFS":
		return variable{text: " \t\n"}, true
	case "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID", "SRANDOM", "EPOCHSECONDS", "COLUMNS", "LINES",
		"SHLVL", "OPTIND", "BASH_SUBSHELL", "HISTCMD":
		return variable{text: commands.Number}, true
	case "#", "?", "$", "!":
		return variable{text: commands.Number}, true
	case "-", "_":
		return variable{text: commands.Unknown}, true
	case "0":
		return variable{text: commands.Unknown}, true
	case "BASH", "SHELL":
		return variable{text: commands.Unknown}, true
	}
	if name != "" && name[0] >= '1' && name[0] <= '9' {
		if w.argsLost {
			return variable{text: commands.Unknown}, true
		}
		n, err := strconv.Atoi(name)
		if err == nil && n <= len(w.args) {
			return variable{text: w.args[n-1]}, true
		}
		return variable{unset: true}, true
	}
	if text, found := r.place.Var(name); found && !w.alien {
		return variable{text: text}, true
	}
	return variable{text: commands.Unknown}, false
}

// secretName reports whether a variable's name says that it holds a secret.
func secretName(name string) bool {
	n := strings.ToUpper(name)
	for _, part := range []string{"SECRET", "PASSWORD", "PASSWD", "TOKEN", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL"} {
		if strings.Contains(n, part) {
			return true
		}
	}
	return strings.HasSuffix(n, "_KEY") || strings.HasSuffix(n, "_PAT") || strings.HasSuffix(n, "_PASS")
}

func (x *expansion) param(p *syntax.ParamExp) {
	r, w := x.r, x.w
	span := r.spans.span(p)
	if p.Param == nil || p.Flags != nil || p.Width || p.NestedParam != nil ||
		r.lang != zsh && (p.IsSet || p.Modifiers != nil || p.Split != 0 || p.GlobSubst != 0 || p.RcExpand != 0) {
		r.opaque(span, "an expansion that is not followed")
		x.text(commands.Words)
		return
	}
	name := p.Param.Value
	if p.Index != nil && p.Exp != nil && (p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull) {
		r.tabled(name, span)
	}
	if name == "\x00" { // braces that were given up
		x.text(commands.Words)
		return
	}
	if r.lang == zsh && x.zshParam(p) {
		return
	}
	index := ""
	if p.Index != nil {
		if word, isWord := p.Index.(*syntax.Word); isWord && (word.Lit() == "@" || word.Lit() == "*") {
			index = word.Lit()
		} else {
			index = r.arithm(p.Index, w)
			if index == "" {
				index = commands.Number
			}
		}
	}
	if name == "@" || name == "*" {
		index = name
	}

	switch {
	case p.Names != 0: // ${!prefix*}: names only
		x.text(commands.Words)
		return
	case p.Excl && (index == "@" || index == "*"): // ${!a[@]}: keys
		x.text(commands.Words)
		return
	case p.Excl:
		if p.Exp != nil || p.Slice != nil || p.Repl != nil {
			x.operands(p)
			r.opaque(span, "an indirect expansion that cannot be told")
			x.text(commands.Words)
			return
		}
		x.indirect(name, index, span)
		return
	case p.Length:
		x.text(commands.Number)
		return
	}

	if index == "@" || index == "*" {
		var v variable
		if name == "@" || name == "*" {
			v = variable{list: w.args, lost: w.argsLost, array: true}
		} else {
			var known bool
			v, known = r.lookup(name, w)
			switch {
			case !known:
				v.lost = true
			case !v.array && !v.unset:
				v.list = []string{v.text}
			}
		}
		if p.Slice != nil || p.Repl != nil || p.Exp != nil {
			x.operators(p)
			text := x.operands(p)
			if p.Exp != nil {
				switch p.Exp.Op {
				case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
					if !v.lost && len(v.list) > 0 {
						x.list(v.list, false, index == "*" && x.quotes > 0)
						return
					}
					if !v.lost {
						x.text(text)
						return
					}
				}
			}
			if v.array && !v.lost && len(v.list) == 0 && p.Slice == nil {
				return
			}
			x.list(nil, true, false)
			return
		}
		x.list(v.list, v.lost, index == "*" && x.quotes > 0)
		return
	}

	v, known := r.lookup(name, w)
	if v.array {
		r.differs(zsh)
	}
	text := v.text
	if r.nounset && (!known || v.unset) && p.Exp == nil {
		r.mayFail++
		r.aborts = true
	}
	if index != "" && v.array {
		text = element(v, index)
		if x.quotes > 0 && !v.lost && len(v.list) == 1 && commands.Globbed(v.list[0]) && !strings.Contains(v.list[0], commands.Words) && digits(index) {
			text = v.list[0] // one of what it matches
		}
	} else if v.array {
		text = element(v, "0")
	} else if index != "" && index != "0" {
		text = commands.Unknown
	}
	if !known && secretName(name) {
		r.secrets = append(r.secrets, name)
	}
	if p.Slice != nil {
		text = r.sliced(p.Slice, text, w)
	}
	if p.Repl != nil {
		text = r.replaced(p.Repl, text, w)
	}
	if p.Exp != nil {
		text = x.modified(p, name, text, known, v.unset || index != "" && text == "")
	}
	x.whole(text)
}

// operands follows what stands in the operator of an expansion and returns its
// word.
func (x *expansion) operands(p *syntax.ParamExp) string {
	r, w := x.r, x.w
	if p.Slice != nil {
		r.slice(p.Slice, w)
	}
	if p.Repl != nil {
		r.value(p.Repl.Orig, w)
		r.value(p.Repl.With, w)
	}
	if p.Exp == nil {
		return ""
	}
	return r.value(p.Exp.Word, w)
}

// operators reports expansions that run text whatever they are applied to.
func (x *expansion) operators(p *syntax.ParamExp) {
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && p.Exp.Word != nil && p.Exp.Word.Lit() == "P" {
		x.r.opaque(x.r.spans.span(p), "prompt expansion can run commands")
	}
}

func element(v variable, index string) string {
	n, err := strconv.Atoi(index)
	if v.lost || err != nil || n < 0 || slices.ContainsFunc(v.list, func(s string) bool {
		return strings.Contains(s, commands.Words) || commands.Globbed(s) // any number of elements
	}) {
		return commands.Unknown
	}
	if n >= len(v.list) {
		return ""
	}
	return v.list[n]
}

// indirect follows ${!name}.
func (x *expansion) indirect(name, index string, span effect.Span) {
	r := x.r
	v, known := r.lookup(name, x.w)
	if known && index == "" && !v.array && isName(v.text) {
		target, found := r.lookup(v.text, x.w)
		if !found && secretName(v.text) {
			r.secrets = append(r.secrets, v.text)
		}
		if !target.array {
			x.text(target.text)
			return
		}
	}
	r.opaque(span, "an indirect expansion that cannot be told")
	x.text(commands.Words)
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && !(c|0x20 >= 'a' && c|0x20 <= 'z') && !(i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}

// modified applies the operator of ${name<op>word}.
func (x *expansion) modified(p *syntax.ParamExp, name, text string, known, unset bool) string {
	r, w := x.r, x.w
	e := p.Exp
	plainText := known && commands.Known(text)
	word := func() string {
		if e.Word == nil {
			return ""
		}
		in := expansion{r: r, w: w, literal: x.quotes > 0 || x.literal}
		in.word(e.Word)
		text := in.one()
		if x.split && x.quotes == 0 && quotes(e.Word) && strings.ContainsAny(text, " \t\n*?[") {
			return commands.Words // what was quoted is not split again
		}
		return text
	}
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		alt := word()
		assign := e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull
		null := e.Op == syntax.DefaultUnsetOrNull || e.Op == syntax.AssignUnsetOrNull
		switch {
		case plainText && text != "":
			return text
		case known && text == "" && (unset || null):
		case known && text == "":
			return ""
		case !known:
			r.met = true
			if !r.unset {
				return text
			}
		default:
			if assign && w.vars.at(name).integer { // it may have no value yet
				r.number(alt, r.spans.span(p), w)
			}
			return text
		}
		if assign {
			r.assignVar(w, name, alt, r.spans.span(p))
		}
		return alt
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		alt := word()
		switch {
		case plainText && text != "":
			return alt
		case known && text == "" && (unset || e.Op == syntax.AlternateUnsetOrNull):
			return ""
		case known && text == "":
			return alt
		}
		// Both courses are told, but only of one variable at a time.
		if !r.both || r.chosen != "" && r.chosen != name {
			return lost(alt)
		}
		r.met, r.chosen = true, name
		if r.unset {
			return ""
		}
		return alt
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		word()
		if !plainText || text == "" {
			r.mayFail++
			r.aborts = true
		}
		return text
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		pat := ""
		if e.Word != nil {
			in := expansion{r: r, w: w, pattern: true}
			in.word(e.Word)
			pat = in.one()
		}
		if !plainText || strings.Contains(pat, commands.One) && !ascii(text) || strings.IndexByte(pat, '(') >= 0 || strings.Contains(pat, commands.Unknown) || strings.Contains(pat, commands.Words) ||
			strings.Contains(pat, commands.Number) || strings.Contains(pat, commands.Set) || strings.Contains(pat, commands.Temp) {
			return trimmed(text)
		}
		return trim(text, pat, e.Op)
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		word()
		if !plainText || e.Word != nil || !ascii(text) {
			return lost(text)
		}
		switch e.Op {
		case syntax.UpperAll:
			return strings.ToUpper(text)
		case syntax.LowerAll:
			return strings.ToLower(text)
		}
		if text == "" {
			return ""
		}
		if e.Op == syntax.UpperFirst {
			return strings.ToUpper(text[:1]) + text[1:]
		}
		return strings.ToLower(text[:1]) + text[1:]
	case syntax.OtherParamOps:
		op := ""
		if e.Word != nil {
			op = e.Word.Lit()
		}
		switch {
		case op == "P":
			if !plainText || strings.ContainsAny(text, "$`\\") {
				r.opaque(r.spans.span(p), "prompt expansion can run commands")
				return commands.Unknown
			}
			return text
		case op == "U" && plainText && ascii(text):
			return strings.ToUpper(text)
		case op == "L" && plainText && ascii(text):
			return strings.ToLower(text)
		}
		return commands.Unknown
	default:
		r.opaque(r.spans.span(p), "an expansion that is not followed")
		return commands.Unknown
	}
}

// quotes reports whether a part of a word is quoted.
func quotes(word *syntax.Word) bool {
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.IndexByte(p.Value, '\\') >= 0 {
				return true
			}
		}
	}
	return false
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// trimmed is what is left of text that is not wholly known after a pattern was
// taken from one of its ends.
func trimmed(text string) string {
	if text == commands.Number {
		return text
	}
	return commands.Unknown
}

func lost(text string) string {
	if text == commands.Number || text == "" {
		return text
	}
	return commands.Unknown
}

// trim removes the shortest or longest match of a pattern from an end of text.
func trim(text, pat string, op syntax.ParExpOperator) string {
	var cuts []int
	for i := 0; i <= len(text); i++ {
		cuts = append(cuts, i)
	}
	fromEnd := op == syntax.RemSmallSuffix || op == syntax.RemLargePrefix
	if fromEnd {
		for i, j := 0, len(cuts)-1; i < j; i, j = i+1, j-1 {
			cuts[i], cuts[j] = cuts[j], cuts[i]
		}
	}
	if len(text) > 4096 {
		return commands.Unknown
	}
	for _, c := range cuts {
		switch op {
		case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
			if match(pat, text[c:]) {
				return text[:c]
			}
		default:
			if match(pat, text[:c]) {
				return text[c:]
			}
		}
	}
	return text
}

// match reports whether a pattern of abstract text (stars and question marks)
// matches a text whole. Here, as in bash, a star also matches "/".
func match(pat, s string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i+1 < len(pat) && pat[i] == 0 && pat[i+1] == '*':
			star, mark = i, j
			i += 2
			continue
		case i+1 < len(pat) && pat[i] == 0 && pat[i+1] == '?':
			i += 2
			j++
			continue
		case i < len(pat) && pat[i] != 0 && pat[i] == s[j]:
			i++
			j++
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+2, mark
	}
	for i+1 < len(pat) && pat[i] == 0 && pat[i+1] == '*' {
		i += 2
	}
	return i == len(pat)
}

func (r *reader) slice(s *syntax.Slice, w *world) (offset, length string) {
	if s.Offset != nil && r.risky(s.Offset, w) || s.Length != nil && (r.risky(s.Length, w) || !exact(r.constant(s.Length, w))) {
		r.fails(w)
	}
	if s.Offset != nil {
		offset = r.arithm(s.Offset, w)
	}
	if s.Length != nil {
		length = r.arithm(s.Length, w)
	}
	return offset, length
}

func (r *reader) sliced(s *syntax.Slice, text string, w *world) string {
	o, l := r.slice(s, w)
	from, err := strconv.Atoi(o)
	if !commands.Known(text) || err != nil || !ascii(text) {
		return lost(text)
	}
	if from < 0 {
		from += len(text)
	}
	if from < 0 || from > len(text) {
		return ""
	}
	if s.Length == nil {
		return text[from:]
	}
	n, err := strconv.Atoi(l)
	if err != nil {
		return lost(text)
	}
	end := from + n
	if n < 0 {
		end = len(text) + n
	}
	if end < from {
		return ""
	}
	return text[from:min(end, len(text))]
}

func (r *reader) replaced(p *syntax.Replace, text string, w *world) string {
	in := expansion{r: r, w: w, pattern: true}
	if p.Orig != nil {
		in.word(p.Orig)
	}
	orig := in.one()
	with := r.value(p.With, w)
	if !commands.Known(text) || !commands.Known(orig) || !commands.Known(with) || orig == "" ||
		strings.HasPrefix(orig, "#") || strings.HasPrefix(orig, "%") || strings.Contains(with, "&") {
		return lost(text)
	}
	if p.All {
		return strings.ReplaceAll(text, orig, with)
	}
	return strings.Replace(text, orig, with, 1)
}
