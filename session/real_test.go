package session

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"assent/plexus"
)

// realDocument is the document as the host keeps it. What the one in memory
// says of a write, it has to say too.
type realDocument struct {
	testing.TB
	store *plexus.Store
	rev   plexus.Rev // of the last write
}

var (
	aHost   = plexus.Writer{Role: plexus.Host, Name: "host"}
	aPerson = plexus.Writer{Role: plexus.Human, Name: "person"}
)

const theSession = "s"

func openReal(t testing.TB, facts Facts) *realDocument {
	t.Helper()
	store, err := plexus.Open(filepath.Join(t.TempDir(), "document"), plexus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &realDocument{TB: t, store: store}
	if err := r.apply(aHost, 0, plexus.Session{ID: theSession, Seat: facts.Seat, Workspace: facts.Workspace, Home: facts.Home}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *realDocument) apply(by plexus.Writer, seen Rev, rows ...plexus.Row) error {
	rev, err := r.store.Apply(context.Background(), plexus.Tx{Writer: by, Seen: plexus.Rev(seen), Writes: rows})
	if err == nil {
		r.rev = rev
	}
	return err
}

func (r *realDocument) mint(j Job) error {
	return r.apply(aHost, 0, plexus.Job{
		Session: theSession, ID: string(j.ID), Parent: string(j.Parent), Ord: j.Ord,
		Kind: string(j.Kind), Name: j.Name, Arguments: j.Arguments,
	})
}

func rowsOf(registers []Register, fields []Field) (rows []plexus.Row) {
	for _, reg := range registers {
		row := plexus.Register{Session: theSession, Name: reg.Name, Value: reg.Value}
		if reg.Kernel {
			row.Session = ""
		}
		rows = append(rows, row)
	}
	for _, f := range fields {
		rows = append(rows, plexus.Field{Session: theSession, Job: string(f.Job), Name: f.Name, Value: f.Value})
	}
	return rows
}

// agree compares what the two say of a write.
func (r *realDocument) agree(err, memory error, rev Rev) {
	r.Helper()
	switch {
	case (err == nil) != (memory == nil), errors.Is(err, plexus.ErrStale) != errors.Is(memory, errStale),
		errors.Is(err, plexus.ErrWritten) != errors.Is(memory, errWritten):
		r.Errorf("the document says %v, the one in memory %v", err, memory)
	case err == nil && r.rev != plexus.Rev(rev):
		r.Errorf("the document is at %d, the one in memory at %d", r.rev, rev)
	}
}
