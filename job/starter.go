package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"assent/approval"
	"assent/session"
)

// Starter runs bodies, each on its own, and reports how they ended. Start and
// Stop never wait for a body; every body ends before Close returns.
type Starter struct {
	registry *Registry
	report   func(session string, ev session.Event)

	mu      sync.Mutex
	running map[place]context.CancelCauseFunc
	closed  bool
	bodies  sync.WaitGroup
}

type place struct {
	session string
	job     session.JobID
}

var (
	errStopped  = errors.New("stopped")
	errTooLong  = errors.New("time limit")
	errShutDown = errors.New("the host shuts down")
)

// NewStarter is a starter of the registry's bodies. Report is called once for
// every body that was started and ended, from the body's own goroutine; it
// must not wait for the starter. It is not called for a body that Close cut
// short: that call is not settled, and comes back as resumed in the next life.
func NewStarter(registry *Registry, report func(session string, ev session.Event)) *Starter {
	return &Starter{registry: registry, report: report, running: make(map[place]context.CancelCauseFunc)}
}

// Start runs the body of a call that is licensed in the document, or goes through a
// sequence. It reports
// false, and runs nothing, where the call is external, runs already, or the
// starter is closed. A limit of 0 is none.
func (s *Starter) Start(call Call, limit time.Duration) bool {
	body := s.registry.runs(call.Kind, call.Name)
	if body == nil {
		return false
	}
	at := place{call.Session, call.Job}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.running[at] != nil {
		return false
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	s.running[at] = cancel
	s.bodies.Go(func() {
		ev := session.Event(aborted(call, errExit))
		defer func() { // also when the body ends its goroutine
			s.mu.Lock()
			delete(s.running, at)
			s.mu.Unlock()
			cancel(nil)
			if ev != nil {
				s.report(call.Session, ev)
			}
		}()
		ev = run(ctx, body, call, limit)
	})
	return true
}

// Stop tells the body of a leaf to end. That it has ended is reported. False
// where none runs.
func (s *Starter) Stop(session string, job session.JobID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel := s.running[place{session, job}]
	if cancel == nil {
		return false
	}
	cancel(errStopped)
	return true
}

// Running counts the bodies that run.
func (s *Starter) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running)
}

// Close tells every body to end and waits for them.
func (s *Starter) Close() {
	s.mu.Lock()
	s.closed = true
	for _, cancel := range s.running {
		cancel(errShutDown)
	}
	s.mu.Unlock()
	s.bodies.Wait()
}

// run is one body, from its start to the event that tells of its end: nil where
// it did not come to its end because the host shuts down.
func run(ctx context.Context, body Body, call Call, limit time.Duration) session.Event {
	if limit > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeoutCause(ctx, limit, errTooLong)
		defer end()
	}
	outcome, err := contained(ctx, body, call)
	note := ""
	if cut, ok := errors.AsType[*Cut](err); ok {
		note = cut.Note
	}
	switch {
	case err != nil && context.Cause(ctx) == errShutDown:
		return nil
	case err != nil && context.Cause(ctx) == errTooLong:
		return session.BodyTimeout{Job: call.Job, Limit: limit, Note: note}
	case err != nil:
		ev := aborted(call, err)
		ev.Note = note
		return ev
	case len(outcome) == 0:
		outcome = Text("")
	}
	return session.BodyDone{Job: call.Job, Outcome: string(outcome)}
}

func aborted(call Call, err error) session.BodyDone {
	return session.BodyDone{Job: call.Job, Outcome: approval.ReceiptAborted(err.Error()).String()}
}

// contained keeps a panic of a body from ending the host.
func contained(ctx context.Context, body Body, call Call) (outcome Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			outcome, err = nil, fmt.Errorf("the body of %s panicked: %v", call.Name, p)
		}
	}()
	return body(ctx, call)
}
