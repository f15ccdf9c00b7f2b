package floor

import (
	"slices"
	"strings"

	"assent/approval"
	"assent/floor/effect"
	"assent/floor/paths"
)

// index finds the rules of one section that may match an effect, without
// looking at those that name something else.
type index struct {
	rules []*Rule

	programs map[string][]int // run rules by program name
	classes  map[effect.Class][]int
	anyRun   []int

	paths paths.Index
	// floating are the rules that restrict by a name at any depth.
	floating []*Rule

	hosts    map[string][]int // net rules by exact host
	suffixes map[string][]int // by the end of the host, with its dot
	servers  map[string][]int // mcp rules by server
	names    map[string][]int // env rules by name
	others   []int            // what must be compared with everything
}

// build indexes the policy's rules. It is called once, before the policy is
// used.
func (p *Policy) build() {
	for i := range p.index {
		p.index[i] = index{}
	}
	for _, r := range p.Rules {
		r.ref = r.Ref()
		if r.Result != approval.Allow {
			r.except.paths = everywhere(r.except.paths)
			r.negated.paths = everywhere(r.negated.paths)
		}
		p.index[r.Kind].add(r)
	}
	for i := range p.index {
		p.index[i].paths.Freeze()
	}
}

// everywhere makes exceptions to restrictions hold outside the workspace too.
func everywhere(ps []paths.Pattern) []paths.Pattern {
	out := make([]paths.Pattern, len(ps)) // the rule may be a copy of one in use
	for i := range ps {
		out[i] = ps[i].Everywhere()
	}
	return out
}

func (x *index) add(r *Rule) {
	id := len(x.rules)
	x.rules = append(x.rules, r)
	put := func(m *map[string][]int, key string) {
		if *m == nil {
			*m = map[string][]int{}
		}
		if l := (*m)[key]; len(l) == 0 || l[len(l)-1] != id {
			(*m)[key] = append(l, id)
		}
	}
	for i := range r.match.runs {
		p := &r.match.runs[i]
		switch {
		case p.class != "":
			if x.classes == nil {
				x.classes = map[effect.Class][]int{}
			}
			x.classes[p.class] = append(x.classes[p.class], id)
		case p.names() == nil:
			x.anyRun = append(x.anyRun, id)
		default:
			for _, n := range p.names() {
				put(&x.programs, programName(n))
			}
		}
	}
	for _, p := range r.match.paths {
		x.paths.Add(p, id)
	}
	if r.Result >= approval.Deny && slices.ContainsFunc(r.match.paths, paths.Pattern.Floating) {
		x.floating = append(x.floating, r)
	}
	for i := range r.match.hosts {
		switch p := &r.match.hosts[i]; {
		case p.host != "":
			put(&x.hosts, p.host)
		case p.suffix != "":
			put(&x.suffixes, p.suffix)
		default:
			x.others = append(x.others, id)
		}
	}
	for i := range r.match.tools {
		for k := range r.match.tools[i].folded {
			server, _, _ := strings.Cut(r.match.tools[i].folded[k].plain(), "/")
			if strings.ContainsAny(server, "*?") {
				x.others = append(x.others, id)
			} else {
				put(&x.servers, server)
			}
		}
	}
	for i := range r.match.words {
		if g := &r.match.words[i]; g.wild {
			x.others = append(x.others, id)
		} else {
			put(&x.names, g.text)
		}
	}
}

// subject is an effect with what is worked out of it once.
type subject struct {
	place *paths.Place
	e     *effect.Effect
	at    paths.Target // the path looked at: the effect's, or a known file below it
	host  *address
	// listed says that it is known which files of the tree or glob exist.
	listed bool
}

// match appends the policy's rules that match the subject to out, each once.
func (p *Policy) match(s *subject, out []*Rule) []*Rule {
	if p == nil {
		return out
	}
	kind := s.e.Kind
	if kind == effect.Delete {
		// What is special about deleting is in a section of its own; the denies
		// and blocks for writing hold for deleting too, and everything else does
		// where nothing special is said.
		from := len(out)
		out = p.matchKind(s, effect.Delete, out)
		special := len(out) > from
		at := len(out)
		out = p.matchKind(s, effect.Write, out)
		if special {
			kept := out[:at]
			for _, r := range out[at:] {
				if r.Result >= approval.Deny {
					kept = append(kept, r)
				}
			}
			out = kept
		}
		return out
	}
	return p.matchKind(s, kind, out)
}

func (p *Policy) matchKind(s *subject, kind effect.Kind, out []*Rule) []*Rule {
	x := &p.index[kind]
	if len(x.rules) == 0 {
		return out
	}
	from := len(out)
	try := func(ids []int) {
		for _, id := range ids {
			if r := x.rules[id]; !contains(out[from:], r) && r.matches(s) {
				out = append(out, r)
			}
		}
	}
	switch kind {
	case effect.Run:
		c := s.e.Command
		if c == nil {
			return out
		}
		try(x.anyRun)
		if c.Class != "" {
			try(x.classes[c.Class])
		}
		try(x.programs[programName(c.Program)])
		for _, w := range c.Wrappers {
			try(x.programs[programName(w)])
		}
	case effect.Read, effect.Write, effect.Delete:
		var room [16]paths.Hit // enough for most effects
		for _, h := range x.paths.Match(room[:0], &s.at) {
			r := x.rules[h.ID]
			if (r.Result != approval.Allow || h.Relation == paths.Covers) && !contains(out[from:], r) && !r.spares(s) {
				out = append(out, r)
			}
		}
	case effect.Net:
		try(x.others)
		byHost := func(h string) {
			try(x.hosts[h])
			if len(x.suffixes) == 0 || h == "" {
				return
			}
			try(x.suffixes["."+h]) // a restricted "*.x" restricts x
			for i := strings.IndexByte(h, '.'); i >= 0; i = strings.IndexByte(h, '.') {
				try(x.suffixes[h[i:]])
				h = h[i+1:]
			}
		}
		byHost(s.host.host)
		for i := range s.host.also {
			byHost(s.host.also[i].host)
		}
	case effect.MCP:
		try(x.others)
		server, _, _ := strings.Cut(s.e.Target, "/")
		try(x.servers[strings.ToLower(server)])
	case effect.Env, effect.Opaque:
		try(x.others)
		try(x.names[s.e.Target])
	}
	return out
}

func contains(rules []*Rule, r *Rule) bool {
	for _, have := range rules {
		if have == r {
			return true
		}
	}
	return false
}

// matches reports whether a rule that is not about paths matches.
func (r *Rule) matches(s *subject) bool {
	loose := r.Result != approval.Allow
	return r.match.hit(s, loose) && !r.except.hit(s, !loose) && !r.negated.hit(s, !loose)
}

// spares reports whether an exception takes the path away from the rule. An
// exception to a rule that restricts must cover all of it; one to a rule that
// allows need only touch it.
func (r *Rule) spares(s *subject) bool {
	need := paths.Covers
	if r.Result == approval.Allow {
		need = paths.Overlap
	}
	for _, list := range [...][]paths.Pattern{r.except.paths, r.negated.paths} {
		for _, p := range list {
			if p.RelateTo(&s.at) >= need {
				return true
			}
		}
	}
	return false
}

// hit reports whether a pattern that is not about paths matches.
func (m *matchers) hit(s *subject, loose bool) bool {
	for i := range m.runs {
		if m.runs[i].match(s.place, s.e, loose) {
			return true
		}
	}
	for i := range m.hosts {
		if m.hosts[i].match(s.host, loose) {
			return true
		}
	}
	for i := range m.tools {
		if m.tools[i].match(s.e.Target, loose) {
			return true
		}
	}
	for i := range m.words {
		if m.words[i].match(s.e.Target) {
			return true
		}
	}
	return false
}

// which is the pattern by which the rule matches the subject, as written.
func (r *Rule) which(s *subject) string {
	loose := r.Result != approval.Allow
	switch s.e.Kind {
	case effect.Read, effect.Write, effect.Delete:
		for _, p := range r.match.paths {
			if rel := p.RelateTo(&s.at); rel == paths.Covers || loose && rel == paths.Overlap {
				return p.String()
			}
		}
	case effect.Run:
		if p := r.pattern(s); p != nil {
			return p.text
		}
	default:
		for i := range r.match.hosts {
			if r.match.hosts[i].match(s.host, loose) {
				return r.match.hosts[i].text
			}
		}
		for i := range r.match.tools {
			if r.match.tools[i].match(s.e.Target, loose) {
				return r.match.tools[i].text
			}
		}
		for i := range r.match.words {
			if r.match.words[i].match(s.e.Target) {
				return r.match.words[i].plain()
			}
		}
	}
	return ""
}

// pattern is the run pattern of an allow rule that matches the effect.
func (r *Rule) pattern(s *subject) *runPattern {
	for i := range r.match.runs {
		if p := &r.match.runs[i]; p.match(s.place, s.e, r.Result != approval.Allow) {
			return p
		}
	}
	return nil
}

// lifts reports whether a rule of the operator that matches the subject lifts
// a shipped deny that matches it too. A broader rule never lifts a narrower
// deny: "write: allow: [.]" says nothing about Makefiles, and "git push"
// nothing about --force.
func (r *Rule) lifts(shipped *Rule, s *subject) bool {
	for _, id := range r.Lifts {
		if id == shipped.ID {
			return true
		}
	}
	switch s.e.Kind {
	case effect.Run:
		for i := range r.match.runs {
			p := &r.match.runs[i]
			if !p.match(s.place, s.e, r.Result != approval.Allow) {
				continue
			}
			all := true
			for k := range shipped.match.runs {
				q := &shipped.match.runs[k]
				if q.match(s.place, s.e, true) && !p.as(q, s.e.Command) {
					all = false
				}
			}
			if all {
				return true
			}
		}
	case effect.Read, effect.Write, effect.Delete:
		for _, p := range r.match.paths {
			rel := p.RelateTo(&s.at)
			if rel < paths.Overlap || r.Result == approval.Allow && rel < paths.Covers {
				continue
			}
			if p.Names() {
				return true
			}
			all := true
			for _, q := range shipped.match.paths {
				if q.Set() == "" && q.RelateTo(&s.at) >= paths.Overlap && !p.Within(q) {
					all = false
				}
			}
			if all {
				return true
			}
		}
	case effect.Net:
		for i := range r.match.hosts {
			p := &r.match.hosts[i]
			if !p.match(s.host, r.Result != approval.Allow) {
				continue
			}
			all := true
			for k := range shipped.match.hosts {
				q := &shipped.match.hosts[k]
				if q.match(s.host, true) && !p.as(q) {
					all = false
				}
			}
			if all {
				return true
			}
		}
	case effect.Env, effect.MCP, effect.Opaque:
		return true
	}
	return false
}
