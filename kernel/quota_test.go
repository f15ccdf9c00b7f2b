package kernel

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"assent/job"
	"assent/plexus"
)

// tight is a document whose disk has so much left.
type tight struct {
	*plexus.Store
	free *atomic.Int64
}

func (d tight) Free() (int64, bool) { return d.free.Load(), true }

func newTight(t *testing.T, set Settings) (w *world, free *atomic.Int64) {
	free = new(atomic.Int64)
	free.Store(1 << 40)
	return newWorldOver(t, Options{Settings: set}, func(doc *plexus.Store) Document { return tight{doc, free} }), free
}

// ask admits a call of an agent's own client.
func (w *world) ask(session, id, command string, by plexus.Writer) error {
	_, err := w.Admit(w.Context(), NewCall{Session: session, ID: id, Name: "Bash", Arguments: bash(command)}, by)
	return err
}

func (w *world) agentSession(id string, by plexus.Writer) error {
	_, err := w.CreateSession(w.Context(), NewSession{ID: id, Workspace: w.dir}, by)
	return err
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// An agent that asks without end, also for what is settled at once, is refused when
// it has its part of the document; others are not, and no life begins anew. What is
// there is answered, reported on and cancelled all the same.
func TestAgentFillsTheDocument(t *testing.T) {
	w, _ := newTight(t, Settings{AgentBytes: 1 << 20})
	w.Home = ""
	w.must(w.agentSession("mine", spy))
	w.must(w.agentSession("others", other))
	for _, id := range []string{"answered", "refused", "cancelled"} {
		w.must(w.ask("mine", id, "ask "+id, spy))
	}
	w.must(w.ask("mine", "licensed", "let it", spy))
	w.await("mine", "licensed", plexus.OrchestrationResult)

	long := "never " + strings.Repeat("x", 10_000)
	asked := 0
	var err error
	for ; err == nil && asked < 1000; asked++ {
		if err = w.ask("mine", fmt.Sprint("blocked", asked), long, spy); err == nil {
			w.outcome("mine", fmt.Sprint("blocked", asked))
		}
	}
	if !errors.Is(err, ErrQuota) || asked < 10 || !strings.Contains(err.Error(), "agentMegabytes in config.json") {
		t.Fatalf("after %d calls: %v", asked, err)
	}
	if st, _ := w.doc.Stored(spy.Name); st.Bytes > 1<<20+1<<16 {
		t.Errorf("it has %d bytes", st.Bytes)
	}
	if err := w.agentSession("another", spy); err == nil {
		// A session is small: there may be room for some.
		for i := 0; err == nil && i < EmptyMost; i++ {
			err = w.agentSession(fmt.Sprint("another", i), spy)
		}
		if !errors.Is(err, ErrQuota) {
			t.Errorf("sessions: %v", err)
		}
	}
	w.must(w.ask("others", "one", "let it", other))
	w.call("mine", "person's", "let it")

	w.stop()
	w.must(os.Remove(w.path + ".seal")) // so that all is read before anything is
	w.start()
	w.must(w.doc.Trusted(t.Context()))
	if err := w.ask("mine", "again", long, spy); !errors.Is(err, ErrQuota) {
		t.Errorf("in the next life: %v", err)
	}

	// Nothing of what is there is stuck.
	w.answer("mine", "answered", true)
	w.answer("mine", "refused", false)
	w.outcome("mine", "refused")
	w.must(w.Cancel(t.Context(), "mine", "cancelled", ada))
	w.await("mine", "answered", plexus.OrchestrationResult)
	w.must(w.Begin(t.Context(), "mine", "answered", spy))
	w.must(w.Report(t.Context(), "mine", "answered", `{"ok":true,"text":"`+strings.Repeat("y", 1<<20)+`"}`, spy))
	if got := w.outcome("mine", "answered"); !strings.HasPrefix(got, `{"ok":true,"text":"[1048597 bytes are not kept: `) || len(got) > smallOutcome {
		t.Errorf("a large outcome: %.300s", got)
	}
	w.must(w.Report(t.Context(), "mine", "licensed", `{"ok":true}`, spy))
	if got := w.outcome("mine", "licensed"); got != `{"ok":true}` {
		t.Errorf("a small outcome: %s", got)
	}
	if _, err := w.doc.Verify(t.Context()); err != nil {
		t.Error(err)
	}

	// A person gives it more.
	w.must(w.Configure(t.Context(), Settings{AgentBytes: 2 << 20}))
	w.must(w.ask("mine", "more", "let it", spy))
}

// Where little is left of the disk, agents begin nothing; people answer and cancel,
// and what was begun is settled.
func TestReserveOfTheDisk(t *testing.T) {
	w, free := newTight(t, Settings{Reserve: 100 << 20})
	w.must(w.agentSession("mine", spy))
	for _, id := range []string{"yes", "no", "cancelled"} {
		w.must(w.ask("mine", id, "ask "+id, spy))
		w.await("mine", id, plexus.PolicyResult)
	}
	free.Store(100<<20 - 1)
	if err := w.ask("mine", "more", "let it", spy); !errors.Is(err, ErrReserve) || !strings.Contains(err.Error(), "below 100 MiB (diskReserveMegabytes in config.json)") {
		t.Errorf("a call: %v", err)
	}
	if err := w.agentSession("more", spy); !errors.Is(err, ErrReserve) {
		t.Errorf("a session: %v", err)
	}
	w.session("person's", "manual")
	w.answer("mine", "yes", true)
	w.answer("mine", "no", false)
	w.outcome("mine", "no")
	w.must(w.Cancel(t.Context(), "mine", "cancelled", spy))
	w.await("mine", "yes", plexus.OrchestrationResult)
	w.must(w.Report(t.Context(), "mine", "yes", `["`+strings.Repeat("y", smallOutcome)+`"]`, spy))
	if got := w.outcome("mine", "yes"); !strings.HasPrefix(got, `{"text":"[1028 bytes are not kept: `) {
		t.Error(got)
	}
	free.Store(100 << 20)
	w.must(w.ask("mine", "more", "let it", spy))
}

// One agent cannot have more calls wait than a person could answer, or sessions in
// which nothing is. Many at once do not get past that.
func TestManyOfOneAgent(t *testing.T) {
	w, _ := newTight(t, Settings{})
	many := func(n int, f func(i int) error) (taken int) {
		var all sync.WaitGroup
		var ok atomic.Int64
		for part := range 16 {
			all.Go(func() {
				for i := part; i < n; i += 16 {
					switch err := f(i); {
					case err == nil:
						ok.Add(1)
					case !errors.Is(err, ErrQuota):
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		return int(ok.Load())
	}
	if got := many(EmptyMost+50, func(i int) error { return w.agentSession(fmt.Sprint("s", i), spy) }); got != EmptyMost {
		t.Errorf("%d sessions", got)
	}
	w.must(w.agentSession("others", other))
	w.session("s", "manual")
	if got := many(WaitingMost+200, func(i int) error { return w.ask("s", fmt.Sprint("c", i), "ask", spy) }); got != WaitingMost {
		t.Errorf("%d calls wait", got)
	}
	w.must(w.ask("others", "one", "ask", other))
	if w.Used().Agents[spy.Name].Waiting != WaitingMost {
		t.Error(w.Used().Agents)
	}
	// One that is answered makes room for one, and so does a session with a call.
	rows, err := w.doc.Jobs(t.Context(), "s")
	w.must(err)
	w.answer("s", rows[0].ID, false)
	w.outcome("s", rows[0].ID)
	w.must(w.ask("s", "room", "ask", spy))
	if err := w.ask("s", "no-room", "ask", spy); !errors.Is(err, ErrQuota) {
		t.Error(err)
	}
	// Calls of the host's own, and those of people, are not counted.
	w.admit(NewCall{Session: "s", ID: "host's", Kind: job.SystemTool, Name: "Bash", Arguments: bash("ask")}, host)
}

// Calls that were let go on and never reported on are bounded as well.
func TestUnreported(t *testing.T) {
	w, _ := newTight(t, Settings{})
	w.Kernel.coming.of = map[string]plexus.Stored{spy.Name: {Open: OpenMost}}
	w.session("s", "manual")
	if err := w.ask("s", "one", "let it", spy); !errors.Is(err, ErrQuota) || !strings.Contains(err.Error(), "not settled") {
		t.Error(err)
	}
}
