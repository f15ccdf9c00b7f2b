package daemon

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"assent/internal/peer"
	"assent/plexus"
)

// agents keep in the document which agents are known, so that a kernel that
// starts knows them before it lets anybody in: an agent that ends the kernel and
// starts it anew is no person for it.
type agents struct {
	document *plexus.Store
	gate     *peer.Gate
	boot     string

	mu   sync.Mutex
	last []peer.Body // that the register holds
}

// knownAgents is the register of the kernel that holds them.
var knownAgents = plexus.HostRegister("agents")

// kept is what the register holds.
type kept struct {
	// Boot is the run of the system: processes of another are others, whatever
	// their numbers.
	Boot   string      `json:"boot"`
	Agents []keptAgent `json:"agents"`
}

type keptAgent struct {
	PID     int    `json:"pid"`
	Start   uint64 `json:"start"`
	Session int    `json:"session"`
	Group   int    `json:"group"`
	Cgroup  string `json:"cgroup"`
	Login   uint32 `json:"login"`
}

var host = plexus.Writer{Role: plexus.Host, Name: "kernel"}

// recall makes known those that the document has and that are still there.
func (a *agents) recall(ctx context.Context) error {
	latest, err := a.document.Latest(ctx, "")
	if err != nil {
		return fmt.Errorf("agents of before: %w", err)
	}
	r, ok := latest[knownAgents]
	if !ok {
		return nil
	}
	var k kept
	if err := json.Unmarshal([]byte(r.Value), &k); err != nil {
		return fmt.Errorf("agents of before: %w", err)
	}
	if k.Boot != a.boot {
		return nil
	}
	bodies := make([]peer.Body, len(k.Agents))
	for i, n := range k.Agents {
		bodies[i] = peer.Body{Process: peer.Process{PID: n.PID, Start: n.Start}, Session: n.Session, Group: n.Group, Cgroup: n.Cgroup, Login: n.Login}
	}
	a.last = bodies
	return a.gate.Recall(bodies)
}

// keep writes down those that are known now, if there is one among them that is
// not yet written.
func (a *agents) keep(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.gate.Known().Bodies
	if !slices.ContainsFunc(now, func(b peer.Body) bool { return !slices.Contains(a.last, b) }) {
		return nil
	}
	k := kept{Boot: a.boot, Agents: make([]keptAgent, len(now))}
	for i, b := range now {
		k.Agents[i] = keptAgent{PID: b.PID, Start: b.Start, Session: b.Session, Group: b.Group, Cgroup: b.Cgroup, Login: b.Login}
	}
	_, err := a.document.Apply(ctx, plexus.Tx{Writer: host, Writes: []plexus.Row{plexus.Register{Name: knownAgents, Value: plexus.Value(k)}}})
	if err != nil {
		return fmt.Errorf("keeping which agents are known: %w", err)
	}
	a.last = now
	return nil
}
