package kernel

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"assent/approval"
	"assent/job"
	"assent/plexus"
	"assent/remainder"
)

// stubborn is a model that says yes when it is stopped, and then what it is given.
func stubborn(then string) *models {
	m := &models{}
	m.answer = func(ctx context.Context, _ remainder.Request) (string, error) {
		if m.count() > 1 {
			return then, nil
		}
		<-ctx.Done()
		return sayYes, nil
	}
	return m
}

// What changes while an attempt runs holds for its vote: one that comes from an
// attempt that should not run any more decides nothing.
func TestAVoteOfAnAttemptThatWasStopped(t *testing.T) {
	deny := Settings{AutoCoverDeny: approval.Classify}
	for _, test := range []struct {
		why    string
		before Settings
		write  bool
		change func(*world, *models)
		want   string // judgeResult in the end
		asked  int    // of the model
		human  bool
	}{
		{"the grant that opened a write is taken back", Settings{AutoCoverDeny: approval.Classify, StandingAutoAllow: approval.Terms{Write: approval.Endless}}, true, func(w *world, m *models) {
			w.configure(Settings{Connections: m, JudgeConnection: "local", AutoCoverDeny: approval.Classify})
		}, "", 1, true},
		{"denials are covered", deny, false, func(w *world, m *models) {
			w.configure(Settings{Connections: m, JudgeConnection: "local", AutoCoverDeny: approval.Cover})
		}, "", 1, true},
		{"the mode is manual, and auto again", deny, false, func(w *world, _ *models) {
			w.write(ada, plexus.Register{Session: "s", Name: plexus.StandingPolicy, Value: plexus.Text("manual")})
			time.Sleep(3 * time.Second)
			synctest.Wait()
			w.write(ada, plexus.Register{Session: "s", Name: plexus.StandingPolicy, Value: plexus.Text("auto")})
		}, `"deny"`, 2, false},
		{"another program is chosen", deny, false, func(w *world, m *models) {
			w.configure(Settings{Connections: m, JudgeConnection: "local", AutoCoverDeny: approval.Classify, Program: Program{Name: "own.scm", Text: "deny"}})
		}, `"deny"`, 1, false},
		{"another model is chosen", deny, false, func(w *world, m *models) {
			w.configure(Settings{Connections: m, JudgeConnection: "local", JudgeModel: "large", AutoCoverDeny: approval.Classify})
		}, `"deny"`, 2, false},
	} {
		t.Run(test.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := stubborn(sayNo)
				r := new(job.Registry)
				if err := r.RegisterExecutor(job.FileMutateTool, nil, ok); err != nil {
					t.Fatal(err)
				}
				w := judged(t, m, Options{Registry: r, Policies: shippedOnly{}, Settings: test.before})
				w.session("s", "auto")
				if test.write {
					w.admit(NewCall{Session: "s", ID: "j", Kind: job.FileMutateTool, Name: "Write",
						Arguments: fmt.Appendf(nil, `{"file_path":%q,"content":"x"}`, filepath.Join(t.TempDir(), "new"))}, host)
				} else {
					w.call("s", "j", "cat .env")
				}
				time.Sleep(time.Millisecond)
				still()
				if m.count() != 1 {
					t.Fatal("nobody was asked")
				}
				test.change(w, m)
				time.Sleep(10 * time.Second)
				still()
				fields := w.fields("s", "j")
				if fields[plexus.JudgeResult] != test.want || m.count() != test.asked || fields[plexus.OrchestrationResult] == plexus.True {
					t.Errorf("asked %d times, and it is %v", m.count(), fields)
				}
				if human, err := w.NeedsHuman(t.Context(), "s", "j"); err != nil || human != test.human {
					t.Errorf("a person is asked: %v, %v", human, err)
				}
			})
		})
	}
}
