package plexus

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// byHand changes bytes of an open document and its log without the engine, and
// has the store read all of it from there again.
func byHand(t *testing.T, s *Store, old, now string) {
	t.Helper()
	if len(old) != len(now) {
		t.Fatalf("%q and %q differ in length", old, now)
	}
	<-s.trust.read
	changed := 0
	for _, path := range []string{s.path, logFile(s.path)} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for from := 0; ; changed++ {
			at := bytes.Index(text[from:], []byte(old))
			if at < 0 {
				break
			}
			if _, err := f.WriteAt([]byte(now), int64(from+at)); err != nil {
				t.Fatal(err)
			}
			from += at + len(old)
		}
	}
	if changed == 0 {
		t.Fatalf("%q is nowhere", old)
	}
	s.read.SetMaxIdleConns(0) // no pages are kept
	err := s.between(func() error {
		_, err := s.conn.conn.ExecContext(context.Background(), `PRAGMA shrink_memory`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Bytes that somebody changes directly, past the engine and its rules, show in no
// commit. What is read again for a decision, or told to others, is compared.
func TestBytesThatWereChangedDirectlyAreNotReliedOn(t *testing.T) {
	open := func(s *Store) error { _, err := s.Open(t.Context(), "s"); return err }
	session := func(s *Store) error { _, err := s.Session(t.Context(), "s"); return err }
	brief := func(id string) func(*Store) error {
		return func(s *Store) error {
			_, err := s.BriefSession(t.Context(), id, 0, func(JobSnapshot) bool { return true })
			return err
		}
	}
	latest := func(id string) func(*Store) error {
		return func(s *Store) error { _, err := s.Latest(t.Context(), id); return err }
	}
	sessions := func(s *Store) error { _, err := s.Sessions(t.Context()); return err }
	briefSessions := func(s *Store) error {
		return s.BriefSessions(t.Context(), func(Session, int) bool { return true })
	}
	job := func(id string) func(*Store) error {
		return func(s *Store) error { _, err := s.Job(t.Context(), "s", id); return err }
	}
	briefs := func(id string) func(*Store) error {
		return func(s *Store) error {
			return s.Briefs(t.Context(), []JobName{{"s", id}}, func(int, JobSnapshot) bool { return true })
		}
	}
	before := func(s *Store) error {
		return s.BriefsBefore(t.Context(), 1000, "s", func(Job) bool { return true }, func(JobSnapshot) bool { return true })
	}
	watch := func(s *Store) error {
		s.watchers.end() // as if it was long ago
		head := s.trust.last()
		for rows, err := range s.Watch(t.Context(), 0, Filter{}) {
			if err != nil || rows[len(rows)-1].Stamped().Rev == head.rev {
				return err
			}
		}
		return nil
	}
	write := func(by Writer, rows ...Row) func(*Store) error {
		return func(s *Store) error {
			_, err := s.Apply(t.Context(), Tx{Writer: by, Seen: s.trust.last().rev, Writes: rows})
			return err
		}
	}
	on := func(job, name, value string) Field { return Field{Session: "s", Job: job, Name: name, Value: value} }
	path := t.TempDir() + "/closed"
	if err := states(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	closed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		why, old, now string
		read          []func(*Store) error
	}{
		{"an answer turned round", "snoapprovedfalse", "snoapprovedtrue ",
			[]func(*Store) error{open, session, brief("s"), job("no"), briefs("no"), before, watch}},
		{"a vote of the floor", `saskpolicyResult"ask"`, `saskpolicyResult"yes"`,
			[]func(*Store) error{open, session, brief("s"), job("ask"), briefs("ask"), before, watch}},
		{"what a settled call answered", `{"ok":true}`, `{"ok":null}`,
			[]func(*Store) error{session, brief("s"), job("done"), before, watch}},
		{"a field that nobody finds any more", "snoapproved", "smoapproved",
			[]func(*Store) error{open, session, brief("s"), job("no"), briefs("no"), before, watch}},
		{"a job that nobody finds any more", "sask", "sasj",
			[]func(*Store) error{open, job("ask"), briefs("ask"), watch}},
		{"what is called", "sfreshBash", "sfreshBosh",
			[]func(*Store) error{open, session, brief("s"), job("fresh"), briefs("fresh"), before, watch}},
		{"who wrote it", "human:a", "human:b",
			[]func(*Store) error{open, session, brief("s"), job("yes"), briefs("yes"), before, watch}},
		{"a mode", `ustandingPolicy"auto"`, `ustandingPolicy"yolo"`,
			[]func(*Store) error{latest("u"), brief("u"), watch}},
		{"a register that nobody finds any more", "ustandingPolicy", "uxxxxxxxxPolicy",
			[]func(*Store) error{latest("u"), watch}},
		{"whether a session is attended", "sattended", "snttended",
			[]func(*Store) error{sessions, briefSessions, brief("s"), watch}},
		{"a block that a person could lift", `sblockpolicyResult"block"`, `sblockpolicyResult"allow"`,
			[]func(*Store) error{write(human, on("block", Approved, True))}},
		{"a no before a license", "snoapprovedfalse", "snoapprovedtrue ",
			[]func(*Store) error{write(host, on("no", OrchestrationResult, True))}},
		{"no license before a body", "sfalseorchestrationResultfalse", "sfalseorchestrationResulttrue ",
			[]func(*Store) error{write(host, on("false", BodyStarted, True))}},
	} {
		for i, read := range test.read {
			t.Run(test.why+"/"+strconv.Itoa(i), func(t *testing.T) {
				path := t.TempDir() + "/document"
				if err := os.WriteFile(path, closed, 0o600); err != nil {
					t.Fatal(err)
				}
				s := openAt(t, path)
				if i == 0 { // of one some bytes are in the log
					must(t, s, host, 0, Session{ID: "new"})
				}
				byHand(t, s, test.old, test.now)
				if err := read(s); !errors.Is(err, ErrTampered) {
					t.Fatalf("got %v, want %v", err, ErrTampered)
				}
				mustDistrust(t, s)
			})
		}
	}
}

// A rule of the engine that does not see what came after a view is no rule.
func TestTheRulesSeeWhatTheStoreHasSeen(t *testing.T) {
	s := states(t, t.TempDir()+"/document")
	<-s.trust.read
	seen := must(t, s, host, 0, Field{Session: "s", Job: "fresh", Name: PolicyResult, Value: `"allow"`})
	must(t, s, human, 0, Register{Session: "s", Name: StandingPolicy, Value: `"manual"`})
	byHand(t, s, "sstandingPolicy", "xstandingPolicy")
	past(t, openDoor(t, s.path, 0), "REINDEX")
	s.conn.version, _ = s.conn.otherCommits() // as if nobody else had been there
	_, err := s.Apply(t.Context(), Tx{Writer: host, Seen: seen, Writes: []Row{
		Field{Session: "s", Job: "fresh", Name: OrchestrationResult, Value: True}}})
	if !errors.Is(err, ErrTampered) {
		t.Errorf("got %v, want %v", err, ErrTampered)
	}
}

// Nothing that the store wrote itself is taken for somebody else's, also while
// others write, are refused, and read.
func TestWhatIsKnownIsWhatIsThere(t *testing.T) {
	s := newStore(t)
	must(t, s, host, 0, Session{ID: "s"}, Register{Session: "s", Name: StandingPolicy, Value: `"manual"`})
	<-s.trust.read
	long := Text(strings.Repeat("é", BriefText))
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for w := range 4 {
		writers.Go(func() {
			for i := range 60 {
				id := strconv.Itoa(w) + "." + strconv.Itoa(i)
				on := func(name, value string) Field { return Field{Session: "s", Job: id, Name: name, Value: value} }
				must(t, s, host, 0, Job{Session: "s", ID: id, Name: "Bash", Arguments: `{"a":` + long + `}`},
					on(PolicyResult, `"ask"`), on(PolicyMessage, long))
				_, err := s.Apply(context.Background(), Tx{Writer: host, Writes: []Row{on(Cancelled, True), on(Approved, True)}})
				if !errors.Is(err, ErrRole) {
					t.Errorf("got %v, want %v", err, ErrRole)
				}
				must(t, s, human, 0, Register{Session: "s", Name: AutoCoverDeny, Value: Bool(i%2 == 0)}, on(Approved, Bool(i%3 == 0)))
				if i%2 == 0 {
					must(t, s, host, 0, on(Cancelled, True), on(OutcomeJSON, `{}`), on(Completed, True))
				}
			}
		})
	}
	for _, read := range []func() error{
		func() error { _, err := s.Open(t.Context(), "s"); return err },
		func() error {
			_, err := s.BriefSession(t.Context(), "s", 0, func(JobSnapshot) bool { return true })
			return err
		},
		func() error { _, err := s.Latest(t.Context(), "s"); return err },
		func() error {
			_, err := s.Job(t.Context(), "s", "1.7")
			if errors.Is(err, ErrNoJob) {
				err = nil
			}
			return err
		},
		func() error {
			return s.BriefsBefore(t.Context(), 1<<40, "s", func(Job) bool { return true }, func(JobSnapshot) bool { return true })
		},
		func() error {
			return s.view(t.Context(), func(v view) error { _, err := v.page(v.rev/2, 0); return err })
		},
	} {
		readers.Go(func() {
			for {
				if err := read(); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	mustVerify(t, s)
	if len(s.known.log) > 0 || len(s.known.readers) > 0 {
		t.Errorf("%d changes are kept for %d readers", len(s.known.log), len(s.known.readers))
	}
	// What was learned row by row is what a whole reading gives.
	found := newKnown(head{})
	found.key = s.known.key
	if _, err := s.verify(t.Context(), nil, func(v view, end head) (head, error) { return s.learnAll(t.Context(), v, end, found) }); err != nil {
		t.Fatal(err)
	}
	for at, sum := range found.sums {
		if s.known.sums[at] != sum {
			t.Errorf("at %x there is %x, want %x", at, s.known.sums[at], sum)
		}
	}
	if len(s.known.sums) != len(found.sums) || len(s.known.anchors) == 0 {
		t.Errorf("%d sums, want %d", len(s.known.sums), len(found.sums))
	}
}

// Of a sealed file nothing is relied on once somebody has touched it, until it was
// read whole.
func TestASealedFileThatIsTouchedIsReadFirst(t *testing.T) {
	needsSeals(t)
	s := openAt(t, closedDocument(t))
	if !relied(s) {
		t.Fatal("it is not taken for the one that was closed")
	}
	<-s.trust.read
	read := s.trust.read
	s.trust.read, s.known.ready = make(chan struct{}), false // as if it was still read
	if _, err := s.Open(t.Context(), "s"); err != nil {
		t.Error(err)
	}
	must(t, s, human, 0, Session{ID: "new"})
	if s.touched() {
		t.Error("the store touched it itself")
	}
	f, err := os.OpenFile(s.path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("S"), 0); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Open(gone, "s"); !errors.Is(err, context.Canceled) {
		t.Errorf("the session is told: %v", err)
	}
	_, err = s.Apply(gone, Tx{Writer: host, Seen: 1, Writes: []Row{Field{Session: "s", Job: "yes", Name: OrchestrationResult, Value: True}}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a license: %v", err)
	}
	s.trust.read = read
}
