package kernel

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/approval"
	"assent/floor"
	"assent/job"
	"assent/plexus"
	"assent/remainder"
)

// classifier answers by a function.
type classifier func(context.Context, Question) (remainder.Vote, error)

func (c classifier) Vote(ctx context.Context, q Question) (remainder.Vote, error) {
	return c(ctx, q)
}

// still waits until nothing goes on but the passing of time.
func still() { synctest.Wait() }

// The law's schedule: min(5 min, max(1 s, 1 s * n * ln n)) after n attempts
// (law §9).
func TestRetriesFollowTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Duration
		begin := time.Now()
		w := newWorld(t, Options{Classifier: classifier(func(context.Context, Question) (remainder.Vote, error) {
			asked = append(asked, time.Since(begin))
			return remainder.Vote{Result: approval.NoVote}, errors.New("no connection")
		})})
		w.session("s", "auto")
		begin = time.Now()
		w.call("s", "j", "other")
		time.Sleep(24 * time.Hour)
		still()
		w.stop()

		for i := 1; i < len(asked); i++ {
			if got, want := asked[i]-asked[i-1], approval.RetryAfter(i); got != want {
				t.Fatalf("attempt %d came after %v, want %v", i+1, got, want)
			}
		}
		// n ln n reaches 300 s at n = 72; until then it adds up to under 3 hours.
		if len(asked) < 21*12 {
			t.Errorf("%d attempts in a day", len(asked))
		}
	})
}

func TestNoClassifierFallsToAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Registry: registry(ok)})
		w.session("s", "auto")
		w.call("s", "j", "other")
		w.call("s", "k", "other")
		for range 2 { // lives
			time.Sleep(24 * time.Hour)
			still()
			fields := w.fields("s", "j")
			if got := fields[plexus.JudgeFail(1)]; got != `"there is no connection: none was chosen for the classifier (judgeConnection in config.json)"` {
				t.Error("the attempt:", got)
			}
			if got := fields[plexus.JudgeFail(2)]; got != "" {
				t.Error("it is tried again, with nothing to try:", got)
			}
			if queue, err := w.Queue(t.Context(), "s", ""); err != nil || len(queue) != 2 {
				t.Errorf("queue %v, %v", queue, err)
			}
			w.restart()
		}
		w.answer("s", "j", true)
		still()
		if got := w.fields("s", "j")[plexus.OutcomeJSON]; got != `{"ok":true}` {
			t.Error("outcome", got)
		}
		// A life that has one goes on where the others stopped.
		w.opts.Classifier = classifier(func(_ context.Context, q Question) (remainder.Vote, error) {
			if q.Attempt != 2 {
				t.Errorf("attempt %d", q.Attempt)
			}
			return remainder.Vote{Result: approval.JudgeAllow}, nil
		})
		w.restart()
		time.Sleep(approval.RetryAfter(1))
		still()
		if got := w.fields("s", "k")[plexus.OutcomeJSON]; got != `{"ok":true}` {
			t.Error("outcome with a classifier", got)
		}
	})
}

// A person's answer ends the attempts.
func TestNoAttemptAfterAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Registry: registry(ok), Classifier: classifier(func(context.Context, Question) (remainder.Vote, error) {
			return remainder.Vote{Result: approval.NoVote}, errors.New("no connection")
		})})
		w.session("s", "auto")
		w.call("s", "j", "other")
		time.Sleep(10 * time.Second)
		still()
		w.answer("s", "j", true)
		still()
		attempts := len(w.fields("s", "j"))
		time.Sleep(time.Hour)
		still()
		if got := len(w.fields("s", "j")); got != attempts {
			t.Error("it was tried after the answer")
		}
	})
}

func TestClassifierVotes(t *testing.T) {
	tests := []struct {
		why  string
		vote func() (remainder.Vote, error)
		want string
	}{
		{"allow", func() (remainder.Vote, error) { return remainder.Vote{Result: approval.JudgeAllow}, nil }, `{"ok":true}`},
		{"deny", func() (remainder.Vote, error) { return remainder.Vote{Result: approval.JudgeDeny}, nil }, classifierReceipt},
		{"none", func() (remainder.Vote, error) { return remainder.Vote{Result: approval.NoVote}, nil }, ""},
		{"a panic", func() (remainder.Vote, error) { panic("oops") }, ""},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{Registry: registry(ok), Classifier: classifier(func(_ context.Context, q Question) (remainder.Vote, error) {
					if q.Leaf.ID != "j" || q.View.CurrentPolicy != approval.Auto {
						t.Errorf("asked %+v", q)
					}
					return test.vote()
				})})
				w.session("s", "auto")
				w.call("s", "j", "other")
				time.Sleep(5 * time.Second)
				still()
				fields := w.fields("s", "j")
				if fields[plexus.OutcomeJSON] != test.want {
					t.Errorf("outcome %q, want %q", fields[plexus.OutcomeJSON], test.want)
				}
				if failed := fields[plexus.JudgeFail(1)] != ""; failed != (test.want == "") {
					t.Error("a failed attempt:", failed)
				}
			})
		})
	}
}

// A classifier that never answers is a failed attempt, and holds up nobody.
func TestAClassifierThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		w := newWorld(t, Options{Registry: registry(ok), Classifier: classifier(func(context.Context, Question) (remainder.Vote, error) {
			<-hang
			return remainder.Vote{Result: approval.JudgeAllow}, nil
		})})
		w.session("s", "auto")
		w.call("s", "j", "other")
		time.Sleep(classifierLimit)
		still()
		if queue, err := w.Queue(t.Context(), "s", ""); err != nil || len(queue) != 0 {
			t.Errorf("a person is asked at once: %v, %v", queue, err)
		}
		time.Sleep(stopping)
		still()
		if got := w.fields("s", "j")[plexus.JudgeFail(1)]; got != `"the classifier took too long"` {
			t.Error("the attempt:", got)
		}
		if queue, err := w.Queue(t.Context(), "s", ""); err != nil || len(queue) != 1 {
			t.Errorf("queue %v, %v", queue, err)
		}
		time.Sleep(10 * time.Second) // the next runs
		begin := time.Now()
		w.stop()
		if took := time.Since(begin); took > stopping {
			t.Errorf("closing took %v", took)
		}
		close(hang)
		still()
	})
}

func TestAPersonEndsTheClassifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		w := newWorld(t, Options{Registry: registry(ok), Classifier: classifier(func(ctx context.Context, _ Question) (remainder.Vote, error) {
			<-ctx.Done()
			ended = true
			return remainder.Vote{Result: approval.NoVote}, ctx.Err()
		})})
		w.session("s", "auto")
		w.call("s", "j", "other")
		still()
		w.answer("s", "j", false)
		still()
		if !ended {
			t.Error("it still runs")
		}
		if got := w.fields("s", "j")[plexus.OutcomeJSON]; got != personReceipt {
			t.Error("outcome", got)
		}
	})
}

func TestTimeLimitOfABody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{
			Limit: func(job.Kind, string) time.Duration { return 90 * time.Second },
			Registry: registry(func(ctx context.Context, _ job.Call) (job.Outcome, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}),
		})
		w.session("s", "manual")
		w.call("s", "j", "let it")
		time.Sleep(89 * time.Second)
		still()
		if got := w.fields("s", "j")[plexus.OutcomeJSON]; got != "" {
			t.Error("too early:", got)
		}
		time.Sleep(2 * time.Second)
		still()
		if got := w.fields("s", "j")[plexus.OutcomeJSON]; got != `{"ok":false,"text":"timed out after 90000ms"}` {
			t.Error("outcome", got)
		}
	})
}

// A floor that does not end is a block, and keeps its slot; where all slots are
// gone, what waits is blocked as well, and nothing is stuck (law ruling 7).
func TestAFloorThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		w := newWorld(t, Options{
			Registry: registry(ok),
			Settings: Settings{Slots: 2},
			Prepare: func(_ context.Context, _ *floor.Floor, call floor.Call) floor.Call {
				if strings.Contains(string(call.Arguments), "slow") {
					<-end
				}
				return call
			},
		})
		w.session("s", "manual")
		w.call("s", "a", "let slow")
		w.call("s", "b", "let slow")
		w.call("s", "c", "let it")
		still()
		if got := w.Status(); got.Judging != 2 || got.Queued != 1 {
			t.Errorf("status %+v", got)
		}
		time.Sleep(judgeLimit + time.Second)
		still()
		for _, leaf := range []string{"a", "b", "c"} {
			if got := w.fields("s", leaf)[plexus.OutcomeJSON]; got != policyReceipt {
				t.Errorf("%s: outcome %s", leaf, got)
			}
		}
		close(end)
		still()
		w.call("s", "d", "let it")
		still()
		if got := w.fields("s", "d")[plexus.OutcomeJSON]; got != `{"ok":true}` {
			t.Error("outcome", got)
		}
	})
}

// What a call would change is looked for, and not waited for without end: the
// floor's answer stands, and the slot is there for others.
func TestAPreviewThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		tools := registry(ok)
		if err := tools.RegisterPreview(job.SystemTool, "", func(_ context.Context, call job.Call) (job.Shown, error) {
			if call.Job != "quick" {
				<-end
			}
			return job.Shown{Text: "a change", Image: "i"}, nil
		}); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, Options{Registry: tools, Settings: Settings{Slots: 2}})
		w.session("s", "manual")
		w.call("s", "quick", "rm x")
		w.call("s", "a", "rm x")
		still()
		if got := w.fields("s", "quick")[plexus.Explanation]; !strings.Contains(got, `"preview":{"text":"a change","image":"i"}`) {
			t.Fatal(got)
		}
		if got := w.fields("s", "a")[plexus.PolicyResult]; got != "" {
			t.Fatal("it did not wait for what is shown", got)
		}
		time.Sleep(showLimit)
		still()
		if got := w.fields("s", "a"); got[plexus.PolicyResult] != w.fields("s", "quick")[plexus.PolicyResult] || !strings.Contains(got[plexus.Explanation], "looking took longer than 5s") {
			t.Errorf("%v", got)
		}
		w.answer("s", "a", true)
		still()
		if got := w.fields("s", "a")[plexus.OutcomeJSON]; got != `{"ok":true}` {
			t.Error("outcome", got)
		}
		w.call("s", "b", "let it")
		still()
		if got := w.fields("s", "b")[plexus.OutcomeJSON]; got != `{"ok":true}` {
			t.Error("another", got)
		}
		if got := w.Status(); got.Judging != 1 {
			t.Errorf("status %+v", got)
		}
		close(end)
		still()
		if got := w.Status(); got.Judging != 0 {
			t.Errorf("status %+v", got)
		}
	})
}

func TestAFloorThatPanics(t *testing.T) {
	w := newWorld(t, Options{Prepare: func(context.Context, *floor.Floor, floor.Call) floor.Call { panic("oops") }})
	w.session("s", "yolo")
	w.call("s", "j", "let it")
	if got := w.outcome("s", "j"); got != policyReceipt {
		t.Error("outcome", got)
	}
	if got := w.fields("s", "j")[plexus.PolicyMessage]; !strings.Contains(got, "oops") {
		t.Error("message", got)
	}
}

func TestGuards(t *testing.T) {
	tests := []struct {
		why   string
		guard job.Guard
		want  string
	}{
		{"true leaves it to the law", func(context.Context, job.Call) (bool, error) { return true, nil }, `{"ok":true}`},
		{"false", func(context.Context, job.Call) (bool, error) { return false, nil }, policyReceipt},
		{"an error", func(context.Context, job.Call) (bool, error) { return true, errors.New("oops") }, policyReceipt},
		{"a panic", func(context.Context, job.Call) (bool, error) { panic("oops") }, policyReceipt},
		{"one that does not end", func(ctx context.Context, _ job.Call) (bool, error) { <-ctx.Done(); return true, nil }, policyReceipt},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := new(job.Registry)
				if err := r.RegisterExecutor(job.SystemTool, test.guard, ok); err != nil {
					t.Fatal(err)
				}
				w := newWorld(t, Options{Registry: r})
				w.session("s", "yolo")
				w.call("s", "j", "let it")
				time.Sleep(judgeLimit + time.Second)
				still()
				if got := w.fields("s", "j")[plexus.OutcomeJSON]; got != test.want {
					t.Errorf("outcome %s, want %s", got, test.want)
				}
			})
		})
	}
}

// The sessions take turns: one with many calls does not keep the others out.
func TestSlotsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var order []string
		w := newWorld(t, Options{
			Settings: Settings{Slots: 1},
			Prepare: func(_ context.Context, _ *floor.Floor, call floor.Call) floor.Call {
				<-gate
				order = append(order, call.Cwd)
				return call
			},
		})
		one, other := t.TempDir(), t.TempDir()
		for id, cwd := range map[string]string{"one": one, "other": other} {
			if _, err := w.CreateSession(t.Context(), NewSession{ID: id, Workspace: w.dir, Cwd: cwd}, ada); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			w.admit(NewCall{Session: "one", Name: "Bash", Arguments: bash("x")}, host)
		}
		still()
		w.admit(NewCall{Session: "other", Name: "Bash", Arguments: bash("x")}, host)
		still()
		if got := w.Status(); got.Judging != 1 {
			t.Errorf("status %+v", got)
		}
		for range 6 {
			gate <- struct{}{}
			still()
		}
		at := -1
		for i, cwd := range order {
			if cwd == other {
				at = i
			}
		}
		if at > 2 {
			t.Errorf("the other session came at place %d", at)
		}
	})
}

// A prompt says when the classifier is asked again.
func TestAPromptSaysWhenTheClassifierIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Classifier: classifier(func(context.Context, Question) (remainder.Vote, error) {
			return remainder.Vote{Result: approval.NoVote}, errors.New("no connection")
		})})
		w.session("s", "auto")
		w.call("s", "j", "other")
		still()
		failed := time.Now()
		prompt, err := w.Prompt(t.Context(), "s", "j")
		if want := failed.Add(approval.RetryAfter(1)); err != nil || !prompt.Retry.Equal(want) {
			t.Errorf("%v, %v; want %v", prompt.Retry, err, want)
		}
		w.stop()
	})
}
