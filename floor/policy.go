package floor

import (
	"fmt"

	"assent/approval"
	"assent/floor/effect"
	"assent/floor/paths"
)

// Layer says whose a policy is (policy §2).
type Layer uint8

// The layers. The shipped floor answers where the operator does not; the
// managed and the project's policy only make results stricter.
const (
	Shipped Layer = iota
	Operator
	Managed
	Project
)

var layerNames = [...]string{"shipped", "operator", "managed", "project"}

// String is the layer's name in explanations.
func (l Layer) String() string {
	if int(l) < len(layerNames) {
		return layerNames[l]
	}
	return "shipped"
}

// MarshalText writes the name.
func (l Layer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Scanner says how the scanner of bash commands takes part (law ruling 16).
type Scanner uint8

// The values of "scanner:".
const (
	ScannerAuto     Scanner = iota // none where none is installed; one that is there must run
	ScannerRequired                // without one nothing runs
	ScannerOff                     // never asked
)

var scannerNames = [...]string{"auto", "required", "off"}

// String is the name in a policy.
func (s Scanner) String() string {
	if int(s) < len(scannerNames) {
		return scannerNames[s]
	}
	return "auto"
}

// sections are the parts of a policy that hold rules, in the order in which
// they are written.
var sections = [...]struct {
	name string
	kind effect.Kind
}{
	{"run", effect.Run}, {"read", effect.Read}, {"write", effect.Write}, {"delete", effect.Delete},
	{"net", effect.Net}, {"env", effect.Env}, {"mcp", effect.MCP}, {"opaque", effect.Opaque},
}

// Policy is one policy document, checked and ready to judge by. It is
// immutable.
type Policy struct {
	// Name is how the document is called in messages, usually its path.
	Name string
	// Extends says that the shipped floor answers where this policy does not.
	// Without it only the shipped blocks stay.
	Extends bool
	Scanner Scanner
	// Rules are the rules in the order of the document.
	Rules []*Rule

	scannerLine int // where it is set

	patterns, spelled int // of all its rules: with what braces stand for, and the bytes of that
	source            int // bytes of the document

	layer   Layer
	index   [numKinds]index
	deletes bool // there is a section "delete"
	// files are the policies' own files, which no call may touch.
	file string
	// stale says that this is the last good version of a file that no longer
	// loads: it only makes results stricter.
	stale bool
	// alone says of a stale one that it did not extend the shipped floor, whose
	// allows then hold no more than they did.
	alone bool
}

const numKinds = int(effect.MCP) + 1

// Rule is one rule of a policy.
type Rule struct {
	// ID is the rule's own name, if it has one. Every shipped rule has.
	ID     string
	Kind   effect.Kind
	Result approval.PolicyResult
	// Match and Except are the patterns as written; Negated are the "!" patterns
	// of the list that the rule stands in, without the "!".
	Match, Except, Negated []string
	// Lifts are the shipped rules that this rule is an exception to.
	Lifts []string
	// Message is told to the agent when the rule decides; Reason is for people.
	Message, Reason string
	// Hits and Misses are the rule's own tests.
	Hits, Misses []string

	File         string
	Line, Column int

	policy *Policy
	ref    *RuleRef
	// fixed rules protect assent itself and are never lifted.
	fixed   bool
	match   matchers
	except  matchers
	negated matchers // those of Negated
	tests   []ruleTest
}

// matchers are compiled patterns; only those of the rule's kind are set.
type matchers struct {
	runs  []runPattern
	paths []paths.Pattern
	hosts []hostPattern
	words []wordGlob // env and opaque
	tools []toolPattern
}

func (m *matchers) empty() bool {
	return len(m.runs)+len(m.paths)+len(m.hosts)+len(m.words)+len(m.tools) == 0
}

// Text is the rule as one would say it: "run deny git push --force".
func (r *Rule) Text() string {
	text := r.Match[0]
	switch n := len(r.Match); {
	case n == 2:
		text += ", " + r.Match[1]
	case n > 2:
		text += fmt.Sprintf(" and %d more", n-1)
	}
	return fmt.Sprintf("%s %s: %s", r.Kind, r.Result, text)
}

// Ref points at the rule.
func (r *Rule) Ref() *RuleRef {
	return &RuleRef{Layer: r.policy.layer, ID: r.ID, File: r.File, Line: r.Line, Column: r.Column, Text: r.Text()}
}

// Layer is the layer the policy was loaded for.
func (p *Policy) Layer() Layer { return p.layer }

// Weight is about how many bytes of memory it takes to keep the policy, and no less.
func (p *Policy) Weight() int {
	if p == nil {
		return 0
	}
	// Measured: what the lines of the document become, a pattern, and its words and folders.
	return 8*p.source + 2048*p.patterns + 96*p.spelled
}

// LastGood is what remains in force of a policy whose file no longer loads:
// its denies and blocks (policy §2, law ruling 7), and its asks where they are
// stricter than what else holds: nothing is allowed because of an error (law §7).
func (p *Policy) LastGood() *Policy {
	if p == nil {
		return nil
	}
	q := &Policy{Name: p.Name, Extends: true, Scanner: p.Scanner, scannerLine: p.scannerLine, patterns: p.patterns, spelled: p.spelled, source: p.source, layer: p.layer, deletes: p.deletes, file: p.file, stale: true, alone: !p.Extends}
	for _, r := range p.Rules {
		if r.Result >= approval.Ask {
			c := *r
			c.policy = q
			c.Lifts = nil
			q.Rules = append(q.Rules, &c)
		}
	}
	q.build()
	return q
}
