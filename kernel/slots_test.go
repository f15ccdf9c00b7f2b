package kernel

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"assent/floor"
	"assent/plexus"
)

// An evaluation that does not end holds up closing no longer than it may take,
// and what was not judged is judged in the next life.
func TestCloseDuringAnEvaluation(t *testing.T) {
	tests := []struct {
		why    string
		honest bool // it ends when it is told to
		before time.Duration
		took   time.Duration
		want   string // of the life that closes
	}{
		{"one that ends when it is told to", true, time.Second, 0, ""},
		{"one that does not", false, time.Second, judgeLimit - time.Second, ""},
		{"one that overran its time before", false, judgeLimit + time.Second, 0, policyReceipt},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				end := make(chan struct{})
				hang := true
				w := newWorld(t, Options{
					Registry: registry(ok),
					Prepare: func(ctx context.Context, _ *floor.Floor, call floor.Call) floor.Call {
						if hang && test.honest {
							<-ctx.Done()
							panic("stopped") // as a scanner that could not run
						}
						if hang {
							<-end
						}
						return call
					},
				})
				w.session("s", "manual")
				w.call("s", "j", "let it")
				time.Sleep(test.before)
				still()
				begin := time.Now()
				w.stop()
				// The seal waits for the clock of the disk, which is a real one.
				if took := time.Since(begin); took < test.took || took > test.took+100*time.Millisecond {
					t.Errorf("closing took %v, want %v", took, test.took)
				}
				hang = false
				w.start()
				still()
				fields := w.fields("s", "j")
				want := test.want
				if want == "" {
					want = `{"ok":true}`
				}
				if fields[plexus.OutcomeJSON] != want {
					t.Errorf("outcome %s, want %s", fields[plexus.OutcomeJSON], want)
				}
				close(end)
				still()
			})
		})
	}
}
