package kernel

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/floor"
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
	// TakeUp: whoever asks for the very same again may wait for this one, claim it,
	// or have its no. A license is taken up where a person gave it, not longer than
	// [TicketLasts] ago, and where the policies of now do not block the call; a
	// license by a mode, a grant or the classifier ends with whoever waited for it.
	TakeUp bool
}

// TicketLasts is how long a person's answer waits for an agent that did not.
const TicketLasts = 24 * time.Hour

// maxSame is how many are told at most: the oldest ones.
const maxSame = 100

// Same finds the open leaves of whoever asks, and those that a person refused when
// nobody waited any longer, that are calls of the same tool with
// the same arguments, and start in the same folder where one is named, the oldest
// first: the same words do another thing elsewhere. A client whose time was over before a
// person answered finds by it the call that was answered since, and claims that
// with [Kernel.Begin]: once, and nothing but what the person saw, to the last
// character.
func (k *Kernel) Same(ctx context.Context, id, name string, arguments []byte, cwd string, by plexus.Writer) ([]SameCall, error) {
	if by.Role != plexus.Agent && by.Role != plexus.Human {
		return nil, plexus.ErrRole
	}
	if climbs(cwd) { // cleaned it would be another
		return nil, fmt.Errorf("cwd %q: %w", cwd, ErrPlace)
	}
	registers, err := k.Document.Latest(ctx, id)
	if err != nil { // no such session
		return nil, err
	}
	want := compact(arguments)
	wanted := sum(sha256.Sum256(want))
	asked := make(map[session.JobID]floor.Call)
	folders := make(map[session.JobID]lies)
	var at string // where a call of the session starts that does not say so
	ids, err := look(ctx, k, id, func(o *owner) (ids []session.JobID) {
		at = o.facts.Cwd
		for job, minter := range o.minters {
			leaf, ok := o.m.Leaf(job)
			// No arguments are read here: others wait for the owner.
			if !ok || o.sums[job] != wanted || minter != by || leaf.Name != name || cwd != "" && o.call(leaf).Cwd != filepath.Clean(cwd) {
				continue
			}
			ids = append(ids, job)
			asked[job], folders[job] = o.asked(leaf)
		}
		return ids
	})
	if err != nil {
		return nil, err
	}
	calls, err := k.refusedLate(ctx, id, registers, func(j plexus.Job) bool {
		return j.Writer == by && j.Name == name && bytes.Equal(compact([]byte(j.Arguments)), want) &&
			(cwd == "" || filepath.Clean(cmp.Or(cwdIn(j.Facts), at)) == filepath.Clean(cwd))
	})
	if err != nil {
		return nil, err
	}
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
		_, judged := snap.Fields[plexus.PolicyResult]
		switch {
		case call.Begun:
		case call.Decided == nil:
			call.TakeUp = !judged || !k.blocks(ctx, asked[job], folders[job])
		default:
			call.TakeUp = *call.Decided && k.fresh(snap, plexus.True) && !k.blocks(ctx, asked[job], folders[job])
		}
		calls = append(calls, call)
	}
	slices.SortFunc(calls, func(a, b SameCall) int { return cmp.Compare(a.Number, b.Number) })
	return calls[:min(len(calls), maxSame)], nil
}

// fresh: a person gave that answer, and not too long ago.
func (k *Kernel) fresh(snap plexus.JobSnapshot, answer string) bool {
	f, ok := snap.Fields[plexus.Approved]
	return ok && f.Value == answer && k.time().Sub(f.At) < TicketLasts
}

// judgedAgain is how many calls are judged once more at the same time.
const judgedAgain = 2

// blocks: the policies in force now block a call, or it cannot be told that they do
// not. The vote of its leaf stays what it was.
func (k *Kernel) blocks(ctx context.Context, call floor.Call, really lies) bool {
	select {
	case k.again <- struct{}{}:
		defer func() { <-k.again }()
	case <-ctx.Done():
		return true
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer k.After(k.JudgeLimit, cancel)()
	v, _, err := k.evaluate(ctx, call, really)
	return err != nil || ctx.Err() != nil || v.Result == approval.Block
}

// left are the calls of a session for which nobody waited any longer and whose
// answer nobody has heard since, the oldest first.
var left = plexus.HostRegister("left")

// maxLeft is how many of them are kept of a session: the newest.
const maxLeft = 64

func leftIn(registers map[string]plexus.Register) (ids []string, err error) {
	if r, ok := registers[left]; ok {
		err = json.Unmarshal([]byte(r.Value), &ids)
	}
	return ids, err
}

// refusedLate are calls that a person said no to when nobody waited for it.
func (k *Kernel) refusedLate(ctx context.Context, id string, registers map[string]plexus.Register, same func(plexus.Job) bool) (calls []SameCall, err error) {
	ids, err := leftIn(registers)
	if err != nil {
		return nil, err
	}
	for _, job := range ids {
		snap, err := k.Document.Job(ctx, id, job)
		if err != nil {
			return nil, err
		}
		_, done := snap.Fields[plexus.Completed]
		if done && same(snap.Job) && snap.Fields[plexus.OrchestrationResult].Value == plexus.False && k.fresh(snap, plexus.False) {
			no := false
			calls = append(calls, SameCall{ID: job, Number: int64(snap.Job.Rev), Decided: &no, TakeUp: true})
		}
	}
	return calls, nil
}

// Leave says that whoever asked for a call waits no longer: a no that comes later
// is told by [Kernel.Same] until it is heard ([Kernel.Heard]).
func (k *Kernel) Leave(ctx context.Context, id, leaf string, by plexus.Writer) error {
	return k.leaves(ctx, id, leaf, by, func(ids []string) []string {
		ids = append(slices.DeleteFunc(ids, func(i string) bool { return i == leaf }), leaf)
		return ids[max(0, len(ids)-maxLeft):]
	})
}

// Heard says that the answer to a call that was left has reached its agent. Of two
// that hear it one is the first; the other gets [ErrBegun].
func (k *Kernel) Heard(ctx context.Context, id, leaf string, by plexus.Writer) error {
	return k.leaves(ctx, id, leaf, by, func(ids []string) []string {
		return slices.DeleteFunc(ids, func(i string) bool { return i == leaf })
	})
}

func (k *Kernel) leaves(ctx context.Context, id, leaf string, by plexus.Writer, change func([]string) []string) error {
	if !k.enter() {
		return ErrClosed
	}
	defer k.leave()
	snap, err := k.Document.Job(ctx, id, leaf)
	switch {
	case err != nil:
		return err
	case by.Role == plexus.Nobody, by.Role == plexus.Agent && snap.Job.Writer != by:
		return plexus.ErrRole
	}
	k.leaving.Lock()
	defer k.leaving.Unlock()
	registers, err := k.Document.Latest(ctx, id)
	if err != nil {
		return err
	}
	ids, err := leftIn(registers)
	if err != nil {
		return err
	}
	was := slices.Clone(ids)
	ids = change(ids)
	switch known := slices.Contains(was, leaf); {
	case !slices.Equal(was, ids):
	case known:
		return nil
	default:
		return fmt.Errorf("%s: %w", leaf, ErrBegun)
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	done, err := k.allot(by, plexus.Stored{Bytes: int64(len(text))})
	if err != nil {
		return err
	}
	defer done()
	_, err = k.Document.Apply(ctx, plexus.Tx{Writer: k.host.For(by), Writes: []plexus.Row{
		plexus.Register{Session: id, Name: left, Value: string(text)},
	}})
	return err
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
