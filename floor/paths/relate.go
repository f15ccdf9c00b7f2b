package paths

import (
	"strings"

	"assent/floor/effect"
)

// Relation says how a pattern and the paths of an effect relate. The order is
// that of strength.
type Relation uint8

const (
	// Apart: no path of the effect is matched.
	Apart Relation = iota
	// Possible: one may be, but only if a file of that name happens to be
	// there: a pattern for any depth under a tree, or a glob that says nothing
	// of the name. The files known to exist decide (Facts.Files).
	Possible
	// Overlap: some are matched, or would be on a file system that compares
	// names more loosely.
	Overlap
	// Covers: every one is matched, exactly.
	Covers
)

var relationNames = [...]string{"apart", "possible", "overlap", "covers"}

// String is the relation's name.
func (r Relation) String() string {
	if int(r) < len(relationNames) {
		return relationNames[r]
	}
	return "overlap"
}

// Relate compares the pattern with the path of an effect, or with the path
// and everything under it when tree is set.
//
// Covers is for rules that allow: it is exact, holds for every path of the
// effect, and a pattern for any depth covers only inside the workspace.
// Overlap is for rules that restrict: it also holds for names that differ in
// case or in how a letter is composed, for the path before its symlinks were
// resolved, for what lies in a folder that is matched, and anywhere outside
// the workspace. Inside, a pattern for any depth does not look at the folders
// that lead to the workspace: one that is kept in a folder named "secrets" is
// a workspace all the same. An unknown path overlaps everything, the caller
// decides what that means; one of which at least the name is known overlaps
// what that name does.
func (pt Pattern) Relate(p *Place, path effect.Path, tree bool) Relation {
	t := p.Target(path, tree)
	return pt.RelateTo(&t)
}

// RelateTo is Relate for a path that many patterns are compared with.
func (pt Pattern) RelateTo(t *Target) Relation {
	c := pt.c
	switch {
	case c == nil:
		return Apart
	case !t.path.Known() && t.path.Named == "":
		return Overlap
	case c.set != nil:
		r := c.set.relate(t)
		if !t.path.Known() { // what it is called as may be all of a set, what it is may not
			r = min(r, Overlap)
		}
		return r
	case t.path.Glob:
		return c.relateGlobs(t)
	}
	r := c.relatePlain(t, t.path.Abs, true)
	if t.path.Named != "" && r < Overlap {
		r = max(r, c.relatePlain(t, t.path.Named, false))
	}
	return r
}

// base is the folder the pattern starts from, "" when it is unknown; rest are
// its segments from there.
func (c *compiled) base(t *Target, segs []segment) (dir string, rest []segment) {
	p := t.p
	switch c.anchor {
	case atWorkspace:
		return t.root, segs
	case atHome:
		return t.home, segs
	case atVar:
		v, ok := p.Var(c.varn)
		if !ok || v[0] != '/' || strings.Contains(v, "/..") {
			return "", nil
		}
		return p.real(join(v, ".")), segs
	case atRoot:
		// The folders directly under "/" may be links ("/tmp" on macOS); nobody
		// but the administrator makes them. Deeper links are not followed here:
		// what an agent can replace must not move a rule.
		if len(p.Facts.Links) > 0 && len(segs) > 0 && segs[0].plain {
			top := "/" + segs[0].exact.name
			if real := p.real(top); real != top {
				return real, segs[1:]
			}
		}
	}
	return "/", segs
}

// relatePlain compares with one path. allow says that the path may be
// covered: it is the resolved one.
func (c *compiled) relatePlain(t *Target, abs string, allow bool) Relation {
	p, tree := t.p, t.tree
	r := Apart
	for _, alt := range c.alts {
		if r == Covers {
			return r
		}
		base, segs := c.base(t, alt)
		if base == "" {
			continue
		}
		if allow && r < Covers {
			from := base
			if c.anchor == floating && !c.everywhere {
				from = t.root
			}
			if rest, ok := relative(from, abs, p.Fold); ok {
				if walk(segs, rest, p.Fold, tree) == Covers {
					return Covers
				}
			}
		}
		if c.anchor == floating {
			base = t.floor(abs, allow)
		}
		r = max(r, min(c.restrict(base, segs, abs, tree), Overlap))
		if c.anchor == atWorkspace && p.Workspace != base && r < Overlap {
			r = max(r, min(c.restrict(p.Workspace, segs, abs, tree), Overlap))
		}
		if c.anchor == atHome && p.Home != base && r < Overlap {
			r = max(r, min(c.restrict(p.Home, segs, abs, tree), Overlap))
		}
		if c.anchor == atRoot && base != "/" && r < Overlap {
			r = max(r, min(c.restrict("/", alt, abs, tree), Overlap))
		}
	}
	return r
}

// floor is the folder below which a pattern for any depth matches a path: the
// workspace for what is inside, "/" for anything else.
func (t *Target) floor(abs string, resolved bool) string {
	dir := t.p.Workspace
	if resolved {
		dir = t.root
	}
	if dir == "" || dir[0] != '/' {
		return "/"
	}
	if rest, ok := relative(dir, abs, t.p.Fold); ok && rest != "" {
		return dir
	}
	return "/"
}

// restrict compares folded, as rules that restrict do.
func (c *compiled) restrict(base string, segs []segment, abs string, tree bool) Relation {
	rest, ok := relative(base, abs, true)
	if ok {
		// Both spellings: folding takes letters apart, and then "?" or a class
		// may miss what it matches as written.
		return max(walk(segs, rest, true, tree), walk(segs, rest, false, tree))
	}
	if tree && abs != base {
		if _, above := relative(abs, base, true); above {
			if definite(segs, 0) {
				return Overlap
			}
			return Possible
		}
	}
	return Apart
}

// relative is abs from dir on, "" for dir itself.
func relative(dir, abs string, fold bool) (rest string, ok bool) {
	if dir == "" || abs == "" {
		return "", false
	}
	if dir == "/" {
		return abs[1:], true
	}
	if len(abs) >= len(dir) && abs[:len(dir)] == dir {
		if len(abs) == len(dir) {
			return "", true
		}
		if abs[len(dir)] == '/' {
			return abs[len(dir)+1:], true
		}
	}
	if !fold {
		return "", false
	}
	rest = abs[1:]
	for d := dir[1:]; d != ""; {
		var ds, as string
		ds, d, _ = strings.Cut(d, "/")
		if rest == "" {
			return "", false
		}
		as, rest, _ = strings.Cut(rest, "/")
		if ds != as && Fold(ds) != Fold(as) {
			return "", false
		}
	}
	return rest, true
}

// positions is a set of positions in a list of segments.
type positions uint64

func (s positions) has(j int) bool      { return s&(1<<j) != 0 }
func (s positions) add(j int) positions { return s | 1<<j }

// open adds the positions that need no further segment: "**" may be nothing.
func (s positions) open(segs []segment) positions {
	for j := range segs {
		if s.has(j) && segs[j].deep {
			s = s.add(j + 1)
		}
	}
	return s
}

// walk matches a path relative to the base, segment by segment.
func walk(segs []segment, rest string, fold, tree bool) Relation {
	at := positions(0).add(0).open(segs)
	end := len(segs)
	within := false
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if fold {
			name = Fold(name)
		}
		within = within || at.has(end)
		next := positions(0)
		for j := range segs {
			if !at.has(j) {
				continue
			}
			if segs[j].deep {
				next = next.add(j)
			} else if segs[j].match(name, fold) {
				next = next.add(j + 1)
			}
		}
		if at = next.open(segs); at == 0 {
			break
		}
	}
	switch {
	case at.has(end) && (!tree || endless(segs, at)):
		return Covers
	case at.has(end) || within:
		return Overlap
	case at != 0 && tree:
		return below(segs, at)
	}
	return Apart
}

// endless reports whether everything below is matched too.
func endless(segs []segment, at positions) bool {
	last := len(segs) - 1
	return last >= 0 && segs[last].deep && at.has(last)
}

// below is the relation to what lies under a folder from which the positions
// are reached.
func below(segs []segment, at positions) Relation {
	for j := range segs {
		if at.has(j) && definite(segs, j) {
			return Overlap
		}
	}
	return Possible
}

// definite reports whether the pattern says from position j on exactly where
// it matches: it was not reached through "**", and no name follows one.
func definite(segs []segment, j int) bool {
	if j > 0 && segs[j-1].deep {
		return false
	}
	for ; j < len(segs)-1; j++ {
		if segs[j].deep {
			return false
		}
	}
	return true
}

// relateGlobs compares with the sets of paths of the texts of a glob.
func (c *compiled) relateGlobs(t *Target) Relation {
	if t.abs.bad || t.named.bad {
		return Overlap
	}
	r := Apart
	if t.abs.segs != nil {
		r = c.relateGlob(t, &t.abs, true)
	}
	if t.named.segs != nil && r < Overlap {
		r = max(r, c.relateGlob(t, &t.named, false))
	}
	return r
}

// relateGlob compares with the set of paths of a shell glob.
func (c *compiled) relateGlob(t *Target, g *glob, allow bool) Relation {
	p, tree := t.p, t.tree
	r := Apart
	for _, alt := range c.alts {
		base, segs := c.base(t, alt)
		if base == "" {
			continue
		}
		if allow {
			from := base
			if c.anchor == floating && !c.everywhere {
				from = t.root
			}
			if from != "" {
				inner, outer := strip(g.segs, from)
				if globWithin(inner, joined(outer, segs), tree, p.Fold) {
					return Covers
				}
			}
		}
		if c.anchor == floating {
			base = t.floor(g.fixed, allow)
		}
		inner, full := strip(g.segs, base)
		full = joined(full, segs)
		if len(full) > maxDepth {
			r = Overlap
			continue
		}
		r = max(r, globMeets(inner, full, tree, false), globMeets(inner, full, tree, true))
	}
	return r
}

// globSegments parses the glob text of a prepared path. A part that cannot be
// read is left out, and ok is false.
func globSegments(abs string) (out []segment, ok bool) {
	ok = true
	for part := range strings.SplitSeq(abs, "/") {
		if part == "" {
			continue
		}
		s, err := parseSegment(part)
		if err != nil {
			ok = false
			continue
		}
		if s.deep {
			s = anyName
		}
		if out == nil {
			out = make([]segment, 0, strings.Count(abs, "/")+1)
		}
		out = append(out, s)
	}
	return out, ok
}

func joined(prefix, segs []segment) []segment {
	if len(prefix) == 0 {
		return segs
	}
	return append(prefix, segs...)
}

// strip leaves out the folder that both a glob and a pattern start from. When
// the glob does not plainly start there, the folder's parts are returned
// instead, for the pattern to begin with.
func strip(glob []segment, dir string) (rest, prefix []segment) {
	n := 0
	for d := dir; d != "" && d != "/"; n++ {
		var part string
		part, d, _ = strings.Cut(strings.TrimPrefix(d, "/"), "/")
		if part == "" {
			n--
			continue
		}
		if n >= len(glob) || !glob[n].plain || glob[n].exact.name != part {
			return glob, plainSegments(dir)
		}
	}
	return glob[n:], nil
}

// fixedPart is the plain start of a glob and one more part, which stands for
// whatever its wildcards match.
func fixedPart(glob []segment) string {
	n := 0
	for i := range glob {
		n += len(glob[i].exact.name) + 1
	}
	var b strings.Builder
	b.Grow(n + 1)
	for i := range glob {
		b.WriteByte('/')
		if !glob[i].plain {
			b.WriteByte('x')
			break
		}
		b.WriteString(glob[i].exact.name)
	}
	return b.String()
}

// plainSegments are the segments of a folder.
func plainSegments(dir string) []segment {
	var out []segment
	for part := range strings.SplitSeq(dir, "/") {
		if part != "" {
			out = append(out, plainSegment(part))
		}
	}
	return out
}

// globWithin reports whether every path of the glob is matched.
func globWithin(glob, segs []segment, tree, fold bool) bool {
	if tree {
		if n := len(segs); n == 0 || !segs[n-1].deep {
			return false
		}
	}
	if !fold {
		return segmentsWithin(glob, segs)
	}
	lower := make([]segment, 0, len(glob)+len(segs))
	for _, s := range append(append([]segment(nil), glob...), segs...) {
		s.exact = s.folded
		lower = append(lower, s)
	}
	return segmentsWithin(lower[:len(glob)], lower[len(glob):])
}

// globMeets is walk for a glob. Positions in weak were reached by a part of
// the glob that says nothing of the name a pattern for any depth gives there.
func globMeets(glob, segs []segment, tree, fold bool) Relation {
	strong := positions(0).add(0).open(segs)
	weak := positions(0)
	end := len(segs)
	r := Apart
	for i := range glob {
		if i > 0 && !glob[i-1].plain { // what lies in a folder that a wildcard may mean
			r = max(r, reached(false, strong.has(end) || weak.has(end)))
		} else {
			r = max(r, reached(strong.has(end), weak.has(end)))
		}
		var nextStrong, nextWeak positions
		deep := false
		for j := range segs {
			if segs[j].deep {
				deep = true
				if strong.has(j) {
					nextStrong = nextStrong.add(j)
				}
				if weak.has(j) {
					nextWeak = nextWeak.add(j)
				}
				continue
			}
			if !strong.has(j) && !weak.has(j) || !glob[i].meets(&segs[j], fold) {
				continue
			}
			if strong.has(j) && (!deep || glob[i].hints(&segs[j])) {
				nextStrong = nextStrong.add(j + 1)
			} else {
				nextWeak = nextWeak.add(j + 1)
			}
		}
		strong, weak = nextStrong.open(segs), nextWeak.open(segs)
		if strong|weak == 0 {
			return r
		}
	}
	r = max(r, reached(strong.has(end), weak.has(end)))
	if tree && r < Overlap {
		if strong != 0 {
			r = max(r, below(segs, strong))
		}
		r = max(r, Possible)
	}
	return r
}

func reached(strong, weak bool) Relation {
	switch {
	case strong:
		return Overlap
	case weak:
		return Possible
	}
	return Apart
}
