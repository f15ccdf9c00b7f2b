package api_test

import (
	"errors"
	"testing"

	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/plexus"
)

// Ids may be any text without blanks. Whatever a call or its session is called,
// a person finds it, answers it and nothing else, and its agent hears of it.
func TestOddIDs(t *testing.T) {
	w := newWorld(t, api.Options{})
	ctx := t.Context()
	if _, err := w.client.CreateSession(ctx, wire.NewSession{ID: "/", Workspace: w.dir}); !errors.Is(err, wire.Value) {
		t.Errorf("a session that no path leads to: %v", err)
	}
	ids := []string{
		".", "..", "...", "-", "--", "//", "a/b", "a/../b", "/a", "a/", "%", "%2F", "a%2Fb", "%2e%2e", "a%", "?", "a?b=c", "#", "a#b", ";", "a;b=c", "&", "+", "a+b",
		`\`, `a\b`, `"`, "'", "`", "$(x)", "{session}", "{", "}", "*", "approved", "cancel", "receipt", "watch", "jobs", "queue", "registers", "overlay/x", "~", "!", "@", ":", "a:b", "=", "<>", "|",
	}
	for _, session := range ids {
		w.session(session, "manual")
		if doc, err := w.client.Session(ctx, session); err != nil || doc.Session.ID != session {
			t.Errorf("session %q: %+v, %v", session, doc.Session, err)
		}
		if _, err := w.client.Assign(ctx, session, wire.Assign{Mode: "auto"}); err != nil {
			t.Errorf("session %q: mode: %v", session, err)
		}
	}
	w.session("s", "manual")
	if _, err := w.agent.Admit(ctx, "s", wire.NewJob{ID: "/", Name: "Bash", Arguments: bash("other")}); !errors.Is(err, wire.Value) {
		t.Errorf("a call that no path leads to: %v", err)
	}
	for i, id := range ids {
		yes := i%2 == 0
		w.admit("s", id, "other")
		w.until("s", id, plexus.PolicyResult)
		if job, err := w.client.Job(ctx, "s", id); err != nil || job.ID != id {
			t.Errorf("%q is found as %q, %v", id, job.ID, err)
			continue
		}
		if _, err := w.client.Answer(ctx, "s", id, yes, ""); err != nil {
			t.Errorf("%q: answer: %v", id, err)
			continue
		}
		receipt, err := w.agent.Receipt(ctx, "s", id, client.Decided)
		if err != nil || receipt.Job != id || receipt.OrchestrationResult == nil || *receipt.OrchestrationResult != yes {
			t.Errorf("%q: receipt %+v, %v", id, receipt, err)
		}
		if yes {
			if err := w.agent.Begin(ctx, "s", id); err != nil {
				t.Errorf("%q: begin: %v", id, err)
			}
			if err := w.agent.Report(ctx, "s", id, []byte(`{}`)); err != nil {
				t.Errorf("%q: report: %v", id, err)
			}
		}
	}
	// The same ids again, of sequences with a leaf in them, cancelled by name.
	for _, id := range ids {
		seq, leaf := "seq"+id, "in"+id
		if _, err := w.client.Admit(ctx, "s", wire.NewJob{ID: seq, Kind: plexus.SessionTurn}); err != nil {
			t.Errorf("%q: %v", seq, err)
			continue
		}
		if _, err := w.agent.Admit(ctx, "s", wire.NewJob{ID: leaf, Parent: seq, Name: "Bash", Arguments: bash("other")}); err != nil {
			t.Errorf("%q: %v", leaf, err)
			continue
		}
		w.until("s", leaf, plexus.PolicyResult)
		if err := w.client.Cancel(ctx, "s", seq); err != nil {
			t.Errorf("%q: cancel: %v", seq, err)
		}
		if receipt, err := w.agent.Receipt(ctx, "s", leaf, client.Settled); err != nil || receipt.Cancelled == nil {
			t.Errorf("%q: %+v, %v", leaf, receipt, err)
		}
	}
	queue, err := w.client.Queue(ctx, "")
	if err != nil || len(queue.Queue) != 0 {
		t.Errorf("left: %+v, %v", queue, err)
	}
}
