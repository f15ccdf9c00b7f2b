package shell

import (
	"maps"
	"slices"
	"strings"

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

// variable is what is known of a variable. The zero value is an empty one.
type variable struct {
	text     string   // abstract text of a scalar, or element 0
	list     []string // elements of an array
	array    bool
	lost     bool // an array whose elements cannot be told
	numbers  bool // they are numbers all the same
	unset    bool
	exported bool
	readonly bool // no assignment changes it; some courses may have one that does
	integer  bool // what is assigned is arithmetic
	folded   bool // what is assigned changes its case
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
	lastpipe    bool             // the last part of a pipe runs in this shell
	globbing    bool             // globs mean something else than by default
	ifs         bool             // words are split in another way than by default
	shared      bool             // the maps belong to another world as well
	exportAll   bool             // set -a
	exportFuncs bool             // a function was exported
	physical    bool             // cd and pwd follow links
	alien       bool             // the environment is not the one the text started with
	refs        map[string]bool  // variables that stand for others
	exports     map[string]bool  // names that were exported before anything was known of them
	locals      map[string]local // what the variables of the function hide
	self        [1]*world        // see alone
}

// local is what a variable of a function hides, if there was anything.
type local struct {
	variable
	had bool
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

// alone is the world as the only course. The list is the world's own: who adds
// to it gets another one, and nobody puts anything in its place.
func (w *world) alone() []*world {
	w.self[0] = w
	return w.self[:]
}

func (w *world) own() {
	if w.shared {
		w.vars, w.funcs, w.aliases = maps.Clone(w.vars), maps.Clone(w.funcs), maps.Clone(w.aliases)
		w.shared = false
	}
}

// set gives a variable a text and leaves what else is known of it.
func (w *world) set(name, text string) {
	v := w.vars[name]
	v.text, v.list, v.array, v.lost, v.unset = text, nil, false, false, false
	w.setVar(name, v)
}

// setVar puts a variable in place of what was there, unless that cannot change.
func (w *world) setVar(name string, v variable) {
	if old := w.vars[name]; old.readonly {
		return
	}
	w.put(name, v)
}

func (w *world) put(name string, v variable) {
	w.own()
	if w.vars == nil {
		w.vars = make(map[string]variable, 4)
	}
	w.vars[name] = v
	switch name {
	case "IFS":
		w.ifs = !v.unset // unset means the default
	case "GLOBIGNORE":
		w.globbing = true
	case "OLDPWD":
		w.old = v.text
		if !commands.Known(v.text) {
			w.old = ""
		}
		delete(w.vars, name)
	}
}

// mark changes what is known of a variable besides its text.
func (w *world) mark(name string, change func(*variable)) {
	if v, known := w.vars[name]; known {
		change(&v)
		w.put(name, v)
	}
}

// hide makes a variable one of the function that runs; when the function
// returns, what it hides is there again.
func (w *world) hide(name string) {
	old, had := w.vars[name]
	if old.readonly {
		return
	}
	if _, done := w.locals[name]; done {
		return
	}
	w.locals = maps.Clone(w.locals)
	if w.locals == nil {
		w.locals = map[string]local{}
	}
	w.locals[name] = local{old, had}
	w.put(name, variable{unset: true, exported: old.exported})
}

// show ends the function that runs: what its variables hid is there again.
func (w *world) show(outer map[string]local) {
	for name, l := range w.locals {
		if l.had {
			w.put(name, l.variable)
			continue
		}
		w.own()
		delete(w.vars, name)
		if name == "IFS" {
			w.ifs = false
		}
	}
	w.locals = outer
}

func (w *world) makeRef(name string) { w.refs = with(w.refs, name) }

// makeExport remembers that a variable nobody assigned so far is exported.
func (w *world) makeExport(name string) { w.exports = with(w.exports, name) }

// with is a set with a further name; worlds share the one it was.
func with(set map[string]bool, name string) map[string]bool {
	if set[name] {
		return set
	}
	more := maps.Clone(set)
	if more == nil {
		more = map[string]bool{}
	}
	more[name] = true
	return more
}

// exported reports whether programs get a variable.
func (w *world) exported(name string) bool {
	return w.vars[name].exported || w.exports[name] || w.exportAll
}

// child is the world of a process that this one starts: it gets the folder and
// what is exported, and none of the rest.
func (w *world) child(place *paths.Place) *world {
	c := &world{cwd: w.cwd, old: w.old, exportFuncs: w.exportFuncs, exports: w.exports, alien: w.alien}
	for name, v := range w.vars {
		if _, given := place.Var(name); v.exported || given || name == "HOME" || name == "TMPDIR" || name == "USER" || name == "PATH" {
			c.put(name, variable{text: v.text, unset: v.unset, exported: true})
		}
	}
	// A shell does not take these from its environment.
	delete(c.vars, "IFS")
	c.ifs, c.globbing = false, false
	if w.exportFuncs {
		c.funcs, c.shared = w.funcs, true
	}
	return c
}

// bare takes everything out of the environment.
func (w *world) bare() {
	w.vars, w.alien = nil, true
	w.put("PATH", variable{unset: true, exported: true})
}

func (w *world) setFunc(name string, body *syntax.Stmt, sp spans) {
	w.own()
	if w.funcs == nil {
		w.funcs = make(map[string]function, 2)
	}
	w.funcs[name] = function{body, sp}
}

// plainIFS reports whether words are split at nothing that stands in numbers.
func (w *world) plainIFS() bool {
	v := w.vars["IFS"]
	return !v.array && commands.Known(v.text) && !strings.ContainsAny(v.text, "-0123456789")
}

// blankIFS reports whether lines are split at blanks, or not at all.
func (w *world) blankIFS() bool {
	v := w.vars["IFS"]
	return !w.ifs || !v.array && strings.Trim(v.text, " \t\n") == ""
}

func (w *world) dropFunc(name string) {
	w.own()
	delete(w.funcs, name)
}

func (w *world) dropAlias(name string) {
	w.own()
	delete(w.aliases, name)
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
		w.globbing == o.globbing && w.ifs == o.ifs && w.lastpipe == o.lastpipe && w.alien == o.alien && w.physical == o.physical &&
		w.exportAll == o.exportAll && w.exportFuncs == o.exportFuncs &&
		slices.Equal(w.args, o.args) && slices.Equal(w.dirs, o.dirs) &&
		maps.EqualFunc(w.vars, o.vars, variable.equal) && maps.Equal(w.aliases, o.aliases) && maps.Equal(w.refs, o.refs) && maps.Equal(w.exports, o.exports) &&
		maps.EqualFunc(w.locals, o.locals, func(a, b local) bool { return a.had == b.had && a.equal(b.variable) }) &&
		maps.EqualFunc(w.funcs, o.funcs, func(a, b function) bool { return a.body == b.body })
}

func (v variable) equal(o variable) bool {
	return v.text == o.text && v.exported == o.exported && v.array == o.array && v.lost == o.lost && v.unset == o.unset &&
		v.readonly == o.readonly && v.numbers == o.numbers && v.integer == o.integer && v.folded == o.folded && slices.Equal(v.list, o.list)
}

// or is a variable of which it is not known which of two it is.
func (v variable) or(o variable) variable {
	both := variable{text: commands.Unknown, array: v.array || o.array, exported: v.exported || o.exported,
		readonly: v.readonly || o.readonly, integer: v.integer || o.integer, folded: v.folded || o.folded}
	both.lost, both.numbers = both.array, v.numeric() && o.numeric()
	if !both.array && digits(v.text) && digits(o.text) && !v.unset && !o.unset {
		both.text = commands.Number
	}
	return both
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
	join := func(name string, v variable) {
		was, had := w.vars[name]
		if !had { // what it was before is not known
			was = variable{text: commands.Unknown}
		}
		if both := was.or(v); !(had && (was.equal(v) || was.equal(both))) {
			w.put(name, both)
			changed = true
		}
	}
	for name, v := range o.vars {
		join(name, v)
	}
	for name := range w.vars {
		if _, has := o.vars[name]; !has {
			join(name, variable{text: commands.Unknown})
		}
	}
	for name, l := range o.locals {
		if was, had := w.locals[name]; !had || was.had != l.had || !was.equal(l.variable) {
			w.locals = maps.Clone(w.locals)
			if w.locals == nil {
				w.locals = map[string]local{}
			}
			w.locals[name] = local{was.or(l.variable), true}
			changed = changed || !had || !was.equal(w.locals[name].variable)
		}
	}
	for name := range o.refs {
		if !w.refs[name] {
			w.makeRef(name)
			changed = true
		}
	}
	for name := range o.exports {
		if !w.exports[name] {
			w.makeExport(name)
			changed = true
		}
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
	for name, was := range w.funcs {
		if _, has := o.funcs[name]; !has && was.body != nil { // the function or the program
			w.setFunc(name, nil, was.spans)
			changed = true
		}
	}
	for name, a := range o.aliases {
		if _, had := w.aliases[name]; !had {
			w.setAlias(name, a)
			changed = true
		}
	}
	for _, flag := range [...]struct {
		w *bool
		o bool
	}{{&w.globbing, o.globbing}, {&w.ifs, o.ifs}, {&w.lastpipe, o.lastpipe}, {&w.alien, o.alien}, {&w.physical, o.physical},
		{&w.exportAll, o.exportAll}, {&w.exportFuncs, o.exportFuncs}} {
		if flag.o && !*flag.w {
			*flag.w, changed = true, true
		}
	}
	w.status = unknown
	return changed
}

// numeric reports whether a variable holds numbers or nothing, in each of its
// elements: arithmetic over it runs no code.
func (v variable) numeric() bool {
	switch {
	case v.unset:
		return true
	case v.array && v.lost:
		return v.numbers
	case v.array:
		return !slices.ContainsFunc(v.list, func(s string) bool { return s != "" && !digits(s) })
	}
	return v.text == "" || digits(v.text)
}

// anyElements is an array in which elements were changed: what they are cannot
// be told, but for whether they are numbers.
func anyElements(old variable, numbers bool) variable {
	return variable{text: commands.Unknown, array: true, lost: true, numbers: numbers && old.numeric(), integer: old.integer}
}

func digits(s string) bool { return s == commands.Number || isNumber(s) }

// collapse drops worlds that are the same and, past the limit, joins them.
func collapse(ws []*world) []*world {
	if len(ws) < 2 {
		return ws
	}
	out := make([]*world, 0, len(ws))
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
		kept := out[:0] // never behind what is looked at
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
