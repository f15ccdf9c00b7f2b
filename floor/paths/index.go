package paths

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Index finds, among many patterns, those that relate to a path, without
// looking at the others: what a judgement costs does not grow with patterns
// that name other things.
type Index struct {
	// byName holds patterns by a name that must be a part of the path: the last
	// plain part of an anchored pattern, the first part of one for any depth.
	byName map[string][]entry
	// byStart is byName for trees and globs, which may lie above what a pattern
	// names: an anchored pattern is there by the last plain part at its start.
	byStart map[string][]entry
	// heads holds, by first byte, the patterns for any depth whose first part
	// starts with plain text and goes on with a wildcard.
	heads map[byte][]entry
	// exts holds, by extension with its dot, those whose first part starts
	// with a wildcard and ends so; tails those that end with other plain text.
	exts  map[string][]entry
	tails []entry
	// globHeads and globTails hold again what byName and exts hold, for globs.
	globHeads map[byte][]entry
	globTails []entry
	// always are those that must be compared with every path, starting those that
	// must be with every tree and glob besides.
	always, starting []entry
	// tops are absolute patterns of one plain part, which links may move.
	tops []entry
	// below holds anchored patterns sorted by what is plain at their start, for
	// trees and globs that contain them.
	below [atVar + 1][]prefixed
}

type entry struct {
	pattern Pattern
	id      int
	// ends are the plain ends of the first part of a pattern for any depth.
	head, tail string
}

type prefixed struct {
	prefix string // folded
	entry
}

// Hit is a pattern that relates to a path, by the number it was added with.
type Hit struct {
	ID       int
	Relation Relation
}

// Add puts a pattern into the index under a number of the caller's choice.
// Freeze must be called after the last one.
func (x *Index) Add(pt Pattern, id int) {
	c := pt.c
	if c == nil {
		return
	}
	if x.byName == nil {
		x.byName = map[string][]entry{}
		x.byStart = map[string][]entry{}
		x.heads = map[byte][]entry{}
		x.exts = map[string][]entry{}
		x.globHeads = map[byte][]entry{}
	}
	if c.set != nil {
		for _, member := range c.set.patterns {
			x.Add(member, id)
		}
		if c.set.special != ordinary {
			rest := *c.set
			rest.patterns = nil
			x.always = append(x.always, entry{pattern: Pattern{&compiled{text: c.text, set: &rest}}, id: id})
		}
		return
	}
	for _, alt := range c.alts {
		one := *c
		one.alts = [][]segment{alt}
		x.add(entry{pattern: Pattern{&one}, id: id}, alt)
	}
}

func (x *Index) add(e entry, segs []segment) {
	c := e.pattern.c
	if c.anchor == floating {
		x.addFloating(e, segs)
		return
	}
	var prefix []string
	for _, s := range segs {
		if !s.plain {
			break
		}
		prefix = append(prefix, s.folded.name)
	}
	x.below[c.anchor] = append(x.below[c.anchor], prefixed{strings.Join(prefix, "/"), e})
	name, start := lastName(segs), lastName(segs[:len(prefix)])
	if c.anchor == atRoot && len(prefix) == 1 {
		x.tops = append(x.tops, e)
	}
	if name == "" {
		x.always = append(x.always, e)
		return
	}
	x.byName[name] = append(x.byName[name], e)
	if start == "" {
		x.starting = append(x.starting, e)
		return
	}
	x.byStart[start] = append(x.byStart[start], e)
}

// lastName is the last plain part, folded, "" where there is none that can be
// seen.
func lastName(segs []segment) string {
	for i := len(segs) - 1; i >= 0; i-- {
		if s := &segs[i]; s.plain && s.folded.name != "" {
			return s.folded.name
		}
	}
	return ""
}

func (x *Index) addFloating(e entry, segs []segment) {
	i := 0
	for i < len(segs) && segs[i].deep {
		i++
	}
	if i == len(segs) {
		x.always = append(x.always, e)
		return
	}
	s := &segs[i]
	e.head, e.tail = s.fixed()
	if s.plain {
		name := s.folded.name
		x.byName[name] = append(x.byName[name], e)
		x.byStart[name] = append(x.byStart[name], e)
		if name != "" {
			x.globHeads[name[0]] = append(x.globHeads[name[0]], e)
		}
		return
	}
	dot := strings.LastIndexByte(e.tail, '.')
	switch {
	case e.head != "":
		x.heads[e.head[0]] = append(x.heads[e.head[0]], e)
	case dot >= 0:
		x.exts[e.tail[dot:]] = append(x.exts[e.tail[dot:]], e)
		x.globTails = append(x.globTails, e)
	case e.tail != "":
		x.tails = append(x.tails, e)
	default:
		x.always = append(x.always, e)
	}
}

// Freeze prepares the index for use.
func (x *Index) Freeze() {
	for i := range x.below {
		slices.SortStableFunc(x.below[i], func(a, b prefixed) int { return strings.Compare(a.prefix, b.prefix) })
	}
}

// Match appends a hit for every pattern whose relation to the target is Overlap
// or Covers; a pattern may be reported more than once. An unknown path without
// a name hits nothing here: what follows from it is not a matter of patterns.
func (x *Index) Match(hits []Hit, t *Target) []Hit {
	path := &t.path
	if !path.Known() && path.Named == "" {
		return hits
	}
	hits = t.try(hits, x.always)
	if len(t.p.Facts.Links) > 0 {
		hits = t.try(hits, x.tops)
	}
	if t.wide() {
		hits = t.try(hits, x.starting)
	}
	hits = x.names(hits, t, path.Abs, &t.abs)
	if path.Named != "" {
		hits = x.names(hits, t, path.Named, &t.named)
	}
	if t.wide() {
		hits = x.contained(hits, t, path.Abs)
		if path.Named != "" {
			hits = x.contained(hits, t, path.Named)
		}
	}
	return hits
}

// try appends what of the entries the target hits.
func (t *Target) try(hits []Hit, entries []entry) []Hit {
	for i := range entries {
		hits = t.tryOne(hits, &entries[i])
	}
	return hits
}

func (t *Target) tryOne(hits []Hit, e *entry) []Hit {
	if r := e.pattern.RelateTo(t); r >= Overlap {
		hits = append(hits, Hit{e.id, r})
	}
	return hits
}

// names tries the patterns that share a part with a path.
func (x *Index) names(hits []Hit, t *Target, abs string, g *glob) []Hit {
	hits = t.try(hits, x.tails)
	if t.path.Glob {
		for i := range g.segs {
			if s := &g.segs[i]; s.plain {
				hits = x.name(hits, t, s.folded.name)
			} else {
				hits = x.globPart(hits, t, s)
			}
		}
		return hits
	}
	for rest := strings.TrimPrefix(abs, "/"); rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		hits = x.name(hits, t, Fold(part))
	}
	return hits
}

// name tries the patterns that share a part of a path, which is folded.
func (x *Index) name(hits []Hit, t *Target, part string) []Hit {
	if part == "" {
		return hits
	}
	if t.wide() {
		hits = t.try(hits, x.byStart[part])
	} else {
		hits = t.try(hits, x.byName[part])
	}
	hits = t.fitting(hits, x.heads[part[0]], part)
	if dot := strings.LastIndexByte(part, '.'); dot >= 0 {
		hits = t.fitting(hits, x.exts[part[dot:]], part)
	}
	return hits
}

// fitting leaves out the patterns whose first part has other ends than the part.
// Where letters are composed, an end may be told only with what follows it.
func (t *Target) fitting(hits []Hit, entries []entry, part string) []Hit {
	composed := strings.IndexFunc(part, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
	for i := range entries {
		if e := &entries[i]; composed || strings.HasPrefix(part, e.head) && strings.HasSuffix(part, e.tail) {
			hits = t.tryOne(hits, e)
		}
	}
	return hits
}

// globPart tries the patterns at which a part of a glob hints.
func (x *Index) globPart(hits []Hit, t *Target, s *segment) []Hit {
	head, tail := s.fixed()
	if head != "" {
		hits = t.hinted(hits, x.heads[head[0]], head, tail)
		hits = t.hinted(hits, x.globHeads[head[0]], head, tail)
	}
	if tail != "" {
		hits = t.hinted(hits, x.globTails, head, tail)
	}
	return hits
}

// hinted leaves out the patterns at which the part does not hint.
func (t *Target) hinted(hits []Hit, entries []entry, head, tail string) []Hit {
	for i := range entries {
		e := &entries[i]
		if e.head != "" && (strings.HasPrefix(e.head, head) || strings.HasPrefix(head, e.head)) ||
			e.head == "" && (strings.HasSuffix(e.tail, tail) || strings.HasSuffix(tail, e.tail)) {
			hits = t.tryOne(hits, e)
		}
	}
	return hits
}

// contained tries the anchored patterns that start at or below the folder of
// a tree, or below the plain start of a glob.
func (x *Index) contained(hits []Hit, t *Target, abs string) []Hit {
	p, dir := t.p, abs
	if t.path.Glob {
		if i := strings.IndexAny(abs, globChars); i >= 0 {
			dir = parent(abs[:i])
		}
	}
	for a := range x.below {
		entries := x.below[a]
		if len(entries) == 0 {
			continue
		}
		bases := [2]string{"/", "/"}
		switch anchor(a) {
		case atWorkspace:
			bases = [2]string{t.root, p.Workspace}
		case atHome:
			bases = [2]string{t.home, p.Home}
		case atVar:
			hits = t.all(hits, entries)
			continue
		case atRoot:
			if len(p.Facts.Links) > 0 {
				hits = t.all(hits, entries)
				continue
			}
		}
		hits = t.all(hits, from(entries, bases[0], dir))
		if bases[1] != bases[0] {
			hits = t.all(hits, from(entries, bases[1], dir))
		}
	}
	return hits
}

func (t *Target) all(hits []Hit, entries []prefixed) []Hit {
	for i := range entries {
		hits = t.tryOne(hits, &entries[i].entry)
	}
	return hits
}

// from are the entries that start at or below dir, all of them when base
// itself is there.
func from(entries []prefixed, base, dir string) []prefixed {
	rest, ok := relative(base, dir, true)
	if !ok {
		if _, above := relative(dir, base, true); !above {
			return nil
		}
	}
	if rest == "" {
		return entries
	}
	folder := Fold(rest)
	lo, _ := slices.BinarySearchFunc(entries, folder, func(e prefixed, folder string) int { return compareBelow(e.prefix, folder) })
	hi := lo
	for hi < len(entries) && compareBelow(entries[hi].prefix, folder) == 0 {
		hi++
	}
	return entries[lo:hi]
}

// compareBelow tells where a path stands in the order of texts to all that is
// below a folder: before them, behind them, or 0 for one of them.
func compareBelow(path, folder string) int {
	n := len(folder)
	if len(path) <= n {
		if c := strings.Compare(path, folder); c != 0 {
			return c
		}
		return -1
	}
	if c := strings.Compare(path[:n], folder); c != 0 {
		return c
	}
	return int(path[n]) - '/'
}
