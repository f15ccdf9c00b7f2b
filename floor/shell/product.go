package shell

import (
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// outdir follows a folder that a build fills, and often empties before, or a
// report that it writes: only a place that is called like one for what is
// built passes as a product, because "src" is a folder too.
func (t *typed) outdir(text string, span effect.Span, option string) {
	if text == "-" || text == "" {
		return
	}
	p := t.r.place.Prepare(strings.ReplaceAll(strings.ReplaceAll(text, commands.Words, commands.Unknown), commands.Number, commands.Star), t.cwd)
	if p.Inside() && !p.Glob && p.Named == "" && built(p.Rel) {
		t.product(text, span, option, folderish(p.Rel))
		return
	}
	t.path(effect.Write, text, span, option, false, false)
}

// product tells what a build writes where builds write: a rule that is about
// that place answers it, and nothing else does.
func (t *typed) product(text string, span effect.Span, option string, tree bool) {
	t.r.path(pathEffect{kind: effect.Write, text: text, span: span, cmd: t.cmd, option: option, cwd: t.cwd, at: true, tree: tree, built: true,
		priv: t.ctx.privileged || t.reading.Class == effect.Privilege}, t.w)
}

// folderish reports whether a product may be a folder: its name has no ending.
func folderish(rel string) bool {
	return !strings.Contains(rel[strings.LastIndexByte(rel, '/')+1:], ".")
}

// built reports whether a path in the tree is, or lies in, a folder for what
// is built. Hidden folders are none: configuration lives there.
func built(rel string) bool {
	if strings.HasPrefix(rel, ".") || strings.Contains(rel, "/.") {
		return false
	}
	for part := range strings.SplitSeq(rel, "/") {
		switch part {
		case "build", "dist", "target", "out", "bin", "obj", "_build", "coverage", "htmlcov", "_site", "test-results", "test-reports", "playwright-report",
			"storybook-static", "builddir", "allure-results":
			return true
		}
		if strings.Contains(part, ".") {
			continue
		}
		for _, kind := range []string{"build", "dist", "target", "out", "coverage", "cmake-build"} { // build-debug, cmake-build-release
			if rest, is := strings.CutPrefix(part, kind); is && (rest == "" || rest[0] == '-' || rest[0] == '_') {
				return true
			}
		}
	}
	return false
}

// target follows what a make builds: its built-in rules write a file of that
// name out of one that is called alike. A plain name is a name of the Makefile
// first of all, unless it is one of configuration.
func (t *typed) target(text string, span effect.Span) {
	name := strings.ToLower(base(text))
	switch {
	case strings.HasPrefix(text, "-") || strings.Contains(text, "%") || t.has("--question") || t.has("--just-print"):
	case strings.HasPrefix(text, ".") && !strings.Contains(text, "/") && madeHere[text]:
	case strings.ContainsAny(text, "/~") || strings.HasPrefix(text, "."), steered[name]:
		t.out(text, span, "")
	default:
		if i := strings.LastIndexByte(name, '.'); i >= 0 && steered[name[i:]] {
			t.out(text, span, "")
		}
	}
}

// madeHere are hidden names that Makefiles use for their stamps and folders.
var madeHere = map[string]bool{".venv": true, ".build": true, ".cache": true, ".tmp": true, ".deps": true, ".stamp": true, ".stamps": true, ".PHONY": true, ".installed": true}

// steered are files, and endings of files, that say what is run.
var steered = map[string]bool{"makefile": true, "gnumakefile": true, "justfile": true, "rakefile": true, "vagrantfile": true, "jenkinsfile": true, "codeowners": true, "gradlew": true, "mvnw": true,
	"configure": true, "id_rsa": true, "id_ed25519": true, ".env": true, ".mk": true, ".lock": true, ".lockb": true, ".toml": true, ".yml": true, ".yaml": true, ".json": true, ".jsonc": true, ".cfg": true,
	".ini": true, ".conf": true, ".config": true, ".pth": true, ".nix": true, ".sum": true, ".gradle": true, ".bat": true, ".cmd": true, ".key": true, ".pem": true, ".sh": true, ".py": true, ".js": true, ".cjs": true, ".mjs": true, ".ts": true}
