package kernel

import (
	"context"
	"time"

	"assent/approval"
	"assent/plexus"
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
	return look(ctx, k, id, func(o *owner) bool { return o.m.NeedsHuman(session.JobID(leaf)) })
}

// Prompt is what whoever is asked about a leaf should know beside it.
type Prompt struct {
	Opens []approval.Opened // what a yes opens for reading (law §10)
	Offer approval.Path     // the folder that may be offered, "" for none
	Retry time.Time         // when the classifier is asked again, zero where that is not planned
}

// Prompt is empty for a leaf about which nobody is asked.
func (k *Kernel) Prompt(ctx context.Context, id, leaf string) (Prompt, error) {
	return look(ctx, k, id, func(o *owner) (p Prompt) {
		job := session.JobID(leaf)
		p.Opens = o.m.Opens(job)
		p.Offer, _ = o.m.Offer(job)
		if v := o.voting[job]; v != nil && v.unasked == nil && v.began.IsZero() && o.m.NeedsHuman(job) {
			p.Retry = v.due
		}
		return p
	})
}

// Judging is what the classifier is about with a leaf.
type Judging struct {
	Attempt int // 0 where it is not asked
	// Due is when the attempt begins, Began since when it runs. Where it has neither it
	// begins now or, where Unasked is set, as soon as a connection was chosen.
	Due, Began time.Time
	Unasked    bool
	// Connection and Model are what is asked, "" where nothing is chosen.
	Connection, Model string
}

// Judging tells how it stands with the classifier and a leaf.
func (k *Kernel) Judging(ctx context.Context, id, leaf string) (Judging, error) {
	return look(ctx, k, id, func(o *owner) (j Judging) {
		v := o.voting[session.JobID(leaf)]
		if v == nil {
			return j
		}
		j.Attempt, j.Unasked, j.Began = v.attempt, v.unasked != nil, v.began
		if j.Began.IsZero() && !j.Unasked {
			j.Due = v.due
		}
		if k.judge != nil {
			if choice, err := o.chosen().Choose(k.judge.settings().Connections); err == nil {
				j.Connection, j.Model = choice.Connection, choice.Model
			}
		}
		return j
	})
}

// Queue is approvalQueue of a sequence, or of the session for "": the leaves
// under it that need a person, in tree order (law §8).
func (k *Kernel) Queue(ctx context.Context, id, under string) ([]string, error) {
	waiting, err := k.Waiting(ctx, id, under)
	return waiting.Leaves, err
}

// Waiting are the leaves of a session that need a person.
type Waiting struct {
	Agent  string     // whose the session is, "" for nobody's
	Made   plexus.Rev // of the session: the older is first
	Leaves []string   // in tree order
}

// Waiting is [Kernel.Queue], with the place of the session among the others.
func (k *Kernel) Waiting(ctx context.Context, id, under string) (Waiting, error) {
	return look(ctx, k, id, func(o *owner) Waiting {
		w := Waiting{Made: o.facts.Rev}
		if agent, ok := k.belongs.Load(id); ok {
			w.Agent = agent.(string)
		}
		for _, job := range o.m.Queue(session.JobID(under)) {
			w.Leaves = append(w.Leaves, string(job))
		}
		return w
	})
}

// View is what the law reads of a session now: its mode, grants and the rest.
func (k *Kernel) View(ctx context.Context, id string) (approval.Session, error) {
	return look(ctx, k, id, func(o *owner) approval.Session { return o.m.View() })
}

// look tells something of a session that is as all of the document says now.
func look[T any](ctx context.Context, k *Kernel, id string, what func(*owner) T) (T, error) {
	found := make(chan T, 1)
	err := k.do(ctx, id, func(o *owner) (*wait, error) {
		found <- what(o)
		return nil, nil
	})
	if err != nil {
		var none T
		return none, err
	}
	return <-found, nil
}
