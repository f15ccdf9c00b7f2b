package plexus

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// forge is a row that follows the head as the store itself would have made it,
// and the SQL of it.
func forge(t *testing.T, conn *sql.Conn, row Row, by Writer) string {
	t.Helper()
	var end head
	var hash []byte
	if err := conn.QueryRowContext(t.Context(), `SELECT rev, hash FROM head`).Scan(&end.rev, &hash); err != nil {
		t.Fatal(err)
	}
	copy(end.hash[:], hash)
	st := Stamp{Rev: end.rev + 1, Tx: end.rev + 1, Writer: by, At: time.UnixMicro(0)}
	linked := link(end.hash, row.stamped(st))
	return insertSQL("INSERT", "", row, by.String(), spot{hash: "x'" + hex.EncodeToString(linked[:]) + "'"})
}

// past runs SQL with the rules taken out, and puts them back.
func past(t *testing.T, conn *sql.Conn, text string) {
	t.Helper()
	rules, err := objects(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	for name, rule := range rules {
		if what, ok := strings.CutPrefix(name, "trigger "); ok {
			text = "DROP TRIGGER " + what + "; " + text + "; " + rule
		}
	}
	if _, err := conn.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

var forgedYes = Field{Session: "s", Job: "ask", Name: Approved, Value: True}

// Whatever somebody else puts at the end of an open document is told to nobody,
// also when it follows the rules and the chain, and nothing is written after it.
func TestNobodyElseWritesToAnOpenDocument(t *testing.T) {
	random := func(row Row, by string) func(*testing.T, *sql.Conn) string {
		return func(*testing.T, *sql.Conn) string { return insertSQL("INSERT", "", row, by, spot{}) }
	}
	for _, test := range []struct {
		why  string
		text func(*testing.T, *sql.Conn) string
		want string
	}{
		{"a field with a random hash", random(forgedYes, "human:a"), "its hash"},
		{"a job with a random hash", random(Job{Session: "s", ID: "x"}, "host:k"), "its hash"},
		{"a session with a random hash", random(Session{ID: "x"}, "host:k"), "its hash"},
		{"a register with a random hash", random(Register{Session: "s", Name: StandingPolicy, Value: `"yolo"`}, "human:a"), "its hash"},
		{"a register of the kernel with a random hash", random(Register{Name: DefaultPolicy, Value: `"yolo"`}, "human:a"), "its hash"},
		{"a field with the right hash", func(t *testing.T, conn *sql.Conn) string {
			return forge(t, conn, forgedYes, Writer{Human, "a"})
		}, "past the kernel"},
	} {
		t.Run(test.why, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "document")
			s := states(t, path)
			good, err := s.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			conn := openDoor(t, path, 0)
			watched := make(chan error, 1)
			go func() {
				for rows, err := range s.Watch(t.Context(), good.Rev, Filter{}) {
					if err == nil {
						t.Errorf("watchers are told of %v", rows)
					}
					watched <- err
				}
			}()
			if _, err := conn.ExecContext(t.Context(), test.text(t, conn)); err != nil {
				t.Fatal(err)
			}
			head, err := s.Head(t.Context())
			var damage *Damage
			if !errors.As(err, &damage) || head != good || damage.Rev != good.Rev+1 || !strings.Contains(err.Error(), test.want) {
				t.Errorf("head: %v, %v; want rev %d, %q", head, err, good.Rev+1, test.want)
			}
			if err := <-watched; !errors.Is(err, ErrTampered) {
				t.Errorf("watch ends with %v", err)
			}
			mustDistrust(t, s)
			if rows, err := s.Since(t.Context(), good.Rev, 0); err != nil || len(rows) != 1 {
				t.Errorf("for whoever looks into it there is %v, %v", rows, err)
			}
			if _, err := s.Verify(t.Context()); !errors.Is(err, ErrTampered) {
				t.Errorf("verify: %v", err)
			}
		})
	}
}

// mustDistrust looks that nothing can be written or read.
func mustDistrust(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	for what, f := range map[string]func() error{
		"apply": func() error { _, err := s.Apply(ctx, Tx{Writer: host, Writes: []Row{Session{ID: "new"}}}); return err },
		"license": func() error {
			_, err := s.Apply(ctx, Tx{Writer: host, Seen: 1, Writes: []Row{Field{Session: "s", Job: "yes", Name: OrchestrationResult, Value: True}}})
			return err
		},
		"session":   func() error { _, err := s.Session(ctx, "s"); return err },
		"open":      func() error { _, err := s.Open(ctx, "s"); return err },
		"job":       func() error { _, err := s.Job(ctx, "s", "ask"); return err },
		"sessions":  func() error { _, err := s.Sessions(ctx); return err },
		"fields":    func() error { _, err := s.Fields(ctx, "s", "ask"); return err },
		"registers": func() error { _, _, err := s.Registers(ctx, "s", 0, 1, 1); return err },
		"latest":    func() error { _, err := s.Latest(ctx, "s"); return err },
		"unsettled": func() error { _, _, err := s.Unsettled(ctx); return err },
		"trusted":   func() error { return s.Trusted(ctx) },
		"watch": func() (last error) {
			for _, err := range s.Watch(ctx, 0, Filter{}) {
				last = err
			}
			return last
		},
	} {
		if err := f(); !errors.Is(err, ErrTampered) {
			t.Errorf("%s: got %v, want %v", what, err, ErrTampered)
		}
	}
}

// What others change elsewhere in an open document is found by the next write.
func TestAnOpenDocumentIsNotChanged(t *testing.T) {
	for _, test := range []struct {
		why, text string
		want      string
	}{
		{"an answer turned round", "UPDATE field SET value = 'true' WHERE name = 'approved' AND job = 'no'", "its hash"},
		{"a row taken out", "DELETE FROM field WHERE name = 'approved' AND job = 'no'", "missing"},
		{"what is unsettled is forgotten", "DELETE FROM unsettled WHERE job = 'ask'", "not settled"},
		{"the head turned back", "DELETE FROM field WHERE rev = (SELECT rev FROM head); UPDATE head SET rev = rev - 1, hash = (SELECT hash FROM field WHERE rev = (SELECT max(rev) FROM field))", "the head"},
	} {
		t.Run(test.why, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "document")
			s := states(t, path)
			past(t, openDoor(t, path, 0), test.text)
			_, err := s.Apply(t.Context(), Tx{Writer: host, Writes: []Row{Session{ID: "new"}}})
			if !errors.Is(err, ErrTampered) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			mustDistrust(t, s)
		})
	}
	t.Run("a rule taken out", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "document")
		s := states(t, path)
		if _, err := openDoor(t, path, 0).ExecContext(t.Context(), "DROP TRIGGER field_no_update"); err != nil {
			t.Fatal(err)
		}
		_, err := s.Apply(t.Context(), Tx{Writer: host, Writes: []Row{Session{ID: "new"}}})
		if !errors.Is(err, ErrTampered) || !strings.Contains(err.Error(), "field_no_update") {
			t.Errorf("got %v", err)
		}
		mustDistrust(t, s)
	})
}

// Who only moves pages about, or looks, disturbs nothing.
func TestOthersMayTidyUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	s := states(t, path)
	conn := openDoor(t, path, 0)
	for i, text := range []string{"PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "SELECT * FROM field", "PRAGMA wal_checkpoint(PASSIVE)", "REINDEX"} {
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		must(t, s, human, 0, Session{ID: "new" + string(rune('a'+i))})
	}
	mustVerify(t, s)
}

// What was done to a document while it was closed is found when it is opened.
func TestADocumentIsReadWholeWhenItIsOpened(t *testing.T) {
	for _, test := range []struct{ why, text string }{
		{"an answer put in", insertSQL("INSERT", "", forgedYes, "human:a", spot{})},
		{"a license put in", insertSQL("INSERT", "", Field{Session: "s", Job: "yes", Name: OrchestrationResult, Value: True, Seen: -1}, "host:k", spot{})},
		{"a mode put in", insertSQL("INSERT", "", Register{Session: "s", Name: StandingPolicy, Value: `"yolo"`}, "human:a", spot{})},
		{"an answer turned round", "UPDATE field SET value = 'true' WHERE name = 'approved' AND job = 'no'"},
		{"another writer", "UPDATE field SET writer = 'ada' WHERE name = 'approved'"},
		{"a row taken out", "DELETE FROM field WHERE name = 'approved' AND job = 'no'"},
		{"the last row taken out", "DELETE FROM field WHERE rev = (SELECT rev FROM head)"},
		{"another head", "UPDATE head SET hash = randomblob(32)"},
		{"what is unsettled is forgotten", "DELETE FROM unsettled WHERE job = 'ask'"},
		{"an answer after the end", "; " + insertSQL("INSERT", "", forgedYes, "human:a", spot{})},
	} {
		t.Run(test.why, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "document")
			if err := states(t, path).Close(); err != nil {
				t.Fatal(err)
			}
			conn := openDoor(t, path, 0)
			if strings.HasPrefix(test.text, "INSERT") {
				if _, err := conn.ExecContext(t.Context(), test.text); err != nil {
					t.Fatal(err)
				}
			} else {
				past(t, conn, test.text)
			}
			s := openAt(t, path)
			if err := s.Trusted(t.Context()); !errors.Is(err, ErrTampered) {
				t.Errorf("got %v", err)
			}
			mustDistrust(t, s)
		})
	}
}

// Who knows how the hash is made can go on with the chain while nobody looks:
// it is no secret. Heads that were kept elsewhere do not tell either.
func TestAForgedRowWithTheRightHashIsOneLikeAnyOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	if err := states(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	conn := openDoor(t, path, 0)
	if _, err := conn.ExecContext(t.Context(), forge(t, conn, forgedYes, Writer{Human, "a"})); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, path)
	if err := s.Trusted(t.Context()); err != nil {
		t.Error(err)
	}
}

// Until the document is known to be whole, calls are admitted and judged, and
// none is licensed; what was found is not told.
func TestNothingIsLicensedBeforeTheDocumentIsKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	if err := states(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, path)
	if err := s.Trusted(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-s.trust.read
	s.trust.checked = make(chan struct{}) // as if it was still read
	must(t, s, host, 0, Field{Session: "s", Job: "fresh", Name: PolicyResult, Value: `"allow"`})
	if _, _, err := s.Unsettled(t.Context()); err != nil {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []Row{
		Field{Session: "s", Job: "yes", Name: OrchestrationResult, Value: True},
		Field{Session: "s", Job: "true", Name: BodyStarted, Value: True},
	} {
		if _, err := s.Apply(gone, Tx{Writer: host, Seen: 1, Writes: []Row{row}}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", row, err)
		}
	}
	if _, err := s.Session(gone, "s"); !errors.Is(err, context.Canceled) {
		t.Errorf("the session is told: %v", err)
	}
	close(s.trust.checked)
	if _, err := s.Session(t.Context(), "s"); err != nil {
		t.Error(err)
	}
}
