package session

import (
	"strings"
	"testing"

	"assent/approval"
)

// What a floor and a body hand in may be anything. What the document would not
// take is told in words that it takes: a save that is refused for good would
// keep its leaf for ever.
func TestWhatTheDocumentDoesNotKeep(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	outcomes := []struct{ why, outcome string }{
		{"nothing", ""},
		{"no JSON", "done"},
		{"two values", `{} {}`},
		{"null", ` null `},
		{"not UTF-8", "{\"text\":\"\xff\"}"},
		{"not UTF-8 and not JSON", "\xff"},
		{"nested without end", deep(100_000)},
		{"nested more than the engine reads", deep(1500)},
		{"nested as deep as is kept", deep(maxDepth)},
		{"one more", deep(maxDepth + 1)},
		{"brackets in a text nest nothing", `{"text":"` + strings.Repeat("[", 5000) + `\"["}`},
		{"a NUL", "{\"text\":\"\x00\"}"},
		{"a NUL that is written out", `{"text":"\u0000"}`},
		{"half a character", `{"text":"\ud800"}`},
		{"a number too large", `1e999999`},
		{"a member twice", `{"a":1,"a":2}`},
	}
	for _, test := range outcomes {
		t.Run("outcome/"+test.why, func(t *testing.T) {
			l := newLife(t)
			l.bash("a")
			l.floors(FloorDone{Job: "a", Result: approval.Allow})
			l.step(BodyDone{Job: "a", Outcome: test.outcome})
			l.saveAll()
			if !l.doc.has("a", Completed) || len(l.m.jobs) > 0 {
				t.Errorf("outcome %.40q was not kept: %s", test.outcome, l.story("a"))
			}
		})
	}
	floors := []struct {
		why string
		ev  FloorDone
	}{
		{"an explanation that is null", FloorDone{Explanation: "null"}},
		{"that is no object", FloorDone{Explanation: "[1]"}},
		{"that is not UTF-8", FloorDone{Explanation: "{\"hatch\":false,\"x\":\"\xff\"}"}},
		{"that nests without end", FloorDone{Explanation: `{"x":` + deep(1500) + `}`}},
		{"a message that is not UTF-8", FloorDone{Message: approval.Written("\xff\x00")}},
		{"paths that are not UTF-8", FloorDone{Paths: []approval.Path{"/data/\xff"}}},
		{"a path with a NUL", FloorDone{Paths: []approval.Path{"/data/\x00"}}},
	}
	for _, test := range floors {
		t.Run("floor/"+test.why, func(t *testing.T) {
			l := newLife(t)
			if err := l.doc.mint(Job{ID: "a", Name: "Read"}); err != nil {
				t.Fatal(err)
			}
			l.deliver(l.doc.rev)
			test.ev.Job, test.ev.Result = "a", approval.Deny
			l.floors(test.ev)
			if !l.doc.has("a", PolicyResult) {
				t.Error("it was not kept")
			}
			// What is decided on it now and after a crash is the same.
			before, _ := l.m.Leaf("a")
			l.open()
			if after, _ := l.m.Leaf("a"); len(before.Paths) != len(after.Paths) || len(after.Paths) > 0 && before.Paths[0] != after.Paths[0] || before.RunsHatch != after.RunsHatch {
				t.Errorf("before the crash %q %v, after it %q %v", before.Paths, before.RunsHatch, after.Paths, after.RunsHatch)
			}
			if err := l.doc.person(nil, Field{"a", Approved, "true"}); err != nil {
				t.Fatal(err)
			}
			l.deliver(l.doc.rev)
			l.saveAll()
			if keys, ok := l.doc.latest(ReadAllowlist); ok {
				t.Errorf("%s is remembered", keys)
			}
		})
	}
	t.Run("attempt", func(t *testing.T) {
		l := newLife(t)
		if err := l.doc.person([]Register{{Name: StandingPolicy, Value: `"auto"`}}); err != nil {
			t.Fatal(err)
		}
		l.bash("a")
		l.floors(FloorDone{Job: "a", Result: approval.Ask})
		l.done(Classify, "a")
		l.step(ClassifierFailed{Job: "a", Attempt: 1, Message: "\xff\x00"})
		l.saveAll()
		if !l.doc.has("a", JudgeFail+"1") {
			t.Error("it was not kept")
		}
	})
}

// newLife is a life over the real document, and one in memory.
func newLife(t testing.TB) *life {
	t.Helper()
	facts := Facts{Workspace: "/w", Home: "/home/u"}
	l := &life{facts: facts, doc: newDocument(facts), lenient: func() bool { return false }, wrong: t.Errorf}
	l.doc.real = openReal(t, facts)
	l.open()
	return l
}

// bash mints a call that the machine sees.
func (l *life) bash(id JobID) {
	if err := l.doc.mint(Job{ID: id, Name: "Bash"}); err != nil {
		l.wrong("%v", err)
	}
	l.deliver(l.doc.rev)
}

// floors is the floor's answer, and what follows from it.
func (l *life) floors(ev FloorDone) {
	l.done(Floor, ev.Job)
	l.step(ev)
	l.saveAll()
}

// saveAll writes what is to be written, until nothing is.
func (l *life) saveAll() {
	for len(l.saves) > 0 {
		if _, err := l.apply(l.saves[0].ID, atOnce); err != nil {
			l.wrong("%v", err)
			return
		}
	}
}

// latest is the register of the session that holds.
func (d *document) latest(name string) (string, bool) {
	for i := len(d.registers) - 1; i >= 0; i-- {
		if r := d.registers[i]; r.Name == name && !r.Kernel {
			return r.Value, true
		}
	}
	return "", false
}
