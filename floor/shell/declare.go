package shell

import (
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"

	"mvdan.cc/sh/v3/syntax"
)

// declaration is one call of export, declare, typeset, local, readonly or
// nameref: what its options say of the names it is given.
type declaration struct {
	variant  string
	span     effect.Span
	export   bool
	withdraw bool // from the environment
	readonly bool
	integer  bool
	text     bool // no integer any more
	folded   bool
	case_    rune // the letter that folds
	ref      bool
	lists    bool // an array with names for subscripts
	array    bool
	global   bool
	funcs    bool // its names are those of functions
	shows    bool
	named    bool // a name was given
}

func newDeclaration(variant string, span effect.Span) *declaration {
	return &declaration{variant: variant, span: span, export: variant == "export", readonly: variant == "readonly", ref: variant == "nameref"}
}

// decl follows the declarations that the parser knows.
func (r *reader) decl(c *syntax.DeclClause, w *world) []*world {
	d := newDeclaration(c.Variant.Value, r.spans.span(c))
	if bashWords[d.variant] {
		r.differs(posix)
	}
	if f, isFunc := w.funcs.get(d.variant); isFunc {
		var ws []word
		for _, a := range c.Args {
			ws = append(ws, word{commands.Words, d.span, nil})
			r.assigned(a.Value, w)
		}
		return r.function(f, append([]word{{d.variant, d.span, nil}}, ws...), nil, w, d.span)
	}
	r.met = false
	before := d.elsewhere(r, w)
	rights := make([]right, len(c.Args)) // all are expanded before any of the names changes
	for i, a := range c.Args {
		if a.Name != nil && !a.Naked {
			rights[i] = r.evaluate(a, w)
			if strings.ContainsAny(rights[i].text, " \t\n") && a.Value != nil && splits(a.Value) {
				r.differs(posix) // which splits it
			}
		}
	}
	for i, a := range c.Args {
		switch {
		case a.Name != nil && !a.Naked:
			d.named = true
			if d.funcs { // a number of zsh's (typeset -F)
				r.count(rights[i].text, d.span)
			}
			d.before(r, a.Name.Value, w)
			r.store(a, rights[i], w, d.export)
			if a.Array != nil && (d.integer || d.folded) {
				w.setVar(a.Name.Value, anyElements(w.vars.at(a.Name.Value), true))
			}
			if d.folded && a.Array == nil {
				d.fold(rights[i].text, a, w)
			}
			d.after(r, a.Name.Value, w)
		case a.Name != nil:
			d.word(r, a.Name.Value, w)
		case a.Value != nil:
			for _, t := range r.fields(a.Value, w) {
				d.word(r, t, w)
			}
		}
	}
	if d.prints() {
		r.add(effect.Effect{Kind: effect.Run, Target: d.variant, Span: d.span,
			Command: &effect.Command{Program: d.variant, Class: effect.Environ, Described: true}})
		r.print(commands.Words)
	}
	w.status = unknown
	r.tellSecrets(d.span, nil)
	return collapse(append(before, w))
}

// elsewhere is the course on which the declaration does nothing: local outside
// of functions, which only some shells take.
func (d *declaration) elsewhere(r *reader, w *world) []*world {
	if d.variant != "local" || r.frame.calls > 0 {
		return nil
	}
	same := w.fork()
	same.status = failed
	return []*world{same}
}

// declWords is the same for words that were expanded ("command export x=1").
func (r *reader) declWords(ws []word, _ []string, w *world, ctx context) []*world {
	d := newDeclaration(ws[0].text, spanOf(ws))
	before := d.elsewhere(r, w)
	for _, x := range ws[1:] {
		d.word(r, x.text, w)
	}
	class := effect.Look
	if d.prints() {
		class = effect.Environ
		r.print(commands.Words)
	}
	r.runBuiltin(ws, class, ctx)
	return collapse(append(before, w))
}

// prints reports whether values are printed.
func (d *declaration) prints() bool {
	return !d.funcs && d.variant != "local" && (!d.named || d.shows)
}

// word reads one word: options, NAME or NAME=value.
func (d *declaration) word(r *reader, t string, w *world) {
	if strings.HasPrefix(t, "-") && len(t) > 1 || strings.HasPrefix(t, "+") {
		d.option(r, t)
		return
	}
	d.named = true
	name, text, assigns := strings.Cut(t, "=")
	if !isName(name) {
		if !d.funcs || !commands.Known(name) {
			r.subscript(name, d.span)
			r.opaque(d.span, d.variant+" of a variable that cannot be told")
		}
		return
	}
	if d.funcs {
		if assigns {
			r.count(text, d.span) // the same
		}
		switch {
		case d.readonly:
			r.opaque(d.span, "a function that cannot be changed any more")
		case d.export:
			w.exportFuncs = true
			r.add(effect.Effect{Kind: effect.Env, Target: "BASH_FUNC_" + name + "%%", Span: d.span})
		}
		return
	}
	was, had := w.vars.get(name)
	if d.integer && !assigns && had {
		r.count(was.text, d.span)
	}
	if !assigns {
		d.searches(r, name)
	}
	d.before(r, name, w)
	if d.variant == "local" && !assigns && had { // in dash it keeps the value
		if r.differs(posix); r.lang == posix {
			w.setVar(name, was)
		}
	}
	if assigns && strings.HasPrefix(text, "(") {
		r.opaque(d.span, "a list given as text")
		w.setVar(name, variable{text: commands.Unknown, array: true, lost: true})
	} else if assigns {
		r.assignVar(w, name, text, d.span)
		if d.export {
			r.pass(name, text, d.span, nil, w)
		}
	} else if v, known := w.vars.get(name); known && d.export {
		r.pass(name, v.text, d.span, nil, w)
	}
	d.after(r, name, w)
}

// option reads a word of options: "-" turns on, "+" turns off.
func (d *declaration) option(r *reader, t string) {
	if !commands.Known(t) {
		r.opaque(d.span, d.variant+" with an option that cannot be told")
	}
	off := t[0] == '+'
	for _, c := range t[1:] {
		switch c {
		case 'x':
			d.export, d.withdraw = !off, off
		case 'n':
			if d.variant == "export" {
				d.export, d.withdraw = false, true
			} else {
				d.ref = true
			}
		case 'r':
			d.readonly = true
		case 'i':
			d.integer, d.text = !off, off
		case 'u', 'l', 'c':
			d.folded, d.case_ = true, c
		case 'A':
			d.lists = true
		case 'a':
			d.array = true
		case 'g':
			d.global = true
		case 'I':
			r.opaque(d.span, "a variable that takes the value of another scope")
		case 'f', 'F':
			d.funcs = true
		case 'p':
			d.shows = true
		}
	}
}

// searches is told of a name that gets no value. A function that declares the
// search path has none, a list has another than the text had, and what is
// withdrawn from the environment no program has.
func (d *declaration) searches(r *reader, name string) {
	hides := r.frame.calls > 0 && d.variant != "export" && !d.global && !d.shows
	if hides || d.withdraw || d.variant != "export" && d.variant != "readonly" && (d.array || d.lists) {
		r.pathless(name, d.span)
	}
}

// fold gives a variable of one case its value in that case.
func (d *declaration) fold(text string, a *syntax.Assign, w *world) {
	v, known := w.vars.get(a.Name.Value)
	if !known || a.Append || !commands.Known(text) {
		return
	}
	switch d.case_ {
	case 'l':
		v.text = strings.ToLower(text)
	case 'u':
		v.text = strings.ToUpper(text)
	default:
		return
	}
	w.setVar(a.Name.Value, v)
}

// before applies what holds when the value is assigned.
func (d *declaration) before(r *reader, name string, w *world) {
	if r.frame.calls > 0 && d.variant != "export" && d.variant != "readonly" && !d.shows {
		switch _, hidden := w.locals.get(name); {
		case !d.global:
			w.hide(name)
		case hidden || r.frame.calls > 1:
			r.opaque(d.span, "a global variable behind one of the function")
		}
	}
	if d.ref {
		w.makeRef(name)
		r.opaque(d.span, "a variable that stands for another one")
	}
	if d.text {
		w.mark(name, func(v *variable) { v.integer = v.integer && v.readonly })
	}
	if !d.integer && !d.folded && !d.lists {
		return
	}
	v, known := w.vars.get(name)
	if !known {
		v.text = commands.Unknown // it may come from the environment
	}
	v.integer, v.folded = v.integer || d.integer, v.folded || d.folded
	if d.lists {
		v.numbers = !known || v.numeric()
		v.array, v.lost = true, true
	}
	if d.integer && name == "_" {
		r.opaque(d.span, "each command's last word becomes arithmetic")
	}
	w.setVar(name, v)
}

// after applies what holds once the value is there.
func (d *declaration) after(r *reader, name string, w *world) {
	if d.lists {
		w.setVar(name, anyElements(w.vars.at(name), true))
	}
	if !d.export && !d.withdraw && !d.readonly {
		return
	}
	if _, known := w.vars.get(name); !known && d.readonly {
		w.set(name, commands.Unknown)
	}
	if _, known := w.vars.get(name); !known && d.export && !d.withdraw {
		w.makeExport(name)
	}
	w.mark(name, func(v *variable) {
		v.exported = v.exported && !d.withdraw || d.export
		v.readonly = v.readonly || d.readonly
	})
}
