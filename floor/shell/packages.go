package shell

import (
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// forges are the shorthands by which package managers name a repository.
var forges = []string{"github:", "gitlab:", "bitbucket:", "gist:", "git+", "git@", "git:", "hg+", "svn+", "bzr+", "gh:", "gl:"}

// localSources are the protocols of package managers for what lies on this machine.
var localSources = []string{"file:", "link:", "portal:", "exec:", "workspace:", "patch:", "path:"}

// archives are the endings by which a word is a file and no name of an index.
var archives = []string{".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar", ".whl", ".zip", ".gem", ".egg", ".crate", ".conda", ".nupkg", ".deb", ".rpm", ".apk"}

// pack follows what a package manager is told to install: a name of its index,
// or a path, a URL or a repository behind a name ("name@URL", "name @ URL").
// Whoever allows installing thinks of the index, so what comes from elsewhere
// is told: no rule for the program covers it.
func (t *typed) pack(text string, span effect.Span, option string) {
	if !commands.Known(text) {
		t.opaque("a package that cannot be told", span, option, false)
		return
	}
	if _, after, is := strings.Cut(text, " @ "); is {
		text = strings.TrimSpace(after)
	} else if i := strings.IndexByte(text, '@'); i > 0 && !elsewhere(text) || i == 0 && strings.Count(text, "@") > 1 {
		if after := text[strings.LastIndexByte(text, '@')+1:]; elsewhere(after) {
			text = after
		} else if after = text[i+1:]; elsewhere(after) {
			text = after
		}
	}
	switch {
	case strings.Contains(text, "://"), slices.ContainsFunc(forges, func(f string) bool { return strings.HasPrefix(text, f) }):
		t.foreignPackage(text, span, option)
	case elsewhere(text):
		for _, p := range localSources {
			text = strings.TrimPrefix(text, p)
		}
		if i := strings.LastIndexByte(text, '['); i > 0 && strings.HasSuffix(text, "]") { // .[dev]
			text = text[:i]
		}
		t.path(effect.Read, text, span, option, false, true)
		t.opaque("installs what lies in a folder or a file, whose scripts run", span, option, true)
	case ofNode(t.cmd.Program) && !strings.HasPrefix(text, "@") && strings.Count(text, "/") == 1: // user/repository
		t.foreignPackage("https://github.com/"+text, span, option)
	}
}

func (t *typed) foreignPackage(text string, span effect.Span, option string) {
	if i := strings.Index(text, "://"); i > 0 {
		if plus := strings.LastIndexByte(text[:i], '+'); plus >= 0 { // git+https:
			text = text[plus+1:]
		}
	}
	t.url(text, span, option)
	t.opaque("installs what another place serves, whose scripts run", span, option, false)
}

// elsewhere reports whether a package is given by where it is, and not by the
// name that an index knows.
func elsewhere(text string) bool {
	switch {
	case strings.HasPrefix(text, "."):
		return true
	case strings.HasPrefix(text, "/"), strings.HasPrefix(text, "~"), strings.Contains(text, "://"):
		return true
	}
	starts := func(p string) bool { return strings.HasPrefix(text, p) }
	ends := func(p string) bool { return strings.HasSuffix(strings.ToLower(text), p) }
	return slices.ContainsFunc(localSources, starts) || slices.ContainsFunc(forges, starts) || slices.ContainsFunc(archives, ends)
}

func ofNode(program string) bool {
	switch program {
	case "npm", "yarn", "yarnpkg", "pnpm", "bun", "npx", "bunx", "pnpx":
		return true
	}
	return false
}
