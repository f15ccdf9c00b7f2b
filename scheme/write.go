package scheme

import (
	"fmt"
	"math/big"
	"strings"
	"unicode"
)

// Write gives a value as a program would read it, circular parts labelled.
func Write(v Value) string { return writeLimited(v, 1<<20) }

// Display gives a value for people: texts and characters as they are.
func Display(v Value) string {
	w := &writer{display: true, left: 1 << 20}
	w.start(v, circular)
	return w.b.String()
}

func writeLimited(v Value, nodes int) string {
	w := &writer{left: nodes}
	w.start(v, circular)
	return w.b.String()
}

type sharing int

const (
	circular sharing = iota // labels where it would not end
	shared                  // labels for all that stands twice
	simple                  // no labels
)

// writer writes a datum. left bounds what it visits, so that a look at a
// large value stays cheap; m, where there is one, counts the work.
type writer struct {
	m       *Machine
	b       strings.Builder
	display bool
	left    int
	depth   int
	labels  map[Value]int // -1: wanted, not yet written
	next    int
	err     error
}

// write gives a value's text, the work counted.
func (m *Machine) write(v Value, display bool, how sharing) (string, error) {
	w := &writer{m: m, display: display, left: 1 << 30}
	w.start(v, how)
	return w.b.String(), w.err
}

func (w *writer) start(v Value, how sharing) {
	switch v.(type) {
	case *Pair, *Vector:
		if how != simple {
			w.label(v, how)
		}
	}
	if w.err == nil {
		w.value(v)
	}
}

// visit counts one part, and says whether to go on.
func (w *writer) visit() bool {
	if w.left--; w.left < 0 || w.err != nil {
		return false
	}
	if w.m != nil {
		if w.err = w.m.work(1); w.err == nil {
			w.err = w.m.charge(16)
		}
	}
	return w.err == nil
}

// label finds what must have one: what is reached again, from within itself
// or at all. The walk is its own stack: data can be deeper than Go's.
func (w *writer) label(v Value, how sharing) {
	const (
		open = 1
		done = 2
	)
	state := make(map[Value]int)
	type entry struct {
		v     Value
		leave bool
	}
	todo := []entry{{v: v}}
	budget := w.left
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at.leave {
			state[at.v] = done
			continue
		}
		switch at.v.(type) {
		case *Pair, *Vector:
		default:
			continue
		}
		if s := state[at.v]; s == open || s == done && how == shared {
			if w.labels == nil {
				w.labels = make(map[Value]int)
			}
			w.labels[at.v] = -1
			continue
		} else if s == done {
			continue
		}
		if budget--; budget < 0 {
			return
		}
		if w.m != nil {
			if w.err = w.m.work(1); w.err == nil {
				w.err = w.m.charge(64)
			}
			if w.err != nil {
				return
			}
		}
		state[at.v] = open
		todo = append(todo, entry{at.v, true})
		switch x := at.v.(type) {
		case *Pair:
			todo = append(todo, entry{v: x.Cdr}, entry{v: x.Car})
		case *Vector:
			for i := len(x.items) - 1; i >= 0; i-- {
				todo = append(todo, entry{v: x.items[i]})
			}
		}
	}
}

// labelled writes a label, and whether that was all.
func (w *writer) labelled(v Value) bool {
	n, ok := w.labels[v]
	if !ok {
		return false
	}
	if n >= 0 {
		fmt.Fprintf(&w.b, "#%d#", n)
		return true
	}
	n = w.next
	w.next++
	w.labels[v] = n
	fmt.Fprintf(&w.b, "#%d=", n)
	return false
}

var abbreviations = map[string]string{"quote": "'", "quasiquote": "`", "unquote": ",", "unquote-splicing": ",@"}

func (w *writer) value(v Value) {
	if !w.visit() {
		if w.left < 0 {
			w.b.WriteString("...")
		}
		return
	}
	if w.depth++; w.depth > deepest {
		w.b.WriteString("...")
		w.depth--
		if w.m != nil && w.err == nil {
			w.err = wrong("the data are nested more than %d deep", deepest)
		}
		return
	}
	defer func() { w.depth-- }()
	switch x := v.(type) {
	case *Pair:
		if w.labelled(x) {
			return
		}
		w.list(x)
	case *Vector:
		if w.labelled(x) {
			return
		}
		w.b.WriteString("#(")
		for i, item := range x.items {
			if i > 0 {
				w.b.WriteByte(' ')
			}
			if w.left <= 0 || w.err != nil {
				break
			}
			w.value(item)
		}
		w.b.WriteByte(')')
	case *String:
		w.cost(len(x.runes))
		switch {
		case w.err != nil:
		case w.display:
			w.b.WriteString(string(x.runes))
		default:
			w.text(x.runes)
		}
	case *Symbol:
		if w.display {
			w.b.WriteString(x.name)
		} else {
			w.b.WriteString(writeSymbol(x.name))
		}
	case Char:
		if w.display {
			w.b.WriteRune(rune(x))
			return
		}
		w.b.WriteString(`#\`)
		for name, c := range charNames {
			if c == rune(x) {
				w.b.WriteString(name)
				return
			}
		}
		if unicode.IsPrint(rune(x)) {
			w.b.WriteRune(rune(x))
		} else {
			fmt.Fprintf(&w.b, "x%x", rune(x))
		}
	case int64, float64:
		w.b.WriteString(formatNumber(x, 10))
	case *big.Int, *big.Rat:
		n := words(x)
		w.cost(n * n / 16)
		if w.err == nil && (w.m != nil || n < 1000) {
			w.b.WriteString(formatNumber(x, 10))
		} else {
			w.b.WriteString("#<a long number>")
		}
	case bool:
		if x {
			w.b.WriteString("#t")
		} else {
			w.b.WriteString("#f")
		}
	case *Bytes:
		w.cost(len(x.b))
		if w.err != nil {
			return
		}
		w.b.WriteString("#u8(")
		for i, c := range x.b {
			if i > 0 {
				w.b.WriteByte(' ')
			}
			fmt.Fprintf(&w.b, "%d", c)
		}
		w.b.WriteByte(')')
	case empty:
		w.b.WriteString("()")
	case unspecified:
		w.b.WriteString("#<unspecified>")
	case eof:
		w.b.WriteString("#<eof>")
	case *closure:
		w.named("procedure", x.name)
	case *primitive:
		w.named("procedure", x.name)
	case *choice, *continuation, *parameter:
		w.named("procedure", "")
	case *promise:
		w.b.WriteString("#<promise>")
	case *record:
		w.named(x.of.name, "")
	case *recordType:
		w.named("record-type", x.name)
	case *Condition:
		w.b.WriteString("#<condition ")
		w.text([]rune(x.Message))
		for _, v := range x.Irritants {
			if w.left <= 0 || w.err != nil {
				break
			}
			w.b.WriteByte(' ')
			w.value(v)
		}
		w.b.WriteByte('>')
	case *port:
		w.b.WriteString("#<port>")
	case *environment:
		w.b.WriteString("#<environment>")
	case *multiple:
		w.b.WriteString("#<values")
		for _, v := range x.items {
			w.b.WriteByte(' ')
			w.value(v)
		}
		w.b.WriteByte('>')
	case *ident:
		w.value(x.base())
	default:
		w.b.WriteString("#<object>")
	}
}

func (w *writer) cost(n int) {
	if w.m != nil && w.err == nil && n > 0 {
		if w.err = w.m.work(n / 8); w.err == nil {
			w.err = w.m.charge(n)
		}
	}
}

func (w *writer) named(kind, name string) {
	w.b.WriteString("#<")
	w.b.WriteString(strings.Trim(kind, "<>"))
	if name != "" {
		w.b.WriteByte(' ')
		w.b.WriteString(name)
	}
	w.b.WriteByte('>')
}

func (w *writer) list(p *Pair) {
	if sym, ok := p.Car.(*Symbol); ok {
		if mark, ok := abbreviations[sym.name]; ok {
			if rest, ok := p.Cdr.(*Pair); ok && rest.Cdr == Empty {
				if _, labelled := w.labels[rest]; !labelled {
					w.b.WriteString(mark)
					w.value(rest.Car)
					return
				}
			}
		}
	}
	w.b.WriteByte('(')
	w.value(p.Car)
	for {
		if w.err != nil {
			return
		}
		rest := p.Cdr
		if _, labelled := w.labels[rest]; labelled {
			w.b.WriteString(" . ")
			w.value(rest)
			break
		}
		next, ok := rest.(*Pair)
		if !ok {
			if rest != Empty {
				w.b.WriteString(" . ")
				w.value(rest)
			}
			break
		}
		w.b.WriteByte(' ')
		if w.left <= 0 {
			w.b.WriteString("...")
			break
		}
		w.value(next.Car)
		p = next
	}
	w.b.WriteByte(')')
}

func (w *writer) text(runes []rune) {
	w.b.WriteByte('"')
	for _, c := range runes {
		switch c {
		case '"', '\\':
			w.b.WriteByte('\\')
			w.b.WriteRune(c)
		case '\n':
			w.b.WriteString(`\n`)
		case '\t':
			w.b.WriteString(`\t`)
		case '\r':
			w.b.WriteString(`\r`)
		default:
			if unicode.IsPrint(c) {
				w.b.WriteRune(c)
			} else {
				fmt.Fprintf(&w.b, `\x%x;`, c)
			}
		}
	}
	w.b.WriteByte('"')
}

// writeSymbol writes a name so that it reads as this symbol again.
func writeSymbol(name string) string {
	plain := name != "" && name != "." && parseNumber(name, 10) == nil
	if plain {
		lower := strings.ToLower(name)
		for _, odd := range []string{"+i", "-i", "+inf.0", "-inf.0", "+nan.0", "-nan.0"} {
			if strings.HasPrefix(lower, odd) {
				plain = false
			}
		}
		if name[0] == '#' {
			plain = false
		}
	}
	for _, c := range name {
		if delimiter(c) || strings.ContainsRune("|'`,\\", c) || !unicode.IsPrint(c) {
			plain = false
		}
	}
	if plain {
		return name
	}
	var b strings.Builder
	b.WriteByte('|')
	for _, c := range name {
		switch {
		case c == '|' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		default:
			fmt.Fprintf(&b, `\x%x;`, c)
		}
	}
	b.WriteByte('|')
	return b.String()
}
