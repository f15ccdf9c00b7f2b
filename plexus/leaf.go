package plexus

import (
	"encoding/json"
	"fmt"
	"strings"

	"assent/approval"
)

// Leaf is the job as the law reads it, with the fields given in any order.
// RunsHatch is not stored (law §12): whoever knows the effects sets it.
func (j Job) Leaf(fields ...Field) (approval.Leaf, error) {
	kind, ok := approval.KindNamed(j.Kind)
	if !ok {
		return approval.Leaf{}, fmt.Errorf("%s: %w", j, ErrGeometry)
	}
	leaf := approval.Leaf{ID: j.ID, Kind: kind, Name: j.Name}
	if j.Arguments != "" {
		leaf.Arguments = []byte(j.Arguments)
	}
	attempt := 0
	for _, f := range fields {
		if err := f.on(&leaf, &attempt); err != nil {
			return approval.Leaf{}, fmt.Errorf("%s: %w", f, err)
		}
	}
	return leaf, nil
}

// on writes the field on the leaf. attempt is the latest of the classifier's
// failed ones that the leaf shows.
func (f Field) on(leaf *approval.Leaf, attempt *int) error {
	value := []byte(f.Value)
	text := func(to *approval.Text) error {
		var s string
		err := json.Unmarshal(value, &s)
		*to = approval.Written(s)
		return err
	}
	switch f.Name {
	case PolicyResult:
		return json.Unmarshal(value, &leaf.PolicyResult)
	case PolicyMessage:
		return text(&leaf.PolicyMessage)
	case Paths:
		return json.Unmarshal(value, &leaf.Paths)
	case JudgeResult:
		return json.Unmarshal(value, &leaf.JudgeResult)
	case Approved:
		return json.Unmarshal(value, &leaf.Approved)
	case ApprovalComment:
		return text(&leaf.ApprovalComment)
	case OrchestrationResult:
		return json.Unmarshal(value, &leaf.OrchestrationResult)
	case Cancelled:
		leaf.Cancelled = true
	case Completed:
		leaf.Completed = true
	case OutcomeJSON:
		leaf.OutcomeJSON = approval.Written(f.Value)
	}
	if n, ok := f.Attempt(); ok && n > *attempt {
		*attempt = n
		return text(&leaf.JudgeFailMessage)
	}
	return nil
}

// Attempt is n when the field is the classifier's n-th failed attempt.
func (f Field) Attempt() (n int, ok bool) {
	if !strings.HasPrefix(f.Name, "judgeFail/") {
		return 0, false
	}
	if _, err := fmt.Sscanf(f.Name, "judgeFail/%d", &n); err != nil {
		return 0, false
	}
	return n, true
}

// Leaf is a leaf of the snapshot as the law reads it.
func (s Snapshot) Leaf(job Job) (approval.Leaf, error) {
	fields := make([]Field, 0, len(s.Fields[job.ID]))
	for _, f := range s.Fields[job.ID] {
		fields = append(fields, f)
	}
	return job.Leaf(fields...)
}
