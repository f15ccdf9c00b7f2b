package shell

import (
	"maps"
	"slices"

	"assent/floor/commands"
	"assent/floor/paths"

	"mvdan.cc/sh/v3/syntax"
)

// status is what is known of the exit status of the last command.
type status uint8

const (
	unknown status = iota
	ok
	failed
)

func (s status) not() status {
	switch s {
	case ok:
		return failed
	case failed:
		return ok
	default:
		return unknown
	}
}

// variable is what is known of a variable. The zero value is an unset one.
type variable struct {
	text     string   // abstract text of a scalar, or element 0
	list     []string // elements of an array
	array    bool
	lost     bool // an array whose elements cannot be told
	exported bool
}

type function struct {
	body  *syntax.Stmt
	spans spans
}

// world is one possible state of the shell at a point of the text.
type world struct {
	cwd         string // "" when it cannot be told
	old         string // OLDPWD
	dirs        []string
	vars        map[string]variable
	funcs       map[string]function
	aliases     map[string]string
	args        []string
	argsLost    bool
	status      status
	lastpipe    bool // the last part of a pipe runs in this shell
	globbing    bool // globs mean something else than by default
	ifs         bool // words are split in another way than by default
	shared      bool // the maps belong to another world as well
	exportAll   bool // set -a
	exportFuncs bool // a function was exported
	nextRef     bool // within one declaration: -n, -i
	nextInt     bool
	refs        map[string]bool // variables that stand for others
	integers    map[string]bool // variables whose text is arithmetic
}

func newWorld(p *paths.Place) *world {
	cwd := p.Cwd
	if cwd == "" {
		cwd = p.Workspace
	}
	return &world{cwd: cwd}
}

func (w *world) fork() *world {
	w.shared = true
	f := *w
	f.args = slices.Clip(w.args)
	f.dirs = slices.Clip(w.dirs)
	return &f
}

func (w *world) own() {
	if w.shared {
		w.vars, w.funcs, w.aliases = maps.Clone(w.vars), maps.Clone(w.funcs), maps.Clone(w.aliases)
		w.shared = false
	}
}

func (w *world) set(name, text string) { w.setVar(name, variable{text: text}) }

func (w *world) setVar(name string, v variable) {
	w.own()
	if w.vars == nil {
		w.vars = make(map[string]variable, 4)
	}
	w.vars[name] = v
	switch name {
	case "IFS":
		w.ifs = true
	case "GLOBIGNORE":
		w.globbing = true
	case "OLDPWD":
		w.old = v.text
		if !commands.Known(v.text) {
			w.old = ""
		}
	}
}

func (w *world) export(name string) {
	v, known := w.vars[name]
	if known {
		v.exported = true
		w.setVar(name, v)
	}
}

func (w *world) makeRef(name string) {
	w.refs = maps.Clone(w.refs)
	if w.refs == nil {
		w.refs = map[string]bool{}
	}
	w.refs[name] = true
}

func (w *world) makeInt(name string) {
	w.integers = maps.Clone(w.integers)
	if w.integers == nil {
		w.integers = map[string]bool{}
	}
	w.integers[name] = true
}

// child is the world of a process that this one starts: it gets the folder and
// what is exported, and none of the rest.
func (w *world) child() *world {
	c := &world{cwd: w.cwd, old: w.old, exportFuncs: w.exportFuncs}
	for name, v := range w.vars {
		if v.exported || name == "HOME" || name == "TMPDIR" || name == "USER" || name == "PATH" {
			c.setVar(name, v)
		}
	}
	c.ifs = false // a shell does not take IFS from its environment
	if w.exportFuncs {
		c.funcs, c.shared = w.funcs, true
	}
	return c
}

func (w *world) setFunc(name string, body *syntax.Stmt, sp spans) {
	w.own()
	if w.funcs == nil {
		w.funcs = make(map[string]function, 2)
	}
	w.funcs[name] = function{body, sp}
}

func (w *world) setAlias(name, text string) {
	w.own()
	if w.aliases == nil {
		w.aliases = make(map[string]string, 2)
	}
	w.aliases[name] = text
}

// equal reports whether two worlds are the same to everything that follows.
func (w *world) equal(o *world) bool {
	return w.cwd == o.cwd && w.old == o.old && w.status == o.status && w.argsLost == o.argsLost &&
		w.globbing == o.globbing && w.ifs == o.ifs && w.lastpipe == o.lastpipe &&
		slices.Equal(w.args, o.args) && slices.Equal(w.dirs, o.dirs) &&
		maps.EqualFunc(w.vars, o.vars, variable.equal) && maps.Equal(w.aliases, o.aliases) &&
		maps.EqualFunc(w.funcs, o.funcs, func(a, b function) bool { return a.body == b.body })
}

func (v variable) equal(o variable) bool {
	return v.text == o.text && v.exported == o.exported && v.array == o.array && v.lost == o.lost && slices.Equal(v.list, o.list)
}

// widen makes w hold both its own course and that of o: what differs cannot be
// told any more. It reports whether anything did.
func (w *world) widen(o *world) bool {
	changed := false
	if w.cwd != o.cwd && w.cwd != "" {
		w.cwd, changed = "", true
	}
	if w.old != o.old && w.old != "" {
		w.old, changed = "", true
	}
	if !slices.Equal(w.dirs, o.dirs) {
		w.dirs, changed = []string{""}, true
	}
	if w.argsLost != o.argsLost || !slices.Equal(w.args, o.args) {
		if !w.argsLost {
			w.args, w.argsLost, changed = nil, true, true
		}
	}
	for name, v := range o.vars {
		was, had := w.vars[name]
		if had && was.equal(v) {
			continue
		}
		lost := variable{text: commands.Unknown, array: v.array || was.array, lost: true}
		if !lost.array {
			lost.lost = false
			if digits(was.text) && digits(v.text) && had {
				lost.text = commands.Number
			}
		}
		if had && was.equal(lost) {
			continue
		}
		w.setVar(name, lost)
		changed = true
	}
	for name, f := range o.funcs {
		switch was, had := w.funcs[name]; {
		case !had:
			w.setFunc(name, f.body, f.spans)
			changed = true
		case was.body != f.body && was.body != nil: // which of them it is cannot be told
			w.setFunc(name, nil, f.spans)
			changed = true
		}
	}
	for name, a := range o.aliases {
		if _, had := w.aliases[name]; !had {
			w.setAlias(name, a)
			changed = true
		}
	}
	w.globbing = w.globbing || o.globbing
	w.ifs = w.ifs || o.ifs
	w.lastpipe = w.lastpipe || o.lastpipe
	w.status = unknown
	return changed
}

func digits(s string) bool { return s == commands.Number || isNumber(s) }

// collapse drops worlds that are the same and, past the limit, joins them.
func collapse(ws []*world) []*world {
	if len(ws) < 2 {
		return ws
	}
	out := ws[:0:0]
next:
	for _, w := range ws {
		for _, o := range out {
			if w == o || o.equal(w) {
				continue next
			}
		}
		out = append(out, w)
	}
	// Worlds that differ in nothing but the status are one of unknown status.
	if len(out) > 1 {
		kept := out[:0:0]
	again:
		for _, w := range out {
			for _, o := range kept {
				if s := o.status; s != w.status {
					o.status = w.status
					if o.equal(w) {
						o.status = unknown
						continue again
					}
					o.status = s
				}
			}
			kept = append(kept, w)
		}
		out = kept
	}
	if len(out) <= maxWorlds {
		return out
	}
	wide := out[0].fork()
	for _, w := range out[1:] {
		wide.widen(w)
	}
	return []*world{wide}
}
