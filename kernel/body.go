package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/job"
	"assent/plexus"
	"assent/session"
)

// running is a body of this process: it is about to begin, or begun.
type running struct {
	stop  context.CancelFunc // keeps it from beginning
	begun bool
}

// call is a leaf as guards and bodies get to know it.
func (o *owner) call(leaf approval.Leaf) job.Call {
	cwd, really := o.facts.Cwd, o.really.cwd
	if own, ok := o.cwds[session.JobID(leaf.ID)]; ok {
		cwd, really = own.cwd, own.really
	}
	return job.Call{
		Session: o.id, Workspace: o.facts.Workspace, Cwd: cwd, Home: o.facts.Home, RealWorkspace: o.really.workspace, RealCwd: really,
		Job: session.JobID(leaf.ID), Kind: job.Kind(leaf.Kind.String()), Name: leaf.Name,
		Arguments: leaf.Arguments, Paths: leaf.Paths,
	}
}

// body begins what a licensed leaf asks for. orchestrationResult=true is in
// the document: the machine has seen it committed. That the body begins is
// written down, durably, before it does: a later life that finds no such word
// knows that nothing has happened.
func (o *owner) body(a session.Action) {
	leaf, ok := o.m.Leaf(a.Job)
	if !ok {
		return
	}
	call := o.call(leaf)
	if _, here := o.k.Registry.Lookup(call.Kind, call.Name); !here {
		o.external[a.Job] = true
		return
	}
	call.Resumed, call.Begun, call.Shown = a.Resumed, o.begun[a.Job], o.shown[a.Job]
	call.Progress = func(text string) { o.k.Document.SetPresence(o.id, progress(a.Job), text) }
	ctx, stop := context.WithCancel(o.k.ctx)
	r := &running{stop: stop}
	o.running[a.Job] = r
	o.k.busy.Go(func() {
		err := o.k.begin(ctx, call)
		o.later(func() {
			stopped := ctx.Err() != nil
			stop()
			switch {
			case o.k.ending():
			case stopped:
				o.ended(session.BodyDone{Job: a.Job, Outcome: approval.ReceiptCancelled.String()})
			case err != nil:
				o.ended(session.BodyDone{Job: a.Job, Outcome: approval.ReceiptAborted("it could not begin: " + err.Error()).String()})
			default:
				r.begun = true
				o.k.bodies.Start(call, o.k.Limit(call.Kind, call.Name))
			}
		})
	})
}

func progress(id session.JobID) string { return Progress + string(id) }

// stopBody ends a body, or takes a license back from a client.
func (o *owner) stopBody(id session.JobID) {
	switch r := o.running[id]; {
	case r == nil && o.external[id]:
		// Its client sees in the document that it is cancelled.
		delete(o.external, id)
		o.later(func() { o.step(session.BodyDone{Job: id, Outcome: approval.ReceiptCancelled.String()}) })
	case r == nil:
	case r.begun:
		o.k.bodies.Stop(o.id, id)
	default:
		r.stop()
	}
}

// bodyEnded is called by the starter for a body that came to its end.
func (k *Kernel) bodyEnded(id string, ev session.Event) {
	if k.passed(id, ev) {
		return
	}
	k.post(id, false, func(o *owner) { o.ended(ev) })
}

func (o *owner) ended(ev session.Event) {
	var id session.JobID
	switch e := ev.(type) {
	case session.BodyDone:
		if err := checkOutcome(e.Outcome); err != nil {
			e.Outcome = approval.ReceiptAborted("the outcome cannot be kept: " + err.Error()).String()
			ev = e
		}
		id = e.Job
	case session.BodyTimeout:
		id = e.Job
	}
	delete(o.running, id)
	o.k.Document.SetPresence(o.id, progress(id), "")
	o.step(ev)
}

// begin writes down that a body begins. While the disk is full, it waits.
func (k *Kernel) begin(ctx context.Context, call job.Call) error {
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		_, err := k.Document.Apply(background, plexus.Tx{Writer: k.host, Writes: []plexus.Row{
			plexus.Field{Session: call.Session, Job: string(call.Job), Name: plexus.BodyStarted, Value: plexus.True},
		}})
		var refusal *plexus.Refusal
		switch {
		case err == nil, errors.Is(err, plexus.ErrWritten) && call.Resumed:
			return nil
		case errors.As(err, &refusal), errors.Is(err, plexus.ErrClosed):
			return err
		}
		k.trouble(err)
		k.pause(ctx, wait)
	}
}

// maxOutcome is how long an outcome may be, in bytes.
const maxOutcome = 16 << 20

func checkOutcome(outcome string) error {
	value := jsontext.Value(outcome)
	switch {
	case len(outcome) > maxOutcome:
		return fmt.Errorf("it has %d bytes, %d are the most: %w", len(outcome), maxOutcome, ErrTooLarge)
	case !value.IsValid():
		return fmt.Errorf("it is not JSON: %w", plexus.ErrValue)
	case value.Kind() == 'n':
		return fmt.Errorf("null is no outcome: %w", plexus.ErrValue)
	}
	return nil
}

// Errors of an external leaf.
var (
	// ErrNotLicensed: there is no license, or not any more.
	ErrNotLicensed = errors.New("not licensed")
	// ErrNotExternal: the kernel runs the body itself.
	ErrNotExternal = errors.New("the kernel runs this call itself")
	// ErrBegun: somebody began it already.
	ErrBegun = errors.New("already begun")
)

// Begin claims a licensed external leaf for the client that is about to run
// it: once, durably, so that of two that try only one runs it. A client that
// does not need that may run the call as soon as it sees the license.
func (k *Kernel) Begin(ctx context.Context, id, leaf string, by plexus.Writer) error {
	if err := k.MayReport(ctx, id, leaf, by); err != nil {
		return err
	}
	err := k.having(id, by, func() error {
		_, err := k.Document.Apply(ctx, plexus.Tx{Writer: k.host, Writes: []plexus.Row{
			plexus.Field{Session: id, Job: leaf, Name: plexus.BodyStarted, Value: plexus.True},
		}})
		return err
	})
	switch {
	case errors.Is(err, plexus.ErrWritten):
		return fmt.Errorf("%s: %w", leaf, ErrBegun)
	case errors.Is(err, plexus.ErrCancelled), errors.Is(err, plexus.ErrCompleted):
		return fmt.Errorf("%s: %w", leaf, ErrNotLicensed)
	}
	return err
}

// Report settles a licensed external leaf with the outcome its client had
// (law §7: the host writes it). An agent reports on what it minted and nothing
// else, and an outcome that it has no room for is not kept (quota.go). On return it
// is durable.
func (k *Kernel) Report(ctx context.Context, id, leaf, outcome string, by plexus.Writer) error {
	if err := checkOutcome(outcome); err != nil {
		return err
	}
	which := session.JobID(leaf)
	outcome, done := k.keepable(outcome, by)
	defer done()
	return k.do(ctx, id, func(o *owner) (*wait, error) {
		if err := o.mayReport(which, by); err != nil {
			return nil, err
		}
		delete(o.external, which)
		o.step(session.BodyDone{Job: which, Outcome: outcome})
		return &wait{
			about: func(job session.JobID) bool { return job == which },
			done: func() (bool, error) {
				_, open := o.m.Leaf(which)
				return !open, nil
			},
		}, nil
	})
}

// MayReport says why a report on a leaf would be refused as things stand now.
func (k *Kernel) MayReport(ctx context.Context, id, leaf string, by plexus.Writer) error {
	return k.do(ctx, id, func(o *owner) (*wait, error) {
		return nil, o.mayReport(session.JobID(leaf), by)
	})
}

func (o *owner) mayReport(leaf session.JobID, by plexus.Writer) error {
	minter, open := o.minters[leaf]
	switch {
	case by.Role == plexus.Nobody, by.Role == plexus.Agent && open && minter != by:
		return fmt.Errorf("report on %s: %w", leaf, plexus.ErrRole)
	case !open:
		return fmt.Errorf("%s: %w (no such leaf, or settled)", leaf, ErrNotLicensed)
	case o.running[leaf] != nil:
		return fmt.Errorf("%s: %w", leaf, ErrNotExternal)
	case !o.external[leaf]:
		return fmt.Errorf("%s: %w", leaf, ErrNotLicensed)
	}
	return nil
}
