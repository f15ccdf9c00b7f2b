package peer

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// Gate gives connections their roles. It knows the kernel it stands before, who
// may connect, and the agents that were told to it. Its methods may be called at
// once.
type Gate struct {
	known Known // but for the bodies

	mu     sync.Mutex
	bodies []Body
	pruned time.Time // when it was looked whether they are there

	every time.Duration // how often that is looked
	of    func(*net.UnixConn) (Facts, error)
	alive func() func(Body) bool // looks once, and says of each
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
		alive: remaining,
		every: time.Second,
	}
}

// Known is what is known now. Agents of which nothing is left are forgotten, not
// at once: to look for what is left costs more than to remember.
func (g *Gate) Known() Known {
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Since(g.pruned) >= g.every {
		g.prune()
	}
	k := g.known
	k.Bodies = slices.Clone(g.bodies)
	return k
}

// Add makes a body known. An agent that is known already stays once.
func (g *Gate) Add(b Body) error {
	_, err := g.add(b)
	return err
}

func (g *Gate) add(b Body) (added bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.bodies, b) {
		return false, nil
	}
	if len(g.bodies) >= maxAgents {
		if g.prune(); len(g.bodies) >= maxAgents {
			return false, ErrAgents
		}
	}
	g.bodies = append(g.bodies, b)
	return true, nil
}

// prune forgets agents of which nothing is left. It needs mu.
func (g *Gate) prune() {
	alive := g.alive()
	g.bodies = slices.DeleteFunc(g.bodies, func(b Body) bool { return !alive(b) })
	g.pruned = time.Now()
}

// About is what is known of a process of one of the users, that somebody named.
func (g *Gate) About(pid int) (Facts, error) {
	if !Supported {
		return Facts{}, errors.New("processes cannot be told apart on this system")
	}
	f := about(pid)
	switch {
	case !f.Whole || len(f.Lineage) == 0:
		return Facts{}, fmt.Errorf("process %d is not there, or cannot be looked at", pid)
	case !slices.Contains(g.known.Owners, f.UID):
		return Facts{}, fmt.Errorf("process %d is another user's", pid)
	case f.Descends([]Process{g.known.Kernel}):
		return Facts{}, fmt.Errorf("process %d is the kernel's", pid)
	}
	return f, nil
}

// Agent is the agent that a peer with these facts belongs to: one that is known
// already, or the one that [Hooked] finds. False when that cannot be told.
func (g *Gate) Agent(f Facts) (Body, bool) {
	if !f.Whole || len(f.Lineage) == 0 {
		return Body{}, false
	}
	if b, ok := behind(f, g.Known().Bodies); ok {
		return b, true
	}
	return Hooked(f)
}

// Hook makes known the agent behind a connection that a hook made, says which
// that is, and whether it was not known before. One that cannot be told from its
// surroundings is an error: the hook gets no answer then, and its client asks.
func (g *Gate) Hook(f Facts) (b Body, added bool, err error) {
	b, ok := g.Agent(f)
	if !ok {
		return Body{}, false, errors.New("who the hook belongs to cannot be told")
	}
	added, err = g.add(b)
	return b, added, err
}

// Recall makes known again the agents of which something is left. A kernel that
// starts was told of them in an earlier life.
func (g *Gate) Recall(bodies []Body) error {
	alive := g.alive()
	for _, b := range bodies {
		if !alive(b) {
			continue
		}
		if err := g.Add(b); err != nil {
			return err
		}
	}
	return nil
}

// Starter makes known who started the calling process, the kernel, where that
// shows traces of an agent, and says whether it did: what an agent starts is
// the agent's. A starter without any is left alone, whoever it is: people and
// services start kernels too.
func (g *Gate) Starter() (agent bool, err error) {
	if !Supported {
		return false, nil
	}
	f, err := starter()
	if err != nil {
		return false, err
	}
	return g.started(f)
}

func (g *Gate) started(f Facts) (agent bool, err error) {
	known := g.Known()
	// It stands above the kernel, not below it.
	known.Kernel = Process{PID: -1, Start: 1}
	switch why, _ := trace(f, known); why {
	case OfBody, SharedSession, SharedGroup, SharedCgroup, Marks:
		_, _, err := g.Hook(f)
		return true, err
	default:
		return false, nil
	}
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
