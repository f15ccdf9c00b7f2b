package remainder

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Model is a connection to a model, with the model to ask on it chosen. Many
// may ask at a time.
type Model interface {
	// Complete asks once: nothing is tried again behind its back, the law has its
	// own schedule. It ends soon after ctx does, or after the request's Timeout,
	// whatever the other end does. An error is a [*Failure], or has ctx's cause
	// when ctx ended.
	Complete(ctx context.Context, r Request) (Answer, error)
}

// Request is what a model is asked.
type Request struct {
	// System is the instruction. It holds nothing that an agent, a file or a
	// server wrote.
	System   string
	Messages []Message
	// MaxTokens bounds the answer. An answer that ends there is a Truncated
	// failure.
	MaxTokens int
	// Timeout is how long all of it may take, 0 for as long as ctx lives.
	Timeout time.Duration
	// JSON says that one JSON object is wanted: a connection that can hold a model
	// to that does, any other leaves it to the instruction.
	JSON bool
}

// Role is who speaks in a message.
type Role uint8

// The roles of a message.
const (
	User Role = iota
	Assistant
)

// Message is a turn of the conversation with the model.
type Message struct {
	Role  Role
	Parts []Part
}

// Part is a piece of a message: one content block on the wire, never merged with
// another one. A quarantined part comes with its own marks in Text; the field is
// for those who show what was sent.
type Part struct {
	Text        string
	Quarantined bool
}

// Answer is what a model said, whole.
type Answer struct {
	Text string
	// Model is which one answered, as the other end calls it; tokens are as it
	// counts them, 0 where it does not say.
	Model               string
	InTokens, OutTokens int
}

// Cause is why a model gave no answer. The zero value is a reason nobody knows.
type Cause uint8

// The causes.
const (
	Broken      Cause = iota // anything else
	Unconnected              // there is no such connection, or it has no model or no key
	Unreachable              // no connection came about
	Refused                  // the key is not accepted: 401, 403
	Status                   // another status than success
	Overloaded               // too much is asked of it at this time: 429, 503, 529
	Slow                     // Timeout passed
	Cut                      // the connection ended in the middle of the answer
	Truncated                // the answer ended at MaxTokens
	Declined                 // the other end would not answer this
	Unreadable               // the reply is not what its API says
)

var causes = [...]string{
	Broken:      "it failed",
	Unconnected: "there is no connection",
	Unreachable: "it cannot be reached",
	Refused:     "the key is not accepted",
	Status:      "it answered with an error",
	Overloaded:  "it is overloaded",
	Slow:        "it took too long",
	Cut:         "the connection was cut in the middle of the answer",
	Truncated:   "the answer is longer than it may be",
	Declined:    "it declined to answer",
	Unreadable:  "the reply cannot be read",
}

// String says the cause in words.
func (c Cause) String() string {
	if int(c) < len(causes) {
		return causes[c]
	}
	return causes[Broken]
}

// Failure is why a model gave no answer.
type Failure struct {
	Cause Cause
	// Connection is the name of the connection.
	Connection string
	// Code is the status of HTTP, 0 where there was none.
	Code int
	// Detail is what the other end or the system said to that, short, without any
	// part of a key; "" for nothing.
	Detail string
	Err    error
}

func (f *Failure) Error() string {
	text := f.Cause.String()
	if f.Connection != "" {
		text = fmt.Sprintf("connection %s: %s", f.Connection, text)
	}
	if f.Code != 0 {
		text += fmt.Sprintf(" (HTTP %d)", f.Code)
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}

func (f *Failure) Unwrap() error { return f.Err }

// CauseOf is the cause of an error of a [Model].
func CauseOf(err error) Cause {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Cause
	}
	return Broken
}

// Connections are the connections that a person set up (config.json).
type Connections interface {
	// Connect gives a model of a connection. No name of a model is the one that the
	// connection's own setting names. An error is a [*Failure]: Unconnected where
	// there is no such connection, no model or no key. It does no I/O but reading
	// the key.
	Connect(ctx context.Context, connection, model string) (Model, error)
	// Setting is the connection's own setting of a model, and whether there is such
	// a connection.
	Setting(connection string) (model string, ok bool)
}
