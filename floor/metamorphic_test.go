package floor_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assent/approval"
	"assent/floor"
	"assent/floor/paths"
	"assent/floor/shell/oracle"
)

// The folders of the place where respelled texts are judged; the tree is that
// of the oracle's worlds.
const (
	respelledRoot    = "/srv/dev/tree"
	respelledWork    = respelledRoot + "/work"
	respelledHome    = respelledRoot + "/home"
	respelledOutside = respelledRoot + "/outside"
	respelledTemp    = respelledRoot + "/tmp"
)

// judgeBash judges a text as a bash call in the oracle's tree.
func judgeBash(t *testing.T, f *floor.Floor, text string) floor.Verdict {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		t.Fatal(err)
	}
	links, files, folders := oracle.Tree(respelledRoot)
	call := floor.Call{Name: "Bash", Arguments: arguments, Workspace: respelledWork, Home: respelledHome,
		Vars:  map[string]string{"TMPDIR": respelledTemp},
		Facts: paths.Facts{Links: links, Files: map[string]string{}, Dirs: map[string]bool{}}}
	for _, file := range files {
		call.Facts.Files[file] = ""
	}
	for _, folder := range folders {
		call.Facts.Dirs[folder] = true
	}
	return f.Judge(call)
}

func respelledText(text string) string {
	return oracle.Expand(text, respelledWork, respelledHome, respelledOutside, respelledTemp)
}

// TestRespelledNeverLooser spells texts that are not allowed otherwise, without
// changing what they do. The floor's answer may become stricter by it and
// never looser.
//
// Where a rule hides a value in a way that only running it could show
// ([oracle.Respelling.Hides]), a block may become the answer to what is not
// known; it must still not be allowed.
func TestRespelledNeverLooser(t *testing.T) {
	var f floor.Floor
	for _, b := range oracle.Bases {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			text := respelledText(b.Text)
			want := judgeBash(t, &f, text).Result
			if want <= approval.Allow {
				t.Fatalf("%s\nis %s; a base must not be allowed, or nothing is shown", text, want)
			}
			for _, same := range slices.Concat(b.Same, b.Elsewhere) {
				same = respelledText(same)
				if got := judgeBash(t, &f, same); want.Stricter(got.Result) {
					t.Errorf("%s: %s\nwritten as\n%s\nis only %s\n%s", want, text, same, got.Result, showVerdict(got))
				}
			}
			for _, same := range b.Hidden {
				same = respelledText(same)
				if got := judgeBash(t, &f, same); got.Result <= approval.Allow {
					t.Errorf("%s: %s\nhidden as\n%s\nis %s\n%s", want, text, same, got.Result, showVerdict(got))
				}
			}
			for _, rule := range oracle.Respellings {
				for _, other := range rule.Apply(text) {
					got := judgeBash(t, &f, other)
					if got.Result <= approval.Allow || !rule.Hides && want.Stricter(got.Result) {
						t.Errorf("%s: %s\nby %s\n%s\nis only %s\n%s", want, text, rule.Name, other, got.Result, showVerdict(got))
					}
				}
			}
		})
	}
}

// TestRespelledTwiceNeverLooser applies several rules one after the other.
func TestRespelledTwiceNeverLooser(t *testing.T) {
	var f floor.Floor
	rounds := 40
	if testing.Short() {
		rounds = 4
	}
	for i, b := range oracle.Bases {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 0))
			base := respelledText(b.Text)
			want := judgeBash(t, &f, base).Result
			for range rounds {
				text, names, hides := respell(r, base, 2+r.IntN(2))
				got := judgeBash(t, &f, text)
				if got.Result <= approval.Allow || !hides && want.Stricter(got.Result) {
					t.Errorf("%s: %s\nby %s\n%s\nis only %s\n%s", want, base, strings.Join(names, ", "), text, got.Result, showVerdict(got))
				}
			}
		})
	}
}

// respell applies n rules that fit.
func respell(r *rand.Rand, text string, n int) (out string, names []string, hides bool) {
	computed := 0
	for tries := 0; len(names) < n && tries < 100; tries++ {
		rule := oracle.Respellings[r.IntN(len(oracle.Respellings))]
		others := rule.Apply(text)
		if len(others) == 0 {
			continue
		}
		text = others[r.IntN(len(others))]
		names = append(names, rule.Name)
		if rule.Computes {
			computed++
		}
		hides = hides || rule.Hides || computed > 1
	}
	return text, names, hides
}

func showVerdict(v floor.Verdict) string {
	var b strings.Builder
	for _, e := range v.Effects {
		fmt.Fprintf(&b, "  %-5s %s %s", e.Result, e.Kind, e.Target)
		if e.Path.Known() {
			fmt.Fprintf(&b, " (%s)", filepath.Base(e.Path.Abs))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
