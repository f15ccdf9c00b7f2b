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
		return
	}
	t.path(effect.Write, text, span, option, false, false)
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
