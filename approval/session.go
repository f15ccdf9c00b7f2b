package approval

// Session is what the law reads of a session (law §3, §6). The zero value is
// an interactive session in mode manual that granted nothing and lets a
// person cover the floor's denials.
type Session struct {
	// CurrentPolicy is the live mode: changing it answers every waiting leaf
	// anew (law §6).
	CurrentPolicy Mode
	// AutoAllow is the session's overlay of grants, StandingAutoAllow the
	// standing record. A flag in either is a grant.
	AutoAllow         Grants
	StandingAutoAllow Grants
	AutoCoverDeny     CoverDeny
	Seat              Seat
	// Workspace and Home are absolute paths, empty when unknown.
	Workspace string
	Home      string
	// Volumes are further absolute paths where file systems are mounted, and
	// where a workspace and a home that are links really are; they are fences
	// like the volume roots that show in a path's form (law §10).
	Volumes []string
	// ReadAllowlist holds the prepared paths that a person let this session
	// read outside the workspace (law §10).
	ReadAllowlist []string
}

// Grants are the clusters that may be granted (law §3). Read, web and comm
// cannot.
type Grants struct {
	Write bool `json:"write"`
	Bash  bool `json:"bash"`
	MCP   bool `json:"mcp"`
}

// CoverDeny is autoCoverDeny: whether a looking person, and not the
// classifier, answers the floor's denials in mode auto (law §3). The zero
// value is the law's default, on.
type CoverDeny uint8

// The two positions of autoCoverDeny.
const (
	Cover    CoverDeny = iota // true: a person answers
	Classify                  // false: the classifier answers
)

// CoverDenyOf is the position for the value on the wire.
func CoverDenyOf(on bool) CoverDeny {
	if on {
		return Cover
	}
	return Classify
}

// Seat says how the session was started, which is a fact of the session and
// not of who is connected now (law §3).
type Seat uint8

// The two seats.
const (
	Attended   Seat = iota // interactive: somebody is looking
	Unattended             // started by the eval client
)

// SeatOf is the seat for the value on the wire.
func SeatOf(attended bool) Seat {
	if attended {
		return Attended
	}
	return Unattended
}

// Looking reports whether the session is interactive (law §3).
func (s *Session) Looking() bool { return s.Seat == Attended }
