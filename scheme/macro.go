package scheme

// ident is a name that a macro brought in: the name as its template has it,
// seen from where the macro was defined. Two expansions make two of them, so
// that a variable one binds is not the other's, nor the program's.
type ident struct {
	name Value // *Symbol or *ident
	env  *cenv
	mark uint32
}

func (x *ident) base() *Symbol {
	for {
		switch n := x.name.(type) {
		case *Symbol:
			return n
		case *ident:
			x = n
		}
	}
}

func isName(v Value) bool {
	switch v.(type) {
	case *Symbol, *ident:
		return true
	}
	return false
}

func baseOf(v Value) *Symbol {
	switch x := v.(type) {
	case *Symbol:
		return x
	case *ident:
		return x.base()
	}
	return nil
}

// cenv is what names mean at a place of a program: one layer a scope of the
// running program. nil is the top level.
type cenv struct {
	up    *cenv
	level int
	names []binding
	size  int // variables of the scope
}

type binding struct {
	id    Value // *Symbol or *ident
	index int   // of the variable
	macro *macro
	// fixed names may not be defined a second time in one body.
	fixed bool
}

func newEnv(up *cenv) *cenv {
	e := &cenv{up: up}
	if up != nil {
		e.level = up.level + 1
	} else {
		e.level = 1
	}
	return e
}

func (e *cenv) add(id Value) int {
	e.names = append(e.names, binding{id: id, index: e.size})
	e.size++
	return e.size - 1
}

// meaning is what a name refers to; two names are the same (free-identifier=?)
// when theirs are.
type meaning struct {
	layer *cenv   // nil: at the top level
	i     int     // in layer.names
	sym   *Symbol // at the top level
}

func (m *Machine) lookup(id Value, env *cenv) (meaning, error) {
	for {
		for e := env; e != nil; e = e.up {
			if err := m.work(1 + len(e.names)/16); err != nil {
				return meaning{}, err
			}
			for i := len(e.names) - 1; i >= 0; i-- {
				if e.names[i].id == id {
					return meaning{layer: e, i: i}, nil
				}
			}
		}
		x, ok := id.(*ident)
		if !ok {
			return meaning{sym: id.(*Symbol)}, nil
		}
		id, env = x.name, x.env
	}
}

// macro is a syntax-rules.
type macro struct {
	env      *cenv
	ellipsis Value // nil: the usual one
	literals []Value
	rules    []macroRule
}

type macroRule struct{ pattern, template Value }

// many is what a variable under an ellipsis matched.
type many struct{ each []any } // Value or *many

func (c *compiler) macro(spec Value, env *cenv) (*macro, error) {
	// (syntax-rules [ellipsis] (literal ...) (pattern template) ...)
	for {
		p, ok := spec.(*Pair)
		if !ok {
			return nil, c.fail("a macro must be syntax-rules")
		}
		if s, ok := p.Car.(*special); ok && s.name == "syntax-rules" {
			break
		}
		if !isName(p.Car) {
			return nil, c.fail("a macro must be syntax-rules")
		}
		at, err := c.m.lookup(p.Car, env)
		if err != nil {
			return nil, err
		}
		if at.layer == nil && c.m.syntax[at.sym] != nil {
			if s, ok := c.m.syntax[at.sym].(*special); ok && s.name == "syntax-rules" {
				break
			}
		}
		mac, err := c.macroAt(at)
		if err != nil {
			return nil, err
		}
		if mac == nil {
			return nil, c.fail("a macro must be syntax-rules")
		}
		if spec, err = c.expand(mac, p, env); err != nil {
			return nil, err
		}
	}
	items, ok := Slice(spec)
	if !ok || len(items) < 2 {
		return nil, c.fail("syntax-rules needs literals and rules")
	}
	mac := &macro{env: env}
	items = items[1:]
	if isName(items[0]) {
		mac.ellipsis = items[0]
		items = items[1:]
	}
	if len(items) == 0 {
		return nil, c.fail("syntax-rules needs literals and rules")
	}
	if mac.literals, ok = Slice(items[0]); !ok {
		return nil, c.fail("the literals of syntax-rules must be a list of names")
	}
	for _, l := range mac.literals {
		if !isName(l) {
			return nil, c.fail("the literals of syntax-rules must be names, not %s", brief(l))
		}
	}
	for _, rule := range items[1:] {
		parts, ok := Slice(rule)
		if !ok || len(parts) != 2 {
			return nil, c.fail("a rule of syntax-rules is (pattern template), not %s", brief(rule))
		}
		if _, ok := parts[0].(*Pair); !ok {
			return nil, c.fail("a pattern of syntax-rules must be a list, not %s", brief(parts[0]))
		}
		if err := c.checkPattern(mac, parts[0].(*Pair).Cdr, make(map[Value]bool)); err != nil {
			return nil, err
		}
		mac.rules = append(mac.rules, macroRule{parts[0], parts[1]})
	}
	return mac, c.m.charge(64 + 32*len(mac.rules))
}

func (c *compiler) checkPattern(mac *macro, p Value, seen map[Value]bool) error {
	dots := 0
	for {
		if err := c.m.work(1); err != nil {
			return err
		}
		switch x := p.(type) {
		case *Pair:
			is, err := c.isEllipsis(mac, x.Car)
			if err != nil {
				return err
			}
			if is {
				return c.fail("an ellipsis of a pattern must follow something")
			}
			if err := c.nested(func() error { return c.checkPattern(mac, x.Car, seen) }); err != nil {
				return err
			}
			p = x.Cdr
			if next, ok := p.(*Pair); ok {
				if is, err = c.isEllipsis(mac, next.Car); err != nil {
					return err
				}
				if is {
					if dots++; dots > 1 {
						return c.fail("a list of a pattern has one ellipsis at most")
					}
					p = next.Cdr
				}
			}
			continue
		case *Vector:
			return c.checkPattern(mac, List(x.items...), seen)
		case *Symbol, *ident:
			if literal(mac, x) || baseOf(x).name == "_" {
				return nil
			}
			if seen[x] {
				return c.fail("%s stands twice in a pattern", baseOf(x).name)
			}
			seen[x] = true
		}
		return nil
	}
}

func literal(mac *macro, id Value) bool {
	for _, l := range mac.literals {
		if l == id {
			return true
		}
	}
	return false
}

func (c *compiler) isEllipsis(mac *macro, v Value) (bool, error) {
	if !isName(v) || literal(mac, v) {
		return false, nil
	}
	if mac.ellipsis != nil {
		return v == mac.ellipsis, nil
	}
	if baseOf(v) != c.m.dots {
		return false, nil
	}
	at, err := c.m.lookup(v, mac.env)
	return at.layer == nil, err
}

// expand applies a macro to a form.
func (c *compiler) expand(mac *macro, form *Pair, env *cenv) (Value, error) {
	for _, rule := range mac.rules {
		binds := make(map[Value]any)
		// The keyword itself is not matched.
		ok, err := c.match(mac, rule.pattern.(*Pair).Cdr, form.Cdr, env, binds)
		if err != nil {
			return nil, err
		}
		if ok {
			x := &expansion{c: c, mac: mac, binds: binds, names: make(map[Value]*ident)}
			return x.fill(rule.template, true)
		}
	}
	return nil, c.fail("no rule of the macro fits %s", brief(form))
}

func (c *compiler) match(mac *macro, pattern, form Value, env *cenv, binds map[Value]any) (bool, error) {
	for {
		if err := c.m.work(1); err != nil {
			return false, err
		}
		switch p := pattern.(type) {
		case *Symbol, *ident:
			if literal(mac, p) {
				if !isName(form) {
					return false, nil
				}
				a, err := c.m.lookup(form, env)
				if err != nil {
					return false, err
				}
				b, err := c.m.lookup(p, mac.env)
				return a == b, err
			}
			if baseOf(p).name != "_" {
				binds[p] = form
			}
			return true, nil
		case *Pair:
			if next, ok := p.Cdr.(*Pair); ok {
				is, err := c.isEllipsis(mac, next.Car)
				if err != nil {
					return false, err
				}
				if is {
					return c.matchMany(mac, p.Car, next.Cdr, form, env, binds)
				}
			}
			f, ok := form.(*Pair)
			if !ok {
				return false, nil
			}
			var hit bool
			err := c.nested(func() (err error) {
				hit, err = c.match(mac, p.Car, f.Car, env, binds)
				return err
			})
			if err != nil || !hit {
				return false, err
			}
			pattern, form = p.Cdr, f.Cdr
		case *Vector:
			f, ok := form.(*Vector)
			if !ok {
				return false, nil
			}
			if err := c.m.charge(sizePair * (len(f.items) + len(p.items))); err != nil {
				return false, err
			}
			pattern, form = List(p.items...), List(f.items...)
		default:
			return c.m.equal(pattern, form)
		}
	}
}

// matchMany matches  each ... rest.
func (c *compiler) matchMany(mac *macro, each, rest, form Value, env *cenv, binds map[Value]any) (bool, error) {
	least := 0
	for p, ok := rest.(*Pair); ok; p, ok = p.Cdr.(*Pair) {
		least++
	}
	var items []Value
	tail := form
	for p, ok := tail.(*Pair); ok; p, ok = tail.(*Pair) {
		if err := c.m.charge(sizeValue); err != nil {
			return false, err
		}
		if err := c.m.work(1); err != nil {
			return false, err
		}
		items = append(items, p.Car)
		tail = p.Cdr
	}
	n := len(items) - least
	if n < 0 {
		return false, nil
	}
	var vars []Value
	if err := c.patternVars(mac, each, &vars); err != nil {
		return false, err
	}
	all := make([]*many, len(vars))
	for i, v := range vars {
		all[i] = &many{}
		binds[v] = all[i]
	}
	for _, item := range items[:n] {
		one := make(map[Value]any, len(vars))
		var hit bool
		err := c.nested(func() (err error) {
			hit, err = c.match(mac, each, item, env, one)
			return err
		})
		if err != nil || !hit {
			return false, err
		}
		for i, v := range vars {
			all[i].each = append(all[i].each, one[v])
		}
	}
	for ; n > 0; n-- {
		form = form.(*Pair).Cdr
	}
	return c.match(mac, rest, form, env, binds)
}

func (c *compiler) patternVars(mac *macro, pattern Value, vars *[]Value) error {
	for {
		if err := c.m.work(1); err != nil {
			return err
		}
		switch p := pattern.(type) {
		case *Pair:
			if err := c.nested(func() error { return c.patternVars(mac, p.Car, vars) }); err != nil {
				return err
			}
			pattern = p.Cdr
			continue
		case *Vector:
			for _, item := range p.items {
				if err := c.nested(func() error { return c.patternVars(mac, item, vars) }); err != nil {
					return err
				}
			}
		case *Symbol, *ident:
			is, err := c.isEllipsis(mac, p)
			if err != nil {
				return err
			}
			if !is && !literal(mac, p) && baseOf(p).name != "_" {
				*vars = append(*vars, p)
			}
		}
		return nil
	}
}

// expansion is one use of a macro.
type expansion struct {
	c     *compiler
	mac   *macro
	binds map[Value]any
	names map[Value]*ident
}

func (x *expansion) pair(car, cdr Value) (*Pair, error) {
	if err := x.c.m.charge(sizePair); err != nil {
		return nil, err
	}
	return &Pair{Car: car, Cdr: cdr}, nil
}

// fill makes the template's text. dots: whether an ellipsis is one here.
func (x *expansion) fill(t Value, dots bool) (v Value, err error) {
	if err := x.c.m.work(1); err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case *Symbol, *ident:
		if b, ok := x.binds[t]; ok {
			if _, is := b.(*many); is {
				return nil, x.c.fail("%s needs an ellipsis in the template", baseOf(t).name)
			}
			return b, nil
		}
		if n := x.names[t]; n != nil {
			return n, nil
		}
		n := &ident{name: t, env: x.mac.env}
		x.names[t] = n
		return n, x.c.m.charge(48)
	case *Vector:
		v, err := x.fill(List(t.items...), dots)
		if err != nil {
			return nil, err
		}
		items, ok := Slice(v)
		if !ok {
			return nil, x.c.fail("the template makes no vector")
		}
		return &Vector{items: items}, nil
	case *Pair:
		if dots {
			is, err := x.c.isEllipsis(x.mac, t.Car)
			if err != nil {
				return nil, err
			}
			if is {
				rest, ok := t.Cdr.(*Pair)
				if !ok || rest.Cdr != Empty {
					return nil, x.c.fail("(... template) has one template")
				}
				err = x.c.nested(func() (err error) {
					v, err = x.fill(rest.Car, false)
					return err
				})
				return v, err
			}
		}
		return x.fillList(t, dots)
	}
	return t, nil
}

func (x *expansion) fillList(t *Pair, dots bool) (Value, error) {
	var items []Value
	var rest Value = t
	for {
		p, ok := rest.(*Pair)
		if !ok {
			break
		}
		if dots && len(items) > 0 {
			// (a . (... b)) is (a ... b) to the reader, so only a list that
			// begins with it is an escape.
			if is, err := x.c.isEllipsis(x.mac, p.Car); err != nil {
				return nil, err
			} else if is {
				return nil, x.c.fail("an ellipsis of a template must follow something")
			}
		}
		depth := 0
		rest = p.Cdr
		for dots {
			next, ok := rest.(*Pair)
			if !ok {
				break
			}
			is, err := x.c.isEllipsis(x.mac, next.Car)
			if err != nil {
				return nil, err
			}
			if !is {
				break
			}
			depth++
			rest = next.Cdr
		}
		err := x.c.nested(func() error {
			if depth == 0 {
				v, err := x.fill(p.Car, dots)
				items = append(items, v)
				return err
			}
			return x.fillMany(p.Car, depth, &items)
		})
		if err != nil {
			return nil, err
		}
	}
	var tail Value = Empty
	if rest != Empty {
		var err error
		if tail, err = x.fill(rest, dots); err != nil {
			return nil, err
		}
	}
	for i := len(items) - 1; i >= 0; i-- {
		var err error
		if tail, err = x.pair(items[i], tail); err != nil {
			return nil, err
		}
	}
	return tail, nil
}

// fillMany fills  t ...  with depth dots behind t.
func (x *expansion) fillMany(t Value, depth int, items *[]Value) error {
	var vars []Value
	if err := x.templateVars(t, &vars); err != nil {
		return err
	}
	n, some := 0, false
	for _, v := range vars {
		seq, ok := x.binds[v].(*many)
		if !ok {
			continue
		}
		if some && len(seq.each) != n {
			return x.c.fail("what stands before an ellipsis has not the same length everywhere")
		}
		n, some = len(seq.each), true
	}
	if !some {
		return x.c.fail("nothing before an ellipsis of the template varies")
	}
	outer := x.binds
	defer func() { x.binds = outer }()
	for i := range n {
		inner := make(map[Value]any, len(outer))
		for k, b := range outer {
			inner[k] = b
		}
		for _, v := range vars {
			if seq, ok := outer[v].(*many); ok {
				inner[v] = seq.each[i]
			}
		}
		if err := x.c.m.work(1 + len(outer)); err != nil {
			return err
		}
		x.binds = inner
		if depth > 1 {
			if err := x.fillMany(t, depth-1, items); err != nil {
				return err
			}
			continue
		}
		v, err := x.fill(t, true)
		if err != nil {
			return err
		}
		*items = append(*items, v)
	}
	return nil
}

func (x *expansion) templateVars(t Value, vars *[]Value) error {
	for {
		if err := x.c.m.work(1); err != nil {
			return err
		}
		switch p := t.(type) {
		case *Pair:
			if err := x.c.nested(func() error { return x.templateVars(p.Car, vars) }); err != nil {
				return err
			}
			t = p.Cdr
			continue
		case *Vector:
			for _, item := range p.items {
				if err := x.c.nested(func() error { return x.templateVars(item, vars) }); err != nil {
					return err
				}
			}
		case *Symbol, *ident:
			if _, ok := x.binds[p]; ok {
				*vars = append(*vars, p)
			}
		}
		return nil
	}
}
