package kernel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/job"
	"assent/plexus"
	"assent/session"
)

// sequel is a sequence that asks for one command after the other, and gives what it
// heard.
type sequel struct {
	*world
	commands []string

	mu    sync.Mutex
	heard []string
	over  int // how often it was gone through
}

func (s *sequel) run(ctx context.Context, of job.Call) (job.Outcome, error) {
	text := ""
	for i, command := range s.commands {
		got, err := s.Inside(ctx, of, job.Inside{Place: int64(i + 1), Kind: job.SystemTool, Name: "Bash", Arguments: bash(command), Line: i + 1})
		if err != nil {
			return nil, err
		}
		said := fmt.Sprintf("%s: refused=%v cancelled=%v %q %s", command, got.Refused, got.Cancelled, got.Comment, got.Outcome)
		s.mu.Lock()
		s.heard = append(s.heard, said)
		s.mu.Unlock()
		text += said + "\n"
	}
	s.mu.Lock()
	s.over++
	s.mu.Unlock()
	return job.Text(text), nil
}

// scripted is a world with such a sequence, and what its bodies did.
func scripted(t *testing.T, commands ...string) (*sequel, *log) {
	t.Helper()
	s, l := &sequel{commands: commands}, new(log)
	tools := registry(l.done)
	if err := tools.RegisterSequence(job.ProgrammaticJob, "script", s.run); err != nil {
		t.Fatal(err)
	}
	s.world = newWorld(t, Options{Registry: tools})
	s.session("s", "manual")
	return s, l
}

func (s *sequel) begin(id, parent string) {
	s.Helper()
	s.admit(NewCall{Session: "s", ID: id, Parent: parent, Kind: job.ProgrammaticJob, Name: "script"}, host)
}

// Each call of a sequence is a leaf in it: judged, answered, run and settled as any.
func TestCallsInASequence(t *testing.T) {
	s, l := scripted(t, "let a", "no b", "never c", "ask d")
	s.admit(NewCall{Session: "s", ID: "turn", Kind: job.SessionTurn}, host)
	s.begin("bag", "turn")
	s.await("s", "bag.2", plexus.PolicyResult)
	s.write(ada, plexus.Field{Session: "s", Job: "bag.2", Name: plexus.ApprovalComment, Value: `"not b"`})
	s.answer("s", "bag.2", false)
	s.await("s", "bag.4", plexus.PolicyResult)
	s.answer("s", "bag.4", true)
	want := `{"ok":true,"text":"let a: refused=false cancelled=false \"\" {\"ok\":true,\"text\":\"done\"}\n` +
		`no b: refused=true cancelled=false \"not b\" {\"ok\":false,\"text\":\"User refused this tool use\"}\n` +
		`never c: refused=true cancelled=false \"\" {\"ok\":false,\"text\":\"Policy prohibits this tool use. Do not try to bypass it; if this is crucial, ask user to do it\",\"code\":\"policy_denied\"}\n` +
		`ask d: refused=false cancelled=false \"\" {\"ok\":true,\"text\":\"done\"}\n"}`
	if diff := cmp.Diff(want, s.outcome("s", "bag")); diff != "" {
		t.Error("the outcome of the sequence (-want +got):\n", diff)
	}
	if n := len(l.all()); n != 2 {
		t.Errorf("%d bodies ran, want 2", n)
	}
	snap, err := s.doc.Job(t.Context(), "s", "bag.4")
	if err != nil || snap.Job.Parent != "bag" || snap.Job.Ord != 4 || snap.Job.Facts != `{"line":4}` || snap.Job.Writer.Role != plexus.Host {
		t.Errorf("the leaf is %v, %v", snap.Job, err)
	}
}

// The queue walks into a sequence, in the order of the tree and not of time.
func TestQueueOfASequence(t *testing.T) {
	s, _ := scripted(t, "ask a")
	s.admit(NewCall{Session: "s", ID: "turn", Kind: job.SessionTurn}, host)
	s.admit(NewCall{Session: "s", ID: "last", Parent: "turn", Ord: 3, Kind: job.SystemTool, Name: "Bash", Arguments: bash("ask z")}, host)
	s.await("s", "last", plexus.PolicyResult)
	s.admit(NewCall{Session: "s", ID: "bag", Parent: "turn", Ord: 2, Kind: job.ProgrammaticJob, Name: "script"}, host)
	s.await("s", "bag.1", plexus.PolicyResult)
	for _, under := range []struct {
		id   string
		want []string
	}{{"turn", []string{"bag.1", "last"}}, {"bag", []string{"bag.1"}}, {"", []string{"bag.1", "last"}}} {
		queue, err := look(t.Context(), s.Kernel, "s", func(o *owner) (ids []string) {
			for _, id := range o.m.Queue(session.JobID(under.id)) {
				ids = append(ids, string(id))
			}
			return ids
		})
		if diff := cmp.Diff(under.want, queue); diff != "" || err != nil {
			t.Errorf("under %q (-want +got):\n%s %v", under.id, diff, err)
		}
	}
}

// A restart goes through a sequence from its beginning, and no call is made twice.
func TestSequenceAfterARestart(t *testing.T) {
	s, l := scripted(t, "let a", "ask b", "let c")
	s.begin("bag", "")
	s.await("s", "bag.2", plexus.PolicyResult)
	s.restart()
	s.answer("s", "bag.2", true)
	s.outcome("s", "bag")
	var did []string
	for _, call := range l.all() {
		did = append(did, string(call.Job))
	}
	if diff := cmp.Diff([]string{"bag.1", "bag.2", "bag.3"}, did); diff != "" {
		t.Error("bodies (-want +got):\n", diff)
	}
	s.restart()
	s.session("after", "manual")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != 1 {
		t.Errorf("it came to its end %d times", s.over)
	}
}

// What asks for something else than before gets nothing of what was answered then.
func TestAnotherSequenceAfterARestart(t *testing.T) {
	s, _ := scripted(t, "let a", "ask b")
	s.begin("bag", "")
	s.await("s", "bag.2", plexus.PolicyResult)
	s.stop()
	s.commands = []string{"let other", "ask b"}
	s.start()
	if got, want := s.outcome("s", "bag"), `{"ok":false,"text":"call 1: another call has its place: the program asked for something else before a restart"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A job of somebody else that has the id of a call is not that call, and nobody waits for
// it.
func TestASequenceIsGivenNothingElse(t *testing.T) {
	s, _ := scripted(t, "let a")
	s.admit(NewCall{Session: "s", ID: "bag.1", Name: "Bash", Arguments: bash("let a")}, hook)
	s.begin("bag", "")
	if got, want := s.outcome("s", "bag"), `{"ok":false,"text":"call 1: another call has its place: the program asked for something else before a restart"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Cancelling ends the sequence and all that waits in it, and nothing is made in it any
// more.
func TestCancelASequence(t *testing.T) {
	for _, test := range []struct{ why, what string }{{"itself", "bag"}, {"the turn above", "turn"}, {"the session", ""}} {
		t.Run(test.why, func(t *testing.T) {
			s, l := scripted(t, "ask a", "let b")
			s.admit(NewCall{Session: "s", ID: "turn", Kind: job.SessionTurn}, host)
			s.begin("bag", "turn")
			s.await("s", "bag.1", plexus.PolicyResult)
			if err := s.Cancel(t.Context(), "s", test.what, ada); err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"bag.1", "bag"} {
				if got, want := s.outcome("s", id), `{"ok":false,"text":"cancelled"}`; got != want {
					t.Errorf("%s: got %s, want %s", id, got, want)
				}
			}
			s.restart()
			if _, err := s.doc.Job(t.Context(), "s", "bag.2"); !errors.Is(err, plexus.ErrNoJob) || len(l.all()) > 0 {
				t.Errorf("a call was made after that: %v", err)
			}
		})
	}
}

// A call that is cancelled by itself does not end the sequence.
func TestCancelACallOfASequence(t *testing.T) {
	s, _ := scripted(t, "ask a", "let b")
	s.begin("bag", "")
	s.await("s", "bag.1", plexus.PolicyResult)
	if err := s.Cancel(t.Context(), "s", "bag.1", ada); err != nil {
		t.Fatal(err)
	}
	want := `{"ok":true,"text":"ask a: refused=false cancelled=true \"\" {\"ok\":false,\"text\":\"cancelled\"}\nlet b: refused=false cancelled=false \"\" {\"ok\":true,\"text\":\"done\"}\n"}`
	if got := s.outcome("s", "bag"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A sequence that nothing here goes through is for whoever minted it.
func TestSequenceOfSomebodyElse(t *testing.T) {
	s, _ := scripted(t, "let a")
	s.admit(NewCall{Session: "s", ID: "theirs", Kind: job.ProgrammaticJob, Name: "another"}, host)
	s.begin("bag", "")
	s.outcome("s", "bag")
	if _, done := s.fields("s", "theirs")[plexus.Completed]; done {
		t.Error("it was settled")
	}
}

// What the agent said with a program, it said with the calls in it.
func TestWhatWasSaidWithAProgram(t *testing.T) {
	s, _ := scripted(t, "ask a")
	s.admit(NewCall{Session: "s", ID: "turn", Kind: job.SessionTurn}, host)
	s.admit(NewCall{Session: "s", ID: "bag", Parent: "turn", Kind: job.ProgrammaticJob, Name: "script", Facts: `{"said":"I clean up."}`}, host)
	s.await("s", "bag.1", plexus.PolicyResult)
	scene, err := s.sceneOf(t.Context(), plexus.Session{ID: "s"}, "bag.1")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := scene.response(t.Context()); err != nil || got != "I clean up." {
		t.Errorf("got %q, %v", got, err)
	}
}
