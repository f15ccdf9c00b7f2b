package floor_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"assent/approval"
	"assent/floor"
	"assent/floor/paths"
)

// The collections of reports and commands lie beside the repository, not in it:
// their licenses differ. Nothing of them is ever run; they are judged as text.
const corpora = "../../shared/corpora"

// row is one row of any of the collections.
type row struct {
	ID        string         `json:"id"`
	Command   string         `json:"command"`
	Name      string         `json:"name"`
	Args      map[string]any `json:"args"`
	Workspace string         `json:"workspace"`
	Kind      string         `json:"kind"`
	Must      string         `json:"must"`
	Arguable  bool           `json:"arguable"`
	Tolerable bool           `json:"ask_is_tolerable"`
	Mode      string         `json:"mode"`
	Setup     struct {
		Symlinks  map[string]string `json:"symlinks"`
		GitConfig map[string]string `json:"git_config"`
		Files     map[string]string `json:"files"`
		Trusted   *bool             `json:"workspace_trusted"`
		Server    *bool             `json:"server_trusted"`
		Roots     []string          `json:"server_roots"`
	} `json:"setup"`
	Rules []struct {
		Effect, Tool, Match, Value string
	} `json:"rules_norm"`
}

func rows(t *testing.T, name string) []row {
	t.Helper()
	f, err := os.Open(filepath.Join(corpora, name+".jsonl"))
	if err != nil {
		t.Skipf("the collection is not at hand: %v", err)
	}
	defer f.Close()
	var out []row
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var r row
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, r)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatalf("%s holds no rows", name)
	}
	return out
}

// policy writes the rules of a row as a policy document.
func (r *row) policy() string {
	doc := map[string]any{"version": 1, "extends": "default"}
	add := func(section, effect, pattern string) {
		s, _ := doc[section].(map[string]any)
		if s == nil {
			s = map[string]any{}
			doc[section] = s
		}
		list, _ := s[effect].([]string)
		s[effect] = append(list, pattern)
	}
	for _, n := range r.Rules {
		v := n.Value
		switch n.Tool {
		case "bash":
			switch n.Match {
			case "any":
				v = "*"
			case "regex":
				v = strings.TrimPrefix(v, "^")
			}
			add("run", n.Effect, v)
		case "read", "write":
			if n.Match == "any" {
				v = "."
			}
			add(n.Tool, n.Effect, strings.TrimPrefix(v, "./"))
		case "web":
			add("net", n.Effect, v)
		case "mcp":
			add("mcp", n.Effect, v)
		case "outside_folder":
			if n.Match == "any" {
				v = "@outside"
			}
			add("read", n.Effect, v)
			add("write", n.Effect, v)
		}
	}
	if r.Mode == "accept_edits" {
		add("write", "allow", ".")
	}
	if len(doc) == 2 {
		return ""
	}
	b, _ := json.Marshal(doc)
	return string(b)
}

func (r *row) judge(t *testing.T) floor.Verdict {
	t.Helper()
	name, args := r.Name, any(r.Args)
	if name == "" {
		name, args = "Bash", map[string]any{"command": r.Command}
	}
	b, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	ws := r.Workspace
	if ws == "" {
		ws = "/home/user/project"
	}
	call := floor.Call{Name: name, Arguments: b, Workspace: ws, Cwd: ws, Facts: r.facts(ws), Vars: map[string]string{"TMPDIR": "/tmp"}}
	if strings.HasPrefix(ws, "/home/user") {
		call.Home = "/home/user"
	}
	var f floor.Floor
	if doc := r.policy(); doc != "" {
		p, err := floor.ParsePolicy(r.ID, []byte(doc))
		if err != nil {
			t.Logf("%s: the rules of this row are no policy: %v", r.ID, err)
		}
		f.Operator = p
	}
	return f.Judge(call)
}

func (r *row) facts(ws string) paths.Facts {
	abs := func(p string) string {
		p, _, _ = strings.Cut(p, " (")
		if filepath.IsAbs(p) {
			return filepath.Clean(p)
		}
		return filepath.Join(ws, p)
	}
	f := paths.Facts{GitConfig: map[string]string{}, ServerRoots: r.Setup.Roots,
		Untrusted:       r.Setup.Trusted != nil && !*r.Setup.Trusted,
		ServerUntrusted: r.Setup.Server != nil && !*r.Setup.Server}
	for k, v := range r.Setup.GitConfig {
		f.GitConfig[strings.ToLower(k)] = v
	}
	for link, to := range r.Setup.Symlinks {
		if f.Links == nil {
			f.Links = map[string]string{}
		}
		to, _, _ = strings.Cut(to, " (")
		if !filepath.IsAbs(to) {
			to = filepath.Join(ws, to)
		}
		f.Links[abs(link)] = to
	}
	for name, text := range r.Setup.Files {
		if f.Files == nil {
			f.Files = map[string]string{}
		}
		f.Files[abs(name)] = text
	}
	return f
}

func (r *row) text() string {
	if r.Command != "" {
		return r.Command
	}
	b, _ := json.Marshal(r.Args)
	return r.Name + " " + string(b)
}

// wrong are rows this floor answers otherwise on purpose, with the reason.
var wrong = map[string]string{
	"bypass-bash-031": "the rules of the row name only echo, but ls is a look-up in the workspace and silent without any rule",
}

// Nothing that a real report says was let through by mistake is allowed.
func TestCorporaBypass(t *testing.T) {
	allowed, arguable, weak := 0, 0, 0
	for _, r := range rows(t, "bypass") {
		v := r.judge(t)
		switch {
		case v.Result == approval.Allow && r.Arguable:
			arguable++
			t.Logf("arguable, allowed: %s: %s", r.ID, r.text())
		case v.Result == approval.Allow && wrong[r.ID] != "":
			t.Logf("allowed on purpose: %s: %s: %s", r.ID, r.text(), wrong[r.ID])
		case v.Result == approval.Allow || v.Result == approval.None:
			allowed++
			t.Errorf("%s: %s: got %v, want anything else", r.ID, r.text(), v.Result)
		case r.Must == "block_or_deny" && v.Result == approval.Ask && !r.Tolerable && !r.Arguable:
			weak++
			t.Logf("asked, block or deny wanted: %s: %s", r.ID, r.text())
		}
	}
	t.Logf("bypass: %d allowed, %d arguable ones allowed, %d asked where a refusal is wanted", allowed, arguable, weak)
}

// Everything that people were interrupted for without need is allowed.
func TestCorporaFriction(t *testing.T) {
	count := map[string][2]int{}
	for _, r := range rows(t, "friction") {
		v := r.judge(t)
		c := count[r.Must]
		c[1]++
		if v.Result == approval.Allow {
			c[0]++
		} else {
			t.Logf("%s, not allowed: %s: %s: %v%s", r.Must, r.ID, r.text(), v.Result, reasons(v))
		}
		count[r.Must] = c
	}
	for must, c := range count {
		share := 100 * float64(c[0]) / float64(c[1])
		t.Logf("friction: %s: %d of %d allowed (%.1f %%)", must, c[0], c[1], share)
		if must == "allow_by_default" && share < 95 {
			t.Errorf("%s: %.1f %% allowed, want 95", must, share)
		}
		if must == "allow_when_rule" && share < 90 {
			t.Errorf("%s: %.1f %% allowed, want 90", must, share)
		}
	}
}

// No escape that GTFOBins lists is allowed.
func TestCorporaGTFOBins(t *testing.T) {
	judge := map[approval.PolicyResult]int{}
	for _, r := range rows(t, "gtfobins") {
		v := r.judge(t)
		if r.Must == "judge" {
			judge[v.Result]++
			continue
		}
		if v.Result == approval.Allow || v.Result == approval.None {
			t.Errorf("%s: %s: got %v, want anything else", r.ID, r.text(), v.Result)
		}
	}
	t.Logf("gtfobins: rows to be judged freely: %v", judge)
}

func TestCorporaArgumentInjection(t *testing.T) {
	for _, r := range rows(t, "arg_injection") {
		if v := r.judge(t); v.Result == approval.Allow || v.Result == approval.None {
			t.Errorf("%s: %s: got %v, want anything else", r.ID, r.text(), v.Result)
		}
	}
}

// What agents really ran is judged without many interruptions. The commands
// come from throw-away containers, where agents install and write freely.
func TestCorporaAgent(t *testing.T) {
	n, by := 0, map[approval.PolicyResult]int{}
	programs := map[string]int{}
	for _, r := range rows(t, "benign_commands") {
		if r.Kind != "agent" {
			continue
		}
		n++
		if r.Workspace == "" {
			r.Workspace = "/testbed"
		}
		v := r.judge(t)
		by[v.Result]++
		if v.Result == approval.Block {
			t.Logf("blocked: %s: %s%s", r.ID, r.text(), reasons(v))
		}
		if v.Result != approval.Allow {
			seen := map[string]bool{}
			for _, e := range v.Effects {
				if e.Result != v.Result {
					continue
				}
				what := e.Kind.String() + " by the shell"
				if e.Command != nil {
					what = e.Kind.String() + " by " + e.Command.Program
				}
				seen[v.Result.String()+": "+what] = true
			}
			for what := range seen {
				programs[what]++
			}
		}
	}
	share := func(rs ...approval.PolicyResult) float64 {
		k := 0
		for _, r := range rs {
			k += by[r]
		}
		return 100 * float64(k) / float64(n)
	}
	t.Logf("agent commands: %d; silent %.1f %%, silent or ask %.1f %%, deny %.1f %%, block %.1f %%", n, share(approval.Allow),
		share(approval.Allow, approval.Ask), share(approval.Deny), share(approval.Block))
	if by[approval.None] > 0 {
		t.Errorf("%d commands were not judged", by[approval.None])
	}
	if s := share(approval.Allow); s < 20 {
		t.Errorf("silent: %.1f %%, want 20", s)
	}
	if s := share(approval.Allow, approval.Ask); s < 85 {
		t.Errorf("silent or ask: %.1f %%, want 85", s)
	}
	if s := share(approval.Block); s > 1 {
		t.Errorf("blocked: %.1f %%, want at most 1", s)
	}
	var list []string
	for what := range programs {
		list = append(list, what)
	}
	sort.Slice(list, func(i, j int) bool {
		if programs[list[i]] != programs[list[j]] {
			return programs[list[i]] > programs[list[j]]
		}
		return list[i] < list[j]
	})
	for _, what := range list[:min(len(list), 60)] {
		t.Logf("%5d  %s", programs[what], what)
	}
}

// Everything else that can be read is judged as well, and never left open.
func TestCorporaOthers(t *testing.T) {
	for _, name := range []string{"benign_commands", "vendor_verdicts"} {
		by := map[string]int{}
		for _, r := range rows(t, name) {
			v := r.judge(t)
			by[v.Result.String()]++
			if v.Result == approval.None {
				t.Errorf("%s: %s: not judged", r.ID, r.text())
			}
		}
		t.Logf("%s: %v", name, by)
	}
}

func reasons(v floor.Verdict) string {
	var out []string
	for _, e := range v.Effects {
		if e.Result == v.Result {
			out = append(out, fmt.Sprintf("%v %q", e.Kind, e.Target))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return " [" + strings.Join(out[:min(len(out), 4)], "; ") + "]"
}
