package scheme

import (
	"math"
	"math/big"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// The procedures of the language. A primitive does not keep the slice of its
// arguments.

type args = []Value

func (m *Machine) prim(name string, least, most int, fn func(m *Machine, a args) (Value, error)) {
	s := m.Symbol(name)
	m.globals[s] = &cell{name: s, value: &primitive{name: name, min: least, max: most, fn: fn}}
}

func (m *Machine) controls(name string, least, most int, fn func(m *Machine, a args) error) {
	s := m.Symbol(name)
	m.globals[s] = &cell{name: s, value: &primitive{name: name, min: least, max: most, control: fn}}
}

// alias gives a procedure a name that programs cannot change, for the
// compiler.
func (m *Machine) alias(own, name string) {
	if m.own == nil {
		m.own = make(map[string]Value)
	}
	m.own[own] = m.globals[m.Symbol(name)].value
}

func (m *Machine) install() {
	m.installForms()
	m.installNumbers()
	m.installLists()
	m.installTexts()
	m.installVectors()
	m.installControl()
	m.installPorts()
	for own, name := range map[string]string{"%list": "list", "%cons": "cons", "%append": "append", "%list->vector": "list->vector",
		"%call-with-values": "call-with-values", "%promise": "%promise", "%make-promise": "make-promise"} {
		m.alias(own, name)
	}
}

func integerArg(who string, i int, v Value) (Value, error) {
	if !isInteger(v) {
		return nil, mismatch(who, i, "an integer", v)
	}
	return v, nil
}

// index is a small exact integer from 0 on.
func index(who string, a args, i int) (int, error) {
	n, ok := a[i].(int64)
	if !ok || n < 0 || n > math.MaxInt32 {
		return 0, mismatch(who, i, "an index", a[i])
	}
	return int(n), nil
}

// span reads the optional start and end at a[i], within a length.
func span(who string, a args, i, length int) (start, end int, err error) {
	end = length
	if len(a) > i+1 {
		if end, err = index(who, a, i+1); err != nil {
			return 0, 0, err
		}
		if end > length {
			return 0, 0, wrong("%s: the end %d is behind the end of what has %d", who, end, length)
		}
	}
	if len(a) > i {
		if start, err = index(who, a, i); err != nil {
			return 0, 0, err
		}
	}
	if start > end {
		return 0, 0, wrong("%s: the start %d is behind the end %d", who, start, end)
	}
	return start, end, nil
}

func numberArg(who string, i int, v Value) error {
	if !isNumber(v) {
		return mismatch(who, i, "a number", v)
	}
	return nil
}

func (m *Machine) installNumbers() {
	for op, start := range map[operation]Value{plus: int64(0), times: int64(1)} {
		name := operationNames[op]
		m.prim(name, 0, -1, func(m *Machine, a args) (sum Value, err error) {
			sum = start
			if len(a) == 1 {
				return a[0], numberArg(name, 0, a[0])
			}
			for i, v := range a {
				if i == 0 {
					sum = v
					continue
				}
				if sum, err = m.arith(op, sum, v); err != nil {
					return nil, err
				}
			}
			return sum, nil
		})
	}
	for op, start := range map[operation]Value{minus: int64(0), over: int64(1)} {
		m.prim(operationNames[op], 1, -1, func(m *Machine, a args) (v Value, err error) {
			if len(a) == 1 {
				return m.arith(op, start, a[0])
			}
			v = a[0]
			for _, x := range a[1:] {
				if v, err = m.arith(op, v, x); err != nil {
					return nil, err
				}
			}
			return v, nil
		})
	}
	for name, fits := range map[string]func(c int) bool{
		"=": func(c int) bool { return c == 0 }, "<": func(c int) bool { return c < 0 }, ">": func(c int) bool { return c > 0 },
		"<=": func(c int) bool { return c <= 0 }, ">=": func(c int) bool { return c >= 0 },
	} {
		m.prim(name, 1, -1, func(m *Machine, a args) (Value, error) {
			for i, v := range a {
				if err := numberArg(name, i, v); err != nil {
					return nil, err
				}
			}
			all := true
			for i := 1; i < len(a); i++ {
				c, ok, err := m.compare(a[i-1], a[i])
				if err != nil {
					return nil, err
				}
				all = all && ok && fits(c)
			}
			return all, nil
		})
	}
	for name, is := range map[string]func(v Value) bool{
		"number?": isNumber, "complex?": isNumber, "real?": isNumber,
		"rational?": func(v Value) bool {
			f, inexact := v.(float64)
			return isNumber(v) && (!inexact || !math.IsInf(f, 0) && f == f)
		},
		"integer?": isInteger,
		"exact-integer?": func(v Value) bool {
			return isInteger(v) && isExact(v)
		},
	} {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) { return is(a[0]), nil })
	}
	for name, is := range map[string]func(v Value) bool{
		"exact?":          isExact,
		"inexact?":        func(v Value) bool { return !isExact(v) },
		"exact-rational?": func(v Value) bool { return isExact(v) },
		"zero?":           func(v Value) bool { f, ok := v.(float64); return v == int64(0) || ok && f == 0 },
		"positive?":       func(v Value) bool { return sign(v) > 0 },
		"negative?":       func(v Value) bool { return sign(v) < 0 },
		"finite?":         func(v Value) bool { f, ok := v.(float64); return !ok || !math.IsInf(f, 0) && f == f },
		"infinite?":       func(v Value) bool { f, ok := v.(float64); return ok && math.IsInf(f, 0) },
		"nan?":            func(v Value) bool { f, ok := v.(float64); return ok && f != f },
	} {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) { return is(a[0]), numberArg(name, 0, a[0]) })
	}
	for name, odd := range map[string]bool{"odd?": true, "even?": false} {
		m.prim(name, 1, 1, func(m *Machine, a args) (Value, error) {
			_, r, err := m.divide(name, a[0], int64(2), false)
			return (sign(r) != 0) == odd, err
		})
	}
	for name, way := range map[string]struct{ floored, both, quotient bool }{
		"quotient": {quotient: true}, "remainder": {}, "modulo": {floored: true}, "truncate/": {both: true}, "floor/": {both: true, floored: true},
		"truncate-quotient": {quotient: true}, "truncate-remainder": {}, "floor-quotient": {floored: true, quotient: true}, "floor-remainder": {floored: true},
	} {
		m.prim(name, 2, 2, func(m *Machine, a args) (Value, error) {
			q, r, err := m.divide(name, a[0], a[1], way.floored)
			switch {
			case err != nil:
				return nil, err
			case way.both:
				return &multiple{items: []Value{q, r}}, m.charge(sizeObject)
			case way.quotient:
				return q, nil
			}
			return r, nil
		})
	}
	m.prim("abs", 1, 1, func(m *Machine, a args) (Value, error) {
		if f, ok := a[0].(float64); ok {
			return math.Abs(f), nil
		}
		if err := numberArg("abs", 0, a[0]); err != nil || sign(a[0]) >= 0 {
			return a[0], err
		}
		return m.arith(minus, int64(0), a[0])
	})
	m.globals[m.Symbol("magnitude")] = m.globals[m.Symbol("abs")]
	for name, want := range map[string]int{"max": 1, "min": -1} {
		m.prim(name, 1, -1, func(m *Machine, a args) (Value, error) {
			best, inexact := a[0], false
			for i, v := range a {
				if err := numberArg(name, i, v); err != nil {
					return nil, err
				}
				f, isFloat := v.(float64)
				if isFloat && f != f {
					return v, nil
				}
				inexact = inexact || isFloat
				c, _, err := m.compare(v, best)
				if err != nil {
					return nil, err
				}
				if c == want {
					best = v
				}
			}
			if inexact {
				return toFloat(best), nil
			}
			return best, nil
		})
	}
	for _, name := range []string{"gcd", "lcm"} {
		m.prim(name, 0, -1, func(m *Machine, a args) (Value, error) {
			sum := big.NewInt(0)
			if name == "lcm" {
				sum.SetInt64(1)
			}
			inexact := false
			for i, v := range a {
				if _, err := integerArg(name, i, v); err != nil {
					return nil, err
				}
				if f, ok := v.(float64); ok {
					inexact, v = true, exactOf(f)
				}
				x := new(big.Int).Abs(toBig(v))
				if err := m.pay(x, sum, true); err != nil {
					return nil, err
				}
				if name == "gcd" {
					sum = new(big.Int).GCD(nil, nil, x, sum)
					continue
				}
				if x.Sign() == 0 {
					sum = x
					break
				}
				g := new(big.Int).GCD(nil, nil, x, sum)
				sum = new(big.Int).Mul(sum, x.Quo(x, g))
			}
			if inexact {
				return toFloat(sum), nil
			}
			return integer(sum), nil
		})
	}
	m.prim("numerator", 1, 1, func(_ *Machine, a args) (Value, error) { return part("numerator", a[0], true) })
	m.prim("denominator", 1, 1, func(_ *Machine, a args) (Value, error) { return part("denominator", a[0], false) })
	for _, name := range []string{"floor", "ceiling", "truncate", "round"} {
		m.prim(name, 1, 1, func(m *Machine, a args) (Value, error) { return m.roundOf(name, a[0]) })
	}
	for _, name := range []string{"exact", "inexact->exact"} {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) {
			if f, ok := a[0].(float64); ok {
				if math.IsInf(f, 0) || f != f {
					return nil, mismatch(name, 0, "a finite number", a[0])
				}
				return exactOf(f), nil
			}
			return a[0], numberArg(name, 0, a[0])
		})
	}
	for _, name := range []string{"inexact", "exact->inexact"} {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) {
			return toFloat(a[0]), numberArg(name, 0, a[0])
		})
	}
	for name, f := range map[string]func(float64) float64{"exp": math.Exp, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos} {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) {
			if a[0] == int64(0) && name != "acos" {
				return map[bool]Value{true: int64(1), false: int64(0)}[name == "exp" || name == "cos"], nil
			}
			if err := numberArg(name, 0, a[0]); err != nil {
				return nil, err
			}
			r := f(toFloat(a[0]))
			if r != r && toFloat(a[0]) == toFloat(a[0]) {
				return nil, wrong("%s: the result is no real number", name)
			}
			return r, nil
		})
	}
	m.prim("atan", 1, 2, func(_ *Machine, a args) (Value, error) {
		for i, v := range a {
			if err := numberArg("atan", i, v); err != nil {
				return nil, err
			}
		}
		if len(a) == 2 {
			if a[0] == int64(0) && isExact(a[1]) && sign(a[1]) > 0 {
				return int64(0), nil
			}
			return math.Atan2(toFloat(a[0]), toFloat(a[1])), nil
		}
		if a[0] == int64(0) {
			return a[0], nil
		}
		return math.Atan(toFloat(a[0])), nil
	})
	m.prim("log", 1, 2, func(_ *Machine, a args) (Value, error) {
		for i, v := range a {
			if err := numberArg("log", i, v); err != nil {
				return nil, err
			}
			if sign(v) < 0 {
				return nil, wrong("log: the result is no real number")
			}
		}
		if a[0] == int64(1) {
			return int64(0), nil
		}
		l := math.Log(toFloat(a[0]))
		if len(a) == 2 {
			switch toFloat(a[1]) {
			case 2:
				l = math.Log2(toFloat(a[0]))
			case 10:
				l = math.Log10(toFloat(a[0]))
			default:
				l /= math.Log(toFloat(a[1]))
			}
		}
		return l, nil
	})
	m.prim("sqrt", 1, 1, func(m *Machine, a args) (Value, error) {
		v := a[0]
		if err := numberArg("sqrt", 0, v); err != nil {
			return nil, err
		}
		if sign(v) < 0 {
			return nil, wrong("sqrt: the result is no real number")
		}
		if !isExact(v) {
			return math.Sqrt(v.(float64)), nil
		}
		if err := m.pay(v, v, true); err != nil {
			return nil, err
		}
		if b := toBig(v); b != nil {
			r := new(big.Int).Sqrt(b)
			if new(big.Int).Mul(r, r).Cmp(b) == 0 {
				return integer(r), nil
			}
			return math.Sqrt(toFloat(v)), nil
		}
		q := v.(*big.Rat)
		n, d := new(big.Int).Sqrt(q.Num()), new(big.Int).Sqrt(q.Denom())
		if r := new(big.Rat).SetFrac(n, d); new(big.Rat).Mul(r, r).Cmp(q) == 0 {
			return rational(r), nil
		}
		return math.Sqrt(toFloat(v)), nil
	})
	m.prim("exact-integer-sqrt", 1, 1, func(m *Machine, a args) (Value, error) {
		b := toBig(a[0])
		if b == nil || b.Sign() < 0 {
			return nil, mismatch("exact-integer-sqrt", 0, "an exact integer from 0 on", a[0])
		}
		if err := m.pay(a[0], a[0], true); err != nil {
			return nil, err
		}
		r := new(big.Int).Sqrt(b)
		rest := new(big.Int).Sub(b, new(big.Int).Mul(r, r))
		return &multiple{items: []Value{integer(r), integer(rest)}}, nil
	})
	m.prim("expt", 2, 2, func(m *Machine, a args) (Value, error) {
		for i, v := range a {
			if err := numberArg("expt", i, v); err != nil {
				return nil, err
			}
		}
		return m.expt(a[0], a[1])
	})
	m.prim("square", 1, 1, func(m *Machine, a args) (Value, error) { return m.arith(times, a[0], a[0]) })
	m.prim("rationalize", 2, 2, func(m *Machine, a args) (Value, error) { return m.rationalize(a[0], a[1]) })
	m.prim("number->string", 1, 2, func(m *Machine, a args) (Value, error) {
		if err := numberArg("number->string", 0, a[0]); err != nil {
			return nil, err
		}
		radix, err := radixArg("number->string", a)
		if err != nil {
			return nil, err
		}
		n := words(a[0])
		if err := m.work(n * n / 16); err != nil {
			return nil, err
		}
		s := formatNumber(a[0], radix)
		return Text(s), m.charge(4 * len(s))
	})
	m.prim("string->number", 1, 2, func(m *Machine, a args) (Value, error) {
		s, err := textArg("string->number", a, 0)
		if err != nil {
			return nil, err
		}
		radix, err := radixArg("string->number", a)
		if err != nil {
			return nil, err
		}
		n := len(s.runes)
		if n > longestNumber {
			return false, nil
		}
		if err := m.work(n * n / 256); err != nil {
			return nil, err
		}
		if v := parseNumber(s.String(), radix); v != nil {
			return v, m.charge(n)
		}
		return false, nil
	})
}

func radixArg(who string, a args) (int, error) {
	if len(a) < 2 {
		return 10, nil
	}
	switch r, _ := a[1].(int64); r {
	case 2, 8, 10, 16:
		return int(r), nil
	}
	return 0, mismatch(who, 1, "a radix of 2, 8, 10 or 16", a[1])
}

func part(who string, v Value, numerator bool) (Value, error) {
	f, inexact := v.(float64)
	if inexact {
		if math.IsInf(f, 0) || f != f {
			return nil, mismatch(who, 0, "a rational number", v)
		}
		v = exactOf(f)
	}
	q := toRat(v)
	if q == nil {
		return nil, mismatch(who, 0, "a rational number", v)
	}
	r := integer(new(big.Int).Set(q.Denom()))
	if numerator {
		r = integer(new(big.Int).Set(q.Num()))
	}
	if inexact {
		return toFloat(r), nil
	}
	return r, nil
}

// rationalize finds the simplest rational near x.
func (m *Machine) rationalize(x, y Value) (Value, error) {
	for i, v := range [...]Value{x, y} {
		if err := numberArg("rationalize", i, v); err != nil {
			return nil, err
		}
	}
	inexact := !isExact(x) || !isExact(y)
	if inexact {
		fx, fy := toFloat(x), toFloat(y)
		switch {
		case fx != fx || fy != fy, math.IsInf(fx, 0) && math.IsInf(fy, 0):
			return math.NaN(), nil
		case math.IsInf(fy, 0):
			return 0.0, nil
		case math.IsInf(fx, 0):
			return fx, nil
		}
		x, y = exactOf(fx), exactOf(fy)
	}
	if err := m.pay(x, y, true); err != nil {
		return nil, err
	}
	d := new(big.Rat).Abs(toRat(y))
	lo, hi := new(big.Rat).Sub(toRat(x), d), new(big.Rat).Add(toRat(x), d)
	var r *big.Rat
	switch {
	case lo.Sign() > 0:
		r = simplest(lo, hi)
	case hi.Sign() < 0:
		r = simplest(new(big.Rat).Neg(hi), new(big.Rat).Neg(lo))
		r.Neg(r)
	default:
		r = new(big.Rat)
	}
	if inexact {
		return toFloat(rational(r)), nil
	}
	return rational(r), nil
}

// simplest is the rational with the smallest denominator between two positive
// ones: the continued fractions of both, as far as they agree.
func simplest(lo, hi *big.Rat) *big.Rat {
	var whole []*big.Int
	one := big.NewInt(1)
	for {
		fl := new(big.Int).Quo(lo.Num(), lo.Denom())
		switch {
		case lo.IsInt():
			whole = append(whole, fl)
		case fl.Cmp(new(big.Int).Quo(hi.Num(), hi.Denom())) < 0:
			whole = append(whole, fl.Add(fl, one))
		default:
			whole = append(whole, fl)
			f := new(big.Rat).SetInt(fl)
			lo, hi = new(big.Rat).Inv(new(big.Rat).Sub(hi, f)), new(big.Rat).Inv(new(big.Rat).Sub(lo, f))
			continue
		}
		break
	}
	r := new(big.Rat).SetInt(whole[len(whole)-1])
	for i := len(whole) - 2; i >= 0; i-- {
		r.Inv(r)
		r.Add(r, new(big.Rat).SetInt(whole[i]))
	}
	return r
}

func (m *Machine) installLists() {
	is := func(name string, f func(v Value) bool) {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) { return f(a[0]), nil })
	}
	is("pair?", func(v Value) bool { _, ok := v.(*Pair); return ok })
	is("null?", func(v Value) bool { return v == Empty })
	is("symbol?", func(v Value) bool { _, ok := v.(*Symbol); return ok })
	is("boolean?", func(v Value) bool { _, ok := v.(bool); return ok })
	is("procedure?", isProcedure)
	is("not", func(v Value) bool { return !truth(v) })
	m.prim("list?", 1, 1, func(m *Machine, a args) (Value, error) {
		_, err := m.items("list?", a[0])
		if err != nil {
			if _, stop := err.(fatal); stop {
				return nil, err
			}
			return false, nil
		}
		return true, nil
	})
	m.prim("eq?", 2, 2, func(_ *Machine, a args) (Value, error) { return same(a[0], a[1]), nil })
	m.prim("eqv?", 2, 2, func(_ *Machine, a args) (Value, error) { return same(a[0], a[1]), nil })
	m.prim("equal?", 2, 2, func(m *Machine, a args) (Value, error) { return m.equal(a[0], a[1]) })
	m.prim("cons", 2, 2, func(m *Machine, a args) (Value, error) {
		return &Pair{Car: a[0], Cdr: a[1]}, m.charge(sizePair)
	})
	for _, path := range []string{"a", "d", "aa", "ad", "da", "dd", "aaa", "aad", "ada", "add", "daa", "dad", "dda", "ddd",
		"aaaa", "aaad", "aada", "aadd", "adaa", "adad", "adda", "addd", "daaa", "daad", "dada", "dadd", "ddaa", "ddad", "ddda", "dddd"} {
		name := "c" + path + "r"
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) {
			v := a[0]
			for i := len(path) - 1; i >= 0; i-- {
				p, ok := v.(*Pair)
				if !ok {
					return nil, mismatch(name, 0, map[bool]string{true: "a pair", false: "a list of that form"}[len(path) == 1], a[0])
				}
				if path[i] == 'a' {
					v = p.Car
				} else {
					v = p.Cdr
				}
			}
			return v, nil
		})
	}
	for name, car := range map[string]bool{"set-car!": true, "set-cdr!": false} {
		m.prim(name, 2, 2, func(_ *Machine, a args) (Value, error) {
			p, ok := a[0].(*Pair)
			if !ok {
				return nil, mismatch(name, 0, "a pair", a[0])
			}
			if car {
				p.Car = a[1]
			} else {
				p.Cdr = a[1]
			}
			return Unspecified, nil
		})
	}
	m.prim("list", 0, -1, func(m *Machine, a args) (Value, error) { return List(a...), m.charge(sizePair * len(a)) })
	m.prim("cons*", 1, -1, func(m *Machine, a args) (Value, error) {
		return listWith(a[:len(a)-1], a[len(a)-1]), m.charge(sizePair * len(a))
	})
	m.prim("make-list", 1, 2, func(m *Machine, a args) (Value, error) {
		n, err := index("make-list", a, 0)
		if err != nil {
			return nil, err
		}
		if err := m.room(n, sizePair); err != nil {
			return nil, err
		}
		fill := Unspecified
		if len(a) > 1 {
			fill = a[1]
		}
		v := Empty
		for range n {
			v = &Pair{Car: fill, Cdr: v}
		}
		return v, nil
	})
	m.prim("length", 1, 1, func(m *Machine, a args) (Value, error) {
		items, err := m.items("length", a[0])
		return int64(len(items)), err
	})
	m.prim("append", 0, -1, func(m *Machine, a args) (Value, error) {
		if len(a) == 0 {
			return Empty, nil
		}
		v := a[len(a)-1]
		for i := len(a) - 2; i >= 0; i-- {
			items, err := m.itemsAt("append", i, a[i])
			if err != nil {
				return nil, err
			}
			if err := m.charge(sizePair * len(items)); err != nil {
				return nil, err
			}
			v = listWith(items, v)
		}
		return v, nil
	})
	m.prim("reverse", 1, 1, func(m *Machine, a args) (Value, error) {
		items, err := m.items("reverse", a[0])
		if err != nil {
			return nil, err
		}
		v := Empty
		for _, item := range items {
			v = &Pair{Car: item, Cdr: v}
		}
		return v, m.charge(sizePair * len(items))
	})
	m.prim("list-copy", 1, 1, func(m *Machine, a args) (Value, error) {
		var items []Value
		v := a[0]
		for p, ok := v.(*Pair); ok; p, ok = v.(*Pair) {
			if err := m.room(1, sizePair); err != nil {
				return nil, err
			}
			items = append(items, p.Car)
			v = p.Cdr
		}
		return listWith(items, v), nil
	})
	tail := func(name string, m *Machine, a args) (Value, error) {
		n, err := index(name, a, 1)
		if err != nil {
			return nil, err
		}
		v := a[0]
		if err := m.work(n / 4); err != nil {
			return nil, err
		}
		for range n {
			p, ok := v.(*Pair)
			if !ok {
				return nil, wrong("%s: the list has no %d items", name, n)
			}
			v = p.Cdr
		}
		return v, nil
	}
	m.prim("list-tail", 2, 2, func(m *Machine, a args) (Value, error) { return tail("list-tail", m, a) })
	m.prim("list-ref", 2, 2, func(m *Machine, a args) (Value, error) {
		v, err := tail("list-ref", m, a)
		if err != nil {
			return nil, err
		}
		if p, ok := v.(*Pair); ok {
			return p.Car, nil
		}
		return nil, wrong("list-ref: the list ends before item %s", shown{a[1]})
	})
	m.prim("list-set!", 3, 3, func(m *Machine, a args) (Value, error) {
		v, err := tail("list-set!", m, a)
		if err != nil {
			return nil, err
		}
		if p, ok := v.(*Pair); ok {
			p.Car = a[2]
			return Unspecified, nil
		}
		return nil, wrong("list-set!: the list ends before item %s", shown{a[1]})
	})
	search := func(name string, pairs bool, eq func(m *Machine, a, b Value) (bool, error)) {
		m.prim(name, 2, 2, func(m *Machine, a args) (Value, error) {
			v := a[1]
			for {
				if err := m.work(1); err != nil {
					return nil, err
				}
				p, ok := v.(*Pair)
				if !ok {
					if v == Empty {
						return false, nil
					}
					return nil, mismatch(name, 1, "a list", a[1])
				}
				at := p.Car
				if pairs {
					entry, ok := p.Car.(*Pair)
					if !ok {
						return nil, wrong("%s: %s is no pair", name, shown{p.Car})
					}
					at = entry.Car
				}
				hit, err := eq(m, a[0], at)
				if err != nil {
					return nil, err
				}
				if hit {
					if pairs {
						return p.Car, nil
					}
					return p, nil
				}
				v = p.Cdr
			}
		})
	}
	eqv := func(_ *Machine, a, b Value) (bool, error) { return same(a, b), nil }
	search("memq", false, eqv)
	search("memv", false, eqv)
	search("%member", false, (*Machine).equal)
	search("assq", true, eqv)
	search("assv", true, eqv)
	search("%assoc", true, (*Machine).equal)
	for name, same := range map[string]func(a, b Value) bool{
		"boolean=?": func(a, b Value) bool { return a == b },
		"symbol=?":  func(a, b Value) bool { return a == b },
	} {
		m.prim(name, 2, -1, func(_ *Machine, a args) (Value, error) {
			all := true
			for i, v := range a {
				_, isBool := v.(bool)
				_, isSymbol := v.(*Symbol)
				if name == "boolean=?" && !isBool {
					return nil, mismatch(name, i, "a boolean", v)
				}
				if name == "symbol=?" && !isSymbol {
					return nil, mismatch(name, i, "a symbol", v)
				}
				all = all && same(v, a[0])
			}
			return all, nil
		})
	}
	m.prim("symbol->string", 1, 1, func(m *Machine, a args) (Value, error) {
		s, ok := a[0].(*Symbol)
		if !ok {
			return nil, mismatch("symbol->string", 0, "a symbol", a[0])
		}
		return Text(s.name), m.charge(4 * len(s.name))
	})
	m.prim("string->symbol", 1, 1, func(m *Machine, a args) (Value, error) {
		s, err := textArg("string->symbol", a, 0)
		if err != nil {
			return nil, err
		}
		return m.intern(s.String())
	})
}

// room asks for n things of a size, before they are made.
func (m *Machine) room(n, size int) error {
	if int64(n) > m.limits.Memory/int64(size) {
		return fatal{ErrMemory}
	}
	if err := m.work(n / 4); err != nil {
		return err
	}
	return m.charge(n * size)
}

// items is a proper list as a slice.
func (m *Machine) items(who string, v Value) ([]Value, error) { return m.itemsAt(who, 0, v) }

func (m *Machine) itemsAt(who string, i int, v Value) ([]Value, error) {
	items, ok, err := m.slice(v)
	if err == nil && !ok {
		err = mismatch(who, i, "a proper list", v)
	}
	return items, err
}

// slice is Slice with the work counted.
func (m *Machine) slice(v Value) (items []Value, ok bool, err error) {
	slow := v
	for {
		switch p := v.(type) {
		case empty:
			return items, true, nil
		case *Pair:
			items = append(items, p.Car)
			v = p.Cdr
			if len(items)%2 == 0 {
				if err := m.work(1); err != nil {
					return nil, false, err
				}
				slow = slow.(*Pair).Cdr
				if _, more := v.(*Pair); more && slow == v {
					return nil, false, nil
				}
			}
		default:
			return nil, false, nil
		}
	}
}

func textArg(who string, a args, i int) (*String, error) {
	s, ok := a[i].(*String)
	if !ok {
		return nil, mismatch(who, i, "a string", a[i])
	}
	return s, nil
}

func charArg(who string, a args, i int) (rune, error) {
	c, ok := a[i].(Char)
	if !ok {
		return 0, mismatch(who, i, "a character", a[i])
	}
	return rune(c), nil
}

func foldCase(s string) string { return cases.Fold().String(s) }

func foldChar(c rune) rune {
	// Simple folding: the smallest of what folds to the same, in lower case.
	if l := unicode.ToLower(unicode.ToUpper(c)); c != 'İ' && c != 'ı' {
		return l
	}
	return c
}

func (m *Machine) installTexts() {
	is := func(name string, f func(v Value) bool) {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) { return f(a[0]), nil })
	}
	is("char?", func(v Value) bool { _, ok := v.(Char); return ok })
	is("string?", func(v Value) bool { _, ok := v.(*String); return ok })
	for name, f := range map[string]func(c rune) bool{
		"char-alphabetic?": unicode.IsLetter, "char-numeric?": func(c rune) bool { return unicode.Is(unicode.Nd, c) },
		"char-whitespace?": unicode.IsSpace,
		"char-upper-case?": func(c rune) bool { return unicode.IsUpper(c) || unicode.Is(unicode.Other_Uppercase, c) },
		"char-lower-case?": func(c rune) bool { return unicode.IsLower(c) || unicode.Is(unicode.Other_Lowercase, c) },
	} {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) {
			c, err := charArg(name, a, 0)
			return err == nil && f(c), err
		})
	}
	for name, f := range map[string]func(c rune) rune{"char-upcase": unicode.ToUpper, "char-downcase": unicode.ToLower, "char-foldcase": foldChar} {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) {
			c, err := charArg(name, a, 0)
			return Char(f(c)), err
		})
	}
	m.prim("digit-value", 1, 1, func(_ *Machine, a args) (Value, error) {
		c, err := charArg("digit-value", a, 0)
		if err != nil || !unicode.Is(unicode.Nd, c) {
			return false, err
		}
		// The digits of a script stand in a row that begins at its zero.
		n := int64(0)
		for unicode.Is(unicode.Nd, c-1) && n < 9 {
			c--
			n++
		}
		return n, nil
	})
	m.prim("char->integer", 1, 1, func(_ *Machine, a args) (Value, error) {
		c, err := charArg("char->integer", a, 0)
		return int64(c), err
	})
	m.prim("integer->char", 1, 1, func(_ *Machine, a args) (Value, error) {
		n, ok := a[0].(int64)
		if !ok || n < 0 || n > unicode.MaxRune || n >= 0xD800 && n < 0xE000 {
			return nil, mismatch("integer->char", 0, "the number of a character", a[0])
		}
		return Char(rune(n)), nil
	})
	// Comparisons of characters and of strings, as they are and folded.
	for op, fits := range map[string]func(c int) bool{
		"=?": func(c int) bool { return c == 0 }, "<?": func(c int) bool { return c < 0 }, ">?": func(c int) bool { return c > 0 },
		"<=?": func(c int) bool { return c <= 0 }, ">=?": func(c int) bool { return c >= 0 },
	} {
		for _, fold := range []bool{false, true} {
			ci := ""
			if fold {
				ci = "-ci"
			}
			chars := "char" + ci + op
			m.prim(chars, 1, -1, func(_ *Machine, a args) (Value, error) {
				all := true
				for i := range a {
					c, err := charArg(chars, a, i)
					if err != nil {
						return nil, err
					}
					if i == 0 {
						continue
					}
					before, _ := charArg(chars, a, i-1)
					if fold {
						before, c = foldChar(before), foldChar(c)
					}
					all = all && fits(int(before)-int(c))
				}
				return all, nil
			})
			texts := "string" + ci + op
			m.prim(texts, 1, -1, func(m *Machine, a args) (Value, error) {
				all := true
				var before []rune
				for i := range a {
					s, err := textArg(texts, a, i)
					if err != nil {
						return nil, err
					}
					if err := m.work(len(s.runes) / 8); err != nil {
						return nil, err
					}
					runes := s.runes
					if fold {
						if err := m.charge(8 * len(runes)); err != nil {
							return nil, err
						}
						runes = []rune(foldCase(string(runes)))
					}
					if i > 0 {
						all = all && fits(compareRunes(before, runes))
					}
					before = runes
				}
				return all, nil
			})
		}
	}
	for name, f := range map[string]func(s string) string{
		"string-upcase":   func(s string) string { return cases.Upper(language.Und).String(s) },
		"string-downcase": func(s string) string { return cases.Lower(language.Und).String(s) },
		"string-foldcase": foldCase,
	} {
		m.prim(name, 1, 1, func(m *Machine, a args) (Value, error) {
			s, err := textArg(name, a, 0)
			if err != nil {
				return nil, err
			}
			if err := m.room(len(s.runes), 16); err != nil {
				return nil, err
			}
			return Text(f(s.String())), nil
		})
	}
	m.prim("make-string", 1, 2, func(m *Machine, a args) (Value, error) {
		n, err := index("make-string", a, 0)
		if err != nil {
			return nil, err
		}
		c := ' '
		if len(a) > 1 {
			if c, err = charArg("make-string", a, 1); err != nil {
				return nil, err
			}
		}
		if err := m.room(n, 4); err != nil {
			return nil, err
		}
		runes := make([]rune, n)
		for i := range runes {
			runes[i] = c
		}
		return &String{runes: runes}, nil
	})
	m.prim("string", 0, -1, func(m *Machine, a args) (Value, error) {
		runes := make([]rune, len(a))
		for i := range a {
			var err error
			if runes[i], err = charArg("string", a, i); err != nil {
				return nil, err
			}
		}
		return &String{runes: runes}, m.charge(sizeObject + 4*len(a))
	})
	m.prim("string-length", 1, 1, func(_ *Machine, a args) (Value, error) {
		s, err := textArg("string-length", a, 0)
		if err != nil {
			return nil, err
		}
		return int64(len(s.runes)), nil
	})
	at := func(who string, a args) (*String, int, error) {
		s, err := textArg(who, a, 0)
		if err != nil {
			return nil, 0, err
		}
		i, err := index(who, a, 1)
		if err == nil && i >= len(s.runes) {
			err = wrong("%s: there is no character %d in a string of %d", who, i, len(s.runes))
		}
		return s, i, err
	}
	m.prim("string-ref", 2, 2, func(_ *Machine, a args) (Value, error) {
		s, i, err := at("string-ref", a)
		if err != nil {
			return nil, err
		}
		return Char(s.runes[i]), nil
	})
	m.prim("string-set!", 3, 3, func(_ *Machine, a args) (Value, error) {
		s, i, err := at("string-set!", a)
		if err != nil {
			return nil, err
		}
		c, err := charArg("string-set!", a, 2)
		if err != nil {
			return nil, err
		}
		s.runes[i] = c
		return Unspecified, nil
	})
	piece := func(who string, m *Machine, a args) ([]rune, error) {
		s, err := textArg(who, a, 0)
		if err != nil {
			return nil, err
		}
		start, end, err := span(who, a, 1, len(s.runes))
		if err != nil {
			return nil, err
		}
		return append([]rune(nil), s.runes[start:end]...), m.room(end-start, 4)
	}
	for _, name := range []string{"substring", "string-copy"} {
		least := 1
		if name == "substring" {
			least = 3
		}
		m.prim(name, least, 3, func(m *Machine, a args) (Value, error) {
			runes, err := piece(name, m, a)
			return &String{runes: runes}, err
		})
	}
	m.prim("string->list", 1, 3, func(m *Machine, a args) (Value, error) {
		runes, err := piece("string->list", m, a)
		if err != nil {
			return nil, err
		}
		v := Empty
		for i := len(runes) - 1; i >= 0; i-- {
			v = &Pair{Car: Char(runes[i]), Cdr: v}
		}
		return v, m.charge(sizePair * len(runes))
	})
	m.prim("string->vector", 1, 3, func(m *Machine, a args) (Value, error) {
		runes, err := piece("string->vector", m, a)
		if err != nil {
			return nil, err
		}
		items := make([]Value, len(runes))
		for i, c := range runes {
			items[i] = Char(c)
		}
		return &Vector{items: items}, m.charge(sizeValue * len(runes))
	})
	m.prim("list->string", 1, 1, func(m *Machine, a args) (Value, error) {
		items, err := m.items("list->string", a[0])
		if err != nil {
			return nil, err
		}
		runes := make([]rune, len(items))
		for i := range items {
			if runes[i], err = charArg("list->string", items, i); err != nil {
				return nil, err
			}
		}
		return &String{runes: runes}, m.charge(4 * len(runes))
	})
	m.prim("vector->string", 1, 3, func(m *Machine, a args) (Value, error) {
		v, ok := a[0].(*Vector)
		if !ok {
			return nil, mismatch("vector->string", 0, "a vector", a[0])
		}
		start, end, err := span("vector->string", a, 1, len(v.items))
		if err != nil {
			return nil, err
		}
		if err := m.room(end-start, 4); err != nil {
			return nil, err
		}
		runes := make([]rune, end-start)
		for i := range runes {
			if runes[i], err = charArg("vector->string", v.items[start:], i); err != nil {
				return nil, err
			}
		}
		return &String{runes: runes}, nil
	})
	m.prim("string-append", 0, -1, func(m *Machine, a args) (Value, error) {
		n := 0
		for i := range a {
			s, err := textArg("string-append", a, i)
			if err != nil {
				return nil, err
			}
			n += len(s.runes)
		}
		if err := m.room(n, 4); err != nil {
			return nil, err
		}
		runes := make([]rune, 0, n)
		for _, v := range a {
			runes = append(runes, v.(*String).runes...)
		}
		return &String{runes: runes}, nil
	})
	m.prim("string-fill!", 2, 4, func(m *Machine, a args) (Value, error) {
		s, err := textArg("string-fill!", a, 0)
		if err != nil {
			return nil, err
		}
		c, err := charArg("string-fill!", a, 1)
		if err != nil {
			return nil, err
		}
		start, end, err := span("string-fill!", a, 2, len(s.runes))
		if err != nil {
			return nil, err
		}
		for i := start; i < end; i++ {
			s.runes[i] = c
		}
		return Unspecified, m.work((end - start) / 4)
	})
	m.prim("string-copy!", 3, 5, func(m *Machine, a args) (Value, error) {
		to, err := textArg("string-copy!", a, 0)
		if err != nil {
			return nil, err
		}
		from, err := textArg("string-copy!", a, 2)
		if err != nil {
			return nil, err
		}
		at, start, end, err := copying("string-copy!", a, len(to.runes), len(from.runes))
		if err != nil {
			return nil, err
		}
		copy(to.runes[at:], from.runes[start:end])
		return Unspecified, m.work((end - start) / 8)
	})
	// Looking into texts is what programs here are for.
	m.prim("string-search", 2, 3, func(m *Machine, a args) (Value, error) {
		what, err := textArg("string-search", a, 0)
		if err != nil {
			return nil, err
		}
		in, err := textArg("string-search", a, 1)
		if err != nil {
			return nil, err
		}
		start, _, err := span("string-search", a, 2, len(in.runes))
		if err != nil {
			return nil, err
		}
		for i := start; i+len(what.runes) <= len(in.runes); i++ {
			j := 0
			for j < len(what.runes) && in.runes[i+j] == what.runes[j] {
				j++
			}
			if err := m.work((j + 4) / 4); err != nil {
				return nil, err
			}
			if j == len(what.runes) {
				return int64(i), nil
			}
		}
		return false, nil
	})
}

func compareRunes(a, b []rune) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}

// copying reads the arguments of the procedures  (copy! to at from start end).
func copying(who string, a args, to, from int) (at, start, end int, err error) {
	if at, err = index(who, a, 1); err != nil {
		return 0, 0, 0, err
	}
	if start, end, err = span(who, a, 3, from); err != nil {
		return 0, 0, 0, err
	}
	if at > to || end-start > to-at {
		return 0, 0, 0, wrong("%s: %d do not fit behind %d of %d", who, end-start, at, to)
	}
	return at, start, end, nil
}

func (m *Machine) installVectors() {
	is := func(name string, f func(v Value) bool) {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) { return f(a[0]), nil })
	}
	is("vector?", func(v Value) bool { _, ok := v.(*Vector); return ok })
	is("bytevector?", func(v Value) bool { _, ok := v.(*Bytes); return ok })
	vectorArg := func(who string, a args, i int) (*Vector, error) {
		v, ok := a[i].(*Vector)
		if !ok {
			return nil, mismatch(who, i, "a vector", a[i])
		}
		return v, nil
	}
	bytesArg := func(who string, a args, i int) (*Bytes, error) {
		b, ok := a[i].(*Bytes)
		if !ok {
			return nil, mismatch(who, i, "a bytevector", a[i])
		}
		return b, nil
	}
	byteArg := func(who string, a args, i int) (byte, error) {
		n, ok := a[i].(int64)
		if !ok || n < 0 || n > 255 {
			return 0, mismatch(who, i, "a byte", a[i])
		}
		return byte(n), nil
	}
	m.prim("vector", 0, -1, func(m *Machine, a args) (Value, error) {
		return &Vector{items: append([]Value(nil), a...)}, m.charge(sizeObject + sizeValue*len(a))
	})
	m.prim("make-vector", 1, 2, func(m *Machine, a args) (Value, error) {
		n, err := index("make-vector", a, 0)
		if err != nil {
			return nil, err
		}
		if err := m.room(n, sizeValue); err != nil {
			return nil, err
		}
		fill := Unspecified
		if len(a) > 1 {
			fill = a[1]
		}
		items := make([]Value, n)
		for i := range items {
			items[i] = fill
		}
		return &Vector{items: items}, m.charge(sizeObject)
	})
	m.prim("vector-length", 1, 1, func(_ *Machine, a args) (Value, error) {
		v, err := vectorArg("vector-length", a, 0)
		if err != nil {
			return nil, err
		}
		return int64(len(v.items)), nil
	})
	vectorAt := func(who string, a args) (*Vector, int, error) {
		v, err := vectorArg(who, a, 0)
		if err != nil {
			return nil, 0, err
		}
		i, err := index(who, a, 1)
		if err == nil && i >= len(v.items) {
			err = wrong("%s: there is no item %d in a vector of %d", who, i, len(v.items))
		}
		return v, i, err
	}
	m.prim("vector-ref", 2, 2, func(_ *Machine, a args) (Value, error) {
		v, i, err := vectorAt("vector-ref", a)
		if err != nil {
			return nil, err
		}
		return v.items[i], nil
	})
	m.prim("vector-set!", 3, 3, func(_ *Machine, a args) (Value, error) {
		v, i, err := vectorAt("vector-set!", a)
		if err != nil {
			return nil, err
		}
		v.items[i] = a[2]
		return Unspecified, nil
	})
	m.prim("vector->list", 1, 3, func(m *Machine, a args) (Value, error) {
		v, err := vectorArg("vector->list", a, 0)
		if err != nil {
			return nil, err
		}
		start, end, err := span("vector->list", a, 1, len(v.items))
		if err != nil {
			return nil, err
		}
		if err := m.room(end-start, sizePair); err != nil {
			return nil, err
		}
		return List(v.items[start:end]...), nil
	})
	m.prim("list->vector", 1, 1, func(m *Machine, a args) (Value, error) {
		items, err := m.items("list->vector", a[0])
		return &Vector{items: items}, errOr(err, func() error { return m.charge(sizeObject + sizeValue*len(items)) })
	})
	m.prim("vector-copy", 1, 3, func(m *Machine, a args) (Value, error) {
		v, err := vectorArg("vector-copy", a, 0)
		if err != nil {
			return nil, err
		}
		start, end, err := span("vector-copy", a, 1, len(v.items))
		if err != nil {
			return nil, err
		}
		if err := m.room(end-start, sizeValue); err != nil {
			return nil, err
		}
		return &Vector{items: append([]Value(nil), v.items[start:end]...)}, m.charge(sizeObject)
	})
	m.prim("vector-copy!", 3, 5, func(m *Machine, a args) (Value, error) {
		to, err := vectorArg("vector-copy!", a, 0)
		if err != nil {
			return nil, err
		}
		from, err := vectorArg("vector-copy!", a, 2)
		if err != nil {
			return nil, err
		}
		at, start, end, err := copying("vector-copy!", a, len(to.items), len(from.items))
		if err != nil {
			return nil, err
		}
		copy(to.items[at:], from.items[start:end])
		return Unspecified, m.work((end - start) / 8)
	})
	m.prim("vector-append", 0, -1, func(m *Machine, a args) (Value, error) {
		n := 0
		for i := range a {
			v, err := vectorArg("vector-append", a, i)
			if err != nil {
				return nil, err
			}
			n += len(v.items)
		}
		if err := m.room(n, sizeValue); err != nil {
			return nil, err
		}
		items := make([]Value, 0, n)
		for _, v := range a {
			items = append(items, v.(*Vector).items...)
		}
		return &Vector{items: items}, m.charge(sizeObject)
	})
	m.prim("vector-fill!", 2, 4, func(m *Machine, a args) (Value, error) {
		v, err := vectorArg("vector-fill!", a, 0)
		if err != nil {
			return nil, err
		}
		start, end, err := span("vector-fill!", a, 2, len(v.items))
		if err != nil {
			return nil, err
		}
		for i := start; i < end; i++ {
			v.items[i] = a[1]
		}
		return Unspecified, m.work((end - start) / 4)
	})
	m.prim("bytevector", 0, -1, func(m *Machine, a args) (Value, error) {
		b := make([]byte, len(a))
		for i := range a {
			var err error
			if b[i], err = byteArg("bytevector", a, i); err != nil {
				return nil, err
			}
		}
		return &Bytes{b: b}, m.charge(sizeObject + len(b))
	})
	m.prim("make-bytevector", 1, 2, func(m *Machine, a args) (Value, error) {
		n, err := index("make-bytevector", a, 0)
		if err != nil {
			return nil, err
		}
		c := byte(0)
		if len(a) > 1 {
			if c, err = byteArg("make-bytevector", a, 1); err != nil {
				return nil, err
			}
		}
		if err := m.room(n, 1); err != nil {
			return nil, err
		}
		b := make([]byte, n)
		for i := range b {
			b[i] = c
		}
		return &Bytes{b: b}, m.charge(sizeObject)
	})
	m.prim("bytevector-length", 1, 1, func(_ *Machine, a args) (Value, error) {
		b, err := bytesArg("bytevector-length", a, 0)
		if err != nil {
			return nil, err
		}
		return int64(len(b.b)), nil
	})
	bytesAt := func(who string, a args) (*Bytes, int, error) {
		b, err := bytesArg(who, a, 0)
		if err != nil {
			return nil, 0, err
		}
		i, err := index(who, a, 1)
		if err == nil && i >= len(b.b) {
			err = wrong("%s: there is no byte %d in a bytevector of %d", who, i, len(b.b))
		}
		return b, i, err
	}
	m.prim("bytevector-u8-ref", 2, 2, func(_ *Machine, a args) (Value, error) {
		b, i, err := bytesAt("bytevector-u8-ref", a)
		if err != nil {
			return nil, err
		}
		return int64(b.b[i]), nil
	})
	m.prim("bytevector-u8-set!", 3, 3, func(_ *Machine, a args) (Value, error) {
		b, i, err := bytesAt("bytevector-u8-set!", a)
		if err != nil {
			return nil, err
		}
		c, err := byteArg("bytevector-u8-set!", a, 2)
		if err != nil {
			return nil, err
		}
		b.b[i] = c
		return Unspecified, nil
	})
	cut := func(who string, m *Machine, a args) ([]byte, error) {
		b, err := bytesArg(who, a, 0)
		if err != nil {
			return nil, err
		}
		start, end, err := span(who, a, 1, len(b.b))
		if err != nil {
			return nil, err
		}
		return append([]byte(nil), b.b[start:end]...), m.room(end-start, 4)
	}
	m.prim("bytevector-copy", 1, 3, func(m *Machine, a args) (Value, error) {
		b, err := cut("bytevector-copy", m, a)
		return &Bytes{b: b}, err
	})
	m.prim("utf8->string", 1, 3, func(m *Machine, a args) (Value, error) {
		b, err := cut("utf8->string", m, a)
		return Text(string(b)), err
	})
	m.prim("string->utf8", 1, 3, func(m *Machine, a args) (Value, error) {
		s, err := textArg("string->utf8", a, 0)
		if err != nil {
			return nil, err
		}
		start, end, err := span("string->utf8", a, 1, len(s.runes))
		if err != nil {
			return nil, err
		}
		if err := m.room(end-start, 4); err != nil {
			return nil, err
		}
		return &Bytes{b: []byte(string(s.runes[start:end]))}, nil
	})
	m.prim("bytevector-copy!", 3, 5, func(m *Machine, a args) (Value, error) {
		to, err := bytesArg("bytevector-copy!", a, 0)
		if err != nil {
			return nil, err
		}
		from, err := bytesArg("bytevector-copy!", a, 2)
		if err != nil {
			return nil, err
		}
		at, start, end, err := copying("bytevector-copy!", a, len(to.b), len(from.b))
		if err != nil {
			return nil, err
		}
		copy(to.b[at:], from.b[start:end])
		return Unspecified, m.work((end - start) / 64)
	})
	m.prim("bytevector-append", 0, -1, func(m *Machine, a args) (Value, error) {
		n := 0
		for i := range a {
			b, err := bytesArg("bytevector-append", a, i)
			if err != nil {
				return nil, err
			}
			n += len(b.b)
		}
		if err := m.room(n, 1); err != nil {
			return nil, err
		}
		all := make([]byte, 0, n)
		for _, v := range a {
			all = append(all, v.(*Bytes).b...)
		}
		return &Bytes{b: all}, m.charge(sizeObject)
	})
}

func errOr(err error, then func() error) error {
	if err != nil {
		return err
	}
	return then()
}
