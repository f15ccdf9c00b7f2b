package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/job"
	"assent/plexus"
	"assent/session"
)

// A sequence that this process knows how to go through ([job.Registry.RegisterSequence])
// begins as soon as it is minted, for it has no effect but the calls that it makes: these
// are leaves in it, with votes of their own. Nothing of where it stands is kept. After a
// restart it goes through from its beginning, and each call that it made before gives
// what became of that call.

// passing are the sequences that are gone through here.
type passing struct {
	mu sync.Mutex
	of map[plexus.JobName]bool // true once the document says that it is cancelled
}

// take is false where somebody has it.
func (p *passing) take(at plexus.JobName) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, on := p.of[at]; on {
		return false
	}
	if p.of == nil {
		p.of = make(map[plexus.JobName]bool)
	}
	p.of[at] = false
	return true
}

func (p *passing) cancel(at plexus.JobName) (on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, on = p.of[at]; on {
		p.of[at] = true
	}
	return on
}

func (p *passing) has(at plexus.JobName) (on, cancelled bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cancelled, on = p.of[at]
	return on, cancelled
}

func (p *passing) drop(at plexus.JobName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.of, at)
}

// goOn begins the sequences that an earlier life did not bring to their end.
func (k *Kernel) goOn() {
	var open []plexus.JobName
	err := k.persist(k.ctx, func() (err error) {
		open, err = k.Document.OpenSequences(k.ctx)
		return err
	})
	for _, at := range open {
		if err != nil || k.ending() {
			return
		}
		if snap, err := k.read(at); err == nil && k.Registry.Sequence(job.Kind(snap.Job.Kind), snap.Job.Name) != nil {
			k.pass(at, true)
		}
	}
}

// read reads a sequence, as soon as that can be done.
func (k *Kernel) read(at plexus.JobName) (snap plexus.JobSnapshot, err error) {
	err = k.persist(k.ctx, func() (err error) {
		snap, err = k.Document.Job(k.ctx, at.Session, at.Job)
		return err
	})
	return snap, err
}

// pass goes through a sequence, where nothing does already.
func (k *Kernel) pass(at plexus.JobName, resumed bool) {
	if !k.passing.take(at) {
		return
	}
	k.busy.Go(func() {
		snap, err := k.read(at)
		id := session.JobID(at.Job)
		if err != nil || ended(snap) || !k.bodies.Start(job.Call{
			Session: at.Session, Job: id, Kind: job.Kind(snap.Job.Kind), Name: snap.Job.Name, Arguments: []byte(snap.Job.Arguments), Resumed: resumed,
			Progress: func(text string) { k.Document.SetPresence(at.Session, progress(id), text) },
		}, 0) {
			k.passing.drop(at)
			return
		}
		if _, cancelled := k.passing.has(at); cancelled { // before it had begun
			k.bodies.Stop(at.Session, id)
		}
	})
}

// ended reports whether the document says that a sequence has ended, or ends.
func ended(snap plexus.JobSnapshot) bool {
	return slices.ContainsFunc([]string{plexus.Cancelled, plexus.OutcomeJSON, plexus.Completed}, func(name string) bool {
		_, there := snap.Fields[name]
		return there
	})
}

// passOver ends what goes through a sequence that is cancelled. The machine settles it.
func (k *Kernel) passOver(at plexus.JobName) {
	if k.passing.cancel(at) {
		k.bodies.Stop(at.Session, session.JobID(at.Job))
	}
}

// passed takes the outcome of a sequence; false where it is none's that is gone through
// here.
func (k *Kernel) passed(id string, ev session.Event) bool {
	done, ok := ev.(session.BodyDone)
	if !ok {
		return false
	}
	at := plexus.JobName{Session: id, Job: string(done.Job)}
	if on, _ := k.passing.has(at); !on {
		return false
	}
	defer k.passing.drop(at)
	k.Document.SetPresence(id, progress(done.Job), "")
	if !k.enter() { // what a closing kernel refused it is no outcome: the next life goes on
		return true
	}
	defer k.leave()
	outcome := done.Outcome
	if err := checkOutcome(outcome); err != nil {
		outcome = approval.ReceiptAborted("the outcome cannot be kept: " + err.Error()).String()
	}
	_ = k.persist(k.ctx, func() error { return k.conclude(at, outcome) })
	return true
}

// conclude settles a sequence that is not cancelled.
func (k *Kernel) conclude(at plexus.JobName, outcome string) error {
	for {
		snap, err := k.Document.Job(background, at.Session, at.Job)
		if err != nil || ended(snap) {
			return err
		}
		_, err = k.Document.Apply(background, plexus.Tx{Writer: k.host, Seen: snap.Rev, Writes: []plexus.Row{
			plexus.Field{Session: at.Session, Job: at.Job, Name: plexus.OutcomeJSON, Value: outcome},
			plexus.Field{Session: at.Session, Job: at.Job, Name: plexus.Completed, Value: plexus.True},
		}})
		if !errors.Is(err, plexus.ErrStale) && !refused(err) {
			return err
		}
	}
}

// persist does something with the document until that can be done: a full disk is a
// reason to wait. What the document refuses stays refused.
func (k *Kernel) persist(ctx context.Context, do func() error) error {
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		err := do()
		var refusal *plexus.Refusal
		switch {
		case err == nil, ctx.Err() != nil, errors.As(err, &refusal), errors.Is(err, plexus.ErrClosed), errors.Is(err, plexus.ErrTampered):
			return err
		}
		k.trouble(err)
		k.pause(ctx, wait)
	}
}

// ErrAnother: what has the id of a call is not that call. A sequence that goes through
// once more asks for something else than it did before, or somebody took the id.
var ErrAnother = errors.New("another call has its place: the program asked for something else before a restart")

// Inside makes a call in a sequence, once for each place in it, and waits until that is
// settled (law §8). The call is a leaf like any other. An error is of the host's and no
// answer to the call.
func (k *Kernel) Inside(ctx context.Context, of job.Call, c job.Inside) (job.Settled, error) {
	bag, err := k.Document.Job(ctx, of.Session, string(of.Job))
	if err != nil {
		return job.Settled{}, err
	}
	call := NewCall{
		Session: of.Session, ID: inside(of, c.Place), Parent: string(of.Job), Ord: c.Place, Kind: c.Kind, Name: c.Name, Arguments: c.Arguments,
		Facts: plexus.Value(insideFacts{Cwd: cwdIn(bag.Job.Facts), Line: c.Line, Column: c.Column}),
	}
	if _, err = k.Admit(ctx, call, k.host); errors.Is(err, plexus.ErrWritten) {
		err = k.sameCall(ctx, call)
	}
	if err != nil {
		return job.Settled{}, err
	}
	snap, err := k.Await(ctx, of.Session, call.ID)
	if err != nil {
		return job.Settled{}, err
	}
	settled := job.Settled{Outcome: jsontext.Value(snap.Fields[plexus.OutcomeJSON].Value)}
	settled.Refused = snap.Fields[plexus.OrchestrationResult].Value == plexus.False
	_, settled.Cancelled = snap.Fields[plexus.Cancelled]
	if f, ok := snap.Fields[plexus.ApprovalComment]; ok {
		settled.Comment = outcomeText(`{"text":` + f.Value + `}`)
	}
	return settled, nil
}

// sameCall says whether the job of a call's id is that call, of an earlier life.
func (k *Kernel) sameCall(ctx context.Context, c NewCall) error {
	snap, err := k.Document.Job(ctx, c.Session, c.ID)
	if err != nil {
		return err
	}
	j := snap.Job
	if j.Writer.Role != plexus.Host || j.Parent != c.Parent || j.Ord != c.Ord || j.Kind != string(c.Kind) || j.Name != c.Name || j.Arguments != string(c.Arguments) {
		return fmt.Errorf("call %d: %w", c.Ord, ErrAnother)
	}
	return nil
}

// insideFacts are those of a call in a sequence: where it starts, as the sequence does,
// and where in the text of a program it stands.
type insideFacts struct {
	Cwd    string `json:"cwd,omitzero"`
	Line   int    `json:"line,omitzero"`
	Column int    `json:"column,omitzero"`
}

// inside is the id of a call in a sequence: the same in every life.
func inside(of job.Call, place int64) string {
	const longest = 180 // of 200 that an id may have, the place is behind it
	id := string(of.Job)
	if len(id) > longest {
		id = mark(of)
	}
	return id + "." + strconv.FormatInt(place, 10)
}

// Await waits until a job is settled, whoever answers and runs it.
func (k *Kernel) Await(ctx context.Context, id, what string) (plexus.JobSnapshot, error) {
	err := k.do(ctx, id, func(o *owner) (*wait, error) {
		return &wait{
			about: func(session.JobID) bool { return false },
			done:  func() (bool, error) { return !o.m.Pending(session.JobID(what)), nil },
		}, nil
	})
	if err != nil {
		return plexus.JobSnapshot{}, err
	}
	return k.Document.Job(ctx, id, what)
}
