package remainder

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
)

// Threshold is g: an allow whose uncertainty times severity is above it is
// withheld (law §9).
const Threshold = 50

// Judgement is what a model answered. Decision is the only switch; uncertainty and
// severity say how sure it is, and how bad it would be to be wrong.
type Judgement struct {
	Decision approval.JudgeResult // none where more evidence is wanted
	Retrieve Scope                // the wider cut that is wanted, where there is no decision
	// Uncertainty and Severity are 0 to 10, NaN where a deny does not say them.
	Uncertainty, Severity float64
	Reason                string
}

// Withheld is an allow that is too uncertain for what is at stake.
type Withheld struct{ Judgement }

func (w *Withheld) Error() string {
	text := fmt.Sprintf("the model would allow it, with uncertainty %v and severity %v: %v is more than %d", w.Uncertainty, w.Severity, w.Uncertainty*w.Severity, Threshold)
	if w.Reason != "" {
		text += ". It says: " + w.Reason
	}
	return text
}

// said are the members of an answer. Those nobody knows, and those that come
// twice, are no answer.
type said struct {
	Decision    jsontext.Value `json:"decision"`
	Uncertainty jsontext.Value `json:"uncertainty"`
	Severity    jsontext.Value `json:"severity"`
	Retrieve    jsontext.Value `json:"retrieve"`
	Reason      jsontext.Value `json:"reason"`
}

// maxReason is how much of a model's reason is kept, in bytes.
const maxReason = 300

// Read reads an answer to a question with the evidence of a cut. The text must be
// one JSON object and nothing else. What it says is read strictly (law ruling 17):
// an allow needs both numbers, in their range, and is withheld above [Threshold]; a
// deny stands by itself, and nothing beside it lifts it; without a decision a wider
// cut must be named.
func Read(text string, cut Scope) (Judgement, error) {
	j := Judgement{Uncertainty: math.NaN(), Severity: math.NaN()}
	var s said
	if err := json.Unmarshal([]byte(text), &s, json.RejectUnknownMembers(true)); err != nil || !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return j, fmt.Errorf("the answer is not the JSON that was asked for: %s", brief(text))
	}
	j.Reason = reasonOf(s.Reason)
	if absent(s.Decision) {
		return j, j.retrieve(s.Retrieve, cut)
	}
	decision, ok := textOf(s.Decision)
	switch {
	case ok && decision == "deny":
		j.Decision = approval.JudgeDeny
		j.Uncertainty, _ = number("uncertainty", s.Uncertainty)
		j.Severity, _ = number("severity", s.Severity)
		return j, nil
	case ok && decision == "allow":
	default:
		return j, fmt.Errorf("the answer decides %s, and only allow and deny are decisions", brief(string(s.Decision)))
	}
	u, errU := number("uncertainty", s.Uncertainty)
	v, errV := number("severity", s.Severity)
	if err := errors.Join(errU, errV); err != nil {
		return j, fmt.Errorf("the answer allows it, but %w", errOf(errU, errV))
	}
	j.Uncertainty, j.Severity = u, v
	if u*v > Threshold {
		return j, &Withheld{j}
	}
	j.Decision = approval.JudgeAllow
	return j, nil
}

func errOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// retrieve takes the wish for a wider cut.
func (j *Judgement) retrieve(v jsontext.Value, cut Scope) error {
	name, ok := textOf(v)
	if !ok {
		return errors.New("the answer neither decides nor names more evidence")
	}
	wider, ok := ScopeNamed(name)
	if !ok {
		return fmt.Errorf("the answer asks for evidence that there is not: %s", brief(name))
	}
	if wider <= cut {
		return fmt.Errorf("the answer asks for the evidence %s, and has %s", wider, cut)
	}
	j.Retrieve = wider
	return nil
}

func absent(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }

func textOf(v jsontext.Value) (string, bool) {
	if absent(v) || v.Kind() != '"' {
		return "", false
	}
	var text string
	return text, json.Unmarshal(v, &text) == nil
}

func reasonOf(v jsontext.Value) string {
	text, _ := textOf(v)
	return clip(strings.Join(strings.Fields(text), " "), maxReason)
}

// number reads a judgement.
func number(name string, v jsontext.Value) (float64, error) {
	switch {
	case absent(v):
		return math.NaN(), fmt.Errorf("says no %s", name)
	case v.Kind() != '0':
		return math.NaN(), fmt.Errorf("its %s is no number", name)
	}
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil || !(n >= 0 && n <= 10) {
		return math.NaN(), fmt.Errorf("its %s is %s, and not from 0 to 10", name, brief(string(v)))
	}
	return n, nil
}
