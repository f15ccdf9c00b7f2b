package scheme

import (
	"io"
	"unicode/utf8"
)

// port is one in memory, or the output of the machine: there are no others.
type port struct {
	out, text bool
	open      bool
	runes     []rune // to be read, or written so far
	bytes     []byte
	at        int
	fold      bool
	machine   *Machine // where this is the machine's own output
	mark      uint32
}

func textInput(runes []rune) *port { return &port{text: true, open: true, runes: runes} }

func (m *Machine) installPorts() {
	is := func(name string, f func(v Value) bool) {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) { return f(a[0]), nil })
	}
	kind := func(f func(p *port) bool) func(v Value) bool {
		return func(v Value) bool { p, ok := v.(*port); return ok && f(p) }
	}
	is("port?", kind(func(*port) bool { return true }))
	is("input-port?", kind(func(p *port) bool { return !p.out }))
	is("output-port?", kind(func(p *port) bool { return p.out }))
	is("textual-port?", kind(func(p *port) bool { return p.text }))
	is("binary-port?", kind(func(p *port) bool { return !p.text }))
	is("eof-object?", func(v Value) bool { return v == EOF })
	for name, out := range map[string]bool{"input-port-open?": false, "output-port-open?": true} {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) {
			p, ok := a[0].(*port)
			if !ok || p.out != out {
				return nil, mismatch(name, 0, "such a port", a[0])
			}
			return p.open, nil
		})
	}
	for _, name := range []string{"close-port", "close-input-port", "close-output-port"} {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) {
			p, ok := a[0].(*port)
			if !ok {
				return nil, mismatch(name, 0, "a port", a[0])
			}
			p.open = p.machine != nil
			return Unspecified, nil
		})
	}
	m.prim("eof-object", 0, 0, func(*Machine, args) (Value, error) { return EOF, nil })
	value := func(name string, v Value) {
		s := m.Symbol(name)
		m.globals[s] = &cell{name: s, value: v}
	}
	value("current-input-port", &parameter{value: m.inPort, converter: false})
	out := &parameter{value: m.outPort, converter: false}
	value("current-output-port", out)
	value("current-error-port", &parameter{value: m.outPort, converter: false})
	in := m.globals[m.Symbol("current-input-port")].value.(*parameter)
	m.prim("open-input-string", 1, 1, func(m *Machine, a args) (Value, error) {
		s, err := textArg("open-input-string", a, 0)
		if err != nil {
			return nil, err
		}
		return textInput(append([]rune(nil), s.runes...)), m.room(len(s.runes)+16, 4)
	})
	m.prim("open-output-string", 0, 0, func(m *Machine, _ args) (Value, error) {
		return &port{out: true, text: true, open: true}, m.charge(2 * sizeObject)
	})
	m.prim("open-input-bytevector", 1, 1, func(m *Machine, a args) (Value, error) {
		b, ok := a[0].(*Bytes)
		if !ok {
			return nil, mismatch("open-input-bytevector", 0, "a bytevector", a[0])
		}
		return &port{open: true, bytes: append([]byte(nil), b.b...)}, m.room(len(b.b)+16, 4)
	})
	m.prim("open-output-bytevector", 0, 0, func(m *Machine, _ args) (Value, error) {
		return &port{out: true, open: true}, m.charge(2 * sizeObject)
	})
	m.prim("get-output-string", 1, 1, func(m *Machine, a args) (Value, error) {
		p, ok := a[0].(*port)
		if !ok || !p.out || !p.text || p.machine != nil {
			return nil, mismatch("get-output-string", 0, "a port of open-output-string", a[0])
		}
		return &String{runes: append([]rune(nil), p.runes...)}, m.room(len(p.runes)+12, 4)
	})
	m.prim("get-output-bytevector", 1, 1, func(m *Machine, a args) (Value, error) {
		p, ok := a[0].(*port)
		if !ok || !p.out || p.text {
			return nil, mismatch("get-output-bytevector", 0, "a port of open-output-bytevector", a[0])
		}
		return &Bytes{b: append([]byte(nil), p.bytes...)}, m.room(len(p.bytes)+48, 1)
	})
	// from is the port that is read, at a[i] or the present one.
	from := func(who string, m *Machine, a args, i int, text bool) (*port, error) {
		var v Value
		if len(a) > i {
			v = a[i]
		} else {
			v = m.parameter(in)
		}
		p, ok := v.(*port)
		if !ok || p.out || p.text != text {
			return nil, mismatch(who, i, "a port to read from", v)
		}
		if !p.open {
			return nil, wrong("%s: the port is closed", who)
		}
		return p, nil
	}
	to := func(who string, m *Machine, a args, i int, text bool) (*port, error) {
		var v Value
		if len(a) > i {
			v = a[i]
		} else {
			v = m.parameter(out)
		}
		p, ok := v.(*port)
		if !ok || !p.out || p.text != text {
			return nil, mismatch(who, i, "a port to write to", v)
		}
		if !p.open {
			return nil, wrong("%s: the port is closed", who)
		}
		return p, nil
	}
	for name, step := range map[string]int{"read-char": 1, "peek-char": 0} {
		m.prim(name, 0, 1, func(m *Machine, a args) (Value, error) {
			p, err := from(name, m, a, 0, true)
			if err != nil || p.at >= len(p.runes) {
				return EOF, err
			}
			c := p.runes[p.at]
			p.at += step
			return Char(c), nil
		})
	}
	for name, step := range map[string]int{"read-u8": 1, "peek-u8": 0} {
		m.prim(name, 0, 1, func(m *Machine, a args) (Value, error) {
			p, err := from(name, m, a, 0, false)
			if err != nil || p.at >= len(p.bytes) {
				return EOF, err
			}
			c := p.bytes[p.at]
			p.at += step
			return int64(c), nil
		})
	}
	for name, text := range map[string]bool{"char-ready?": true, "u8-ready?": false} {
		m.prim(name, 0, 1, func(m *Machine, a args) (Value, error) {
			_, err := from(name, m, a, 0, text)
			return err == nil, err
		})
	}
	m.prim("read-line", 0, 1, func(m *Machine, a args) (Value, error) {
		p, err := from("read-line", m, a, 0, true)
		if err != nil || p.at >= len(p.runes) {
			return EOF, err
		}
		end := p.at
		for end < len(p.runes) && p.runes[end] != '\n' {
			end++
		}
		line := append([]rune(nil), p.runes[p.at:end]...)
		p.at = min(end+1, len(p.runes))
		return &String{runes: line}, m.room(len(line)+12, 4)
	})
	m.prim("read-string", 1, 2, func(m *Machine, a args) (Value, error) {
		n, err := index("read-string", a, 0)
		if err != nil {
			return nil, err
		}
		p, err := from("read-string", m, a, 1, true)
		if err != nil {
			return nil, err
		}
		if n > 0 && p.at >= len(p.runes) {
			return EOF, nil
		}
		end := min(p.at+n, len(p.runes))
		text := append([]rune(nil), p.runes[p.at:end]...)
		p.at = end
		return &String{runes: text}, m.room(len(text)+12, 4)
	})
	m.prim("read-bytevector", 1, 2, func(m *Machine, a args) (Value, error) {
		n, err := index("read-bytevector", a, 0)
		if err != nil {
			return nil, err
		}
		p, err := from("read-bytevector", m, a, 1, false)
		if err != nil {
			return nil, err
		}
		if n > 0 && p.at >= len(p.bytes) {
			return EOF, nil
		}
		end := min(p.at+n, len(p.bytes))
		b := append([]byte(nil), p.bytes[p.at:end]...)
		p.at = end
		return &Bytes{b: b}, m.room(len(b)+48, 1)
	})
	m.prim("read-bytevector!", 1, 4, func(m *Machine, a args) (Value, error) {
		b, ok := a[0].(*Bytes)
		if !ok {
			return nil, mismatch("read-bytevector!", 0, "a bytevector", a[0])
		}
		p, err := from("read-bytevector!", m, a, 1, false)
		if err != nil {
			return nil, err
		}
		start, end, err := span("read-bytevector!", a, 2, len(b.b))
		if err != nil {
			return nil, err
		}
		if p.at >= len(p.bytes) && end > start {
			return EOF, nil
		}
		n := copy(b.b[start:end], p.bytes[p.at:])
		p.at += n
		return int64(n), m.work(n / 64)
	})
	m.prim("read", 0, 1, func(m *Machine, a args) (Value, error) {
		p, err := from("read", m, a, 0, true)
		if err != nil {
			return nil, err
		}
		r := newReader(m, p.runes)
		r.at, r.fold = p.at, p.fold
		v, err := r.read()
		p.at, p.fold = r.at, r.fold
		return v, err
	})
	for name, w := range map[string]struct {
		display bool
		how     sharing
	}{"write": {how: circular}, "write-shared": {how: shared}, "write-simple": {how: simple}, "display": {display: true}} {
		m.prim(name, 1, 2, func(m *Machine, a args) (Value, error) {
			p, err := to(name, m, a, 1, true)
			if err != nil {
				return nil, err
			}
			s, err := m.write(a[0], w.display, w.how)
			if err != nil {
				return nil, err
			}
			return Unspecified, p.put(m, s)
		})
	}
	m.prim("newline", 0, 1, func(m *Machine, a args) (Value, error) {
		p, err := to("newline", m, a, 0, true)
		if err != nil {
			return nil, err
		}
		return Unspecified, p.put(m, "\n")
	})
	m.prim("write-char", 1, 2, func(m *Machine, a args) (Value, error) {
		c, err := charArg("write-char", a, 0)
		if err != nil {
			return nil, err
		}
		p, err := to("write-char", m, a, 1, true)
		if err != nil {
			return nil, err
		}
		return Unspecified, p.put(m, string(c))
	})
	m.prim("write-string", 1, 4, func(m *Machine, a args) (Value, error) {
		s, err := textArg("write-string", a, 0)
		if err != nil {
			return nil, err
		}
		p, err := to("write-string", m, a, 1, true)
		if err != nil {
			return nil, err
		}
		start, end, err := span("write-string", a, 2, len(s.runes))
		if err != nil {
			return nil, err
		}
		if err := m.room(end-start, 4); err != nil {
			return nil, err
		}
		return Unspecified, p.put(m, string(s.runes[start:end]))
	})
	m.prim("write-u8", 1, 2, func(m *Machine, a args) (Value, error) {
		n, ok := a[0].(int64)
		if !ok || n < 0 || n > 255 {
			return nil, mismatch("write-u8", 0, "a byte", a[0])
		}
		p, err := to("write-u8", m, a, 1, false)
		if err != nil {
			return nil, err
		}
		p.bytes = append(p.bytes, byte(n))
		return Unspecified, m.charge(2)
	})
	m.prim("write-bytevector", 1, 4, func(m *Machine, a args) (Value, error) {
		b, ok := a[0].(*Bytes)
		if !ok {
			return nil, mismatch("write-bytevector", 0, "a bytevector", a[0])
		}
		p, err := to("write-bytevector", m, a, 1, false)
		if err != nil {
			return nil, err
		}
		start, end, err := span("write-bytevector", a, 2, len(b.b))
		if err != nil {
			return nil, err
		}
		if err := m.room(end-start, 2); err != nil {
			return nil, err
		}
		p.bytes = append(p.bytes, b.b[start:end]...)
		return Unspecified, nil
	})
	m.prim("flush-output-port", 0, 1, func(*Machine, args) (Value, error) { return Unspecified, nil })
}

// put writes text to a port, the memory and the output counted.
func (p *port) put(m *Machine, s string) error {
	if p.machine == nil {
		n := utf8.RuneCountInString(s)
		if err := m.room(n, 8); err != nil { // a slice that grows has room to spare
			return err
		}
		p.runes = append(p.runes, []rune(s)...)
		return nil
	}
	m.written += int64(len(s))
	if m.written > m.limits.Output {
		return fatal{ErrOutput}
	}
	if m.Output == nil {
		return nil
	}
	if _, err := io.WriteString(m.Output, s); err != nil {
		return fatal{err}
	}
	return nil
}
