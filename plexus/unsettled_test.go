package plexus

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnsettled(t *testing.T) {
	s := newStore(t)
	settle := func(session, job string) []Row {
		return []Row{
			Field{Session: session, Job: job, Name: Cancelled, Value: True},
			Field{Session: session, Job: job, Name: OutcomeJSON, Value: `{"ok":false}`},
			Field{Session: session, Job: job, Name: Completed, Value: True},
		}
	}
	for _, id := range []string{"waits", "done", "empty", "torn", "open-turn"} {
		must(t, s, host, 0, Session{ID: id})
	}
	must(t, s, host, 0, Job{Session: "waits", ID: "turn", Kind: SessionTurn}, Job{Session: "waits", ID: "a", Parent: "turn"}, Job{Session: "waits", ID: "b"})
	must(t, s, host, 0, settle("waits", "b")...)
	must(t, s, host, 0, Job{Session: "done", ID: "a"})
	must(t, s, host, 0, settle("done", "a")...)
	must(t, s, host, 0, Job{Session: "torn", ID: "turn", Kind: ProgrammaticJob})
	must(t, s, host, 0, Field{Session: "torn", Job: "turn", Name: Cancelled, Value: True})
	must(t, s, host, 0, Job{Session: "open-turn", ID: "turn", Kind: SessionTurn})

	got, rev, err := s.Unsettled(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"waits", "torn"}, got); diff != "" {
		t.Error("sessions (-want +got):\n", diff)
	}
	if head, _ := s.Head(t.Context()); head.Rev != rev {
		t.Errorf("told of rev %d, the head is %d", rev, head.Rev)
	}

	must(t, s, host, 0, Job{Session: "done", ID: "turn", Kind: SessionTurn})
	must(t, s, host, 0, settle("done", "turn")...)
	open, err := s.OpenSequences(t.Context())
	if diff := cmp.Diff([]JobName{{"waits", "turn"}, {"torn", "turn"}, {"open-turn", "turn"}}, open); diff != "" || err != nil {
		t.Error("sequences (-want +got):\n", diff, err)
	}

	snap, err := s.Open(t.Context(), "waits")
	if err != nil {
		t.Fatal(err)
	}
	var jobs []string
	for _, job := range snap.Jobs {
		jobs = append(jobs, job.ID)
	}
	if diff := cmp.Diff([]string{"turn", "a"}, jobs); diff != "" {
		t.Error("jobs (-want +got):\n", diff)
	}
	if len(snap.Fields["b"]) != 0 {
		t.Error("the fields of a settled leaf were read")
	}
}
