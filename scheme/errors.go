package scheme

import (
	"errors"
	"fmt"
)

// Pos is a place in a program's text; lines and columns start at 1, columns
// count characters. The zero value is no place.
type Pos struct{ Line, Col int }

func (p Pos) String() string {
	if p.Line == 0 {
		return "-"
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Col)
}

// Error is how a program ends that does not end well.
type Error struct {
	Name    string // of the program, as given to Run
	Pos     Pos
	Message string
	// Raised is what was raised and nobody handled: a *Condition or any
	// other object. It is nil where the program was not accepted.
	Raised Value
	// Err is a limit ([ErrSteps], [ErrDepth], [ErrMemory]), the context's
	// error, or what a procedure of the host returned.
	Err error
}

func (e *Error) Error() string {
	if e.Pos.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Name, e.Message)
	}
	return fmt.Sprintf("%s:%s: %s", e.Name, e.Pos, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// The limits of a program. No program can catch them.
var (
	ErrSteps  = errors.New("the program took too many steps")
	ErrDepth  = errors.New("calls are nested too deeply")
	ErrMemory = errors.New("the program holds too much memory")
	ErrOutput = errors.New("the program wrote too much")
)

// fatal ends the program whatever handlers it has.
type fatal struct{ err error }

func (f fatal) Error() string { return f.err.Error() }
func (f fatal) Unwrap() error { return f.err }

// raised is an object on its way to a handler.
type raised struct {
	v           Value
	continuable bool
}

func (r raised) Error() string { return "raised " + brief(r.v) }

// syntaxError is a program that cannot be one.
type syntaxError struct {
	pos Pos
	msg string
}

func (s *syntaxError) Error() string { return s.msg }

// wrong makes the condition of a primitive that was used wrongly.
func wrong(format string, args ...any) error {
	for i, a := range args {
		if v, ok := a.(shown); ok {
			args[i] = brief(v.v)
		}
	}
	return raised{v: &Condition{Message: fmt.Sprintf(format, args...)}}
}

// shown is a value in a message.
type shown struct{ v Value }

// Brief writes a value so that it fits into a message.
func Brief(v Value) string { return brief(v) }

// brief writes a value so that it fits into a message.
func brief(v Value) string {
	s := []rune(writeLimited(v, 400, false))
	if len(s) > 80 {
		s = append(s[:77], '.', '.', '.')
	}
	return string(s)
}

func mismatch(who string, i int, want string, got Value) error {
	return wrong("%s: argument %d is %s, not %s", who, i+1, shown{got}, want)
}
