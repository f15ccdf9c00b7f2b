package scheme

import (
	"context"
	"io"
	"math"
)

// Limits bound a run. A zero field means the default.
type Limits struct {
	// Steps a run may take; a step is about one operation, and long
	// operations count as many. Default 20 million.
	Steps int64
	// Depth of nested calls that are not in tail position. Default 100,000.
	Depth int
	// Memory in bytes that can be reached at one time, as estimated by the
	// machine. Default 64 MiB.
	Memory int64
	// Output in bytes that a run may write. Default 1 MiB.
	Output int64
}

func (l Limits) filled() Limits {
	if l.Steps <= 0 {
		l.Steps = 20_000_000
	}
	if l.Depth <= 0 {
		l.Depth = 100_000
	}
	if l.Memory <= 0 {
		l.Memory = 64 << 20
	}
	if l.Output <= 0 {
		l.Output = 1 << 20
	}
	return l
}

// What things take, in bytes and roughly, on the generous side.
const (
	sizeValue   = 16
	sizePair    = 56
	sizeScope   = 64
	sizeKont    = 96
	sizeClosure = 40
	sizeObject  = 48
	sizeNode    = 96
	sizeSymbol  = 160
)

// cell is a variable of the top level.
type cell struct {
	name  *Symbol
	value Value
}

type scope struct {
	up   *scope
	vars []Value
	of   *lambda // whose code runs in it, where it is a procedure's
	mark uint32
}

// kont is what is to be done with a value: a frame, and those below. Frames
// are not changed once they are pushed, because continuations keep them.
type kont struct {
	next  *kont
	op    resumer
	env   *scope
	vals  []Value
	i     int
	depth int
	mark  uint32
}

type resumer interface {
	resume(m *Machine, k *kont) error
}

// handlers, winds and bindings are the dynamic state of a program.
type handlers struct {
	proc Value
	up   *handlers
	mark uint32
}

type wind struct {
	before, after Value
	up            *wind
	depth         int
	hs            *handlers
	ps            *bindings
	mark          uint32
}

type bindings struct {
	p     *parameter
	value Value
	up    *bindings
	mark  uint32
}

// Machine runs programs. It is for one goroutine. What a program defines
// stays for the next.
type Machine struct {
	// Output is where programs write; nil is nowhere.
	Output io.Writer

	limits  Limits
	symbols map[string]*Symbol
	globals map[*Symbol]*cell
	syntax  map[*Symbol]any // *special or *macro
	dots    *Symbol
	version int              // of what global procedures are
	own     map[string]Value // procedures of the language under names of the compiler's

	// The state of the run.
	val   Value
	code  node
	env   *scope
	k     *kont
	hs    *handlers
	winds *wind
	ps    *bindings
	stack []Value // arguments of primitives
	pos   Pos     // of the call that runs

	ctx     context.Context
	steps   int64
	next    int64 // the step at which the context is looked at
	fixed   int64 // bytes that stay: names, macros
	used    int64 // bytes since the last count, and those it found
	epoch   uint32
	written int64
	inPort  *port
	outPort *port
}

// New makes a machine with the language in it.
func New(l Limits) *Machine {
	m := &Machine{
		limits:  l.filled(),
		symbols: make(map[string]*Symbol),
		globals: make(map[*Symbol]*cell),
		syntax:  make(map[*Symbol]any),
		version: 1,
		ctx:     context.Background(),
	}
	m.inPort, m.outPort = textInput(nil), &port{out: true, text: true, machine: m, open: true}
	limits := m.limits
	m.limits = Limits{Steps: math.MaxInt64 / 2, Depth: 1000, Memory: math.MaxInt64 / 4, Output: 1}
	m.next = math.MaxInt64
	m.dots = m.Symbol("...")
	m.install()
	if _, err := m.run("prelude", prelude, false); err != nil {
		panic(err) // the prelude is ours and tested
	}
	for _, name := range []string{"%guard", "%parameterize"} {
		m.alias(name, name)
	}
	// Programs do not see what begins with a %.
	for s := range m.globals {
		if s.name[0] == '%' {
			delete(m.globals, s)
		}
	}
	m.limits = limits
	// What the language itself takes is not the program's.
	m.fixed, m.used = 0, 0
	return m
}

// Symbol gives the symbol of a name.
func (m *Machine) Symbol(name string) *Symbol {
	s := m.symbols[name]
	if s == nil {
		s = &Symbol{name}
		m.symbols[name] = s
	}
	return s
}

// Intern gives the symbol of a name that somebody else made up: it stays as long as the
// machine, and is counted.
func (m *Machine) Intern(name string) (*Symbol, error) {
	if _, err := m.intern(name); err != nil {
		return nil, err
	}
	return m.Symbol(name), nil
}

// Spend counts steps of a host's procedure: where a program chooses how long that works,
// it must be called. Its error ends the program.
func (m *Machine) Spend(steps int) error { return m.work(steps) }

// intern gives the symbol of a name that a program made up.
func (m *Machine) intern(name string) (Value, error) {
	if s := m.symbols[name]; s != nil {
		return s, nil
	}
	m.fixed += int64(sizeSymbol + len(name))
	return m.Symbol(name), m.charge(sizeSymbol + len(name))
}

func (m *Machine) cell(name *Symbol) (*cell, error) {
	c := m.globals[name]
	if c == nil {
		c = &cell{name: name, value: notYet}
		m.globals[name] = c
		m.fixed += sizeSymbol
		return c, m.charge(sizeSymbol)
	}
	return c, nil
}

func (m *Machine) assign(c *cell, v Value) {
	_, was := c.value.(*primitive)
	_, is := v.(*primitive)
	if was || is {
		m.version++
	}
	c.value = v
}

// special is the form of that name, to be put into code the compiler makes:
// it cannot be shadowed there.
func (m *Machine) special(name string) Value { return m.syntax[m.Symbol(name)] }

// work counts steps. Every loop in Go whose length a program chooses must
// call it.
func (m *Machine) work(n int) error {
	m.steps += int64(n)
	if m.steps < m.next {
		return nil
	}
	return m.look()
}

func (m *Machine) look() error {
	if m.steps > m.limits.Steps || m.steps < 0 {
		return fatal{ErrSteps}
	}
	if m.ctx.Err() != nil {
		return fatal{context.Cause(m.ctx)}
	}
	m.next = min(m.steps+10_000, m.limits.Steps+1)
	return nil
}

// charge counts memory before it is taken. When the limit is reached by what
// was taken so far, what can still be reached is counted.
func (m *Machine) charge(n int) error {
	m.used += int64(n)
	if m.used <= m.limits.Memory && n >= 0 {
		return nil
	}
	return m.count(int64(n))
}

// count finds what can be reached and makes room, or ends the program. more
// is about to be taken and not to be found yet.
func (m *Machine) count(more int64) error {
	if more > m.limits.Memory || more < 0 {
		return fatal{ErrMemory}
	}
	t := tracer{m: m}
	live := t.live() + more
	// Counting costs as much as what is counted: close to the limit it would
	// be done again and again.
	if live > m.limits.Memory-m.limits.Memory/16 {
		return fatal{ErrMemory}
	}
	m.used = live
	return nil
}

// give returns a value to what waits for it.
func (m *Machine) give(v Value) { m.val, m.code = v, nil }

func (m *Machine) push(k *kont) error {
	k.next = m.k
	if m.k != nil {
		k.depth = m.k.depth + 1
	}
	if k.depth > m.limits.Depth {
		return fatal{ErrDepth}
	}
	m.k = k
	return m.charge(sizeKont + sizeValue*len(k.vals))
}

func (p *primitive) check(n int) error {
	if n < p.min || p.max >= 0 && n > p.max {
		return arity(p.name, n, p.min, p.max)
	}
	return nil
}

func arity(name string, got, least, most int) error {
	if name == "" {
		name = "the procedure"
	}
	count := "arguments"
	if least == 1 && most == 1 {
		count = "argument"
	}
	switch {
	case most < 0:
		return wrong("%s takes at least %d %s, not %d", name, least, count, got)
	case least == most:
		return wrong("%s takes %d %s, not %d", name, least, count, got)
	}
	return wrong("%s takes %d to %d %s, not %d", name, least, most, count, got)
}

// apply calls a procedure. args is the callee's from here on.
func (m *Machine) apply(f Value, args []Value) error {
	switch f := f.(type) {
	case *closure:
		return m.enter(f, args)
	case *primitive:
		if err := f.check(len(args)); err != nil {
			return err
		}
		if f.control != nil {
			return f.control(m, args)
		}
		v, err := f.fn(m, args)
		m.give(v)
		return err
	case *choice:
		for _, c := range f.all {
			if len(args) == c.required || len(args) > c.required && c.rest {
				return m.enter(c, args)
			}
		}
		return wrong("no case of the procedure takes %d arguments", len(args))
	case *continuation:
		return m.throw(f, args)
	case *parameter:
		if len(args) != 0 {
			return wrong("a parameter takes no arguments")
		}
		m.give(m.parameter(f))
		return nil
	}
	return wrong("%s is no procedure", shown{f})
}

// stand says where the program is, if that is in its own text.
func (m *Machine) stand(at Pos) {
	if at != (Pos{}) {
		m.pos = at
	}
}

// At is where the call stands that runs: for the procedures of a host.
func (m *Machine) At() Pos { return m.pos }

func (m *Machine) parameter(p *parameter) Value {
	for b := m.ps; b != nil; b = b.up {
		if b.p == p {
			return b.value
		}
	}
	return p.value
}

func (m *Machine) enter(f *closure, args []Value) error {
	if len(args) < f.required || len(args) > f.required && !f.rest {
		most := f.required
		if f.rest {
			most = -1
		}
		return arity(f.name, len(args), f.required, most)
	}
	vars := args
	if len(args) != f.size || f.rest {
		vars = make([]Value, f.size)
		n := copy(vars, args[:f.required])
		if f.rest {
			if err := m.charge(sizePair * (len(args) - f.required)); err != nil {
				return err
			}
			vars[n] = List(args[f.required:]...)
			n++
		}
		for ; n < f.size; n++ {
			vars[n] = notYet
		}
	}
	m.env = &scope{up: f.env, vars: vars, of: f.lambda}
	m.code = f.body
	return m.charge(sizeScope + sizeValue*f.size)
}

// Run runs a program and gives the value of its last expression. An error is
// an [*Error].
func (m *Machine) Run(ctx context.Context, name, text string) (Value, error) {
	m.begin(ctx)
	defer m.clear()
	return m.run(name, text, true)
}

// Call calls a procedure that a program made. It has limits of its own, as a
// run has.
func (m *Machine) Call(ctx context.Context, proc Value, args ...Value) (Value, error) {
	m.begin(ctx)
	defer m.clear()
	v, err := m.loop(m.apply(proc, append([]Value(nil), args...)))
	if err != nil {
		return nil, m.failure("call", err)
	}
	return v, nil
}

// Global gives the value of a variable of the top level.
func (m *Machine) Global(name string) (Value, bool) {
	c := m.globals[m.Symbol(name)]
	if c == nil || c.value == notYet {
		return nil, false
	}
	return c.value, true
}

// Define gives programs a procedure of the host's. It gets least to most
// arguments (any number from least where most is negative), must not keep the
// slice, and should end when ctx does. An error it gives is a condition of
// the program, except one of ctx and one made by [Fatal].
func (m *Machine) Define(name string, least, most int, f func(ctx context.Context, args []Value) (Value, error)) {
	c, _ := m.cell(m.Symbol(name)) // the error is for later: a host's names are few
	delete(m.syntax, c.name)
	m.assign(c, &primitive{name: name, min: least, max: most, fn: func(m *Machine, args []Value) (Value, error) {
		v, err := f(m.ctx, args)
		if err != nil {
			if m.ctx.Err() != nil {
				return nil, fatal{context.Cause(m.ctx)}
			}
			switch err := err.(type) {
			case fatal, raised:
				return nil, err
			}
			return nil, raised{v: &Condition{Message: err.Error()}}
		}
		if v == nil {
			v = Unspecified
		}
		return v, m.charge(m.measure(v))
	}})
}

// Knows reports whether a name means something to programs: a procedure, another value
// or a form.
func (m *Machine) Knows(name string) bool {
	s := m.symbols[name]
	_, form := m.syntax[s]
	_, value := m.globals[s]
	return s != nil && (form || value)
}

// Raise makes an error that is raised in the program as that object. A [Condition] gets
// the place of the call.
func Raise(v Value) error { return raised{v: v} }

// Fatal makes an error that a program cannot catch.
func Fatal(err error) error { return fatal{err} }

// measure is the size of what a host gave, which holds nothing of the program's: it is
// counted exactly when memory is.
func (m *Machine) measure(v Value) (size int) {
	for todo := []Value{v}; len(todo) > 0; {
		v, todo = todo[len(todo)-1], todo[:len(todo)-1]
		switch x := v.(type) {
		case *String:
			size += sizeObject + 4*len(x.runes)
		case *Bytes:
			size += sizeObject + len(x.b)
		case *Vector:
			size += sizeObject + sizeValue*len(x.items)
			todo = append(todo, x.items...)
		case *Pair:
			size += sizePair
			todo = append(todo, x.Cdr, x.Car)
		default:
			size += sizeValue
		}
		if int64(size) > m.limits.Memory { // there is no room for it, or it holds itself
			break
		}
	}
	return size
}

func (m *Machine) begin(ctx context.Context) {
	m.ctx, m.steps, m.next, m.written = ctx, 0, 0, 0
	m.clear()
}

func (m *Machine) clear() {
	m.val, m.code, m.env, m.k, m.hs, m.winds, m.ps = nil, nil, nil, nil, nil, nil, nil
	clear(m.stack[:cap(m.stack)])
	m.stack = m.stack[:0]
}

// run runs a text. Of one of the language's own nobody wants to know where in it
// something happened: that stands where it was called.
func (m *Machine) run(name, text string, placed bool) (Value, error) {
	if err := m.charge(4 * len(text)); err != nil {
		return nil, m.failure(name, err)
	}
	r := newReader(m, []rune(text))
	last := Unspecified
	for {
		if placed {
			r.places = make(map[*Pair]Pos)
		}
		form, err := r.read()
		if err != nil {
			return nil, m.failure(name, err)
		}
		if form == EOF {
			return last, nil
		}
		if placed {
			m.pos = Pos{}
		}
		unit, err := m.compile(form, r.places)
		if err == nil {
			m.env, m.code = &scope{of: unit}, unit.body
			last, err = m.loop(nil)
		}
		if err != nil {
			// A file of tests goes on: what it did not reach would not be told.
			if r, ok := err.(raised); ok && m.globals[m.Symbol("test-begin")] != nil && placed {
				m.clear()
				if err := m.apply(m.own["%fails-whole"], []Value{form, r.v}); err == nil {
					if _, err = m.loop(nil); err == nil {
						continue
					}
				}
			}
			return nil, m.failure(name, err)
		}
	}
}

// compile makes a form of the top level a unit of code.
func (m *Machine) compile(form Value, places map[*Pair]Pos) (unit *lambda, err error) {
	unit = &lambda{}
	c := &compiler{m: m, places: places, lam: unit}
	unit.body, err = c.toplevel(form)
	return unit, err
}

func (m *Machine) failure(name string, err error) error {
	e := &Error{Name: name, Pos: m.pos, Message: err.Error()}
	switch err := err.(type) {
	case raised:
		e.Raised = err.v
		if c, ok := err.v.(*Condition); ok {
			e.Message = writeCondition(c)
			if c.pos != (Pos{}) {
				e.Pos = c.pos
			}
		} else {
			e.Message = "raised: " + brief(err.v)
		}
	case *syntaxError:
		e.Pos = err.pos
	case fatal:
		e.Err = err.err
	}
	return e
}

func writeCondition(c *Condition) string {
	s := c.Message
	for i, v := range c.Irritants {
		if i == 20 {
			return s + " ..."
		}
		s += " " + brief(v)
	}
	return s
}

// loop runs until the program is done. err is what its first step gave.
func (m *Machine) loop(err error) (Value, error) {
	for {
		if err != nil {
			if err = m.handle(err); err != nil {
				return nil, err
			}
		}
		if m.steps++; m.steps >= m.next {
			if err := m.look(); err != nil {
				return nil, err
			}
		}
		if m.code != nil {
			err = m.code.exec(m)
			continue
		}
		k := m.k
		if k == nil {
			return m.val, nil
		}
		m.k = k.next
		err = k.op.resume(m, k)
	}
}

// handle brings an error to the program's handler. What it returns ends the
// program.
func (m *Machine) handle(err error) error {
	var r raised
	switch e := err.(type) {
	case raised:
		r = e
	case *syntaxError: // of eval
		r = raised{v: &Condition{Message: e.msg, pos: e.pos}}
	default:
		return err
	}
	m.code = nil
	if c, ok := r.v.(*Condition); ok && c.pos == (Pos{}) {
		c.pos = m.pos
	}
	if m.hs == nil {
		return r
	}
	h := m.hs
	if !r.continuable {
		if err := m.push(&kont{op: notContinuable{}, vals: []Value{r.v}}); err != nil {
			return err
		}
	}
	if err := m.push(&kont{op: &restoreHandlers{m.hs}}); err != nil {
		return err
	}
	m.hs = h.up
	if err := m.apply(h.proc, []Value{r.v}); err != nil {
		return m.handle(err) // a handler that cannot be called: the next one
	}
	return nil
}

type notContinuable struct{}

func (notContinuable) resume(m *Machine, k *kont) error {
	if m.hs != nil {
		m.hs = m.hs.up
	}
	return wrong("a handler returned from %s, which cannot be continued", shown{k.vals[0]})
}

type restoreHandlers struct{ hs *handlers }

func (r *restoreHandlers) resume(m *Machine, k *kont) error {
	m.hs = r.hs
	return nil
}

type restoreBindings struct{ ps *bindings }

func (r *restoreBindings) resume(m *Machine, k *kont) error {
	m.ps = r.ps
	return nil
}

// giveBack gives the value it holds.
type giveBack struct{}

func (giveBack) resume(m *Machine, k *kont) error {
	m.give(k.vals[0])
	return nil
}

// inWind is what follows the before of dynamic-wind.
type inWind struct{ w *wind }

func (r inWind) resume(m *Machine, k *kont) error {
	m.winds = r.w
	if err := m.push(&kont{op: outOfWind{r.w}}); err != nil {
		return err
	}
	return m.apply(k.vals[0], nil)
}

type outOfWind struct{ w *wind }

func (r outOfWind) resume(m *Machine, k *kont) error {
	m.winds = r.w.up
	if err := m.push(&kont{op: giveBack{}, vals: []Value{m.val}}); err != nil {
		return err
	}
	return m.apply(r.w.after, nil)
}

// throw goes to a continuation: out of the winds it is not in, into those it
// is in, then there.
func (m *Machine) throw(to *continuation, args []Value) error {
	var v Value
	if len(args) == 1 {
		v = args[0]
	} else {
		v = &multiple{items: append([]Value(nil), args...)}
	}
	return m.rewind(&rewinding{to: to, v: v})
}

type rewinding struct {
	to *continuation
	v  Value
}

func (r *rewinding) resume(m *Machine, _ *kont) error { return m.rewind(r) }

func (m *Machine) rewind(r *rewinding) error {
	from, to := m.winds, r.to.winds
	if err := m.work(1); err != nil {
		return err
	}
	if from == to {
		m.k, m.hs, m.ps = r.to.k, r.to.hs, r.to.ps
		m.give(r.v)
		return nil
	}
	// The innermost wind that both are in.
	a, b := from, to
	var enter *wind // the outermost of to's that is not entered yet
	for a != b {
		if err := m.work(1); err != nil {
			return err
		}
		switch {
		case b == nil || a != nil && a.depth > b.depth:
			a = a.up
		case a == nil || b.depth > a.depth:
			enter, b = b, b.up
		default:
			a = a.up
			enter, b = b, b.up
		}
	}
	m.k = nil
	if from != a {
		m.winds, m.hs, m.ps = from.up, from.hs, from.ps
		if err := m.push(&kont{op: r}); err != nil {
			return err
		}
		return m.apply(from.after, nil)
	}
	m.hs, m.ps = enter.hs, enter.ps
	if err := m.push(&kont{op: entered{enter, r}}); err != nil {
		return err
	}
	return m.apply(enter.before, nil)
}

type entered struct {
	w *wind
	r *rewinding
}

func (e entered) resume(m *Machine, _ *kont) error {
	m.winds = e.w
	return m.rewind(e.r)
}
