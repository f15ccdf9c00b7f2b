package floor

import (
	"slices"
	"strings"

	"assent/approval"
	"assent/floor/effect"
	"assent/floor/paths"
)

// What is known of a folder decides about trees and globs. Where it was looked
// through (Facts.Folders), the files that exist answer: a rule for a name
// counts where something has that name. Where it was not, what a person's own
// rule names may be anywhere.

// listed reports whether it is known which files of a tree or glob an effect
// reaches, and that nothing in the call made others before. What is deleted and
// was made by the call is lost to nobody.
func (j *judgement) listed(e *effect.Effect) bool {
	switch {
	case e.Kind == effect.Read:
	case e.Kind == effect.Delete, e.Kind == effect.Write && e.There:
		if !j.place.Facts.Changing {
			return false
		}
	default:
		return false
	}
	if !(e.Tree || e.Path.Glob) || !e.Path.Inside() || len(j.place.Facts.Folders) == 0 {
		return false
	}
	if e.Kind != effect.Delete && slices.ContainsFunc(j.makers, func(c *effect.Command) bool { return c == nil || c != e.Command }) {
		return false
	}
	for _, p := range [...]string{e.Path.Abs, e.Path.Named} {
		if p == "" {
			continue
		}
		levels := paths.Whole
		if e.Path.Glob {
			p, levels = paths.GlobFolder(p)
			if e.Tree || strings.Contains(p, "**") {
				levels = paths.Whole
			}
		}
		if !j.place.Facts.Listed(p, levels) {
			return false
		}
	}
	return true
}

// namesStay are programs that make no files but those they name, besides those
// that only look or only run another.
var namesStay = []string{"touch", "mkdir", "rm", "rmdir", "tee", "chmod", "truncate", "sed"}

// makers are commands that may make files whose names the call does not tell: what
// was looked through before them says nothing to the others. Where there are several, two
// of them are enough: one is not the command that is asked about.
func makers(effects []effect.Effect) (out []*effect.Command) {
	for i := range effects {
		e := &effects[i]
		makes := false
		switch e.Kind {
		case effect.Run:
			switch c := e.Command; {
			case c == nil:
				makes = true
			case c.Class == effect.Look || c.Class == effect.Wrap || c.Class == effect.Identity || c.Class == effect.Environ:
			default:
				makes = !slices.Contains(namesStay, c.Program)
			}
		case effect.Write:
			makes = e.Tree || !e.Path.Known() && !e.Own
		case effect.Opaque:
			makes = true
		}
		if makes && !slices.Contains(out, e.Command) {
			if out = append(out, e.Command); len(out) == 2 {
				return out
			}
		}
	}
	return out
}

// written are the files that a call itself makes by their names.
func written(effects []effect.Effect) (files []string) {
	for i := range effects {
		if e := &effects[i]; e.Kind == effect.Write && e.Path.Known() && !e.Path.Glob && !e.Tree {
			files = append(files, e.Path.Abs)
		}
	}
	return files
}

// unlisted leaves out the rules that restrict a tree or glob by what may be in
// it, for where the files that are there answer.
func (j *judgement) unlisted(rules []*Rule) []*Rule {
	path := j.s.at.Path()
	if path.Glob {
		path.Abs, _ = paths.GlobFolder(path.Abs)
		if path.Named != "" {
			path.Named, _ = paths.GlobFolder(path.Named)
		}
		path.Glob = false
	}
	at := j.place.Target(path, false)
	return slices.DeleteFunc(rules, func(r *Rule) bool {
		if r.Result == approval.Allow {
			return false
		}
		for _, p := range r.match.paths {
			if p.RelateTo(&at) >= paths.Overlap {
				return false
			}
		}
		return true
	})
}

// withoutGuesses takes apart the rules that match a glob only because a wildcard
// might stand for a folder they name: "s*/main.go" for "secrets/**". Where
// nothing is known of the folders that is asked about and no more.
func (j *judgement) withoutGuesses(rules []*Rule) (sure, guesses []*Rule) {
	s := &j.s
	path := s.at.Path()
	if !path.Glob || s.e.Kind != effect.Read || !path.Inside() || !slices.ContainsFunc(rules, func(r *Rule) bool { return r.Result >= approval.Deny }) {
		return rules, nil
	}
	path.Abs = paths.Unfold(path.Abs)
	if path.Named != "" {
		path.Named = paths.Unfold(path.Named)
	}
	plain := j.place.Target(path, s.at.Tree())
	sure = slices.DeleteFunc(rules, func(r *Rule) bool {
		if r.Result < approval.Deny {
			return false
		}
		for _, p := range r.match.paths {
			if p.RelateTo(&plain) >= paths.Overlap {
				return false
			}
		}
		guesses = append(guesses, r)
		return true
	})
	return sure, guesses
}

// Speaks is for looking through folders beforehand ([paths.Facts].Folders). What
// it returns reports whether a rule says something stricter than allow of
// reading, writing or deleting a file of the call's machine: a rule of a
// person's policy or, when asked for, of the shipped floor. More links may be
// added to those of the call's facts meanwhile.
func (f *Floor) Speaks(call Call) func(kind effect.Kind, file string, shipped bool) bool {
	place := call.Place()
	place.Own, place.OwnLinks, place.Scanner = f.own(), f.OwnLinks, f.ScannerFiles
	var e effect.Effect
	s := subject{place: place, e: &e}
	return func(kind effect.Kind, file string, shipped bool) bool {
		e.Kind, e.Path = kind, place.Prepare(file, place.Workspace)
		s.at = place.Target(e.Path, false)
		layers := [...]*Policy{f.Operator, f.Managed, f.Project, nil}
		if shipped {
			layers[3] = f.base()
		}
		for _, p := range layers {
			if p != nil && slices.ContainsFunc(p.match(&s, nil), func(r *Rule) bool { return r.Result != approval.Allow }) {
				return true
			}
		}
		return false
	}
}

// Permits reports whether a person's policy lets anything be changed, so that
// looking for the files it does not speak of is worth the time.
func (f *Floor) Permits() bool {
	p := f.Operator
	return p != nil && slices.ContainsFunc(p.Rules, func(r *Rule) bool {
		return r.Result == approval.Allow && (r.Kind == effect.Write || r.Kind == effect.Delete)
	})
}

// Restricts reports whether a person's policy restricts reading by path, so that
// looking for the files it names is worth the time.
func (f *Floor) Restricts() bool {
	for _, p := range [...]*Policy{f.Operator, f.Managed, f.Project} {
		if p != nil && slices.ContainsFunc(p.index[effect.Read].rules, func(r *Rule) bool { return r.Result != approval.Allow }) {
			return true
		}
	}
	return false
}
