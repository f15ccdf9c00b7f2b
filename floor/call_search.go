package floor

import (
	"strings"

	"assent/floor/effect"
)

var (
	patternNames = set("pattern", "patterns", "glob", "globs", "globpattern", "filepattern", "query", "include", "includes", "includepattern", "namepattern")
	includeNames = set("glob", "globs", "include", "includes", "includepattern", "filepattern", "globpattern")
	manyNames    = set("paths", "path", "include", "includes", "patterns", "files", "filepaths")
)

// findFiles is a tool that finds files by name. Only names are read, so every
// pattern that stays below its folder is a listing of that folder's tree; a
// pattern that leaves it is a path of its own.
func findFiles(r *reading, name string, args *value) {
	r.searching(args)
	for _, f := range r.folders(args) {
		r.path(f.arg, f.text, about{meta: true, tree: true}, effect.Read)
		for _, p := range r.paths(args, patternNames) {
			if strings.Contains(p.text, "..") || strings.HasPrefix(p.text, "/") || strings.HasPrefix(p.text, "~") || strings.ContainsAny(p.text, "\\:\x00") {
				r.globs(p.arg, f.text, p.text, about{meta: true, tree: true})
			}
		}
	}
}

// searchText is a tool that looks for text in files. With a name filter it
// reads the files that match anywhere below, else everything.
func searchText(r *reading, name string, args *value) {
	r.searching(args)
	includes := r.paths(args, includeNames)
	kept := includes[:0]
	for _, p := range includes {
		// A filter that excludes leaves the whole tree.
		if p.text != "" && p.text[0] != '!' {
			kept = append(kept, p)
		}
	}
	for _, f := range r.folders(args) {
		// What is named may be a file: then a filter does not keep it out.
		r.path(f.arg, f.text, about{tree: len(kept) == 0}, effect.Read)
		for _, p := range kept {
			pattern := p.text
			if !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "**/") {
				pattern = "**/" + strings.TrimPrefix(pattern, "./")
			}
			r.globs(p.arg, f.text, pattern, about{})
			if strings.HasPrefix(p.text, "/") || strings.Contains(p.text, "..") {
				// Relative to the folder, and never mind the leading "/".
				r.globs(p.arg, f.text, strings.TrimLeft(p.text, "/"), about{})
			}
		}
	}
}

var (
	// widerNames are switches of searchers that make them leave nothing out.
	widerNames = set("hidden", "includehidden", "noignore", "unrestricted", "dot", "all", "u", "uu", "uuu", "nogitignore", "includeignored", "searchhidden", "showhidden", "includedotfiles", "dotfiles",
		"skipgitignore", "ignoregitignore")
	// respectNames are those that do when they are off.
	respectNames = set("respectgitignore", "respectignore", "usegitignore", "gitignore", "ignorehidden", "usedefaultexcludes", "respectgeminiignore")
	// optionNames hold options for the program that searches.
	optionNames = set("args", "extraargs", "additionalargs", "options", "flags", "rgargs", "grepargs", "rawargs", "pre", "preglob", "hostnamebin")
)

// searching reads what a searcher is told besides where and for what: whether it
// leaves nothing out, and options of the program that it starts.
func (r *reading) searching(args *value) {
	wide := false
	for i := range args.members {
		m := &args.members[i]
		n := argumentName(m.name)
		on := m.value.kind == 't' || m.value.kind == '0' || m.value.kind == '"' && m.value.text != "" && m.value.text != "false"
		off := m.value.kind == 'f' || m.value.kind == '"' && m.value.text == "false"
		wide = wide || widerNames[n] && on || respectNames[n] && off
		if optionNames[n] && !m.value.empty() && !m.value.plain() {
			r.opaque(m.name, "options are given to the program that searches")
		}
		if texts, ok := m.value.strings(); ok && (patternNames[n] || n == "regex" || n == "path") {
			for _, t := range texts {
				if runsOption(t) {
					r.opaque(m.name, "what is searched for may be an option that runs a program")
				}
			}
		}
	}
	if wide {
		// To whoever looks at the tree, this says that all of it is read.
		r.command = &effect.Command{Program: "rg", Class: effect.Look, Described: true, Options: []effect.Option{{Name: "--hidden"}}}
	}
}

// runsOption reports whether a text would be an option of a searcher that runs a
// program, were it taken for one.
func runsOption(t string) bool {
	for _, o := range []string{"--pre", "--hostname-bin", "--open-files-in-pager", "--ext-diff", "--textconv", "--search-zip", "--exec", "-exec", "-execdir", "-ok", "--pager"} {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(t), o); ok && (rest == "" || strings.IndexByte("=-b \t", rest[0]) >= 0) {
			return true
		}
	}
	return false
}

// readMany is a tool that reads what a list of patterns matches.
func readMany(r *reading, args *value) {
	found := r.paths(args, manyNames)
	if len(found) == 0 {
		r.opaque("", "no path is given")
	}
	for _, p := range found {
		r.globs(p.arg, ".", p.text, about{tree: true})
		if last := p.text[strings.LastIndexByte(p.text, '/')+1:]; !strings.ContainsAny(last, ".*?[{") && last != "" {
			r.globs(p.arg, ".", p.text+"/**", about{}) // perhaps a folder, with all that is in it
		}
		if plain := strings.Map(func(c rune) rune {
			if strings.ContainsRune("*?[]{},!^", c) {
				return 'x'
			}
			return c
		}, p.text); !plainPath(plain) {
			r.perhaps(p.arg, p.text, nil, about{tree: true}, effect.Read)
		}
	}
}

// globs adds a read of the set of paths that a pattern matches below a
// folder.
func (r *reading) globs(arg, folder, pattern string, how about) {
	alternatives, ok := braces(pattern)
	if !ok {
		r.unknownPath(arg, pattern, how)
		return
	}
	for _, a := range alternatives {
		marked, ok := markGlob(a)
		if !ok {
			r.unknownPath(arg, pattern, how)
			continue
		}
		base := r.place.Cwd
		if folder != "." && marked != "" && marked[0] != '/' {
			base = r.place.Prepare(folder, base).Abs
			if strings.HasPrefix(folder, "~") {
				base = r.place.Prepare(r.place.Expand(folder), r.place.Cwd).Abs
			}
		}
		e := effect.Effect{Kind: effect.Read, Arg: arg, Path: r.place.Prepare(marked, base), Meta: how.meta, Tree: how.tree}
		e.Target = targetOf(e.Path, pattern)
		r.add(e)
	}
}

func (r *reading) unknownPath(arg, text string, how about) {
	r.add(effect.Effect{Kind: effect.Read, Arg: arg, Target: text, Meta: how.meta, Tree: how.tree})
}

// markGlob writes a pattern as the abstract text of [paths.Place.Prepare].
// What this small reader of patterns does not know is refused.
func markGlob(pattern string) (string, bool) {
	if strings.HasPrefix(pattern, "~") || strings.HasPrefix(pattern, "$") || strings.Contains(pattern, "://") {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch c {
		case 0, '\n', '\r':
			return "", false
		case '(':
			if i > 0 && strings.IndexByte("@!+*?", pattern[i-1]) >= 0 {
				return "", false
			}
		case '*', '?', '[':
			b.WriteByte(0)
		case '\\':
			if i+1 >= len(pattern) || strings.IndexByte(`*?[]{}!\`, pattern[i+1]) < 0 {
				return "", false
			}
			i++
			c = pattern[i]
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// maxBraces bounds how many patterns one with braces may stand for.
const maxBraces = 64

// braces expands {a,b} in a pattern. ok is false when there is more than it
// is worth to follow.
func braces(pattern string) (out []string, ok bool) {
	open, depth := -1, 0
	var cuts []int
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			if depth == 0 {
				open, cuts = i, nil
			}
			depth++
		case ',':
			if depth == 1 {
				cuts = append(cuts, i)
			}
		case '}':
			if depth == 0 {
				continue
			}
			if depth--; depth > 0 {
				continue
			}
			rests, ok := braces(pattern[i+1:])
			if !ok {
				return nil, false
			}
			start := open + 1
			for _, c := range append(cuts, i) {
				part := pattern[start:c]
				if len(cuts) == 0 {
					// "{x}" and "{1..3}": a sequence or plain text, by the client.
					return nil, false
				}
				inner, ok := braces(part)
				if !ok || len(out)+len(inner)*len(rests) > maxBraces {
					return nil, false
				}
				for _, in := range inner {
					for _, rest := range rests {
						out = append(out, pattern[:open]+in+rest)
					}
				}
				start = c + 1
			}
			return out, true
		}
	}
	return []string{pattern}, depth == 0
}
