package api

import (
	"cmp"
	"net"
	"slices"
	"sync"

	"assent/plexus"
)

// To look at who made a connection costs a walk through the system's processes. So
// nobody waits for it who accepts connections: each is looked at on its own, when it
// is first read from, and until then it counts for where it comes from: the terminal
// that all of it descends from, and there its session. Whoever floods the socket can
// make as many sessions as it likes, and processes that have no terminal any more,
// but not the terminal of somebody else. So an origin has so many looks at a time,
// and when too many connections wait for theirs the largest origin loses one, of its
// largest session. What comes from a small one is always taken in.

// arriving are the connections that nobody has looked at yet.
type arriving struct {
	mu      sync.Mutex
	all     int
	origins map[string]*origin
}

// origin are those of them that come from one terminal, by their sessions.
type origin struct {
	all      int
	sessions map[string][]*counted
	looks    chan struct{}
}

// looksEach is how many connections of an origin are looked at at a time.
const looksEach = 2

// enter takes a connection in, and gives the one that has to go for it, if
// any: it may be this one.
func (a *arriving) enter(c *counted, l Limits) (out *counted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := a.origins[c.origin]
	if o == nil {
		o = &origin{sessions: make(map[string][]*counted), looks: make(chan struct{}, looksEach)}
		if a.origins == nil {
			a.origins = make(map[string]*origin)
		}
		a.origins[c.origin] = o
	}
	o.sessions[c.session] = append(o.sessions[c.session], c)
	o.all++
	a.all++
	most := o
	if o.all <= l.Each {
		// A quarter: another half is for agents that were looked at, and people
		// have the rest.
		if a.all <= max(l.Conns/4, 1) {
			return nil
		}
		for _, other := range a.origins {
			if other.all > most.all || other.all == most.all && most == o {
				most = other
			}
		}
	}
	return most.last(c)
}

// last is the newest of the largest session: of those that are equal, of another
// than the connection's own.
func (o *origin) last(c *counted) *counted {
	most := o.sessions[c.session]
	for _, waiting := range o.sessions {
		if len(waiting) > len(most) || len(waiting) == len(most) && most[len(most)-1] == c {
			most = waiting
		}
	}
	return most[len(most)-1]
}

// leave says that a connection was looked at, or is closed.
func (a *arriving) leave(c *counted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := a.origins[c.origin]
	if o == nil {
		return
	}
	waiting := o.sessions[c.session]
	i := slices.Index(waiting, c)
	if i < 0 {
		return
	}
	if waiting = slices.Delete(waiting, i, i+1); len(waiting) > 0 {
		o.sessions[c.session] = waiting
	} else {
		delete(o.sessions, c.session)
	}
	a.all--
	if o.all--; o.all == 0 {
		delete(a.origins, c.origin)
	}
}

// turn waits until the connection's origin has a look, unless it is closed before.
func (a *arriving) turn(c *counted) (done func(), ok bool) {
	a.mu.Lock()
	o := a.origins[c.origin]
	a.mu.Unlock()
	if o == nil {
		return nil, false
	}
	select {
	case o.looks <- struct{}{}:
		return func() { <-o.looks }, true
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
		// people still get one, and one agent no more than its own, so that others do:
		// by where it comes from, as processes without a terminal have many names.
		if by, err := c.caller(Claim{}); err != nil || by.Role != plexus.Human {
			c.restrict(cmp.Or(c.origin, by.Name))
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
