package shell

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDictIsAMap holds tables against Go's maps: what they hold, whether they are
// equal, where they differ, and that those before a change stay as they were.
func TestDictIsAMap(t *testing.T) {
	name := rapid.SampledFrom(strings.Fields("a b c d e f g h i j k l m n o p"))
	value := rapid.Custom(func(t *rapid.T) variable {
		return variable{text: rapid.SampledFrom([]string{"", "x", strings.Repeat("y", 100), strings.Repeat("y", 99) + "z"}).Draw(t, "text"), exported: rapid.Bool().Draw(t, "exported")}
	})
	type both struct {
		d dict[variable]
		m map[string]variable
	}
	rapid.Check(t, func(t *rapid.T) {
		all := []both{{m: map[string]variable{}}}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			was := rapid.SampledFrom(all).Draw(t, "from")
			is := both{was.d, maps.Clone(was.m)}
			n := name.Draw(t, "name")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				is.d = is.d.del(n)
				delete(is.m, n)
			case 1:
				keep := func(name string, v variable) (variable, bool) { v.text += "k"; return v, name < n }
				if rapid.Bool().Draw(t, "as it is") {
					keep = func(name string, v variable) (variable, bool) { return v, name != n }
				}
				is.d = is.d.filter(keep)
				for name, v := range was.m {
					if v, kept := keep(name, v); kept {
						is.m[name] = v
					} else {
						delete(is.m, name)
					}
				}
			default:
				v := value.Draw(t, "value")
				is.d, is.m[n] = is.d.put(n, v), v
			}
			all = append(all, is)
		}
		for _, b := range all {
			got := maps.Collect(b.d.all())
			if !maps.EqualFunc(got, b.m, variable.equal) {
				t.Fatalf("got %v, want %v", got, b.m)
			}
			for n := range "abcdefghijklmnop" {
				v, has := b.d.get(string(rune('a' + n)))
				if w, had := b.m[string(rune('a'+n))]; has != had || !v.equal(w) {
					t.Fatalf("%c: got %v %v, want %v %v", 'a'+n, v, has, w, had)
				}
			}
			if names := slices.Collect(func(yield func(string) bool) { b.d.root.each(func(n string, _ variable) bool { return yield(n) }) }); !slices.IsSorted(names) {
				t.Fatalf("not in order: %v", names)
			}
		}
		a, b := rapid.SampledFrom(all).Draw(t, "a"), rapid.SampledFrom(all).Draw(t, "b")
		if got, want := a.d.equal(b.d), maps.EqualFunc(a.m, b.m, variable.equal); got != want {
			t.Fatalf("equal: %v, want %v: %v %v", got, want, a.m, b.m)
		}
		patched := maps.Clone(a.m)
		last := ""
		for n, p := range a.d.differing(b.d) {
			if n <= last {
				t.Fatalf("%s behind %s", n, last)
			}
			last = n
			if v, had := a.m[n]; had != p.inA || !v.equal(p.a) {
				t.Fatalf("%s: %v, want %v", n, p.a, v)
			}
			if v, had := b.m[n]; had != p.inB || !v.equal(p.b) || p.inA && p.inB && p.a.equal(p.b) {
				t.Fatalf("%s: %v, want %v", n, p.b, v)
			}
			if delete(patched, n); p.inB {
				patched[n] = p.b
			}
		}
		if !maps.EqualFunc(patched, b.m, variable.equal) {
			t.Fatalf("%v and what differs is %v, want %v", a.m, patched, b.m)
		}
	})
}

// TestDictSharesWhatStays counts the nodes that two tables do not have in common, and
// what telling a change among many names takes.
func TestDictSharesWhatStays(t *testing.T) {
	var d dict[variable]
	for i := range 4000 {
		d = d.put(fmt.Sprintf("a%d", i), variable{text: "x"})
	}
	had := map[*node[variable]]bool{}
	var walk func(n *node[variable], visit func(*node[variable]))
	walk = func(n *node[variable], visit func(*node[variable])) {
		if n != nil {
			visit(n)
			walk(n.left, visit)
			walk(n.right, visit)
		}
	}
	walk(d.root, func(n *node[variable]) { had[n] = true })
	fresh := 0
	walk(d.put("a2000", variable{text: "y"}).put("b", variable{}).del("a77").root, func(n *node[variable]) {
		if !had[n] {
			fresh++
		}
	})
	if fresh > 200 {
		t.Errorf("three changes make %d of 4,000 entries anew", fresh)
	}
	depth := 0
	var deep func(n *node[variable]) int
	deep = func(n *node[variable]) int {
		if n == nil {
			return 0
		}
		return 1 + max(deep(n.left), deep(n.right))
	}
	if depth = deep(d.root); depth > 60 {
		t.Errorf("4,000 names are %d deep", depth)
	}
}
