package paths

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assent/floor/effect"

	"pgregory.net/rapid"
)

func TestRelate(t *testing.T) {
	const tree = true
	tests := []struct {
		name, pattern, word string
		tree                bool
		want                Relation
	}{
		{"workspace", ".", "src/x", false, Covers},
		{"workspace-itself", ".", ".", tree, Covers},
		{"workspace-not-sibling", ".", "../project-evil/x", false, Apart},
		{"workspace-under-parent", ".", "..", tree, Overlap},
		{"name", ".env", "a/b/.env", false, Covers},
		{"name-not-longer", ".env", ".env.example", false, Apart},
		{"name-other-case", ".env", ".ENV", false, Overlap},
		{"name-invisible", ".env", ".e\u200bnv", false, Overlap},
		{"name-outside", ".env", "/srv/.env", false, Overlap},
		{"folder-of-that-name", ".env", ".env/bin/x", false, Overlap},
		{"suffix", "*.key", "k/server.key", false, Covers},
		{"suffix-hidden", "*.key", ".key", false, Covers},
		{"anchored", "src/**", "src/a/b", false, Covers},
		{"anchored-itself", "src/**", "src", false, Covers},
		{"anchored-not-deeper", "src/**", "pkg/src/x.ts", false, Apart},
		{"anchored-dot", "./.env", ".env", false, Covers},
		{"anchored-dot-not-deeper", "./.env", "a/.env", false, Apart},
		{"one-level", "src/*", "src/a/b", false, Overlap},
		{"folder", "build/", "x/build/y", false, Covers},
		{"deep-outside", "**/.env", "/tmp/a/.env", false, Overlap},
		{"deep-not-above-the-workspace", "**/user/**", "src/x", false, Apart},
		{"deep-not-the-workspace-itself", "**/project/**", "src/x", false, Apart},
		{"deep-above-for-others", "**/user/**", "../other", false, Overlap},
		{"deep-glob-not-above", "**/user/**", "src/" + star, false, Possible},
		{"deep-two", "**/.git/hooks/**", "sub/.git/hooks/pre-commit", false, Covers},
		{"deep-two-case", "**/.git/hooks/**", "sub/.GIT/Hooks/x", false, Overlap},
		{"home", "~/.ssh/**", "/home/user/.ssh/id_rsa", false, Covers},
		{"home-case", "~/.ssh/**", "/HOME/user/.SSH/id_rsa", false, Overlap},
		{"home-variable", "$HOME/.ssh/**", "/home/user/.ssh", false, Covers},
		{"variable", "$TMPDIR/**", "/tmp/t/x", false, Covers},
		{"variable-braces", "${TMPDIR}/x", "/tmp/t/x", false, Covers},
		{"variable-unknown", "$NOPE/**", "/tmp/t/x", false, Apart},
		{"absolute", "/etc/*", "/etc/passwd", false, Covers},
		{"absolute-question", "/etc/passw?", "/etc/passwd", false, Covers},
		{"class", "/etc/[a-p]*", "/etc/passwd", false, Covers},
		{"class-not", "/etc/[!p]*", "/etc/passwd", false, Apart},
		{"braces", "/etc/{shadow,gshadow}", "/etc/gshadow", false, Covers},
		{"braces-nested", "a/{b,c{d,e}}/f", "a/ce/f", false, Covers},
		{"braces-empty", "a{,b}.go", "x/a.go", false, Covers},
		{"escape", `a/\*`, "a/*", false, Covers},
		{"escape-not", `a/\*`, "a/b", false, Apart},
		{"unknown-path", "/etc/passwd", "x" + any, false, Overlap},

		{"symlink-out", ".", "out/x", false, Overlap},
		{"symlink-name", "out/**", "out/x", false, Overlap},
		{"symlink-target", "/srv/out/**", "out/x", false, Covers},

		{"tree-above-anchored", ".git/hooks/**", ".", tree, Overlap},
		{"tree-above-anchored-name", "secrets/key.pem", "secrets", tree, Overlap},
		{"tree-above-deep", "**/.env", ".", tree, Possible},
		{"tree-above-deep-started", "**/.git/hooks/**", ".git", tree, Overlap},
		{"tree-above-home", "~/.ssh/**", "/home", tree, Overlap},
		{"tree-beside", "src/**", "docs", tree, Apart},
		{"tree-covered", "src/**", "src/a", tree, Covers},
		{"tree-not-covered", "src/*", "src/a", tree, Overlap},

		{"glob-covered", "src/**", "src/" + star + ".go", false, Covers},
		{"glob-covered-by-name", "*.go", "src/" + star + ".go", false, Covers},
		{"glob-not-covered", "*.go", "src/" + star, false, Possible},
		{"glob-hidden-not-matched", ".env", "src/" + star, false, Apart},
		{"glob-hint", ".env", "src/.e" + star, false, Overlap},
		{"glob-hint-question", ".env", "src/.en" + quest, false, Overlap},
		{"glob-suffix-hint", "*.pem", "src/" + star + ".pem", false, Covers},
		{"glob-suffix-case", "*.pem", "src/" + star + ".PEM", false, Overlap},
		{"glob-no-hint", "**/secrets.*", "src/" + star + ".yaml", false, Possible},
		{"glob-apart", "*.pem", "src/" + star + ".go", false, Apart},
		{"glob-anchored", "src/secret.txt", "src/" + star, false, Overlap},
		{"glob-over-homes", "~/.ssh/**", "/home/" + star + "/.ssh/id_rsa", false, Overlap},
		{"glob-tree", "src/**", "src/" + star, tree, Covers},
		{"glob-bracket", "/etc/shadow", "/etc/" + brack + "s]hadow", false, Overlap},

		{"outside", "@outside", "/etc/x", false, Covers},
		{"outside-not", "@outside", "x", false, Apart},
		{"outside-glob", "@outside", "../" + star, false, Overlap},
		{"null", "@null", "/dev/null", false, Covers},
		{"null-fd", "@null", "/dev/fd/3", false, Covers},
		{"system", "@system", "/usr/share/dict/words", false, Covers},
		{"system-release", "@system", "/etc/os-release", false, Covers},
		{"system-not-passwd", "@system", "/etc/passwd", false, Apart},
		{"system-not-environ", "@system", "/proc/self/environ", false, Apart},
		{"device", "@devices", "/dev/nvme0n1p1", false, Covers},
		{"device-not-stdout", "@devices", "/dev/stdout", false, Apart},
		{"device-not-fd", "@devices", "/dev/fd/1", false, Apart},
		{"assent-state", "@assent", "/home/user/.local/state/assent/db", false, Covers},
		{"assent-in-workspace", "@assent", ".assent/policy.yaml", false, Covers},
		{"assent-elsewhere", "@assent", "/srv/x/.assent", false, Overlap},
		{"assent-policy-file", "@assent", "/srv/rules/policy.yaml", false, Covers},
		{"assent-tree", "@assent", "/home/user/.local", tree, Overlap},

		{"roots-slash", "@roots", "/", tree, Covers},
		{"roots-home", "@roots", "/home/user/foo/..", tree, Covers},
		{"roots-workspace", "@roots", "./foo/..", tree, Covers},
		{"roots-parent", "@roots", "..", tree, Covers},
		{"roots-children", "@roots", "./" + star, tree, Covers},
		{"roots-children-hidden", "@roots", "." + star, tree, Covers},
		{"roots-all-of-slash", "@roots", "/" + star, tree, Covers},
		{"roots-all-of-home", "@roots", "/home/user/" + star, tree, Covers},
		{"roots-top", "@roots", "/etc", tree, Covers},
		{"roots-top-private", "@roots", "/private/etc", tree, Covers},
		{"roots-other-home", "@roots", "/home/else", tree, Covers},
		{"roots-glob-on-top", "@roots", "/us" + star, tree, Overlap},
		{"roots-glob-on-workspace", "@roots", "/home/user/proj" + star, tree, Overlap},
		{"roots-not-some-children", "@roots", "build" + star, tree, Apart},
		{"roots-not-child", "@roots", "src", tree, Apart},
		{"roots-not-all-of-child", "@roots", "src/" + star, tree, Apart},
		{"own-link", "@assent", "/srv/link", false, Overlap},
		{"own-link-above", "@assent", "/srv", tree, Overlap},
		{"own-link-beside", "@assent", "/srv", false, Apart},
		{"own-link-behind", "@assent", "/srv/link/x", false, Apart},
		{"own-link-glob", "@assent", "/srv/l" + star, false, Overlap},
		{"own-link-glob-above", "@assent", "/sr" + star, tree, Overlap},
		{"own-link-glob-another", "@assent", "/srv/m" + star, false, Apart},
		{"own-link-glob-behind", "@assent", "/srv/link/" + star, false, Apart},
		{"roots-not-tmp-child", "@roots", "/tmp/x", tree, Apart},
	}
	p := place()
	p.Own = []string{"/srv/rules/policy.yaml"}
	p.OwnLinks = []string{"/srv/link"}
	for i := range tests {
		delete(p.Facts.Links, "/home/user/project/out") // put back below where wanted
		tt := tests[i]
		t.Run(tt.name, func(t *testing.T) {
			p := *p
			p.Facts.Links = nil
			if strings.HasPrefix(tt.name, "symlink") {
				p.Facts.Links = map[string]string{"/home/user/project/out": "/srv/out"}
			}
			pt, err := Compile(tt.pattern)
			if err != nil {
				t.Fatal(err)
			}
			path := p.Prepare(tt.word, p.Cwd)
			if got := pt.Relate(&p, path, tt.tree); got != tt.want {
				t.Errorf("%q to %q (%+v, tree %v) = %v, want %v", tt.pattern, tt.word, path, tt.tree, got, tt.want)
			}
		})
	}
}

func TestCompileErrors(t *testing.T) {
	for name, pattern := range map[string]string{
		"empty":             "",
		"blank":             " a",
		"control":           "a\x00b",
		"drive":             `C:\Users`,
		"other-home":        "~root/x",
		"dots":              "../x",
		"dots-inside":       "a/../b",
		"triple-star":       "a/***",
		"star-star-in-name": "a**b",
		"bracket":           "a[b",
		"bracket-range":     "a[z-a]",
		"bracket-class":     "a[[:alpha:]]",
		"brace-open":        "a{b,c",
		"brace-close":       "a}",
		"braces-anchors":    "{/a,b}",
		"too-many":          strings.Repeat("{a,b}", 7),
		"too-deep":          strings.Repeat("a/", 61),
		"too-long":          strings.Repeat("a", 5000),
		"variable-inside":   "a/$HOME",
		"variable-glued":    "$TMPDIRx$",
		"variable-pwd":      "$PWD/x",
		"no-such-set":       "@sytem",
		"backslash-at-end":  `a\`,
	} {
		if pt, err := Compile(pattern); err == nil {
			t.Errorf("%s: Compile(%q) = %v, want an error", name, pattern, pt)
		}
	}
}

func TestPatternNames(t *testing.T) {
	for pattern, want := range map[string]bool{
		".": false, "*": false, "**": false, "src/**": false, "src/*": false, ".*": false, "@system": false,
		"Makefile": true, "src/*.lock": true, "**/.env": true, "Make*": true, "/tmp/x": true,
	} {
		if got := MustCompile(pattern).Names(); got != want {
			t.Errorf("%q names = %v, want %v", pattern, got, want)
		}
	}
}

func TestPatternWithin(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{".github/workflows/**", ".github/workflows/**"}:     true,
		{".github/workflows/ci.yml", ".github/workflows/**"}: true,
		{".github/**", ".github/workflows/**"}:               false,
		{"src/Makefile", "**/Makefile"}:                      true,
		{".", "**/Makefile"}:                                 false,
		{"/srv/x", "~/x"}:                                    false,
		{"~/x/y", "~/x/**"}:                                  true,
		{"**/x", "x/**"}:                                     false,
		{"{a,b}.go", "*.go"}:                                 true,
		{"{a,b}.go", "a.go"}:                                 false,
		{"@system", "@system"}:                               true,
		{"/usr/bin", "@system"}:                              false,
	} {
		if got := MustCompile(pair[0]).Within(MustCompile(pair[1])); got != want {
			t.Errorf("%q within %q = %v, want %v", pair[0], pair[1], got, want)
		}
	}
}

// The twin: slow and obviously right. It spells out every path over a small
// alphabet and matches them one by one.

// twinMatch matches a name against a pattern part, character by character.
func twinMatch(pat, name string) bool {
	switch {
	case pat == "":
		return name == ""
	case pat[0] == '*':
		return twinMatch(pat[1:], name) || name != "" && twinMatch(pat, name[1:])
	case name == "":
		return false
	}
	return (pat[0] == '?' || pat[0] == name[0]) && twinMatch(pat[1:], name[1:])
}

func twinSegments(pat, path []string) bool {
	switch {
	case len(pat) == 0:
		return len(path) == 0
	case pat[0] == "**":
		return twinSegments(pat[1:], path) || len(path) > 0 && twinSegments(pat, path[1:])
	case len(path) == 0:
		return false
	}
	return twinMatch(pat[0], path[0]) && twinSegments(pat[1:], path[1:])
}

// universe is every path up to three parts deep with short names.
var universe = func() [][]string {
	var names []string
	const letters = "abA."
	for _, a := range letters {
		if a != '.' {
			names = append(names, string(a))
		}
		for _, b := range letters {
			if s := string(a) + string(b); s != ".." {
				names = append(names, s)
			}
		}
	}
	all := [][]string{{}}
	for level, depth := all, 0; depth < 3; depth++ {
		var next [][]string
		for _, p := range level {
			for _, n := range names {
				next = append(next, append(append([]string(nil), p...), n))
			}
		}
		all = append(all, next...)
		level = next
	}
	return all
}()

// twinMembers are the paths that a command's glob may stand for, and with
// tree all below them.
func twinMembers(glob []string, tree bool) [][]string {
	var out [][]string
	for _, path := range universe {
		for n := len(path); n >= 0; n-- {
			if shellMember(glob, path[:n]) {
				out = append(out, path)
				break
			}
			if !tree {
				break
			}
		}
	}
	return out
}

func shellMember(glob, path []string) bool {
	if len(glob) != len(path) {
		return false
	}
	for i := range glob {
		wild := glob[i][0] == '*' || glob[i][0] == '?'
		if wild && path[i][0] == '.' || !twinMatch(glob[i], path[i]) {
			return false
		}
	}
	return true
}

func TestRelateTwin(t *testing.T) {
	part := rapid.StringMatching(`[abA.*?]|[abA*?][abA.*?]|\.[abA*?]`).Filter(func(s string) bool { return s != "." && s != "**" })
	rapid.Check(t, func(t *rapid.T) {
		var pat []string
		for i := range rapid.IntRange(1, 3).Draw(t, "pattern parts") {
			if rapid.IntRange(0, 3).Draw(t, "deep") == 0 && (i == 0 || pat[i-1] != "**") {
				pat = append(pat, "**")
			} else {
				pat = append(pat, part.Draw(t, "part"))
			}
		}
		var glob []string
		for range rapid.IntRange(1, 3).Draw(t, "glob parts") {
			glob = append(glob, part.Draw(t, "glob part"))
		}
		tree := rapid.Bool().Draw(t, "tree")
		// "./" keeps a pattern of one part at the workspace.
		pattern := "./" + strings.Join(pat, "/")
		var word strings.Builder
		word.WriteString("/w")
		for _, g := range glob {
			word.WriteByte('/')
			for _, c := range g {
				if c == '*' || c == '?' {
					word.WriteByte(0)
				}
				word.WriteRune(c)
			}
		}
		p := &Place{Workspace: "/w", Cwd: "/w"}
		path := p.Prepare(word.String(), "/w")
		got := MustCompile(pattern).Relate(p, path, tree)

		members := twinMembers(glob, tree)
		all, some, folded := true, false, false
		for _, m := range members {
			hit := twinSegments(pat, m)
			all = all && hit
			some = some || hit
			for n := 0; n <= len(m) && !folded; n++ {
				folded = twinSegments(lowerAll(pat), lowerAll(m[:n]))
			}
		}
		story := fmt.Sprintf("pattern %q, path %q (%+v), tree %v: %v", pattern, word.String(), path, tree, got)
		if got == Covers && !all {
			t.Fatalf("%s, but not every member is matched", story)
		}
		if got == Apart && folded {
			t.Fatalf("%s, but a member is matched", story)
		}
		dots := slices.Contains(glob, ".*") || slices.Contains(glob, ".?")         // "." and ".." are no names
		if got != Apart && !folded && !(tree && len(glob)+len(pat) > 3) && !dots { // else the universe is too small
			t.Fatalf("%s, but no member is matched", story)
		}
		plain := !path.Glob && !tree
		if plain && (got == Covers) != some {
			t.Fatalf("%s, but a plain path is matched: %v", story, some)
		}
	})
}

func lowerAll(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = strings.ToLower(s)
	}
	return out
}

func FuzzRelate(f *testing.F) {
	f.Add("**/.env", "src/.env", true)
	f.Add("{a,b}/[x-z]*", "\x00*/\x00[x]", false)
	f.Add("~/.ssh/**", "../../.ssh/\x00?d", false)
	f.Add("@roots", "/\x00*", true)
	f.Add("@roots", "\x00*", true)
	f.Add(`\é*`, "É", false)
	f.Fuzz(func(t *testing.T, pattern, word string, tree bool) {
		p := place()
		path := p.Prepare(word, p.Cwd)
		if path.Inside() && strings.HasPrefix(path.Rel, "../") {
			t.Fatalf("Prepare(%q) is inside by %q", word, path.Rel)
		}
		pt, err := Compile(pattern)
		if err != nil {
			return
		}
		r := pt.Relate(p, path, tree)
		if r == Covers && !path.Known() {
			t.Fatalf("%q covers an unknown path", pattern)
		}
		if !tree && r == Apart && pt.Relate(p, path, true) == Covers {
			t.Fatalf("%q covers the tree of %+v, not the path", pattern, path)
		}
	})
}

func BenchmarkPrepare(b *testing.B) {
	p := &Place{Workspace: "/home/user/project", Cwd: "/home/user/project", Home: "/home/user"}
	for name, word := range map[string]string{"relative": "src/main.go", "absolute": "/home/user/project/src/main.go"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var path effect.Path
			for b.Loop() {
				path = p.Prepare(word, p.Cwd)
			}
			if !path.Inside() {
				b.Fatal(path)
			}
		})
	}
}

func BenchmarkRelate(b *testing.B) {
	p := &Place{Workspace: "/home/user/project", Cwd: "/home/user/project", Home: "/home/user"}
	path := p.Prepare("src/deep/main.go", p.Cwd)
	for _, pattern := range []string{".", "**/.env", "~/.ssh/**", "src/**/*.go", "@system"} {
		pt := MustCompile(pattern)
		b.Run(pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				pt.Relate(p, path, false)
			}
		})
	}
}
