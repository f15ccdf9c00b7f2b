package floor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/approval"
	"assent/floor/effect"
)

func TestAnswer(t *testing.T) {
	v := Verdict{Result: approval.Deny, Cluster: approval.Bash, Message: "no\xff", Effects: []Judged{
		{Effect: effect.Effect{Kind: effect.Run, Target: "a <& b", Span: effect.Span{Start: 1, End: 3}}, Result: approval.Deny, Rule: &RuleRef{File: "policy.yaml", Line: 7}},
		{Effect: effect.Effect{Kind: effect.Opaque}, Result: approval.Ask},
	}}
	const told = `{"result":"deny","cluster":"bash","hatch":false,"effects":[` +
		`{"kind":"run","target":"a <& b","result":"deny","rule":"policy.yaml:7","span":[1,3]},` +
		`{"kind":"opaque","target":"","result":"ask","rule":null,"span":null}],"message":"no�"}`
	if got := string(v.Answer().JSON()); got != told {
		t.Errorf("got  %s\nwant %s", got, told)
	}
}

func TestAnswerCut(t *testing.T) {
	effects := func(results ...Result) (told []Told) {
		for _, r := range results {
			told = append(told, Told{Kind: effect.Run, Target: "äöü", Result: r})
		}
		return told
	}
	short := func(told []Told) []Told {
		for i := range told {
			told[i].Target = "ä…"
		}
		return told
	}
	const allow, ask, deny = approval.Allow, approval.Ask, approval.Deny
	about := Told{Kind: effect.Net, Target: "äöü", Result: deny, Decides: true}
	tests := []struct {
		why  string
		from []Told
		want []Told
		more int
	}{
		{"nothing", nil, []Told{}, 0},
		{"all fit", effects(allow, deny), short(effects(allow, deny)), 0},
		{"the deciding one is last", effects(allow, ask, allow, allow, deny), short(effects(allow, ask, deny)), 2},
		{"the one that it is about is last", append(effects(deny, deny, deny), about), append(short(effects(deny, deny)), short([]Told{about})...), 1},
		{"more decide than fit", effects(allow, deny, deny, deny, deny), short(effects(deny, deny, deny)), 2},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			got := Answer{Result: deny, Effects: test.from, Message: "äöü"}.Cut(3, 3)
			if diff := cmp.Diff(Answer{Result: deny, Effects: test.want, Message: "ä…", More: test.more}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestExplained(t *testing.T) {
	v := Verdict{Result: approval.Ask, Cluster: approval.Bash, Effects: []Judged{
		{Effect: effect.Effect{Kind: effect.Delete, Target: "x", Tree: true, Certainty: effect.Maybe}, Result: approval.Ask, Rule: &RuleRef{File: "policy.yaml", Line: 7, Text: "delete ask: x"}},
		{Effect: effect.Effect{Kind: effect.Opaque, Target: "a finding"}, Result: approval.Ask, Rule: scanFound, scan: true},
	}}
	const told = `{"result":"ask","cluster":"bash","hatch":false,"effects":[` +
		`{"kind":"delete","target":"x","result":"ask","rule":"policy.yaml:7","span":null,"says":"delete ask: x","notes":["and all below","perhaps"],"decides":true},` +
		`{"kind":"opaque","target":"a finding","result":"ask","rule":"default","span":null,"says":"the scanner found it","scan":true}],"message":""}`
	if got := string(v.Explained().JSON()); got != told {
		t.Errorf("got  %s\nwant %s", got, told)
	}
}
