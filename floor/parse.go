package floor

import (
	"fmt"
	"slices"
	"strings"

	"assent/approval"
	"assent/floor/effect"
	"assent/floor/paths"
)

// ParsePolicy reads a policy document, YAML or the same as a JSON object, as
// the operator's. The shape may be loose (a single value where a list of one
// is meant), the meaning is strict: whatever is not understood refuses the
// whole document, with everything that is wrong in it (an error of type
// [Problems]). The tests in its rules are run.
func ParsePolicy(name string, data []byte) (*Policy, error) {
	return parsePolicy(name, data, Operator, true)
}

// ParseLayer is [ParsePolicy] for a document of another layer.
func ParseLayer(name string, data []byte, layer Layer) (*Policy, error) {
	return parsePolicy(name, data, layer, true)
}

func parsePolicy(name string, data []byte, layer Layer, test bool) (p *Policy, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, Problems{{File: name, Line: 1, Column: 1, Message: fmt.Sprintf("the document cannot be read: %v", r)}}
		}
	}()
	read := readDocument
	if layer == Shipped {
		read = readShipped
	}
	whole := func(format string, args ...any) error {
		return Problems{{File: name, Line: 1, Column: 1, Message: fmt.Sprintf(format, args...), Hint: "a project's policy may have no more"}}
	}
	if layer == Project && len(data) > MaxProject {
		return nil, whole("the document is larger than %d bytes", MaxProject)
	}
	root, problems := read(name, data)
	d := policyReader{
		policy:   &Policy{Name: name, Extends: true, layer: layer, file: name, source: len(data)},
		problems: problems,
		ids:      map[string]*Rule{},
	}
	if len(problems) == 0 || root.kind != nothing {
		d.document(&root)
	}
	if d.full() {
		return nil, whole("the document has more than %d patterns, or they stand for more than %d bytes", maxProjectPatterns, MaxProject)
	}
	if len(d.problems) == 0 {
		d.policy.build()
		if test {
			d.test()
		}
	}
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	return d.policy, nil
}

type policyReader struct {
	policy   *Policy
	problems Problems
	ids      map[string]*Rule
}

func (d *policyReader) problem(n *node, hint, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.policy.Name, n.line, n.column, fmt.Sprintf(format, args...), hint})
}

// want reports a value of the wrong kind.
func (d *policyReader) want(n *node, what, hint string) {
	if n.kind == broken {
		return
	}
	d.problem(n, hint, "want %s, not %s", what, n.kind)
}

// each walks a mapping, refusing keys that are given twice.
func (d *policyReader) each(n *node, known []string, do func(key, value *node)) {
	seen := map[string]bool{}
	for i := range n.keys {
		k := &n.keys[i]
		if seen[k.text] {
			d.problem(k, "", "%q is given twice", k.text)
			continue
		}
		seen[k.text] = true
		if known != nil && !slices.Contains(known, k.text) {
			hint := didYouMean(k.text, known)
			if hint == "" {
				hint = "known here: " + strings.Join(known, ", ")
			}
			d.problem(k, hint, "unknown key %q", k.text)
			continue
		}
		do(k, &n.values[i])
	}
}

var documentKeys = func() []string {
	keys := []string{"version", "extends"}
	for _, s := range sections {
		keys = append(keys, s.name)
	}
	return append(keys, "scanner")
}()

func (d *policyReader) document(n *node) {
	if n.kind != mapping {
		if len(d.problems) == 0 {
			d.want(n, "a mapping", "a policy looks like  run: {allow: [go test]}")
		}
		return
	}
	d.each(n, documentKeys, func(k, v *node) {
		switch k.text {
		case "version":
			if v.kind != scalar || v.text != "1" {
				d.problem(v, "this program reads version 1", "unknown version %q", v.text)
			}
		case "extends":
			switch {
			case v.kind == scalar && v.text == "default":
			case v.kind == scalar && v.text == "none":
				d.policy.Extends = false
			default:
				d.problem(v, "default, or none to do without the shipped allows, asks and denies", "unknown floor to extend")
			}
		case "scanner":
			i := slices.Index(scannerNames[:], v.text)
			if v.kind != scalar || i < 0 {
				d.problem(v, "one of "+strings.Join(scannerNames[:], ", "), "unknown scanner setting")
				return
			}
			d.policy.Scanner, d.policy.scannerLine = Scanner(i), v.line
		default:
			for _, s := range sections {
				if s.name == k.text {
					d.section(s.kind, v)
				}
			}
		}
	})
}

func (d *policyReader) section(kind effect.Kind, n *node) {
	if n.kind == nothing {
		return
	}
	if n.kind != mapping {
		d.want(n, "lists by result", fmt.Sprintf("%s: {ask: [...], deny: [...]}", kind))
		return
	}
	if kind == effect.Delete {
		d.policy.deletes = true
	}
	known := []string{"allow", "ask", "deny", "block"}
	if kind == effect.MCP {
		known = append(known, "severity")
	}
	d.each(n, known, func(k, v *node) {
		if k.text == "severity" {
			d.severity(v)
			return
		}
		result, _ := approval.ParsePolicyResult(k.text)
		if kind == effect.Opaque && result == approval.Allow {
			d.problem(k, "name the command in run: an allow there also answers what cannot be told of it", "what cannot be told is never allowed by itself")
			return
		}
		d.list(kind, result, v)
	})
}

// severity is another way to write the lists of mcp: a pattern and its
// result.
func (d *policyReader) severity(n *node) {
	if n.kind == nothing {
		return
	}
	if n.kind != mapping {
		d.want(n, "patterns with a result each", `severity: {"tracker/delete_*": deny}`)
		return
	}
	d.each(n, nil, func(k, v *node) {
		result, err := approval.ParsePolicyResult(v.text)
		if v.kind != scalar || err != nil || result == approval.None {
			d.problem(v, "one of allow, ask, deny, block", "unknown result %q", v.text)
			return
		}
		r := d.rule(effect.MCP, result, k)
		r.Match = []string{k.text}
		d.pattern(k, k.text, &r.match, r)
		d.policy.Rules = append(d.policy.Rules, r)
	})
}

func (d *policyReader) rule(kind effect.Kind, result approval.PolicyResult, n *node) *Rule {
	return &Rule{Kind: kind, Result: result, File: d.policy.Name, Line: n.line, Column: n.column, policy: d.policy}
}

// list reads the rules of one result.
func (d *policyReader) list(kind effect.Kind, result approval.PolicyResult, n *node) {
	items := n.values
	switch n.kind {
	case nothing:
		return
	case scalar, mapping:
		items = []node{*n}
	}
	var negated matchers
	var texts []string
	first := len(d.policy.Rules)
	for i := range items {
		v := &items[i]
		switch v.kind {
		case scalar:
			if text, ok := strings.CutPrefix(v.text, "!"); ok {
				d.negate(v, kind, text, result, &negated)
				texts = append(texts, text)
				continue
			}
			r := d.rule(kind, result, v)
			r.Match = []string{v.text}
			d.pattern(v, v.text, &r.match, r)
			d.policy.Rules = append(d.policy.Rules, r)
		case mapping:
			if r := d.ruleMapping(kind, result, v); r != nil {
				d.policy.Rules = append(d.policy.Rules, r)
			}
		case nothing:
			d.want(v, "a pattern or a rule", `quote a pattern that starts with ! or is ~`)
		default:
			d.want(v, "a pattern or a rule", "{match: ..., except: ..., message: ...}")
		}
	}
	for _, r := range d.policy.Rules[first:] {
		r.Negated, r.negated = texts, negated
	}
	if first == len(d.policy.Rules) && !negated.empty() {
		d.problem(n, "write what it takes away from", `the list has only "!" patterns`)
	}
}

// negate adds a "!" pattern: it takes away from the list it stands in.
func (d *policyReader) negate(n *node, kind effect.Kind, text string, result approval.PolicyResult, into *matchers) {
	r := &Rule{Kind: kind, Result: result}
	d.pattern(n, text, into, r)
}

var ruleKeys = []string{"id", "match", "except", "message", "reason", "test"}

func (d *policyReader) ruleMapping(kind effect.Kind, result approval.PolicyResult, n *node) *Rule {
	if text := meantText(n); text != "" && !slices.Contains(ruleKeys, n.keys[0].text) && didYouMean(n.keys[0].text, ruleKeys) == "" {
		d.problem(n, text, "a rule has no key %q", n.keys[0].text)
		return nil
	}
	r := d.rule(kind, result, n)
	matched := false
	d.each(n, ruleKeys, func(k, v *node) {
		switch k.text {
		case "id":
			r.ID = d.text(v)
			if old := d.ids[r.ID]; old != nil {
				d.problem(v, "", "the id %q is used before, in line %d", r.ID, old.Line)
			}
			if strings.ContainsAny(r.ID, " \t:") || r.ID == "" {
				d.problem(v, "words joined by -", "%q is no id", r.ID)
			}
			d.ids[r.ID] = r
		case "match":
			matched = true
			for _, p := range d.texts(v) {
				if text, ok := strings.CutPrefix(p.text, "!"); ok {
					r.Except = append(r.Except, text)
					d.pattern(&p, text, &r.except, r)
					continue
				}
				r.Match = append(r.Match, p.text)
				d.pattern(&p, p.text, &r.match, r)
			}
		case "except":
			for _, p := range d.texts(v) {
				if id, ok := strings.CutPrefix(p.text, "shipped:"); ok {
					d.lift(&p, r, id)
					continue
				}
				r.Except = append(r.Except, p.text)
				d.pattern(&p, p.text, &r.except, r)
			}
		case "message":
			r.Message = d.text(v)
		case "reason":
			r.Reason = d.text(v)
		case "test":
			d.tests(r, v)
		}
	})
	if !matched || len(r.Match) == 0 {
		d.problem(n, "", "the rule has no match")
		return nil
	}
	return r
}

// lift notes that the rule is an exception to a shipped one.
func (d *policyReader) lift(n *node, r *Rule, id string) {
	if d.policy.layer != Operator {
		d.problem(n, "", "only the operator's policy can except from shipped rules")
		return
	}
	ids := shippedIDs()
	i := slices.IndexFunc(ids, func(s shippedID) bool { return s.id == id })
	switch {
	case i < 0:
		var names []string
		for _, s := range ids {
			names = append(names, s.id)
		}
		d.problem(n, didYouMean(id, names), "there is no shipped rule %q", id)
	case ids[i].fixed:
		d.problem(n, "", "the rule %q protects assent itself and has no exceptions", id)
	default:
		r.Lifts = append(r.Lifts, id)
	}
}

func (d *policyReader) text(n *node) string {
	if n.kind != scalar {
		d.want(n, "a text", "")
		return ""
	}
	return n.text
}

// texts is a list of texts, or one.
func (d *policyReader) texts(n *node) []node {
	switch n.kind {
	case scalar:
		return []node{*n}
	case list:
		var out []node
		for i := range n.values {
			if n.values[i].kind != scalar {
				d.want(&n.values[i], "a text", meantText(&n.values[i]))
				continue
			}
			out = append(out, n.values[i])
		}
		return out
	case nothing:
		return nil
	}
	d.want(n, "a text or a list of texts", meantText(n))
	return nil
}

func (d *policyReader) tests(r *Rule, n *node) {
	if n.kind != mapping {
		d.want(n, "a mapping", "test: {hit: [...], miss: [...]}")
		return
	}
	d.each(n, []string{"hit", "miss"}, func(k, v *node) {
		for _, t := range d.texts(v) {
			if k.text == "hit" {
				r.Hits = append(r.Hits, t.text)
			} else {
				r.Misses = append(r.Misses, t.text)
			}
			r.tests = append(r.tests, ruleTest{t.text, k.text == "hit", t.line, t.column})
		}
	})
}

// hinted is an error that knows what to write instead.
type hinted interface{ hint() string }

// full says that a project's policy has more patterns than it may have.
func (d *policyReader) full() bool {
	return d.policy.layer == Project && (d.policy.patterns > maxProjectPatterns || d.policy.spelled > MaxProject)
}

// pattern compiles one pattern of the rule's kind.
func (d *policyReader) pattern(n *node, text string, into *matchers, r *Rule) {
	fail := func(err error) {
		if err == nil {
			return
		}
		hint := ""
		if h, ok := err.(hinted); ok {
			hint = h.hint()
		}
		d.problem(n, hint, "bad pattern %q: %s", shown(text), err)
	}
	takes := func(patterns, spelled int) {
		d.policy.patterns += patterns
		d.policy.spelled += spelled
	}
	if d.full() {
		return // none of it will be kept
	}
	if what := secretLike(text); what != "" {
		d.problem(n, "rules never carry secrets", "the pattern looks like %s", what)
		return
	}
	if strings.HasPrefix(text, "shipped:") {
		d.problem(n, "write it under except", "only an exception names a shipped rule")
		return
	}
	switch r.Kind {
	case effect.Run:
		ps, err := compileRun(text)
		fail(err)
		into.runs = append(into.runs, ps...)
		for i := range ps {
			takes(1, len(text))
			if ps[i].at != nil {
				takes(ps[i].at.Size())
			}
		}
	case effect.Read, effect.Write, effect.Delete:
		p, err := paths.Compile(text)
		if err != nil && strings.HasPrefix(text, "@") {
			fail(setError{text, paths.SetNames()})
			return
		}
		fail(err)
		into.paths = append(into.paths, p)
		takes(p.Size())
	case effect.Net:
		p, err := compileHost(text)
		fail(err)
		into.hosts = append(into.hosts, p)
		takes(1, len(text))
	case effect.MCP:
		p, err := compileTool(text)
		fail(err)
		into.tools = append(into.tools, p)
		takes(1, len(text))
	case effect.Env, effect.Opaque:
		if text == "" || strings.TrimSpace(text) != text {
			d.problem(n, "", "bad pattern %q: it is empty or has blanks around it", shown(text))
			return
		}
		if r.Kind == effect.Env && strings.ContainsAny(text, "= $") {
			d.problem(n, "only the variable's name, as in GIT_*", "bad pattern %q: no name of a variable looks so", shown(text))
			return
		}
		into.words = append(into.words, parseGlob(text))
		takes(1, len(text))
	}
}
