package session

import (
	"time"

	"assent/approval"
)

// Rev is a place in the one order of the document's commits. The first is 1.
type Rev int64

// JobID names a job of the session. "" is the session itself.
type JobID string

// Kind is a job's kind as the document spells it: one of the leaf kinds of
// law §8, a sequence, or "" for a call of a client's own.
type Kind string

// The sequences (law §8).
const (
	SessionTurn     Kind = "SessionTurn"
	ProgrammaticJob Kind = "ProgrammaticJob"
)

// Sequence reports whether jobs of this kind hold others and have no votes.
func (k Kind) Sequence() bool { return k == SessionTurn || k == ProgrammaticJob }

// Leaf is the law's kind. A spelling nobody knows is a foreign call: the floor
// runs, and no name makes it communication.
func (k Kind) Leaf() approval.Kind {
	kind, _ := approval.KindNamed(string(k))
	return kind
}

// Job is a row of the tree: minted once, never changed.
type Job struct {
	ID     JobID
	Parent JobID // a sequence, or "" for the session itself
	// Ord is the place among its siblings; where it is equal, the order in
	// which the rows came counts.
	Ord       int64
	Kind      Kind
	Name      string
	Arguments string // a JSON object, or "" for none
}

// Field is a vote or another write-once value of a job (law §2).
type Field struct {
	Job   JobID
	Name  string
	Value string // JSON
}

// The fields that this package reads or writes; the others of the document
// are none of its business. A failed attempt of the classifier is
// [JudgeFail] followed by its number, from 1.
const (
	PolicyResult        = "policyResult"
	PolicyMessage       = "policyMessage"
	Paths               = "paths"       // prepared paths, an array of texts
	Explanation         = "explanation" // the floor's, an object; its members hatch, ruled and names are read
	JudgeResult         = "judgeResult"
	Judgement           = "judgement" // of judgeResult, an object
	JudgeFail           = "judgeFail/"
	Approved            = "approved"
	ApprovalComment     = "approvalComment"
	OrchestrationResult = "orchestrationResult"
	LicenseReason       = "licenseReason" // the name of an approval.Reason
	Cancelled           = "cancelled"
	OutcomeJSON         = "outcomeJson"
	Completed           = "completed"
)

// Register is one revision of a value that changes (law §6).
type Register struct {
	// Kernel says that it is the kernel's own and not this session's.
	Kernel bool
	Name   string
	Value  string // JSON
	Rev    Rev    // 0 in a Save
}

// The registers that this package reads; of them it writes [ReadAllowlist].
const (
	StandingPolicy    = "standingPolicy"    // a mode, of the session
	Overlay           = "overlay/"          // a mode, of the turn that follows
	AutoAllow         = "autoAllow"         // grants and how long they hold, of the session
	StandingAutoAllow = "standingAutoAllow" // the same, of the kernel
	AutoCoverDeny     = "autoCoverDeny"     // of the kernel, or of the session, which goes first
	ReadAllowlist     = "readAllowlist"     // of the session: all keys, an array
)

// Rows are rows of the document that belong to one session, in the order they
// were committed, and the kernel's registers with them.
type Rows struct {
	// Upto is the rev that this is all of: no row that belongs to the session
	// and is not newer is missing, here or in what came before.
	Upto      Rev
	Jobs      []Job // parents before children
	Fields    []Field
	Registers []Register
}

// Facts are what never changes in a session, and what the time is.
type Facts struct {
	Seat      approval.Seat
	Workspace string
	Home      string
	// Volumes are further fences: what is mounted, and where the two above
	// really are (approval.Session.Volumes).
	Volumes []string
	// Now is the time when the machine is opened. Unknown, no grant holds that
	// ends (see [Time]).
	Now time.Time
}
