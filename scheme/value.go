package scheme

import (
	"math/big"
)

// Value is a datum or an object of a program. These are the types behind it:
//
//	int64, *big.Int, *big.Rat, float64   numbers, in their smallest form
//	bool, Char, *Symbol, *String, *Bytes, *Vector, *Pair
//	Empty, Unspecified, EOF
//	*Condition                           what error makes
//
// and others that only programs can use. A host makes and reads them with
// [List], [Text] and [Machine.Symbol].
type Value any

// Char is a character.
type Char rune

// Symbol is a name; two of one machine with the same name are the same.
type Symbol struct{ name string }

func (s *Symbol) String() string { return s.name }

// String is a text that programs may change.
type String struct {
	runes []rune
	mark  uint32
}

func (s *String) String() string { return string(s.runes) }

// Text makes a string of a program.
func Text(s string) *String { return &String{runes: []rune(s)} }

// Bytes is a bytevector.
type Bytes struct {
	b    []byte
	mark uint32
}

// Vector is a vector.
type Vector struct {
	items []Value
	mark  uint32
}

// NewVector makes a vector.
func NewVector(items ...Value) *Vector { return &Vector{items: items} }

// Items are those of the vector. They must not be changed.
func (v *Vector) Items() []Value { return v.items }

// Pair is a pair; lists are made of them.
type Pair struct {
	Car, Cdr Value
	mark     uint32
}

type (
	empty       struct{}
	unspecified struct{}
	eof         struct{}
	unassigned  struct{}
)

// Empty is the empty list, Unspecified what has no value worth using, EOF the
// end of a port.
var (
	Empty       Value = empty{}
	Unspecified Value = unspecified{}
	EOF         Value = eof{}
	// notYet is in a variable that has no value yet.
	notYet Value = unassigned{}
)

// List makes a list.
func List(items ...Value) Value { return listWith(items, Empty) }

func listWith(items []Value, tail Value) Value {
	for i := len(items) - 1; i >= 0; i-- {
		tail = &Pair{Car: items[i], Cdr: tail}
	}
	return tail
}

// Slice is the items of a proper list that is finite.
func Slice(v Value) (items []Value, ok bool) {
	slow := v
	for {
		switch p := v.(type) {
		case empty:
			return items, true
		case *Pair:
			items = append(items, p.Car)
			v = p.Cdr
			if len(items)%2 == 0 {
				slow = slow.(*Pair).Cdr
				if slow == v {
					if _, loop := v.(*Pair); loop {
						return nil, false
					}
				}
			}
		default:
			return nil, false
		}
	}
}

// multiple is several results at once.
type multiple struct {
	items []Value
	mark  uint32
}

// closure is a procedure of the program.
type closure struct {
	*lambda
	env  *scope
	mark uint32
}

// primitive is a procedure in Go.
type primitive struct {
	name     string
	min, max int // max < 0: any number
	// One of the two: the first cannot call back, the second continues the
	// machine itself.
	fn      func(m *Machine, args []Value) (Value, error)
	control func(m *Machine, args []Value) error
}

// choice is what case-lambda makes.
type choice struct {
	all  []*closure
	mark uint32
}

// continuation is what call/cc gives.
type continuation struct {
	k     *kont
	winds *wind
	hs    *handlers
	ps    *bindings
	mark  uint32
}

// parameter is what make-parameter makes; converters have run.
type parameter struct {
	value     Value
	converter Value // nil: none
	mark      uint32
}

// promise is shared by all that delay-force chains together.
type promise struct {
	box  *promiseBox
	mark uint32
}

type promiseBox struct {
	done  bool
	value Value // the value, or the thunk
	mark  uint32
}

type recordType struct {
	name   string
	fields []*Symbol
	mark   uint32
}

type record struct {
	of     *recordType
	fields []Value
	mark   uint32
}

// environment is what eval takes: there is one.
type environment struct{}

// Condition is what error makes, and what the machine raises.
type Condition struct {
	Message   string
	Irritants []Value
	kind      conditionKind
	pos       Pos
	mark      uint32
}

type conditionKind int

const (
	plain conditionKind = iota
	ofReading
	ofFiles
)

func (c *Condition) String() string {
	w := &writer{left: maxWritten, room: maxWritten}
	w.put(c.Message)
	for _, v := range c.Irritants {
		if w.full() {
			break
		}
		w.put(" ")
		w.start(v, circular)
	}
	return w.b.String()
}

func isProcedure(v Value) bool {
	switch v.(type) {
	case *closure, *primitive, *choice, *continuation, *parameter:
		return true
	}
	return false
}

// truth: everything but #f.
func truth(v Value) bool { return v != false }

// same is eqv?.
func same(a, b Value) bool {
	switch x := a.(type) {
	case *big.Int:
		y, ok := b.(*big.Int)
		return ok && x.Cmp(y) == 0
	case *big.Rat:
		y, ok := b.(*big.Rat)
		return ok && x.Cmp(y) == 0
	case float64:
		y, ok := b.(float64)
		return ok && sameFloat(x, y)
	case *String:
		y, ok := b.(*String)
		return ok && (x == y || len(x.runes) == 0 && len(y.runes) == 0)
	}
	return a == b
}

// both are two objects that are being compared.
type both struct{ a, b Value }

// equal is equal?. It ends on circular objects: two that are being compared
// are taken as equal while they are. The work is counted.
func (m *Machine) equal(a, b Value) (bool, error) {
	// Most comparisons are short: only long ones pay for the record.
	todo := []both{{a, b}}
	var seen map[both]bool
	count := 0
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		a, b = at.a, at.b
		if same(a, b) {
			continue
		}
		if count++; count > 200 {
			if seen == nil {
				seen = make(map[both]bool)
			}
			switch a.(type) {
			case *Pair, *Vector:
				if seen[at] {
					continue
				}
				if err := m.charge(64); err != nil {
					return false, err
				}
				seen[at] = true
			}
		}
		if err := m.work(1); err != nil {
			return false, err
		}
		switch x := a.(type) {
		case *Pair:
			y, ok := b.(*Pair)
			if !ok {
				return false, nil
			}
			todo = append(todo, both{x.Cdr, y.Cdr}, both{x.Car, y.Car})
		case *Vector:
			y, ok := b.(*Vector)
			if !ok || len(x.items) != len(y.items) {
				return false, nil
			}
			if err := m.work(len(x.items)); err != nil {
				return false, err
			}
			for i := len(x.items) - 1; i >= 0; i-- {
				todo = append(todo, both{x.items[i], y.items[i]})
			}
		case *String:
			y, ok := b.(*String)
			if !ok || string(x.runes) != string(y.runes) {
				return false, nil
			}
		case *Bytes:
			y, ok := b.(*Bytes)
			if !ok || string(x.b) != string(y.b) {
				return false, nil
			}
		default:
			return false, nil
		}
	}
	return true, nil
}
