package paths

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestIndexFindsAll compares the index with looking at every pattern.
func TestIndexFindsAll(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "b", ".env", "k.key", "A", "*", "**", "*.key", "id*", "*b", "?", ".e*", "[ab]", "src", "home", "w", "É*"})
	start := rapid.SampledFrom([]string{"", "./", "~/", "/", "**/", "$TMPDIR/", "/home/user/w/"})
	rapid.Check(t, func(t *rapid.T) {
		p := &Place{Workspace: "/home/user/w", Cwd: "/home/user/w", Home: "/home/user", Vars: map[string]string{"TMPDIR": "/tmp/a"}}
		if rapid.Bool().Draw(t, "links") {
			p.Facts.Links = map[string]string{"/home/user/w/a": "/src/b", "/src": "/home/user/w/src"}
		}
		if rapid.Bool().Draw(t, "moved") {
			if p.Facts.Links == nil {
				p.Facts.Links = map[string]string{}
			}
			p.Facts.Links["/home"] = "/a/home"
		}
		var patterns []Pattern
		var x Index
		for i := range rapid.IntRange(1, 12).Draw(t, "patterns") {
			text := start.Draw(t, "start") + strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), "/")
			if rapid.IntRange(0, 9).Draw(t, "set") == 0 {
				text = rapid.SampledFrom(SetNames()).Draw(t, "set name")
			}
			pt, err := Compile(text)
			if err != nil {
				t.Skip(err)
			}
			patterns = append(patterns, pt)
			x.Add(pt, i)
		}
		x.Freeze()
		word := rapid.SampledFrom([]string{"", "/", "/home/user/", "/tmp/"}).Draw(t, "from") +
			strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "word"), "/")
		word = strings.NewReplacer("*", "\x00*", "?", "\x00?", "[", "\x00[").Replace(word)
		tree := rapid.Bool().Draw(t, "tree")
		path := p.Prepare(word, p.Cwd)
		if !path.Known() && path.Named == "" {
			return
		}
		got := map[int]Relation{}
		target := p.Target(path, tree)
		for _, h := range x.Match(nil, &target) {
			got[h.ID] = max(got[h.ID], h.Relation)
		}
		for i, pt := range patterns {
			want := pt.Relate(p, path, tree)
			if want == Possible {
				want = Apart
			}
			if got[i] != want {
				t.Fatalf("%q and %+v (tree %v): index says %v, want %v", pt, path, tree, got[i], want)
			}
		}
	})
}

func BenchmarkIndex(b *testing.B) {
	p := &Place{Workspace: "/home/user/project", Cwd: "/home/user/project", Home: "/home/user"}
	path := p.Prepare("src/deep/main.go", p.Cwd)
	for _, n := range []int{100, 10000} {
		var x Index
		for i := range n {
			switch i % 4 {
			case 0:
				x.Add(MustCompile(fmt.Sprintf("**/name%d", i)), i)
			case 1:
				x.Add(MustCompile(fmt.Sprintf("dir%d/**", i)), i)
			case 2:
				x.Add(MustCompile(fmt.Sprintf("~/d%d/*", i)), i)
			case 3:
				x.Add(MustCompile(fmt.Sprintf("*.e%d", i)), i)
			}
		}
		x.Add(MustCompile("."), n)
		x.Freeze()
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			var hits []Hit
			for b.Loop() {
				target := p.Target(path, false)
				hits = x.Match(hits[:0], &target)
			}
			if len(hits) != 1 {
				b.Fatal(hits)
			}
		})
	}
}
