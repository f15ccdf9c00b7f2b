package approval

// PolicyResult is what the floor said about a call (law §2). The zero value
// says nothing: the floor has not spoken, and the call waits.
type PolicyResult uint8

// The results, from the loosest to the strictest (law §11).
const (
	None  PolicyResult = iota // not yet evaluated
	Allow                     // runs in every mode
	Ask                       // no rule applies, or the rule defers (law ruling 14)
	Deny                      // remainder that is refused unless somebody lifts it
	Block                     // refused in every mode; nothing lifts it
)

var policyResultNames = []string{"", "allow", "ask", "deny", "block"}

// ParsePolicyResult reads a result by its name on the wire.
func ParsePolicyResult(name string) (PolicyResult, error) {
	return parseName[PolicyResult]("result", policyResultNames, name)
}

// String is the name on the wire, and "none" for the zero value.
func (r PolicyResult) String() string { return nameOf(policyResultNames, r, "none") }

// MarshalJSON writes the name, and null for [None].
func (r PolicyResult) MarshalJSON() ([]byte, error) { return marshalName(policyResultNames, r) }

// UnmarshalJSON reads a name or null.
func (r *PolicyResult) UnmarshalJSON(b []byte) error {
	return unmarshalName("result", policyResultNames, b, r)
}

// Stricter reports whether r binds more than other:
// block > deny > ask > allow > not evaluated (law §11).
func (r PolicyResult) Stricter(other PolicyResult) bool { return r > other }

// Join is the stricter of the two (law §11). [None] is its neutral element,
// so joining nothing at all is still "not evaluated".
func (r PolicyResult) Join(other PolicyResult) PolicyResult { return max(r, other) }

// Remainder reports whether the floor left the answer to the session's mode
// (law §1): ask or deny.
func (r PolicyResult) Remainder() bool { return r == Ask || r == Deny }
