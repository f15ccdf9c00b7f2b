package job

import "github.com/go-json-experiment/json/jsontext"

// Inside is a call that a sequence makes while it runs.
type Inside struct {
	// Place is the place among the calls of the sequence, from 1. It names the call:
	// whoever asks for the same place again, after a restart, gets what became of it.
	Place     int64
	Kind      Kind
	Name      string
	Arguments jsontext.Value // an object, or empty for none
	// Line and Column are where in the text of a program the call stands, from 1; 0
	// for nowhere.
	Line, Column int
}

// Settled is what became of a call that was waited for.
type Settled struct {
	Outcome jsontext.Value
	// Refused: the guard returned false. Cancelled: nobody refused it, and its body
	// may have begun.
	Refused, Cancelled bool
	// Comment is what a person said to it, "" for nothing.
	Comment string
}
