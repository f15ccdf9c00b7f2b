package session

import (
	"time"

	"assent/approval"
)

// Event is what happens to a session. The set is closed.
type Event interface{ event() }

// Committed says that rows are in the document, whoever wrote them: whole
// transactions, in order. Rows up to a rev that was seen are ignored.
type Committed struct{ Rows }

// FloorDone is the floor's answer about a leaf (law §7). Policy is that of the
// action it answers.
type FloorDone struct {
	Job         JobID
	Policy      int
	Result      approval.PolicyResult
	Message     approval.Text
	Paths       []approval.Path
	Explanation string // a JSON object, "" for none
}

// FloorFailed says that the floor has no answer: a panic or an overrun. That
// is a block (law ruling 7).
type FloorFailed struct {
	Job     JobID
	Policy  int
	Message string
}

// PolicyReloaded says that the policies changed. Evaluations under way begin
// again under the new ones; results that are written stay (law §7).
type PolicyReloaded struct{}

// ClassifierDone is a finished vote (law §9). It may come when its attempt should not
// run any more: then it is kept beside what decided without it, and decides nothing.
type ClassifierDone struct {
	Job  JobID
	Vote approval.JudgeResult
	// Stopped says that the attempt was stopped before: it is none that runs now.
	Stopped bool
	// Judgement is who gave it and why, for the audit: a JSON object, "" for none.
	Judgement string
}

// ClassifierFailed is a failed attempt (law §9).
type ClassifierFailed struct {
	Job     JobID
	Attempt int
	Message string
}

// BodyDone says that a body ended, in whatever way, and with what outcome. It
// is also the answer of a body that was stopped.
type BodyDone struct {
	Job     JobID
	Outcome string // JSON
	// Note is what a body that was cut short had to tell: it stands in the
	// receipt of its leaf when that is cancelled. "" for nothing.
	Note string
}

// BodyTimeout says that a body was stopped at its time limit.
type BodyTimeout struct {
	Job   JobID
	Limit time.Duration
	Note  string // as in BodyDone
}

// CancelAsked asks to cancel a leaf, a sequence with all in it, or, with "",
// what is under way in the session. By is who asks, for the record alone.
type CancelAsked struct {
	Job JobID
	By  string
}

// Saved says that a save is durable.
type Saved struct {
	Save SaveID
	Rev  Rev // the rev of its last row
}

// Refused says that nothing of a save was written.
type Refused struct {
	Save    SaveID
	Why     Refusal
	Message string
}

// Time says what the time is. A host tells it before every other event, and
// when [Machine.Ends] has come: a grant that has ended covers nothing. Time that
// goes back is passed over.
type Time struct{ Now time.Time }

// Retry asks for what failed to be written once more (see [Failed]).
type Retry struct{}

func (Committed) event()        {}
func (FloorDone) event()        {}
func (FloorFailed) event()      {}
func (PolicyReloaded) event()   {}
func (ClassifierDone) event()   {}
func (ClassifierFailed) event() {}
func (BodyDone) event()         {}
func (BodyTimeout) event()      {}
func (CancelAsked) event()      {}
func (Saved) event()            {}
func (Refused) event()          {}
func (Retry) event()            {}
func (Time) event()             {}

// Refusal is why a save was refused.
type Refusal uint8

const (
	// Failed: the document cannot be written (a full disk), or the save is
	// wrong. The leaf rests, nothing of it is allowed, until [Retry].
	Failed Refusal = iota
	// Stale: rows stand against it that the machine had not seen. It decides
	// anew when it has.
	Stale
	// Ended: what it was decided on has ended (see [Save]). It decides anew.
	Ended
)
