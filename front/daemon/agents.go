package daemon

import (
	"context"
	"fmt"
	"slices"
	"strconv"
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

	mu    sync.Mutex
	parts [agentParts][]peer.Body // what the registers hold
}

// agentParts is over how many registers of the kernel the agents are shared out. Of a
// register all is written each time; one for each agent would be as many as there
// ever were at a time, and all are read with every session.
const agentParts = 64

// knownAgents is the register that held all of them, in older documents.
var knownAgents = plexus.HostRegister("agents")

// partOfAgents is one that holds some of them.
func partOfAgents(i int) string { return knownAgents + "/" + strconv.Itoa(i) }

// kept is what a register holds.
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
	all, err := a.read(latest[knownAgents])
	if err != nil {
		return err
	}
	for i := range a.parts {
		if a.parts[i], err = a.read(latest[partOfAgents(i)]); err != nil {
			return err
		}
		all = append(all, a.parts[i]...)
	}
	return a.gate.Recall(all)
}

// read are the agents in a register, none where that was not written in this run of
// the system.
func (a *agents) read(r plexus.Register) ([]peer.Body, error) {
	if r.Value == "" {
		return nil, nil
	}
	var k kept
	if err := json.Unmarshal([]byte(r.Value), &k); err != nil {
		return nil, fmt.Errorf("agents of before: %w", err)
	}
	if k.Boot != a.boot {
		return nil, nil
	}
	bodies := make([]peer.Body, len(k.Agents))
	for i, n := range k.Agents {
		bodies[i] = peer.Body{Process: peer.Process{PID: n.PID, Start: n.Start}, Session: n.Session, Group: n.Group, Cgroup: n.Cgroup, Login: n.Login}
	}
	return bodies, nil
}

// keep writes down those that are known now and are not yet written. Each goes to the
// register that has the fewest, and those that are gone leave that.
func (a *agents) keep(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.gate.Known().Bodies
	written := make(map[peer.Body]bool, len(now))
	for _, some := range a.parts {
		for _, b := range some {
			written[b] = true
		}
	}
	fresh := slices.DeleteFunc(slices.Clone(now), func(b peer.Body) bool { return written[b] })
	if len(fresh) == 0 {
		return nil
	}
	known := make(map[peer.Body]bool, len(now))
	for _, b := range now {
		known[b] = true
	}
	next, changed := a.parts, make(map[int]bool)
	for i, some := range next {
		next[i] = slices.DeleteFunc(slices.Clone(some), func(b peer.Body) bool { return !known[b] })
	}
	for _, b := range fresh {
		least := 0
		for i := range next {
			if len(next[i]) < len(next[least]) {
				least = i
			}
		}
		next[least] = append(next[least], b)
		changed[least] = true
	}
	var writes []plexus.Row
	for i := range next {
		if !changed[i] {
			next[i] = a.parts[i] // as it is written
			continue
		}
		k := kept{Boot: a.boot, Agents: make([]keptAgent, len(next[i]))}
		for j, b := range next[i] {
			k.Agents[j] = keptAgent{PID: b.PID, Start: b.Start, Session: b.Session, Group: b.Group, Cgroup: b.Cgroup, Login: b.Login}
		}
		writes = append(writes, plexus.Register{Name: partOfAgents(i), Value: plexus.Value(k)})
	}
	if _, err := a.document.Apply(ctx, plexus.Tx{Writer: host, Writes: writes}); err != nil {
		return fmt.Errorf("keeping which agents are known: %w", err)
	}
	a.parts = next
	return nil
}
