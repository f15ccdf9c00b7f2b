package kernel

import (
	"context"
	"testing"
	"testing/synctest"

	"assent/job"
	"assent/plexus"
)

// hurried is a document in which whoever runs a sequence ends it just before
// its cancelled comes.
type hurried struct{ *plexus.Store }

func (h *hurried) Apply(ctx context.Context, tx plexus.Tx) (plexus.Rev, error) {
	for _, row := range tx.Writes {
		if f, ok := row.(plexus.Field); ok && f.Name == plexus.Cancelled && f.Job == "turn" {
			end := []plexus.Row{
				plexus.Field{Session: f.Session, Job: f.Job, Name: plexus.OutcomeJSON, Value: `{"ok":true}`},
				plexus.Field{Session: f.Session, Job: f.Job, Name: plexus.Completed, Value: plexus.True},
			}
			if _, err := h.Store.Apply(ctx, plexus.Tx{Writer: host, Writes: end}); err != nil {
				return 0, err
			}
		}
	}
	return h.Store.Apply(ctx, tx)
}

// A sequence ends while it is being cancelled. That the document takes no
// cancelled any more is not a document that fails.
func TestASequenceEndsWhileItIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOver(t, Options{}, func(doc *plexus.Store) Document { return &hurried{doc} })
		w.session("s", "manual")
		w.write(host, plexus.Job{Session: "s", ID: "turn", Kind: plexus.SessionTurn})
		w.admit(NewCall{Session: "s", ID: "a", Parent: "turn", Kind: job.SystemTool, Name: "Bash", Arguments: bash("other")}, host)
		still()
		if err := w.Cancel(t.Context(), "s", "turn", ada); err != nil {
			t.Error("cancel:", err)
		}
		still()
		if got := w.outcome("s", "a"); got != cancelReceipt {
			t.Error("outcome", got)
		}
		if got := w.fields("s", "turn"); got[plexus.OutcomeJSON] != `{"ok":true}` || got[plexus.Cancelled] != "" {
			t.Errorf("the turn has %v", got)
		}
		for _, session := range []string{"", "s"} {
			if got := w.doc.Presence(session)[DocumentError]; got != "" {
				t.Errorf("%q: the document is said to fail: %s", session, got)
			}
		}
	})
}

// given is a document in which a person gives the session to another agent just
// before something of the one that has it is written.
type given struct {
	*plexus.Store
	before func(plexus.Row) bool
	give   func()
}

func (g *given) Apply(ctx context.Context, tx plexus.Tx) (plexus.Rev, error) {
	for _, row := range tx.Writes {
		if g.before(row) {
			g.give()
		}
	}
	return g.Store.Apply(ctx, tx)
}

// A call that its agent was told to be taken while the session was given to another
// is cancelled with what it left there: the mode and the grants of the session are
// not for it any more.
func TestASessionIsGivenWhileItsAgentAsks(t *testing.T) {
	doc := &given{before: func(r plexus.Row) bool { j, ok := r.(plexus.Job); return ok && j.ID == "late" }}
	w := newWorldOver(t, Options{}, func(s *plexus.Store) Document { doc.Store = s; return doc })
	w.session("s", "manual")
	w.must(w.ask("s", "first", "other", hook))
	gave := make(chan error, 1)
	doc.give = func() {
		give := func() { gave <- w.Give(context.Background(), "s", spy.Name, ada) }
		if w.claiming.TryLock() { // nothing keeps it from being given now
			w.claiming.Unlock()
			give()
		} else {
			go give()
		}
	}
	if err := w.ask("s", "late", "other", hook); err != nil {
		t.Fatal(err)
	}
	w.must(<-gave)
	for _, id := range []string{"first", "late"} {
		if got := w.fields("s", id); got[plexus.Cancelled] != plexus.True {
			t.Errorf("%s is not cancelled: %v", id, got)
		}
	}
}
