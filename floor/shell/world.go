package shell

import (
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
	vars        dict[variable]
	funcs       dict[function]
	aliases     dict[alias]
	args        []string
	argsLost    bool
	status      status
	lastpipe    bool        // the last part of a pipe runs in this shell
	globbing    bool        // globs mean something else than by default
	ifs         bool        // words are split in another way than by default
	exportAll   bool        // set -a
	exportFuncs bool        // a function was exported
	physical    bool        // cd and pwd follow links
	alien       bool        // the environment is not the one the text started with
	refs        dict[mark]  // variables that stand for others
	exports     dict[mark]  // names that were exported before anything was known of them
	locals      dict[local] // what the variables of the function hide
	self        [1]*world   // see alone
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

// set gives a variable a text and leaves what else is known of it.
func (w *world) set(name, text string) {
	v := w.vars.at(name)
	v.text, v.list, v.array, v.lost, v.unset = text, nil, false, false, false
	w.setVar(name, v)
}

// setVar puts a variable in place of what was there, unless that cannot change.
func (w *world) setVar(name string, v variable) {
	if old := w.vars.at(name); old.readonly {
		return
	}
	w.put(name, v)
}

func (w *world) put(name string, v variable) {
	w.vars = w.vars.put(name, v)
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
		w.vars = w.vars.del(name)
	}
}

// mark changes what is known of a variable besides its text.
func (w *world) mark(name string, change func(*variable)) {
	if v, known := w.vars.get(name); known {
		change(&v)
		w.put(name, v)
	}
}

// hide makes a variable one of the function that runs; when the function
// returns, what it hides is there again.
func (w *world) hide(name string) {
	old, had := w.vars.get(name)
	if old.readonly {
		return
	}
	if w.locals.has(name) {
		return
	}
	w.locals = w.locals.put(name, local{old, had})
	w.put(name, variable{unset: true, exported: old.exported})
}

// show ends the function that runs: what its variables hid is there again.
func (w *world) show(outer dict[local]) {
	for name, l := range w.locals.all() {
		if l.had {
			w.put(name, l.variable)
			continue
		}
		w.vars = w.vars.del(name)
		if name == "IFS" {
			w.ifs = false
		}
	}
	w.locals = outer
}

func (w *world) makeRef(name string) { w.refs = w.refs.put(name, mark{}) }

// makeExport remembers that a variable nobody assigned so far is exported.
func (w *world) makeExport(name string) { w.exports = w.exports.put(name, mark{}) }

// exported reports whether programs get a variable.
func (w *world) exported(name string) bool {
	return w.vars.at(name).exported || w.exports.has(name) || w.exportAll
}

// child is the world of a process that this one starts: it gets the folder and
// what is exported, and none of the rest.
func (w *world) child(place *paths.Place) *world {
	c := &world{cwd: w.cwd, old: w.old, exportFuncs: w.exportFuncs, exports: w.exports, alien: w.alien}
	c.vars = w.vars.filter(func(name string, v variable) (variable, bool) {
		_, given := place.Var(name)
		passed := v.exported || given || name == "HOME" || name == "TMPDIR" || name == "USER" || name == "PATH"
		// A shell does not take IFS from its environment.
		return variable{text: v.text, unset: v.unset, exported: true}, passed && name != "IFS"
	})
	if w.exportFuncs {
		c.funcs = w.funcs
	}
	return c
}

// bare takes everything out of the environment.
func (w *world) bare() {
	w.vars, w.alien = dict[variable]{}, true
	w.put("PATH", variable{unset: true, exported: true})
}

func (w *world) setFunc(name string, body *syntax.Stmt, sp spans) {
	w.funcs = w.funcs.put(name, function{body, sp})
}

// plainIFS reports whether words are split at nothing that stands in numbers.
func (w *world) plainIFS() bool {
	v := w.vars.at("IFS")
	return !v.array && commands.Known(v.text) && !strings.ContainsAny(v.text, "-0123456789")
}

// blankIFS reports whether lines are split at blanks, or not at all.
func (w *world) blankIFS() bool {
	v := w.vars.at("IFS")
	return !w.ifs || !v.array && strings.Trim(v.text, " \t\n") == ""
}

func (w *world) dropFunc(name string) {
	w.funcs = w.funcs.del(name)
}

func (w *world) dropAlias(name string) {
	w.aliases = w.aliases.del(name)
}

func (w *world) setAlias(name, text string) {
	w.aliases = w.aliases.put(name, alias(text))
}

// equal reports whether two worlds are the same to everything that follows.
func (w *world) equal(o *world) bool {
	return w.cwd == o.cwd && w.old == o.old && w.status == o.status && w.argsLost == o.argsLost &&
		w.globbing == o.globbing && w.ifs == o.ifs && w.lastpipe == o.lastpipe && w.alien == o.alien && w.physical == o.physical &&
		w.exportAll == o.exportAll && w.exportFuncs == o.exportFuncs &&
		slices.Equal(w.args, o.args) && slices.Equal(w.dirs, o.dirs) &&
		w.vars.equal(o.vars) && w.aliases.equal(o.aliases) && w.refs.equal(o.refs) && w.exports.equal(o.exports) &&
		w.locals.equal(o.locals) && w.funcs.equal(o.funcs)
}

// mark is of a name of which nothing else is to be said.
type mark struct{}

func (mark) equal(mark) bool { return true }
func (mark) sum() uint64     { return 0 }

// alias is what stands for an alias.
type alias string

func (a alias) equal(o alias) bool { return a == o }
func (a alias) sum() uint64        { return sumOf(string(a)) }

func (f function) equal(o function) bool { return f.body == o.body }
func (f function) sum() uint64           { return 0 } // equal bodies are one body

func (l local) equal(o local) bool { return l.had == o.had && l.variable.equal(o.variable) }

// sum looks at no more of a long value than its beginning.
func (v variable) sum() uint64 {
	h := sumOf(v.text[:min(len(v.text), 64)]) ^ uint64(len(v.text))<<32 ^ uint64(len(v.list))<<16
	for i, flag := range [...]bool{v.array, v.lost, v.numbers, v.unset, v.exported, v.readonly, v.integer, v.folded} {
		if flag {
			h ^= 1 << i
		}
	}
	return mixed(h)
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
		was, had := w.vars.get(name)
		if !had { // what it was before is not known
			was = variable{text: commands.Unknown}
		}
		if both := was.or(v); !(had && (was.equal(v) || was.equal(both))) {
			w.put(name, both)
			changed = true
		}
	}
	for name, v := range w.vars.differing(o.vars) {
		if !v.inB {
			v.b = variable{text: commands.Unknown}
		}
		join(name, v.b)
	}
	for name, l := range w.locals.differing(o.locals) {
		if !l.inB {
			continue
		}
		both := local{l.a.or(l.b.variable), true}
		w.locals = w.locals.put(name, both)
		changed = changed || !l.inA || !l.a.variable.equal(both.variable)
	}
	for name, v := range w.refs.differing(o.refs) {
		if !v.inA {
			w.makeRef(name)
			changed = true
		}
	}
	for name, v := range w.exports.differing(o.exports) {
		if !v.inA {
			w.makeExport(name)
			changed = true
		}
	}
	for name, f := range w.funcs.differing(o.funcs) {
		switch {
		case !f.inA:
			w.setFunc(name, f.b.body, f.b.spans)
			changed = true
		case f.a.body == nil:
		case f.inB: // which of them it is cannot be told
			w.setFunc(name, nil, f.b.spans)
			changed = true
		default: // the function or the program
			w.setFunc(name, nil, f.a.spans)
			changed = true
		}
	}
	for name, a := range w.aliases.differing(o.aliases) {
		if !a.inA {
			w.setAlias(name, string(a.b))
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
