package kernel

import (
	"context"
	"errors"
	"sync"

	"assent/remainder"
)

// judge is the classifier of the settings: the program, the connections, and what
// was voted in this process (law §9).
type judge struct {
	k *Kernel

	mu       sync.Mutex
	gates    map[string]*gate            // by connection, "" for none
	caches   map[string]*remainder.Cache // by session
	programs map[string]loaded           // by name and text
}

// loaded is what came of loading a program.
type loaded struct {
	program *remainder.Program
	err     error
}

// The most that is kept: sessions with votes, and programs. More of them begin anew.
const (
	mostCaches   = 1000
	mostPrograms = 16
)

func newJudge(k *Kernel) *judge {
	return &judge{k: k, gates: make(map[string]*gate), caches: make(map[string]*remainder.Cache), programs: make(map[string]loaded)}
}

// settings are those that hold.
func (j *judge) settings() Settings {
	j.k.mu.Lock()
	defer j.k.mu.Unlock()
	return j.k.set
}

// program is the program of a session: what a person wrote for it or for all, that of
// the settings, or the one that ships. One that cannot be loaded is no reason to take
// the next (law ruling 17).
func (j *judge) program(ctx context.Context, written string) (*remainder.Program, error) {
	name, text := "judgeAskProgram", written
	if text == "" {
		of := j.settings().Program
		if of.Err != nil {
			return nil, of.Err
		}
		if name, text = of.Name, of.Text; name == "" && text == "" {
			name, text = remainder.ShippedName, remainder.Shipped
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	key := name + "\x00" + text
	if l, ok := j.programs[key]; ok {
		return l.program, l.err
	}
	p, err := remainder.Load(ctx, name, text)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(j.programs) >= mostPrograms {
		clear(j.programs)
	}
	j.programs[key] = loaded{p, err}
	return p, err
}

// ProgramError is why the classifier's program of the settings cannot run, nil where it
// can. Every attempt fails for that.
func (k *Kernel) ProgramError(ctx context.Context) error {
	if k.judge == nil {
		return nil
	}
	_, err := k.judge.program(ctx, "")
	return err
}

// unasked reports whether an attempt would have no connection to ask, and no vote of
// its own.
func (j *judge) unasked(choices remainder.Choices, written string) bool {
	if _, err := choices.Choose(j.settings().Connections); err == nil {
		return false
	}
	p, err := j.program(j.k.ctx, written)
	return err == nil && !p.Plain
}

func (j *judge) gate(connection string) *gate {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.gates[connection] == nil {
		j.gates[connection] = newGate(j.k)
	}
	return j.gates[connection]
}

// cache has f called with the votes of a session.
func (j *judge) cache(session string, f func(*remainder.Cache)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.caches[session]
	if c == nil {
		if len(j.caches) >= mostCaches {
			clear(j.caches)
		}
		c = new(remainder.Cache)
		j.caches[session] = c
	}
	f(c)
}

// Vote is one attempt.
func (j *judge) Vote(ctx context.Context, q Question) (vote remainder.Vote, err error) {
	p, err := j.program(ctx, q.program)
	if err != nil {
		return remainder.Vote{}, err
	}
	call := remainder.CallOf(q.Leaf, q.View)
	call.Cwd = q.Cwd
	scene, err := j.k.sceneOf(ctx, q.facts, q.Leaf.ID)
	if err != nil {
		return remainder.Vote{}, err
	}
	call.Effects = remainder.EffectsIn(scene.explanation())
	key := call.Key()
	known := false
	j.cache(q.Session, func(c *remainder.Cache) { vote, known = c.Vote(p, key) })
	if known {
		return vote, nil
	}
	all := j.settings().Connections
	choice, unchosen := q.choices.Choose(all)
	if unchosen != nil {
		choice = remainder.Choice{}
	}
	g := j.gate(choice.Connection)
	if err := g.enter(ctx, q.Session); err != nil {
		return remainder.Vote{}, err
	}
	how, asked := untold, false
	defer func() { g.leave(how, err) }()
	call.Kind = kindOf(q.Leaf, scene.explanation(), q.facts.Workspace)
	result, record, err := remainder.Ask(ctx, p, remainder.Question{Call: call, Gather: scene.evidence, Salt: j.k.NewID()}, func(ctx context.Context) (remainder.Model, error) {
		asked = true
		if unchosen != nil {
			return nil, unchosen
		}
		return all.Connect(ctx, choice.Connection, choice.Model)
	})
	vote = record.Vote(result, choice)
	switch {
	case choice.Connection == "" || !asked: // there is no connection to tell of
	case down(err), errors.Is(err, errSlow):
		how = failing
	case ctx.Err() == nil:
		how = well
	}
	if err == nil && ctx.Err() == nil { // a vote that comes too late is not live
		j.cache(q.Session, func(c *remainder.Cache) { c.Keep(p, key, vote) })
	}
	return vote, err
}

// own are the daemon's own files: no call may touch them.
func (k *Kernel) own() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append(k.Own[:len(k.Own):len(k.Own)], k.set.Program.Files...)
}
