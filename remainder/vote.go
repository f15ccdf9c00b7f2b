package remainder

import (
	"math"

	"github.com/go-json-experiment/json"

	"assent/approval"
)

// Vote is a vote, with who gave it and why: what the document keeps of it for the
// audit. Nothing but Result decides anything.
type Vote struct {
	// Result is allow or deny.
	Result approval.JudgeResult `json:"-"`

	Program string `json:"program"`
	// Connection and Model are who was asked, "" where the program voted by itself.
	Connection string `json:"connection,omitzero"`
	Model      string `json:"model,omitzero"`
	// Evidence is the cut that the answer was given on.
	Evidence string `json:"evidence,omitzero"`
	// Uncertainty and Severity are 0 to 10, nil where the answer does not say them.
	Uncertainty *float64 `json:"uncertainty,omitzero"`
	Severity    *float64 `json:"severity,omitzero"`
	Reason      string   `json:"reason,omitzero"`
	// Remembered: it was given to the same call before, and nobody was asked now.
	Remembered bool `json:"remembered,omitzero"`
}

// Vote is the vote that an attempt ended with.
func (r Record) Vote(result approval.JudgeResult, of Choice) Vote {
	v := Vote{Result: result, Program: clip(r.Program, maxReason)}
	if r.Judgement == nil || len(r.Rounds) == 0 {
		return v
	}
	last := r.Rounds[len(r.Rounds)-1]
	v.Connection, v.Model, v.Evidence, v.Reason = of.Connection, clip(of.Model, maxReason), last.Cut.String(), r.Judgement.Reason
	for _, n := range []struct {
		said float64
		to   **float64
	}{{r.Judgement.Uncertainty, &v.Uncertainty}, {r.Judgement.Severity, &v.Severity}} {
		if !math.IsNaN(n.said) {
			*n.to = &n.said
		}
	}
	return v
}

// JSON is the vote as the document keeps it, "" where it cannot be written.
func (v Vote) JSON() string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
