package kernel

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"assent/plexus"
	"assent/session"
)

// SameCall is an open leaf that asks for the very same as another call.
type SameCall struct {
	ID     string
	Number int64 // of its row
	// Decided is what the guard returned, nil while it has not.
	Decided *bool
	// Begun: somebody claimed it already.
	Begun bool
}

// maxSame is how many are told at most: the oldest ones.
const maxSame = 100

// Same finds the open leaves of whoever asks that are calls of the same tool with
// the same arguments, and start in the same folder where one is named, the oldest
// first: the same words do another thing elsewhere. A client whose time was over before a
// person answered finds by it the call that was answered since, and claims that
// with [Kernel.Begin]: once, and nothing but what the person saw, to the last
// character.
func (k *Kernel) Same(ctx context.Context, id, name string, arguments []byte, cwd string, by plexus.Writer) ([]SameCall, error) {
	if by.Role != plexus.Agent && by.Role != plexus.Human {
		return nil, plexus.ErrRole
	}
	if _, err := k.Document.Latest(ctx, id); err != nil { // no such session
		return nil, err
	}
	want := compact(arguments)
	ids, err := look(ctx, k, id, func(o *owner) (ids []session.JobID) {
		for job, minter := range o.minters {
			leaf, ok := o.m.Leaf(job)
			if !ok || minter != by || leaf.Name != name || cwd != "" && o.call(leaf).Cwd != filepath.Clean(cwd) {
				continue
			}
			if bytes.Equal(compact(leaf.Arguments), want) {
				ids = append(ids, job)
			}
		}
		return ids
	})
	if err != nil {
		return nil, err
	}
	var calls []SameCall
	for _, job := range ids {
		snap, err := k.Document.Job(ctx, id, string(job))
		switch {
		case errors.Is(err, plexus.ErrNoJob):
			continue
		case err != nil:
			return nil, err
		}
		_, done := snap.Fields[plexus.Completed]
		_, cancelled := snap.Fields[plexus.Cancelled]
		if done || cancelled {
			continue // meanwhile
		}
		call := SameCall{ID: snap.Job.ID, Number: int64(snap.Job.Rev)}
		if f, ok := snap.Fields[plexus.OrchestrationResult]; ok {
			yes := f.Value == plexus.True
			call.Decided = &yes
		}
		_, call.Begun = snap.Fields[plexus.BodyStarted]
		calls = append(calls, call)
	}
	slices.SortFunc(calls, func(a, b SameCall) int { return cmp.Compare(a.Number, b.Number) })
	return calls[:min(len(calls), maxSame)], nil
}

// compact is a JSON text without its blanks: what is left is compared, so that
// nothing that a reader might take differently is taken as the same.
func compact(arguments []byte) []byte {
	v := jsontext.Value(slices.Clone(arguments))
	if len(v) == 0 {
		return []byte("{}")
	}
	if v.Compact() != nil {
		return arguments
	}
	return v
}
