package kernel

import (
	"context"
	"crypto/sha256"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"assent/plexus"
	"assent/senses"
	"assent/session"
)

// owner works for one session. What happens to the session is a function in
// its inbox; a goroutine runs them one after the other and ends when there are
// none. All but the inbox is that goroutine's alone.
type owner struct {
	k  *Kernel
	id string

	inbox   []func() // under k.mu
	working bool     // under k.mu

	unsettled, asking atomic.Int64

	m        *session.Machine // nil until the session is loaded
	facts    plexus.Session
	really   lies                            // where its folders were when the session was made
	minters  map[session.JobID]plexus.Writer // of the leaves that are not settled
	sums     map[session.JobID]sum           // of the arguments of these, without blanks
	cwds     map[session.JobID]start         // where those start that do not start in the session's folder
	begun    map[session.JobID]bool          // an earlier life began the body
	shown    map[session.JobID]string        // the image of what a person could see
	running  map[session.JobID]*running
	external map[session.JobID]bool // licensed, and the client's to run
	voting   map[session.JobID]*voting
	waits    []*wait
	forget   func() // ends being told of policies

	fault error  // of the document, the last
	fails int    // of the document, in a row
	retry *timer // once more with the document

	ending *timer // a grant ends, or nearly
}

// wait is somebody who waits for something to become so.
type wait struct {
	done  func() (bool, error)     // asked after every step
	about func(session.JobID) bool // what cannot be written ends the wait
	err   chan error               // holds one
}

// post has f called for a session by its owner, after all that was posted
// before. A session without an owner gets one when create is set; otherwise
// nothing happens.
func (k *Kernel) post(id string, create bool, f func(*owner)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.owners[id]
	if o == nil {
		if !create {
			return
		}
		o = &owner{k: k, id: id}
		k.owners[id] = o
	}
	o.add(func() { f(o) })
}

// later is post for one owner: what its machine asked for is answered to that
// machine and to none that comes after it.
func (o *owner) later(f func()) {
	o.k.mu.Lock()
	defer o.k.mu.Unlock()
	if o.k.owners[o.id] == o {
		o.add(f)
	}
}

func (o *owner) add(f func()) {
	o.inbox = append(o.inbox, f)
	if !o.working {
		o.working = true
		o.k.busy.Go(o.work)
	}
}

// work does what is in the inbox. An owner with nothing left to do goes.
func (o *owner) work() {
	for {
		o.k.mu.Lock()
		batch := o.inbox
		o.inbox = nil
		if len(batch) == 0 {
			o.working = false
			idle := o.idle()
			if idle {
				delete(o.k.owners, o.id)
				o.unpublish()
			}
			o.k.mu.Unlock()
			if idle {
				o.end()
			}
			return
		}
		o.k.mu.Unlock()
		if o.m == nil {
			if o.retry != nil {
				o.retry.cancel()
				o.retry = nil
			}
			if err := o.load(); err != nil {
				// Still the owner's turn: nobody else may touch it before the
				// lock is taken.
				o.troubled(err)
				o.k.mu.Lock()
				came := len(o.inbox) > 0
				o.inbox = append(batch, o.inbox...)
				o.working = came && !o.k.closing
				again := o.working
				o.k.mu.Unlock()
				if again {
					continue
				}
				return
			}
		}
		for _, f := range batch {
			o.pass()
			f()
			o.settleWaits()
		}
		o.awaitEnd()
	}
}

// pass tells the machine what the time is.
func (o *owner) pass() { o.step(session.Time{Now: o.k.time()}) }

// glance is how long nobody looks at the clock while a grant is to end: it may be
// set, and stands still in timers while the machine sleeps.
const glance = time.Minute

// awaitEnd has the time told when the next grant ends: what it handed on waits for
// somebody else from then on.
func (o *owner) awaitEnd() {
	end := o.m.Ends()
	if end.IsZero() || o.ending != nil || o.idle() {
		return
	}
	o.ending = o.k.after(min(max(end.Sub(o.k.time()), 0), glance), func() {
		o.later(func() { o.ending = nil })
	})
}

// idle reports whether the session needs no owner.
func (o *owner) idle() bool {
	return o.m == nil || o.m.Idle() && len(o.waits) == 0 && len(o.running) == 0 && len(o.voting) == 0 && len(o.external) == 0
}

// end lets go of everything outside. Those who still wait are told.
func (o *owner) end() {
	for _, w := range o.waits {
		w.err <- ErrClosed
	}
	o.waits = nil
	if o.forget != nil {
		o.forget()
		o.forget = nil
	}
	if o.retry != nil {
		o.retry.cancel()
		o.retry = nil
	}
	if o.ending != nil {
		o.ending.cancel()
		o.ending = nil
	}
}

// load makes the machine of what the document holds.
func (o *owner) load() error {
	snap, err := o.k.Document.Open(o.k.ctx, o.id)
	if err != nil && !errors.Is(err, plexus.ErrNoSession) {
		return err
	}
	o.facts = snap.Session
	o.really = reallyOf(snap)
	if r, ok := snap.Registers[plexus.SessionAgent]; ok {
		var of string
		if json.Unmarshal([]byte(r.Value), &of) == nil {
			o.k.belongs.LoadOrStore(o.id, of) // who gives it later overwrites that
		}
	}
	o.minters = make(map[session.JobID]plexus.Writer)
	o.sums = make(map[session.JobID]sum)
	o.cwds = make(map[session.JobID]start)
	o.begun = make(map[session.JobID]bool)
	o.shown = make(map[session.JobID]string)
	o.running = make(map[session.JobID]*running)
	o.external = make(map[session.JobID]bool)
	o.voting = make(map[session.JobID]*voting)
	for _, job := range snap.Jobs {
		o.minted(job)
	}
	for job, fields := range snap.Fields {
		if _, ok := fields[plexus.BodyStarted]; ok {
			o.begun[session.JobID(job)] = true
		}
		if image := imageIn(fields[plexus.Explanation].Value); image != "" {
			o.shown[session.JobID(job)] = image
		}
	}
	o.forget = o.k.Policies.Notify(o.facts.Workspace, func() {
		if o.k.enter() {
			defer o.k.leave()
			o.later(func() { o.step(session.PolicyReloaded{}) })
		}
	})
	m, ready := session.Open(session.Facts{
		Seat: snap.Session.Seat, Workspace: snap.Session.Workspace, Home: snap.Session.Home,
		Volumes: senses.Fences(snap.Session.Workspace, snap.Session.Home),
		Now:     o.k.time(),
	}, rowsOf(snap))
	o.m = m
	o.fine()
	o.do(ready)
	return nil
}

// start is the folder that a call starts in, and where that was when the call came.
type start struct{ cwd, really string }

func (o *owner) minted(job plexus.Job) {
	if !job.Sequence() {
		o.minters[session.JobID(job.ID)] = job.Writer
		o.sums[session.JobID(job.ID)] = sha256.Sum256(compact([]byte(job.Arguments)))
		if cwd := cwdIn(job.Facts); cwd != "" {
			cwd = filepath.Clean(cwd)
			o.cwds[session.JobID(job.ID)] = start{cwd, real(cwd)}
		}
	}
}

func (o *owner) step(ev session.Event) { o.do(o.m.Step(ev)) }

// do does what the machine says. Saves may be applied in any order; what is in
// Start relies on committed rows alone (see package session).
func (o *owner) do(r session.Ready) {
	for _, a := range r.Stop {
		o.stop(a)
	}
	for _, s := range r.Save {
		writer := o.k.host
		if asked, err := plexus.ParseWriter(s.For); err == nil {
			writer = writer.For(asked)
		}
		tx := plexus.Tx{Writer: writer, Seen: plexus.Rev(s.Seen), Writes: writesOf(o.id, s)}
		o.k.saves.add(tx, s.Until, func(rev plexus.Rev, err error) {
			o.later(func() { o.saved(s.ID, rev, err) })
		})
	}
	for _, a := range r.Start {
		if !o.k.ending() {
			o.start(a)
		}
	}
	for _, n := range r.Publish {
		o.notice(n)
	}
	o.unsettled.Store(int64(o.m.Unsettled()))
}

func (o *owner) start(a session.Action) {
	switch a.Do {
	case session.Floor:
		o.judge(a)
	case session.Classify:
		o.classify(a)
	case session.Body:
		o.body(a)
	}
}

func (o *owner) stop(a session.Action) {
	switch a.Do {
	case session.Floor:
		o.k.slots.remove(o, a.Job)
	case session.Classify:
		if v := o.voting[a.Job]; v != nil {
			delete(o.voting, a.Job)
			v.end()
		}
	case session.Body:
		o.stopBody(a.Job)
	}
}

func (o *owner) notice(n session.Notice) {
	switch n.News {
	case session.Asked:
		o.asking.Add(1)
	case session.Unasked:
		o.asking.Add(-1)
	case session.Settled:
		delete(o.minters, n.Job)
		delete(o.sums, n.Job)
		delete(o.cwds, n.Job)
		delete(o.begun, n.Job)
		delete(o.shown, n.Job)
		delete(o.external, n.Job)
	case session.Stuck:
		o.waits = slices.DeleteFunc(o.waits, func(w *wait) bool {
			stuck := w.about(n.Job)
			if stuck {
				w.err <- o.fault
			}
			return stuck
		})
	case session.Unstuck:
	}
}

// saved tells the machine what became of a save.
func (o *owner) saved(id session.SaveID, rev plexus.Rev, err error) {
	switch {
	case err == nil:
		o.fine()
		o.step(session.Saved{Save: id, Rev: session.Rev(rev)})
	case errors.Is(err, errEnded):
		o.step(session.Refused{Save: id, Why: session.Ended, Message: err.Error()})
	case errors.Is(err, plexus.ErrStale), refused(err):
		o.step(session.Refused{Save: id, Why: session.Stale, Message: err.Error()})
	default:
		o.fault = err
		o.step(session.Refused{Save: id, Why: session.Failed, Message: err.Error()})
		o.troubled(err)
	}
}

// refused reports whether a row that is in the document stands against a write:
// somebody was faster, and nothing is wrong with the document.
func refused(err error) bool {
	return errors.Is(err, plexus.ErrWritten) || errors.Is(err, plexus.ErrCompleted) || errors.Is(err, plexus.ErrCancelled)
}

// The waits between attempts when the document cannot be read or written.
const (
	retryFirst = time.Second
	retryMost  = time.Minute
)

// troubled says that the document fails, and tries again later. Until then
// nothing of the session is allowed.
func (o *owner) troubled(err error) {
	if o.k.ending() {
		return
	}
	o.k.Document.SetPresence(o.id, DocumentError, Fault(err))
	o.k.trouble(err)
	if o.retry != nil {
		return
	}
	wait := min(retryFirst<<min(o.fails, 10), retryMost)
	o.fails++
	o.retry = o.k.after(wait, func() {
		o.later(func() {
			o.retry = nil
			o.step(session.Retry{})
		})
	})
}

// fine says that the document can be used.
func (o *owner) fine() {
	if o.fails == 0 {
		return
	}
	o.fails = 0
	o.k.Document.SetPresence(o.id, DocumentError, "")
	o.k.trouble(nil)
}

// settleWaits tells those whose wait is over.
func (o *owner) settleWaits() {
	if len(o.waits) == 0 {
		return
	}
	o.waits = slices.DeleteFunc(o.waits, func(w *wait) bool {
		done, err := w.done()
		if done {
			w.err <- err
		}
		return done
	})
}

// do has f called by the owner of a session, which has seen all that is in the
// document, and waits for what f returns, or for nothing.
func (k *Kernel) do(ctx context.Context, id string, f func(*owner) (*wait, error)) error {
	if !k.enter() {
		return ErrClosed
	}
	defer k.leave()
	if err := k.catchUp(ctx); err != nil {
		return err
	}
	var waits *wait // the owner's
	answer := make(chan error, 1)
	k.post(id, true, func(o *owner) {
		if o.facts.ID == "" {
			answer <- plexus.ErrNoSession
			return
		}
		w, err := f(o)
		if w == nil || err != nil {
			answer <- err
			return
		}
		w.err, waits = answer, w
		o.waits = append(o.waits, w)
	})
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		k.post(id, false, func(o *owner) {
			o.waits = slices.DeleteFunc(o.waits, func(w *wait) bool { return w == waits })
		})
		return ctx.Err()
	case <-k.ctx.Done():
		return ErrClosed
	}
}
