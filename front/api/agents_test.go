package api_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
)

// Whoever keeps the list of agents is told before a call of one is taken, and
// may refuse it. People are not told of.
func TestAgentsAreToldOf(t *testing.T) {
	var told atomic.Int32
	var refuse atomic.Bool
	w := newWorld(t, api.Options{Agents: func(_ context.Context, conn net.Conn) (string, error) {
		if _, ok := conn.(*net.UnixConn); !ok {
			t.Errorf("told of a %T", conn)
		}
		told.Add(1)
		if refuse.Load() {
			return "", errors.New("too many agents at once")
		}
		return "", nil
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

// Whoever says that they are an agent is one, whatever they look like, and
// nobody is a person by saying so.
func TestAgentsByTheirWord(t *testing.T) {
	w := newWorld(t, api.Options{})
	as := func(headers ...string) (int, string) {
		return w.raw(request("GET", "/v1/status", "", headers...))
	}
	if status, body := as("Authorization: Bearer ada", "Assent-Role: agent"); status != 200 || !strings.Contains(body, `"you":{"role":"agent","name":"hook"}`) {
		t.Errorf("a person's process for an agent: %d %s", status, body)
	}
	if status, body := as("Authorization: Bearer hook", "Assent-Role: agent"); status != 200 || !strings.Contains(body, `"role":"agent"`) {
		t.Errorf("an agent: %d %s", status, body)
	}
	for _, claim := range []string{"human", "host", "Agent", "x"} {
		if status, body := as("Authorization: Bearer hook", "Assent-Role: "+claim); status != 400 || code(body) != wire.BadRequest {
			t.Errorf("%s: %d %s", claim, status, body)
		}
	}
	if status, _ := as("Authorization: Bearer ada", "Assent-Role: agent", "Assent-Role: agent"); status != 400 {
		t.Errorf("twice: %d", status)
	}
	c := client.New(w.socket, client.Options{Token: "ada", Agent: true})
	defer c.Close()
	if st, err := c.Status(t.Context()); err != nil || st.You.Role != "agent" {
		t.Errorf("by the client: %+v, %v", st, err)
	}
}

// What an agent may not choose, and a session that is another's, are refused by
// a code of their own.
func TestAgentsWithinBounds(t *testing.T) {
	w := newWorld(t, api.Options{Agents: func(context.Context, net.Conn) (string, error) { return "/usr", nil }})
	w.session("s", "yolo")
	w.admit("s", "j", "let it")
	other := client.New(w.socket, client.Options{Token: "spy"})
	defer other.Close()
	if _, err := other.Admit(t.Context(), "s", wire.NewJob{Name: "Bash", Arguments: bash("let it")}); !errors.Is(err, wire.Other) {
		t.Errorf("another's session: %v", err)
	}
	if _, err := other.CreateSession(t.Context(), wire.NewSession{Workspace: "/usr/lib", Parent: "s"}); !errors.Is(err, wire.Other) {
		t.Errorf("below another's session: %v", err)
	}
	if _, err := other.CreateSession(t.Context(), wire.NewSession{Workspace: w.dir}); !errors.Is(err, wire.Bounds) || !strings.Contains(err.Error(), "/usr") {
		t.Errorf("beside where it was started: %v", err)
	}
	if _, err := other.CreateSession(t.Context(), wire.NewSession{Workspace: "/usr/lib"}); err != nil {
		t.Errorf("where it was started: %v", err)
	}
}
