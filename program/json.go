package program

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"assent/job"
	"assent/scheme"
)

// JSON is in programs as SRFI 180 has it: an object is an association list with symbols,
// an array a vector, null the symbol null. Beside that a list that is no such one is an
// array, for programs have lists at hand.

// deepest is how deeply what a program gives may be nested. No tool takes more than a
// few.
const deepest = 100

// argumentsOf are the arguments of a call as JSON: what the tool needs in its order, and
// then each other behind its name.
func argumentsOf(m *scheme.Machine, t job.Tool, args []scheme.Value) ([]byte, error) {
	var members []member
	i := 0
	for ; i < len(args); i++ {
		if _, name := args[i].(*scheme.Symbol); name {
			break
		}
		if i >= len(t.Needs) {
			return nil, fmt.Errorf("%s: argument %d needs its name before it, as in 'name value", t.Name, i+1)
		}
		members = append(members, member{t.Needs[i], args[i]})
	}
	for ; i < len(args); i += 2 {
		name, ok := args[i].(*scheme.Symbol)
		if !ok || i+1 == len(args) {
			return nil, fmt.Errorf("%s: behind the first arguments stand names, each with its value", t.Name)
		}
		members = append(members, member{name.String(), args[i+1]})
	}
	w := writer{m: m}
	if err := w.members(members, 0); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return w.b.Bytes(), nil
}

type member struct {
	name  string
	value scheme.Value
}

var (
	errDeep = fmt.Errorf("what is given is nested more than %d deep", deepest)
	errLong = fmt.Errorf("what is given takes more than %d bytes", job.MaxArguments)
)

// object is an association list as JSON.
func object(m *scheme.Machine, v scheme.Value) ([]byte, error) {
	items, _ := scheme.Slice(v)
	if err := m.Spend(len(items)); err != nil {
		return nil, err
	}
	members, ok := membersOf(items)
	if !ok {
		return nil, errors.New("the arguments are no association list with symbols")
	}
	w := writer{m: m}
	err := w.members(members, 0)
	return w.b.Bytes(), err
}

// membersOf are those of an association list that is not empty.
func membersOf(items []scheme.Value) ([]member, bool) {
	var members []member
	for _, item := range items {
		p, ok := item.(*scheme.Pair)
		if !ok {
			return nil, false
		}
		name, ok := p.Car.(*scheme.Symbol)
		if !ok {
			return nil, false
		}
		members = append(members, member{name.String(), p.Cdr})
	}
	return members, len(members) > 0
}

// writer writes what a program gives. A program chooses how much that is: it is counted.
type writer struct {
	m *scheme.Machine
	b bytes.Buffer
}

// members writes an object.
func (w *writer) members(members []member, depth int) error {
	told := make(map[string]bool, len(members))
	w.b.WriteByte('{')
	for i, m := range members {
		if told[m.name] {
			return fmt.Errorf("%s is given twice", clipTo(m.name, 100))
		}
		told[m.name] = true
		if i > 0 {
			w.b.WriteByte(',')
		}
		w.quote(m.name)
		w.b.WriteByte(':')
		if err := w.write(m.value, depth+1); err != nil {
			return err
		}
	}
	w.b.WriteByte('}')
	return nil
}

func (w *writer) write(v scheme.Value, depth int) error {
	before := w.b.Len()
	defer func() { _ = w.m.Spend((w.b.Len() - before) / 16) }() // whoever writes next finds that it was too much
	if err := w.m.Spend(1); err != nil {
		return err
	}
	switch {
	case depth > deepest:
		return errDeep
	case before > job.MaxArguments:
		return errLong
	}
	switch v := v.(type) {
	case bool:
		w.b.WriteString(strconv.FormatBool(v))
	case int64:
		w.b.WriteString(strconv.FormatInt(v, 10))
	case *big.Int:
		return w.big(v)
	case *big.Rat:
		f, _ := v.Float64()
		return w.number(f)
	case float64:
		return w.number(v)
	case *scheme.String:
		w.quote(v.String())
	case *scheme.Symbol:
		if v.String() == "null" {
			w.b.WriteString("null")
		} else {
			w.quote(v.String())
		}
	case *scheme.Vector:
		return w.array(v.Items(), depth)
	default:
		items, ok := scheme.Slice(v)
		if err := w.m.Spend(len(items)); err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s is nothing that a tool takes", scheme.Brief(v))
		}
		if members, are := membersOf(items); are {
			return w.members(members, depth)
		}
		return w.array(items, depth)
	}
	return nil
}

func (w *writer) array(items []scheme.Value, depth int) error {
	w.b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			w.b.WriteByte(',')
		}
		if err := w.write(item, depth+1); err != nil {
			return err
		}
	}
	w.b.WriteByte(']')
	return nil
}

func (w *writer) number(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%v is no number of JSON", f)
	}
	w.b.Write(strconv.AppendFloat(nil, f, 'g', -1, 64))
	return nil
}

// big writes a number as long as any tool reads.
func (w *writer) big(n *big.Int) error {
	if n.BitLen() > 1024 {
		return errors.New("a number is longer than any tool reads")
	}
	w.b.WriteString(n.String())
	return nil
}

// quote writes a text. What is no character becomes U+FFFD.
func (w *writer) quote(text string) {
	quoted, _ := jsontext.AppendQuote(nil, text) // its error is about such characters
	w.b.Write(quoted)
}

// value is JSON as a program has it.
func value(m *scheme.Machine, text jsontext.Value) (scheme.Value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	return read(m, d)
}

func read(m *scheme.Machine, d *jsontext.Decoder) (scheme.Value, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return scheme.Text(token.String()), nil
	case '0':
		return numberOf(token.String()), nil
	case '{':
		var members []scheme.Value
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			at, err := m.Intern(name.String())
			if err != nil {
				return nil, err
			}
			v, err := read(m, d)
			if err != nil {
				return nil, err
			}
			members = append(members, &scheme.Pair{Car: at, Cdr: v})
		}
		_, err := d.ReadToken()
		return scheme.List(members...), err
	case '[':
		var items []scheme.Value
		for d.PeekKind() != ']' {
			v, err := read(m, d)
			if err != nil {
				return nil, err
			}
			items = append(items, v)
		}
		_, err := d.ReadToken()
		return scheme.NewVector(items...), err
	}
	return m.Symbol("null"), nil
}

// numberOf is a number as it is written: one without a fraction is exact.
func numberOf(text string) scheme.Value {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if n, ok := new(big.Int).SetString(text, 10); ok {
		return n
	}
	f, _ := strconv.ParseFloat(text, 64) // the nearest there is
	return f
}
