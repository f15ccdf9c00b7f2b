package shell

import (
	"path"
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
	"assent/floor/paths"
)

// Some commands put files into the tree that no word of theirs names: a pull, a
// checkout, a clone, what a stash or a patch holds. The command knowledge says
// which ones do (brings), here is where to. It only matters to what is run
// behind them in the same call: what is there may steer that, see steered.go.

// brings notes where the files go that the command brings.
func (t *typed) brings() {
	if !t.reading.Brings {
		return
	}
	in := t.broughtInto()
	if t.told != t.cmd && !slices.Equal(t.told.Brings, in) && len(t.told.Brings) > 0 {
		in = []string{"/"} // the same words, in several folders
	}
	t.cmd.Brings, t.told.Brings = in, in
}

// broughtInto is where the files go: where the command is told to write, or else the
// work tree it is run in. Of single files that it is given the names are told,
// and need not be guessed.
func (t *typed) broughtInto() []string {
	var in []string
	some, own := false, false
	for i := range t.r.out {
		if e := &t.r.out[i]; e.Kind == effect.Write && (e.Command == t.cmd || e.Command == t.told) {
			switch some = true; {
			case !e.Path.Known():
				return []string{"/"}
			case e.Path.Abs == t.cwd:
				own = true
			case !e.There || t.folderish(e.Path.Abs):
				in = append(in, e.Path.Abs)
			}
		}
	}
	fixed := slices.ContainsFunc(t.reading.Effects, func(f commands.Fixed) bool { return f.Kind == effect.Write && f.Target == "." })
	if own && !(fixed && len(in) > 0) { // a folder of its own below, whose name is told as well
		in = append(in, t.cwd)
	}
	switch {
	case some:
		return in
	case t.cwd == "":
		return []string{"/"}
	case t.r.place.Prepare(".", t.cwd).Inside(): // the work tree may begin above
		return []string{t.r.place.Workspace}
	}
	return []string{t.cwd}
}

// folderish reports whether a path may be that of a folder, as far as its name tells.
func (t *typed) folderish(p string) bool {
	return t.r.exists(p) || strings.ContainsAny(p, "*?[") || !strings.Contains(strings.TrimLeft(path.Base(p), "."), ".")
}

// mayBring reports whether files that a command brings may be what another obeys:
// they go into a folder around it, or into one below, where it may look as well.
func (r *reader) mayBring(c *effect.Command, o *obeying) bool {
	return c != o.cmd && c.Program != o.cmd.Program && slices.ContainsFunc(c.Brings, func(in string) bool {
		return o.cwd == "" || paths.Within(o.cwd, in) || paths.Within(in, o.cwd)
	})
}
