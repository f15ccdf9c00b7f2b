package approval

import (
	"encoding/json"
	"errors"
	"math"
	"time"
)

// Term is how long a grant of one cluster holds (law §3, §6). The zero value is
// no grant.
type Term int64 // the second of Unix time at which it ends

// The two terms without an end: no grant, and one until it is taken back.
const (
	Never   Term = 0
	Endless Term = math.MaxInt64
)

// Until is a grant that ends at a time: a part of a second is left off.
func Until(end time.Time) Term {
	if s := end.Unix(); s > 0 && s < int64(Endless) {
		return Term(s)
	}
	return Never
}

// termLayout is the one spelling of an end: the document's engine knows it too.
const termLayout = "2006-01-02T15:04:05Z"

// End is when the grant ends; ok is false for none and for one without an end.
func (t Term) End() (end time.Time, ok bool) {
	if t <= Never || t == Endless {
		return time.Time{}, false
	}
	return time.Unix(int64(t), 0).UTC(), true
}

// Holds reports whether the grant holds at a time. At an unknown time, the zero
// one, nothing that ends holds.
func (t Term) Holds(now time.Time) bool {
	end, ends := t.End()
	return t == Endless || ends && !now.IsZero() && now.Before(end)
}

// MarshalJSON writes false, true, or when it ends.
func (t Term) MarshalJSON() ([]byte, error) {
	if end, ok := t.End(); ok {
		return []byte(`"` + end.Format(termLayout) + `"`), nil
	}
	if t == Endless {
		return []byte("true"), nil
	}
	return []byte("false"), nil
}

var errTerm = errors.New(`a grant is true, false, or a time at which it ends, as in "2006-01-02T15:04:05Z"`)

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Term) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true":
		*t = Endless
		return nil
	case "false":
		*t = Never
		return nil
	}
	var text string
	if json.Unmarshal(b, &text) != nil {
		return errTerm
	}
	end, err := time.Parse(termLayout, text)
	if err != nil || end.Format(termLayout) != text || Until(end) == Never {
		return errTerm
	}
	*t = Until(end)
	return nil
}

// Terms are grants as they were given. What holds of them at a time are [Grants].
type Terms struct {
	Write Term `json:"write"`
	Bash  Term `json:"bash"`
	MCP   Term `json:"mcp"`
}

// TermsOf are grants without an end.
func TermsOf(g Grants) Terms {
	of := func(on bool) Term {
		if on {
			return Endless
		}
		return Never
	}
	return Terms{of(g.Write), of(g.Bash), of(g.MCP)}
}

// At are those that hold at a time.
func (t Terms) At(now time.Time) Grants {
	return Grants{t.Write.Holds(now), t.Bash.Holds(now), t.MCP.Holds(now)}
}

// Of is the term of a cluster: of those that cannot be granted it is none.
func (t *Terms) Of(c Cluster) Term {
	switch c {
	case Write:
		return t.Write
	case Bash:
		return t.Bash
	case MCP:
		return t.MCP
	}
	return Never
}

// Next is when the first of them ends that holds at a time, zero for never.
func (t Terms) Next(now time.Time) (next time.Time) {
	for _, term := range [...]Term{t.Write, t.Bash, t.MCP} {
		if end, ok := term.End(); ok && term.Holds(now) && (next.IsZero() || end.Before(next)) {
			next = end
		}
	}
	return next
}
