package job_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assent/job"
	"assent/session"

	"github.com/google/go-cmp/cmp"
)

// reports is what a starter says of bodies that ended.
type reports struct {
	mu  sync.Mutex
	all []string
}

func (r *reports) report(id string, ev session.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch ev := ev.(type) {
	case session.BodyDone:
		r.all = append(r.all, fmt.Sprintf("%s/%s %s", id, ev.Job, ev.Outcome))
	case session.BodyTimeout:
		r.all = append(r.all, fmt.Sprintf("%s/%s after %v", id, ev.Job, ev.Limit))
	default:
		r.all = append(r.all, fmt.Sprintf("%T", ev))
	}
	slices.Sort(r.all)
}

func (r *reports) want(t *testing.T, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(want, r.all); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

// starter runs every foreign call by one body, in a bubble of time.
func starter(t *testing.T, body job.Body, test func(t *testing.T, s *job.Starter, r *reports)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var registry job.Registry
		if err := registry.RegisterExecutor(job.Foreign, nil, body); err != nil {
			t.Fatal(err)
		}
		r := new(reports)
		s := job.NewStarter(&registry, r.report)
		test(t, s, r)
		s.Close()
		if n := s.Running(); n != 0 {
			t.Errorf("%d bodies run after Close", n)
		}
	})
}

func call(id session.JobID) job.Call { return job.Call{Session: "s", Job: id, Name: "greet"} }

// untilStopped is a body that waits for its end and tells of the cause.
func untilStopped(ctx context.Context, _ job.Call) (job.Outcome, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestHowBodiesEnd(t *testing.T) {
	for _, test := range []struct {
		why  string
		body job.Body
		want string
	}{
		{"an outcome", done, `s/j {"ok":true,"text":"done"}`},
		{"none", func(context.Context, job.Call) (job.Outcome, error) { return nil, nil }, `s/j {"ok":true,"text":""}`},
		{"an error", func(context.Context, job.Call) (job.Outcome, error) { return nil, errors.New("no <such> \"file\"") },
			`s/j {"ok":false,"text":"no <such> \"file\""}`},
		{"an error beside an outcome", func(context.Context, job.Call) (job.Outcome, error) { return job.Text("x"), errors.New("oops") },
			`s/j {"ok":false,"text":"oops"}`},
		{"a panic", func(context.Context, job.Call) (job.Outcome, error) { panic("help") },
			`s/j {"ok":false,"text":"the body of greet panicked: help"}`},
		{"it leaves", func(context.Context, job.Call) (job.Outcome, error) { runtime.Goexit(); return nil, nil },
			`s/j {"ok":false,"text":"it ended without an answer"}`},
		{"too long", untilStopped, `s/j after 1m0s`},
		{"a panic when it took too long", func(ctx context.Context, _ job.Call) (job.Outcome, error) { <-ctx.Done(); panic("late") },
			`s/j after 1m0s`},
		{"done just as its time was over", func(ctx context.Context, _ job.Call) (job.Outcome, error) { <-ctx.Done(); return job.Text("done"), nil },
			`s/j {"ok":true,"text":"done"}`},
	} {
		t.Run(test.why, func(t *testing.T) {
			starter(t, test.body, func(t *testing.T, s *job.Starter, r *reports) {
				if !s.Start(call("j"), time.Minute) {
					t.Error("it was not started")
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				r.want(t, test.want)
				if n := s.Running(); n != 0 {
					t.Errorf("%d run", n)
				}
			})
		})
	}
}

// Without a limit a body takes as long as it likes, and the starter waits for
// none.
func TestNoLimit(t *testing.T) {
	starter(t, untilStopped, func(t *testing.T, s *job.Starter, r *reports) {
		for i := range 100 {
			if !s.Start(call(session.JobID(fmt.Sprint(i))), 0) {
				t.Error("it was not started")
			}
		}
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		r.want(t)
		if n := s.Running(); n != 100 {
			t.Errorf("%d run, want 100", n)
		}
	})
}

func TestWhatIsNotStarted(t *testing.T) {
	starter(t, untilStopped, func(t *testing.T, s *job.Starter, r *reports) {
		external := call("x")
		external.Kind = job.MCPTool
		if s.Start(external, 0) {
			t.Error("a call without a body here was started")
		}
		if !s.Start(call("j"), 0) || s.Start(call("j"), 0) {
			t.Error("a body runs twice at a time")
		}
		elsewhere := call("j")
		elsewhere.Session = "t"
		if !s.Start(elsewhere, 0) {
			t.Error("a job of another session counts as the same")
		}
		if s.Stop("t", "k") || s.Stop("u", "j") {
			t.Error("what does not run was stopped")
		}
		s.Close()
		if s.Start(call("k"), 0) {
			t.Error("a body was started after Close")
		}
		s.Close()
		r.want(t)
	})
}

// Stop does not wait: the end is reported, and the leaf may be started again
// from the report on.
func TestStop(t *testing.T) {
	body := func(ctx context.Context, _ job.Call) (job.Outcome, error) {
		<-ctx.Done()
		time.Sleep(time.Second)
		return nil, context.Cause(ctx)
	}
	starter(t, body, func(t *testing.T, s *job.Starter, r *reports) {
		s.Start(call("j"), 0)
		if !s.Stop("s", "j") || !s.Stop("s", "j") {
			t.Error("what runs was not stopped")
		}
		synctest.Wait()
		r.want(t)
		if s.Start(call("j"), 0) {
			t.Error("a second body began before the first had ended")
		}
		time.Sleep(time.Minute)
		r.want(t, `s/j {"ok":false,"text":"stopped"}`)
		if s.Stop("s", "j") || !s.Start(call("j"), 0) {
			t.Error("it counts as running after its report")
		}
	})
}

// A report may ask the starter for more.
func TestStartFromAReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var registry job.Registry
		if err := registry.RegisterExecutor(job.Foreign, nil, done); err != nil {
			t.Fatal(err)
		}
		var s *job.Starter
		n := 0
		s = job.NewStarter(&registry, func(string, session.Event) {
			if n++; n < 10 && !s.Start(call("j"), 0) {
				t.Error("it was not started again")
			}
		})
		s.Start(call("j"), 0)
		synctest.Wait()
		s.Close()
		if n != 10 {
			t.Errorf("%d ended, want 10", n)
		}
	})
}

// Close ends every body and waits for it. One that was cut short is not
// reported: its call is not settled. One that came to its end all the same is.
func TestClose(t *testing.T) {
	body := func(ctx context.Context, call job.Call) (job.Outcome, error) {
		<-ctx.Done()
		time.Sleep(time.Second)
		switch call.Job {
		case "ends":
			return job.Text("done"), nil
		case "panics":
			panic("help")
		}
		return nil, ctx.Err()
	}
	starter(t, body, func(t *testing.T, s *job.Starter, r *reports) {
		for _, id := range []session.JobID{"ends", "panics", "cut", "stopped", "late"} {
			limit := time.Duration(0)
			if id == "late" {
				limit = time.Minute
			}
			s.Start(call(id), limit)
		}
		time.Sleep(time.Minute + time.Millisecond)
		s.Stop("s", "stopped")
		s.Close()
		r.want(t, `s/ends {"ok":true,"text":"done"}`, "s/late after 1m0s", `s/stopped {"ok":false,"text":"context canceled"}`)
	})
}
