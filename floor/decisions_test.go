package floor

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/floor/paths"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the decisions anew")

// TestDecisions replays the decisions under testdata/decisions. A file tells a
// story: the policies, what is true of the machine, the calls, and in "out"
// what was said to each. -update writes "out" anew; its diff is the review.
func TestDecisions(t *testing.T) {
	files, err := filepath.Glob("testdata/decisions/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no decisions: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d := decision{call: testPlace}
			for _, f := range a.Files {
				d.file(t, f.Name, f.Data)
			}
			got := d.run()
			if *update {
				out := txtar.File{Name: "out", Data: []byte(got)}
				kept := a.Files[:0]
				for _, f := range a.Files {
					if f.Name != "out" {
						kept = append(kept, f)
					}
				}
				a.Files = append(kept, out)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(d.out, got); diff != "" {
				t.Errorf("decisions changed (-want +got); if they are right, run with -update:\n%s", diff)
			}
		})
	}
}

type decision struct {
	floor Floor
	call  Call
	calls []string
	out   string
}

func (d *decision) file(t *testing.T, name string, data []byte) {
	t.Helper()
	switch name {
	case "policy.yaml":
		d.floor.Operator = mustParseAs(t, name, data, Operator)
	case "managed.yaml":
		d.floor.Managed = mustParseAs(t, name, data, Managed)
	case "project.yaml":
		d.floor.Project = mustParseAs(t, name, data, Project)
	case "facts.json":
		var f struct {
			Links, Files map[string]string
			Listed       []string
			Fold         bool
		}
		if err := json.Unmarshal(data, &f); err != nil {
			t.Fatal(err)
		}
		d.call.Facts = paths.Facts{Links: f.Links, Files: f.Files}
		for _, dir := range f.Listed {
			d.call.Facts.Folders, d.call.Facts.Changing = map[string]int{dir: paths.Whole}, true
		}
		d.call.Fold = f.Fold
	case "calls":
		for line := range strings.SplitSeq(string(data), "\n") {
			if line != "" && line[0] != '#' {
				d.calls = append(d.calls, line)
			}
		}
	case "out":
		d.out = string(data)
	default:
		t.Fatalf("unknown file %s", name)
	}
}

func mustParseAs(t *testing.T, name string, data []byte, layer Layer) *Policy {
	t.Helper()
	p, err := ParseLayer(name, data, layer)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run judges each call: a command, or the name of a tool and its arguments.
func (d *decision) run() string {
	var b strings.Builder
	for _, line := range d.calls {
		call := d.call
		if name, arguments, ok := strings.Cut(line, " {"); ok && !strings.Contains(name, " ") && 'A' <= name[0] && name[0] <= 'Z' || strings.HasPrefix(line, "mcp__") {
			call.Name, call.Arguments = name, []byte("{"+arguments)
		} else {
			call.Name, call.Arguments = "Bash", bash(line).Arguments
		}
		v := d.floor.Judge(call)
		fmt.Fprintf(&b, "%s\n", line)
		for i := range v.Effects {
			e := &v.Effects[i]
			fmt.Fprintf(&b, "  %-5s %s", e.Result, e.Sentence())
			if e.Covered {
				b.WriteString(", covered")
			}
			fmt.Fprintf(&b, " <- %s", e.Rule.Place())
			if e.Rule.Default {
				fmt.Fprintf(&b, ": %s", e.Rule.Text)
			}
			if e.Pattern != "" {
				fmt.Fprintf(&b, " %s", e.Pattern)
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "  = %s", v.Result)
		if v.Message != "" {
			fmt.Fprintf(&b, ": %s", v.Message)
		}
		for _, r := range d.floor.Remedies(call, &v, len(v.Effects)) {
			if &v.Effects[r.Effect] == v.Deciding() {
				fmt.Fprintf(&b, "\n    to change it: %s", r.Text((*RuleRef).Place))
			}
		}
		b.WriteString("\n\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
