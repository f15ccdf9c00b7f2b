package daemon

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"assent/internal/peer"
	"assent/internal/place"
	"assent/plexus"
)

// Agents that a kernel knew are known to the next one as soon as it is there,
// if they are: not when they have ended, and not when the system was started
// anew and their numbers are others'.
func TestAgentsAreRemembered(t *testing.T) {
	if !peer.Supported {
		t.Skip("everybody is an agent here")
	}
	document, err := plexus.Open(filepath.Join(t.TempDir(), "document"), plexus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer document.Close()
	cat := exec.Command(os.Args[0])
	cat.Env = append(os.Environ(), childWaits+"=1")
	stdin, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stdin.Close(); cat.Wait() }()
	p, err := peer.Find(cat.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	agent := peer.Body{Process: p, Login: 3}
	life := func(boot string) *agents {
		t.Helper()
		a := &agents{document: document, gate: peer.NewGate(nil, false), boot: boot}
		if err := a.recall(t.Context()); err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := life("one")
	if err := first.gate.Add(agent); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is written already
		if err := first.keep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if head, err := document.Head(t.Context()); err != nil || head.Rev != 1 {
		t.Errorf("written: %v %v", head, err)
	}
	if known := life("one").gate.Known().Bodies; !slices.Contains(known, agent) {
		t.Errorf("the next kernel knows %v", known)
	}
	if known := life("two").gate.Known().Bodies; len(known) != 0 {
		t.Errorf("after the system was started anew: %v", known)
	}
	stdin.Close()
	if err := cat.Wait(); err != nil {
		t.Fatal(err)
	}
	if known := life("one").gate.Known().Bodies; len(known) != 0 {
		t.Errorf("after it ended: %v", known)
	}
}

// An agent more costs a small row, however many are known.
func TestManyAgentsAreWrittenInParts(t *testing.T) {
	document, err := plexus.Open(filepath.Join(t.TempDir(), "document"), plexus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer document.Close()
	// All are this process in some way, so that none is gone.
	self, err := peer.Find(os.Getpid())
	if err != nil {
		t.Skip(err)
	}
	const many = 500
	bodies := func(a *agents) int { return len(a.gate.Known().Bodies) }
	a := &agents{document: document, gate: peer.NewGate(nil, false), boot: "one"}
	for i := range many {
		if err := a.gate.Add(peer.Body{Process: self, Group: i + 1}); err != nil {
			t.Fatal(err)
		}
		if err := a.keep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := document.Since(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	longest := 0
	for _, row := range rows {
		longest = max(longest, len(row.(plexus.Register).Value))
	}
	if len(rows) != many || longest > 2000 {
		t.Errorf("%d agents are %d rows, the longest of %d bytes", many, len(rows), longest)
	}
	if bodies(a) != many {
		t.Fatalf("%d are known", bodies(a))
	}
	next := &agents{document: document, gate: peer.NewGate(nil, false), boot: "one"}
	if err := next.recall(t.Context()); err != nil || bodies(next) != many {
		t.Errorf("the next kernel knows %d, %v", bodies(next), err)
	}
	if err := next.keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if head, err := document.Head(t.Context()); err != nil || head.Rev != many {
		t.Errorf("what is written is written again: %v %v", head, err)
	}
}

// Those that an older kernel kept in one register are known, and kept as they are now.
func TestAgentsOfAnOlderDocument(t *testing.T) {
	document, err := plexus.Open(filepath.Join(t.TempDir(), "document"), plexus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer document.Close()
	self, err := peer.Find(os.Getpid())
	if err != nil {
		t.Skip(err)
	}
	old := plexus.Value(kept{Boot: "one", Agents: []keptAgent{{PID: self.PID, Start: self.Start, Login: 3}}})
	if _, err := document.Apply(t.Context(), plexus.Tx{Writer: host, Writes: []plexus.Row{plexus.Register{Name: knownAgents, Value: old}}}); err != nil {
		t.Fatal(err)
	}
	a := &agents{document: document, gate: peer.NewGate(nil, false), boot: "one"}
	if err := a.recall(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	latest, err := document.Latest(t.Context(), "")
	if err != nil || latest[partOfAgents(0)].Value != old || !slices.Contains(a.gate.Known().Bodies, peer.Body{Process: self, Login: 3}) {
		t.Errorf("%v %v", latest, err)
	}
}

// What the register holds and nobody understands keeps a kernel from starting:
// it would take agents for people.
func TestAgentsNobodyUnderstands(t *testing.T) {
	for _, name := range []string{knownAgents, partOfAgents(agentParts - 1)} {
		document, err := plexus.Open(filepath.Join(t.TempDir(), "document"), plexus.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer document.Close()
		_, err = document.Apply(t.Context(), plexus.Tx{Writer: host, Writes: []plexus.Row{plexus.Register{Name: name, Value: `[]`}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := remember(t.Context(), peer.NewGate(nil, false), document, place.Place{}, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s: it was taken for nothing", name)
		}
	}
}
