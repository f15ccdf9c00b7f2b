package kernel

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assent/floor"
	"assent/plexus"
	"assent/session"
)

// An agent with many sessions, each with much in it, takes one turn among the others,
// and its sessions take that one in turn.
func TestAgentsTakeTurns(t *testing.T) {
	k := new(Kernel)
	s := newSlots(k)
	s.resize(1)
	var mu sync.Mutex
	var order []string
	var done sync.WaitGroup
	gate := make(chan struct{})
	owners := make(map[string]*owner)
	judge := func(id, agent, job string) {
		o := owners[id]
		if o == nil {
			o = &owner{k: k, id: id}
			owners[id] = o
		}
		if agent != "" {
			k.belongs.Store(id, agent)
		}
		done.Add(1)
		s.add(o, &evaluation{job: session.JobID(job), run: func() {
			defer done.Done()
			<-gate
			mu.Lock()
			defer mu.Unlock()
			order = append(order, job)
		}})
	}
	judge("first", "many", "running")
	for i := range 3 {
		for j := range 2 {
			judge(fmt.Sprint("many", i), "many", fmt.Sprintf("many%d.%d", i, j))
		}
	}
	judge("one", "other", "other.0")
	judge("one", "other", "other.1")
	judge("nobodys", "", "nobodys.0")
	judge("nobodys too", "", "nobodys-too.0")
	judge("gone", "gone", "taken back")
	s.remove(owners["gone"], "taken back")
	done.Done()
	close(gate)
	done.Wait()
	const want = "running many0.0 other.0 nobodys.0 nobodys-too.0 many1.0 other.1 many2.0 many0.1 many1.1 many2.1"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.close()
	if n := len(s.turns) + len(s.parties) + len(s.queues); n != 0 {
		t.Errorf("%d are kept of whoever has nothing there", n)
	}
}

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
