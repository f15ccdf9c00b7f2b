package plexus

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
)

// Rev is a place in the one order of commits, from 1. 0 is before everything.
type Rev int64

// Hash is the link of a row in the chain.
type Hash [32]byte

// String is the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes the hash in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// Stamp is what the store adds to a row. Whatever a [Tx] has there is ignored.
type Stamp struct {
	Rev    Rev
	Tx     Rev // rev of the first row written together with this one
	Writer Writer
	At     time.Time // in microseconds, UTC
	Hash   Hash
}

// Stamped is the stamp itself.
func (s Stamp) Stamped() Stamp { return s }

// Row is a [Session], [Job], [Field] or [Register]: what is written, and what
// is read back with its [Stamp].
type Row interface {
	Stamped() Stamp
	// In is the session the row belongs to, "" for the kernel.
	In() string
	// String names the row without its content.
	String() string
	stamped(Stamp) Row
}

// Session is a session and the facts that never change. ID is printable ASCII
// without spaces, as all ids are.
type Session struct {
	Stamp
	ID        string
	Seat      approval.Seat
	Client    string
	Workspace string // absolute, "" when unknown
	Cwd       string
	Home      string
	Parent    string // the session that started it, or ""
	Facts     string // a JSON object with whatever else the host knows, or ""
}

// The kinds of sequences (law §8). Those of leaves are the texts of
// [approval.Kind].
const (
	SessionTurn     = "SessionTurn"
	ProgrammaticJob = "ProgrammaticJob"
)

// Job is a leaf or a sequence. Siblings stand in the order of Ord, and of Rev
// where that is equal.
type Job struct {
	Stamp
	Session   string
	ID        string
	Parent    string // a sequence of the session, or ""
	Ord       int64
	Kind      string // "" is a foreign call
	Name      string // the tool, as the caller spells it
	Arguments string // a JSON object, or ""
	Facts     string // a JSON object: what the client said about the call beside its arguments, or ""
}

// Sequence reports whether the job holds others and has no votes (law §8).
func (j Job) Sequence() bool { return j.Kind == SessionTurn || j.Kind == ProgrammaticJob }

// Field is a field of a job, written once.
type Field struct {
	Stamp
	Session string
	Job     string
	Name    string
	Value   string // JSON
	Seen    Rev    // the view it was decided on; set by the store from the Tx
}

// Register is a revision of a register; the latest holds.
type Register struct {
	Stamp
	Session string // "" is the kernel
	Name    string
	Value   string // JSON
	Seen    Rev    // as in Field
}

func (s Session) In() string  { return s.ID }
func (j Job) In() string      { return j.Session }
func (f Field) In() string    { return f.Session }
func (r Register) In() string { return r.Session }

func (s Session) String() string { return "session " + s.ID }
func (j Job) String() string     { return "job " + j.Session + "/" + j.ID }
func (f Field) String() string   { return "field " + f.Session + "/" + f.Job + " " + f.Name }
func (r Register) String() string {
	if r.Session == "" {
		return "register " + r.Name
	}
	return "register " + r.Session + " " + r.Name
}

func (s Session) stamped(st Stamp) Row  { s.Stamp = st; return s }
func (j Job) stamped(st Stamp) Row      { j.Stamp = st; return j }
func (f Field) stamped(st Stamp) Row    { f.Stamp = st; return f }
func (r Register) stamped(st Stamp) Row { r.Stamp = st; return r }

// JudgeFail is the field of the classifier's n-th failed attempt, from 1.
func JudgeFail(n int) string { return "judgeFail/" + strconv.Itoa(n) }

// Text is a text as the value of a field or a register.
func Text(text string) string { return Value(text) }

// Bool is a truth value as the value of a field or a register.
func Bool(b bool) string { return strconv.FormatBool(b) }

// Value is a value as JSON. It panics for what has no JSON; texts, numbers,
// lists and structs of them always have. Bytes that are no UTF-8 are replaced.
func Value(v any) string {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(fmt.Sprintf("plexus: no value: %v", err))
	}
	return string(b)
}
