package api

import (
	"net"
	"sync"

	"assent/plexus"
)

// To look at who made a connection costs a walk through the system's processes. So
// nobody waits for it who accepts connections: each is looked at on its own, when it
// is first read from, and until then it counts for the group of processes it
// comes from. A group has so many looks at a time, and when too many
// connections wait for theirs the largest group loses its newest, so that
// one which floods the socket keeps nobody else out.

// arriving are the connections that nobody has looked at yet.
type arriving struct {
	mu     sync.Mutex
	all    int
	groups map[string]*group
}

// group are those of them that come from one group of processes.
type group struct {
	waiting []*counted
	looks   chan struct{}
}

// looksEach is how many connections of a group are looked at at a time.
const looksEach = 2

// enter takes a connection in, and gives the one that has to go for it, if
// any: it may be this one.
func (a *arriving) enter(c *counted, l Limits) (out *counted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.groups[c.group]
	if g == nil {
		g = &group{looks: make(chan struct{}, looksEach)}
		if a.groups == nil {
			a.groups = make(map[string]*group)
		}
		a.groups[c.group] = g
	}
	g.waiting = append(g.waiting, c)
	a.all++
	most := g
	if len(g.waiting) <= l.Each {
		if a.all <= max(l.Conns/2, 1) {
			return nil
		}
		for _, other := range a.groups {
			if len(other.waiting) > len(most.waiting) {
				most = other
			}
		}
	}
	return most.waiting[len(most.waiting)-1]
}

// leave says that a connection was looked at, or is closed.
func (a *arriving) leave(c *counted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.groups[c.group]
	if g == nil {
		return
	}
	for i, w := range g.waiting {
		if w == c {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			a.all--
			break
		}
	}
	if len(g.waiting) == 0 {
		delete(a.groups, c.group)
	}
}

// turn waits until the connection's group has a look, unless it is closed before.
func (a *arriving) turn(c *counted) (done func(), ok bool) {
	a.mu.Lock()
	g := a.groups[c.group]
	a.mu.Unlock()
	if g == nil {
		return nil, false
	}
	select {
	case g.looks <- struct{}{}:
		return func() { <-g.looks }, true
	case <-c.gone:
		return nil, false
	}
}

// meet looks at who made the connection, once.
func (c *counted) meet() {
	c.met.Do(func() {
		if c.look == nil {
			return
		}
		defer c.s.arriving.leave(c)
		done, ok := c.s.arriving.turn(c)
		if !ok {
			return
		}
		defer done()
		if c.caller = c.look(); c.caller == nil {
			return
		}
		// Agents may take no more than their part of the connections, so that
		// people still get one, and one agent no more than its own, so that others do.
		if by, err := c.caller(Claim{}); err != nil || by.Role != plexus.Human {
			c.restrict(by.Name)
		}
	})
}

// Read looks at who made the connection before anything is read from it.
func (c *counted) Read(b []byte) (int, error) {
	c.meet()
	return c.Conn.Read(b)
}

// speaks is the caller of a connection that is looked at when it is first
// read from.
func (c *counted) speaks(claim Claim) (plexus.Writer, error) {
	c.meet()
	if c.caller == nil {
		return plexus.Writer{}, net.ErrClosed
	}
	return c.caller(claim)
}
