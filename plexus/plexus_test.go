package plexus

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	host  = Writer{Host, "kernel"}
	human = Writer{Human, "ada"}
	agent = Writer{Agent, "hook"}
)

// at is the clock of the tests.
func at() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC) }

func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path, Options{Now: at})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newStore(t testing.TB) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "document"))
}

// newJob is a store with session s and the leaf j.
func newJob(t testing.TB) *Store {
	t.Helper()
	s := newStore(t)
	must(t, s, host, 0, Session{ID: "s"}, Job{Session: "s", ID: "j", Name: "Bash", Arguments: `{"command":"ls"}`})
	return s
}

func must(t testing.TB, s *Store, w Writer, seen Rev, rows ...Row) Rev {
	t.Helper()
	rev, err := s.Apply(context.Background(), Tx{Writer: w, Seen: seen, Writes: rows})
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

// of is a field of the leaf of newJob.
func of(name, value string) Field { return Field{Session: "s", Job: "j", Name: name, Value: value} }

func TestALife(t *testing.T) {
	s := newJob(t)
	must(t, s, host, 0, of(PolicyResult, `"ask"`), of(PolicyMessage, Text("why not")), of(Paths, `["a"]`))
	seen := must(t, s, human, 0, of(Approved, True))
	must(t, s, host, seen, of(OrchestrationResult, True), of(LicenseReason, Text("a person allowed it")))
	must(t, s, host, 0, of(BodyStarted, True))
	must(t, s, host, 0, of(OutcomeJSON, `{"ok":true}`), of(Completed, True))
	must(t, s, human, 0, of(ApprovalComment, Text("thanks")))

	snap, err := s.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if got := len(snap.Fields["j"]); got != 10 {
		t.Errorf("%d fields, want 10: %v", got, snap.Fields)
	}
	head, err := s.Verify(t.Context())
	if err != nil || head.Rev != snap.Rev {
		t.Errorf("verify: %v, %v", head, err)
	}
}

// tempDir is a folder for one check of a property.
func tempDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "plexus")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
