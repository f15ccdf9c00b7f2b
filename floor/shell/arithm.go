package shell

import (
	"strconv"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"

	"mvdan.cc/sh/v3/syntax"
)

// arithm follows an arithmetic expression: its substitutions run, its names
// are read as expressions in turn. It returns its value where that is plain.
func (r *reader) arithm(x syntax.ArithmExpr, w *world) string {
	if !r.step() {
		return commands.Number
	}
	switch x := x.(type) {
	case nil:
		return ""
	case *syntax.Word:
		return r.arithmWord(x, w)
	case *syntax.ParenArithm:
		return r.arithm(x.X, w)
	case *syntax.UnaryArithm:
		v := r.arithm(x.X, w)
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			r.assignArithm(x.X, w)
		}
		if x.Op == syntax.Minus && exact(v) && !strings.HasPrefix(v, "-") {
			return "-" + v
		}
	case *syntax.BinaryArithm:
		if x.Op == syntax.Assgn {
			v := r.arithm(x.Y, w)
			r.assignArithm(x.X, w)
			return v
		}
		a, b := r.arithm(x.X, w), r.arithm(x.Y, w)
		switch x.Op {
		case syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn, syntax.AndAssgn, syntax.OrAssgn,
			syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn, syntax.AndBoolAssgn, syntax.OrBoolAssgn, syntax.XorBoolAssgn, syntax.PowAssgn:
			r.assignArithm(x.X, w)
		case syntax.Add, syntax.Sub, syntax.Mul:
			if n, fine := compute(x.Op, a, b); fine {
				return n
			}
		}
	default:
		r.opaque(r.spans.span(x), "arithmetic that is not followed")
	}
	return commands.Number
}

// arithmWord follows one operand: a name, a number or what expands to one.
func (r *reader) arithmWord(x *syntax.Word, w *world) string {
	span := r.spans.span(x)
	if lit := x.Lit(); isName(lit) {
		r.name(lit, w, span)
		if v, known := r.lookup(lit, w); known && !v.array && exact(v.text) {
			return v.text
		}
		return commands.Number
	}
	if p := indexed(x); p != nil { // a[i], which is no expansion of the word
		r.name(p.Param.Value, w, span)
		r.arithm(p.Index, w)
		return commands.Number
	}
	v := r.value(x, w)
	r.number(v, span, w)
	if exact(v) {
		return v
	}
	return commands.Number
}

// indexed returns the element of an array that an operand names.
func indexed(x *syntax.Word) *syntax.ParamExp {
	if len(x.Parts) != 1 {
		return nil
	}
	p, isParam := x.Parts[0].(*syntax.ParamExp)
	if !isParam || !p.Short || p.Dollar.IsValid() || p.Param == nil || p.Index == nil {
		return nil
	}
	return p
}

func compute(op syntax.BinAritOperator, a, b string) (string, bool) {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX != nil || errY != nil || !exact(a) || !exact(b) {
		return "", false
	}
	switch op {
	case syntax.Add:
		return strconv.Itoa(x + y), true
	case syntax.Sub:
		return strconv.Itoa(x - y), true
	default:
		return strconv.Itoa(x * y), true
	}
}

// exact reports whether text is a number that arithmetic reads as it stands:
// decimal, and small enough never to overflow.
func exact(s string) bool { return isNumber(s) && len(s) < 10 && !octal(s) }

func octal(s string) bool { return len(s) > 1 && strings.TrimPrefix(s, "-")[0] == '0' }

// constant is the value of an arithmetic expression where it is a plain one.
// The expression has been followed before; following it again tells nothing
// new and changes nothing more.
func (r *reader) constant(x syntax.ArithmExpr, w *world) string {
	switch x := x.(type) {
	case *syntax.Word:
		if lit := x.Lit(); exact(lit) {
			return lit
		} else if isName(lit) {
			if v, known := r.lookup(lit, w); known && !v.array && exact(v.text) {
				return v.text
			}
		}
		if len(x.Parts) == 1 {
			if p, isParam := x.Parts[0].(*syntax.ParamExp); isParam && p.Param != nil && p.Exp == nil && p.Index == nil && !p.Excl && !p.Length {
				if v, known := r.lookup(p.Param.Value, w); known && !v.array && exact(v.text) {
					return v.text
				}
			}
		}
	case *syntax.ParenArithm:
		return r.constant(x.X, w)
	case *syntax.BinaryArithm:
		switch x.Op {
		case syntax.Add, syntax.Sub, syntax.Mul:
			if n, fine := compute(x.Op, r.constant(x.X, w), r.constant(x.Y, w)); fine {
				return n
			}
		}
	}
	return commands.Number
}

// assignArithm marks the variable on the left of an assignment as a number.
func (r *reader) assignArithm(x syntax.ArithmExpr, w *world) {
	word, isWord := x.(*syntax.Word)
	if !isWord {
		return
	}
	span := r.spans.span(word)
	name, index := word.Lit(), false
	if p := indexed(word); p != nil {
		name, index = p.Param.Value, true
	} else if !isName(name) { // the name itself is the result of an expansion
		name, _, index = strings.Cut(r.value(word, w), "[")
	}
	switch {
	case !isName(name):
		r.opaque(span, "a variable that cannot be told is assigned")
	case index:
		if p := indexed(word); p != nil {
			r.arithm(p.Index, w)
		}
		w.setVar(name, anyElements(w.vars.at(name), true))
		r.steer(name, commands.Unknown, span, nil, w)
	default:
		r.assignVar(w, name, commands.Number, span)
	}
}

// name reads a variable in arithmetic: its text is an expression again.
func (r *reader) name(name string, w *world, span effect.Span) {
	v, known := r.lookup(name, w)
	switch {
	case !known: // nobody gave it a text here
	case v.array && v.lost:
		if !v.numbers {
			r.number(commands.Unknown, span, w)
		}
	case v.array:
		for _, it := range v.list {
			r.number(it, span, w)
		}
	case v.text != name:
		r.number(v.text, span, w)
	}
}

// number is told of text that arithmetic will read. A subscript in it is
// expanded, and a command in the subscript is run.
func (r *reader) number(text string, span effect.Span, w *world) {
	switch {
	case text == "" || text == commands.Number || isNumber(text):
		return
	case !commands.Known(text):
		r.mayFail++
		r.opaque(span, "arithmetic over text that is not known")
		return
	case strings.ContainsAny(text, "$`"):
		r.opaque(span, "arithmetic over text that runs commands")
		return
	}
	r.mayFail++
	r.depth++
	defer func() { r.depth-- }()
	if !r.step() {
		return
	}
	if isName(text) {
		r.name(text, w, span)
		return
	}
	p := parsers.Get().(*syntax.Parser)
	x, err := p.Arithmetic(strings.NewReader(text))
	if err != nil {
		if strings.ContainsAny(text, "[=+-") {
			r.opaque(span, "arithmetic that cannot be read")
		}
		return
	}
	parsers.Put(p)
	if word, isWord := x.(*syntax.Word); isWord && word.Lit() == text {
		return // a number of another base
	}
	saved := r.spans
	r.spans = spans{fixed: &span}
	r.arithm(x, w)
	r.spans = saved
}

// element is told of a name, as text, that a builtin looks up or fills: of one
// in an array the subscript is arithmetic.
func (r *reader) element(name string, span effect.Span, w *world) {
	r.subscript(name, span)
	if _, index, is := strings.Cut(name, "["); is && commands.Known(name) && !strings.ContainsAny(name, "$`") {
		if index = strings.TrimSuffix(index, "]"); index != "@" && index != "*" {
			r.number(index, span, w)
		}
	}
}

// subscript is told of a name that may have one.
func (r *reader) subscript(name string, span effect.Span) {
	if !commands.Known(name) || strings.Contains(name, "[") && strings.ContainsAny(name, "$`") {
		r.opaque(span, "a subscript that can run commands")
	}
}

// matchesNumbers reports whether what a regular expression matches has neither
// letters, which may name variables, nor brackets and what runs commands.
func matchesNumbers(re string) bool {
	re = strings.NewReplacer("[0-9]", "", "[[:digit:]]", "", `\.`, "").Replace(re)
	return strings.Trim(re, "0123456789^$()+*?{},|:-/") == ""
}

// risky reports whether an expression may turn out to be none, or to have no
// value: a division by zero, a number that is none.
func (r *reader) risky(x syntax.ArithmExpr, w *world) bool {
	switch x := x.(type) {
	case nil:
		return false
	case *syntax.Word:
		text := x.Lit()
		if isName(text) {
			v, known := r.lookup(text, w)
			return !known || !v.numeric()
		}
		return !exact(text) && !r.counts(x, w)
	case *syntax.ParenArithm:
		return r.risky(x.X, w)
	case *syntax.UnaryArithm:
		return r.risky(x.X, w)
	case *syntax.BinaryArithm:
		switch x.Op {
		case syntax.Quo, syntax.Rem, syntax.QuoAssgn, syntax.RemAssgn:
			if n := r.constant(x.Y, w); !exact(n) || n == "0" || n == "-0" {
				return true
			}
		case syntax.Pow, syntax.PowAssgn:
			return true
		case syntax.Assgn:
			name, isWord := x.X.(*syntax.Word)
			return !isWord || !isName(name.Lit()) || constants[name.Lit()] || w.vars.at(name.Lit()).readonly || r.risky(x.Y, w)
		}
		return r.risky(x.X, w) || r.risky(x.Y, w)
	}
	return true
}

// counts reports whether a word expands to a number: of characters or
// elements, or that a variable holds.
func (r *reader) counts(x *syntax.Word, w *world) bool {
	if len(x.Parts) != 1 {
		return false
	}
	p, isParam := x.Parts[0].(*syntax.ParamExp)
	if !isParam || p.Param == nil || p.Exp != nil || p.Excl || p.Repl != nil || p.Slice != nil {
		return false
	}
	if p.Length {
		return true
	}
	v, known := r.lookup(p.Param.Value, w)
	return known && v.numeric()
}
