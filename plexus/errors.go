package plexus

import (
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"

	"assent/approval"
)

// Why a write is refused. Nothing of its Tx was written.
var (
	// ErrWritten: the field, job or session is there already.
	ErrWritten = approval.ErrWritten
	// ErrCompleted: completed is the host's last write (law §2).
	ErrCompleted = approval.ErrCompleted
	// ErrCancelled: nothing starts on what is cancelled (law ruling 4).
	ErrCancelled = approval.ErrCancelled
	// ErrFloorFirst: a person's true waits for the floor (law ruling 2).
	ErrFloorFirst = approval.ErrFloorFirst
	// ErrBlocked: a person's true never lifts a block (law ruling 2).
	ErrBlocked = approval.ErrBlocked

	// ErrRole: not for this role to write.
	ErrRole = errors.New("not for this role to write")
	// ErrStale: somebody spoke since the view the write was decided on.
	ErrStale = errors.New("decided on an old view")
	// ErrNoSession: there is no such session.
	ErrNoSession = errors.New("no such session")
	// ErrNoJob: there is no such job.
	ErrNoJob = errors.New("no such job")
	// ErrName: there is no field or register of that name there.
	ErrName = errors.New("no such name")
	// ErrValue: the field cannot hold this.
	ErrValue = errors.New("not a value for it")
	// ErrGeometry: a sequence has no votes, a leaf no children (law §8).
	ErrGeometry = errors.New("not on a job of this kind")
	// ErrApart: fields that are only written together came apart.
	ErrApart = errors.New("only together with what it belongs to")
	// ErrUnlicensed: the votes do not say what the guard returned, or the body
	// has no true (law §4, §7).
	ErrUnlicensed = errors.New("the votes do not license it")
	// ErrUndecided: only a guard or cancelling settles a leaf (law ruling 4).
	ErrUndecided = errors.New("neither decided nor cancelled")
	// ErrAdmitted: an unattended session keeps the mode it was admitted with
	// (law §6).
	ErrAdmitted = errors.New("an unattended session keeps its mode")
	// ErrImmutable: rows are neither changed nor deleted.
	ErrImmutable = errors.New("rows never change")
	// ErrOrder: the row does not follow the last one. Only writing past the
	// store can do that.
	ErrOrder = errors.New("the row does not follow the last one")
	// ErrEmpty: a Tx without writes.
	ErrEmpty = approval.ErrEmpty
)

// Why the document cannot be used.
var (
	// ErrFull: the disk or the file's limit is full. Nothing was written;
	// later writes may succeed.
	ErrFull = errors.New("the disk is full")
	// ErrReadOnly: the file may not be written. Nothing was written.
	ErrReadOnly = errors.New("the document is read-only")
	// ErrDisk: the disk failed, and what it did with the write cannot be told.
	// The store takes no more writes; opening it anew shows what is there.
	ErrDisk = errors.New("the disk failed")
	// ErrMemory: there is not enough memory for what was asked. Of the document it
	// says nothing.
	ErrMemory = errors.New("there is not enough memory")
	// ErrBusy: somebody else holds the file for writing. Nothing was written.
	ErrBusy = errors.New("somebody else is writing to the file")
	// ErrLocked: another process, or another store of this one, has it open.
	ErrLocked = errors.New("the document is open already")
	// ErrSchema: the file is no document of this version, or its rules were
	// tampered with.
	ErrSchema = errors.New("not a document with these rules")
	// ErrClosed: the store is closed.
	ErrClosed = errors.New("the document is closed")
)

// words are the refusals of the schema.
var words = map[string]error{
	"written":     ErrWritten,
	"completed":   ErrCompleted,
	"cancelled":   ErrCancelled,
	"floor first": ErrFloorFirst,
	"blocked":     ErrBlocked,
	"role":        ErrRole,
	"stale":       ErrStale,
	"no session":  ErrNoSession,
	"no job":      ErrNoJob,
	"name":        ErrName,
	"value":       ErrValue,
	"geometry":    ErrGeometry,
	"apart":       ErrApart,
	"unlicensed":  ErrUnlicensed,
	"undecided":   ErrUndecided,
	"admitted":    ErrAdmitted,
	"immutable":   ErrImmutable,
	"order":       ErrOrder,
}

// Primary result codes of SQLite (sqlite.org/rescode.html).
const (
	codeError      = 1
	codeBusy       = 5
	codeLocked     = 6
	codeNoMemory   = 7
	codeReadOnly   = 8
	codeIOErr      = 10
	codeCorrupt    = 11
	codeFull       = 13
	codeCantOpen   = 14
	codeTooBig     = 18
	codeConstraint = 19
	codeMismatch   = 20
	codeNotADB     = 26

	codeNoRoom = codeIOErr | 19<<8 // the file of shared memory cannot grow
)

// translate is the sentinel for an error of the engine, wrapped around what it
// said. refused means that only the statement failed.
func translate(err error) (_ error, refused bool) {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err, false
	}
	said := e.Error()
	if _, after, ok := strings.Cut(said, "assent: "); ok {
		for word, sentinel := range words {
			if rest, ok := strings.CutPrefix(after, word); ok && (rest == "" || rest[0] == ' ' && rest[1] == '(') {
				return sentinel, true
			}
		}
	}
	if sentinel, refused := sentinelOf(e.Code(), said); sentinel != nil {
		return sentinel, refused
	}
	return err, false
}

// sentinelOf is what a code of the engine means, nil for nothing that callers tell
// apart.
func sentinelOf(code int, said string) (_ error, refused bool) {
	wrap := func(sentinel error) error { return fmt.Errorf("%w (%s)", sentinel, said) }
	switch code & 0xff {
	case codeError:
		if strings.Contains(said, "malformed JSON") {
			return ErrValue, true
		}
	case codeConstraint, codeMismatch, codeTooBig:
		return wrap(ErrValue), true
	case codeBusy, codeLocked:
		return wrap(ErrBusy), false
	case codeNoMemory:
		return wrap(ErrMemory), false
	case codeReadOnly:
		return wrap(ErrReadOnly), false
	case codeFull:
		return ErrFull, false // it says the same
	case codeIOErr:
		if code == codeNoRoom {
			said += ": there may be no room for the file that it keeps beside the document"
		}
		return wrap(ErrDisk), false
	case codeCorrupt, codeCantOpen:
		return wrap(ErrDisk), false
	case codeNotADB:
		return wrap(ErrSchema), false
	}
	return nil, false
}
