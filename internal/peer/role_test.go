package peer

import (
	"testing"

	"pgregory.net/rapid"
)

const (
	ada   = 1000
	other = 1001
)

// The processes of a machine with a person at work: a terminal window with a
// shell, and what the person started in it.
var (
	system  = Ancestor{Process: Process{1, 1}, Group: 1, Session: 1, Name: "systemd"}
	service = Ancestor{Process: Process{50, 20}, UID: ada, Group: 50, Session: 50, Name: "systemd", Cgroup: "/user.slice/user@1000.service/init.scope"}
	window  = Ancestor{Process: Process{60, 30}, UID: ada, Group: 60, Session: 60, Name: "terminal", Cgroup: "/user.slice/app.slice/terminal.scope"}
	shell   = Ancestor{Process: Process{100, 40}, UID: ada, Group: 100, Session: 100, Terminal: 34817, Name: "bash", Cgroup: "/user.slice/app.slice/terminal.scope"}
	client  = Ancestor{Process: Process{200, 90}, UID: ada, Group: 200, Session: 100, Terminal: 34817, Name: "assent", Cgroup: "/user.slice/app.slice/terminal.scope"}

	daemon = Process{70, 35}
	// An agent in another terminal.
	bot = Ancestor{Process: Process{300, 50}, UID: ada, Group: 300, Session: 290, Terminal: 34818, Name: "agent"}
)

// person is a person's client in a terminal of its own.
func person() Facts {
	return Facts{Credentials: true, UID: ada, GID: ada, Lineage: []Ancestor{client, shell, window, service, system}, Whole: true, Pinned: true, Env: Clean}
}

func known(bodies ...Body) Known {
	return Known{Owners: []uint32{ada}, Kernel: daemon, Bodies: bodies}
}

func TestRoleOf(t *testing.T) {
	// with changes the facts of a person.
	with := func(change func(*Facts)) Facts {
		f := person()
		change(&f)
		return f
	}
	below := func(above ...Ancestor) Facts {
		return with(func(f *Facts) { f.Lineage = append([]Ancestor{client}, append(above, system)...) })
	}
	for _, c := range []struct {
		name  string
		facts Facts
		known Known
		token Token
		role  Role
		why   Why
	}{
		{"own-terminal", person(), known(), NoToken, Human, OwnTerminal},
		{"own-terminal-beside-an-agent", person(), known(Body{Process: bot.Process, Session: 290, Group: 300, Cgroup: "/agent"}), NoToken, Human, OwnTerminal},
		{"the-shell-itself", with(func(f *Facts) { f.Lineage = f.Lineage[1:] }), known(), NoToken, Human, OwnTerminal},

		{"nobody", Facts{}, known(), NoToken, None, Stranger},
		{"nobody-with-a-token", Facts{}, known(), Paired, None, Stranger},
		{"zero-facts-of-user-0", Facts{Credentials: true}, Known{Owners: []uint32{0}}, NoToken, Agent, Unknown},
		{"another-user", with(func(f *Facts) { f.UID = other }), known(), NoToken, None, Stranger},
		{"another-user-with-a-token", with(func(f *Facts) { f.UID = other }), known(), Paired, None, Stranger},
		{"root-is-no-owner", with(func(f *Facts) { f.UID = 0 }), known(), NoToken, None, Stranger},
		{"no-owners", person(), Known{Kernel: daemon}, NoToken, None, Stranger},

		{"gone-meanwhile", with(func(f *Facts) { f.Whole = false }), known(), NoToken, Agent, Unknown},
		{"gone-meanwhile-with-a-token", with(func(f *Facts) { f.Whole = false }), known(), Paired, Agent, Unknown},
		{"no-lineage", with(func(f *Facts) { f.Lineage = nil }), known(), Paired, Agent, Unknown},
		{"the-kernel-does-not-know-itself", person(), Known{Owners: []uint32{ada}}, Paired, Agent, Unknown},
		{"an-agent-nobody-can-recognize", person(), known(Body{Session: 290}), Paired, Agent, Unknown},
		{"environment-unread", with(func(f *Facts) { f.Env = Unread }), known(), NoToken, Agent, Unknown},
		{"environment-unread-with-a-token", with(func(f *Facts) { f.Env = Unread }), known(), Paired, Agent, Unknown},
		{"environment-kept-from-the-kernel-with-a-token", with(func(f *Facts) { f.Env = Hidden }), known(), Paired, Human, ByToken},
		{"environment-kept-from-the-kernel", with(func(f *Facts) { f.Env = Hidden }), known(), NoToken, Agent, Unknown},
		{"environment-kept-from-the-kernel-as-set-up", with(func(f *Facts) { f.Env = Hidden }), Known{Owners: []uint32{ada}, Kernel: daemon, HiddenEnv: true}, NoToken, Human, OwnTerminal},
		{"environment-unread-is-not-kept", with(func(f *Facts) { f.Env = Unread }), Known{Owners: []uint32{ada}, Kernel: daemon, HiddenEnv: true}, NoToken, Agent, Unknown},
		{"debugger", with(func(f *Facts) { f.Traced = true }), known(), Paired, Agent, UnderDebugger},

		{"below-the-kernel", below(Ancestor{Process: daemon, UID: ada}), known(), NoToken, Agent, OfKernel},
		{"below-the-kernel-with-a-token", below(Ancestor{Process: daemon, UID: ada}), known(), Paired, Agent, OfKernel},
		{"the-kernel-s-number-given-out-again", below(shell, Ancestor{Process: Process{daemon.PID, daemon.Start + 1}, UID: ada}), known(), NoToken, Human, OwnTerminal},
		{"below-an-agent", below(shell, bot), known(Body{Process: bot.Process}), NoToken, Agent, OfBody},
		{"below-an-agent-with-a-token", below(shell, bot), known(Body{Process: bot.Process}), Paired, Agent, OfBody},
		{"below-the-second-agent", below(shell, bot), known(Body{Process: Process{9, 9}}, Body{Process: bot.Process}), NoToken, Agent, OfBody},
		{"the-agent-itself", with(func(f *Facts) { f.Lineage = append([]Ancestor{bot}, f.Lineage[1:]...) }), known(Body{Process: bot.Process}), NoToken, Agent, OfBody},
		{"the-agent-s-number-given-out-again", below(shell, Ancestor{Process: Process{bot.PID, 77}, UID: ada}), known(Body{Process: bot.Process}), NoToken, Human, OwnTerminal},
		{"terminal-made-by-an-agent", below(shell, bot, window), known(Body{Process: bot.Process}), NoToken, Agent, OfBody},

		{"orphan-in-the-agent-s-session", person(), known(Body{Process: bot.Process, Session: client.Session}), NoToken, Agent, SharedSession},
		{"orphan-in-the-agent-s-group", person(), known(Body{Process: bot.Process, Group: client.Group}), Paired, Agent, SharedGroup},
		{"parent-in-the-agent-s-group", person(), known(Body{Process: bot.Process, Group: window.Group}), NoToken, Agent, SharedGroup},
		{"orphan-in-the-agent-s-cgroup", with(func(f *Facts) { f.Lineage[0].Cgroup = "/agent/7" }), known(Body{Process: bot.Process, Cgroup: "/agent/7"}), NoToken, Agent, SharedCgroup},
		{"orphan-below-the-agent-s-cgroup", with(func(f *Facts) { f.Lineage[1].Cgroup = "/agent/7/x" }), known(Body{Process: bot.Process, Cgroup: "/agent/7"}), NoToken, Agent, SharedCgroup},
		{"a-cgroup-of-a-like-name", with(func(f *Facts) { f.Lineage[0].Cgroup = "/agent/77" }), known(Body{Process: bot.Process, Cgroup: "/agent/7"}), NoToken, Human, OwnTerminal},
		{"the-cgroup-of-everybody", with(func(f *Facts) { f.Lineage[0].Cgroup = "/" }), known(Body{Process: bot.Process, Cgroup: "/"}), NoToken, Human, OwnTerminal},
		{"orphan-with-a-mark", with(func(f *Facts) { f.Env = Marked }), known(), NoToken, Agent, Marks},
		{"mark-with-a-token", with(func(f *Facts) { f.Env = Marked }), known(), Paired, Agent, Marks},
		{"mark-where-others-are-hidden", with(func(f *Facts) { f.Env = Marked }), Known{Owners: []uint32{ada}, Kernel: daemon, HiddenEnv: true}, NoToken, Agent, Marks},

		{"no-terminal", with(func(f *Facts) { f.Lineage[0].Terminal = 0 }), known(), NoToken, Agent, NoProof},
		{"no-terminal-with-a-token", with(func(f *Facts) { f.Lineage[0].Terminal = 0 }), known(), Paired, Human, ByToken},
		{"the-leader-is-no-ancestor", below(window), known(), NoToken, Agent, NoProof},
		{"the-leader-has-another-terminal", with(func(f *Facts) { f.Lineage[1].Terminal = 9 }), known(), NoToken, Agent, NoProof},
		{"the-leader-is-another-user-s", with(func(f *Facts) { f.Lineage[1].UID = other }), known(), NoToken, Agent, NoProof},
		{"started-by-a-service", with(func(f *Facts) {
			f.Lineage = []Ancestor{{Process: client.Process, UID: ada, Session: 50}, service, system}
		}), known(), NoToken, Agent, NoProof},

		{"own-login", with(func(f *Facts) { f.Login = 3 }), Known{Owners: []uint32{ada}, Kernel: daemon, OwnLogin: true, Bodies: []Body{{Process: bot.Process, Login: 4}}}, NoToken, Human, OwnTerminal},
		{"shared-login", with(func(f *Facts) { f.Login = 3 }), Known{Owners: []uint32{ada}, Kernel: daemon, OwnLogin: true, Bodies: []Body{{Process: bot.Process, Login: 3}}}, NoToken, Agent, SharedLogin},
		{"unknown-login", person(), Known{Owners: []uint32{ada}, Kernel: daemon, OwnLogin: true}, NoToken, Agent, SharedLogin},
		{"agent-of-unknown-login", with(func(f *Facts) { f.Login = 3 }), Known{Owners: []uint32{ada}, Kernel: daemon, OwnLogin: true, Bodies: []Body{{Process: bot.Process}}}, NoToken, Agent, SharedLogin},
	} {
		t.Run(c.name, func(t *testing.T) {
			role, why := RoleOf(c.facts, c.known, c.token)
			if role != c.role || why != c.why {
				t.Errorf("got %v (%v), want %v (%v)\nfacts %+v", role, why, c.role, c.why, c.facts)
			}
		})
	}
}

// Whatever the facts are: nobody becomes a person by less being known, by one
// more agent, or by having an agent above.
func TestNobodyBecomesAPersonByLess(t *testing.T) {
	ancestors := []Ancestor{client, shell, window, service, bot, {Process: daemon, UID: ada}}
	rapid.Check(t, func(t *rapid.T) {
		f := Facts{
			Credentials: rapid.Bool().Draw(t, "credentials"),
			UID:         rapid.SampledFrom([]uint32{ada, other, 0}).Draw(t, "uid"),
			Lineage:     rapid.SliceOfDistinct(rapid.SampledFrom(ancestors), func(a Ancestor) int { return a.PID }).Draw(t, "lineage"),
			Whole:       rapid.Bool().Draw(t, "whole"),
			Env:         Env(rapid.IntRange(0, 3).Draw(t, "env")),
			Traced:      rapid.Bool().Draw(t, "traced"),
			Login:       uint32(rapid.IntRange(0, 2).Draw(t, "login")),
		}
		k := Known{Owners: []uint32{ada}, Kernel: daemon, OwnLogin: rapid.Bool().Draw(t, "ownLogin"), HiddenEnv: rapid.Bool().Draw(t, "hiddenEnv")}
		token := Token(rapid.IntRange(0, 1).Draw(t, "token"))
		before, _ := RoleOf(f, k, token)
		worse := func(what string, f Facts, k Known, token Token) {
			if after, why := RoleOf(f, k, token); after > before {
				t.Fatalf("%s: %v became %v (%v)\nfacts %+v\nknown %+v", what, before, after, why, f, k)
			}
		}
		g := f
		g.Whole = false
		worse("not whole", g, k, token)
		g = f
		g.Env = Unread
		worse("environment unread", g, k, token)
		g = f
		g.Lineage = append(g.Lineage[:len(g.Lineage):len(g.Lineage)], bot)
		l := k
		l.Bodies = []Body{{Process: bot.Process}}
		worse("one more agent", f, l, token)
		if role, why := RoleOf(g, l, token); role == Human {
			t.Fatalf("below an agent: human (%v)", why)
		}
		worse("no token", f, k, NoToken)
		if !f.Whole || f.UID != ada || f.Env == Marked || f.Traced {
			if before == Human {
				t.Fatalf("human with %+v", f)
			}
		}
	})
}

func TestOriginOfALineage(t *testing.T) {
	apart := Ancestor{Process: Process{400, 95}, Group: 400, Session: 400}
	inner := Ancestor{Process: Process{390, 94}, Group: 390, Session: 390, Terminal: 34819}
	orphan := Ancestor{Process: Process{395, 94}, Group: 395, Session: 290, Terminal: 34818}
	term := Ancestor{Process: Process{290, 45}, Group: 290, Session: 290, Terminal: 34818}
	login := Ancestor{Process: Process{280, 10}, Group: 280, Session: 280, Terminal: 0x401}
	first := Ancestor{Process: Process{1, 1}, Group: 1, Session: 1, Terminal: 34817}
	for _, c := range []struct {
		name     string
		lineage  []Ancestor
		terminal string
	}{
		{"gone", nil, noTerminal},
		{"in-a-terminal", []Ancestor{bot, term, window, system}, "290"},
		{"in-a-session-of-its-own", []Ancestor{apart, bot, term, window, system}, "290"},
		{"in-a-terminal-it-opened", []Ancestor{inner, apart, term, window, system}, "290"},
		{"that-lost-its-parents", []Ancestor{orphan, system}, "290"},
		{"that-lost-its-parents-and-its-terminal", []Ancestor{apart, service, system}, noTerminal},
		{"in-a-window-of-a-desktop-started-at-a-console", []Ancestor{apart, term, window, login, system}, "290"},
		{"at-a-console", []Ancestor{apart, login, system}, "280"},
		{"adopted-by-the-shell-of-a-container", []Ancestor{apart, term, first}, "290"},
	} {
		if terminal := origin(c.lineage); terminal != c.terminal {
			t.Errorf("%s: got %q, want %q", c.name, terminal, c.terminal)
		}
	}
}

func TestHooked(t *testing.T) {
	hook := Ancestor{Process: Process{400, 95}, UID: ada, Group: 400, Session: 400, Name: "hook"}
	tool := Ancestor{Process: Process{350, 93}, UID: ada, Group: 350, Session: 290, Terminal: 34818, Name: "sh"}
	term := Ancestor{Process: Process{290, 45}, UID: ada, Group: 290, Session: 290, Terminal: 34818, Name: "bash"}
	editor := Ancestor{Process: Process{310, 46}, UID: ada, Group: 310, Session: 310, Name: "editor"}
	inner := Ancestor{Process: Process{390, 94}, UID: ada, Group: 390, Session: 390, Terminal: 34819, Name: "sh"}
	login := Ancestor{Process: Process{280, 10}, UID: ada, Group: 280, Session: 280, Terminal: 0x401, Name: "bash"}
	desk := Ancestor{Process: Process{285, 11}, UID: ada, Group: 285, Session: 280, Terminal: 0x401, Name: "xinit"}
	serial := login
	serial.Terminal = 0x440
	in := func(a Ancestor, cgroup string) Ancestor { a.Cgroup = cgroup; return a }
	window2 := in(window, "")
	first := Ancestor{Process: Process{1, 1}, UID: ada, Group: 1, Session: 1, Terminal: 34817, Name: "bash"}
	for _, c := range []struct {
		name  string
		facts Facts
		want  Body
		ok    bool
	}{
		{"in-a-terminal", Facts{Whole: true, Login: 2, Lineage: []Ancestor{hook, tool, bot, term, window, system}}, Body{Process: term.Process, Session: 290, Login: 2}, true},
		{"in-a-tab", Facts{Whole: true, Lineage: []Ancestor{hook, bot, in(term, "/u/app.slice/vte-spawn-1.scope"), in(window, "/u/app.slice/terminal.service"), system}}, Body{Process: term.Process, Session: 290, Cgroup: "/u/app.slice/vte-spawn-1.scope"}, true},
		{"in-one-of-many-windows", Facts{Whole: true, Lineage: []Ancestor{hook, bot, in(term, "/u/app.slice/kitty.scope"), in(window, "/u/app.slice/kitty.scope"), system}}, Body{Process: term.Process, Session: 290}, true},
		{"in-a-login", Facts{Whole: true, Lineage: []Ancestor{hook, bot, in(term, "/u/session-3.scope"), in(window, "/system.slice/sshd.service"), system}}, Body{Process: term.Process, Session: 290}, true},
		{"in-a-slice", Facts{Whole: true, Lineage: []Ancestor{hook, bot, in(term, "/u/app.slice"), in(window, "/u/init.scope"), system}}, Body{Process: term.Process, Session: 290}, true},
		{"in-a-tab-of-nobody-knows-what", Facts{Whole: true, Lineage: []Ancestor{hook, bot, in(term, "/u/vte-spawn-1.scope"), window2, system}}, Body{Process: term.Process, Session: 290}, true},
		{"in-a-terminal-it-opened", Facts{Whole: true, Lineage: []Ancestor{hook, inner, bot, term, window, system}}, Body{Process: term.Process, Session: 290}, true},
		{"in-a-window-of-a-desktop-started-at-a-console", Facts{Whole: true, Lineage: []Ancestor{hook, bot, term, window, desk, login, system}}, Body{Process: term.Process, Session: 290}, true},
		{"at-a-console", Facts{Whole: true, Lineage: []Ancestor{hook, bot, login, system}}, Body{Process: login.Process, Session: 280}, true},
		{"at-a-serial-line", Facts{Whole: true, Lineage: []Ancestor{hook, inner, bot, serial, system}}, Body{Process: serial.Process, Session: 280}, true},
		{"of-a-server-that-the-shell-of-a-container-adopted", Facts{Whole: true, Lineage: []Ancestor{hook, bot, term, window, first}}, Body{Process: term.Process, Session: 290}, true},
		{"below-the-shell-of-a-container", Facts{Whole: true, Lineage: []Ancestor{hook, inner, {Process: Process{9, 9}, UID: ada, Group: 9, Session: 1, Terminal: 34817}, first}}, Body{Process: first.Process, Session: 1}, true},
		{"in-an-editor", Facts{Whole: true, Lineage: []Ancestor{hook, editor, service, system}}, Body{Process: editor.Process}, true},
		{"as-a-service-of-root", Facts{Whole: true, Lineage: []Ancestor{hook, editor, {Process: Process{20, 9}}, system}}, Body{Process: editor.Process}, true},
		{"alone", Facts{Whole: true, Lineage: []Ancestor{hook}}, Body{Process: hook.Process}, true},
		{"not-whole", Facts{Lineage: []Ancestor{hook, term}}, Body{}, false},
		{"unknown", Facts{}, Body{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Hooked(c.facts)
			if got != c.want || ok != c.ok {
				t.Errorf("got %+v %v, want %+v %v", got, ok, c.want, c.ok)
			}
		})
	}
}
