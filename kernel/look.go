package kernel

import (
	"context"

	"assent/approval"
	"assent/session"
)

// Load is what a session has to do.
type Load struct {
	Unsettled int // leaves
	Asking    int // leaves that need a person
}

// Loads are those of all sessions that have anything to do.
func (k *Kernel) Loads() map[string]Load {
	k.mu.Lock()
	defer k.mu.Unlock()
	loads := make(map[string]Load, len(k.owners))
	for id, o := range k.owners {
		loads[id] = Load{Unsettled: int(o.unsettled.Load()), Asking: int(o.asking.Load())}
	}
	return loads
}

// NeedsHuman reports whether a person is asked about the leaf now (law §4).
func (k *Kernel) NeedsHuman(ctx context.Context, id, leaf string) (bool, error) {
	found := make(chan bool, 1)
	err := k.do(ctx, id, "", func(o *owner) (func() (bool, error), error) {
		l, open := o.m.Leaf(session.JobID(leaf))
		found <- open && approval.NeedsHuman(l, o.m.View())
		return nil, nil
	})
	if err != nil {
		return false, err
	}
	return <-found, nil
}
