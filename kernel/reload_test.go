package kernel

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"assent/floor"
	"assent/plexus"
)

// changing are policies that a test changes.
type changing struct {
	t    testing.TB
	mu   sync.Mutex
	f    floor.Floor
	tell map[*func()]bool
}

func changingOf(t testing.TB, text string) *changing {
	c := &changing{t: t, tell: make(map[*func()]bool)}
	c.change(text)
	return c
}

// change puts another operator's policy in force, and tells of it.
func (c *changing) change(text string) {
	c.t.Helper()
	p, err := floor.ParsePolicy("/policy.yaml", []byte(text))
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	c.f.Operator = p
	var tell []func()
	for f := range c.tell {
		tell = append(tell, *f)
	}
	c.mu.Unlock()
	for _, f := range tell {
		f()
	}
}

func (c *changing) Layers(string) Layers {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Layers{Floor: c.f}
}

func (c *changing) Notify(_ string, f func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell[&f] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.tell, &f)
	}
}

const allowing, blocking = "version: 1\nrun: {allow: [acme]}\n", "version: 1\nrun: {block: [acme]}\n"

// A call is judged by the policies of the moment it is judged, and an answer
// of policies that are no more is never written where it was not yet.
func TestReload(t *testing.T) {
	t.Run("while it waits for a slot and is judged", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			policies := changingOf(t, allowing)
			w := newWorld(t, Options{Policies: policies, Registry: registry(ok), Settings: Settings{Slots: 1},
				Prepare: func(_ context.Context, _ *floor.Floor, call floor.Call) floor.Call {
					<-gate
					return call
				}})
			w.session("s", "manual")
			w.call("s", "judged", "acme 1")
			still()
			w.call("s", "waits", "acme 2")
			still()
			policies.change(blocking)
			still()
			close(gate)
			still()
			for _, leaf := range []string{"judged", "waits"} {
				if got := w.fields("s", leaf)[plexus.OutcomeJSON]; got != policyReceipt {
					t.Errorf("%s: outcome %s", leaf, got)
				}
			}
		})
	})
	t.Run("between the answer and its row, which comes too late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow := slowResults{gate: make(chan struct{})}
			policies := changingOf(t, allowing)
			w := newWorldOver(t, Options{Policies: policies, Registry: registry(ok)}, func(doc *plexus.Store) Document {
				slow.Store = doc
				return &slow
			})
			w.session("s", "manual")
			w.call("s", "j", "acme")
			still()
			policies.change(blocking)
			// What was decided before a register does not count after it.
			w.write(ada, plexus.Register{Session: "s", Name: plexus.AutoAllow, Value: `{"mcp":true}`})
			still()
			close(slow.gate)
			still()
			if got := w.fields("s", "j")[plexus.OutcomeJSON]; got != policyReceipt {
				t.Errorf("outcome %s", got)
			}
		})
	})
	t.Run("after its row: the floor runs once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			policies := changingOf(t, "version: 1\n")
			w := newWorld(t, Options{Policies: policies, Registry: registry(ok)})
			w.session("s", "manual")
			w.call("s", "j", "acme")
			still()
			policies.change(blocking)
			still()
			if got := w.fields("s", "j")[plexus.PolicyResult]; got != `"ask"` {
				t.Error("the result", got)
			}
			w.answer("s", "j", true)
			still()
			if got := w.fields("s", "j")[plexus.OutcomeJSON]; got != `{"ok":true}` {
				t.Errorf("outcome %s", got)
			}
		})
	})
}

// slowResults is a document that takes no result of the floor until the gate is
// open.
type slowResults struct {
	*plexus.Store
	gate chan struct{}
}

func (s *slowResults) Apply(ctx context.Context, tx plexus.Tx) (plexus.Rev, error) {
	for _, row := range tx.Writes {
		if f, ok := row.(plexus.Field); ok && f.Name == plexus.PolicyResult {
			<-s.gate
		}
	}
	return s.Store.Apply(ctx, tx)
}
