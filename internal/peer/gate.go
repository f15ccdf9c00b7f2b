package peer

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
)

// Gate gives connections their roles. It knows the kernel it stands before, who
// may connect, and the agents that were told to it. Its methods may be called at
// once.
type Gate struct {
	known Known // but for the bodies

	mu     sync.Mutex
	bodies []Body

	of    func(*net.UnixConn) (Facts, error)
	alive func(Body) bool
}

// maxAgents is how many agents are known at a time. Nobody has so many; whoever
// is beyond is refused, because to forget one would be to take it for a person.
const maxAgents = 10_000

// ErrAgents: so many agents are known that no more can be.
var ErrAgents = errors.New("too many agents at once")

// NewGate makes the gate of the calling process, which is the kernel, for
// the users that may connect. A system where processes cannot be told apart
// gives a gate that takes everybody for an agent.
func NewGate(owners []uint32, hiddenEnv bool) *Gate {
	self, err := Self()
	if err != nil {
		self = Process{}
	}
	return &Gate{
		known: Known{Owners: slices.Clone(owners), Kernel: self, HiddenEnv: hiddenEnv},
		of:    Of,
		alive: remains,
	}
}

// Known is what is known now. Agents of which nothing is left are forgotten.
func (g *Gate) Known() Known {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bodies = slices.DeleteFunc(g.bodies, func(b Body) bool { return !g.alive(b) })
	k := g.known
	k.Bodies = slices.Clone(g.bodies)
	return k
}

// Add makes a body known. An agent that is known already stays once.
func (g *Gate) Add(b Body) error {
	g.Known()
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case slices.Contains(g.bodies, b):
		return nil
	case len(g.bodies) >= maxAgents:
		return ErrAgents
	}
	g.bodies = append(g.bodies, b)
	return nil
}

// Hook makes known the agent behind a connection that a hook made. One that
// cannot be told from its surroundings is an error: the hook gets no answer
// then, and its client asks.
func (g *Gate) Hook(f Facts) error {
	b, ok := Hooked(f)
	if !ok {
		return errors.New("who the hook belongs to cannot be told")
	}
	return g.Add(b)
}

// Caller is who is at the other end of a connection.
type Caller struct {
	Role  Role
	Why   Why
	Facts Facts
}

// String says it in words.
func (c Caller) String() string { return fmt.Sprintf("%v: %v", c.Role, c.Why) }

// Caller looks at a connection as it is now. What is no unix socket, and what
// cannot be looked at, has no role. Look again before a human write: an agent
// may have become known in between.
func (g *Gate) Caller(conn net.Conn, token Token) Caller {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return Caller{}
	}
	f, err := g.of(unix)
	if err != nil {
		return Caller{}
	}
	role, why := RoleOf(f, g.Known(), token)
	return Caller{Role: role, Why: why, Facts: f}
}
