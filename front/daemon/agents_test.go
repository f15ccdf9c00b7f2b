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

// What the register holds and nobody understands keeps a kernel from starting:
// it would take agents for people.
func TestAgentsNobodyUnderstands(t *testing.T) {
	document, err := plexus.Open(filepath.Join(t.TempDir(), "document"), plexus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer document.Close()
	_, err = document.Apply(t.Context(), plexus.Tx{Writer: host, Writes: []plexus.Row{plexus.Register{Name: knownAgents, Value: `[]`}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := remember(t.Context(), peer.NewGate(nil, false), document, place.Place{}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("it was taken for nothing")
	}
}
