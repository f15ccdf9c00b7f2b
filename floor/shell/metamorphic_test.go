package shell_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assent/floor/commands"
	"assent/floor/effect"
	"assent/floor/paths"
	"assent/floor/shell"
	"assent/floor/shell/oracle"

	"github.com/bmatcuk/doublestar/v4"
)

// strictness is a judge of a few lines, strict where package floor is: 0 is
// silent, 3 is never. It is not the policy; it only makes effects comparable.
func strictness(place *paths.Place, effects []effect.Effect) (worst int) {
	for i := range effects {
		worst = max(worst, strictnessOf(place, &effects[i]))
	}
	return worst
}

// fences are paths that are worse than others.
var fences = []struct {
	kinds   []effect.Kind
	pattern string
	is      int
}{
	{[]effect.Kind{effect.Read}, "~/.ssh/**", 3},
	{[]effect.Kind{effect.Read}, "**/.env", 2},
	{[]effect.Kind{effect.Write}, "~/.bashrc", 3},
	{[]effect.Kind{effect.Write}, ".git/hooks/**", 3},
	{[]effect.Kind{effect.Write}, "/dev/sd*", 3},
	{[]effect.Kind{effect.Write}, "/dev/{null,tty,stdout,stderr}", 0},
}

func strictnessOf(place *paths.Place, e *effect.Effect) int {
	switch e.Kind {
	case effect.Run:
		switch {
		case e.Privileged:
			return 2
		case e.Command.Described && slices.Contains([]effect.Class{effect.Look, effect.Wrap, effect.Edit}, e.Command.Class):
			return 0
		}
		return 1
	case effect.Read, effect.Write, effect.Delete:
		if e.Own {
			return 0
		}
		worst := 1
		if e.Kind == effect.Delete && slices.Contains([]string{"/", place.Home, place.Workspace}, e.Path.Abs) {
			return 3
		}
		switch {
		case !e.Path.Known():
			return 1
		case e.Path.Abs == "/dev/null" || e.Meta || strings.HasPrefix(e.Path.Abs, "/dev/fd/") || e.Path.Abs == "/dev/stdin":
			worst = 0
		case !e.Path.Inside():
			worst = 2
		case e.Kind == effect.Read:
			worst = 0
		}
		if !e.Meta && (e.Tree || e.Path.Glob) {
			// Of a set of paths the files that are there decide as well.
			for file := range place.Facts.Files {
				one := *e
				one.Tree, one.Path = false, place.Prepare(file, "")
				if among(e, file) {
					worst = max(worst, strictnessOf(place, &one))
				}
			}
		}
		for _, f := range fences {
			pattern, err := paths.Compile(f.pattern)
			if err != nil {
				panic(err)
			}
			if slices.Contains(f.kinds, e.Kind) && !e.Meta && pattern.Relate(place, e.Path, e.Tree) >= paths.Overlap {
				worst = max(worst, f.is)
			}
		}
		return worst
	}
	return 1
}

// among reports whether a file is in the set of paths of an effect.
func among(e *effect.Effect, file string) bool {
	if !e.Path.Glob {
		return strings.HasPrefix(file, strings.TrimSuffix(e.Path.Abs, "/")+"/")
	}
	pattern := e.Path.Abs
	if e.Tree {
		pattern += "/**"
	}
	ok, err := doublestar.Match(pattern, file)
	return ok || err != nil
}

// TestRespelledTellsNoLess spells texts otherwise and judges the effects: they
// may become stricter and never looser; where a rule hides what happens they
// must at least not become silent.
func TestRespelledTellsNoLess(t *testing.T) {
	know := commands.Default()
	place := fuzzPlace()
	root := filepath.Dir(place.Workspace)
	expand := func(text string) string {
		return oracle.Expand(text, root+"/work", root+"/home", root+"/outside", root+"/tmp")
	}
	compared := 0
	for _, b := range oracle.Bases {
		t.Run(b.Name, func(t *testing.T) {
			text := expand(b.Text)
			want := strictness(place, shell.Effects(text, place, know))
			if want == 0 {
				t.Fatalf("%s tells nothing that this judge minds; no base then", text)
			}
			try := func(how, other string, least int) {
				compared++
				effects := shell.Effects(other, place, know)
				if got := strictness(place, effects); got < least {
					t.Errorf("%d: %s\n%s\n%s\nis only %d\n%s", want, text, how, other, got, showEffects(effects))
				}
			}
			for _, same := range slices.Concat(b.Same, b.Elsewhere) {
				try("written as", expand(same), want)
			}
			for _, same := range b.Hidden {
				try("hidden as", expand(same), 1)
			}
			for _, rule := range oracle.Respellings {
				least := want
				if rule.Hides {
					least = 1
				}
				for _, other := range rule.Apply(text) {
					try("by "+rule.Name, other, least)
				}
			}
		})
	}
	if !t.Failed() && compared < 4000 {
		t.Errorf("only %d texts were compared", compared)
	}
}

// essence are the facts that another spelling must keep: what was run with
// which words, and what was read, written and deleted.
func essence(facts []oracle.Fact) (runs, files []string) {
	for _, f := range facts {
		switch {
		case f.Kind == effect.Run:
			runs = append(runs, f.Program()+" "+strings.Join(f.Args[1:], " "))
		case !f.List:
			files = append(files, f.Kind.String()+" "+f.Path)
		}
	}
	return runs, files
}

// TestRespelledMeansTheSame asks real bash whether the other spellings really
// do what the base does; a rule that changes the meaning would show nothing.
// Every rule is tried with several bases, every other spelling of a base once.
func TestRespelledMeansTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("real bash takes a minute for this")
	}
	tried := map[string]int{}
	for i, b := range oracle.Bases {
		var others []struct{ rule, text string }
		for _, text := range slices.Concat(b.Same, b.Hidden) {
			others = append(others, struct{ rule, text string }{"", text})
		}
		// Begin elsewhere in the list with every base.
		for j := range oracle.Respellings {
			rule := oracle.Respellings[(i*37+j)%len(oracle.Respellings)]
			if tried[rule.Name] >= 3 {
				continue
			}
			for _, text := range rule.Apply(b.Text) {
				tried[rule.Name]++
				others = append(others, struct{ rule, text string }{rule.Name, text})
			}
		}
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			w := bash.world(t)
			base := run(t, w, w.Expand(b.Text))
			if !base.Traced {
				t.Skip("without strace it cannot be seen what a text reads")
			}
			runs, files := essence(base.Facts)
			if len(runs)+len(files) == 0 {
				t.Fatalf("%s does nothing in real bash: %s", b.Text, base.Errors)
			}
			for _, other := range others {
				rec := run(t, w, w.Expand(other.text))
				gotRuns, gotFiles := essence(rec.Facts)
				var lost []string
				if other.rule != "" {
					lost = append(missing(runs, gotRuns), missing(files, gotFiles)...)
				} else if !alike(runs, files, gotRuns, gotFiles) {
					lost = files
				}
				if len(lost) > 0 {
					t.Errorf("%s\nby %q is\n%s\nand does not do any more:\n  %s\nbut:\n%s%s", b.Text, other.rule, other.text, strings.Join(lost, "\n  "), showFacts(rec.Facts), rec.Errors)
				}
			}
		})
	}
	for _, rule := range oracle.Respellings {
		if tried[rule.Name] == 0 {
			t.Errorf("the rule %s fits no base", rule.Name)
		}
	}
}

// alike reports whether another spelling of a base has to do with the same
// things: it may do so by other programs, and those that are only recorded
// name the file and do not touch it.
func alike(runs, files, gotRuns, gotFiles []string) bool {
	if len(files) == 0 {
		return len(gotRuns) > 0
	}
	for _, f := range files {
		name := f[strings.LastIndexByte(f, '/')+1:]
		if slices.Contains(gotFiles, f) || slices.ContainsFunc(gotRuns, func(r string) bool { return strings.Contains(r, name) }) {
			return true
		}
	}
	return slices.ContainsFunc(runs, func(r string) bool { return strings.HasPrefix(r, "rm ") && slices.Contains(gotRuns, r) })
}

// missing lists what is not among the others.
func missing(want, got []string) (out []string) {
	for _, w := range want {
		if !slices.Contains(got, w) {
			out = append(out, w)
		}
	}
	return out
}
