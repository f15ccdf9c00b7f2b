package scheme

// The forms of the language that are not procedures.

// toplevel compiles one form of a program.
func (c *compiler) toplevel(form Value) (node, error) {
	for {
		p, ok := form.(*Pair)
		if !ok {
			return c.expr(form, nil)
		}
		c.at(p)
		s, mac, err := c.head(p, nil)
		switch {
		case err != nil:
			return nil, err
		case mac != nil:
			if form, err = c.expand(mac, p, nil); err != nil {
				return nil, err
			}
			continue
		case s == nil:
			return c.expr(form, nil)
		case s.rewrite != nil:
			if form, err = c.rewrite(s, p, nil); err != nil {
				return nil, err
			}
			continue
		}
		args, ok := Slice(p.Cdr)
		if !ok {
			return nil, c.fail("%s: the form is not a list", s.name)
		}
		switch s.name {
		case "begin":
			n := &seqNode{nodes: []node{&constNode{Unspecified}}}
			for _, arg := range args {
				var part node
				err := c.nested(func() (err error) {
					part, err = c.toplevel(arg)
					return err
				})
				if err != nil {
					return nil, err
				}
				n.nodes = append(n.nodes, part)
			}
			return n, c.made()
		case "define":
			id, value, err := c.definition(args)
			if err != nil {
				return nil, err
			}
			cell, err := c.defined(id)
			if err != nil {
				return nil, err
			}
			n := &setGlobalNode{cell: cell, define: true, pos: c.pos}
			n.value, err = c.named(value, nil, cell.name.name)
			return n, err
		case "define-values":
			if len(args) != 2 {
				return nil, c.fail("define-values takes names and an expression")
			}
			return c.setValues(args[0], args[1], nil, true)
		case "define-syntax":
			id, mac, err := c.syntaxDefinition(args, nil)
			if err != nil {
				return nil, err
			}
			c.m.syntax[baseOf(id)] = mac
			c.m.fixed += int64(sizeObject + 64*len(mac.rules))
			for _, rule := range mac.rules {
				// What a macro holds stays.
				t := tracer{m: c.m}
				c.m.epoch++
				t.value(rule.pattern)
				t.value(rule.template)
				c.m.fixed += t.count()
				if err := c.m.work(int(t.size / sizePair)); err != nil {
					return nil, err
				}
			}
			return &constNode{Unspecified}, c.m.charge(64)
		case "import":
			return c.imports(args)
		}
		return c.expr(form, nil)
	}
}

// defined is the cell of a name that is defined at the top level.
func (c *compiler) defined(id Value) (*cell, error) {
	name := baseOf(id)
	delete(c.m.syntax, name)
	return c.m.cell(name)
}

// setValues compiles the spreading of several values over names.
func (c *compiler) setValues(formals, form Value, env *cenv, top bool) (node, error) {
	names, rest, err := c.formals(formals)
	if err != nil {
		return nil, err
	}
	n := &valuesNode{required: len(names), rest: rest != nil, pos: c.pos}
	if rest != nil {
		names = append(names, rest)
	}
	for _, id := range names {
		if top {
			cell, err := c.defined(id)
			if err != nil {
				return nil, err
			}
			n.targets = append(n.targets, &setGlobalNode{cell: cell, define: true})
			continue
		}
		at, err := c.m.lookup(id, env)
		if err != nil {
			return nil, err
		}
		n.targets = append(n.targets, &setLocalNode{up: env.level - at.layer.level, i: at.layer.names[at.i].index, define: true})
	}
	n.value, err = c.expr(form, env)
	return n, err
}

// fresh makes a name that nothing else is.
func (c *compiler) fresh(name string) Value { return &ident{name: c.m.Symbol(name)} }

// own is a procedure of the language that programs do not see.
func (c *compiler) own(name string) Value { return c.m.own[name] }

func (c *compiler) form(head string, rest ...Value) Value {
	return &Pair{Car: c.m.special(head), Cdr: List(rest...)}
}

func (c *compiler) thunk(body ...Value) Value {
	return &Pair{Car: c.m.special("lambda"), Cdr: &Pair{Car: Empty, Cdr: List(body...)}}
}

// bindings reads ((name init) ...).
func (c *compiler) bindings(who string, v Value) (names, inits []Value, err error) {
	items, ok := Slice(v)
	if !ok {
		return nil, nil, c.fail("%s: %s is no list of names and values", who, brief(v))
	}
	for _, item := range items {
		parts, ok := Slice(item)
		if !ok || len(parts) != 2 || !isName(parts[0]) {
			return nil, nil, c.fail("%s: %s is no name with a value", who, brief(item))
		}
		names, inits = append(names, parts[0]), append(inits, parts[1])
	}
	return names, inits, nil
}

func (m *Machine) installForms() {
	form := func(name string, least int, f func(c *compiler, args []Value, env *cenv) (node, error)) {
		m.syntax[m.Symbol(name)] = &special{name: name, compile: func(c *compiler, args []Value, env *cenv) (node, error) {
			if len(args) < least {
				return nil, c.fail("%s: something is missing", name)
			}
			return f(c, args, env)
		}}
	}
	rewrite := func(name string, least int, f func(c *compiler, args []Value, env *cenv) (Value, error)) {
		m.syntax[m.Symbol(name)] = &special{name: name, rewrite: func(c *compiler, args []Value, env *cenv) (Value, error) {
			if len(args) < least {
				return nil, c.fail("%s: something is missing", name)
			}
			if err := c.m.charge(8 * sizePair); err != nil {
				return nil, err
			}
			return f(c, args, env)
		}}
	}
	misplaced := func(name, why string) {
		form(name, 0, func(c *compiler, _ []Value, _ *cenv) (node, error) {
			return nil, c.fail("%s: %s", name, why)
		})
	}
	for _, name := range []string{"define", "define-values", "define-syntax"} {
		misplaced(name, "a definition cannot stand here")
	}
	misplaced("import", "it stands at the top level only")
	misplaced("syntax-rules", "it stands in a definition of syntax only")
	misplaced("include", "there are no files here")
	misplaced("include-ci", "there are no files here")
	misplaced("define-library", "libraries cannot be defined here")

	form("quote", 1, func(c *compiler, args []Value, _ *cenv) (node, error) {
		if len(args) != 1 {
			return nil, c.fail("quote takes one datum")
		}
		v, err := c.strip(args[0])
		if err != nil {
			return nil, err
		}
		return c.constant(v)
	})
	rewrite("quasiquote", 1, func(c *compiler, args []Value, env *cenv) (Value, error) {
		if len(args) != 1 {
			return nil, c.fail("quasiquote takes one template")
		}
		return c.quasi(args[0], 1, env)
	})
	form("lambda", 2, func(c *compiler, args []Value, env *cenv) (node, error) {
		l, err := c.lambda(args[0], args[1:], env)
		if err != nil {
			return nil, err // a nil *lambdaNode would be a node
		}
		return l, nil
	})
	form("case-lambda", 0, func(c *compiler, args []Value, env *cenv) (node, error) {
		n := &casesNode{}
		for _, arg := range args {
			p, ok := arg.(*Pair)
			if !ok {
				return nil, c.fail("case-lambda: %s is no clause", brief(arg))
			}
			body, ok := Slice(p.Cdr)
			if !ok {
				return nil, c.fail("case-lambda: %s is no clause", brief(arg))
			}
			l, err := c.lambda(p.Car, body, env)
			if err != nil {
				return nil, err
			}
			n.all = append(n.all, l)
		}
		return n, nil
	})
	form("if", 2, func(c *compiler, args []Value, env *cenv) (n node, err error) {
		if len(args) > 3 {
			return nil, c.fail("if takes a test and two expressions at most")
		}
		i := &ifNode{other: &constNode{Unspecified}}
		if i.test, err = c.expr(args[0], env); err != nil {
			return nil, err
		}
		if i.then, err = c.expr(args[1], env); err != nil {
			return nil, err
		}
		if len(args) == 3 {
			i.other, err = c.expr(args[2], env)
		}
		return i, err
	})
	form("set!", 2, func(c *compiler, args []Value, env *cenv) (node, error) {
		if len(args) != 2 || !isName(args[0]) {
			return nil, c.fail("set! takes a name and a value")
		}
		at, err := c.m.lookup(args[0], env)
		if err != nil {
			return nil, err
		}
		value, err := c.expr(args[1], env)
		if err != nil {
			return nil, err
		}
		if at.layer == nil {
			if c.m.syntax[at.sym] != nil {
				return nil, c.fail("set!: %s is syntax", at.sym.name)
			}
			cell, err := c.m.cell(at.sym)
			return &setGlobalNode{cell: cell, value: value, pos: c.pos}, err
		}
		b := at.layer.names[at.i]
		if b.macro != nil {
			return nil, c.fail("set!: %s is a macro", baseOf(args[0]).name)
		}
		return &setLocalNode{up: env.level - at.layer.level, i: b.index, value: value, name: baseOf(args[0]).name, pos: c.pos}, nil
	})
	form("begin", 0, func(c *compiler, args []Value, env *cenv) (node, error) {
		return c.sequence(args, env)
	})
	form("let", 2, func(c *compiler, args []Value, env *cenv) (node, error) {
		if isName(args[0]) {
			names, inits, err := c.bindings("let", args[1])
			if err != nil {
				return nil, err
			}
			loop := &Pair{Car: c.m.special("lambda"), Cdr: &Pair{Car: List(names...), Cdr: List(args[2:]...)}}
			return c.expr(&Pair{Car: c.form("letrec", List(List(args[0], loop)), args[0]), Cdr: List(inits...)}, env)
		}
		names, inits, err := c.bindings("let", args[0])
		if err != nil {
			return nil, err
		}
		if err := c.distinct(names); err != nil {
			return nil, err
		}
		nodes := make([]node, len(inits))
		for i, init := range inits {
			if nodes[i], err = c.named(init, env, baseOf(names[i]).name); err != nil {
				return nil, err
			}
		}
		return c.scope(names, nodes, args[1:], env)
	})
	form("let*", 2, func(c *compiler, args []Value, env *cenv) (node, error) {
		names, inits, err := c.bindings("let*", args[0])
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return c.scope(nil, nil, args[1:], env)
		}
		rest := args[1:]
		for i := len(names) - 1; i >= 0; i-- {
			rest = []Value{&Pair{Car: c.m.special("let"), Cdr: &Pair{Car: List(List(names[i], inits[i])), Cdr: List(rest...)}}}
		}
		return c.expr(rest[0], env)
	})
	letrec := func(c *compiler, args []Value, env *cenv) (node, error) {
		names, inits, err := c.bindings("letrec", args[0])
		if err != nil {
			return nil, err
		}
		if err := c.distinct(names); err != nil {
			return nil, err
		}
		var forms []Value
		for i, name := range names {
			forms = append(forms, c.form("define", name, inits[i]))
		}
		forms = append(forms, &Pair{Car: c.m.special("let"), Cdr: &Pair{Car: Empty, Cdr: List(args[1:]...)}})
		return c.scope(nil, nil, forms, env)
	}
	form("letrec", 2, letrec)
	form("letrec*", 2, letrec)
	form("let*-values", 2, func(c *compiler, args []Value, env *cenv) (node, error) {
		items, ok := Slice(args[0])
		if !ok {
			return nil, c.fail("let*-values: %s is no list of names and values", brief(args[0]))
		}
		rest := &Pair{Car: c.m.special("let"), Cdr: &Pair{Car: Empty, Cdr: List(args[1:]...)}}
		for i := len(items) - 1; i >= 0; i-- {
			parts, ok := Slice(items[i])
			if !ok || len(parts) != 2 {
				return nil, c.fail("let*-values: %s is no list of names with a value", brief(items[i]))
			}
			rest = List(c.own("%call-with-values"), c.thunk(parts[1]), c.form("lambda", parts[0], rest)).(*Pair)
		}
		return c.expr(rest, env)
	})
	form("let-values", 2, func(c *compiler, args []Value, env *cenv) (node, error) {
		items, ok := Slice(args[0])
		if !ok {
			return nil, c.fail("let-values: %s is no list of names and values", brief(args[0]))
		}
		// The values are taken under other names, and all bound at once.
		var real, inner []Value
		temps := make([]Value, len(items))
		values := make([]Value, len(items))
		for i, item := range items {
			parts, ok := Slice(item)
			if !ok || len(parts) != 2 {
				return nil, c.fail("let-values: %s is no list of names with a value", brief(item))
			}
			names, rest, err := c.formals(parts[0])
			if err != nil {
				return nil, err
			}
			var formals Value = Empty
			if rest != nil {
				t := c.fresh("rest")
				formals = t
				real, inner = append(real, rest), append(inner, t)
			}
			for j := len(names) - 1; j >= 0; j-- {
				t := c.fresh("value")
				formals = &Pair{Car: t, Cdr: formals}
				real, inner = append(real, names[j]), append(inner, t)
			}
			temps[i], values[i] = formals, parts[1]
		}
		if err := c.distinct(real); err != nil {
			return nil, err
		}
		bound := make([]Value, len(real))
		for i := range real {
			bound[i] = List(real[i], inner[i])
		}
		rest := &Pair{Car: c.m.special("let"), Cdr: &Pair{Car: List(bound...), Cdr: List(args[1:]...)}}
		for i := len(items) - 1; i >= 0; i-- {
			rest = List(c.own("%call-with-values"), c.thunk(values[i]), c.form("lambda", temps[i], rest)).(*Pair)
		}
		return c.expr(rest, env)
	})
	form("do", 2, func(c *compiler, args []Value, env *cenv) (node, error) {
		items, ok := Slice(args[0])
		if !ok {
			return nil, c.fail("do: %s is no list of variables", brief(args[0]))
		}
		var names, inits, steps []Value
		for _, item := range items {
			parts, ok := Slice(item)
			if !ok || len(parts) < 2 || len(parts) > 3 {
				return nil, c.fail("do: %s is no variable with a value and a step", brief(item))
			}
			names, inits = append(names, parts[0]), append(inits, parts[1])
			steps = append(steps, parts[len(parts)-1])
			if len(parts) == 2 {
				steps[len(steps)-1] = parts[0]
			}
		}
		end, ok := Slice(args[1])
		if !ok || len(end) == 0 {
			return nil, c.fail("do: a test and results are missing")
		}
		loop := c.fresh("do")
		again := append(append([]Value(nil), args[2:]...), &Pair{Car: loop, Cdr: List(steps...)})
		body := c.form("if", end[0], c.form("begin", end[1:]...), c.form("begin", again...))
		return c.expr(&Pair{Car: c.form("letrec", List(List(loop, c.form("lambda", List(names...), body))), loop), Cdr: List(inits...)}, env)
	})
	form("cond", 1, func(c *compiler, args []Value, env *cenv) (node, error) { return c.cond(args, env) })
	form("case", 1, func(c *compiler, args []Value, env *cenv) (node, error) {
		n := &caseNode{pos: c.pos}
		var err error
		if n.key, err = c.expr(args[0], env); err != nil {
			return nil, err
		}
		for i, arg := range args[1:] {
			parts, ok := Slice(arg)
			if !ok || len(parts) < 2 {
				return nil, c.fail("case: %s is no clause", brief(arg))
			}
			var clause caseClause
			if c.keyword(parts[0], "else", env) {
				if i != len(args)-2 {
					return nil, c.fail("case: clauses follow else")
				}
			} else {
				data, ok := Slice(parts[0])
				if !ok {
					return nil, c.fail("case: %s is no list of data", brief(parts[0]))
				}
				clause.data = make([]Value, len(data))
				for j, d := range data {
					if clause.data[j], err = c.strip(d); err != nil {
						return nil, err
					}
				}
				c.lam.consts = append(c.lam.consts, clause.data...)
				if err := c.m.charge(sizeValue * len(data)); err != nil {
					return nil, err
				}
			}
			body := parts[1:]
			if len(parts) == 3 && c.keyword(parts[1], "=>", env) {
				clause.arrow, body = true, parts[2:]
			}
			if clause.body, err = c.sequence(body, env); err != nil {
				return nil, err
			}
			n.clauses = append(n.clauses, clause)
		}
		return n, nil
	})
	form("and", 0, func(c *compiler, args []Value, env *cenv) (node, error) {
		if len(args) == 0 {
			return &constNode{true}, nil
		}
		n, err := c.expr(args[len(args)-1], env)
		for i := len(args) - 2; i >= 0 && err == nil; i-- {
			var test node
			test, err = c.expr(args[i], env)
			n = &ifNode{test: test, then: n, other: &constNode{false}}
		}
		return n, err
	})
	form("or", 0, func(c *compiler, args []Value, env *cenv) (node, error) {
		if len(args) == 0 {
			return &constNode{false}, nil
		}
		n := &orNode{nodes: make([]node, len(args))}
		for i, arg := range args {
			var err error
			if n.nodes[i], err = c.expr(arg, env); err != nil {
				return nil, err
			}
		}
		return n, nil
	})
	form("when", 2, func(c *compiler, args []Value, env *cenv) (node, error) {
		return c.expr(c.form("if", args[0], c.form("begin", args[1:]...)), env)
	})
	form("unless", 2, func(c *compiler, args []Value, env *cenv) (node, error) {
		return c.expr(c.form("if", args[0], Unspecified, c.form("begin", args[1:]...)), env)
	})
	form("delay", 1, func(c *compiler, args []Value, env *cenv) (node, error) {
		return c.expr(List(c.own("%promise"), c.thunk(List(c.own("%make-promise"), args[0]))), env)
	})
	form("delay-force", 1, func(c *compiler, args []Value, env *cenv) (node, error) {
		return c.expr(List(c.own("%promise"), c.thunk(args[0])), env)
	})
	form("parameterize", 2, func(c *compiler, args []Value, env *cenv) (node, error) {
		items, ok := Slice(args[0])
		if !ok {
			return nil, c.fail("parameterize: %s is no list of parameters and values", brief(args[0]))
		}
		params, values := []Value{c.own("%list")}, []Value{c.own("%list")}
		for _, item := range items {
			parts, ok := Slice(item)
			if !ok || len(parts) != 2 {
				return nil, c.fail("parameterize: %s is no parameter with a value", brief(item))
			}
			params, values = append(params, parts[0]), append(values, parts[1])
		}
		body := &Pair{Car: c.m.special("let"), Cdr: &Pair{Car: Empty, Cdr: List(args[1:]...)}}
		return c.expr(List(c.own("%parameterize"), List(params...), List(values...), c.thunk(body)), env)
	})
	form("guard", 2, func(c *compiler, args []Value, env *cenv) (node, error) {
		spec, ok := Slice(args[0])
		if !ok || len(spec) < 1 || !isName(spec[0]) {
			return nil, c.fail("guard: %s is no name with clauses", brief(args[0]))
		}
		reraise := c.fresh("reraise")
		clauses := spec[1:]
		caught := false
		if len(clauses) > 0 {
			if p, ok := clauses[len(clauses)-1].(*Pair); ok {
				caught = c.keyword(p.Car, "else", env)
			}
		}
		if !caught {
			clauses = append(append([]Value(nil), clauses...), List(true, List(reraise)))
		}
		handler := c.form("lambda", List(spec[0], reraise), c.form("cond", clauses...))
		body := &Pair{Car: c.m.special("let"), Cdr: &Pair{Car: Empty, Cdr: List(args[1:]...)}}
		return c.expr(List(c.own("%guard"), c.thunk(body), handler), env)
	})
	syntaxes := func(who string, recursive bool) {
		form(who, 2, func(c *compiler, args []Value, env *cenv) (node, error) {
			names, specs, err := c.bindings(who, args[0])
			if err != nil {
				return nil, err
			}
			inner := newEnv(env)
			from := env
			if recursive {
				from = inner
			}
			for i, id := range names {
				inner.add(id)
				mac, err := c.macro(specs[i], from)
				if err != nil {
					return nil, err
				}
				inner.names[i].macro = mac
			}
			n := &letNode{size: inner.size}
			n.body, err = c.scope(nil, nil, args[1:], inner)
			return n, err
		})
	}
	syntaxes("let-syntax", false)
	syntaxes("letrec-syntax", true)
	form("syntax-error", 1, func(c *compiler, args []Value, _ *cenv) (node, error) {
		s := Display(args[0])
		for _, a := range args[1:] {
			s += " " + brief(a)
		}
		return nil, c.fail("%s", s)
	})
	rewrite("cond-expand", 1, func(c *compiler, args []Value, env *cenv) (Value, error) {
		for _, arg := range args {
			p, ok := arg.(*Pair)
			if !ok {
				return nil, c.fail("cond-expand: %s is no clause", brief(arg))
			}
			yes, err := c.feature(p.Car, env)
			if err != nil {
				return nil, err
			}
			if yes {
				return &Pair{Car: c.m.special("begin"), Cdr: p.Cdr}, nil
			}
		}
		return nil, c.fail("cond-expand: no clause fits")
	})
	rewrite("define-record-type", 3, func(c *compiler, args []Value, _ *cenv) (Value, error) {
		forms, err := c.recordForms(args)
		return &Pair{Car: c.m.special("begin"), Cdr: List(forms...)}, err
	})
}

func (c *compiler) cond(clauses []Value, env *cenv) (node, error) {
	if len(clauses) == 0 {
		return &constNode{Unspecified}, nil
	}
	parts, ok := Slice(clauses[0])
	if !ok || len(parts) == 0 {
		return nil, c.fail("cond: %s is no clause", brief(clauses[0]))
	}
	if c.keyword(parts[0], "else", env) {
		if len(clauses) > 1 {
			return nil, c.fail("cond: clauses follow else")
		}
		return c.sequence(parts[1:], env)
	}
	test, err := c.expr(parts[0], env)
	if err != nil {
		return nil, err
	}
	var then node
	arrow := len(parts) == 3 && c.keyword(parts[1], "=>", env)
	switch {
	case arrow:
		then, err = c.expr(parts[2], env)
	case len(parts) > 1:
		then, err = c.sequence(parts[1:], env)
	}
	if err != nil {
		return nil, err
	}
	var other node
	err = c.nested(func() (err error) {
		other, err = c.cond(clauses[1:], env)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case arrow:
		return &arrowNode{test, then, other}, nil
	case then == nil:
		return &orNode{[]node{test, other}}, nil
	}
	return &ifNode{test, then, other}, nil
}

// quasi makes the form that builds a template.
func (c *compiler) quasi(x Value, depth int, env *cenv) (v Value, err error) {
	if err := c.m.work(1); err != nil {
		return nil, err
	}
	err = c.nested(func() error {
		v, err = c.quasiquote(x, depth, env)
		return err
	})
	return v, err
}

func (c *compiler) quasiquote(x Value, depth int, env *cenv) (Value, error) {
	quote := func(v Value) Value { return c.form("quote", v) }
	if err := c.m.charge(4 * sizePair); err != nil {
		return nil, err
	}
	switch x := x.(type) {
	case *Vector:
		v, err := c.quasi(List(x.items...), depth, env)
		return List(c.own("%list->vector"), v), err
	case *Pair:
		if rest, ok := x.Cdr.(*Pair); ok && rest.Cdr == Empty {
			switch {
			case c.keyword(x.Car, "unquote", env):
				if depth == 1 {
					return rest.Car, nil
				}
				v, err := c.quasi(rest.Car, depth-1, env)
				return List(c.own("%list"), quote(c.m.Symbol("unquote")), v), err
			case c.isQuasi(x.Car, env):
				v, err := c.quasi(rest.Car, depth+1, env)
				return List(c.own("%list"), quote(c.m.Symbol("quasiquote")), v), err
			}
		}
		if p, ok := x.Car.(*Pair); ok && c.keyword(p.Car, "unquote-splicing", env) {
			if rest, ok := p.Cdr.(*Pair); ok && rest.Cdr == Empty {
				tail, err := c.quasi(x.Cdr, depth, env)
				if err != nil {
					return nil, err
				}
				if depth == 1 {
					return List(c.own("%append"), rest.Car, tail), nil
				}
				v, err := c.quasi(rest.Car, depth-1, env)
				return List(c.own("%cons"), List(c.own("%list"), quote(c.m.Symbol("unquote-splicing")), v), tail), err
			}
		}
		car, err := c.quasi(x.Car, depth, env)
		if err != nil {
			return nil, err
		}
		cdr, err := c.quasi(x.Cdr, depth, env)
		return List(c.own("%cons"), car, cdr), err
	}
	return quote(x), nil
}

func (c *compiler) isQuasi(v Value, env *cenv) bool { return c.keyword(v, "quasiquote", env) }

// recordForms makes the definitions of a record type.
func (c *compiler) recordForms(args []Value) ([]Value, error) {
	fail := func() ([]Value, error) {
		return nil, c.fail("define-record-type takes a name, a constructor, a predicate and fields")
	}
	name, ctor, predicate := args[0], args[1], args[2]
	if p, ok := name.(*Pair); ok {
		name = p.Car
	}
	if !isName(name) {
		return fail()
	}
	of := &recordType{name: baseOf(name).name}
	var ids []Value
	index := func(id Value) int {
		for i, f := range ids {
			if f == id {
				return i
			}
		}
		return -1
	}
	forms := []Value{c.form("define", name, of)}
	define := func(id Value, least int, fn func(m *Machine, args []Value) (Value, error)) {
		forms = append(forms, c.form("define", id, &primitive{name: baseOf(id).name, min: least, max: least, fn: fn}))
	}
	for _, arg := range args[3:] {
		parts, ok := Slice(arg)
		if isName(arg) {
			parts, ok = []Value{arg}, true
		}
		if !ok || len(parts) == 0 || len(parts) > 3 {
			return nil, c.fail("define-record-type: %s is no field", brief(arg))
		}
		for _, p := range parts {
			if !isName(p) {
				return nil, c.fail("define-record-type: %s is no field", brief(arg))
			}
		}
		if index(parts[0]) >= 0 {
			return nil, c.fail("define-record-type: the field %s stands twice", baseOf(parts[0]).name)
		}
		i := len(ids)
		ids = append(ids, parts[0])
		of.fields = append(of.fields, baseOf(parts[0]))
		if len(parts) > 1 {
			who := baseOf(parts[1]).name
			define(parts[1], 1, func(_ *Machine, args []Value) (Value, error) {
				if r, ok := args[0].(*record); ok && r.of == of {
					return r.fields[i], nil
				}
				return nil, mismatch(who, 0, "a "+of.name, args[0])
			})
		}
		if len(parts) > 2 {
			who := baseOf(parts[2]).name
			define(parts[2], 2, func(_ *Machine, args []Value) (Value, error) {
				if r, ok := args[0].(*record); ok && r.of == of {
					r.fields[i] = args[1]
					return Unspecified, nil
				}
				return nil, mismatch(who, 0, "a "+of.name, args[0])
			})
		}
	}
	if isName(predicate) {
		define(predicate, 1, func(_ *Machine, args []Value) (Value, error) {
			r, ok := args[0].(*record)
			return ok && r.of == of, nil
		})
	} else if predicate != false {
		return fail()
	}
	if ctor == false {
		return forms, nil
	}
	// A constructor without fields takes all of them.
	takes := ids
	if p, ok := ctor.(*Pair); ok {
		if takes, ok = Slice(p.Cdr); !ok {
			return fail()
		}
		ctor = p.Car
	}
	if !isName(ctor) {
		return fail()
	}
	places := make([]int, len(takes))
	for i, id := range takes {
		if places[i] = index(id); places[i] < 0 {
			return nil, c.fail("define-record-type: %s is no field of it", brief(id))
		}
	}
	size := len(ids)
	define(ctor, len(takes), func(m *Machine, args []Value) (Value, error) {
		r := &record{of: of, fields: make([]Value, size)}
		for i := range r.fields {
			r.fields[i] = false
		}
		for i, at := range places {
			r.fields[at] = args[i]
		}
		return r, m.charge(sizeObject + sizeValue*size)
	})
	return forms, c.m.charge(sizeObject * (4 + 2*len(ids)))
}

var libraries = map[string]bool{"base": true, "case-lambda": true, "char": true, "complex": true, "cxr": true, "eval": true, "file": true, "inexact": true,
	"lazy": true, "load": true, "process-context": true, "r5rs": true, "read": true, "repl": true, "time": true, "write": true}

// library tells whether all there is of a library is here.
func library(v Value) bool {
	parts, ok := Slice(v)
	if !ok || len(parts) != 2 {
		return false
	}
	a, ok := parts[0].(*Symbol)
	if !ok {
		return false
	}
	b, ok := parts[1].(*Symbol)
	return ok && a.name == "scheme" && libraries[b.name] || testLibrary(v)
}

// testLibrary is one of the two that conformance tests are written with.
func testLibrary(v Value) bool {
	s := Write(v)
	return s == "(chibi test)" || s == "(srfi 64)"
}

// imports accepts the libraries of the language: all of it is there anyway.
func (c *compiler) imports(args []Value) (node, error) {
	for _, arg := range args {
		set := arg
		for {
			p, ok := set.(*Pair)
			if !ok {
				break
			}
			s, ok := p.Car.(*Symbol)
			rest, more := p.Cdr.(*Pair)
			if !ok || !more {
				break
			}
			if s.name != "only" && s.name != "except" {
				break
			}
			if _, inner := rest.Car.(*Pair); !inner {
				break
			}
			set = rest.Car
		}
		if !library(set) {
			return nil, c.fail("import: there is no library %s here", brief(set))
		}
		if testLibrary(set) {
			if c.m.k != nil {
				return nil, c.fail("import: tests are for the top level of a program")
			}
			if err := c.m.loadTests(); err != nil {
				return nil, err
			}
		}
	}
	return &constNode{Unspecified}, nil
}

var features = []string{"r7rs", "exact-closed", "ratios", "full-unicode", "assent"}

func (c *compiler) feature(v Value, env *cenv) (bool, error) {
	if isName(v) {
		name := baseOf(v).name
		for _, f := range features {
			if f == name {
				return true, nil
			}
		}
		return name == "else", nil
	}
	parts, ok := Slice(v)
	if !ok || len(parts) == 0 || !isName(parts[0]) {
		return false, c.fail("cond-expand: %s is no requirement", brief(v))
	}
	word := baseOf(parts[0]).name
	switch word {
	case "library":
		if len(parts) == 2 {
			v, err := c.strip(parts[1])
			return err == nil && library(v), err
		}
	case "not":
		if len(parts) == 2 {
			yes, err := c.feature(parts[1], env)
			return !yes, err
		}
	case "and", "or":
		for _, p := range parts[1:] {
			var yes bool
			err := c.nested(func() (err error) {
				yes, err = c.feature(p, env)
				return err
			})
			if err != nil || yes == (word == "or") {
				return yes, err
			}
		}
		return word == "and", nil
	}
	return false, c.fail("cond-expand: %s is no requirement", brief(v))
}
