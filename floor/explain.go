package floor

import (
	"slices"
	"strings"

	"assent/approval"
	"assent/floor/effect"
	"assent/floor/paths"
)

// Finding is what the layers say about one thing that could happen, for
// people who read policies: which rules touch it, and what would be answered.
type Finding struct {
	Effect effect.Effect
	Result Result
	Rule   *RuleRef
	// Touching are all rules that match, of every layer, also those that do
	// not decide.
	Touching []Touching
}

// Touching is a rule that matches, and by which of its patterns.
type Touching struct {
	Rule    *Rule
	Pattern string
}

// Layer is the rule's layer.
func (t *Touching) Layer() Layer { return t.Rule.policy.layer }

// Findings says what the layers have to say about each effect of a text: for
// run a command, otherwise a path, an address or a name. A command is told
// with all its effects.
func (f *Floor) Findings(place Call, kind effect.Kind, text string) []Finding {
	p := place.Place()
	var effects []effect.Effect
	switch kind {
	case effect.Run:
		call := place
		call.Name = "Bash"
		call.Arguments = commandArguments(text)
		effects, _ = Effects(call)
		effects = locate(effects)
	case effect.Read, effect.Write, effect.Delete:
		effects = []effect.Effect{{Kind: kind, Target: text, Path: p.Prepare(p.Expand(text), p.Cwd)}}
	default:
		effects = []effect.Effect{{Kind: kind, Target: text}}
	}
	judged := f.JudgeEffects(place, effects, "").Effects
	var out []Finding
	for i := range effects {
		e := &effects[i]
		s := subject{place: p, e: e, at: p.Target(e.Path, e.Tree)}
		if e.Kind == effect.Net {
			a := parseAddress(e.Target)
			s.host = &a
		}
		found := Finding{Effect: *e, Result: judged[i].Result, Rule: judged[i].Rule}
		for _, policy := range f.Layers() {
			for _, r := range policy.match(&s, nil) {
				found.Touching = append(found.Touching, Touching{r, r.which(&s)})
			}
		}
		out = append(out, found)
	}
	return out
}

// Layers are the policies in force, in the order in which they answer.
func (f *Floor) Layers() []*Policy {
	var out []*Policy
	for _, p := range [...]*Policy{f.Operator, f.base(), f.Managed, f.Project} {
		if p != nil {
			out = append(out, p)
		}
	}
	return out
}

// Extending reports whether the shipped allows, asks and denies are in force.
func (f *Floor) Extending() bool { return f.Operator == nil || f.Operator.Extends }

// RuleByID is the rule of a layer in force with that id, the layer in front
// of it or not: "shipped:ssh", "ssh".
func (f *Floor) RuleByID(id string) *Rule {
	layer, name, named := strings.Cut(id, ":")
	if named {
		id = name
	}
	for _, p := range f.Layers() {
		if named && p.layer.String() != layer {
			continue
		}
		for _, r := range p.Rules {
			if r.ID == id && id != "" {
				return r
			}
		}
	}
	return nil
}

// classDocs says what each class means, in the words of package effect.
var classDocs = map[effect.Class]string{
	effect.Look:      "reads what its operands name and prints it; nothing else",
	effect.Edit:      "creates, changes or deletes exactly the files its operands name",
	effect.Build:     "builds, tests, lints or formats the tree with the project's own tools",
	effect.Wrap:      "only runs another command, which is judged on its own",
	effect.Code:      "runs code given as a file, as text or on standard input",
	effect.Install:   "installs or removes packages or tools",
	effect.Fetch:     "reads from a network",
	effect.Send:      "changes something beyond this machine",
	effect.Repo:      "changes the state of a version-control repository",
	effect.Discard:   "throws away uncommitted work or local history",
	effect.Rewrite:   "rewrites or deletes shared history",
	effect.Cloud:     "changes a cloud account, a cluster or infrastructure",
	effect.Secret:    "prints or exports secrets, tokens or keys",
	effect.Environ:   "prints the whole environment",
	effect.Identity:  "tells who runs the agent and on which machine",
	effect.Process:   "signals or controls other processes",
	effect.System:    "changes the machine: services, users, mounts, network, time",
	effect.Service:   "starts or stops local servers and containers",
	effect.Remote:    "runs commands on another machine or in a container",
	effect.Privilege: "runs something as another user",
	effect.Device:    "writes raw devices or file systems",
	effect.Persist:   "makes something run later: crontab, at, login items",
	effect.UI:        "opens an editor, pager or other screen that can run commands",
	effect.Agent:     "starts or configures an agent or its permissions",
}

// Named is what a word with "@" stands for: a class of commands, a set of
// paths or a set of hosts. The same word may be several.
type Named struct {
	Name string
	What string // "class of commands", "set of paths", "set of hosts"
	Doc  string
	// Patterns are the members of a set of paths.
	Patterns []string
	// Kinds are the kinds of effects whose rules may use it.
	Kinds []effect.Kind
}

// Explain says what a word with "@" stands for.
func Explain(name string) []Named {
	var out []Named
	if doc, ok := classDocs[effect.Class(strings.TrimPrefix(name, "@"))]; ok && strings.HasPrefix(name, "@") {
		out = append(out, Named{Name: name, What: "class of commands", Doc: doc, Kinds: []effect.Kind{effect.Run}})
	}
	if doc, patterns, ok := paths.SetDoc(name); ok {
		n := Named{Name: name, What: "set of paths", Doc: doc, Kinds: []effect.Kind{effect.Read, effect.Write, effect.Delete}}
		for _, p := range patterns {
			n.Patterns = append(n.Patterns, p.String())
		}
		out = append(out, n)
	}
	if s, ok := hostSets[name]; ok {
		out = append(out, Named{Name: name, What: "set of hosts", Doc: s.doc, Kinds: []effect.Kind{effect.Net}})
	}
	return out
}

// Names lists every word that [Explain] knows.
func Names() []string {
	var out []string
	for _, c := range effect.Classes {
		out = append(out, "@"+string(c))
	}
	out = append(out, paths.SetNames()...)
	out = append(out, hostSetNames()...)
	slices.Sort(out)
	return slices.Compact(out)
}

// Using are the rules in force that use a word with "@".
func (f *Floor) Using(name string) []*Rule {
	var out []*Rule
	for _, p := range f.Layers() {
		for _, r := range p.Rules {
			if slices.Contains(r.Match, name) {
				out = append(out, r)
			}
		}
	}
	return out
}

// Default says what holds for an effect of a kind that no rule mentions.
func Default(kind effect.Kind) string {
	switch kind {
	case effect.Run:
		return approval.Ask.String() + "; deny as another user"
	case effect.Read:
		return "ask in the workspace, deny outside"
	case effect.Write, effect.Delete:
		return "ask in the workspace, deny outside"
	case effect.Opaque:
		return "ask; deny as another user"
	case effect.Net, effect.Env, effect.MCP:
	}
	return approval.Ask.String()
}

// Sections are the kinds of effects in the order of a policy.
func Sections() []effect.Kind {
	var out []effect.Kind
	for _, s := range sections {
		out = append(out, s.kind)
	}
	return out
}
