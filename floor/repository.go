package floor

import (
	"maps"
	"path"
	"slices"
	"strings"

	"assent/floor/effect"
	"assent/floor/paths"
	"assent/floor/shell"
)

// repositories tells what git would run by the repositories that the call
// leads it into, and what the call would write into one. What is configured
// where the call starts was told with the commands.
func (r *reading) repositories() {
	told := r.effects // what is added is not looked at
	for i := range told {
		e := &told[i]
		why := ""
		switch {
		case e.Kind == effect.Read && !e.Meta:
			for _, file := range r.secrets(e) {
				secret := *e
				secret.Tree, secret.Path = false, r.place.Prepare(file, "/")
				secret.Target = targetOf(secret.Path, file)
				secret.Path.Named = path.Dir(file) + "/credentials" // what it is, to the rules
				r.add(secret)
			}
		case e.Kind == effect.Write:
			why = steersRepository(&r.place.Facts, e.Path)
		case e.Repository:
			if why = foreign(r.place, e.Path, e.Command); why == "" {
				why = r.brought(e.Path.Abs)
			}
		case e.Kind == effect.Run && e.Command != nil && e.Command.Program == "git":
			why = r.brought(r.place.Cwd)
		}
		if why != "" {
			r.add(effect.Effect{Kind: effect.Opaque, Target: why, Span: e.Span, Arg: e.Arg, Command: e.Command, Privileged: e.Privileged, Certainty: e.Certainty})
		}
	}
}

// secrets are the files with credentials that a read reaches.
func (r *reading) secrets(e *effect.Effect) (files []string) {
	known := r.place.Facts.Secrets
	if !e.Tree && !e.Path.Glob {
		if known[e.Path.Abs] {
			return []string{e.Path.Abs}
		}
		return nil
	}
	if len(known) == 0 || !e.Path.Known() {
		return nil
	}
	reached, ok := reach(e)
	for file, secret := range known {
		switch {
		case !secret:
		case ok && reached.Relate(r.place, r.place.Prepare(file, "/"), false) < paths.Overlap:
		case e.Names != "" && !paths.AnyPart(e.Names, strings.TrimPrefix(file, e.Path.Abs)):
		case e.Path.Glob && e.Command != nil && !paths.Expands(e.Path.Abs, file, e.Tree):
		default:
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files
}

// GitCredentials reports whether a git configuration holds credentials, which
// what prints it would show.
func GitCredentials(config map[string]string) bool { return shell.Credentials(config) }

// GitHook begins the keys by which a git configuration tells of the hooks that are
// there. The key itself is the folder, where that is not git's own.
const GitHook = shell.HookKey

// foreign says why git may run something because of the repository it finds
// from a folder on, "" when that folder is known to be plain, or nothing makes it
// another repository than the workspace's.
func foreign(place *paths.Place, at effect.Path, c *effect.Command) string {
	if !at.Known() || at.Glob {
		return "git works in a folder that is not known, and may run what its configuration names"
	}
	if config, looked := place.Facts.Repositories[at.Abs]; looked {
		key := ""
		if c != nil {
			key = shell.Runs(config, c.Sub)
		}
		if key == "" && (c == nil || c.Class != effect.Look) && !maps.Equal(config, place.Facts.GitConfig) {
			key = shell.RunsMore(config)
		}
		if key != "" {
			return key + " of the repository in " + targetOf(at, "…") + " makes git run a command"
		}
		return ""
	}
	// Nobody looked. What is known to lie there, or the name, tells of another
	// repository.
	unknown := func() string {
		return "the repository in " + targetOf(at, "…") + " is not known, and its configuration may make git run a command"
	}
	for dir := at.Abs; dir != place.Workspace && dir != "/"; dir = path.Dir(dir) {
		base := path.Base(dir)
		if base == "node_modules" || base == "vendor" || base == "third_party" || strings.HasSuffix(base, ".git") {
			return unknown()
		}
		for file := range place.Facts.Files {
			if rest, in := strings.CutPrefix(file, dir+"/"); in && gitFile(rest) {
				return unknown()
			}
		}
	}
	return ""
}

// gitFile reports whether a name relative to a folder makes that folder a
// repository, or speaks for one that is there.
func gitFile(rel string) bool {
	switch first, _, _ := strings.Cut(rel, "/"); first {
	case ".git", "HEAD", "objects", "refs", "commondir":
		return true
	}
	return false
}

// brought says that what this call writes may be the repository in which git
// then works, or part of it.
func (r *reading) brought(dir string) string {
	const why = "git works in a folder that this call fills, and may run what is configured there"
	start := dir == r.place.Cwd
	for i := range r.effects {
		e := &r.effects[i]
		if e.Kind != effect.Write || !e.Path.Known() || e.Own {
			continue
		}
		at := e.Path.Abs
		if e.Path.Glob {
			if start {
				continue
			}
			at, _ = paths.GlobFolder(at)
		}
		git := e.Command != nil && e.Command.Program == "git" && e.Command.Class != effect.Fetch
		if git && (start || !paths.Within(dir, at) || dir == at) {
			continue // its own files, and what it checks out in that repository
		}
		if paths.Within(dir, at) {
			if made := e.Command != nil && (e.Command.Program == "mkdir" || e.Command.Program == "touch"); !start && !made {
				return why
			}
			continue
		}
		for folder := dir; ; folder = path.Dir(folder) {
			if rest, in := strings.CutPrefix(at, strings.TrimSuffix(folder, "/")+"/"); in {
				if gitFile(rest) || !start && folder == dir && (rest == "config" || rest == "config.worktree") {
					return why
				}
			}
			if folder == r.place.Workspace || folder == "/" {
				break
			}
		}
	}
	return ""
}

// steersRepository says that a write goes to what git obeys in a folder that it
// takes for a repository though it is not called ".git" (law: the fences
// hold for what git runs, whatever it is called).
func steersRepository(f *paths.Facts, at effect.Path) string {
	if !at.Known() {
		return ""
	}
	hooks := func(config map[string]string) bool {
		folder := config[GitHook]
		return folder != "" && paths.Within(at.Abs, folder)
	}
	steers := hooks(f.GitConfig)
	for _, config := range f.Repositories {
		steers = steers || hooks(config)
	}
	if steers {
		return "steers what git runs as hooks"
	}
	if len(f.Bare) == 0 {
		return ""
	}
	for dir := path.Dir(at.Abs); dir != "/"; dir = path.Dir(dir) {
		if !f.Bare[dir] {
			continue
		}
		named := paths.Fold(path.Base(dir)) == ".git" // by its name, rules guard what lies in it
		switch first, _, _ := strings.Cut(strings.TrimPrefix(at.Abs, dir+"/"), "/"); first {
		case "config", "config.worktree", "HEAD", "hooks", "info":
			if named {
				continue
			}
			fallthrough
		case "commondir":
			return "steers the git repository in " + dir
		}
	}
	return ""
}
