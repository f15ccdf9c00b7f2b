package scheme

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Numbers are kept in their smallest form: an integer that fits is an int64,
// a rational with the denominator 1 an integer.

func isNumber(v Value) bool {
	switch v.(type) {
	case int64, *big.Int, *big.Rat, float64:
		return true
	}
	return false
}

func isExact(v Value) bool {
	_, inexact := v.(float64)
	return !inexact
}

// isInteger: also an inexact one.
func isInteger(v Value) bool {
	switch x := v.(type) {
	case int64, *big.Int:
		return true
	case float64:
		return x == math.Trunc(x) && !math.IsInf(x, 0)
	}
	return false
}

func sameFloat(a, b float64) bool {
	if a != a && b != b {
		return true
	}
	return a == b && math.Signbit(a) == math.Signbit(b)
}

func integer(x *big.Int) Value {
	if x.IsInt64() {
		return x.Int64()
	}
	return x
}

func rational(x *big.Rat) Value {
	if x.IsInt() {
		return integer(new(big.Int).Set(x.Num()))
	}
	return x
}

// toBig makes a big integer of an exact one.
func toBig(v Value) *big.Int {
	switch x := v.(type) {
	case int64:
		return big.NewInt(x)
	case *big.Int:
		return x
	}
	return nil
}

func toRat(v Value) *big.Rat {
	switch x := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(x)
	case *big.Int:
		return new(big.Rat).SetInt(x)
	case *big.Rat:
		return x
	}
	return nil
}

func toFloat(v Value) float64 {
	switch x := v.(type) {
	case int64:
		return float64(x)
	case *big.Int:
		f, _ := new(big.Float).SetInt(x).Float64()
		return f
	case *big.Rat:
		f, _ := x.Float64()
		return f
	case float64:
		return x
	}
	return math.NaN()
}

// words is how many machine words a number takes.
func words(v Value) int {
	switch x := v.(type) {
	case *big.Int:
		return len(x.Bits()) + 1
	case *big.Rat:
		return len(x.Num().Bits()) + len(x.Denom().Bits()) + 2
	}
	return 1
}

// pay counts the work and the memory of an operation on two numbers, before
// it is done. Products and quotients take the product of the sizes.
func (m *Machine) pay(a, b Value, product bool) error {
	x, y := words(a), words(b)
	if x+y <= 4 {
		return nil
	}
	w := x + y
	if product {
		if x > 1<<20 || y > 1<<20 { // the product cannot overflow below
			w = math.MaxInt32
		} else {
			w += x * y / 16
		}
	}
	if err := m.work(w); err != nil {
		return err
	}
	return m.charge(8 * (x + y))
}

type operation int

const (
	plus operation = iota
	minus
	times
	over
)

var operationNames = [...]string{"+", "-", "*", "/"}

func (m *Machine) arith(op operation, a, b Value) (Value, error) {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			switch op {
			case plus:
				if s := x + y; (s > x) == (y > 0) {
					return s, nil
				}
			case minus:
				if s := x - y; (s < x) == (y > 0) {
					return s, nil
				}
			case times:
				if x == 0 || y == 0 {
					return int64(0), nil
				}
				if p := x * y; p/y == x && !(x == -1 && y == math.MinInt64) && !(y == -1 && x == math.MinInt64) {
					return p, nil
				}
			case over:
				if y != 0 && y != -1 && x%y == 0 {
					return x / y, nil
				}
			}
		}
	}
	for i, v := range [...]Value{a, b} {
		if !isNumber(v) {
			return nil, mismatch(operationNames[op], i, "a number", v)
		}
	}
	_, xf := a.(float64)
	_, yf := b.(float64)
	if xf || yf {
		if op == over && b == int64(0) {
			return nil, wrong("/: division by zero")
		}
		x, y := toFloat(a), toFloat(b)
		switch op {
		case plus:
			return x + y, nil
		case minus:
			return x - y, nil
		case times:
			if a == int64(0) || b == int64(0) {
				return int64(0), nil
			}
			return x * y, nil
		}
		return x / y, nil
	}
	if err := m.pay(a, b, op == times || op == over); err != nil {
		return nil, err
	}
	x, y := toBig(a), toBig(b)
	if x != nil && y != nil && op != over {
		return integer(combined(op, new(big.Int), x, y)), nil
	}
	// A rational is made smaller at once, which is a division.
	if err := m.pay(a, b, true); err != nil {
		return nil, err
	}
	p, q := toRat(a), toRat(b)
	switch {
	case op != over:
		return rational(combined(op, new(big.Rat), p, q)), nil
	case q.Sign() == 0:
		return nil, wrong("/: division by zero")
	}
	return rational(new(big.Rat).Quo(p, q)), nil
}

// exact is a number of [math/big] that is no float.
type exact[N any] interface {
	Add(x, y N) N
	Sub(x, y N) N
	Mul(x, y N) N
}

// combined is the sum, the difference or the product of two numbers, in the place of z.
func combined[N exact[N]](op operation, z, x, y N) N {
	switch op {
	case plus:
		return z.Add(x, y)
	case minus:
		return z.Sub(x, y)
	}
	return z.Mul(x, y)
}

func sign(v Value) int {
	switch x := v.(type) {
	case int64:
		switch {
		case x < 0:
			return -1
		case x > 0:
			return 1
		}
	case *big.Int:
		return x.Sign()
	case *big.Rat:
		return x.Sign()
	case float64:
		switch {
		case x < 0:
			return -1
		case x > 0:
			return 1
		}
	}
	return 0
}

// compare gives -1, 0 or 1; ok is false where one is not a number at all
// (NaN). Exact and inexact numbers are compared exactly.
func (m *Machine) compare(a, b Value) (c int, ok bool, err error) {
	if x, isInt := a.(int64); isInt {
		if y, isInt := b.(int64); isInt {
			return cmp.Compare(x, y), true, nil
		}
	}
	x, xf := a.(float64)
	y, yf := b.(float64)
	switch {
	case xf && x != x || yf && y != y:
		return 0, false, nil
	case xf && yf:
		return cmp.Compare(x, y), true, nil
	case xf && math.IsInf(x, 0):
		return sign(a), true, nil
	case yf && math.IsInf(y, 0):
		return -sign(b), true, nil
	}
	if err := m.pay(a, b, true); err != nil {
		return 0, false, err
	}
	if xf {
		a = exactOf(x)
	}
	if yf {
		b = exactOf(y)
	}
	if p, q := toBig(a), toBig(b); p != nil && q != nil {
		return p.Cmp(q), true, nil
	}
	return toRat(a).Cmp(toRat(b)), true, nil
}

// exactOf makes the exact number of a finite float.
func exactOf(f float64) Value {
	if f == math.Trunc(f) && math.Abs(f) < 1<<62 {
		return int64(f)
	}
	return rational(new(big.Rat).SetFloat64(f))
}

// divide gives quotient and remainder of two integers: truncated, or floored.
func (m *Machine) divide(who string, a, b Value, floored bool) (q, r Value, err error) {
	for i, v := range [...]Value{a, b} {
		if !isInteger(v) {
			return nil, nil, mismatch(who, i, "an integer", v)
		}
	}
	if sign(b) == 0 {
		return nil, nil, wrong("%s: division by zero", who)
	}
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok && y != -1 {
			q, r := x/y, x%y
			if floored && r != 0 && (r < 0) != (y < 0) {
				q, r = q-1, r+y
			}
			return q, r, nil
		}
	}
	_, xf := a.(float64)
	_, yf := b.(float64)
	inexact := xf || yf
	if xf {
		a = exactOf(a.(float64))
	}
	if yf {
		b = exactOf(b.(float64))
	}
	if err := m.pay(a, b, true); err != nil {
		return nil, nil, err
	}
	quo, rem := new(big.Int).QuoRem(toBig(a), toBig(b), new(big.Int))
	if floored && rem.Sign() != 0 && (rem.Sign() < 0) != (sign(b) < 0) {
		quo.Sub(quo, big.NewInt(1))
		rem.Add(rem, toBig(b))
	}
	q, r = integer(quo), integer(rem)
	if inexact {
		return toFloat(q), toFloat(r), nil
	}
	return q, r, nil
}

// expt raises to a power.
func (m *Machine) expt(base, power Value) (Value, error) {
	n, whole := power.(int64)
	if !isExact(base) || !whole && isExact(power) && !isBig(power) || !isExact(power) {
		b, p := toFloat(base), toFloat(power)
		if base == int64(0) && !isExact(power) && p > 0 {
			return int64(0), nil
		}
		f := math.Pow(b, p)
		if f != f && b == b && p == p {
			return nil, wrong("expt: the result is no real number")
		}
		if isExact(base) && isExact(power) {
			// The root may be exact: (expt 4 1/2).
			if r := exactIfWhole(f); r != nil {
				return r, nil
			}
		}
		return f, nil
	}
	switch base {
	case int64(0):
		if sign(power) < 0 {
			return nil, wrong("expt: division by zero")
		}
		if sign(power) == 0 {
			return int64(1), nil
		}
		return int64(0), nil
	case int64(1):
		return int64(1), nil
	case int64(-1):
		if toBig(power).Bit(0) == 0 {
			return int64(1), nil
		}
		return int64(-1), nil
	}
	if !whole {
		return nil, fatal{ErrMemory}
	}
	negative := n < 0
	if negative {
		n = -n
		if n < 0 {
			return nil, fatal{ErrMemory}
		}
	}
	// The result has about this many words; whether it may is asked before.
	bits := float64(64*words(base)) * float64(n)
	if x, ok := base.(int64); ok {
		bits = math.Log2(math.Abs(float64(x))) * float64(n)
	}
	if bits > 8*float64(m.limits.Memory) {
		return nil, fatal{ErrMemory}
	}
	w := int(bits/64) + 1
	if err := m.charge(8 * w); err != nil {
		return nil, err
	}
	if w > 1<<24 {
		return nil, fatal{ErrSteps}
	}
	if err := m.work(w + w/16*w); err != nil {
		return nil, err
	}
	var r Value
	if b := toBig(base); b != nil {
		r = integer(new(big.Int).Exp(b, big.NewInt(n), nil))
	} else {
		q := base.(*big.Rat)
		e := big.NewInt(n)
		r = rational(new(big.Rat).SetFrac(new(big.Int).Exp(q.Num(), e, nil), new(big.Int).Exp(q.Denom(), e, nil)))
	}
	if negative {
		return m.arith(over, int64(1), r)
	}
	return r, nil
}

func isBig(v Value) bool { _, ok := v.(*big.Int); return ok }

// exactIfWhole is the integer a small float stands for, or nil.
func exactIfWhole(f float64) Value {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return nil
}

// roundOf is floor, ceiling, truncate or round.
func (m *Machine) roundOf(who string, v Value) (Value, error) {
	switch x := v.(type) {
	case int64, *big.Int:
		return v, nil
	case float64:
		switch who {
		case "floor":
			return math.Floor(x), nil
		case "ceiling":
			return math.Ceil(x), nil
		case "truncate":
			return math.Trunc(x), nil
		}
		return math.RoundToEven(x), nil
	case *big.Rat:
		if err := m.pay(v, v, true); err != nil {
			return nil, err
		}
		one := big.NewInt(1)
		floor, rem := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int))
		up := new(big.Int).Add(floor, one)
		switch who {
		case "floor":
			return integer(floor), nil
		case "ceiling":
			return integer(up), nil
		case "truncate":
			if x.Sign() < 0 {
				return integer(up), nil
			}
			return integer(floor), nil
		}
		switch c := rem.Lsh(rem, 1).Cmp(x.Denom()); {
		case c < 0, c == 0 && floor.Bit(0) == 0:
			return integer(floor), nil
		}
		return integer(up), nil
	}
	return nil, mismatch(who, 0, "a real number", v)
}

// formatNumber writes a number. The work of a long one is the caller's.
func formatNumber(v Value, radix int) string {
	switch x := v.(type) {
	case int64:
		return strconv.FormatInt(x, radix)
	case *big.Int:
		return x.Text(radix)
	case *big.Rat:
		return x.Num().Text(radix) + "/" + x.Denom().Text(radix)
	case float64:
		switch {
		case x != x:
			return "+nan.0"
		case math.IsInf(x, 1):
			return "+inf.0"
		case math.IsInf(x, -1):
			return "-inf.0"
		case radix != 10 && x == math.Trunc(x):
			return formatNumber(rational(new(big.Rat).SetFloat64(x)), radix) + ".0"
		}
		s := strconv.FormatFloat(x, 'g', -1, 64)
		if a := math.Abs(x); a >= 1e-7 && a < 1e21 {
			s = strconv.FormatFloat(x, 'f', -1, 64)
		}
		mantissa, exp, has := strings.Cut(s, "e")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		if has {
			return mantissa + "e" + exp
		}
		return mantissa
	}
	return ""
}

// longestNumber bounds the digits of a number in a text: reading takes the
// square of their count.
const longestNumber = 100_000

// parseNumber reads a number, or gives nil: then it is a symbol, or nothing.
func parseNumber(s string, radix int) Value {
	exactness := byte(0)
	for len(s) >= 2 && s[0] == '#' {
		switch c := s[1] | 0x20; c {
		case 'x':
			radix = 16
		case 'b':
			radix = 2
		case 'o':
			radix = 8
		case 'd':
			radix = 10
		case 'e', 'i':
			if exactness != 0 {
				return nil
			}
			exactness = c
		default:
			return nil
		}
		s = s[2:]
	}
	if s == "" || len(s) > longestNumber {
		return nil
	}
	v := parseReal(s, radix, exactness == 'e')
	if v == nil {
		return nil
	}
	switch exactness {
	case 'e':
		if f, ok := v.(float64); ok {
			if f != f || math.IsInf(f, 0) {
				return nil
			}
			return exactOf(f)
		}
	case 'i':
		return toFloat(v)
	}
	return v
}

func parseReal(s string, radix int, exactly bool) Value {
	switch strings.ToLower(s) {
	case "+inf.0":
		return math.Inf(1)
	case "-inf.0":
		return math.Inf(-1)
	case "+nan.0", "-nan.0":
		return math.NaN()
	}
	body := s
	if body[0] == '+' || body[0] == '-' {
		body = body[1:]
	}
	if body == "" {
		return nil
	}
	if num, den, is := strings.Cut(body, "/"); is {
		if !digits(num, radix) || !digits(den, radix) {
			return nil
		}
		n, _ := new(big.Int).SetString(num, radix)
		d, _ := new(big.Int).SetString(den, radix)
		if d.Sign() == 0 {
			return nil
		}
		r := new(big.Rat).SetFrac(n, d)
		if s[0] == '-' {
			r.Neg(r)
		}
		return rational(r)
	}
	if digits(body, radix) {
		n, _ := new(big.Int).SetString(body, radix)
		if s[0] == '-' {
			n.Neg(n)
		}
		return integer(n)
	}
	if radix != 10 {
		return nil
	}
	mantissa, exp := body, ""
	// Old programs mark the precision with another letter: all floats are
	// double here.
	if i := strings.IndexAny(body, "eEsSfFdDlL"); i > 0 {
		mantissa, exp = body[:i], body[i+1:]
		e := strings.TrimLeft(exp, "+-")
		if len(exp)-len(e) > 1 || !digits(e, 10) {
			return nil
		}
	}
	whole, part, _ := strings.Cut(mantissa, ".")
	if whole == "" && part == "" || whole != "" && !digits(whole, 10) || part != "" && !digits(part, 10) {
		return nil
	}
	if exactly {
		// #e1.2 is 6/5; a huge exponent would be a huge number.
		if e, err := strconv.Atoi(exp); exp != "" && (err != nil || e > longestNumber || e < -longestNumber) {
			return nil
		}
		if exp != "" {
			mantissa += "e" + exp
		}
		if s[0] == '-' {
			mantissa = "-" + mantissa
		}
		if r, ok := new(big.Rat).SetString(mantissa); ok {
			return rational(r)
		}
		return nil
	}
	if exp != "" {
		mantissa += "e" + exp
	}
	if s[0] == '-' {
		mantissa = "-" + mantissa
	}
	f, err := strconv.ParseFloat(mantissa, 64)
	if err != nil && !math.IsInf(f, 0) {
		return nil
	}
	return f
}

func digits(s string, radix int) bool {
	for _, c := range []byte(s) {
		d := 99
		switch {
		case '0' <= c && c <= '9':
			d = int(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			d = int(c|0x20-'a') + 10
		}
		if d >= radix {
			return false
		}
	}
	return s != ""
}
