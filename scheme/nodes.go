package scheme

// What a program consists of when it is compiled. Nodes whose value is at
// hand are quick: they are evaluated in place, without the machine's loop.

type constNode struct{ v Value }

type localNode struct {
	up, i int
	name  string
	pos   Pos
}

type globalNode struct {
	cell *cell
	pos  Pos
}

type lambdaNode struct{ *lambda }

type casesNode struct{ all []*lambdaNode }

type ifNode struct{ test, then, other node }

type seqNode struct{ nodes []node }

type callNode struct {
	pos   Pos
	parts []node
	// Whether it can be evaluated in place, as of this version of the
	// machine's global procedures.
	version int
	direct  bool
}

// letNode runs its body in a scope of its own.
type letNode struct {
	inits []node
	size  int
	body  node
}

type setLocalNode struct {
	up, i  int
	value  node
	define bool
	name   string
	pos    Pos
}

type setGlobalNode struct {
	cell   *cell
	value  node
	define bool
	pos    Pos
}

type orNode struct{ nodes []node }

// caseNode is case; the values of keys are compared with eqv?.
type caseNode struct {
	key     node
	clauses []caseClause
	pos     Pos
}

type caseClause struct {
	data  []Value // nil: else
	arrow bool
	body  node
}

// valuesNode spreads several values over variables.
type valuesNode struct {
	value    node
	targets  []node // *setLocalNode or *setGlobalNode, their value not used
	required int
	rest     bool
	pos      Pos
}

func (n *constNode) exec(m *Machine) error { m.give(n.v); return nil }

func (n *localNode) get(m *Machine) (Value, error) {
	s := m.env
	for i := n.up; i > 0; i-- {
		s = s.up
	}
	v := s.vars[n.i]
	if v == notYet {
		m.stand(n.pos)
		return nil, wrong("%s has no value yet", n.name)
	}
	return v, nil
}

func (n *localNode) exec(m *Machine) error {
	v, err := n.get(m)
	m.give(v)
	return err
}

func (n *globalNode) get(m *Machine) (Value, error) {
	if n.cell.value == notYet {
		m.stand(n.pos)
		return nil, wrong("%s is not defined", n.cell.name.name)
	}
	return n.cell.value, nil
}

func (n *globalNode) exec(m *Machine) error {
	v, err := n.get(m)
	m.give(v)
	return err
}

func (n *lambdaNode) make(m *Machine) (*closure, error) {
	return &closure{lambda: n.lambda, env: m.env}, m.charge(sizeClosure)
}

func (n *lambdaNode) exec(m *Machine) error {
	v, err := n.make(m)
	m.give(v)
	return err
}

func (n *casesNode) exec(m *Machine) error {
	c := &choice{all: make([]*closure, len(n.all))}
	for i, l := range n.all {
		var err error
		if c.all[i], err = l.make(m); err != nil {
			return err
		}
	}
	m.give(c)
	return m.charge(32)
}

// quick evaluates a node in place, in the machine's scope, if that is
// possible without running a procedure of the program.
func (m *Machine) quick(n node) (v Value, ok bool, err error) {
	switch n := n.(type) {
	case *constNode:
		return n.v, true, nil
	case *localNode:
		v, err = n.get(m)
		return v, true, err
	case *globalNode:
		v, err = n.get(m)
		return v, true, err
	case *lambdaNode:
		v, err = n.make(m)
		return v, true, err
	case *callNode:
		if n.inPlace(m) {
			v, err = n.evaluate(m)
			return v, true, err
		}
	}
	return nil, false, nil
}

// first evaluates a node in place, or has it run: then it is not ok, and op goes on with
// its value and with what is handed over for that.
func (m *Machine) first(op resumer, n node, vals []Value, i int) (v Value, ok bool, err error) {
	if v, ok, err = m.quick(n); ok {
		return v, err == nil, err
	}
	m.code = n
	return nil, false, m.push(&kont{op: op, env: m.env, vals: vals, i: i})
}

// fill evaluates nodes from i on into vals, as first does.
func (m *Machine) fill(op resumer, nodes []node, vals []Value, i int) (done bool, err error) {
	for ; i < len(nodes); i++ {
		v, ok, err := m.first(op, nodes[i], vals, i)
		if !ok {
			return false, err
		}
		vals[i] = v
	}
	return true, nil
}

// inPlace tells whether a call is of primitives all through.
func (n *callNode) inPlace(m *Machine) bool {
	if n.version == m.version {
		return n.direct
	}
	n.direct = false
	if g, ok := n.parts[0].(*globalNode); ok {
		if p, ok := g.cell.value.(*primitive); ok && p.fn != nil {
			n.direct = true
			for _, part := range n.parts[1:] {
				switch part := part.(type) {
				case *constNode, *localNode, *globalNode, *lambdaNode:
				case *callNode:
					n.direct = n.direct && part.inPlace(m)
				default:
					n.direct = false
				}
			}
		}
	}
	n.version = m.version
	return n.direct
}

func (n *callNode) evaluate(m *Machine) (Value, error) {
	if err := m.work(1); err != nil {
		return nil, err
	}
	p := n.parts[0].(*globalNode).cell.value.(*primitive)
	// The arguments lie on a stack: no primitive keeps the slice it gets.
	base := len(m.stack)
	for _, part := range n.parts[1:] {
		v, _, err := m.quick(part)
		if err != nil {
			m.stack = m.stack[:base]
			return nil, err
		}
		m.stack = append(m.stack, v)
	}
	args := m.stack[base:]
	m.stand(n.pos)
	err := p.check(len(args))
	var v Value
	if err == nil {
		v, err = p.fn(m, args)
	}
	m.stack = m.stack[:base]
	return v, err
}

func (n *callNode) exec(m *Machine) error {
	if n.inPlace(m) {
		v, err := n.evaluate(m)
		m.give(v)
		return err
	}
	vals := make([]Value, len(n.parts))
	return n.from(m, vals, 0)
}

// from evaluates the parts from i on; vals holds those before and is nobody
// else's.
func (n *callNode) from(m *Machine, vals []Value, i int) error {
	if done, err := m.fill(n, n.parts, vals, i); !done {
		return err
	}
	m.stand(n.pos)
	return m.apply(vals[0], vals[1:])
}

func (n *callNode) resume(m *Machine, k *kont) error {
	// A continuation can be entered again: what it holds stays as it is.
	vals := append([]Value(nil), k.vals...)
	vals[k.i] = m.val
	m.env = k.env
	return n.from(m, vals, k.i+1)
}

func (n *ifNode) exec(m *Machine) error {
	v, ok, err := m.first(n, n.test, nil, 0)
	if !ok {
		return err
	}
	n.choose(m, v)
	return nil
}

func (n *ifNode) choose(m *Machine, v Value) {
	if truth(v) {
		m.code = n.then
	} else {
		m.code = n.other
	}
}

func (n *ifNode) resume(m *Machine, k *kont) error {
	m.env = k.env
	n.choose(m, m.val)
	return nil
}

func (n *seqNode) exec(m *Machine) error { return n.from(m, 0) }

func (n *seqNode) from(m *Machine, i int) error {
	for ; i < len(n.nodes)-1; i++ {
		_, ok, err := m.first(n, n.nodes[i], nil, i)
		if !ok {
			return err
		}
	}
	m.code = n.nodes[i]
	return nil
}

func (n *seqNode) resume(m *Machine, k *kont) error {
	m.env = k.env
	return n.from(m, k.i+1)
}

func (n *letNode) exec(m *Machine) error {
	vals := make([]Value, n.size)
	return n.from(m, vals, 0)
}

func (n *letNode) from(m *Machine, vals []Value, i int) error {
	if done, err := m.fill(n, n.inits, vals, i); !done {
		return err
	}
	for i := len(n.inits); i < n.size; i++ {
		vals[i] = notYet
	}
	m.env = &scope{up: m.env, vars: vals}
	m.code = n.body
	return m.charge(sizeScope + sizeValue*n.size)
}

func (n *letNode) resume(m *Machine, k *kont) error {
	vals := append([]Value(nil), k.vals...)
	vals[k.i] = m.val
	m.env = k.env
	return n.from(m, vals, k.i+1)
}

func (n *setLocalNode) exec(m *Machine) error {
	v, ok, err := m.first(n, n.value, nil, 0)
	if !ok {
		return err
	}
	return n.set(m, v)
}

func (n *setLocalNode) set(m *Machine, v Value) error {
	s := m.env
	for i := n.up; i > 0; i-- {
		s = s.up
	}
	if !n.define && s.vars[n.i] == notYet {
		m.stand(n.pos)
		return wrong("%s is set before it is defined", n.name)
	}
	s.vars[n.i] = v
	m.give(Unspecified)
	return nil
}

func (n *setLocalNode) resume(m *Machine, k *kont) error {
	m.env = k.env
	return n.set(m, m.val)
}

func (n *setGlobalNode) exec(m *Machine) error {
	v, ok, err := m.first(n, n.value, nil, 0)
	if !ok {
		return err
	}
	return n.set(m, v)
}

func (n *setGlobalNode) set(m *Machine, v Value) error {
	if !n.define && n.cell.value == notYet {
		m.stand(n.pos)
		return wrong("%s is set before it is defined", n.cell.name.name)
	}
	m.assign(n.cell, v)
	m.give(Unspecified)
	return nil
}

func (n *setGlobalNode) resume(m *Machine, k *kont) error {
	m.env = k.env
	return n.set(m, m.val)
}

func (n *orNode) exec(m *Machine) error { return n.from(m, 0) }

func (n *orNode) from(m *Machine, i int) error {
	for ; i < len(n.nodes)-1; i++ {
		v, ok, err := m.first(n, n.nodes[i], nil, i)
		if !ok {
			return err
		}
		if truth(v) {
			m.give(v)
			return nil
		}
	}
	m.code = n.nodes[i]
	return nil
}

func (n *orNode) resume(m *Machine, k *kont) error {
	if truth(m.val) {
		return nil
	}
	m.env = k.env
	return n.from(m, k.i+1)
}

func (n *caseNode) exec(m *Machine) error {
	v, ok, err := m.first(n, n.key, nil, 0)
	if !ok {
		return err
	}
	return n.choose(m, v)
}

func (n *caseNode) choose(m *Machine, v Value) error {
	for i := range n.clauses {
		c := &n.clauses[i]
		hit := c.data == nil
		for _, d := range c.data {
			if hit = same(d, v); hit {
				break
			}
		}
		if err := m.work(len(c.data) / 8); err != nil {
			return err
		}
		if !hit {
			continue
		}
		m.code = c.body
		if c.arrow {
			return m.push(&kont{op: callWith{}, env: m.env, vals: []Value{v}})
		}
		return nil
	}
	m.give(Unspecified)
	return nil
}

func (n *caseNode) resume(m *Machine, k *kont) error {
	m.env = k.env
	return n.choose(m, m.val)
}

// arrowNode is a clause  test => receiver  of cond.
type arrowNode struct {
	test, receiver, other node
}

func (n *arrowNode) exec(m *Machine) error {
	m.code = n.test
	return m.push(&kont{op: n, env: m.env})
}

func (n *arrowNode) resume(m *Machine, k *kont) error {
	m.env = k.env
	if !truth(m.val) {
		m.code = n.other
		return nil
	}
	m.code = n.receiver
	return m.push(&kont{op: callWith{}, vals: []Value{m.val}})
}

// callWith calls what comes back with the values it holds.
type callWith struct{}

func (callWith) resume(m *Machine, k *kont) error {
	return m.apply(m.val, append([]Value(nil), k.vals...))
}

func (n *valuesNode) exec(m *Machine) error {
	m.code = n.value
	return m.push(&kont{op: n, env: m.env})
}

func (n *valuesNode) resume(m *Machine, k *kont) error {
	m.env = k.env
	vals := spread(m.val)
	m.stand(n.pos)
	if len(vals) < n.required || len(vals) > n.required && !n.rest {
		return wrong("%d values for %d names", len(vals), len(n.targets))
	}
	for i, t := range n.targets {
		var v Value
		if i == n.required {
			if err := m.charge(sizePair * (len(vals) - i)); err != nil {
				return err
			}
			v = List(vals[i:]...)
		} else {
			v = vals[i]
		}
		var err error
		switch t := t.(type) {
		case *setLocalNode:
			err = t.set(m, v)
		case *setGlobalNode:
			err = t.set(m, v)
		}
		if err != nil {
			return err
		}
	}
	m.give(Unspecified)
	return nil
}

// spread is the values in a result.
func spread(v Value) []Value {
	if vs, ok := v.(*multiple); ok {
		return vs.items
	}
	return []Value{v}
}
