package api

import (
	"context"
	"sync"

	"assent/front/api/wire"
	"assent/plexus"
)

// large is how many bytes of one request are much. An outcome may be sixteen
// times that, and takes several times its length while it is read, kept or told.
const large = 1 << 20

// togethers is how many agents may have something large under way at a time.
const togethers = 4

// turns let agents have something large under way one after the other: of one
// agent one thing at a time, of all a few. However many connections they hold,
// the kernel's memory stays small. Methods may be called at once.
type turns struct {
	all chan struct{}

	mu sync.Mutex
	of map[string]*turn
}

// turn is whose turn it is among the requests of one agent.
type turn struct {
	place chan struct{}
	count int // of those that have it or wait; under turns.mu
}

func newTurns() *turns {
	return &turns{all: make(chan struct{}, togethers), of: make(map[string]*turn)}
}

// take waits for a turn. It is had until free is called.
func (t *turns) take(ctx context.Context, agent string) (free func(), err error) {
	t.mu.Lock()
	mine := t.of[agent]
	if mine == nil {
		mine = &turn{place: make(chan struct{}, 1)}
		t.of[agent] = mine
	}
	mine.count++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if mine.count--; mine.count == 0 {
			delete(t.of, agent)
		}
	}
	select {
	case mine.place <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
	select {
	case t.all <- struct{}{}:
	case <-ctx.Done():
		<-mine.place
		leave()
		return nil, ctx.Err()
	}
	return func() {
		<-t.all
		<-mine.place
		leave()
	}, nil
}

// turn waits until it is the turn of the request, where it is an agent's, and
// has it until [call.done]. Not for long: who waits holds a connection.
func (c *call) turn() error {
	if c.by.Role != plexus.Agent || c.free != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c, c.s.opts.Limits.Body)
	defer cancel()
	free, err := c.s.turns.take(ctx, c.by.Name)
	if err != nil {
		if c.Err() != nil {
			return c.Err()
		}
		return problem(wire.TooMany, "other large requests of agents are under way")
	}
	c.free = free
	return nil
}

// done ends the turn, if there is one.
func (c *call) done() {
	if c.free != nil {
		c.free()
		c.free = nil
	}
}
