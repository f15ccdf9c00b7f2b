package floor

import (
	"slices"
	"strings"

	"assent/approval"
	"assent/floor/effect"
	"assent/floor/paths"
)

// A tree or a glob reaches the files that are known to exist and those that the
// call itself makes, and the strictest answer about one of them is its own. A call
// may have thousands of both: files are found by the folder they are in, a
// file is judged once for all that is asked about it in the same way, and so is a
// tree that is reached again.

// knownFiles are the known files of a judgement.
type knownFiles struct {
	files []knownFile
	// places are the files by their folded paths, in order. A file has one for each
	// of its spellings.
	places []placed
	// answers are what was said about the files, by what was asked.
	answers map[asked]*answers
	reached map[reaching]fileAnswer
	// compared counts the files that were compared with a tree or glob.
	compared int
}

// knownFile is a file that exists, and its path.
type knownFile struct {
	name string
	path effect.Path
}

type placed struct {
	path string
	file int
}

// maxCompared bounds how often a file is compared with a tree or glob. Beyond it
// each of them is taken to reach all known files.
const maxCompared = 200_000

// asked is what decides, besides its path, what is said about a file.
type asked struct {
	kind          effect.Kind
	certainty     effect.Certainty
	meta          bool
	below, own    bool
	folder, meant bool
}

// reaching is what decides which files are reached, and what is said about them.
type reaching struct {
	asked
	path  effect.Path
	tree  bool
	names string
	typed bool // the glob is one of the shell
}

// answers are what was said about the files: those asked about, and the
// strictest about any.
type answers struct {
	one []*fileAnswer
	all *fileAnswer
}

// fileAnswer is what is said about a file, or the strictest about several.
type fileAnswer struct {
	Judged
	name string
}

// join takes over what is stricter, and a rule rather than that a file lies outside.
func (a *fileAnswer) join(o *fileAnswer) {
	shipped, said := a.shipped.Join(o.shipped), a.ruled || o.ruled
	if o.Result.Stricter(a.Result) || o.Result == a.Result && a.Rule == readOutside && o.Rule != readOutside {
		*a = *o
	}
	a.shipped, a.ruled = shipped, said
}

// reach joins what is said about the known files that a tree or glob reaches.
func (j *judgement) reach(d *Judged, folder, meant bool) {
	e := &d.Effect
	known := j.known()
	if len(known.files) == 0 {
		return
	}
	key := reaching{
		asked: asked{e.Kind, e.Certainty, e.Meta, e.Below, e.Own, folder, meant},
		path:  e.Path, tree: e.Tree, names: e.Names, typed: e.Command != nil,
	}
	a, done := known.reached[key]
	if !done {
		a = j.strictest(e, key.asked)
		known.reached[key] = a
	}
	if a.Result.Stricter(d.Result) {
		d.Result, d.Rule, d.rule, d.Pattern, d.operator, d.File = a.Result, a.Rule, a.rule, a.Pattern, a.operator, a.name
	}
	d.shipped, d.ruled = d.shipped.Join(a.shipped), d.ruled || a.ruled
}

// strictest is the strictest answer about the known files that a tree or glob
// reaches.
func (j *judgement) strictest(e *effect.Effect, q asked) fileAnswer {
	known := j.known()
	said := known.answers[q]
	if said == nil {
		said = &answers{one: make([]*fileAnswer, len(known.files))}
		known.answers[q] = said
	}
	var a fileAnswer
	if known.compared > maxCompared {
		if said.all == nil {
			for i := range known.files {
				if known.files[i].path.Known() {
					a.join(j.about(said, i, e, q))
				}
			}
			said.all = &a
		}
		return *said.all
	}
	pattern, ok := reach(e)
	candidates := known.below(j.place, e)
	known.compared += len(candidates)
	for _, i := range candidates {
		path := known.files[i].path
		if !path.Known() || ok && pattern.Relate(j.place, path, false) < paths.Overlap {
			continue
		}
		if e.Names != "" && !paths.AnyPart(e.Names, strings.TrimPrefix(path.Abs, e.Path.Abs)) {
			continue
		}
		if e.Path.Glob && e.Command != nil && !paths.Expands(e.Path.Abs, path.Abs, e.Tree) { // a wildcard does not match a leading dot
			continue
		}
		a.join(j.about(said, i, e, q))
	}
	return a
}

// about is what is said about one known file.
func (j *judgement) about(said *answers, i int, e *effect.Effect, q asked) *fileAnswer {
	if a := said.one[i]; a != nil {
		return a
	}
	file := &j.files.files[i]
	a := &fileAnswer{name: file.name}
	a.Effect = *e
	j.s = subject{place: j.place, e: e, at: j.place.Target(file.path, false)}
	j.decide(&a.Judged)
	if q.folder && a.Result >= approval.Ask && a.rule != nil && a.rule.policy.layer == Shipped && !a.rule.fixed {
		if q.meant {
			*a = fileAnswer{}
		} else {
			a.Result = approval.Ask // the folder is named and not the file
		}
	}
	said.one[i] = a
	return a
}

// known are the files known to exist, and those that the call itself makes, in
// order.
func (j *judgement) known() *knownFiles {
	if j.files != nil {
		return j.files
	}
	k := &knownFiles{}
	j.files = k
	names := written(j.effects)
	for f := range j.place.Facts.Files {
		names = append(names, f)
	}
	if len(names) == 0 {
		return k
	}
	k.answers, k.reached = map[asked]*answers{}, map[reaching]fileAnswer{}
	slices.Sort(names)
	for _, f := range slices.Compact(names) {
		path := j.place.Prepare(f, j.place.Workspace)
		for _, p := range [...]string{path.Abs, path.Named} {
			if p != "" {
				k.places = append(k.places, placed{paths.FoldPath(p), len(k.files)})
			}
		}
		k.files = append(k.files, knownFile{f, path})
	}
	slices.SortFunc(k.places, func(a, b placed) int { return strings.Compare(a.path, b.path) })
	return k
}

// below are the files that a tree or glob may reach, in order: those at and below
// what is plain at its start, by whatever spelling.
func (k *knownFiles) below(place *paths.Place, e *effect.Effect) (out []int) {
	dir := e.Path.Abs
	if e.Path.Glob {
		if strings.ContainsAny(dir, "{}") {
			dir = "/" // as a pattern they are braces
		}
		dir, _ = paths.GlobFolder(dir)
	}
	dirs := [...]string{dir, place.Top(dir)}
	for i, dir := range dirs {
		switch {
		case dir == "" || dir == "/":
			out = make([]int, len(k.files))
			for i := range out {
				out[i] = i
			}
			return out
		case i > 0 && dir == dirs[0]:
			continue
		}
		folder := paths.FoldPath(dir)
		for _, p := range k.from(folder) {
			if p.path != folder {
				break
			}
			out = append(out, p.file)
		}
		folder += "/"
		for _, p := range k.from(folder) {
			if !strings.HasPrefix(p.path, folder) {
				break
			}
			out = append(out, p.file)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// from are the places from a path on.
func (k *knownFiles) from(path string) []placed {
	at, _ := slices.BinarySearchFunc(k.places, path, func(p placed, path string) int { return strings.Compare(p.path, path) })
	return k.places[at:]
}

// reach is a pattern for the paths of an effect.
func reach(e *effect.Effect) (paths.Pattern, bool) {
	pattern := e.Path.Abs
	if !e.Path.Glob {
		pattern = paths.Quote(pattern)
	}
	if e.Tree {
		pattern = strings.TrimSuffix(pattern, "/") + "/**"
	}
	pt, err := paths.Compile(pattern)
	return pt, err == nil
}
