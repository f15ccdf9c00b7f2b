package kernel

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"assent/floor"
	"assent/plexus"
	"assent/senses"
)

// decided is one file of the floor's decisions, on a machine where its files
// are.
type decided struct {
	floor     floor.Floor
	workspace string
	calls     []string
}

func (d *decided) Layers(string) Layers           { return Layers{Floor: d.floor} }
func (*decided) Notify(string, func()) (_ func()) { return func() {} }

// A call is judged here as by the command that tells people what a call would
// be judged to be: the same facts are asked of the machine, and the answer is
// the same to the letter.
func TestDecisionsAreThoseOfCheck(t *testing.T) {
	files, err := filepath.Glob("../floor/testdata/decisions/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no decisions: %v", err)
	}
	told := make(map[string]int)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			d := readDecided(t, file)
			w := newWorld(t, Options{Policies: d, Prepare: Options{}.withDefaults().Prepare})
			home := filepath.Dir(d.workspace)
			s, err := w.CreateSession(t.Context(), NewSession{ID: "s", Workspace: d.workspace, Home: home}, ada)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range d.calls {
				call := floor.Call{Name: "Bash", Arguments: bash(line), Workspace: s.Workspace, Cwd: s.Cwd, Home: s.Home}
				if name, arguments, ok := strings.Cut(line, " {"); ok && !strings.Contains(name, " ") && 'A' <= name[0] && name[0] <= 'Z' || strings.HasPrefix(line, "mcp__") {
					call.Name, call.Arguments = name, []byte("{"+arguments)
				}
				v := d.floor.Judge(senses.CompleteFor(&d.floor, call))
				told[v.Result.String()]++

				row, err := w.Admit(t.Context(), NewCall{Session: "s", Name: call.Name, Arguments: call.Arguments}, hook)
				if err != nil {
					t.Fatal(err)
				}
				w.await("s", row.ID, plexus.PolicyResult)
				fields := w.fields("s", row.ID)
				want := map[string]string{
					plexus.PolicyResult: plexus.Value(v.Result), plexus.PolicyMessage: plexus.Text(v.Message),
					plexus.Explanation: string(v.Explained().Cut(maxEffects, maxTarget).JSON()),
				}
				// What a yes opens is the kernel's own, and stands behind the rest.
				fields[plexus.Explanation] = opens.ReplaceAllString(fields[plexus.Explanation], "}")
				for name, value := range want {
					if value != fields[name] && (name != plexus.PolicyMessage || v.Message != "") {
						t.Errorf("%s: %s (-check +kernel)\n%s", line, name, cmp.Diff(value, fields[name]))
					}
				}
			}
		})
	}
	for _, result := range []string{"allow", "ask", "deny", "block"} {
		if told[result] == 0 {
			t.Errorf("no call was judged %s: %v", result, told)
		}
	}
}

// opens are the members of an explanation that say what a yes to a read opens.
var opens = regexp.MustCompile(`(,"names":\[[^\]]*\])?,"ruled":(true|false)}$`)

func readDecided(t *testing.T, file string) *decided {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const place = "/home/user/project"
	d := &decided{workspace: filepath.Join(t.TempDir(), "user", "project")}
	if err := os.MkdirAll(d.workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	parse := func(f txtar.File, layer floor.Layer) *floor.Policy {
		p, err := floor.ParseLayer(f.Name, f.Data, layer)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, f := range a.Files {
		switch f.Name {
		case "policy.yaml":
			d.floor.Operator = parse(f, floor.Operator)
		case "managed.yaml":
			d.floor.Managed = parse(f, floor.Managed)
		case "project.yaml":
			d.floor.Project = parse(f, floor.Project)
		case "facts.json":
			var facts struct{ Links, Files map[string]string }
			if err := json.Unmarshal(f.Data, &facts); err != nil {
				t.Fatal(err)
			}
			for name, text := range facts.Files {
				if name, ok := strings.CutPrefix(name, place); ok {
					name = filepath.Join(d.workspace, name)
					_ = os.MkdirAll(filepath.Dir(name), 0o700)
					_ = os.WriteFile(name, []byte(text), 0o600)
				}
			}
			for name, target := range facts.Links {
				if name, ok := strings.CutPrefix(name, place); ok {
					name = filepath.Join(d.workspace, name)
					_ = os.MkdirAll(filepath.Dir(name), 0o700)
					_ = os.Symlink(strings.Replace(target, place, d.workspace, 1), name)
				}
			}
		case "calls":
			for line := range strings.SplitSeq(string(f.Data), "\n") {
				if line != "" && line[0] != '#' {
					d.calls = append(d.calls, strings.ReplaceAll(line, place, d.workspace))
				}
			}
		}
	}
	return d
}
