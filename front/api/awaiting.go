package api

import (
	"sync"
	"time"

	"assent/front/api/wire"
	"assent/plexus"
)

// awaiting is who waits for the answers to calls: presence, which is never stored
// and by which nothing is decided. A call whose asker is gone stays (law §7: only
// its guard or a cancel settles it), but whoever answers should know that nobody
// hears it. One who asks again and again counts as waiting in between, for the
// grace.
//
// Time comes in with each call. Methods may be called at once.
type awaiting struct {
	grace time.Duration

	mu    sync.Mutex
	calls map[callID]*awaited
	swept time.Time
}

type callID struct{ session, job string }

type awaited struct {
	by   int       // how many wait now
	last time.Time // when somebody came or went
}

// comes has somebody wait for a call; goes ends that.
func (a *awaiting) comes(session, job string, now time.Time) (goes func(now time.Time)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == nil {
		a.calls = make(map[callID]*awaited)
	}
	if now.Sub(a.swept) > a.grace {
		a.swept = now
		for id, c := range a.calls {
			if !a.is(c, now) {
				delete(a.calls, id)
			}
		}
	}
	c := a.calls[callID{session, job}]
	if c == nil {
		c = new(awaited)
		a.calls[callID{session, job}] = c
	}
	c.by++
	c.last = now
	return func(now time.Time) {
		a.mu.Lock()
		defer a.mu.Unlock()
		c.by--
		c.last = now
	}
}

// by reports whether somebody waits for a call.
func (a *awaiting) by(session, job string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.calls[callID{session, job}]
	return c != nil && a.is(c, now)
}

// is needs mu.
func (a *awaiting) is(c *awaited, now time.Time) bool { return c.by > 0 || now.Sub(c.last) < a.grace }

// unawaited are those of some calls for which nobody waits.
func (a *awaiting) unawaited(calls []wire.Job, now time.Time) []wire.Rev {
	none := []wire.Rev{}
	for _, c := range calls {
		if !a.by(c.Session, c.ID, now) {
			none = append(none, c.Stamp.Rev)
		}
	}
	return none
}

// asks has whoever minted a call count as waiting for it: they have yet to ask.
func (a *awaiting) asks(row plexus.Job, now time.Time) { a.comes(row.Session, row.ID, now)(now) }
