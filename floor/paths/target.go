package paths

import "assent/floor/effect"

// Target is the path of an effect, or that path with everything under it,
// ready to be compared with many patterns: what does not depend on the pattern
// is worked out once.
type Target struct {
	p    *Place
	path effect.Path
	tree bool
	// names are those of the files in a tree that are meant, see [Target.Of].
	names string
	// root and home are the place's workspace and home, links resolved.
	root, home string
	// abs and named are the texts of a glob.
	abs, named glob
}

// glob is a path of the shell's wildcards, in its parts.
type glob struct {
	segs []segment
	// fixed is the plain start and one more part, which stands for whatever
	// its wildcards match.
	fixed string
	bad   bool // a part cannot be read
}

// Target is for comparing one path with many patterns, with everything under
// it when tree is set.
func (p *Place) Target(path effect.Path, tree bool) Target {
	t := Target{p: p, path: path, tree: tree, root: p.root(), home: p.real(p.Home)}
	if path.Glob {
		t.abs, t.named = parseGlob(path.Abs), parseGlob(path.Named)
	}
	return t
}

// Of is the target with only the files of some names of what is under it, see
// [effect.Effect].Names.
func (t Target) Of(names string) Target {
	if t.tree {
		t.names = names
	}
	return t
}

// Path is the path.
func (t *Target) Path() effect.Path { return t.path }

// Tree reports whether everything under the path is meant too.
func (t *Target) Tree() bool { return t.tree }

// wide reports whether more than one path is meant.
func (t *Target) wide() bool { return t.tree || t.path.Glob }

// Itself is the path without what is under it.
func (t *Target) Itself() Target {
	alone := *t
	alone.tree = false
	return alone
}

// parseGlob takes a glob apart. A part that cannot be read is left out.
func parseGlob(text string) glob {
	segs, ok := globSegments(text)
	return glob{segs: segs, fixed: fixedPart(segs), bad: !ok}
}
