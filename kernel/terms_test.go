package kernel

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assent/approval"
	"assent/plexus"
	"assent/remainder"
)

// until is a grant of bash that ends after so long.
func until(d time.Duration) approval.Terms {
	return approval.Terms{Bash: approval.Until(time.Now().Add(d))}
}

func sessionGrant(terms approval.Terms) plexus.Row {
	return plexus.Register{Session: "s", Name: plexus.AutoAllow, Value: plexus.Value(terms)}
}

func standingGrant(terms approval.Terms) plexus.Row {
	return plexus.Register{Name: plexus.StandingAutoAllow, Value: plexus.Value(terms)}
}

// A grant with an end answers until then, of a session and of the kernel, also over
// a restart.
func TestGrantsEnd(t *testing.T) {
	for _, test := range []struct {
		why   string
		given func(approval.Terms) plexus.Row
	}{{"of the session", sessionGrant}, {"standing", standingGrant}} {
		t.Run(test.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{Registry: registry(ok)})
				w.session("s", "auto")
				w.write(ada, test.given(until(24*time.Hour)))
				runs := func(leaf, why string, want bool) {
					t.Helper()
					w.call("s", leaf, "other")
					still()
					if got := w.fields("s", leaf)[plexus.OutcomeJSON]; (got == `{"ok":true}`) != want {
						t.Errorf("%s: outcome %q", why, got)
					}
				}
				runs("a", "at once", true)
				time.Sleep(12 * time.Hour)
				runs("b", "after half of it", true)
				w.restart()
				runs("c", "after a restart", true)
				time.Sleep(12 * time.Hour)
				runs("d", "after its end", false)
				w.restart()
				runs("e", "after its end and a restart", false)
				if queue, err := w.Queue(t.Context(), "s", ""); err != nil || len(queue) != 2 {
					t.Errorf("a person is asked about %v, %v", queue, err)
				}
				if view, err := w.View(t.Context(), "s"); err != nil || view.AutoAllow.Bash || view.StandingAutoAllow.Bash {
					t.Errorf("the view has it still: %+v, %v", view, err)
				}
			})
		})
	}
}

// What waits when a grant ends is answered anew at that moment, though nothing else
// happens: a denial that the grant handed to the classifier is a person's then.
func TestWhatWaitsWhenAGrantEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, stopped atomic.Bool
		w := newWorld(t, Options{Registry: registry(ok), Classifier: classifier(func(ctx context.Context, _ Question) (remainder.Vote, error) {
			asked.Store(true)
			<-ctx.Done()
			stopped.Store(true)
			return remainder.Vote{Result: approval.NoVote}, ctx.Err()
		})})
		w.session("s", "auto")
		w.write(ada, sessionGrant(until(90*time.Second)))
		w.call("s", "j", "no way")
		time.Sleep(89 * time.Second)
		still()
		if needs, err := w.NeedsHuman(t.Context(), "s", "j"); err != nil || needs || !asked.Load() || stopped.Load() {
			t.Errorf("before: a person is asked %v, the classifier asked %v, stopped %v, %v", needs, asked.Load(), stopped.Load(), err)
		}
		time.Sleep(2 * time.Second)
		still()
		if queue := w.Status().Asking; queue != 1 || !stopped.Load() {
			t.Errorf("after: %d wait for a person, the classifier stopped %v", queue, stopped.Load())
		}
		if got := w.fields("s", "j")[plexus.OutcomeJSON]; got != "" {
			t.Error("outcome", got)
		}
	})
}

// A license that follows from a grant is not written when the grant has ended
// meanwhile: the disk may have been full for as long.
func TestALicenseThatComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f faulty
		w := newWorldOver(t, Options{Registry: registry(ok)}, func(doc *plexus.Store) Document {
			f.Store = doc
			return &f
		})
		w.session("s", "auto")
		w.call("s", "j", "other")
		still()
		fault := plexus.ErrFull
		f.fault.Store(&fault)
		w.write(ada, sessionGrant(until(time.Hour)))
		time.Sleep(time.Hour)
		f.fault.Store(nil)
		time.Sleep(10 * time.Minute)
		still()
		if got := w.fields("s", "j")[plexus.OrchestrationResult]; got != "" {
			t.Error("licensed", got)
		}
		if queue, err := w.Queue(t.Context(), "s", ""); err != nil || len(queue) != 1 {
			t.Errorf("queue %v, %v", queue, err)
		}
	})
}

// A clock that is set forward ends grants; one that is set back gives none back.
func TestAClockThatIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var off atomic.Int64
		w := newWorld(t, Options{Registry: registry(ok), Now: func() time.Time { return time.Now().Add(time.Duration(off.Load())) }})
		w.session("s", "auto")
		w.write(ada, sessionGrant(until(24*time.Hour)))
		runs := func(leaf, why string, want bool) {
			t.Helper()
			w.call("s", leaf, "other")
			still()
			if got := w.fields("s", leaf)[plexus.OutcomeJSON]; (got == `{"ok":true}`) != want {
				t.Errorf("%s: outcome %q", why, got)
			}
		}
		runs("a", "at once", true)
		off.Store(int64(24 * time.Hour))
		runs("b", "a day later by the clock", false)
		off.Store(0)
		runs("c", "the clock is set back", false)
	})
}
