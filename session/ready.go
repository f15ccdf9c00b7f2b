package session

import (
	"fmt"
	"time"
)

// Ready is what a host has to do after a step. The package comment has the
// law of it.
type Ready struct {
	Stop    []Action
	Save    []Save
	Start   []Action
	Publish []Notice
}

// SaveID names a save of this life of a machine. The first is 1.
type SaveID int64

// Save is one transaction, written by the host.
type Save struct {
	ID SaveID
	// Seen is the rev of the view it was decided on, and 0 where it depends on
	// none (a receipt of a body is true whatever was written meanwhile).
	Seen Rev
	// Until is when what it was decided on ends, zero for never: from then on it
	// must be refused as Ended.
	Until     time.Time
	Fields    []Field    // in the order in which they are to be written
	Registers []Register // of the session
	// For is who asked for the cancelled that it writes, "" where nobody is known.
	For string
}

// Do is what an action does.
type Do uint8

// The actions. The zero value is none of them.
const (
	_ Do = iota
	// Floor judges the call. The host has few slots; actions come in the order
	// in which they should get one.
	Floor
	// Classify asks the classifier once the time After has passed.
	Classify
	// Body runs the call.
	Body
)

var doNames = [...]string{"nothing", "floor", "classify", "body"}

// String is the action in a word.
func (d Do) String() string {
	if int(d) < len(doNames) {
		return doNames[d]
	}
	return doNames[0]
}

// Action is something that runs for a leaf. Of each kind at most one runs for
// a leaf at a time. In [Ready.Stop] it ends what [Ready.Start] began.
type Action struct {
	Do  Do
	Job JobID
	// Policy counts the policies a floor's answer is asked of.
	Policy int
	// Attempt counts the classifier's, from 1.
	Attempt int
	// After is how long the classifier waits before it tries (law §9).
	After time.Duration
	// Resumed tells a body that it was not licensed by this life of the machine
	// and may have had its effect already.
	Resumed bool
}

// String is the action in a line.
func (a Action) String() string {
	s := fmt.Sprintf("%v %s", a.Do, a.Job)
	switch a.Do {
	case Floor:
		s += fmt.Sprintf(" policy=%d", a.Policy)
	case Classify:
		s += fmt.Sprintf(" attempt=%d", a.Attempt)
		if a.After > 0 {
			s += fmt.Sprintf(" after=%v", a.After)
		}
	case Body:
		if a.Resumed {
			s += " resumed"
		}
	}
	return s
}

// News is what a notice tells of a job.
type News uint8

// What there is to tell. The zero value tells nothing.
const (
	_ News = iota
	// Asked: a person is asked about the leaf.
	Asked
	// Unasked: a person is not asked any more.
	Unasked
	// Settled: the job is completed, and the machine forgets it.
	Settled
	// Stuck: what has to be written could not be; Message says why.
	Stuck
	// Unstuck: it could.
	Unstuck
)

var newsNames = [...]string{"nothing", "asked", "unasked", "settled", "stuck", "unstuck"}

// String is the news in a word.
func (n News) String() string {
	if int(n) < len(newsNames) {
		return newsNames[n]
	}
	return newsNames[0]
}

// Notice tells those who look at the session what became of a job. It follows
// from committed rows, but for Stuck, and is never needed to be correct.
type Notice struct {
	News    News
	Job     JobID
	Message string
}
