package shell

import (
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// moduleFolders are the variables that only tell the interpreters of one language
// where modules lie. Whoever allows the interpreter to run the code of the
// workspace has allowed it modules from there as well. Variables that name
// programs, options or libraries for every program (PATH, LD_PRELOAD,
// NODE_OPTIONS) are never among them.
var moduleFolders = map[string][]string{
	"PYTHONPATH": {"python", "pypy", "pytest", "py.test"},
	"NODE_PATH":  {"node", "nodejs"},
	"RUBYLIB":    {"ruby"},
	"PERL5LIB":   {"perl"},
}

// given is a variable that stands before a command, as it was told.
type given struct {
	name string
	at   int // its effect
	dirs []string
}

// foldersOf takes apart a list of folders that are spelled out and lie in the
// workspace, nil when one does not.
func (r *reader) foldersOf(name, value string, w *world) []string {
	if moduleFolders[name] == nil || !commands.Known(value) || value == "" || r.through != nil {
		return nil
	}
	dirs := strings.Split(value, ":")
	for _, d := range dirs {
		if p := r.place.Prepare(d, w.cwd); d == "" || p.Glob || !p.Inside() {
			return nil
		}
	}
	return dirs
}

// modules gives the variables that only tell a command where the workspace's modules
// are to that command, so that a rule for it can answer them. from is where what
// was told of the command begins.
func (r *reader) modules(vars []given, from int, w *world) {
	if len(vars) == 0 || from >= len(r.out) || !r.place.Prepare(".", w.cwd).Inside() {
		return
	}
	i := from + slices.IndexFunc(r.out[from:], func(e effect.Effect) bool { return e.Kind == effect.Run })
	if i < from {
		return
	}
	cmd := r.out[i].Command
	// Without the folder it starts in, or with a script from elsewhere, it would
	// run none of the workspace's code.
	if cmd == nil || len(cmd.Wrappers) > 0 || cmd.Has("-P") || cmd.Has("-I") ||
		slices.ContainsFunc(r.out[from:], func(e effect.Effect) bool {
			return e.Command == cmd && e.Kind == effect.Read && !e.Meta && !e.Path.Inside()
		}) {
		return
	}
	for _, v := range vars {
		if !slices.Contains(moduleFolders[v.name], strings.TrimRight(cmd.Program, "0123456789.")) {
			continue
		}
		e := &r.out[v.at]
		e.Command, e.Coverable = cmd, true
		r.seen, r.indexed = nil, 0
		for _, d := range v.dirs { // for where links lead
			r.path(pathEffect{kind: effect.Read, meta: true, text: d, span: r.out[v.at].Span, cmd: cmd}, w)
		}
	}
}
