package floor

import (
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/floor/effect"
	"assent/internal/oneline"
)

// Answer is a verdict as data: the one form in which it is printed, kept and
// sent (policy §4).
type Answer struct {
	Result Result `json:"result"`
	// Cluster is nil where no tool is known.
	Cluster *approval.Cluster `json:"cluster"`
	Hatch   bool              `json:"hatch"`
	// Incomplete says that only a nested body which the scanner could not
	// analyse keeps the call from being allowed.
	Incomplete bool   `json:"incomplete,omitzero"`
	Effects    []Told `json:"effects"`
	Message    string `json:"message"`
	// More counts the effects that [Answer.Cut] left out.
	More int `json:"more,omitzero"`
}

// Told is one effect of an answer.
type Told struct {
	Kind   effect.Kind `json:"kind"`
	Target string      `json:"target"`
	Result Result      `json:"result"`
	// Rule is its place: "file:line", "shipped:ID" or "default"; nil for none.
	Rule *string `json:"rule"`
	// Span is where in the text of the call the effect comes from, in bytes;
	// nil when it has no place there.
	Span *[2]int `json:"span"`
	// The rest is told in [Verdict.Explained] alone. Says is the rule as it is
	// written, or what holds where none speaks; Notes what sets the target apart;
	// Scan that the scanner found it; Decides that the message is about it.
	Says    string   `json:"says,omitzero"`
	Notes   []string `json:"notes,omitzero"`
	Scan    bool     `json:"scan,omitzero"`
	Decides bool     `json:"decides,omitzero"`
}

// Answer tells the verdict as data.
func (v *Verdict) Answer() Answer {
	cluster := v.Cluster
	a := Answer{Result: v.Result, Cluster: &cluster, Hatch: v.Hatch, Incomplete: v.Incomplete, Message: v.Message, Effects: make([]Told, 0, len(v.Effects))}
	for i := range v.Effects {
		e := &v.Effects[i]
		t := Told{Kind: e.Kind, Target: e.Target, Result: e.Result}
		if e.Rule != nil {
			place := e.Rule.Place()
			t.Rule = &place
		}
		if !e.Span.Empty() {
			t.Span = &[2]int{e.Span.Start, e.Span.End}
		}
		a.Effects = append(a.Effects, t)
	}
	return a
}

// Explained is the answer with all that a person who is asked needs of each
// effect.
func (v *Verdict) Explained() Answer {
	a := v.Answer()
	deciding := v.Deciding()
	for i := range v.Effects {
		e := &v.Effects[i]
		if e.Rule != nil {
			a.Effects[i].Says = e.Rule.Text
		}
		a.Effects[i].Notes, a.Effects[i].Scan = e.Notes(), e.scan
		a.Effects[i].Decides = e == deciding && v.Result != approval.Allow
	}
	return a
}

// Cut is the answer with so many effects and bytes of a text at most, for
// where it is kept for ever. The effects that decide are kept before others.
func (a Answer) Cut(effects, text int) Answer {
	a.Message = cut(a.Message, text)
	keep := make([]bool, len(a.Effects))
	room := effects
	for _, counts := range []func(*Told) bool{
		func(t *Told) bool { return t.Decides },
		func(t *Told) bool { return t.Result == a.Result },
		func(*Told) bool { return true },
	} {
		for i := range a.Effects {
			if room > 0 && !keep[i] && counts(&a.Effects[i]) {
				keep[i] = true
				room--
			}
		}
	}
	kept := make([]Told, 0, effects-room)
	for i, e := range a.Effects {
		if keep[i] {
			e.Target, e.Says = cut(e.Target, text), cut(e.Says, text)
			e.Notes = slices.Clone(e.Notes)
			for j := range e.Notes {
				e.Notes[j] = cut(e.Notes[j], text)
			}
			kept = append(kept, e)
		}
	}
	a.Effects, a.More = kept, a.More+len(a.Effects)-len(kept)
	return a
}

// cut cuts a text between two characters, and shows that it did.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && most-end < utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// JSON is the answer as one JSON object. Text of a call may hold anything:
// what is no UTF-8 is replaced.
func (a Answer) JSON() []byte {
	text, err := json.Marshal(a, jsontext.AllowInvalidUTF8(true))
	if err != nil { // nothing in it has no JSON
		return []byte(`{"result":"block","cluster":null,"hatch":true,"effects":[],"message":"the answer cannot be written"}`)
	}
	return oneline.JSON(text)
}
