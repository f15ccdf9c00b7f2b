package scheme

// A program is compiled form by form to nodes, which the machine runs. Names
// are resolved here: a variable is a scope so many steps up and a place in it.

// node is a piece of a program. exec either leaves a value in the machine or
// says what is run next.
type node interface {
	exec(m *Machine) error
}

// lambda is what closures share.
type lambda struct {
	name     string
	required int
	rest     bool
	size     int // variables of its scope
	body     node
	pos      Pos

	// What it keeps alive, for the count of memory.
	nodes  int
	consts []Value
	inner  []*lambda
	mark   uint32
}

type compiler struct {
	m      *Machine
	places map[*Pair]Pos
	pos    Pos
	lam    *lambda // whose code is being made
	depth  int
}

// special is a form the compiler knows.
type special struct {
	name    string
	compile func(c *compiler, args []Value, env *cenv) (node, error)
	// rewrite, where there is one, makes another form of it, wherever it
	// stands.
	rewrite func(c *compiler, args []Value, env *cenv) (Value, error)
}

func (c *compiler) fail(format string, args ...any) error {
	e := wrong(format, args...).(raised)
	return &syntaxError{c.pos, e.v.(*Condition).Message}
}

// nested keeps programs from using up Go's stack.
func (c *compiler) nested(do func() error) error {
	if c.depth++; c.depth > deepest {
		return c.fail("the program is nested more than %d deep", deepest)
	}
	err := do()
	c.depth--
	return err
}

func (c *compiler) made() error {
	c.lam.nodes++
	return c.m.charge(sizeNode)
}

// at notes where a form stands; what a macro made stands where it was used.
func (c *compiler) at(p *Pair) {
	if pos, ok := c.places[p]; ok {
		c.pos = pos
	}
}

// macroAt is the macro a name means, or nil.
func (c *compiler) macroAt(at meaning) (*macro, error) {
	if at.layer != nil {
		return at.layer.names[at.i].macro, nil
	}
	mac, _ := c.m.syntax[at.sym].(*macro)
	return mac, nil
}

// head says what the first word of a form means to the compiler.
func (c *compiler) head(form *Pair, env *cenv) (*special, *macro, error) {
	if s, ok := form.Car.(*special); ok {
		return s, nil, nil
	}
	if !isName(form.Car) {
		return nil, nil, nil
	}
	at, err := c.m.lookup(form.Car, env)
	if err != nil {
		return nil, nil, err
	}
	if at.layer == nil {
		if s, ok := c.m.syntax[at.sym].(*special); ok {
			return s, nil, nil
		}
	}
	mac, err := c.macroAt(at)
	return nil, mac, err
}

// keyword tells whether v is a word of the language, like else, here.
func (c *compiler) keyword(v Value, word string, env *cenv) bool {
	if !isName(v) || baseOf(v).name != word {
		return false
	}
	at, err := c.m.lookup(v, env)
	return err == nil && at.layer == nil && at.sym.name == word
}

func (c *compiler) expr(x Value, env *cenv) (n node, err error) {
	err = c.nested(func() error {
		n, err = c.expression(x, env)
		return err
	})
	return n, err
}

func (c *compiler) expression(x Value, env *cenv) (node, error) {
	for {
		if err := c.made(); err != nil {
			return nil, err
		}
		switch v := x.(type) {
		case *Symbol, *ident:
			return c.reference(v, env)
		case *Pair:
			outer := c.pos
			c.at(v)
			s, mac, err := c.head(v, env)
			if err != nil {
				return nil, err
			}
			switch {
			case s != nil && s.rewrite != nil:
				if x, err = c.rewrite(s, v, env); err != nil {
					return nil, err
				}
				continue
			case s != nil:
				n, err := c.special(s, v, env)
				c.pos = outer
				return n, err
			case mac != nil:
				if x, err = c.expand(mac, v, env); err != nil {
					return nil, err
				}
				continue
			}
			n, err := c.call(v, env)
			c.pos = outer
			return n, err
		case empty:
			return nil, c.fail("() is no expression: a quote is missing")
		}
		return c.constant(x)
	}
}

func (c *compiler) special(s *special, form *Pair, env *cenv) (node, error) {
	items, ok := Slice(form)
	if !ok {
		return nil, c.fail("%s: the form is not a list", s.name)
	}
	return s.compile(c, items[1:], env)
}

func (c *compiler) rewrite(s *special, form *Pair, env *cenv) (Value, error) {
	items, ok := Slice(form)
	if !ok {
		return nil, c.fail("%s: the form is not a list", s.name)
	}
	return s.rewrite(c, items[1:], env)
}

func (c *compiler) constant(v Value) (node, error) {
	switch v.(type) {
	case int64, float64, bool, Char, *Symbol:
	default:
		c.lam.consts = append(c.lam.consts, v)
	}
	return &constNode{v}, nil
}

func (c *compiler) reference(id Value, env *cenv) (node, error) {
	at, err := c.m.lookup(id, env)
	if err != nil {
		return nil, err
	}
	if at.layer != nil {
		b := at.layer.names[at.i]
		if b.macro != nil {
			return nil, c.fail("%s is a macro and has no value", baseOf(id).name)
		}
		return &localNode{up: env.level - at.layer.level, i: b.index, name: baseOf(id).name, pos: c.pos}, nil
	}
	if c.m.syntax[at.sym] != nil {
		return nil, c.fail("%s is syntax and has no value", at.sym.name)
	}
	cell, err := c.m.cell(at.sym)
	return &globalNode{cell: cell, pos: c.pos}, err
}

func (c *compiler) call(form *Pair, env *cenv) (node, error) {
	items, ok := Slice(form)
	if !ok {
		return nil, c.fail("a call must be a list: %s", brief(form))
	}
	n := &callNode{pos: c.pos, parts: make([]node, len(items))}
	if err := c.m.charge(sizeValue * len(items)); err != nil {
		return nil, err
	}
	for i, item := range items {
		var err error
		if n.parts[i], err = c.expr(item, env); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// sequence compiles expressions that follow each other.
func (c *compiler) sequence(forms []Value, env *cenv) (node, error) {
	switch len(forms) {
	case 0:
		return &constNode{Unspecified}, nil
	case 1:
		return c.expr(forms[0], env)
	}
	n := &seqNode{nodes: make([]node, len(forms))}
	for i, form := range forms {
		var err error
		if n.nodes[i], err = c.expr(form, env); err != nil {
			return nil, err
		}
	}
	return n, c.made()
}

// body compiles the body of a procedure or of a form that binds: definitions,
// then expressions. env is a layer of its own, whose scope they are in.
func (c *compiler) body(forms []Value, env *cenv) (node, error) {
	type item struct {
		form   Value
		target Value // what is defined, nil for an expression
		values bool  // target is the formals of define-values
		pos    Pos
	}
	var items []item
	todo := append([]Value(nil), forms...)
	outer := c.pos
	defer func() { c.pos = outer }()
	params := len(env.names)
	define := func(id Value) error {
		for i, b := range env.names {
			if b.id == id && i >= params {
				return c.fail("%s is defined twice in one body", baseOf(id).name)
			}
		}
		env.add(id)
		return c.m.charge(sizeValue)
	}
	for len(todo) > 0 {
		form := todo[0]
		todo = todo[1:]
		p, ok := form.(*Pair)
		if !ok {
			items = append(items, item{form: form, pos: c.pos})
			continue
		}
		c.at(p)
		if err := c.m.work(1); err != nil {
			return nil, err
		}
		s, mac, err := c.head(p, env)
		if err != nil {
			return nil, err
		}
		if mac != nil {
			x, err := c.expand(mac, p, env)
			if err != nil {
				return nil, err
			}
			todo = append([]Value{x}, todo...)
			continue
		}
		if s == nil {
			items = append(items, item{form: form, pos: c.pos})
			continue
		}
		if s.rewrite != nil {
			x, err := c.rewrite(s, p, env)
			if err != nil {
				return nil, err
			}
			todo = append([]Value{x}, todo...)
			continue
		}
		args, ok := Slice(p.Cdr)
		if !ok {
			return nil, c.fail("%s: the form is not a list", s.name)
		}
		switch s.name {
		case "begin":
			todo = append(append([]Value(nil), args...), todo...)
		case "define":
			id, value, err := c.definition(args)
			if err != nil {
				return nil, err
			}
			if err := define(id); err != nil {
				return nil, err
			}
			items = append(items, item{form: value, target: id, pos: c.pos})
		case "define-values":
			if len(args) != 2 {
				return nil, c.fail("define-values takes names and an expression")
			}
			names, rest, err := c.formals(args[0])
			if err != nil {
				return nil, err
			}
			if rest != nil {
				names = append(names, rest)
			}
			for _, id := range names {
				if err := define(id); err != nil {
					return nil, err
				}
			}
			items = append(items, item{form: args[1], target: args[0], values: true, pos: c.pos})
		case "define-syntax":
			id, mac, err := c.syntaxDefinition(args, env)
			if err != nil {
				return nil, err
			}
			if err := define(id); err != nil {
				return nil, err
			}
			for i := range env.names {
				if env.names[i].id == id {
					env.names[i].macro = mac
				}
			}
		default:
			items = append(items, item{form: form, pos: c.pos})
		}
	}
	// Expressions among definitions are run where they stand.
	n := &seqNode{}
	last := false
	for _, it := range items {
		c.pos = it.pos
		var part node
		var err error
		last = it.target == nil
		switch {
		case it.target == nil:
			part, err = c.expr(it.form, env)
		case it.values:
			part, err = c.setValues(it.target, it.form, env, false)
		default:
			at, e := c.m.lookup(it.target, env)
			if e != nil {
				return nil, e
			}
			var value node
			if value, err = c.named(it.form, env, baseOf(it.target).name); err == nil {
				part = &setLocalNode{up: env.level - at.layer.level, i: at.layer.names[at.i].index, value: value, define: true, name: baseOf(it.target).name, pos: c.pos}
			}
		}
		if err != nil {
			return nil, err
		}
		n.nodes = append(n.nodes, part)
	}
	if !last {
		n.nodes = append(n.nodes, &constNode{Unspecified})
	}
	if len(n.nodes) == 1 {
		return n.nodes[0], nil
	}
	return n, c.made()
}

// named compiles the value of a name; a procedure is called so.
func (c *compiler) named(form Value, env *cenv, name string) (node, error) {
	n, err := c.expr(form, env)
	if l, ok := n.(*lambdaNode); ok && err == nil && l.name == "" {
		l.name = name
	}
	return n, err
}

// definition takes (define name value) and (define (name . formals) body ...)
// apart, also with ((name a) b).
func (c *compiler) definition(args []Value) (id, value Value, err error) {
	if len(args) == 0 {
		return nil, nil, c.fail("define takes a name and a value")
	}
	target, rest := args[0], args[1:]
	for {
		p, ok := target.(*Pair)
		if !ok {
			break
		}
		if len(rest) == 0 {
			return nil, nil, c.fail("define: the procedure has no body")
		}
		value = &Pair{Car: c.m.special("lambda"), Cdr: &Pair{Car: p.Cdr, Cdr: List(rest...)}}
		target, rest = p.Car, []Value{value}
	}
	if !isName(target) {
		return nil, nil, c.fail("define: %s is no name", brief(target))
	}
	switch len(rest) {
	case 0:
		return target, Unspecified, nil
	case 1:
		return target, rest[0], nil
	}
	return nil, nil, c.fail("define takes a name and one value")
}

// formals reads the parameters of a procedure.
func (c *compiler) formals(v Value) (names []Value, rest Value, err error) {
	for {
		switch p := v.(type) {
		case empty:
			return names, nil, c.distinct(names)
		case *Pair:
			if !isName(p.Car) {
				return nil, nil, c.fail("%s is no name of a parameter", brief(p.Car))
			}
			if err := c.m.work(1); err != nil {
				return nil, nil, err
			}
			names = append(names, p.Car)
			v = p.Cdr
			continue
		case *Symbol, *ident:
			return names, p, c.distinct(append(names[:len(names):len(names)], p))
		}
		return nil, nil, c.fail("%s is no name of a parameter", brief(v))
	}
}

func (c *compiler) distinct(names []Value) error {
	seen := make(map[Value]bool, len(names))
	for _, n := range names {
		if seen[n] {
			return c.fail("%s stands twice among the names", baseOf(n).name)
		}
		seen[n] = true
	}
	return nil
}

func (c *compiler) lambda(formals Value, body []Value, env *cenv) (*lambdaNode, error) {
	names, rest, err := c.formals(formals)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return nil, c.fail("the procedure has no body")
	}
	l := &lambda{required: len(names), rest: rest != nil, pos: c.pos}
	inner := newEnv(env)
	for _, id := range names {
		inner.add(id)
	}
	if rest != nil {
		inner.add(rest)
	}
	outer := c.lam
	outer.inner = append(outer.inner, l)
	c.lam = l
	l.body, err = c.body(body, inner)
	c.lam = outer
	l.size = inner.size
	if err != nil {
		return nil, err
	}
	return &lambdaNode{l}, nil
}

// scope compiles a body in a scope of its own whose first variables get the
// values of inits.
func (c *compiler) scope(names []Value, inits []node, body []Value, env *cenv) (node, error) {
	inner := newEnv(env)
	for _, id := range names {
		inner.add(id)
	}
	n := &letNode{inits: inits}
	var err error
	if n.body, err = c.body(body, inner); err != nil {
		return nil, err
	}
	n.size = inner.size
	return n, c.made()
}

// syntaxDefinition reads (define-syntax name rules).
func (c *compiler) syntaxDefinition(args []Value, env *cenv) (Value, *macro, error) {
	if len(args) != 2 || !isName(args[0]) {
		return nil, nil, c.fail("define-syntax takes a name and rules")
	}
	if isName(args[1]) {
		// another name for a macro
		at, err := c.m.lookup(args[1], env)
		if err != nil {
			return nil, nil, err
		}
		if mac, err := c.macroAt(at); mac != nil || err != nil {
			return args[0], mac, err
		}
	}
	mac, err := c.macro(args[1], env)
	return args[0], mac, err
}

// strip makes data of a form: names that macros brought in are symbols.
func (c *compiler) strip(v Value) (Value, error) {
	// Most data have none and stay the very object they are.
	has, err := c.hasIdent(v)
	if err != nil || !has {
		return v, err
	}
	return c.stripped(v)
}

func (c *compiler) hasIdent(v Value) (bool, error) {
	todo := []Value{v}
	var seen map[Value]bool
	for n := 0; len(todo) > 0; n++ {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch at.(type) {
		case *Pair, *Vector:
			if err := c.m.work(1); err != nil {
				return false, err
			}
			if n > 200 {
				if seen == nil {
					seen = make(map[Value]bool)
				}
				if seen[at] {
					continue
				}
				if err := c.m.charge(64); err != nil {
					return false, err
				}
				seen[at] = true
			}
		}
		switch x := at.(type) {
		case *ident:
			return true, nil
		case *Pair:
			todo = append(todo, x.Cdr, x.Car)
		case *Vector:
			todo = append(todo, x.items...)
		}
	}
	return false, nil
}

func (c *compiler) stripped(v Value) (Value, error) {
	switch x := v.(type) {
	case *ident:
		return x.base(), nil
	case *Pair:
		var items []Value
		var rest Value = x
		for p, ok := rest.(*Pair); ok; p, ok = rest.(*Pair) {
			if err := c.m.charge(sizePair); err != nil {
				return nil, err
			}
			var item Value
			err := c.nested(func() (err error) {
				item, err = c.stripped(p.Car)
				return err
			})
			if err != nil {
				return nil, err
			}
			items = append(items, item)
			rest = p.Cdr
		}
		tail, err := c.stripped(rest)
		return listWith(items, tail), err
	case *Vector:
		if err := c.m.charge(sizeValue * len(x.items)); err != nil {
			return nil, err
		}
		items := make([]Value, len(x.items))
		for i, item := range x.items {
			err := c.nested(func() (err error) {
				items[i], err = c.stripped(item)
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		return &Vector{items: items}, nil
	}
	return v, nil
}
