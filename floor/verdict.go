package floor

import (
	"fmt"
	"strings"

	"assent/approval"
	"assent/floor/effect"
	"assent/floor/paths"
)

// Result is what the floor says: allow, ask, deny or block (law §2). The zero
// value says nothing.
type Result = approval.PolicyResult

// Verdict is the floor's answer about one call, with all that is needed to
// explain it. The same value serves the command line, the consent prompt, the
// hooks and the audit log (policy §4).
type Verdict struct {
	Result  Result           `json:"result"`
	Cluster approval.Cluster `json:"cluster"`
	// Hatch is the half of hatch that the floor tells: a run of npx or bunx, or
	// the pattern on the command (law ruling 11).
	Hatch bool `json:"hatch"`
	// Effects are all effects of the call, judged.
	Effects []Judged `json:"effects"`
	// Message is a short sentence for the agent.
	Message string `json:"message"`
	// Text is what the spans of the effects point into, "" for a call that is
	// not bash.
	Text string `json:"-"`
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
	rule     *Rule
	inner    *effect.Command // what a command that gives privilege runs
}

// RuleRef points at what decided about an effect: a rule of a layer, or a
// default.
type RuleRef struct {
	Layer  Layer  `json:"layer"`
	ID     string `json:"id,omitzero"`
	File   string `json:"file,omitzero"`
	Line   int    `json:"line,omitzero"`
	Column int    `json:"column,omitzero"`
	// Text is the rule in words.
	Text string `json:"text"`
	// Default says that no rule matched.
	Default bool `json:"default,omitzero"`
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

// Deciding is the first effect with the verdict's result, the one that a
// short explanation is about; nil when there are no effects.
func (v *Verdict) Deciding() *Judged {
	for i := range v.Effects {
		if v.Effects[i].Result == v.Result {
			return &v.Effects[i]
		}
	}
	return nil
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
	if t == "" {
		t = "something that cannot be told"
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
	return "does what cannot be told: " + t
}

// Sentence says in a few words what the effect is: "reads .env".
func (j *Judged) Sentence() string { return sentence(&j.Effect) }

// Remedy says what would have to change for the effect to be allowed.
func (j *Judged) Remedy() string {
	if j.Result == approval.Allow || j.Result == approval.None {
		return ""
	}
	if j.Rule != nil && !j.Rule.Default && j.Rule.Layer != Shipped {
		return fmt.Sprintf("the rule at %s decides; add an except to it, or remove it", j.Rule.Place())
	}
	if j.rule != nil && j.rule.fixed {
		return "nothing lifts this: it protects assent itself"
	}
	if j.Result == approval.Block && j.Rule != nil && j.Rule.ID != "" {
		return fmt.Sprintf("only a rule of the operator with  except: shipped:%s  lifts this", j.Rule.ID)
	}
	pattern := j.suggestion()
	if pattern == "" {
		return "a person must answer: no rule can allow what cannot be told"
	}
	section := j.Kind.String()
	if j.Kind == effect.Opaque {
		section = "run"
	}
	return fmt.Sprintf("the operator's rule  %s: {allow: [%s]}  would allow it", section, pattern)
}

// suggestion is a pattern that names just this.
func (j *Judged) suggestion() string {
	switch j.Kind {
	case effect.Run, effect.Opaque:
		c := j.Command
		if c == nil || c.Program == "" || j.Kind == effect.Opaque && !j.Coverable {
			return ""
		}
		if j.inner != nil {
			c = j.inner
		}
		text := ""
		for _, w := range c.Wrappers {
			if w == "sudo" || w == "doas" {
				text += w + " "
			}
		}
		text += c.Program
		for _, s := range c.Sub {
			text += " " + s
		}
		if j.rule != nil {
			for i := range j.rule.match.runs {
				for k := range j.rule.match.runs[i].words {
					if w := &j.rule.match.runs[i].words[k]; w.option && c.Has(w.name) {
						return quotePattern(text + " " + w.name)
					}
				}
			}
		}
		return quotePattern(text)
	case effect.Read, effect.Write, effect.Delete:
		switch {
		case j.File != "":
			return quotePattern(paths.Quote(j.File))
		case !j.Path.Known():
			return ""
		case j.Path.Rel == "." && j.Tree:
			return quotePattern(".")
		case j.Path.Glob:
			return quotePattern(j.Path.Abs)
		}
		text := j.Path.Abs
		if j.Path.Rel != "" {
			text = j.Path.Rel
		}
		if text = paths.Quote(text); j.Tree {
			text += "/**"
		}
		return quotePattern(text)
	case effect.Net:
		a := parseAddress(j.Target)
		if a.host == "" || a.odd {
			return ""
		}
		return quotePattern(a.host)
	}
	return quotePattern(j.Target)
}

// quotePattern quotes what YAML would take for something else.
func quotePattern(s string) string {
	plain := s != ""
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c >= 0x80 || 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '/' || c == '.' || i > 0 && (c == '-' || c == '_' || c == ' ' || c == '*')
	}
	if plain && s != "." && s[len(s)-1] != ' ' {
		return s
	}
	return fmt.Sprintf("%q", s)
}
