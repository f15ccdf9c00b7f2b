package kernel

import (
	"context"
	"testing"
	"time"

	"assent/approval"
	"assent/job"
	"assent/plexus"
)

// reads is a document that is still read.
type reads struct {
	*plexus.Store
	known chan struct{}
}

func (u *reads) Trusted(ctx context.Context) error {
	select {
	case <-u.known:
		return u.Store.Trusted(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (u *reads) Latest(ctx context.Context, id string) (map[string]plexus.Register, error) {
	if err := u.Trusted(ctx); err != nil {
		return nil, err
	}
	return u.Store.Latest(ctx, id)
}

func (u *reads) Open(ctx context.Context, id string) (plexus.Snapshot, error) {
	if err := u.Trusted(ctx); err != nil {
		return plexus.Snapshot{}, err
	}
	return u.Store.Open(ctx, id)
}

// A kernel over a large document is there before that was read whole, and takes
// it up when it was.
func TestALargeDocumentIsTakenUpWhenItWasRead(t *testing.T) {
	w := newWorld(t, Options{Registry: new(job.Registry)})
	w.session("s", "manual")
	w.admit(NewCall{Session: "s", ID: "waits", Name: "Bash", Arguments: bash("ask")}, hook)
	w.await("s", "waits", plexus.PolicyResult)
	w.stop()

	known := make(chan struct{})
	w.over = func(doc *plexus.Store) Document { return &reads{doc, known} }
	w.opts.After = func(d time.Duration, f func()) func() bool {
		if d == openWait {
			f()
			return func() bool { return false }
		}
		return time.AfterFunc(d, f).Stop
	}
	w.opts.Settings.AutoCoverDeny = approval.Classify // a setting that changed meanwhile
	w.start()
	if s := w.Status(); s.Sessions != 0 {
		t.Errorf("sessions are taken up that nobody has read: %+v", s)
	}
	if latest, err := w.doc.Latest(t.Context(), ""); err != nil || latest[plexus.AutoCoverDeny].Value != "" {
		t.Errorf("settings are written: %v, %v", latest, err)
	}
	close(known)
	if queue, err := w.Queue(t.Context(), "s", ""); err != nil || len(queue) != 1 {
		t.Errorf("queue: %v, %v", queue, err)
	}
	if latest, err := w.doc.Latest(t.Context(), ""); err != nil || latest[plexus.AutoCoverDeny].Value != plexus.False {
		t.Errorf("settings are not written: %v, %v", latest, err)
	}
	w.answer("s", "waits", true)
	w.await("s", "waits", plexus.OrchestrationResult)
}

// One that is closed before ends.
func TestAKernelThatNeverReadItsDocumentCloses(t *testing.T) {
	w := newWorld(t, Options{Registry: new(job.Registry)})
	w.stop()
	w.over = func(doc *plexus.Store) Document { return &reads{doc, make(chan struct{})} }
	w.opts.After = func(d time.Duration, f func()) func() bool {
		f()
		return func() bool { return false }
	}
	w.start()
}
