package scheme

import (
	"fmt"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWritten is how much of a value is written for whoever holds it outside of a
// program: in bytes, and in parts.
const maxWritten = 1 << 20

// Write gives a value as a program would read it, circular parts labelled. Of more
// than a million bytes or parts it gives the beginning, and "..." after that.
func Write(v Value) string { return writeLimited(v, maxWritten, false) }

// Display gives a value for people: texts and characters as they are. It ends where
// Write does.
func Display(v Value) string { return writeLimited(v, maxWritten, true) }

func writeLimited(v Value, most int, display bool) string {
	w := &writer{display: display, left: most, room: most}
	w.start(v, circular)
	return w.b.String()
}

type sharing int

const (
	circular sharing = iota // labels where it would not end
	shared                  // labels for all that stands twice
	simple                  // no labels
)

// writer writes a datum. left bounds what it visits, and room what it writes, in
// bytes: a small value may hold a long text many times. m, where there is one, counts
// the work, and what has no room ends the program; what is being written is not to
// be found by [Machine.count].
type writer struct {
	m       *Machine
	b       strings.Builder
	display bool
	left    int
	room    int
	depth   int
	labels  map[Value]int // -1: wanted, not yet written
	next    int
	err     error
}

// writtenShare is the part of a program's memory that one text may take while it is
// written: it is kept in bytes, grown by doubling, and then in characters of four.
const writtenShare = 8

// write gives a value's text, the work counted.
func (m *Machine) write(v Value, display bool, how sharing) (string, error) {
	w := &writer{m: m, display: display, left: 1 << 30, room: int(min(m.limits.Memory/writtenShare, 1<<30))}
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

// put writes a text, as far as there is room.
func (w *writer) put(s string) {
	if w.err != nil || w.room < 0 {
		return
	}
	if w.m != nil {
		if w.err = w.m.charge(len(s)); w.err != nil {
			return
		}
	}
	if len(s) <= w.room {
		w.room -= len(s)
		w.b.WriteString(s)
		return
	}
	if w.m != nil {
		w.err = fatal{ErrMemory}
		return
	}
	end := w.room
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	w.b.WriteString(s[:end] + "...")
	w.room = -1
}

func (w *writer) putf(format string, args ...any) { w.put(fmt.Sprintf(format, args...)) }

// full says that there is no room for more.
func (w *writer) full() bool { return w.room < 0 || w.err != nil }

// visit counts one part, and says whether to go on.
func (w *writer) visit() bool {
	if w.left--; w.left < 0 || w.full() {
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
		w.putf("#%d#", n)
		return true
	}
	n = w.next
	w.next++
	w.labels[v] = n
	w.putf("#%d=", n)
	return false
}

var abbreviations = map[string]string{"quote": "'", "quasiquote": "`", "unquote": ",", "unquote-splicing": ",@"}

func (w *writer) value(v Value) {
	if !w.visit() {
		if w.left < 0 {
			w.put("...")
		}
		return
	}
	if w.depth++; w.depth > deepest {
		w.put("...")
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
		w.put("#(")
		for i, item := range x.items {
			if i > 0 {
				w.put(" ")
			}
			if w.left <= 0 || w.full() {
				break
			}
			w.value(item)
		}
		w.put(")")
	case *String:
		if w.cost(len(x.runes)); w.display {
			w.put(string(x.runes[:min(len(x.runes), max(w.room, 0)+1)]))
		} else {
			w.text(x.runes)
		}
	case *Symbol:
		if w.cost(len(x.name)); w.display {
			w.put(x.name)
		} else {
			w.put(writeSymbol(x.name))
		}
	case Char:
		if w.display {
			w.put(string(rune(x)))
			return
		}
		w.put(`#\`)
		for name, c := range charNames {
			if c == rune(x) {
				w.put(name)
				return
			}
		}
		if unicode.IsPrint(rune(x)) {
			w.put(string(rune(x)))
		} else {
			w.putf("x%x", rune(x))
		}
	case int64, float64:
		w.put(formatNumber(x, 10))
	case *big.Int, *big.Rat:
		n := words(x)
		w.cost(n * n / 16)
		if w.err == nil && (w.m != nil || n < 1000) {
			w.put(formatNumber(x, 10))
		} else {
			w.put("#<a long number>")
		}
	case bool:
		if x {
			w.put("#t")
		} else {
			w.put("#f")
		}
	case *Bytes:
		w.cost(len(x.b))
		if w.err != nil {
			return
		}
		w.put("#u8(")
		for i, c := range x.b {
			if w.full() {
				break
			}
			if i > 0 {
				w.put(" ")
			}
			w.putf("%d", c)
		}
		w.put(")")
	case empty:
		w.put("()")
	case unspecified:
		w.put("#<unspecified>")
	case eof:
		w.put("#<eof>")
	case *closure:
		w.named("procedure", x.name)
	case *primitive:
		w.named("procedure", x.name)
	case *choice, *continuation, *parameter:
		w.named("procedure", "")
	case *promise:
		w.put("#<promise>")
	case *record:
		w.named(x.of.name, "")
	case *recordType:
		w.named("record-type", x.name)
	case *Condition:
		w.put("#<condition ")
		w.cost(len(x.Message))
		w.quoted(x.Message)
		for _, v := range x.Irritants {
			if w.left <= 0 || w.full() {
				break
			}
			w.put(" ")
			w.value(v)
		}
		w.put(">")
	case *port:
		w.put("#<port>")
	case *environment:
		w.put("#<environment>")
	case *multiple:
		w.put("#<values")
		for _, v := range x.items {
			if w.left <= 0 || w.full() {
				break
			}
			w.put(" ")
			w.value(v)
		}
		w.put(">")
	case *ident:
		w.value(x.base())
	default:
		w.put("#<object>")
	}
}

// cost counts the work of a text of n characters.
func (w *writer) cost(n int) {
	if w.m != nil && w.err == nil && n > 0 {
		w.err = w.m.work(n / 8)
	}
}

func (w *writer) named(kind, name string) {
	w.cost(len(kind) + len(name))
	w.put("#<")
	w.put(strings.Trim(kind, "<>"))
	if name != "" {
		w.put(" ")
		w.put(name)
	}
	w.put(">")
}

func (w *writer) list(p *Pair) {
	if sym, ok := p.Car.(*Symbol); ok {
		if mark, ok := abbreviations[sym.name]; ok {
			if rest, ok := p.Cdr.(*Pair); ok && rest.Cdr == Empty {
				if _, labelled := w.labels[rest]; !labelled {
					w.put(mark)
					w.value(rest.Car)
					return
				}
			}
		}
	}
	w.put("(")
	w.value(p.Car)
	for {
		if w.full() {
			return
		}
		rest := p.Cdr
		if _, labelled := w.labels[rest]; labelled {
			w.put(" . ")
			w.value(rest)
			break
		}
		next, ok := rest.(*Pair)
		if !ok {
			if rest != Empty {
				w.put(" . ")
				w.value(rest)
			}
			break
		}
		w.put(" ")
		if w.left <= 0 {
			w.put("...")
			break
		}
		w.value(next.Car)
		p = next
	}
	w.put(")")
}

func (w *writer) text(runes []rune) {
	w.put(`"`)
	for _, c := range runes {
		if w.full() {
			return
		}
		w.character(c)
	}
	w.put(`"`)
}

func (w *writer) quoted(text string) {
	w.put(`"`)
	for _, c := range text {
		if w.full() {
			return
		}
		w.character(c)
	}
	w.put(`"`)
}

// character writes one of a text.
func (w *writer) character(c rune) {
	switch c {
	case '"', '\\':
		w.put("\\")
		w.put(string(c))
	case '\n':
		w.put(`\n`)
	case '\t':
		w.put(`\t`)
	case '\r':
		w.put(`\r`)
	default:
		if unicode.IsPrint(c) {
			w.put(string(c))
		} else {
			w.putf(`\x%x;`, c)
		}
	}
}

// writeSymbol writes a name so that it reads as this symbol again.
func writeSymbol(name string) string {
	// Whether a long one is a number is not worth finding out.
	plain := name != "" && name != "." && len(name) < 1000 && parseNumber(name, 10) == nil
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
