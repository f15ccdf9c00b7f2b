package kernel

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"assent/job"
	"assent/plexus"
)

// gated is a document that takes no cancelled until the gate is open.
type gated struct {
	*plexus.Store
	gate chan struct{}
}

func (g *gated) Apply(ctx context.Context, tx plexus.Tx) (plexus.Rev, error) {
	for _, row := range tx.Writes {
		if f, ok := row.(plexus.Field); ok && f.Name == plexus.Cancelled {
			<-g.gate
		}
	}
	return g.Store.Apply(ctx, tx)
}

// Whatever is cancelled, it is in the document when Cancel returns, and not
// before.
func TestCancelReturnsWhenItIsDurable(t *testing.T) {
	tests := []struct {
		why, what string
		cancelled []string
	}{
		{"a leaf", "one", []string{"one"}},
		{"a sequence and all in it", "turn", []string{"turn", "bag", "in-turn", "in-bag"}},
		{"what is under way in the session", "", []string{"one", "turn", "bag", "in-turn", "in-bag"}},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gated{gate: make(chan struct{})}
				w := newWorldOver(t, Options{Registry: registry(func(ctx context.Context, _ job.Call) (job.Outcome, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				})}, func(doc *plexus.Store) Document {
					g.Store = doc
					return &g
				})
				w.session("s", "manual")
				w.write(host, plexus.Job{Session: "s", ID: "turn", Kind: plexus.SessionTurn},
					plexus.Job{Session: "s", ID: "bag", Parent: "turn", Kind: plexus.ProgrammaticJob})
				w.call("s", "one", "other")
				for id, parent := range map[string]string{"in-turn": "turn", "in-bag": "bag"} {
					w.admit(NewCall{Session: "s", ID: id, Parent: parent, Kind: job.SystemTool, Name: "Bash", Arguments: bash("let it")}, host)
				}
				still()
				var err error
				returned := false
				go func() {
					err = w.Cancel(context.Background(), "s", test.what, ada)
					returned = true
				}()
				still()
				if returned {
					t.Error("it returned before it was durable:", err)
				}
				close(g.gate)
				still()
				if !returned || err != nil {
					t.Error("returned:", returned, err)
				}
				for _, id := range test.cancelled {
					if w.fields("s", id)[plexus.Cancelled] != plexus.True || w.fields("s", id)[plexus.OutcomeJSON] != cancelReceipt {
						t.Errorf("%s is not cancelled: %v", id, w.fields("s", id))
					}
				}
				if test.what == "one" && w.fields("s", "turn")[plexus.Cancelled] != "" {
					t.Error("the others are cancelled too")
				}
			})
		})
	}
}

// Where cancelling cannot be written, whoever asked is told.
func TestCancelThatCannotBeWritten(t *testing.T) {
	for _, what := range []string{"leaf", "turn", ""} {
		synctest.Test(t, func(t *testing.T) {
			var f faulty
			w := newWorldOver(t, Options{}, func(doc *plexus.Store) Document {
				f.Store = doc
				return &f
			})
			w.session("s", "manual")
			w.write(host, plexus.Job{Session: "s", ID: "turn", Kind: plexus.SessionTurn})
			w.admit(NewCall{Session: "s", ID: "leaf", Parent: "turn", Name: "Bash", Arguments: bash("other")}, host)
			still()
			fault := plexus.ErrFull
			f.fault.Store(&fault)
			err := w.Cancel(t.Context(), "s", what, ada)
			if err == nil || !errors.Is(err, plexus.ErrFull) {
				t.Errorf("cancelling %q: %v", what, err)
			}
			f.fault.Store(nil)
		})
	}
}

// What is settled is not cancelled any more, and whoever tries is told so.
func TestCancelOfWhatIsOver(t *testing.T) {
	w := newWorld(t, Options{Registry: registry(ok)})
	w.session("s", "manual")
	w.must(w.Give(t.Context(), "s", hook.Name, ada))
	for id, command := range map[string]string{"refused": "never", "cancelled": "other"} {
		w.must(w.ask("s", id, command, hook))
	}
	w.call("s", "ran", "let it")
	w.outcome("s", "refused")
	w.outcome("s", "ran")
	w.write(host, plexus.Job{Session: "s", ID: "turn", Kind: plexus.SessionTurn})
	for _, row := range []struct {
		why, job string
		by       plexus.Writer
		want     error
	}{
		{"its own, which is open", "cancelled", hook, nil},
		{"once more", "cancelled", hook, plexus.ErrCancelled},
		{"and by a person", "cancelled", ada, plexus.ErrCancelled},
		{"its own, which is settled", "refused", hook, plexus.ErrCompleted},
		{"settled, by a person", "refused", ada, plexus.ErrCompleted},
		{"it ran", "ran", ada, plexus.ErrCompleted},
		{"somebody else's", "refused", spy, plexus.ErrRole},
		{"the host's", "ran", hook, plexus.ErrRole},
		{"a sequence", "turn", ada, nil},
		{"a sequence once more", "turn", ada, plexus.ErrCancelled},
		{"all that is under way, where nothing is", "", ada, nil},
	} {
		err := w.Cancel(t.Context(), "s", row.job, row.by)
		if !errors.Is(err, row.want) || row.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", row.why, err, row.want)
		}
	}
}
