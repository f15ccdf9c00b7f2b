package scheme

import (
	"strings"
	"unicode"
)

// reader reads data from a text. Places of pairs are kept beside them, for
// messages.
type reader struct {
	m     *Machine
	text  []rune
	at    int
	pos   Pos
	fold  bool
	depth int
	// places of the pairs that were read; nil where nobody wants them.
	places map[*Pair]Pos
	labels map[int64]*label
	closed bool // a ")" was read
	dotted bool // a "." was read
}

// label is #n= and its uses.
type label struct {
	value Value
	known bool
}

// deepest is how far data may be nested in a text, and be written.
const deepest = 10_000

func newReader(m *Machine, text []rune) *reader {
	return &reader{m: m, text: text, pos: Pos{1, 1}}
}

func (r *reader) fail(pos Pos, format string, args ...any) error {
	e := wrong(format, args...).(raised)
	c := e.v.(*Condition)
	c.kind, c.pos = ofReading, pos
	return e
}

func (r *reader) peek() rune {
	if r.at >= len(r.text) {
		return -1
	}
	return r.text[r.at]
}

func (r *reader) next() rune {
	if r.at >= len(r.text) {
		return -1
	}
	c := r.text[r.at]
	r.at++
	if c == '\n' {
		r.pos.Line++
		r.pos.Col = 1
	} else {
		r.pos.Col++
	}
	return c
}

// read gives the next datum, EOF at the end.
func (r *reader) read() (Value, error) {
	r.labels = nil
	start := r.pos
	v, err := r.datum()
	if err != nil {
		return nil, err
	}
	switch {
	case r.closed:
		r.closed = false
		return nil, r.fail(r.pos, "a ) without its (")
	case r.dotted:
		r.dotted = false
		return nil, r.fail(start, "a dot outside of a list")
	}
	if r.labels != nil {
		v = r.patch(v)
	}
	return v, nil
}

// blank passes over what is no datum.
func (r *reader) blank() error {
	for {
		switch c := r.peek(); {
		case c == ';':
			for c := r.peek(); c != '\n' && c != -1; c = r.peek() {
				r.next()
			}
		case c == '#' && r.at+1 < len(r.text) && r.text[r.at+1] == '|':
			start := r.pos
			r.next()
			r.next()
			for depth := 1; depth > 0; {
				switch c := r.next(); {
				case c == -1:
					return r.fail(start, "the comment that begins here has no end")
				case c == '|' && r.peek() == '#':
					r.next()
					depth--
				case c == '#' && r.peek() == '|':
					r.next()
					depth++
				}
			}
		case c == '#' && r.at+1 < len(r.text) && r.text[r.at+1] == ';':
			start := r.pos
			r.next()
			r.next()
			v, err := r.inner()
			if err != nil {
				return err
			}
			if v == EOF || r.closed || r.dotted {
				return r.fail(start, "nothing follows #;")
			}
		case c == '#' && r.at+1 < len(r.text) && r.text[r.at+1] == '!':
			start := r.pos
			r.next()
			r.next()
			switch word := r.word(); word {
			case "fold-case":
				r.fold = true
			case "no-fold-case":
				r.fold = false
			default:
				return r.fail(start, "#!%s is not known", word)
			}
		case c != -1 && unicode.IsSpace(c):
			r.next()
		default:
			return nil
		}
	}
}

func delimiter(c rune) bool {
	return c == -1 || unicode.IsSpace(c) || strings.ContainsRune(`()";`, c)
}

// word reads up to a delimiter.
func (r *reader) word() string {
	start := r.at
	for !delimiter(r.peek()) {
		r.next()
	}
	return string(r.text[start:r.at])
}

func (r *reader) inner() (Value, error) {
	if r.depth++; r.depth > deepest {
		return nil, r.fail(r.pos, "data are nested more than %d deep", deepest)
	}
	v, err := r.datum()
	r.depth--
	return v, err
}

func (r *reader) pair(pos Pos, car, cdr Value) (*Pair, error) {
	if err := r.m.charge(sizePair); err != nil {
		return nil, err
	}
	p := &Pair{Car: car, Cdr: cdr}
	if r.places != nil {
		r.places[p] = pos
	}
	return p, nil
}

func (r *reader) datum() (Value, error) {
	if err := r.m.work(1); err != nil {
		return nil, err
	}
	if err := r.blank(); err != nil {
		return nil, err
	}
	pos := r.pos
	c := r.next()
	switch c {
	case -1:
		return EOF, nil
	case '(':
		return r.list(pos)
	case ')':
		r.closed = true
		return nil, nil
	case '\'':
		return r.quoted(pos, "quote")
	case '`':
		return r.quoted(pos, "quasiquote")
	case ',':
		if r.peek() == '@' {
			r.next()
			return r.quoted(pos, "unquote-splicing")
		}
		return r.quoted(pos, "unquote")
	case '"':
		runes, err := r.quotedText(pos, '"')
		return &String{runes: runes}, err
	case '|':
		return r.symbol(pos, "")
	case '#':
		return r.hash(pos)
	}
	r.at--
	r.pos.Col--
	start := r.at
	for c := r.peek(); !delimiter(c) && c != '|'; c = r.peek() {
		r.next()
	}
	word := string(r.text[start:r.at])
	if r.peek() == '|' {
		return r.symbol(pos, word)
	}
	if word == "." {
		r.dotted = true
		return nil, nil
	}
	if err := r.m.work(len(word) * len(word) / 256); err != nil {
		return nil, err
	}
	if n := parseNumber(word, 10); n != nil {
		return n, r.m.charge(len(word))
	}
	if strings.ContainsAny(word, "'`,") {
		return nil, r.fail(pos, "a quote within the word %s", word)
	}
	if r.fold {
		word = foldCase(word)
	}
	return r.m.intern(word)
}

// symbol reads one with |...| in it; before is what stood before the bar.
func (r *reader) symbol(pos Pos, before string) (Value, error) {
	name := before
	if before != "" {
		r.next()
	}
	for {
		runes, err := r.quotedText(pos, '|')
		if err != nil {
			return nil, err
		}
		name += string(runes)
		name += func() string {
			start := r.at
			for c := r.peek(); !delimiter(c) && c != '|'; c = r.peek() {
				r.next()
			}
			return string(r.text[start:r.at])
		}()
		if r.peek() != '|' {
			return r.m.intern(name)
		}
		r.next()
	}
}

func (r *reader) quoted(pos Pos, name string) (Value, error) {
	v, err := r.inner()
	if err != nil {
		return nil, err
	}
	if v == EOF || r.closed || r.dotted {
		return nil, r.fail(pos, "nothing follows the quote")
	}
	sym, err := r.m.intern(name)
	if err != nil {
		return nil, err
	}
	rest, err := r.pair(pos, v, Empty)
	if err != nil {
		return nil, err
	}
	return r.pair(pos, sym, rest)
}

// ending is what stands in a list where a datum could.
type ending int

const (
	datum ending = iota
	closed
	dotted
)

// member reads the next of what began at pos: a datum, or what stands in its place.
func (r *reader) member(pos Pos, of string) (v Value, end ending, err error) {
	if v, err = r.inner(); err != nil {
		return nil, datum, err
	}
	switch {
	case r.closed:
		r.closed, end = false, closed
	case r.dotted:
		r.dotted, end = false, dotted
	case v == EOF:
		err = r.fail(pos, "the %s that begins here has no end", of)
	}
	return v, end, err
}

func (r *reader) list(pos Pos) (Value, error) {
	first := Empty
	var last *Pair
	for {
		v, end, err := r.member(pos, "list")
		switch {
		case err != nil:
			return nil, err
		case end == closed:
			return first, nil
		case end == dotted:
			if last == nil {
				return nil, r.fail(pos, "nothing before the dot")
			}
			return first, r.tail(pos, last)
		}
		p, err := r.pair(pos, v, Empty)
		if err != nil {
			return nil, err
		}
		if last == nil {
			first = p
		} else {
			last.Cdr = p
		}
		last = p
	}
}

// tail reads what stands behind the dot of a list that began at pos.
func (r *reader) tail(pos Pos, last *Pair) (err error) {
	if last.Cdr, err = r.inner(); err != nil {
		return err
	}
	if last.Cdr == EOF || r.closed || r.dotted {
		return r.fail(pos, "nothing behind the dot")
	}
	_, end, err := r.member(pos, "list")
	if err == nil && end != closed {
		err = r.fail(pos, "more than one datum behind the dot")
	}
	return err
}

// items reads data up to a ).
func (r *reader) items(pos Pos) ([]Value, error) {
	var items []Value
	for {
		v, end, err := r.member(pos, "vector")
		switch {
		case err != nil:
			return nil, err
		case end == closed:
			return items, nil
		case end == dotted:
			return nil, r.fail(pos, "a dot in a vector")
		}
		if err := r.m.charge(sizeValue); err != nil {
			return nil, err
		}
		items = append(items, v)
	}
}

var charNames = map[string]rune{"alarm": 7, "backspace": 8, "delete": 127, "escape": 27, "newline": '\n', "null": 0, "return": '\r', "space": ' ', "tab": '\t'}

func (r *reader) hash(pos Pos) (Value, error) {
	switch c := r.peek(); {
	case c == '(':
		r.next()
		items, err := r.items(pos)
		return &Vector{items: items}, err
	case c == '\\':
		r.next()
		if r.peek() == -1 {
			return nil, r.fail(pos, "no character behind #\\")
		}
		start := r.at
		r.next()
		for !delimiter(r.peek()) {
			r.next()
		}
		return r.char(pos, r.text[start:r.at])
	case c >= '0' && c <= '9':
		start := r.at
		n := int64(0)
		for c := r.peek(); c >= '0' && c <= '9' && r.at-start < 9; c = r.peek() {
			n = 10*n + int64(c-'0')
			r.next()
		}
		return r.labelled(pos, n)
	}
	start := r.at
	word := r.word()
	switch strings.ToLower(word) {
	case "t", "true":
		return true, nil
	case "f", "false":
		return false, nil
	case "u8":
		if r.peek() != '(' {
			break
		}
		r.next()
		items, err := r.items(pos)
		if err != nil {
			return nil, err
		}
		b := make([]byte, len(items))
		for i, v := range items {
			n, ok := v.(int64)
			if !ok || n < 0 || n > 255 {
				return nil, r.fail(pos, "%s is no byte", brief(v))
			}
			b[i] = byte(n)
		}
		return &Bytes{b: b}, nil
	}
	if err := r.m.work(len(word) * len(word) / 256); err != nil {
		return nil, err
	}
	if n := parseNumber("#"+word, 10); n != nil {
		return n, r.m.charge(len(word))
	}
	return nil, r.fail(pos, "#%s is not known", string(r.text[start:min(r.at, start+20)]))
}

func (r *reader) char(pos Pos, name []rune) (Value, error) {
	if len(name) == 1 {
		return Char(name[0]), nil
	}
	word := string(name)
	if r.fold {
		word = foldCase(word)
	}
	if c, ok := charNames[word]; ok {
		return Char(c), nil
	}
	if name[0] == 'x' || name[0] == 'X' {
		if c, ok := scalar(word[1:]); ok {
			return Char(c), nil
		}
	}
	return nil, r.fail(pos, "#\\%s is no character", word)
}

// scalar reads hexadecimal digits as a character.
func scalar(hex string) (rune, bool) {
	n := rune(0)
	if hex == "" || len(hex) > 8 || !digits(hex, 16) {
		return 0, false
	}
	v := parseNumber(hex, 16).(int64)
	if v > unicode.MaxRune || v >= 0xD800 && v < 0xE000 {
		return 0, false
	}
	n = rune(v)
	return n, true
}

// quotedText reads up to the closing quote.
func (r *reader) quotedText(pos Pos, end rune) ([]rune, error) {
	var out []rune
	for {
		c := r.next()
		if len(out)%1024 == 1023 {
			if err := r.m.work(64); err != nil {
				return nil, err
			}
		}
		switch c {
		case -1:
			return nil, r.fail(pos, "the %c that begins here has no end", end)
		case end:
			return out, r.m.charge(4 * len(out))
		case '\\':
			switch c := r.next(); c {
			case 'a':
				out = append(out, 7)
			case 'b':
				out = append(out, 8)
			case 't':
				out = append(out, '\t')
			case 'n':
				out = append(out, '\n')
			case 'r':
				out = append(out, '\r')
			case '"', '\\', '|':
				out = append(out, c)
			case 'x', 'X':
				start := r.at
				for c := r.peek(); c != ';' && c != -1 && c != end; c = r.peek() {
					r.next()
				}
				v, ok := scalar(string(r.text[start:r.at]))
				if !ok || r.next() != ';' {
					return nil, r.fail(pos, "\\x%s is no character", brief(Text(string(r.text[start:min(r.at, start+20)]))))
				}
				out = append(out, v)
			case '\n', ' ', '\t', '\r':
				for c == ' ' || c == '\t' || c == '\r' {
					c = r.next()
				}
				if c != '\n' {
					return nil, r.fail(pos, "blanks behind a \\ that no line's end follows")
				}
				for c := r.peek(); c == ' ' || c == '\t'; c = r.peek() {
					r.next()
				}
			default:
				return nil, r.fail(pos, "\\%c is not known", c)
			}
		default:
			out = append(out, c)
		}
	}
}

func (r *reader) labelled(pos Pos, n int64) (Value, error) {
	switch r.next() {
	case '#':
		if l := r.labels[n]; l != nil {
			if l.known {
				return l.value, nil
			}
			return l, nil
		}
		return nil, r.fail(pos, "#%d# has no #%d=", n, n)
	case '=':
		if r.labels == nil {
			r.labels = make(map[int64]*label)
		}
		l := &label{}
		r.labels[n] = l
		v, err := r.inner()
		if err != nil {
			return nil, err
		}
		if v == EOF || r.closed || r.dotted || v == Value(l) {
			return nil, r.fail(pos, "nothing follows #%d=", n)
		}
		l.value, l.known = v, true
		return v, nil
	}
	return nil, r.fail(pos, "#%d must be followed by = or #", n)
}

// patch puts what labels stand for where they were used.
func (r *reader) patch(v Value) Value {
	seen := make(map[Value]bool)
	resolve := func(v Value) Value {
		if l, ok := v.(*label); ok {
			return l.value
		}
		return v
	}
	v = resolve(v)
	todo := []Value{v}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch x := at.(type) {
		case *Pair:
			if !seen[x] {
				seen[x] = true
				x.Car, x.Cdr = resolve(x.Car), resolve(x.Cdr)
				todo = append(todo, x.Car, x.Cdr)
			}
		case *Vector:
			if !seen[x] {
				seen[x] = true
				for i := range x.items {
					x.items[i] = resolve(x.items[i])
				}
				todo = append(todo, x.items...)
			}
		}
	}
	return v
}
