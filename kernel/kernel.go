package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"assent/job"
	"assent/plexus"
	"assent/session"
)

// Kernel owns all sessions of a document. Its methods may be called at once.
type Kernel struct {
	Options
	host plexus.Writer

	ctx   context.Context // of everything that runs; ends with ErrClosed
	stop  context.CancelCauseFunc
	slots *slots
	saves *saver

	bodies *job.Starter
	judge  *judge // nil where Options.Classifier answers

	mu      sync.Mutex
	closing bool
	busy    sync.WaitGroup // whatever may still post or write
	owners  map[string]*owner
	timers  map[*timer]struct{}
	set     Settings
	seen    plexus.Rev    // delivered to the owners
	more    chan struct{} // closed when seen moves, or never will; nil when nobody waits
	damage  error         // of the document: nothing is delivered any more

	latest atomic.Int64 // nanoseconds of Unix time that the clock has shown

	configuring sync.Mutex

	belongs  sync.Map     // session to the name of its agent, as far as anybody asked
	claiming sync.RWMutex // while a session gets its agent; for reading, while an agent writes as the one that has it
	talking  sync.Mutex   // while something that agents say is written
	leaving  sync.Mutex   // while it is written which calls were left
	runs     sync.Mutex   // while one is written that was not licensed
	coming   coming

	passing passing // sequences that run here

	again chan struct{} // holds one for each call that is judged once more

	watching sync.WaitGroup
	unwatch  context.CancelFunc
	forget   func() // ends being told of the machine's policies
	close    func() error
}

// openWait is how long [Open] waits for a document that is still read: so long
// that small ones are ready when it returns, and nobody waits for a kernel that
// could already say what it does.
const openWait = 200 * time.Millisecond

// Open starts a kernel and takes up what is unsettled in the document (law
// §7, ruling 3). A large document that is still read it takes up afterwards.
// ctx bounds the opening alone.
func Open(ctx context.Context, opts Options) (*Kernel, error) {
	if opts.Document == nil {
		return nil, errors.New("open kernel: no document")
	}
	k := &Kernel{
		Options: opts.withDefaults(),
		owners:  make(map[string]*owner),
		timers:  make(map[*timer]struct{}),
		again:   make(chan struct{}, judgedAgain),
	}
	k.host = plexus.Writer{Role: plexus.Host, Name: k.Name}
	k.ctx, k.stop = context.WithCancelCause(context.Background())
	k.slots = newSlots(k)
	k.saves = &saver{k: k}
	k.bodies = job.NewStarter(k.Registry, k.bodyEnded)
	if k.Classifier == nil {
		k.judge = newJudge(k)
		k.Classifier = k.judge
	}
	k.close = sync.OnceValue(k.shut)
	k.set = opts.Settings
	k.slots.resize(k.set.Slots)
	watch, unwatch := context.WithCancel(context.Background())
	k.unwatch = unwatch
	soon, cancel := context.WithCancel(ctx)
	stop := k.After(openWait, cancel)
	known := k.Document.Trusted(soon)
	stop()
	cancel()
	late := errors.Is(known, context.Canceled) && ctx.Err() == nil
	var rev plexus.Rev
	if !late {
		var err error
		if rev, err = k.takeUp(ctx); err != nil && !errors.Is(err, plexus.ErrTampered) {
			unwatch()
			k.stop(ErrClosed)
			return nil, fmt.Errorf("open kernel: %w", err)
		}
	}
	k.forget = k.Policies.Notify("", k.policyChanged)
	k.policyChanged()
	k.watching.Go(func() {
		if late {
			rev = k.takeUpLate(watch)
		}
		k.watch(watch, rev)
	})
	return k, nil
}

// takeUp begins with what is in the document: with its settings, because the
// license reads them.
func (k *Kernel) takeUp(ctx context.Context) (plexus.Rev, error) {
	k.configuring.Lock()
	err := k.settle(ctx)
	k.configuring.Unlock()
	var unsettled []string
	var rev plexus.Rev
	if err == nil {
		unsettled, rev, err = k.Document.Unsettled(ctx)
	}
	if errors.Is(err, plexus.ErrTampered) { // people are told by a kernel that does nothing else
		k.lost(err)
	}
	if err != nil {
		return 0, err
	}
	for _, id := range unsettled {
		k.post(id, true, func(*owner) {})
	}
	k.saw(rev)
	if k.Registry.Sequences() {
		k.busy.Go(k.goOn)
	}
	return rev, nil
}

// takeUpLate is takeUp until it is done, or cannot be.
func (k *Kernel) takeUpLate(ctx context.Context) plexus.Rev {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		rev, err := k.takeUp(ctx)
		if err == nil || ctx.Err() != nil || errors.Is(err, plexus.ErrTampered) || errors.Is(err, plexus.ErrClosed) {
			return rev
		}
		k.trouble(err)
		k.pause(ctx, wait)
	}
}

// Close ends the kernel: nothing is begun any more, bodies are stopped and
// waited for, what is known is written. Leaves stay as they are; the next life
// goes on with them. The document is its owner's to close, afterwards.
func (k *Kernel) Close() error { return k.close() }

func (k *Kernel) shut() error {
	k.mu.Lock()
	k.closing = true
	timers := k.timers
	k.timers = nil
	k.mu.Unlock()
	for t := range timers {
		t.stop()
	}
	k.forget()
	k.unwatch()
	k.watching.Wait()
	k.stop(ErrClosed)
	k.slots.close()
	k.bodies.Close()
	k.busy.Wait()
	for _, o := range k.owners {
		o.end()
	}
	clear(k.owners)
	return nil
}

// enter counts somebody who works for the kernel from outside; false when it
// closes. Whoever works inside, and so is counted, begins more with busy.Go.
func (k *Kernel) enter() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closing {
		return false
	}
	k.busy.Add(1)
	return true
}

func (k *Kernel) leave() { k.busy.Done() }

func (k *Kernel) ending() bool { return k.ctx.Err() != nil }

// time is what the clock shows, and does not go back: what has ended has ended.
func (k *Kernel) time() time.Time {
	now := k.Now()
	for {
		latest := k.latest.Load()
		if nano := now.UnixNano(); nano <= latest {
			return time.Unix(0, latest)
		} else if k.latest.CompareAndSwap(latest, nano) {
			return now
		}
	}
}

// timer is something that happens later, unless the kernel closes.
type timer struct {
	k     *Kernel
	mu    sync.Mutex
	stop_ func() bool
}

// after has f called when d has passed.
func (k *Kernel) after(d time.Duration, f func()) *timer {
	t := &timer{k: k}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closing {
		return t
	}
	k.timers[t] = struct{}{}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop_ = k.After(d, func() {
		if !k.enter() {
			return
		}
		defer k.leave()
		k.mu.Lock()
		_, on := k.timers[t]
		delete(k.timers, t)
		k.mu.Unlock()
		if on {
			f()
		}
	})
	return t
}

// cancel keeps f from being called, if it has not begun.
func (t *timer) cancel() {
	t.k.mu.Lock()
	delete(t.k.timers, t)
	t.k.mu.Unlock()
	t.stop()
}

func (t *timer) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stop_ != nil {
		t.stop_()
	}
}

// pause waits until d has passed; false when ctx was done before.
func (k *Kernel) pause(ctx context.Context, d time.Duration) bool {
	passed := make(chan struct{})
	stop := k.After(d, func() { close(passed) })
	select {
	case <-passed:
		return true
	case <-ctx.Done():
		stop()
		return false
	}
}

// watch hands the rows of the document to whom they concern.
func (k *Kernel) watch(ctx context.Context, after plexus.Rev) {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		for rows, err := range k.Document.Watch(ctx, after, plexus.Filter{}) {
			if err != nil {
				if ctx.Err() != nil || errors.Is(err, plexus.ErrClosed) {
					return
				}
				if errors.Is(err, plexus.ErrTampered) {
					k.lost(err)
					return
				}
				k.trouble(err)
				break
			}
			wait = time.Second
			after = rows[len(rows)-1].Stamped().Rev
			k.deliver(rows)
			k.saw(after)
		}
		if !k.pause(ctx, wait) {
			return
		}
	}
}

// saw says up to where the document was delivered.
func (k *Kernel) saw(rev plexus.Rev) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen = rev
	if k.more != nil {
		close(k.more)
		k.more = nil
	}
}

// lost says that the document is damaged. That stays, and with it that nothing
// is allowed.
func (k *Kernel) lost(err error) {
	k.mu.Lock()
	k.damage = err
	if k.more != nil {
		close(k.more)
		k.more = nil
	}
	k.mu.Unlock()
	k.trouble(err)
}

// catchUpLimit is far longer than any row takes to come round.
const catchUpLimit = 30 * time.Second

var errBehind = fmt.Errorf("the kernel has not read the document up to its end within %v", catchUpLimit)

// catchUp waits until all that is in the document now was delivered, so that
// who acts on what they read there is understood.
func (k *Kernel) catchUp(ctx context.Context) error {
	head, err := k.Document.Head(ctx)
	if err != nil {
		return err
	}
	var late chan struct{}
	for {
		k.mu.Lock()
		if k.damage != nil || k.seen >= head.Rev {
			err := k.damage
			k.mu.Unlock()
			return err
		}
		if k.more == nil {
			k.more = make(chan struct{})
		}
		more := k.more
		k.mu.Unlock()
		if late == nil {
			late = make(chan struct{})
			defer k.After(catchUpLimit, func() { close(late) })()
		}
		select {
		case <-more:
		case <-late:
			return errBehind
		case <-ctx.Done():
			return ctx.Err()
		case <-k.ctx.Done():
			return ErrClosed
		}
	}
}

// deliver hands over the rows of one transaction. A new leaf gives its session
// an owner.
func (k *Kernel) deliver(rows []plexus.Row) {
	upto := session.Rev(rows[len(rows)-1].Stamped().Rev)
	var kernels []session.Register
	per := make(map[string]*session.Rows, 1)
	of := func(id string) *session.Rows {
		if per[id] == nil {
			per[id] = &session.Rows{Upto: upto}
		}
		return per[id]
	}
	begins := make(map[string]bool, 1)
	for _, row := range rows {
		switch r := row.(type) {
		case plexus.Session:
		case plexus.Job:
			of(r.Session).Jobs = append(of(r.Session).Jobs, jobOf(r))
			begins[r.Session] = begins[r.Session] || !r.Sequence()
			if k.Registry.Sequence(job.Kind(r.Kind), r.Name) != nil {
				k.pass(plexus.JobName{Session: r.Session, Job: r.ID}, false)
			}
		case plexus.Field:
			if r.Name == plexus.Cancelled {
				k.passOver(plexus.JobName{Session: r.Session, Job: r.Job})
			}
			of(r.Session).Fields = append(of(r.Session).Fields, fieldOf(r))
		case plexus.Register:
			if r.Session == "" {
				kernels = append(kernels, registerOf(r))
			} else {
				of(r.Session).Registers = append(of(r.Session).Registers, registerOf(r))
			}
		}
	}
	if len(kernels) > 0 {
		k.mu.Lock()
		for id := range k.owners {
			of(id)
		}
		k.mu.Unlock()
		for _, r := range per {
			r.Registers = append(r.Registers, kernels...)
		}
	}
	for id, r := range per {
		k.post(id, begins[id], func(o *owner) {
			for _, row := range rows {
				if j, ok := row.(plexus.Job); ok && j.Session == id && session.Rev(j.Rev) > o.m.Seen() {
					o.minted(j)
				}
			}
			o.step(session.Committed{Rows: *r})
			if slices.ContainsFunc(r.Registers, judging) {
				o.rechosen()
			}
		})
	}
}

// Status is what the kernel is doing.
type Status struct {
	Sessions  int // that have something unsettled
	Unsettled int // leaves
	Asking    int // leaves that need a person
	Judging   int // evaluations of the floor, of Slots
	Queued    int // evaluations that wait for a slot
	Slots     int
}

// Status tells what the kernel is doing now.
func (k *Kernel) Status() Status {
	var s Status
	k.slots.status(&s)
	k.mu.Lock()
	defer k.mu.Unlock()
	s.Sessions = len(k.owners)
	for _, o := range k.owners {
		s.Unsettled += int(o.unsettled.Load())
		s.Asking += int(o.asking.Load())
	}
	return s
}
