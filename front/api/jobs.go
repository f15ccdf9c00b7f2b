package api

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/wire"
	"assent/job"
	"assent/kernel"
	"assent/plexus"
)

func postJob(s *Server, c *call) error {
	var in wire.NewJob
	if err := c.in(&in); err != nil {
		return err
	}
	if _, err := s.admitting(c); err != nil {
		return err
	}
	row, err := s.opts.Kernel.Admit(c, kernel.NewCall{
		Session: c.session(), ID: in.ID, Parent: in.Parent, Ord: in.Ord, Kind: job.Kind(in.Kind), Name: in.Name,
		Arguments: in.Arguments, Facts: string(in.Facts),
	}, c.by)
	if err != nil {
		return err
	}
	s.awaiting.asks(row, s.opts.Now())
	c.answer = jobRowOf(row)
	return nil
}

// postSame finds open calls of whoever asks that are the same as one they describe.
func postSame(s *Server, c *call) error {
	var in wire.Same
	if err := c.in(&in); err != nil {
		return err
	}
	if err := job.CheckArguments(in.Arguments); err != nil {
		return err
	}
	calls, err := s.opts.Kernel.Same(c, c.session(), in.Name, in.Arguments, in.Cwd, c.by)
	if err != nil {
		return err
	}
	answer := wire.SameCalls{Calls: make([]wire.SameCall, len(calls))}
	for i, found := range calls {
		answer.Calls[i] = wire.SameCall{ID: found.ID, Number: found.Number, OrchestrationResult: found.Decided, BodyStarted: found.Begun, TakeUp: found.TakeUp}
	}
	c.answer = answer
	return nil
}

// postHold is admitting a call, waiting for a moment, and beginning it, in one
// request: most calls are decided by the floor at once, and whoever hands in each in
// a process of its own pays for every question. What is not decided soon is waited
// for with getReceipt and claimed with postBegin, so that nothing is claimed for
// somebody who may have gone meanwhile.
func postHold(s *Server, c *call) error {
	var in wire.Hold
	if err := c.in(&in); err != nil {
		return err
	}
	if err := job.CheckArguments(in.Arguments); err != nil {
		return err
	}
	if _, err := s.admitting(c); err != nil {
		return err
	}
	same, err := s.opts.Kernel.Same(c, c.session(), in.Name, in.Arguments, in.Cwd, c.by)
	if err != nil {
		return err
	}
	for {
		leaf := ""
		for _, found := range same {
			if !found.TakeUp {
				continue
			}
			if found.Decided != nil && !*found.Decided { // a no is told once
				err := s.opts.Kernel.Heard(c, c.session(), found.ID, c.by)
				if errors.Is(err, kernel.ErrBegun) {
					continue
				}
				if err != nil {
					return err
				}
			}
			leaf = found.ID
			break
		}
		same = nil // what another claims meanwhile is not looked for again
		if leaf == "" {
			call := kernel.NewCall{Session: c.session(), ID: in.ID, Name: in.Name, Arguments: in.Arguments, Facts: string(in.Facts)}
			row, err := s.opts.Kernel.Admit(c, call, c.by)
			if errors.Is(err, plexus.ErrWritten) && in.ID != "" { // a call is never answered twice
				call.ID = ""
				row, err = s.opts.Kernel.Admit(c, call, c.by)
			}
			if err != nil {
				return err
			}
			s.awaiting.asks(row, s.opts.Now())
			leaf = row.ID
		}
		c.r.SetPathValue("job", leaf) // from here on it is about that one
		if err := s.receipt(c, decided, min(soon, s.opts.Limits.Wait)); err != nil {
			return err
		}
		receipt := c.answer.(wire.Receipt)
		held := wire.Held{Receipt: receipt}
		if yes := receipt.OrchestrationResult; yes != nil && *yes && receipt.Completed == nil && receipt.Cancelled == nil {
			if err := c.Err(); err != nil { // nobody hears it
				return err
			}
			switch err := s.opts.Kernel.Begin(c, c.session(), leaf, c.by); {
			case errors.Is(err, kernel.ErrBegun):
				continue
			case err != nil:
				return err
			}
			held.Begun = true
		}
		c.answer = held
		return nil
	}
}

// soon is how long a call is held in the request that admits it.
const soon = 2 * time.Second

func getJob(s *Server, c *call) error {
	snap, err := s.opts.Document.Job(c, c.session(), c.job())
	if err != nil {
		return err
	}
	needs := false
	if _, done := snap.Fields[plexus.Completed]; !done && !snap.Job.Sequence() {
		if needs, err = s.opts.Kernel.NeedsHuman(c, c.session(), c.job()); err != nil {
			return err
		}
	}
	if needs {
		// What it is asked for may have been written since, such as an attempt of the
		// classifier: who is shown the call is shown that.
		if snap, err = s.opts.Document.Job(c, c.session(), c.job()); err != nil {
			return err
		}
		for _, name := range []string{plexus.Approved, plexus.OrchestrationResult, plexus.Cancelled, plexus.Completed} {
			_, over := snap.Fields[name]
			needs = needs && !over
		}
	}
	w := jobOf(snap.Job, snap.Fields, needs)
	if needs {
		prompt, err := s.opts.Kernel.Prompt(c, c.session(), c.job())
		if err != nil {
			return err
		}
		for _, o := range prompt.Opens {
			w.Leaf.Opens = append(w.Leaf.Opens, wire.Opened{Path: string(o.Path), Below: o.Below})
		}
		w.Leaf.Offer = string(prompt.Offer)
		if !prompt.Retry.IsZero() {
			w.Leaf.JudgeRetry = &prompt.Retry
		}
	}
	if l := w.Leaf; l != nil && l.Completed == nil && !l.Orchestrated && l.JudgeResult == nil {
		if l.Judging, err = s.judging(c); err != nil {
			return err
		}
	}
	if w.Leaf != nil {
		if w.Leaf.Grant, err = s.grantOf(c, snap); err != nil {
			return err
		}
		runs, err := s.runsOf(c, snap.Job.Session)
		if err != nil {
			return err
		}
		w.Leaf.Ran = runs[plexus.JobName{Session: snap.Job.Session, Job: snap.Job.ID}]
	}
	c.answer = w
	return nil
}

// judging is what the classifier is about with the job of the path, nil for nothing.
func (s *Server) judging(c *call) (*wire.Judging, error) {
	j, err := s.opts.Kernel.Judging(c, c.session(), c.job())
	if err != nil || j.Attempt == 0 {
		return nil, err
	}
	w := &wire.Judging{Attempt: j.Attempt, State: "unasked", Connection: j.Connection, Model: j.Model}
	switch {
	case !j.Began.IsZero():
		w.State, w.At = "asks", &j.Began
	case !j.Unasked:
		w.State, w.At = "waits", &j.Due
	}
	return w, nil
}

// own is the job of the path. To an agent a job that it did not mint is none.
// What is read may be large, so an agent waits for its turn, and keeps that
// until the answer is written where it was.
func (s *Server) own(c *call) (plexus.JobSnapshot, error) {
	if err := c.turn(); err != nil {
		return plexus.JobSnapshot{}, err
	}
	snap, err := s.opts.Document.Job(c, c.session(), c.job())
	if size(snap) < large {
		c.done()
	}
	if c.by.Role == plexus.Human {
		return snap, err
	}
	if errors.Is(err, plexus.ErrNoSession) || err == nil && snap.Job.Writer != c.by {
		err = plexus.ErrNoJob
	}
	return snap, err
}

// size is about how many bytes a job has.
func size(snap plexus.JobSnapshot) int {
	n := len(snap.Job.Arguments) + len(snap.Job.Facts)
	for _, f := range snap.Fields {
		n += len(f.Value)
	}
	return n
}

// briefSize is about how many bytes a job in a list has, with what is told of each
// field.
func briefSize(snap plexus.JobSnapshot) int {
	const each = 256
	return size(snap) + each*(2+len(snap.Fields))
}

// The moments that a receipt is waited for.
const (
	decided = "decided" // the guard has returned, or the call was cancelled
	settled = "settled" // completed
)

func getReceipt(s *Server, c *call) error {
	until := c.query.Get("wait")
	switch until {
	case "", decided, settled:
	default:
		return problem(wire.BadRequest, "query parameter wait: want %s or %s", decided, settled)
	}
	return s.receipt(c, until, s.opts.Limits.Wait)
}

// receipt answers with the receipt of the job of the path, once it is so far or the
// wait is over.
func (s *Server) receipt(c *call, until string, wait time.Duration) error {
	snap, err := s.own(c)
	if err != nil {
		return err
	}
	if snap.Job.Sequence() {
		return plexus.ErrGeometry
	}
	goes := s.awaiting.comes(c.session(), c.job(), s.opts.Now())
	defer func() { goes(s.opts.Now()) }()
	reached := func() bool {
		_, returned := snap.Fields[plexus.OrchestrationResult]
		_, cancelled := snap.Fields[plexus.Cancelled]
		_, completed := snap.Fields[plexus.Completed]
		return completed || until != settled && (returned || cancelled)
	}
	if until != "" && !reached() {
		c.done() // others have their turn while this one waits
		ctx, cancel := context.WithTimeout(c, wait)
		defer cancel()
		for rows, err := range s.opts.Document.Watch(ctx, snap.Rev, plexus.Filter{Session: c.session()}) {
			if err != nil {
				if c.Err() != nil || ctx.Err() == nil {
					return err
				}
				break // long enough: it is told how it stands
			}
			for _, row := range rows {
				if f, ok := row.(plexus.Field); ok && f.Session == c.session() && f.Job == c.job() {
					snap.Fields[f.Name] = f
				}
			}
			if reached() {
				break
			}
		}
	}
	if size(snap) >= large {
		if err := c.turn(); err != nil {
			return err
		}
	}
	f, needs := snap.Fields, false
	if !reached() {
		if needs, err = s.opts.Kernel.NeedsHuman(c, c.session(), c.job()); err != nil {
			return err
		}
	}
	var by *string
	if asked, ok := f[plexus.Cancelled].Writer.Asked(); ok {
		role := asked.Role.String()
		by = &role
	}
	c.answer = wire.Receipt{
		CancelledBy: by,
		Session:     snap.Job.Session, Job: snap.Job.ID, Number: wire.Rev(snap.Job.Rev),
		PolicyResult:        read[string](f, plexus.PolicyResult),
		PolicyMessage:       read[string](f, plexus.PolicyMessage),
		ApprovalComment:     read[string](f, plexus.ApprovalComment),
		NeedsHuman:          needs,
		OrchestrationResult: read[bool](f, plexus.OrchestrationResult),
		LicenseReason:       read[string](f, plexus.LicenseReason),
		BodyStarted:         read[bool](f, plexus.BodyStarted),
		Cancelled:           read[bool](f, plexus.Cancelled),
		Completed:           read[bool](f, plexus.Completed),
		OutcomeJSON:         value(f, plexus.OutcomeJSON),
	}
	return nil
}

func postCancel(s *Server, c *call) error {
	if _, err := s.own(c); err != nil {
		return err
	}
	if err := s.opts.Kernel.Cancel(c, c.session(), c.job(), c.by); err != nil {
		return err
	}
	return s.wrote(c)
}

func postBegin(s *Server, c *call) error {
	if _, err := s.own(c); err != nil {
		return err
	}
	if err := s.opts.Kernel.Begin(c, c.session(), c.job(), c.by); err != nil {
		return err
	}
	return s.wrote(c)
}

func postLeave(s *Server, c *call) error { return s.leaves(c, s.opts.Kernel.Leave) }
func postHeard(s *Server, c *call) error { return s.leaves(c, s.opts.Kernel.Heard) }

func (s *Server) leaves(c *call, do func(ctx context.Context, id, leaf string, by plexus.Writer) error) error {
	if _, err := s.own(c); err != nil {
		return err
	}
	if err := do(c, c.session(), c.job(), c.by); err != nil {
		return err
	}
	return s.wrote(c)
}

func postReport(s *Server, c *call) error {
	if _, err := s.own(c); err != nil {
		return err
	}
	if c.r.ContentLength > large || c.r.ContentLength < 0 { // nothing is read for nothing
		if err := s.opts.Kernel.MayReport(c, c.session(), c.job(), c.by); err != nil {
			return err
		}
	}
	var outcome jsontext.Value
	if err := c.in(&outcome); err != nil {
		return err
	}
	if err := outcome.Compact(); err != nil {
		return problemOfBody(err)
	}
	if err := s.opts.Kernel.Report(c, c.session(), c.job(), string(outcome), c.by); err != nil {
		return err
	}
	return s.wrote(c)
}

// putField writes a field, which the engine takes or refuses: once, and from
// whom it belongs to.
func putField(s *Server, c *call) error {
	v, err := c.raw()
	if err != nil {
		return err
	}
	value, err := stored(v)
	if err != nil {
		return err
	}
	rev, err := s.opts.Document.Apply(c, plexus.Tx{Writer: c.by, Writes: []plexus.Row{
		plexus.Field{Session: c.session(), Job: c.job(), Name: c.r.PathValue("name"), Value: value},
	}})
	c.answer = wire.Wrote{Rev: wire.Rev(rev)}
	return err
}
