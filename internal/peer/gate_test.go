package peer

import (
	"errors"
	"net"
	"testing"
)

func gate(f Facts, err error) *Gate {
	return &Gate{known: known(), of: func(*net.UnixConn) (Facts, error) { return f, err }, alive: func() func(Body) bool { return func(Body) bool { return true } }}
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
	if _, added, err := g.Hook(person()); err != nil || !added {
		t.Fatal(added, err)
	}
	if c := g.Caller(new(net.UnixConn), NoToken); c.Role != Agent || c.Why != OfBody {
		t.Errorf("beside the hook: %v", c)
	}
	if _, added, err := g.Hook(person()); err != nil || added || len(g.Known().Bodies) != 1 {
		t.Errorf("a second time: %v %v, known %v", added, err, g.Known().Bodies)
	}
	if _, _, err := g.Hook(Facts{}); err == nil {
		t.Error("an agent nobody can recognize was taken")
	}
	g.alive = func() func(Body) bool { return func(Body) bool { return false } }
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

// A kernel that starts knows the agents of its earlier life that are still
// there, before they ask again.
func TestRecall(t *testing.T) {
	g := gate(person(), nil)
	here, gone := Body{Process: shell.Process, Session: shell.Session}, Body{Process: bot.Process}
	g.alive = func() func(Body) bool { return func(b Body) bool { return b == here } }
	if err := g.Recall([]Body{gone, here}); err != nil {
		t.Fatal(err)
	}
	if c := g.Caller(new(net.UnixConn), Paired); c.Role != Agent || c.Why != OfBody {
		t.Errorf("who asked before: %v", c)
	}
	if known := g.Known().Bodies; len(known) != 1 {
		t.Errorf("known: %v", known)
	}
}

// What an agent starts a kernel from is the agent's; a person's terminal is not.
func TestStarter(t *testing.T) {
	for why, c := range map[string]struct {
		change func(*Facts)
		known  []Body
		agent  bool
	}{
		"a-person":              {func(*Facts) {}, nil, false},
		"a-service":             {func(f *Facts) { f.Lineage = []Ancestor{service, system} }, nil, false},
		"a-mark":                {func(f *Facts) { f.Env = Marked }, nil, true},
		"below-an-agent":        {func(*Facts) {}, []Body{{Process: window.Process}}, true},
		"in-an-agent-s-session": {func(*Facts) {}, []Body{{Process: bot.Process, Session: shell.Session}}, true},
		"cannot-be-told":        {func(f *Facts) { f.Whole = false }, nil, false},
	} {
		f := person()
		c.change(&f)
		g := gate(person(), nil)
		g.bodies = c.known
		agent, err := g.started(f)
		if err != nil || agent != c.agent {
			t.Errorf("%s: got %v %v, want %v", why, agent, err, c.agent)
		}
		if who := g.Caller(new(net.UnixConn), Paired); (who.Role == Agent) != c.agent {
			t.Errorf("%s: beside it: %v", why, who)
		}
	}
}

// What an agent leaves behind in the tab it runs in is the agent's: a multiplexer
// that left its parents, and what runs in that.
func TestAgentOfATab(t *testing.T) {
	tab := shell
	tab.Cgroup = "/u/app.slice/vte-spawn-1.scope"
	hook := Ancestor{Process: Process{400, 95}, UID: ada, Group: 400, Session: tab.Session, Terminal: tab.Terminal, Cgroup: tab.Cgroup}
	server := Ancestor{Process: Process{420, 96}, UID: ada, Group: 420, Session: 420, Cgroup: tab.Cgroup}
	pane := Ancestor{Process: Process{430, 97}, UID: ada, Group: 430, Session: 430, Terminal: 34820, Cgroup: "/u/app.slice/tmux-spawn-2.scope"}
	of := func(lineage ...Ancestor) Facts { f := person(); f.Lineage = lineage; return f }
	g := gate(of(pane, server, service, system), nil)
	if c := g.Caller(new(net.UnixConn), NoToken); c.Role != Human {
		t.Errorf("before anybody asked: %v", c)
	}
	if _, _, err := g.Hook(of(hook, tab, window, service, system)); err != nil {
		t.Fatal(err)
	}
	if c := g.Caller(new(net.UnixConn), NoToken); c.Role != Agent || c.Why != SharedCgroup {
		t.Errorf("in a multiplexer it left behind: %v", c)
	}
}

// What asks for an agent by other ways is the same agent: from a terminal that
// it opened, and after it lost its parents.
func TestAgentIsOne(t *testing.T) {
	g := gate(person(), nil)
	asks := func(f Facts) Body {
		t.Helper()
		b, _, err := g.Hook(f)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	inner := Ancestor{Process: Process{500, 97}, UID: ada, Group: 500, Session: 500, Terminal: 34820, Name: "sh"}
	opener := Ancestor{Process: Process{450, 96}, UID: ada, Group: 450, Session: shell.Session, Terminal: shell.Terminal, Name: "script"}
	orphan := Ancestor{Process: Process{510, 98}, UID: ada, Group: 510, Session: shell.Session, Terminal: shell.Terminal, Name: "hook"}
	first := asks(Facts{Whole: true, Lineage: []Ancestor{inner, opener, shell, window, system}})
	if first.Process != shell.Process {
		t.Errorf("from a terminal it opened: %v, want %v", first, shell.Process)
	}
	if b := asks(person()); b != first {
		t.Errorf("from its own: %v", b)
	}
	if b := asks(Facts{Whole: true, Lineage: []Ancestor{orphan, system}}); b != first {
		t.Errorf("without its parents: %v", b)
	}
	if b := asks(Facts{Whole: true, Lineage: []Ancestor{bot, system}}); b == first {
		t.Error("another agent is not told from it")
	}
}
