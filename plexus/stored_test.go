package plexus

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// agentsLive writes something of two agents, and gives the rows.
func agentsLive(t *testing.T, s *Store) (rows []Row) {
	t.Helper()
	other := Writer{Agent, "other"}
	mine := func(session string) Row {
		return Register{Session: session, Name: SessionAgent, Value: Text(agent.Name)}
	}
	must(t, s, host, 0, Session{ID: "a"}, mine("a"))
	must(t, s, host, 0, Session{ID: "b"}, mine("b"))
	must(t, s, host, 0, Session{ID: "c"}, Register{Session: "c", Name: SessionAgent, Value: Text(other.Name)})
	must(t, s, human, 0, Session{ID: "d"})
	must(t, s, agent, 0, Job{Session: "a", ID: "waits", Name: "Bash"}, Job{Session: "a", ID: "settled", Name: "Bash"},
		Job{Session: "a", ID: "begun", Name: "Bash"}, Job{Session: "a", ID: "cancelled", Name: "Bash"})
	must(t, s, other, 0, Job{Session: "c", ID: "waits", Name: "Bash"})
	must(t, s, human, 0, Job{Session: "a", ID: "person's", Name: "Bash"}, Job{Session: "d", ID: "person's", Name: "Bash"})
	for _, id := range []string{"settled", "begun"} {
		seen := must(t, s, host, 0, Field{Session: "a", Job: id, Name: PolicyResult, Value: `"allow"`})
		must(t, s, host, seen, Field{Session: "a", Job: id, Name: OrchestrationResult, Value: True})
	}
	must(t, s, host, 0, Field{Session: "a", Job: "cancelled", Name: Cancelled, Value: True})
	for _, id := range []string{"settled", "cancelled"} {
		must(t, s, host, 0, Field{Session: "a", Job: id, Name: OutcomeJSON, Value: `{}`}, Field{Session: "a", Job: id, Name: Completed, Value: True})
	}
	must(t, s, host, 0, Register{Session: "d", Name: SessionAgent, Value: Text(other.Name)}) // and is given on
	must(t, s, host, 0, Register{Session: "d", Name: SessionAgent, Value: Text(agent.Name)})
	rows, err := s.Since(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// expected is what those rows come to, counted simply.
func expected(rows []Row) map[string]Stored {
	owners := make(map[string]string)
	for _, row := range rows {
		if r, ok := row.(Register); ok && r.Name == SessionAgent {
			owners[r.Session] = r.Value[1 : len(r.Value)-1]
		}
	}
	bytes := make(map[string]int64)
	for _, row := range rows {
		bytes[owners[row.In()]] += Bytes(row)
	}
	return map[string]Stored{
		"hook":  {Bytes: bytes["hook"], Sessions: 3, Empty: 1, Open: 2, Waiting: 1},
		"other": {Bytes: bytes["other"], Sessions: 1, Open: 1, Waiting: 1},
	}
}

// How much an agent has is known while it grows, and again when the document is
// opened, also where that did not end in order.
func TestStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := expected(agentsLive(t, s))
	if diff := cmp.Diff(want, s.StoredOfAll()); diff != "" {
		t.Error("as it grows:", diff)
	}
	if _, whole := s.Stored("nobody"); !whole {
		t.Error("a new document is not counted whole")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, path)
	<-s.trust.read
	if diff := cmp.Diff(want, s.StoredOfAll()); diff != "" {
		t.Error("opened again:", diff)
	}
	if got, whole := s.Stored("hook"); got != want["hook"] || !whole {
		t.Errorf("of one: %v, whole %v", got, whole)
	}
}

// What is found is counted while more is written.
func TestStoredInAnyOrder(t *testing.T) {
	rows := agentsLive(t, newStore(t))
	want := expected(rows)
	rapid.Check(t, func(t *rapid.T) {
		s := newStored(Rev(rapid.IntRange(0, len(rows)).Draw(t, "found")))
		found, written := rows[:s.opened], rows[s.opened:]
		for len(found)+len(written) > 0 {
			if len(written) == 0 || len(found) > 0 && rapid.Bool().Draw(t, "found next") {
				s.found(found[0])
				found = found[1:]
				continue
			}
			s.found(written[0]) // the reader sees it too, and leaves it out
			s.wrote(written[:1])
			written = written[1:]
		}
		s.foundAll()
		got := make(map[string]Stored)
		for agent, st := range s.agents {
			got[agent] = *st
		}
		if diff := cmp.Diff(want, got); diff != "" || len(s.early) > 0 || len(s.open) != 3 {
			t.Error(diff, s.early, s.open)
		}
	})
}

func TestFree(t *testing.T) {
	if bytes, known := newStore(t).Free(); known && bytes <= 0 {
		t.Errorf("%d bytes free", bytes)
	}
}
