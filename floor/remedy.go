package floor

import (
	"fmt"
	"slices"
	"strings"

	"assent/approval"
	"assent/floor/commands"
	"assent/floor/effect"
	"assent/floor/paths"
)

// Remedy is what would have to change for one effect of a call to be allowed.
type Remedy struct {
	// Effect is the place of the effect in the verdict.
	Effect int
	// Rule is a rule of the operator that allows the effect, as a policy on one
	// line: "run: {allow: [go generate]}". It was tried. "" when there is none.
	Rule string
	// More says what else the rule would allow that one may not think of.
	More string
	// Decides is the rule of a person that stands in the way, if one does.
	Decides *RuleRef
	// Excepts is the rule of a person that allows more and leaves this out.
	Excepts *RuleRef
	// Why says why no rule is proposed.
	Why string
}

// Text is the remedy as a sentence; place says where a rule is.
func (r *Remedy) Text(place func(*RuleRef) string) string {
	switch {
	case r.Decides != nil:
		return fmt.Sprintf("the rule at %s decides; add an except to it, or remove it", place(r.Decides))
	case r.Excepts != nil:
		return fmt.Sprintf("the rule at %s leaves this out, by its except", place(r.Excepts))
	case r.Rule == "":
		return r.Why
	case r.More != "":
		return fmt.Sprintf("the operator's rule  %s  would allow it, and %s", r.Rule, r.More)
	}
	return fmt.Sprintf("the operator's rule  %s  would allow it", r.Rule)
}

// maxLifted is how many shipped rules a proposed rule is an exception to. What
// more of them protect is not lifted by the way.
const maxLifted = 3

// Remedies says for the effects of a verdict what would have to change, the
// first so many of them. What a rule for the command already answers is left
// out. Every rule that is proposed was tried: it allows its effect, and all of
// them together the call. Where no rule can allow some effect, the call is asked
// about whatever rules there are, so only that is said.
func (f *Floor) Remedies(call Call, v *Verdict, most int) []Remedy {
	t := trial{floor: f, call: call, verdict: v}
	for i := range v.Effects {
		if !v.Effects[i].scan { // judging adds them again
			t.effects = append(t.effects, v.Effects[i].Effect)
		}
	}
	t.place = call.Place()
	var out []Remedy
	var runs []*Rule
	order := make([]int, 0, len(v.Effects))
	for _, run := range []bool{true, false} {
		for i := range v.Effects {
			if (v.Effects[i].Kind == effect.Run) == run {
				order = append(order, i)
			}
		}
	}
	hopeless := slices.ContainsFunc(order, func(i int) bool { return t.matters(i) && t.beyond(i) })
	for _, i := range order {
		e := &v.Effects[i]
		if !t.matters(i) || hopeless && !t.beyond(i) && !t.decided(i) {
			continue
		}
		if len(out) == most {
			break
		}
		if e.Kind != effect.Run && len(runs) > 0 && t.result(runs, i).Result == approval.Allow {
			continue // the rule for the command has answered it
		}
		r, rules := t.remedy(i)
		if e.Kind == effect.Run {
			runs = append(runs, rules...)
		}
		out = append(out, r)
	}
	if slices.ContainsFunc(out, func(r Remedy) bool { return r.Why != "" }) {
		out = slices.DeleteFunc(out, func(r Remedy) bool { return r.Rule != "" })
	}
	slices.SortFunc(out, func(a, b Remedy) int { return a.Effect - b.Effect })
	return out
}

// holdsHome reports whether a folder is the root, or the home folder is in it.
func holdsHome(place *paths.Place, folder string) bool {
	return folder == "/" || place.Home != "" && strings.HasPrefix(place.Home+"/", folder+"/")
}

// trial judges the effects of a verdict again with a further rule.
type trial struct {
	floor   *Floor
	call    Call
	place   *paths.Place
	verdict *Verdict
	effects []effect.Effect
}

// matters reports whether an effect has a part in the result.
func (t *trial) matters(i int) bool {
	e := &t.verdict.Effects[i]
	return e.Result != approval.Allow && e.Result != approval.None && (t.verdict.Result != approval.Block || e.Result == approval.Block)
}

// decided reports whether a rule of a person decided about an effect.
func (t *trial) decided(i int) bool {
	e := &t.verdict.Effects[i]
	return !e.scan && e.Rule != nil && !e.Rule.Default && e.Rule.Layer != Shipped
}

// beyond reports whether no rule could name an effect, and a rule for its
// command would not answer it either.
func (t *trial) beyond(i int) bool {
	e := &t.verdict.Effects[i]
	switch {
	case t.decided(i):
		return false
	case e.scan, e.rule != nil && e.rule.fixed:
		return true
	}
	return len(e.suggestions(t.place)) == 0 && !t.answered(i)
}

// answered reports whether the widest rule for the command of an effect answers
// the effect.
func (t *trial) answered(i int) bool {
	e := &t.verdict.Effects[i]
	if e.Command == nil || e.Kind == effect.Run {
		return false
	}
	patterns := (&Judged{Effect: effect.Effect{Kind: effect.Run, Command: e.Command}}).commandPatterns()
	if len(patterns) == 0 {
		return false
	}
	rule, _ := t.lift("run", patterns[len(patterns)-1], i)
	return rule != ""
}

// result is what an effect would get with further rules of the operator.
func (t *trial) result(rules []*Rule, i int) *Judged {
	f := *t.floor
	f.Operator = f.Operator.with(rules)
	v := f.JudgeEffects(t.call, t.effects, t.verdict.Text)
	if i >= len(v.Effects) {
		return &Judged{Result: approval.Block}
	}
	return &v.Effects[i]
}

// with is the policy with further rules.
func (p *Policy) with(rules []*Rule) *Policy {
	q := &Policy{Name: "a further rule", Extends: true, layer: Operator}
	var all []*Rule
	if p != nil {
		q.Name, q.Extends, q.Scanner, q.scannerLine, q.deletes, q.file, q.stale, q.alone = p.Name, p.Extends, p.Scanner, p.scannerLine, p.deletes, p.file, p.stale, p.alone
		all = slices.Clone(p.Rules)
	}
	for _, r := range append(all, rules...) {
		c := *r // building changes it, and others judge by it
		c.policy = q
		q.deletes = q.deletes || c.Kind == effect.Delete
		q.Rules = append(q.Rules, &c)
	}
	q.build()
	return q
}

// remedy finds a rule for an effect, the narrowest first.
func (t *trial) remedy(i int) (Remedy, []*Rule) {
	e := &t.verdict.Effects[i]
	r := Remedy{Effect: i}
	switch {
	case e.scan:
		r.Why = e.scanRemedy()
		return r, nil
	case t.decided(i):
		r.Decides = e.Rule
		return r, nil
	case e.rule != nil && e.rule.fixed:
		r.Why = "nothing lifts this: it protects assent itself"
		return r, nil
	}
	if e.Tree && e.Path.Known() && holdsHome(t.place, e.Path.Abs) {
		r.Why = "no rule is proposed: one for everything below " + shown(e.Path.Abs) + " would allow far more than this"
		return r, nil
	}
	if rule := t.leftOut(i); rule != nil {
		r.Excepts = rule.ref
		return r, nil
	}
	section := e.Kind.String()
	if e.Kind == effect.Opaque {
		section = "run"
	}
	patterns := e.suggestions(t.place)
	for _, pattern := range patterns {
		if rule, rules := t.lift(section, pattern, i); rule != "" {
			r.Rule, r.More = rule, t.more(i, pattern)
			return r, rules
		}
	}
	switch {
	case e.Result == approval.Block && e.rule != nil && e.rule.ID != "":
		r.Why = fmt.Sprintf("only a rule of the operator with  except: shipped:%s  lifts this", e.rule.ID)
	case len(patterns) > 0:
		r.Why = "a person must answer: no single rule allows this, it touches what several protect"
	default:
		r.Why = "a person must answer: no rule can allow what cannot be told"
	}
	return r, nil
}

// lift tries a pattern, and when shipped rules are still in the way, as an
// exception to each of them.
func (t *trial) lift(section, pattern string, i int) (string, []*Rule) {
	var ids []string
	match := quotePattern(pattern)
	kept := t.kept(i, pattern) // what a person left out stays out
	files := 1
	for {
		text := fmt.Sprintf("%s: {allow: [%s]}", section, match)
		if except := slices.Concat(ids, kept); len(except) > 0 {
			for k := range except {
				except[k] = fmt.Sprintf("%q", except[k])
			}
			list := strings.Join(except, ", ")
			if len(except) > 1 {
				list = "[" + list + "]"
			}
			if files > 1 {
				match = "[" + match + "]"
			}
			text = fmt.Sprintf("%s: {allow: [{match: %s, except: %s}]}", section, match, list)
		}
		p, err := ParsePolicy("a proposed rule", []byte(text))
		if err != nil {
			return "", nil
		}
		got := t.result(p.Rules, i)
		if got.Result == approval.Allow {
			return text, p.Rules
		}
		if next := quotePattern(pathPattern(t.place, got.File, "", false)); got.File != "" && len(ids) == 0 && files < maxLifted && !strings.Contains(match, next) {
			match += ", " + next // a further file of the tree decides
			files++
			continue
		}
		if got.File != "" || got.rule == nil || got.rule.fixed || got.rule.ID == "" || got.rule.policy.layer != Shipped || len(ids) == maxLifted {
			return "", nil
		}
		id := "shipped:" + got.rule.ID
		if slices.Contains(ids, id) {
			return "", nil
		}
		ids = append(ids, id)
	}
}

// allowing are the operator's rules that allow something of an effect's kind.
func (t *trial) allowing(i int) (rules []*Rule) {
	e := &t.verdict.Effects[i]
	if t.floor.Operator == nil {
		return nil
	}
	for _, r := range t.floor.Operator.Rules {
		kind := e.Kind
		if kind == effect.Opaque {
			kind = effect.Run
		}
		if r.Result == approval.Allow && (r.Kind == kind || kind == effect.Delete && r.Kind == effect.Write) {
			rules = append(rules, r)
		}
	}
	return rules
}

// subject is an effect as rules see it, or the file of it that decides.
func (t *trial) subject(i int) *subject {
	e := &t.verdict.Effects[i]
	s := &subject{place: t.place, e: &e.Effect, at: t.place.Target(e.Path, e.Tree).Of(e.Names)}
	if e.File != "" {
		s.at = t.place.Target(t.place.Prepare(e.File, t.place.Workspace), false)
	}
	if e.Kind == effect.Net {
		a := parseAddress(e.Target)
		s.host = &a
	}
	return s
}

// leftOut is a rule of the operator that would allow the effect but for its own
// exceptions, nil where there is none. To propose a rule for it would undo them.
func (t *trial) leftOut(i int) *Rule {
	s := t.subject(i)
	for _, r := range t.allowing(i) {
		if r.except.empty() && r.negated.empty() {
			continue
		}
		switch r.Kind {
		case effect.Read, effect.Write, effect.Delete:
			covers := slices.ContainsFunc(r.match.paths, func(p paths.Pattern) bool { return p.RelateTo(&s.at) == paths.Covers })
			if covers && r.spares(s) {
				return r
			}
		default:
			if r.match.hit(s, false) && !r.matches(s) {
				return r
			}
		}
	}
	return nil
}

// kept are the exceptions of the operator's rules that a rule with the pattern
// could undo. They become exceptions of that rule.
func (t *trial) kept(i int, pattern string) (texts []string) {
	s := t.subject(i)
	add := func(text string) {
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, r := range t.allowing(i) {
		for _, m := range [...]*matchers{&r.except, &r.negated} {
			for k := range m.runs {
				if mayAllow(pattern, m.runs[k].text) {
					add(m.runs[k].text)
				}
			}
			for _, p := range m.paths {
				if p.RelateTo(&s.at) > paths.Apart {
					add(p.String())
				}
			}
		}
	}
	return texts
}

// mayAllow reports whether some command is one of both patterns: their words agree
// as far as both go, options aside.
func mayAllow(a, b string) bool {
	as, bs := strings.Fields(a), strings.Fields(b)
	for k := range min(len(as), len(bs)) {
		switch x, y := as[k], bs[k]; {
		case strings.HasPrefix(x, "-"), strings.HasPrefix(y, "-"), strings.HasPrefix(y, "@"):
			return true
		case strings.ContainsAny(x+y, "*?[\"'\\"), x == y:
		default:
			return false
		}
	}
	return true
}

// more says what else a rule for a command answers.
func (t *trial) more(i int, pattern string) string {
	e := &t.verdict.Effects[i]
	if e.Kind != effect.Run && e.Kind != effect.Opaque || e.Command == nil {
		return ""
	}
	net, opaque := false, false
	for k := range t.verdict.Effects {
		if o := &t.verdict.Effects[k]; o.Command == e.Command {
			net = net || o.Kind == effect.Net && !ofIndex(o)
			opaque = opaque || o.Kind == effect.Opaque && o.Coverable
		}
	}
	name := shown(e.Command.Program)
	switch {
	case net && e.Command.Class == effect.Remote:
		return "let " + name + " run anything there"
	case net:
		return "let " + name + " contact any address"
	case e.Command.Class == effect.Code && len(e.Command.Sub) == 0 && !strings.Contains(pattern, " "):
		return "let " + name + " run any code"
	case opaque && e.Command.Described:
		return "whatever else it does that cannot be told"
	}
	return ""
}

// ofIndex reports whether an address is only the one where a program looks for
// what it is told to fetch.
func ofIndex(j *Judged) bool {
	entry := commands.Default().Lookup(j.Command.Program)
	return entry != nil && entry.Index == j.Target
}

// suggestions are patterns that would name just this, the narrowest first.
func (j *Judged) suggestions(place *paths.Place) []string {
	switch j.Kind {
	case effect.Run, effect.Opaque:
		return j.commandPatterns()
	case effect.Read, effect.Write, effect.Delete:
		return j.pathPatterns(place)
	case effect.Net:
		a := parseAddress(j.Target)
		if a.host == "" || a.odd {
			return nil
		}
		return []string{a.host}
	}
	return []string{j.Target}
}

// commandPatterns are the program with its subcommand and with the option that
// a rule is about; for programs that run what they are given, first with it.
func (j *Judged) commandPatterns() []string {
	c := j.Command
	if c == nil || c.Program == "" || j.Kind == effect.Opaque && !j.Coverable {
		return nil
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
	text += patternWord(c.Program)
	for _, s := range c.Sub {
		text += " " + patternWord(s)
	}
	if j.rule != nil {
		for i := range j.rule.match.runs {
			for k := range j.rule.match.runs[i].words {
				if w := &j.rule.match.runs[i].words[k]; w.option && c.Has(w.name) {
					return []string{text + " " + w.name, text}
				}
			}
		}
	}
	var out []string
	if len(c.Raised) > 0 {
		out = append(out, text+" "+strings.Join(c.Raised, " "))
	}
	switch c.Class {
	case effect.Code, effect.Install, effect.Remote, effect.Agent, effect.Service, effect.System, effect.Process:
		// What is run, installed or reached is most of what such a command does.
		if j.Kind == effect.Run && len(c.Operands) > 0 && len(c.Sub) == 0 && givenPlainly(c.Operands[0]) {
			out = append(out, text+" "+patternWord(c.Operands[0]))
		}
	}
	for _, o := range c.Options { // they must be in the pattern, see elsewhere
		if o.Elsewhere {
			text += " " + o.Name
		}
	}
	return append(out, text)
}

// givenPlainly reports whether an operand can stand in a pattern for itself.
func givenPlainly(s string) bool {
	return s != "" && s[0] != '-' && !unknown(s) && !strings.ContainsAny(s, "*?[\n") && len(s) <= 100
}

// patternWord quotes a word for a run pattern.
func patternWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\r'\"\\*?;|&<>()`$@=") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// pathPatterns name the path, in the form in which a person would.
func (j *Judged) pathPatterns(place *paths.Place) []string {
	switch {
	case j.File != "": // never all of the tree: that file is why it is not allowed
		return []string{pathPattern(place, j.File, "", false)}
	case !j.Path.Known():
		return nil
	case j.Path.Glob:
		return []string{j.Path.Abs}
	}
	out := []string{pathPattern(place, j.Path.Abs, j.Path.Rel, j.Tree)}
	if plain := pathPattern(nil, j.Path.Abs, "", j.Tree); plain != out[0] {
		out = append(out, plain)
	}
	return out
}

func pathPattern(place *paths.Place, abs, rel string, tree bool) string {
	if rel == "." && tree {
		return "."
	}
	home, root := "", abs
	if place != nil && place.Home != "" && place.Home != "/" {
		if rest, ok := strings.CutPrefix(abs, place.Home); ok && (rest == "" || rest[0] == '/') {
			home, root = "~", rest
		}
	}
	if place != nil && rel == "" && place.Workspace != "" {
		if rest, ok := strings.CutPrefix(abs, place.Workspace+"/"); ok {
			rel = rest
		}
	}
	if rel != "" && rel != "." {
		home, root = "", rel
	}
	text := home + paths.Quote(root)
	if tree {
		text = strings.TrimSuffix(text, "/") + "/**"
	}
	return text
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
