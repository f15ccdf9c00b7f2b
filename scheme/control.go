package scheme

// Procedures that go on somewhere else: they set the machine up instead of
// giving a value.

func (m *Machine) installControl() {
	m.controls("apply", 1, -1, func(m *Machine, a args) error {
		f := a[0]
		if len(a) == 1 {
			return wrong("apply takes a procedure and a list")
		}
		last, err := m.itemsAt("apply", len(a)-1, a[len(a)-1])
		if err != nil {
			return err
		}
		all := append(append(make([]Value, 0, len(a)-2+len(last)), a[1:len(a)-1]...), last...)
		if err := m.charge(sizeValue * len(all)); err != nil {
			return err
		}
		return m.apply(f, all)
	})
	for _, name := range []string{"call-with-current-continuation", "call/cc"} {
		m.controls(name, 1, 1, func(m *Machine, a args) error {
			if err := m.charge(sizeObject); err != nil {
				return err
			}
			return m.apply(a[0], []Value{&continuation{k: m.k, winds: m.winds, hs: m.hs, ps: m.ps}})
		})
	}
	m.prim("values", 0, -1, func(m *Machine, a args) (Value, error) {
		if len(a) == 1 {
			return a[0], nil
		}
		return &multiple{items: append([]Value(nil), a...)}, m.charge(sizeObject + sizeValue*len(a))
	})
	m.controls("call-with-values", 2, 2, func(m *Machine, a args) error {
		if err := m.push(&kont{op: consume{}, vals: []Value{a[1]}}); err != nil {
			return err
		}
		return m.apply(a[0], nil)
	})
	m.controls("dynamic-wind", 3, 3, func(m *Machine, a args) error {
		w := &wind{before: a[0], after: a[2], up: m.winds, hs: m.hs, ps: m.ps}
		if w.up != nil {
			w.depth = w.up.depth + 1
		}
		if err := m.charge(2 * sizeObject); err != nil {
			return err
		}
		if err := m.push(&kont{op: inWind{w}, vals: []Value{a[1]}}); err != nil {
			return err
		}
		return m.apply(a[0], nil)
	})
	m.controls("with-exception-handler", 2, 2, func(m *Machine, a args) error {
		if !isProcedure(a[0]) {
			return mismatch("with-exception-handler", 0, "a procedure", a[0])
		}
		if err := m.push(&kont{op: &restoreHandlers{m.hs}}); err != nil {
			return err
		}
		m.hs = &handlers{proc: a[0], up: m.hs}
		return errOr(m.charge(sizeObject), func() error { return m.apply(a[1], nil) })
	})
	m.controls("raise", 1, 1, func(_ *Machine, a args) error { return raised{v: a[0]} })
	m.controls("raise-continuable", 1, 1, func(_ *Machine, a args) error { return raised{v: a[0], continuable: true} })
	m.controls("error", 0, -1, func(m *Machine, a args) error {
		c := &Condition{}
		if len(a) > 0 {
			c.Message = writeMessage(a[0])
			c.Irritants = append([]Value(nil), a[1:]...)
		}
		if err := m.charge(sizeObject + len(c.Message) + sizeValue*len(a)); err != nil {
			return err
		}
		return raised{v: c}
	})
	condition := func(name string, f func(c *Condition) (Value, error)) {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) {
			c, ok := a[0].(*Condition)
			if !ok {
				return nil, mismatch(name, 0, "a condition", a[0])
			}
			return f(c)
		})
	}
	is := func(name string, f func(v Value) bool) {
		m.prim(name, 1, 1, func(_ *Machine, a args) (Value, error) { return f(a[0]), nil })
	}
	is("error-object?", func(v Value) bool { _, ok := v.(*Condition); return ok })
	is("read-error?", func(v Value) bool { c, ok := v.(*Condition); return ok && c.kind == ofReading })
	is("file-error?", func(v Value) bool { c, ok := v.(*Condition); return ok && c.kind == ofFiles })
	is("promise?", func(v Value) bool { _, ok := v.(*promise); return ok })
	condition("error-object-message", func(c *Condition) (Value, error) { return Text(c.Message), m.charge(4 * len(c.Message)) })
	condition("error-object-irritants", func(c *Condition) (Value, error) {
		return List(c.Irritants...), m.charge(sizePair * len(c.Irritants))
	})

	m.prim("%make-parameter", 2, 2, func(m *Machine, a args) (Value, error) {
		return &parameter{value: a[0], converter: a[1]}, m.charge(sizeObject)
	})
	m.prim("%converter", 1, 1, func(_ *Machine, a args) (Value, error) {
		p, ok := a[0].(*parameter)
		if !ok {
			return nil, wrong("parameterize: %s is no parameter", shown{a[0]})
		}
		return p.converter, nil
	})
	m.controls("%with-parameters", 3, 3, func(m *Machine, a args) error {
		params, err := m.items("parameterize", a[0])
		if err != nil {
			return err
		}
		values, err := m.items("parameterize", a[1])
		if err != nil {
			return err
		}
		if err := m.push(&kont{op: &restoreBindings{m.ps}}); err != nil {
			return err
		}
		for i, p := range params {
			m.ps = &bindings{p: p.(*parameter), value: values[i], up: m.ps}
		}
		return errOr(m.charge(sizeObject*len(params)), func() error { return m.apply(a[2], nil) })
	})

	m.prim("%promise", 1, 1, func(m *Machine, a args) (Value, error) {
		return &promise{box: &promiseBox{value: a[0]}}, m.charge(2 * sizeObject)
	})
	m.prim("make-promise", 1, 1, func(m *Machine, a args) (Value, error) {
		if p, ok := a[0].(*promise); ok {
			return p, nil
		}
		return &promise{box: &promiseBox{done: true, value: a[0]}}, m.charge(2 * sizeObject)
	})
	m.controls("force", 1, 1, func(m *Machine, a args) error {
		p, ok := a[0].(*promise)
		if !ok {
			m.give(a[0])
			return nil
		}
		return m.force(p)
	})

	m.controls("eval", 1, 2, func(m *Machine, a args) error {
		if len(a) == 2 {
			if _, ok := a[1].(*environment); !ok {
				return mismatch("eval", 1, "an environment", a[1])
			}
		}
		unit, err := m.compile(a[0], nil)
		if err != nil {
			return err
		}
		m.env, m.code = &scope{of: unit}, unit.body
		return nil
	})
	m.prim("environment", 0, -1, func(_ *Machine, a args) (Value, error) {
		for _, v := range a {
			if !library(v) {
				return nil, wrong("environment: there is no library %s here", shown{v})
			}
		}
		return &environment{}, nil
	})
	for _, name := range []string{"interaction-environment", "scheme-report-environment", "null-environment"} {
		m.prim(name, 0, 1, func(*Machine, args) (Value, error) { return &environment{}, nil })
	}
	m.prim("features", 0, 0, func(m *Machine, _ args) (Value, error) {
		var names []Value
		for _, f := range features {
			names = append(names, m.Symbol(f))
		}
		return List(names...), m.charge(sizePair * len(names))
	})
	// Time is the steps that were taken: every run tells the same.
	m.prim("current-jiffy", 0, 0, func(m *Machine, _ args) (Value, error) { return m.steps, nil })
	m.prim("jiffies-per-second", 0, 0, func(*Machine, args) (Value, error) { return int64(1_000_000), nil })
	m.prim("current-second", 0, 0, func(m *Machine, _ args) (Value, error) { return float64(m.steps) / 1e6, nil })
	m.prim("command-line", 0, 0, func(*Machine, args) (Value, error) { return Empty, nil })
	m.prim("get-environment-variables", 0, 0, func(*Machine, args) (Value, error) { return Empty, nil })
	m.prim("get-environment-variable", 1, 1, func(*Machine, args) (Value, error) { return false, nil })
	m.prim("file-exists?", 1, 1, func(*Machine, args) (Value, error) { return false, nil })
	for _, name := range []string{"open-input-file", "open-output-file", "open-binary-input-file", "open-binary-output-file", "delete-file", "load",
		"call-with-input-file", "call-with-output-file", "with-input-from-file", "with-output-to-file"} {
		m.prim(name, 1, 2, func(_ *Machine, a args) (Value, error) {
			return nil, raised{v: &Condition{Message: name + ": programs here have no files", Irritants: []Value{a[0]}, kind: ofFiles}}
		})
	}
	for _, name := range []string{"exit", "emergency-exit"} {
		m.controls(name, 0, 1, func(_ *Machine, a args) error {
			if len(a) == 1 && a[0] != true && a[0] != int64(0) {
				return fatal{&Exit{a[0]}}
			}
			return fatal{&Exit{}}
		})
	}
}

// Exit is how a program ends that calls exit.
type Exit struct {
	// Value is what it exits with; nil is well.
	Value Value
}

func (e *Exit) Error() string {
	if e.Value == nil {
		return "the program exited"
	}
	return "the program exited with " + brief(e.Value)
}

func writeMessage(v Value) string {
	if s, ok := v.(*String); ok {
		return s.String()
	}
	return brief(v)
}

type consume struct{}

func (consume) resume(m *Machine, k *kont) error {
	vals := append([]Value(nil), spread(m.val)...)
	return m.apply(k.vals[0], vals)
}

// force runs a promise until it has a value. Chains that delay-force makes
// take no depth.
func (m *Machine) force(p *promise) error {
	if p.box.done {
		m.give(p.box.value)
		return nil
	}
	if err := m.push(&kont{op: forced{}, vals: []Value{p}}); err != nil {
		return err
	}
	return m.apply(p.box.value, nil)
}

type forced struct{}

func (forced) resume(m *Machine, k *kont) error {
	p := k.vals[0].(*promise)
	if p.box.done {
		m.give(p.box.value)
		return nil
	}
	q, ok := m.val.(*promise)
	if !ok {
		return wrong("delay-force: %s is no promise", shown{m.val})
	}
	*p.box = promiseBox{done: q.box.done, value: q.box.value}
	q.box = p.box
	return m.force(p)
}
