package floor

import (
	"fmt"
	"strings"

	"assent/approval"
	"assent/floor/effect"
)

// Result is what the floor says: allow, ask, deny or block (law §2). The zero
// value says nothing.
type Result = approval.PolicyResult

// Verdict is the floor's answer about one call, with all that is needed to
// explain it. The same value serves the command line, the consent prompt, the
// hooks and the audit log (policy §4).
type Verdict struct {
	Result  Result
	Cluster approval.Cluster
	// Hatch is the half of hatch that the floor tells: a run of npx or bunx, or
	// the pattern on the command (law ruling 11).
	Hatch bool
	// Incomplete says that the call would be allowed but for a nested body
	// that the scanner could not analyse (law §11).
	Incomplete bool
	// Ruled says that something else than its lying outside the workspace keeps
	// the call from being allowed, or would if that did not: a rule, the scanner,
	// what cannot be told. What a person opened for reading answers no such call
	// (law §10).
	Ruled bool
	// Effects are all effects of the call, judged.
	Effects []Judged
	// Message is a short sentence for the agent.
	Message string
	// Text is what the spans of the effects point into, "" for a call that is
	// not bash.
	Text string
}

// Judged is one effect and what was said about it.
type Judged struct {
	effect.Effect
	Result Result
	// Rule is what decided.
	Rule *RuleRef
	// Message is the rule's message, or one that fits any.
	Message string
	// Pattern is the pattern by which the rule matched, when the result is not
	// allow.
	Pattern string
	// Covered says that an operator's rule for the command, and not one for
	// this effect, allowed it.
	Covered bool
	// File is the known file below the effect's path that decided, if one did.
	File string

	shipped  Result // what the shipped floor says, before the operator
	operator bool   // an operator's rule matched
	scan     bool   // the scanner said it, or is missing
	nested   bool   // the scanner could not look into a nested body
	mayHold  bool   // something of its tree or glob may be what the rule is about
	ruled    bool   // more than its place is against it, see Verdict.Ruled
	rule     *Rule
	inner    *effect.Command // what a command that gives privilege runs
}

// Notes is what sets the target of an effect apart: that all below it is meant,
// or only names, that it happens as another user, or perhaps.
func (j *Judged) Notes() []string {
	var notes []string
	switch {
	case j.Tree && j.Names != "":
		notes = append(notes, "below it "+strings.ReplaceAll(j.Names, "|", " or "))
	case j.Tree:
		notes = append(notes, "and all below")
	}
	if j.Meta {
		notes = append(notes, "names only")
	}
	if j.Privileged {
		notes = append(notes, "as another user")
	}
	if j.Certainty == effect.Maybe {
		notes = append(notes, "perhaps")
	}
	if j.Path.Named != "" && j.Path.Named != j.Path.Abs {
		notes = append(notes, "named "+j.Path.Named)
	}
	return notes
}

// RuleRef points at what decided about an effect: a rule of a layer, or a
// default.
type RuleRef struct {
	Layer  Layer
	ID     string
	File   string
	Line   int
	Column int
	// Text is the rule in words.
	Text string
	// Default says that no rule matched.
	Default bool
}

// String is "layer file:line text".
func (r *RuleRef) String() string {
	switch {
	case r == nil:
		return ""
	case r.Default:
		return r.Text
	case r.ID != "" && r.Layer == Shipped:
		return fmt.Sprintf("%s %s (%s)", r.Layer, r.ID, r.Text)
	}
	return fmt.Sprintf("%s %s:%d (%s)", r.Layer, r.File, r.Line, r.Text)
}

// Place is where the rule stands: "file:line", or the id of a shipped rule,
// or "default".
func (r *RuleRef) Place() string {
	switch {
	case r == nil:
		return ""
	case r.Default:
		return "default"
	case r.Layer == Shipped && r.ID != "":
		return "shipped:" + r.ID
	}
	return fmt.Sprintf("%s:%d", r.File, r.Line)
}

// Deciding is the effect that a short explanation is about: of those with the
// verdict's result the first that somebody has ruled on, nil when there are no
// effects. That "make deploy >log" goes out is said, and not that it writes log.
func (v *Verdict) Deciding() *Judged {
	var found *Judged
	for i := range v.Effects {
		if e := &v.Effects[i]; e.Result == v.Result && (found == nil || e.weight() > found.weight()) {
			found = e
		}
	}
	return found
}

// weight is how much the rule behind an effect says of why it was judged so.
func (j *Judged) weight() int {
	switch {
	case j.Rule == nil, j.Rule == writeInside, j.Rule == deleteInside:
		return 0 // every call that changes a file says as much
	case j.Rule == scanFound && !j.nested:
		return 2
	case j.Rule.Default, j.mayHold: // something in it may be what a rule is about
		return 1
	case j.Rule.Layer == Shipped:
		return 2
	}
	return 3 // somebody's own
}

// message is the sentence for the agent.
func (v *Verdict) message() string {
	if v.Result == approval.Allow {
		return ""
	}
	d := v.Deciding()
	if d == nil {
		return "Nothing is known of this call."
	}
	return d.Message
}

// sentence says what an effect is, without a verdict.
func sentence(e *effect.Effect) string {
	t := shown(e.Target)
	switch {
	case t == "":
		t = "something that cannot be told"
	case e.Path.Rel == "." && t == ".":
		t = "the workspace (.)" // ". ." would be hard to read
	}
	maybe := ""
	if e.Certainty == effect.Maybe {
		maybe = "may "
	}
	verb := func(s, third string) string {
		if maybe != "" {
			return maybe + s
		}
		return third
	}
	tree := ""
	if e.Tree {
		tree = " and everything in it"
		if e.Names != "" {
			tree = ", what is named " + shown(strings.ReplaceAll(e.Names, "|", " or "))
		}
	}
	switch e.Kind {
	case effect.Run:
		by := ""
		if e.Privileged {
			by = " as another user"
		}
		return verb("run ", "runs ") + t + by
	case effect.Read:
		if e.Meta {
			return verb("look at ", "looks at ") + t + tree
		}
		return verb("read ", "reads ") + t + tree
	case effect.Write:
		return verb("write ", "writes ") + t + tree
	case effect.Delete:
		return verb("delete ", "deletes ") + t + tree
	case effect.Net:
		return verb("contact ", "contacts ") + t
	case effect.Env:
		return verb("set ", "sets ") + t
	case effect.MCP:
		return verb("call ", "calls ") + t
	}
	if e.Unconfined {
		return "gets more than other commands: " + t
	}
	return "does what cannot be told: " + t
}

// Sentence says in a few words what the effect is: "reads .env".
func (j *Judged) Sentence() string { return sentence(&j.Effect) }
