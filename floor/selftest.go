package floor

import (
	"encoding/json"
	"fmt"

	"assent/floor/effect"
)

// testPlace is where the tests inside policies take place.
var testPlace = Call{Workspace: "/home/user/project", Cwd: "/home/user/project", Home: "/home/user", Vars: map[string]string{"TMPDIR": "/tmp"}}

// ruleTest is a text that a rule must match or must not, and where it stands.
type ruleTest struct {
	text         string
	hit          bool
	line, column int
}

// test runs the tests of all rules.
func (d *policyReader) test() {
	for _, r := range d.policy.Rules {
		for _, t := range r.tests {
			at := &node{line: t.line, column: t.column}
			switch hits := r.wouldMatch(t.text); {
			case t.hit && !hits:
				d.problem(at, "", "the test %q should hit this rule and does not%s", shown(t.text), seen(r, t.text))
			case !t.hit && hits:
				d.problem(at, "", "the test %q should miss this rule and hits it%s", shown(t.text), seen(r, t.text))
			}
		}
	}
}

// subjects are the effects that a test's text stands for: a command for run
// rules, a path, a host, a name or a reason for the others.
func (r *Rule) subjects(text string) []effect.Effect {
	place := testPlace.Place()
	switch r.Kind {
	case effect.Run:
		call := testPlace
		call.Name, call.Arguments = "Bash", commandArguments(text)
		all, _ := Effects(call)
		var runs []effect.Effect
		for _, e := range locate(all) {
			if e.Kind == effect.Run {
				runs = append(runs, e)
			}
		}
		return runs
	case effect.Read, effect.Write, effect.Delete:
		path := place.Prepare(place.Expand(text), place.Cwd)
		return []effect.Effect{{Kind: r.Kind, Target: text, Path: path}}
	}
	return []effect.Effect{{Kind: r.Kind, Target: text}}
}

// commandArguments are the arguments of a shell tool for a command.
func commandArguments(text string) []byte {
	b, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		return nil
	}
	return b
}

// wouldMatch reports whether the rule, seen alone, matches what the text
// stands for.
func (r *Rule) wouldMatch(text string) bool {
	place := testPlace.Place()
	one := &Policy{layer: r.policy.layer, Extends: true}
	c := *r
	c.policy = one
	one.Rules = []*Rule{&c}
	one.build()
	for _, e := range r.subjects(text) {
		s := subject{place: place, e: &e, at: place.Target(e.Path, e.Tree)}
		if e.Kind == effect.Net {
			a := parseAddress(e.Target)
			s.host = &a
		}
		if len(one.matchKind(&s, r.Kind, nil)) > 0 {
			return true
		}
	}
	return false
}

// seen says what was made of a test's text, for rules where that may
// surprise.
func seen(r *Rule, text string) string {
	if r.Kind != effect.Run {
		return ""
	}
	runs := r.subjects(text)
	if len(runs) == 0 {
		return "; nothing is run by it"
	}
	out := "; it runs"
	for i := range runs {
		if i == 3 {
			return out + fmt.Sprintf(" and %d more", len(runs)-i)
		}
		c := runs[i].Command
		out += fmt.Sprintf(" %q", shown(runs[i].Target))
		if c != nil && c.Class != "" {
			out += " (@" + string(c.Class) + ")"
		}
	}
	return out
}
