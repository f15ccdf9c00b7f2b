package plexus

import (
	"errors"
	"testing"
)

// Writes that share a commit do not share their fate, wherever one of them is
// refused.
func TestRefusedAmongOthers(t *testing.T) {
	f := func(job, name, value string) Field { return Field{Session: "s", Job: job, Name: name, Value: value} }
	good := func(job string) []Row { return []Row{f(job, PolicyResult, `"ask"`), f(job, Paths, `[]`)} }
	for _, test := range []struct {
		why   string
		wrong []Row
		want  error
	}{
		{"at its only row", []Row{f("b", Approved, True)}, ErrRole},
		{"at its first row", []Row{f("b", Approved, True), f("b", PolicyResult, `"ask"`)}, ErrRole},
		{"at its last row", []Row{f("b", PolicyResult, `"ask"`), f("b", Paths, `[]`), f("b", Approved, True)}, ErrRole},
		{"for what another wrote", []Row{f("b", PolicyResult, `"ask"`), f("a", PolicyResult, `"allow"`)}, ErrWritten},
	} {
		t.Run(test.why, func(t *testing.T) {
			s := newStore(t)
			first := must(t, s, host, 0, Session{ID: "s"}, Job{Session: "s", ID: "a"}, Job{Session: "s", ID: "b"}, Job{Session: "s", ID: "c"})
			asks := func(rows []Row) *request { return &request{tx: &Tx{Writer: host, Writes: rows}} }
			batch := []*request{asks(good("a")), asks(test.wrong), asks(test.wrong), asks(good("c"))}
			<-s.trust.read // the writer waits and has nothing to do
			s.commit(batch)
			for i, r := range batch {
				want := []error{nil, test.want, test.want, nil}[i]
				if !errors.Is(r.err, want) || want == nil && len(r.rows) != 2 || want != nil && (len(r.rows) != 0 || r.rev != 0) {
					t.Errorf("request %d: %d rows up to %d, %v; want %v", i, len(r.rows), r.rev, r.err, want)
				}
			}
			if batch[0].rev != first+2 || batch[3].rev != first+4 {
				t.Errorf("they end at %d and %d, want %d and %d", batch[0].rev, batch[3].rev, first+2, first+4)
			}
			snap, err := s.Session(t.Context(), "s")
			if err != nil || len(snap.Fields["a"]) != 2 || len(snap.Fields["b"]) != 0 || len(snap.Fields["c"]) != 2 {
				t.Errorf("there is %v, %v", snap.Fields, err)
			}
			mustVerify(t, s)
		})
	}
}
