package prompt

import (
	"time"

	"assent/front/api/wire"
	"assent/front/card"
)

// Event is something that happened.
type Event interface{ event() }

// Key is a key that was pressed.
type Key struct {
	// Name is what is printed on it, or its name: "a", "?", "enter", "alt+s".
	Name string
	// Text is what it writes, "" for nothing.
	Text string
	// Repeat says that it is held down.
	Repeat bool
}

// Paste is a text that was pasted.
type Paste struct{ Text string }

// Size is how large the terminal is.
type Size struct{ Width, Height int }

// Tick is that time passed; it follows a [Wake].
type Tick struct{}

// Set are the settings, at the start and when they change.
type Set struct{ Settings }

// Up is that the kernel answers, and who the person is there.
type Up struct{ Name string }

// Down is that it does not.
type Down struct{ Err error }

// Changed are rows that were written.
type Changed struct{ Rows []wire.Row }

// Queue is an answer to [GetQueue].
type Queue struct {
	wire.Queue
	Err error
}

// Card is an answer to [GetCard].
type Card struct {
	Call  Call
	Job   wire.Job
	About card.About
	Err   error
}

// History is an answer to [GetHistory].
type History struct {
	Calls []wire.Call
	Err   error
}

// Sessions is an answer to [GetSessions].
type Sessions struct {
	Sessions []wire.Summary
	Err      error
}

// Wrote is what became of what was to be written.
type Wrote struct {
	What Order
	Err  error
	// Refused says that it cannot be written, now or later; Over that the call
	// is decided already. Neither says that it may or may not have arrived.
	Refused, Over bool
}

func (Key) event()      {}
func (Paste) event()    {}
func (Size) event()     {}
func (Tick) event()     {}
func (Set) event()      {}
func (Up) event()       {}
func (Down) event()     {}
func (Changed) event()  {}
func (Queue) event()    {}
func (Card) event()     {}
func (History) event()  {}
func (Sessions) event() {}
func (Wrote) event()    {}

// Order is something that is to be done.
type Order interface{ order() }

// Call names a call, beyond doubt: ids are for agents to choose, its number is not.
type Call struct {
	Session, Job string
	Number       wire.Rev
}

// The orders.
type (
	// GetQueue reads so many of the calls that wait.
	GetQueue struct{ Limit int }
	// GetCard reads all of a call, and what belongs to it.
	GetCard struct{ Call Call }
	// GetHistory reads how the last calls were decided.
	GetHistory struct{ Limit int }
	// GetSessions reads the sessions.
	GetSessions struct{}
	// Answer writes a person's answer, and the comment where there is one.
	Answer struct {
		Call    Call
		Yes     bool
		Comment string
	}
	// Open writes a folder into what the session may read and then a yes, together
	// (law §10).
	Open struct {
		Call   Call
		Folder string
	}
	// Grant writes a grant of the call's cluster and then a yes (law ruling 15).
	Grant struct {
		Call     Call
		Cluster  string
		Standing bool      // in all sessions
		Until    time.Time // zero for until it is taken back
	}
	// Uncover has the classifier answer what the floor denies in the session, and
	// not a person (law ruling 15).
	Uncover struct{ Call Call }
	// Assign sets the mode of a session.
	Assign struct{ Session, Mode string }
	// Cancel ends a call.
	Cancel struct{ Call Call }
	// Wake asks for a [Tick] at a time.
	Wake struct{ At time.Time }
	// Ring rings the bell of the terminal.
	Ring struct{}
	// Suspend stops the program until it is continued.
	Suspend struct{}
	// Quit ends the program.
	Quit struct{}
)

func (GetQueue) order()    {}
func (GetCard) order()     {}
func (GetHistory) order()  {}
func (GetSessions) order() {}
func (Answer) order()      {}
func (Open) order()        {}
func (Grant) order()       {}
func (Uncover) order()     {}
func (Assign) order()      {}
func (Cancel) order()      {}
func (Wake) order()        {}
func (Ring) order()        {}
func (Suspend) order()     {}
func (Quit) order()        {}

// Settings are what a person set for the prompt (law ruling 19).
type Settings struct {
	// Throttle is approvalAskThrottleMs: the time between two cards.
	Throttle time.Duration
	// SuperKey is the key that confirms what reaches beyond one call: one that is
	// held ("alt", "ctrl") or one of its own ("f9"). It is "alt" where none is set.
	SuperKey string
	// Bell rings for what begins to wait: a card that comes by itself, and a first
	// call while no card is seen.
	Bell bool
	// Plain is for a screen reader: what is new is said, and nothing is drawn.
	Plain bool
}
