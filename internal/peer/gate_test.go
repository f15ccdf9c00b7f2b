package peer

import (
	"errors"
	"net"
	"testing"
)

func gate(f Facts, err error) *Gate {
	return &Gate{known: known(), of: func(*net.UnixConn) (Facts, error) { return f, err }, alive: func(Body) bool { return true }}
}

func TestGate(t *testing.T) {
	unix := new(net.UnixConn)
	if c := gate(person(), nil).Caller(unix, NoToken); c.Role != Human || c.Why != OwnTerminal || c.Facts.UID != ada {
		t.Errorf("a person: %v", c)
	}
	if c := gate(person(), errors.New("no")).Caller(unix, Paired); c.Role != None {
		t.Errorf("cannot be looked at: %v", c)
	}
	if c := gate(person(), nil).Caller(new(net.TCPConn), Paired); c.Role != None {
		t.Errorf("no unix socket: %v", c)
	}
	if c := NewGate(nil, false).Caller(unix, Paired); c.Role != None {
		t.Errorf("nobody may connect: %v", c)
	}
}

// What a person was taken for ends when the agent it belongs to becomes known.
func TestGateHook(t *testing.T) {
	g := gate(person(), nil)
	if err := g.Hook(person()); err != nil {
		t.Fatal(err)
	}
	if c := g.Caller(new(net.UnixConn), NoToken); c.Role != Agent || c.Why != OfBody {
		t.Errorf("beside the hook: %v", c)
	}
	if err := g.Hook(person()); err != nil || len(g.Known().Bodies) != 1 {
		t.Errorf("a second time: %v, known %v", err, g.Known().Bodies)
	}
	if err := g.Hook(Facts{}); err == nil {
		t.Error("an agent nobody can recognize was taken")
	}
	g.alive = func(Body) bool { return false }
	if c := g.Caller(new(net.UnixConn), NoToken); c.Role != Human {
		t.Errorf("nothing is left of the agent: %v", c)
	}
}

func TestGateIsFull(t *testing.T) {
	g := gate(person(), nil)
	for pid := range maxAgents {
		g.bodies = append(g.bodies, Body{Process: Process{pid + 1000, 1}})
	}
	if err := g.Add(Body{Process: bot.Process}); !errors.Is(err, ErrAgents) {
		t.Errorf("got %v, want %v", err, ErrAgents)
	}
	if err := g.Add(g.bodies[7]); err != nil {
		t.Errorf("one that is known: %v", err)
	}
}
