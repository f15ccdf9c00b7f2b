package api_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"assent/front/api"
	"assent/front/api/wire"
)

// Whoever keeps the list of agents is told before a call of one is taken, and
// may refuse it. People are not told of.
func TestAgentsAreToldOf(t *testing.T) {
	var told atomic.Int32
	var refuse atomic.Bool
	w := newWorld(t, api.Options{Agents: func(_ context.Context, conn net.Conn) error {
		if _, ok := conn.(*net.UnixConn); !ok {
			t.Errorf("told of a %T", conn)
		}
		told.Add(1)
		if refuse.Load() {
			return errors.New("too many agents at once")
		}
		return nil
	}})
	w.session("s", "")
	if n := told.Load(); n != 0 {
		t.Errorf("a person's session: told of %d agents", n)
	}
	if _, err := w.agent.CreateSession(t.Context(), wire.NewSession{ID: "a", Workspace: w.dir}); err != nil || told.Load() != 1 {
		t.Errorf("an agent's session: %v, told of %d", err, told.Load())
	}
	w.admit("a", "j", "let it")
	if n := told.Load(); n != 2 {
		t.Errorf("an agent's call: told of %d", n)
	}
	refuse.Store(true)
	if _, err := w.agent.Admit(t.Context(), "a", wire.NewJob{ID: "k", Name: "Bash", Arguments: bash("let it")}); !errors.Is(err, wire.Role) {
		t.Errorf("refused: %v, want %v", err, wire.Role)
	}
	if _, err := w.agent.CreateSession(t.Context(), wire.NewSession{ID: "b", Workspace: w.dir}); !errors.Is(err, wire.Role) {
		t.Errorf("refused: %v, want %v", err, wire.Role)
	}
	if _, err := w.client.Session(t.Context(), "b"); !errors.Is(err, wire.NoSession) {
		t.Errorf("what was refused is there: %v", err)
	}
}
