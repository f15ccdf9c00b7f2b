package floor

import (
	"fmt"
	"strings"
	"testing"

	"assent/approval"
	"assent/floor/effect"
	"assent/floor/paths"

	"pgregory.net/rapid"
)

// slowly joins what is said about the known files one after the other, each compared
// with the tree or glob and judged anew.
func (j *judgement) slowly(d *Judged, folder, meant bool) {
	e := &d.Effect
	pattern, ok := reach(e)
	for _, known := range j.known().files {
		file, path := known.name, known.path
		if !path.Known() || ok && pattern.Relate(j.place, path, false) < paths.Overlap {
			continue
		}
		if e.Names != "" && !paths.AnyPart(e.Names, strings.TrimPrefix(path.Abs, e.Path.Abs)) {
			continue
		}
		if e.Path.Glob && e.Command != nil && !paths.Expands(e.Path.Abs, path.Abs, e.Tree) {
			continue
		}
		var one Judged
		one.Effect = *e
		j.s = subject{place: j.place, e: e, at: j.place.Target(path, false)}
		j.decide(&one)
		if folder && one.Result >= approval.Ask && one.rule != nil && one.rule.policy.layer == Shipped && !one.rule.fixed {
			if meant {
				continue
			}
			one.Result = approval.Ask
		}
		if one.Result.Stricter(d.Result) || d.File != "" && one.Result == d.Result && d.Rule == readOutside && one.Rule != readOutside {
			d.Result, d.Rule, d.rule, d.Pattern, d.operator, d.File = one.Result, one.Rule, one.rule, one.Pattern, one.operator, file
		}
		d.shipped = d.shipped.Join(one.shipped)
	}
}

const reachedPolicy = `version: 1
read:
  allow: [.]
  deny: [secret, "d/**"]
write:
  allow: [.]
  deny: ["a/b/**"]
  block: ["*.key"]
delete:
  allow: [d/]
  deny: [keep]
`

// TestReachedIsWhatComparingAllSays holds finding files by their folders, and answering
// again what was asked before, against comparing every file every time.
func TestReachedIsWhatComparingAllSays(t *testing.T) {
	policy, err := ParsePolicy("p.yaml", []byte(reachedPolicy))
	if err != nil {
		t.Fatal(err)
	}
	part := rapid.SampledFrom([]string{"a", "b", "A", "d", "é", "e\u0301", "É", "keep", "secret", "x.key", ".env", ".git", "{a,b}", "a*", "l", "\u200ba", "a b"})
	file := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"/w/", "/w/", "/W/", "/", "/tmp/", "/private/tmp/"}).Draw(t, "top") +
			strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "/")
	})
	glob := rapid.SampledFrom([]string{"\x00*", "a\x00*", "\x00?", "\x00[ab]", ".\x00*", "a", "d", "{a,b}", "\x00*.key", "É"})
	rapid.Check(t, func(t *rapid.T) {
		place := &paths.Place{Workspace: "/w", Home: "/home/u"}
		place.Fold = rapid.Bool().Draw(t, "fold")
		place.Facts.Links = map[string]string{}
		if rapid.Bool().Draw(t, "links") {
			place.Facts.Links["/tmp"] = "/private/tmp"
			place.Facts.Links["/w/l"] = rapid.SampledFrom([]string{"a", "/w/d", "/tmp", "/"}).Draw(t, "to")
		}
		place.Facts.Files = map[string]string{}
		for _, f := range rapid.SliceOfN(file, 0, 12).Draw(t, "files") {
			place.Facts.Files[f] = ""
		}
		f := Floor{Operator: policy}
		var effects []effect.Effect
		for range rapid.IntRange(1, 8).Draw(t, "effects") {
			word := file.Draw(t, "path")
			for rapid.Bool().Draw(t, "deeper") {
				word += "/" + glob.Draw(t, "part")
			}
			if rapid.Bool().Draw(t, "up") {
				word = word[:strings.LastIndexByte(word, '/')+1]
			}
			effects = append(effects, effect.Effect{
				Kind: rapid.SampledFrom([]effect.Kind{effect.Read, effect.Write, effect.Delete}).Draw(t, "kind"),
				Tree: rapid.Bool().Draw(t, "tree"), Below: rapid.Bool().Draw(t, "below"),
				Names: rapid.SampledFrom([]string{"", "", "*.key", "a|b"}).Draw(t, "names"),
				Path:  place.Prepare(word, "/w"),
			})
			if last := &effects[len(effects)-1]; last.Path.Known() && last.Path.Named != "" && rapid.Bool().Draw(t, "unresolved") {
				last.Path.Abs = last.Path.Named
			}
			if rapid.Bool().Draw(t, "typed") {
				effects[len(effects)-1].Command = &effect.Command{Program: "cat", Class: effect.Look}
			}
		}
		j := judgement{floor: &f, place: place, base: f.base(), effects: effects}
		for i := range effects {
			folder, meant := rapid.Bool().Draw(t, "folder"), rapid.Bool().Draw(t, "meant")
			got, want := Judged{Effect: effects[i]}, Judged{Effect: effects[i]}
			if !effects[i].Path.Known() {
				continue
			}
			j.reach(&got, folder, meant)
			j.slowly(&want, folder, meant)
			if got.Result != want.Result || got.Rule != want.Rule || got.rule != want.rule || got.Pattern != want.Pattern ||
				got.File != want.File || got.operator != want.operator || got.shipped != want.shipped {
				t.Fatalf("%v %q: %v of %q by %v, want %v of %q by %v", effects[i].Kind, effects[i].Path.Abs,
					got.Result, got.File, got.Rule, want.Result, want.File, want.Rule)
			}
		}
		j.files.compared, j.files.reached = maxCompared+1, map[reaching]fileAnswer{}
		for i := range effects { // as if there were too many
			if !effects[i].Path.Known() {
				continue
			}
			got, want := Judged{Effect: effects[i]}, Judged{Effect: effects[i]}
			j.reach(&got, false, false)
			j.slowly(&want, false, false)
			if want.Result.Stricter(got.Result) || want.shipped.Stricter(got.shipped) {
				t.Fatalf("beyond the bound %v %q: %v, want at least %v", effects[i].Kind, effects[i].Path.Abs, got.Result, want.Result)
			}
		}
	})
}

// TestReachingManyFiles counts how often a file is compared with a tree or glob: in
// proportion to what the text says, whatever it says again.
func TestReachingManyFiles(t *testing.T) {
	repeat := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String()
	}
	tests := map[string]func(n int) string{
		"a chain of renames": func(n int) string { return repeat(n, func(i int) string { return fmt.Sprintf("mv a%d a%d;", i, i+1) }) },
		"renames":            func(n int) string { return repeat(n, func(i int) string { return fmt.Sprintf("mv a%d b%d;", i, i) }) },
		"many into a folder": func(n int) string {
			return "mv " + repeat(n, func(i int) string { return fmt.Sprintf("a%d ", i) }) + "d"
		},
		"links": func(n int) string {
			return repeat(n, func(i int) string { return fmt.Sprintf("ln -s a%d a%d;", i, i+1) })
		},
		"copies of trees": func(n int) string {
			return repeat(n, func(i int) string { return fmt.Sprintf("cp -r a%d a%d;", i, i+1) })
		},
		"the same tree many times": func(n int) string { return "find . " + strings.Repeat("-exec cat {} + ", n) },
		"the same glob many times": func(n int) string { return strings.Repeat("cat a*;", n) },
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			count := func(n int) int {
				call := bash(text(n))
				call.Facts.Files, call.Facts.Folders = map[string]string{}, map[string]int{"/w": paths.Whole}
				call.Workspace, call.Cwd = "/w", "/w"
				for i := range n {
					call.Facts.Files[fmt.Sprintf("/w/a%d", i)] = ""
				}
				effects, _ := Effects(call)
				var f Floor
				j := judgement{floor: &f, place: call.Place(), base: f.base(), effects: effects}
				for i := range effects {
					j.effect(&Judged{Effect: effects[i]})
				}
				return j.known().compared
			}
			few, many := count(40), count(160)
			if many > 8*few+16 {
				t.Errorf("%d comparisons for 40, %d for 160", few, many)
			}
		})
	}
}

// TestReachingBeyondTheBound: whoever makes the floor compare more than it does gets
// the answer about all known files.
func TestReachingBeyondTheBound(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "cat a*%d; ", i)
	}
	call := bash(b.String() + "grep -r x zz")
	call.Workspace, call.Cwd = "/w", "/w"
	call.Facts.Files = map[string]string{"/w/zz/.env": ""}
	for i := range 500 {
		call.Facts.Files[fmt.Sprintf("/w/a%d", i)] = ""
	}
	var f Floor
	v := f.Judge(call)
	last := v.Effects[len(v.Effects)-1]
	if last.Result < approval.Deny || last.File != "/w/zz/.env" {
		t.Errorf("%v of %q, want the answer about .env", last.Result, last.File)
	}
}
