package plexus_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"assent/plexus"
)

func TestJob(t *testing.T) {
	s, err := plexus.Open(filepath.Join(t.TempDir(), "document"), plexus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	host := plexus.Writer{Role: plexus.Host, Name: "test"}
	write := func(rows ...plexus.Row) {
		t.Helper()
		if _, err := s.Apply(t.Context(), plexus.Tx{Writer: host, Writes: rows}); err != nil {
			t.Fatal(err)
		}
	}
	for _, session := range []string{"a", "b"} {
		write(plexus.Session{ID: session})
		for i := range 3 {
			write(plexus.Job{Session: session, ID: fmt.Sprint(i), Name: "Bash"})
		}
	}
	write(plexus.Field{Session: "a", Job: "1", Name: plexus.PolicyResult, Value: `"ask"`})

	snap, err := s.Job(t.Context(), "a", "1")
	if err != nil || snap.Job.ID != "1" || snap.Job.Session != "a" || snap.Fields[plexus.PolicyResult].Value != `"ask"` || len(snap.Fields) != 1 || snap.Rev != 9 {
		t.Errorf("%+v, %v", snap, err)
	}
	if _, err := s.Job(t.Context(), "a", "9"); !errors.Is(err, plexus.ErrNoJob) {
		t.Errorf("no job: %v", err)
	}
	if _, err := s.Job(t.Context(), "c", "1"); !errors.Is(err, plexus.ErrNoSession) {
		t.Errorf("no session: %v", err)
	}

	for _, test := range []struct {
		before  plexus.Rev
		session string
		limit   int
		want    string
	}{
		{math.MaxInt64, "", 10, "b/2 b/1 b/0 a/2 a/1 a/0"},
		{math.MaxInt64, "", 2, "b/2 b/1"},
		{math.MaxInt64, "a", 10, "a/2 a/1 a/0"},
		{7, "", 2, "b/0 a/2"},
		{2, "", 2, ""},
		{math.MaxInt64, "c", 10, ""},
	} {
		var got []string
		all := func(plexus.Job) bool { return true }
		err := s.BriefsBefore(t.Context(), test.before, test.session, all, func(j plexus.JobSnapshot) bool {
			if len(got) == test.limit {
				return false
			}
			got = append(got, j.Job.Session+"/"+j.Job.ID)
			return true
		})
		if strings.Join(got, " ") != test.want || err != nil {
			t.Errorf("before %d in %q: %q, %v, want %q", test.before, test.session, got, err, test.want)
		}
	}
}
