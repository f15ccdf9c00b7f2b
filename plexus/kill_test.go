//go:build linux || darwin

package plexus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// allRounds is the variable that has the long tests run whole.
const allRounds = "ASSENT_TEST_STORM"

// stormWriters is how many writers a dying process has.
const stormWriters = 64

func init() {
	children["storm"] = storm
}

// life is what a kernel saves for a leaf, in its order. Each is one Tx.
var life = []struct {
	writer Writer
	seen   bool
	fields [][2]string
}{
	{host, false, [][2]string{{PolicyResult, `"ask"`}, {PolicyMessage, `"no rule"`}, {Paths, `["a"]`}, {Effects, `[]`}}},
	{human, false, [][2]string{{Approved, True}, {ApprovalComment, `"go on"`}}},
	{host, true, [][2]string{{OrchestrationResult, True}, {LicenseReason, `"a person allowed it"`}}},
	{host, false, [][2]string{{BodyStarted, True}}},
	{host, false, [][2]string{{OutcomeJSON, `{"ok":true}`}, {Completed, True}}},
}

// storm lives the lives of leaves from many writers at once until it is
// killed. What was acknowledged is told on out: a leaf and how many of its
// saves.
func storm(arg string, _ io.Writer) error {
	round, path, _ := strings.Cut(arg, " ")
	s, err := Open(path, Options{})
	if err != nil {
		return err
	}
	ctx := context.Background()
	if _, err := s.Apply(ctx, Tx{Writer: host, Writes: []Row{Session{ID: round}}}); err != nil {
		return err
	}
	var group sync.WaitGroup
	for w := range stormWriters {
		group.Go(func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d.%d", w, i)
				seen, err := s.Apply(ctx, Tx{Writer: agent, Writes: []Row{Job{Session: round, ID: id, Name: "Bash"}}})
				for n, save := range life {
					if err != nil {
						break
					}
					// One write a line: the lines of the others are not in it.
					fmt.Fprintf(os.Stdout, "%s %d\n", id, n)
					tx := Tx{Writer: save.writer}
					if save.seen {
						tx.Seen = seen
					}
					for _, f := range save.fields {
						tx.Writes = append(tx.Writes, Field{Session: round, Job: id, Name: f[0], Value: f[1]})
					}
					seen, err = s.Apply(ctx, tx)
				}
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Fprintf(os.Stdout, "%s %d\n", id, len(life))
			}
		})
	}
	group.Wait()
	return nil
}

// A process with 64 writers is killed after so many acknowledgements, again
// and again. What was acknowledged is there, what is there is whole, and the
// chain holds.
func TestKill(t *testing.T) {
	rounds := 200
	switch {
	case testing.Short():
		rounds = 10
	case os.Getenv(allRounds) == "":
		rounds = 40
	}
	if rounds < 200 {
		t.Logf("%d of 200 rounds, to save time; %s=1 runs all", rounds, allRounds)
	}
	var path string
	acknowledged, unfinished := 0, 0
	for round := range rounds {
		if round%20 == 0 { // a young document and an old one
			path = filepath.Join(t.TempDir(), "document")
		}
		session := fmt.Sprintf("round%d", round)
		acks := killAfter(t, session+" "+path, 1+round*37%1500)
		for _, n := range acks {
			acknowledged += n + 1
			if n < len(life) {
				unfinished++
			}
		}
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		snap, err := s.Session(t.Context(), session)
		if errors.Is(err, ErrNoSession) && len(acks) == 0 {
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		checkLives(t, snap, acks)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d acknowledged saves survived %d kills, which cut %d leaves short", acknowledged, rounds, unfinished)
	if unfinished == 0 {
		t.Error("no kill came in the middle of anything")
	}
}

// killAfter starts a storm, kills it after n acknowledgements and returns all
// that it gave: saves by leaf.
func killAfter(t *testing.T, arg string, n int) map[string]int {
	t.Helper()
	cmd := child(t, "storm", arg)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acks := make(map[string]int)
	in := bufio.NewReader(out)
	for i := 0; ; i++ {
		if i == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
		text, err := in.ReadString('\n')
		if err != nil {
			break // and half a line is no acknowledgement
		}
		var id string
		var saves int
		if _, err := fmt.Sscanf(text, "%s %d\n", &id, &saves); err != nil {
			t.Errorf("the child said %q", text)
		}
		acks[id] = saves
	}
	_ = cmd.Wait() // it was killed
	if said.Len() > 0 {
		t.Fatalf("the child failed: %s", said.String())
	}
	return acks
}

// checkLives looks that every acknowledged save is there as it was written,
// and that every save is there whole or not at all.
func checkLives(t *testing.T, snap Snapshot, acks map[string]int) {
	t.Helper()
	jobs := make(map[string]bool)
	for _, job := range snap.Jobs {
		jobs[job.ID] = true
	}
	for id := range acks {
		if !jobs[id] {
			t.Errorf("leaf %s was acknowledged and is lost", id)
		}
	}
	for id := range jobs {
		fields := snap.Fields[id]
		ended := false
		for n, save := range life {
			there := 0
			for _, f := range save.fields {
				got, ok := fields[f[0]]
				if ok {
					there++
				}
				if ok && (got.Value != f[1] || got.Writer != save.writer) {
					t.Errorf("leaf %s: %s is %s by %s, was %s by %s", id, f[0], got.Value, got.Writer, f[1], save.writer)
				}
			}
			saves, known := acks[id]
			switch {
			case known && n < saves && there == 0:
				t.Errorf("leaf %s: save %d was acknowledged and is lost", id, n)
			case there != 0 && there != len(save.fields):
				t.Errorf("leaf %s: %d of the %d fields of save %d are there", id, there, len(save.fields), n)
			case there > 0 && ended:
				t.Errorf("leaf %s: save %d is there without the one before", id, n)
			}
			ended = there == 0
		}
	}
}
