package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"assent/remainder"
)

// gate lets attempts of the classifier through to one connection: a few at a time,
// the sessions taking turns. While the connection fails, one at a time tries it,
// and who waits meanwhile has failed with that one: so a thousand calls are not a
// thousand requests to a server that is down, and each of them comes before a
// person at once.
type gate struct {
	k *Kernel

	mu    sync.Mutex
	open  int // how many may be through now
	busy  int // how many are
	turns []string
	wants map[string][]*entry // by session
}

// entry is an attempt that waits.
type entry struct{ through chan error }

const (
	// gateMost is how many attempts a connection gets at a time: more than a person's
	// agents ask at once, and less than what a small server refuses.
	gateMost = 8
	// gateWait is how long an attempt waits for the others before it fails and a
	// person is asked.
	gateWait = 20 * time.Second
)

func newGate(k *Kernel) *gate {
	return &gate{k: k, open: gateMost, wants: make(map[string][]*entry)}
}

// enter waits for its turn. Whoever got through must leave.
func (g *gate) enter(ctx context.Context, session string) error {
	g.mu.Lock()
	if g.busy < g.open && len(g.turns) == 0 {
		g.busy++
		g.mu.Unlock()
		return nil
	}
	e := &entry{through: make(chan error, 1)}
	if len(g.wants[session]) == 0 {
		g.turns = append(g.turns, session)
	}
	g.wants[session] = append(g.wants[session], e)
	ahead := g.busy
	g.mu.Unlock()
	late := make(chan struct{})
	stop := g.k.After(gateWait, func() { close(late) })
	defer stop()
	var err error
	select {
	case err := <-e.through:
		return err
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late:
		err = fmt.Errorf("the classifier is busy: %d other calls are being asked about, and this one waited for %v", ahead, gateWait)
	}
	if !g.withdraw(session, e) {
		if first := <-e.through; first != nil {
			return first
		}
		g.leave(untold, nil)
	}
	return err
}

// withdraw takes back an entry, and says whether it still waited.
func (g *gate) withdraw(session string, e *entry) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	wants := g.wants[session]
	i := slices.Index(wants, e)
	if i < 0 {
		return false
	}
	if wants = slices.Delete(wants, i, i+1); len(wants) > 0 {
		g.wants[session] = wants
		return true
	}
	delete(g.wants, session)
	g.turns = slices.DeleteFunc(g.turns, func(s string) bool { return s == session })
	return true
}

// health is what an attempt tells of its connection.
type health uint8

const (
	untold health = iota // nothing: it was stopped
	well
	failing
)

// leave ends an attempt, and says how it went with the connection and, where that
// fails, why.
func (g *gate) leave(how health, failed error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy--
	if how == failing {
		g.open = 1
		shared := fmt.Errorf("%w (it was asked about another call just now)", failed)
		for _, wants := range g.wants {
			for _, e := range wants {
				e.through <- shared
			}
		}
		clear(g.wants)
		g.turns = nil
		return
	}
	if how == well {
		g.open = min(2*g.open, gateMost)
	}
	for g.busy < g.open && len(g.turns) > 0 {
		session := g.turns[0]
		g.turns = g.turns[1:]
		wants := g.wants[session]
		if len(wants) > 1 {
			g.wants[session] = wants[1:]
			g.turns = append(g.turns, session)
		} else {
			delete(g.wants, session)
		}
		g.busy++
		wants[0].through <- nil
	}
}

// down reports whether a failure is one of the connection, so that another call
// would have it too.
func down(err error) bool {
	if err == nil {
		return false
	}
	switch remainder.CauseOf(err) {
	case remainder.Unconnected, remainder.Unreachable, remainder.Refused, remainder.Overloaded, remainder.Slow, remainder.Cut:
		return true
	case remainder.Status: // of the server itself; what is wrong with one request is not so with another
		f, _ := errors.AsType[*remainder.Failure](err)
		return f.Code >= 500
	case remainder.Broken, remainder.Truncated, remainder.Declined, remainder.Unreadable:
	}
	return false
}
