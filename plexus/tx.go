package plexus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Tx is a list of writes that are applied all or none, in their order.
type Tx struct {
	Writer Writer
	// Seen is the rev of the view that the writes were decided on, 0 when they
	// hold on any. A field is refused with [ErrStale] when a person's field of
	// its job, its cancelled, or a register of its session or of the kernel
	// came after Seen; a register when another register did. What the same Tx
	// wrote is not newer. orchestrationResult needs it.
	Seen Rev
	// Writes are values of [Session], [Job], [Field] and [Register].
	Writes []Row
}

// licenses reports whether something begins with the Tx.
func (tx *Tx) licenses() bool {
	return slices.ContainsFunc(tx.Writes, func(w Row) bool {
		f, ok := w.(Field)
		return ok && f.begins()
	})
}

// begins reports whether something may begin with the field: a license, a body, or
// the yes of a person.
func (f Field) begins() bool {
	return f.Name == OrchestrationResult || f.Name == BodyStarted || f.Name == Approved && f.Value == True
}

// Refusal is the error of a Tx that the engine refused; it wraps one of the
// sentinels.
type Refusal struct {
	Row Row // the write that was refused
	Why error
}

func (r *Refusal) Error() string { return r.Row.String() + ": " + r.Why.Error() }

// Unwrap is the sentinel.
func (r *Refusal) Unwrap() error { return r.Why }

// check refuses what the engine could not say as well: text that is none, and
// halves of what is only written whole.
func (tx *Tx) check() error {
	if len(tx.Writes) == 0 {
		return ErrEmpty
	}
	if tx.Writer.Role == Nobody || tx.Writer.Name == "" {
		return fmt.Errorf("writer %q: %w", tx.Writer, ErrRole)
	}
	if err := clean(tx.Writer.Name); err != nil {
		return fmt.Errorf("writer %q: %w", tx.Writer, err)
	}
	for _, row := range tx.Writes {
		var err error
		switch r := row.(type) {
		case Session:
			err = clean(r.ID, r.Client, r.Workspace, r.Cwd, r.Home, r.Parent, r.Facts)
		case Job:
			err = clean(r.Session, r.ID, r.Parent, r.Kind, r.Name, r.Arguments, r.Facts)
		case Field:
			err = clean(r.Session, r.Job, r.Name, r.Value)
			// completed alone ends what was torn: the engine asks for the outcome.
			if err == nil && r.Name == OutcomeJSON && !slices.ContainsFunc(tx.Writes, func(w Row) bool {
				f, ok := w.(Field)
				return ok && f.Session == r.Session && f.Job == r.Job && f.Name == Completed
			}) {
				err = ErrApart
			}
		case Register:
			err = clean(r.Session, r.Name, r.Value)
		default:
			return fmt.Errorf("a write of type %T: %w", row, ErrValue)
		}
		if err != nil {
			return &Refusal{Row: row, Why: err}
		}
	}
	return nil
}

var errText = errors.New("text that is not UTF-8, or has a NUL in it")

// clean refuses text whose length SQLite and Go would not agree about.
func clean(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return fmt.Errorf("%w: %w", ErrValue, errText)
		}
	}
	return nil
}
