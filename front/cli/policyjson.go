package cli

import (
	"strconv"

	"assent/floor"
	"assent/floor/effect"
)

// The policies in force as data. A rule is told as it is written.
type (
	toldPolicies struct {
		Layers  []toldLayer            `json:"layers"`
		Scanner string                 `json:"scanner"`
		Default map[effect.Kind]string `json:"default"` // what holds where no rule matches
	}
	toldLayer struct {
		Layer string     `json:"layer"`
		File  string     `json:"file"`
		Note  string     `json:"note,omitzero"`
		Rules []toldRule `json:"rules"`
	}
	toldRule struct {
		Rule    string       `json:"rule"` // its place, as in the effects of check
		Layer   string       `json:"layer"`
		File    string       `json:"file"`
		Line    int          `json:"line"`
		Kind    effect.Kind  `json:"kind"`
		Result  floor.Result `json:"result"`
		Match   []string     `json:"match"`
		Except  []string     `json:"except,omitempty"`
		Lifts   []string     `json:"lifts,omitempty"`
		Hits    []string     `json:"hits,omitempty"`
		Misses  []string     `json:"misses,omitempty"`
		Message string       `json:"message,omitzero"`
		Reason  string       `json:"reason,omitzero"`
	}
	toldMeaning struct {
		Names    []toldName    `json:"names,omitempty"`
		Rules    []toldRule    `json:"rules,omitempty"`
		Findings []toldFinding `json:"findings,omitempty"`
	}
	toldName struct {
		Name     string   `json:"name"`
		What     string   `json:"what"`
		Doc      string   `json:"doc"`
		Patterns []string `json:"patterns,omitempty"`
	}
	toldFinding struct {
		Kind     effect.Kind    `json:"kind"`
		Target   string         `json:"target"`
		Result   string         `json:"result"`
		Rule     string         `json:"rule"`
		Says     string         `json:"says,omitzero"`
		Touching []toldTouching `json:"touching"`
	}
	toldTouching struct {
		Result  floor.Result `json:"result"`
		Pattern string       `json:"pattern"`
		Rule    string       `json:"rule"`
	}
)

func toldLayers(f *floor.Floor) toldPolicies {
	out := toldPolicies{Layers: []toldLayer{}, Scanner: scannerName(f.Setting()), Default: make(map[effect.Kind]string)}
	for _, policy := range f.Layers() {
		l := toldLayer{Layer: policy.Layer().String(), File: policy.Name, Note: layerNote(f, policy), Rules: []toldRule{}}
		for _, r := range policy.Rules {
			l.Rules = append(l.Rules, ruleTold(r))
		}
		out.Layers = append(out.Layers, l)
	}
	for _, kind := range floor.Sections() {
		out.Default[kind] = floor.Default(kind)
	}
	return out
}

func ruleTold(r *floor.Rule) toldRule {
	ref := r.Ref()
	return toldRule{
		Rule: ref.Place(), Layer: ref.Layer.String(), File: r.File, Line: r.Line, Kind: r.Kind, Result: r.Result, Match: r.Match,
		Except: exceptOf(r), Lifts: r.Lifts, Hits: r.Hits, Misses: r.Misses, Message: r.Message, Reason: r.Reason,
	}
}

// scannerName is the setting as a policy writes it.
func scannerName(s floor.Scanner) string {
	switch s {
	case floor.ScannerRequired:
		return "required"
	case floor.ScannerOff:
		return "off"
	case floor.ScannerAuto:
		return "auto"
	}
	return strconv.Itoa(int(s))
}

// told is it as data.
func (m meaning) told() (out toldMeaning) {
	for _, n := range m.names {
		out.Names = append(out.Names, toldName{n.Name, n.What, n.Doc, n.Patterns})
	}
	for _, r := range m.rules {
		out.Rules = append(out.Rules, ruleTold(r))
	}
	if m.rule != nil {
		out.Rules = append(out.Rules, ruleTold(m.rule))
	}
	for _, found := range m.findings {
		t := toldFinding{Kind: found.Effect.Kind, Target: found.Effect.Target, Result: exitName(found.Result), Rule: found.Rule.Place(), Touching: []toldTouching{}}
		if found.Rule != nil {
			t.Says = found.Rule.Text
		}
		for _, touching := range found.Touching {
			t.Touching = append(t.Touching, toldTouching{touching.Rule.Result, touching.Pattern, touching.Rule.Ref().Place()})
		}
		out.Findings = append(out.Findings, t)
	}
	return out
}
