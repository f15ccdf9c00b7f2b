package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assent/approval"
	"assent/job"
	"assent/plexus"
	"assent/remainder"
)

// models are the connections of a test: one, "local", whose model is a function.
type models struct {
	answer func(context.Context, remainder.Request) (string, error)

	mu    sync.Mutex
	asked []remainder.Request
	now   int
	most  int // at a time
}

func (m *models) Setting(name string) (string, bool) { return "small", name == "local" }

func (m *models) Connect(_ context.Context, name, model string) (remainder.Model, error) {
	if name != "local" || model == "" {
		return nil, &remainder.Failure{Cause: remainder.Unconnected, Connection: name}
	}
	return m, nil
}

func (m *models) Complete(ctx context.Context, r remainder.Request) (remainder.Answer, error) {
	m.mu.Lock()
	m.asked = append(m.asked, r)
	m.now++
	m.most = max(m.most, m.now)
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		m.now--
		m.mu.Unlock()
	}()
	text, err := m.answer(ctx, r)
	return remainder.Answer{Text: text}, err
}

func (m *models) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

// last is the last request as text.
func (m *models) last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for _, p := range m.asked[len(m.asked)-1].Messages[0].Parts {
		b.WriteString(p.Text + "\n")
	}
	return b.String()
}

// says is a model that always gives one answer.
func says(text string) *models {
	return &models{answer: func(context.Context, remainder.Request) (string, error) { return text, nil }}
}

const (
	sayYes = `{"decision":"allow","uncertainty":1,"severity":2}`
	sayNo  = `{"decision":"deny"}`
)

// judged is a world whose classifier asks models.
func judged(t testing.TB, m *models, opts Options) *world {
	t.Helper()
	if opts.Registry == nil {
		opts.Registry = registry(ok)
	}
	opts.Settings.Connections, opts.Settings.JudgeConnection = m, "local"
	return newWorld(t, opts)
}

func TestTheClassifierOfTheSettings(t *testing.T) {
	fails := func(f *remainder.Failure) *models {
		return &models{answer: func(context.Context, remainder.Request) (string, error) { return "", f }}
	}
	for _, test := range []struct {
		why     string
		m       *models
		outcome string
		fail    string
	}{
		{"allow", says(sayYes), `{"ok":true}`, ""},
		{"deny", says(sayNo), classifierReceipt, ""},
		{"withheld", says(`{"decision":"allow","uncertainty":8,"severity":9}`), "", `"the model would allow it, with uncertainty 8 and severity 9: 72 is more than 50"`},
		{"no JSON", says("yes"), "", `"the answer is not the JSON that was asked for: \"yes\""`},
		{"overloaded", fails(&remainder.Failure{Cause: remainder.Overloaded, Connection: "local", Code: 429}), "", `"connection local: it is overloaded (HTTP 429)"`},
		{"an error of the server", fails(&remainder.Failure{Cause: remainder.Status, Connection: "local", Code: 500}), "", `"connection local: it answered with an error (HTTP 500)"`},
	} {
		t.Run(test.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := judged(t, test.m, Options{})
				w.session("s", "auto")
				w.call("s", "j", "other")
				still()
				fields := w.fields("s", "j")
				if fields[plexus.OutcomeJSON] != test.outcome || fields[plexus.JudgeFail(1)] != test.fail {
					t.Errorf("outcome %q, failed %q", fields[plexus.OutcomeJSON], fields[plexus.JudgeFail(1)])
				}
				if queue, err := w.Queue(t.Context(), "s", ""); err != nil || (len(queue) == 1) != (test.fail != "") {
					t.Errorf("a person is asked: %v, %v", queue, err)
				}
				if test.fail != "" && fields[plexus.JudgeResult] != "" {
					t.Error("a failed attempt has voted")
				}
			})
		})
	}
}

// A vote has beside it who gave it and why, and an attempt that failed has nothing.
func TestTheVoteSaysWhoGaveIt(t *testing.T) {
	const why = `{"decision":"allow","uncertainty":1,"severity":2,"reason":"only\n looks"}`
	for _, test := range []struct {
		why     string
		m       *models
		program Program
		want    []string // of the first and the second call, which is the same
	}{
		{"a model", says(why), Program{}, []string{
			`{"program":"auto-mode-ask.scm","connection":"local","model":"small","evidence":"privileged","uncertainty":1,"severity":2,"reason":"only looks"}`,
			`{"program":"auto-mode-ask.scm","connection":"local","model":"small","evidence":"privileged","uncertainty":1,"severity":2,"reason":"only looks","remembered":true}`,
		}},
		{"a model that says no more than no", says(sayNo), Program{}, []string{
			`{"program":"auto-mode-ask.scm","connection":"local","model":"small","evidence":"privileged"}`,
			`{"program":"auto-mode-ask.scm","connection":"local","model":"small","evidence":"privileged","remembered":true}`,
		}},
		{"the program itself", says(why), Program{Name: "deny.scm", Text: "deny"}, []string{`{"program":"deny.scm"}`, `{"program":"deny.scm","remembered":true}`}},
		{"nobody", says("yes"), Program{}, []string{"", ""}},
	} {
		t.Run(test.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := judged(t, test.m, Options{Settings: Settings{Program: test.program}})
				w.session("s", "auto")
				for i, want := range test.want {
					id := fmt.Sprint("j", i)
					w.call("s", id, "other")
					still()
					if got := w.fields("s", id)[plexus.Judgement]; got != want {
						t.Errorf("%s: got %s, want %s", id, got, want)
					}
				}
			})
		})
	}
}

// turned is a session with two turns, the second of which goes on from the first,
// and a call in it.
func turned(w *world, session, second string) {
	turn := func(id, arguments string, ord int64) plexus.Job {
		return plexus.Job{Session: session, ID: id, Kind: plexus.SessionTurn, Ord: ord, Arguments: arguments}
	}
	w.write(host, turn("other", `{"prompt":"an unrelated wish"}`, 0), turn("one", `{"prompt":"make it green"}`, 1))
	w.write(host, plexus.Job{Session: session, ID: "early", Parent: "one", Kind: string(job.SystemTool), Name: "Bash", Arguments: string(bash("let it"))})
	w.write(host, plexus.Job{Session: session, ID: "stray", Parent: "other", Kind: string(job.SystemTool), Name: "Bash", Arguments: string(bash("let stray"))})
	w.await(session, "early", plexus.Completed)
	w.await(session, "stray", plexus.Completed)
	w.write(host, plexus.Field{Session: session, Job: "one", Name: plexus.OutcomeJSON, Value: `{"ok":true,"text":"it is green now"}`},
		plexus.Field{Session: session, Job: "one", Name: plexus.Completed, Value: plexus.True})
	w.write(host, turn("two", second, 2))
}

func TestEvidenceOfTurns(t *testing.T) {
	for _, test := range []struct {
		why, second string
		has, hasNot []string
	}{
		{"a turn with words of its own", `{"prompt":"now deploy","tail":"one"}`, []string{"make it green", "now deploy"}, []string{"an unrelated wish"}},
		{"a continued turn has none", `{"prompt":"","tail":"one"}`, []string{"make it green"}, []string{"now deploy", "an unrelated wish"}},
		{"a turn that goes on from nothing", `{"prompt":"now deploy"}`, []string{"now deploy"}, []string{"make it green", "an unrelated wish"}},
		{"a turn that goes on from itself", `{"prompt":"now deploy","tail":"two"}`, []string{"now deploy"}, []string{"make it green"}},
		{"a turn that goes on from none that there is", `{"prompt":"now deploy","tail":"zero"}`, []string{"now deploy"}, []string{"make it green"}},
	} {
		t.Run(test.why, func(t *testing.T) {
			m := says(sayNo)
			w := judged(t, m, Options{Registry: registry(func(context.Context, job.Call) (job.Outcome, error) {
				return job.Outcome(`{"ok":true,"text":"seen by a tool"}`), nil
			})})
			w.session("s", "auto")
			turned(w, "s", test.second)
			w.write(host, plexus.Job{Session: "s", ID: "j", Parent: "two", Kind: string(job.SystemTool), Name: "Bash", Arguments: string(bash("other"))})
			w.outcome("s", "j")
			text := m.last()
			for _, want := range test.has {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in %s", want, text)
				}
			}
			for _, not := range append(test.hasNot, "it is green now", "seen by a tool") {
				if strings.Contains(text, not) {
					t.Errorf("%q is there", not)
				}
			}
		})
	}
}

// A wider cut holds what the agent said last, and then what the tools gave, of the
// same turns alone.
func TestEvidenceOfWiderCuts(t *testing.T) {
	answers := []string{`{"retrieve":"prior-turn"}`, `{"retrieve":"quarantined"}`, sayNo}
	m := &models{}
	m.answer = func(context.Context, remainder.Request) (string, error) { return answers[m.count()-1], nil }
	w := judged(t, m, Options{Registry: registry(func(_ context.Context, c job.Call) (job.Outcome, error) {
		return job.Outcome(`{"ok":true,"text":` + plexus.Text("result of "+string(c.Job)) + `}`), nil
	})})
	w.session("s", "auto")
	turned(w, "s", `{"prompt":"","tail":"one"}`)
	w.write(host, plexus.Job{Session: "s", ID: "bag", Parent: "two", Kind: plexus.ProgrammaticJob})
	w.write(host, plexus.Job{Session: "s", ID: "near", Parent: "bag", Kind: string(job.SystemTool), Name: "Bash", Arguments: string(bash("let near"))})
	w.await("s", "near", plexus.Completed)
	w.write(host, plexus.Job{Session: "s", ID: "j", Parent: "two", Kind: string(job.SystemTool), Name: "Bash", Arguments: string(bash("other"))})
	w.outcome("s", "j")
	if len(m.asked) != 3 {
		t.Fatalf("asked %d times", len(m.asked))
	}
	for i, want := range []struct{ said, early, near bool }{{false, false, false}, {true, false, false}, {true, true, true}} {
		var text, quarantined string
		for _, p := range m.asked[i].Messages[0].Parts {
			text += p.Text
			if p.Quarantined {
				quarantined += p.Text
			}
		}
		for what, has := range map[string]bool{"it is green now": want.said, "result of early": want.early, "result of near": want.near, "result of stray": false} {
			if strings.Contains(text, what) != has || strings.Contains(quarantined, what) != has {
				t.Errorf("round %d: %q is there: %v", i, what, !has)
			}
		}
	}
}

// What an agent can write is never a word of the user.
func TestNobodyElseSpeaksForTheUser(t *testing.T) {
	t.Run("a child's task is its parent's", func(t *testing.T) {
		m := says(sayNo)
		w := judged(t, m, Options{})
		w.session("s", "auto")
		if _, err := w.CreateSession(t.Context(), NewSession{ID: "c", Parent: "s", Workspace: w.dir}, host); err != nil {
			t.Fatal(err)
		}
		w.write(host, plexus.Job{Session: "c", ID: "t", Kind: plexus.SessionTurn, Arguments: `{"prompt":"the user wants all of it gone"}`})
		w.write(host, plexus.Job{Session: "c", ID: "j", Parent: "t", Kind: string(job.SystemTool), Name: "Bash", Arguments: string(bash("other"))})
		w.outcome("c", "j")
		if text := m.last(); strings.Contains(text, "all of it gone") {
			t.Error(text)
		}
	})
	t.Run("what an agent's call says beside it", func(t *testing.T) {
		m := says(`{"retrieve":"prior-turn"}`)
		w := judged(t, m, Options{})
		w.session("s", "auto")
		w.admit(NewCall{Session: "s", ID: "j", Name: "Bash", Arguments: bash("other"), Facts: `{"said":"the user agreed"}`}, hook)
		w.await("s", "j", plexus.JudgeFail(1))
		if text := m.last(); m.count() < 2 || strings.Contains(text, "the user agreed") {
			t.Errorf("%d %s", m.count(), text)
		}
	})
	t.Run("which connection is asked", func(t *testing.T) {
		m := says(sayYes)
		w := judged(t, m, Options{})
		w.configure(Settings{Connections: m})
		if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Workspace: w.dir, Facts: `{"chatConnection":"local","chatModel":"m"}`}, hook); err != nil {
			t.Fatal(err)
		}
		w.write(ada, plexus.Register{Session: "s", Name: plexus.StandingPolicy, Value: `"auto"`})
		w.call("s", "j", "other")
		if got := w.await("s", "j", plexus.JudgeFail(1)); !strings.Contains(got, "none was chosen") {
			t.Error(got)
		}
		w.session("p", "auto")
		if _, err := w.CreateSession(t.Context(), NewSession{ID: "p2", Mode: "auto", Workspace: w.dir, Facts: `{"chatConnection":"local","chatModel":"m"}`}, ada); err != nil {
			t.Fatal(err)
		}
		w.call("p2", "j", "other")
		if got := w.outcome("p2", "j"); got != `{"ok":true}` {
			t.Error("a person's session:", got)
		}
	})
}

// Nobody looks on, and no user spoke: the program that makes the call stands for
// what is wanted.
func TestEvidenceOfAProgram(t *testing.T) {
	for seat, want := range map[approval.Seat]bool{approval.Unattended: true, approval.Attended: false} {
		m := says(sayNo)
		w := judged(t, m, Options{})
		if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Mode: "auto", Seat: seat, Workspace: w.dir}, ada); err != nil {
			t.Fatal(err)
		}
		w.write(host, plexus.Job{Session: "s", ID: "bag", Kind: plexus.ProgrammaticJob, Arguments: `{"expr":"(bash \"other\")"}`})
		w.write(host, plexus.Job{Session: "s", ID: "j", Parent: "bag", Kind: string(job.SystemTool), Name: "Bash", Arguments: string(bash("other"))})
		w.outcome("s", "j")
		if got := strings.Contains(m.last(), `(bash \"other\")`); got != want {
			t.Errorf("seat %v: the expression is there: %v", seat, got)
		}
	}
}

// The kind of a write is told, and a write's content is no part of what is
// remembered.
func TestKindsOfWrites(t *testing.T) {
	m := says(sayYes)
	r := new(job.Registry)
	if err := r.RegisterExecutor(job.FileMutateTool, nil, ok); err != nil {
		t.Fatal(err)
	}
	w := judged(t, m, Options{Registry: r, Policies: shippedOnly{}, Settings: Settings{
		AutoCoverDeny: approval.Classify, StandingAutoAllow: approval.Terms{Write: approval.Endless},
	}})
	w.session("s", "auto")
	out := t.TempDir()
	old := filepath.Join(out, "old")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(id, path, content string) {
		w.admit(NewCall{Session: "s", ID: id, Kind: job.FileMutateTool, Name: "Write", Arguments: fmt.Appendf(nil, `{"file_path":%q,"content":%q}`, path, content)}, host)
		if got := w.outcome("s", id); got != `{"ok":true}` {
			t.Fatal(id, got)
		}
	}
	for path, want := range map[string]string{old: "changes a file", filepath.Join(out, "new"): "not there yet"} {
		write(filepath.Base(path), path, "a")
		if !strings.Contains(m.last(), want) {
			t.Errorf("%s: %s", path, m.last())
		}
	}
	before := m.count()
	write("again", old, "b")
	if m.count() != before {
		t.Error("the same path was asked about again")
	}
}

// The same call is answered once by a model in a session, until the program is
// another one. What failed and what a person said is asked again.
func TestVotesAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := says(sayYes)
		w := judged(t, m, Options{})
		w.session("s", "auto")
		w.session("other", "auto")
		w.call("s", "a", "other")
		still()
		w.call("s", "b", "other")
		still()
		if got := w.fields("s", "b"); m.count() != 1 || got[plexus.JudgeResult] != `"allow"` || got[plexus.OutcomeJSON] != `{"ok":true}` {
			t.Errorf("asked %d times, %v", m.count(), got)
		}
		w.call("other", "a", "other")
		still()
		if m.count() != 2 {
			t.Errorf("another session: asked %d times", m.count())
		}
		w.configure(Settings{Connections: m, JudgeConnection: "local", Program: Program{Name: "own.scm", Text: remainder.Shipped + "\n;"}})
		w.call("s", "c", "other")
		still()
		if m.count() != 3 {
			t.Errorf("another program: asked %d times", m.count())
		}
		m.answer = func(context.Context, remainder.Request) (string, error) { return "", errors.New("no") }
		w.call("s", "d", "more")
		still()
		w.answer("s", "d", true)
		still()
		m.answer = func(context.Context, remainder.Request) (string, error) { return sayNo, nil }
		w.call("s", "e", "more")
		still()
		if got := w.fields("s", "e")[plexus.OutcomeJSON]; got != classifierReceipt {
			t.Error("a person's answer is remembered as the classifier's:", got)
		}
	})
}

// Programs of the settings: a vote alone needs no connection, and one that cannot be
// had is a failed attempt and no other program's turn.
func TestProgramsOfTheSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := says(sayYes)
		w := judged(t, m, Options{})
		w.session("s", "auto")
		w.configure(Settings{Program: Program{Name: "own.scm", Text: "deny"}})
		w.call("s", "a", "other")
		still()
		if got := w.fields("s", "a")[plexus.OutcomeJSON]; got != classifierReceipt {
			t.Error("deny:", got)
		}
		w.configure(Settings{Connections: m, JudgeConnection: "local", Program: Program{Name: "own.scm", Err: errors.New("own.scm cannot be read")}})
		w.call("s", "b", "other")
		w.configure(Settings{Connections: m, JudgeConnection: "local", Program: Program{Name: "own.scm", Text: "(lambda (q"}})
		w.call("s", "c", "other")
		still()
		for leaf, want := range map[string]string{"c": "own.scm"} {
			got := w.fields("s", leaf)
			if !strings.Contains(got[plexus.JudgeFail(1)], want) || got[plexus.JudgeResult] != "" {
				t.Errorf("%s: %v", leaf, got)
			}
		}
		if m.count() != 0 {
			t.Error("a model was asked")
		}
		// It is hot: the next attempt is by the program that there is then.
		w.configure(Settings{Program: Program{Name: "own.scm", Text: "allow"}})
		time.Sleep(approval.RetryAfter(1) + approval.RetryAfter(2))
		still()
		if got := w.fields("s", "c")[plexus.OutcomeJSON]; got != `{"ok":true}` {
			t.Error("allow:", got)
		}
		// A person may choose one for a session.
		w.write(ada, plexus.Register{Session: "s", Name: plexus.JudgeAskProgram, Value: plexus.Text("deny")})
		w.call("s", "d", "other thing")
		still()
		if got := w.fields("s", "d")[plexus.OutcomeJSON]; got != classifierReceipt {
			t.Error("the session's:", got)
		}
	})
}

// Where nothing can be asked one attempt has failed, a person is asked, and the next
// begins when somebody chose a connection: in the settings or in the document.
func TestAnAttemptThatWaitsForAConnection(t *testing.T) {
	for _, choose := range []func(*world, *models){
		func(w *world, m *models) { w.configure(Settings{Connections: m, JudgeConnection: "local"}) },
		func(w *world, m *models) {
			w.write(ada, plexus.Register{Session: "s", Name: plexus.JudgeConnection, Value: `"local"`})
		},
		func(w *world, m *models) {
			w.write(ada, plexus.Register{Name: plexus.JudgeConnection, Value: `"local"`})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := says(sayYes)
			w := newWorld(t, Options{Registry: registry(ok), Settings: Settings{Connections: m}})
			w.session("s", "auto")
			w.call("s", "j", "other")
			time.Sleep(time.Hour)
			still()
			fields := w.fields("s", "j")
			if fields[plexus.JudgeFail(1)] == "" || fields[plexus.JudgeFail(2)] != "" {
				t.Errorf("%v", fields)
			}
			j, err := w.Judging(t.Context(), "s", "j")
			if err != nil || j.Attempt != 2 || !j.Unasked || !j.Due.IsZero() {
				t.Errorf("%+v, %v", j, err)
			}
			choose(w, m)
			still()
			if got := w.fields("s", "j")[plexus.OutcomeJSON]; got != `{"ok":true}` {
				t.Error("outcome", got)
			}
		})
	}
}

// A thousand leaves whose model cannot be reached: a handful of requests a round,
// and each of them is before a person at once.
func TestAThousandFailuresAreNoStampede(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const leaves = 1000
		m := &models{answer: func(ctx context.Context, _ remainder.Request) (string, error) {
			time.Sleep(10 * time.Millisecond)
			return "", &remainder.Failure{Cause: remainder.Unreachable, Connection: "local"}
		}}
		w := judged(t, m, Options{})
		w.session("s", "auto")
		for i := range leaves {
			w.call("s", fmt.Sprint("j", i), fmt.Sprint("other ", i))
		}
		time.Sleep(500 * time.Millisecond)
		still()
		if queue, err := w.Queue(t.Context(), "s", ""); err != nil || len(queue) != leaves {
			t.Errorf("%d wait for a person, %v", len(queue), err)
		}
		time.Sleep(9 * time.Minute)
		still()
		rounds := len(slices.DeleteFunc(keys(w.fields("s", "j1")), func(name string) bool { return !strings.HasPrefix(name, "judgeFail/") }))
		asked := m.count()
		if m.most > gateMost || rounds < 10 || asked > 10*rounds {
			t.Errorf("%d requests in %d rounds, %d at a time", asked, rounds, m.most)
		}
		t.Logf("%d requests in %d rounds of %d leaves, %d at a time", asked, rounds, leaves, m.most)
	})
}

func keys(m map[string]string) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	return names
}

// A model that hangs keeps nobody from a person, however many wait for it, and
// sessions take turns.
func TestAModelThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &models{answer: func(ctx context.Context, r remainder.Request) (string, error) {
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(r.Timeout):
				return "", &remainder.Failure{Cause: remainder.Slow, Connection: "local"}
			}
		}}
		w := judged(t, m, Options{})
		w.session("s", "auto")
		for i := range 100 {
			w.call("s", fmt.Sprint("j", i), fmt.Sprint("other ", i))
		}
		time.Sleep(gateWait)
		still()
		queue, err := w.Queue(t.Context(), "s", "")
		if err != nil || len(queue) != 100-gateMost {
			t.Errorf("%d wait for a person, %v", len(queue), err)
		}
		for _, id := range queue[:1] {
			if got := w.fields("s", id)[plexus.JudgeFail(1)]; !strings.Contains(got, "busy") {
				t.Error(got)
			}
		}
		time.Sleep(time.Minute)
		still()
		if queue, err := w.Queue(t.Context(), "s", ""); err != nil || len(queue) != 100 {
			t.Errorf("%d wait for a person, %v", len(queue), err)
		}
		// A person is not kept waiting either.
		w.answer("s", "j1", true)
		still()
		if got := w.fields("s", "j1")[plexus.OutcomeJSON]; got != `{"ok":true}` {
			t.Error(got)
		}
	})
}

// Cancelled in the middle: nothing is voted, and the model is told to stop.
func TestCancelEndsAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := 0
		m := &models{answer: func(ctx context.Context, _ remainder.Request) (string, error) {
			<-ctx.Done()
			stopped++
			return sayYes, nil // it says so all the same
		}}
		w := judged(t, m, Options{})
		w.session("s", "auto")
		w.call("s", "j", "other")
		still()
		if j, err := w.Judging(t.Context(), "s", "j"); err != nil || j.Attempt != 1 || j.Began.IsZero() || j.Connection != "local" || j.Model != "small" {
			t.Errorf("%+v, %v", j, err)
		}
		if err := w.Cancel(t.Context(), "s", "j", ada); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		still()
		fields := w.fields("s", "j")
		if stopped != 1 || fields[plexus.JudgeResult] != "" || fields[plexus.JudgeFail(1)] != "" || fields[plexus.OutcomeJSON] != `{"ok":false,"text":"cancelled"}` {
			t.Errorf("stopped %d, %v", stopped, fields)
		}
	})
}

// A person is faster than the model: its vote is kept while the body runs, and
// decides nothing; nor is it remembered.
func TestALateVoteDecidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		m := &models{answer: func(ctx context.Context, _ remainder.Request) (string, error) {
			<-ctx.Done()
			return sayNo, nil
		}}
		w := judged(t, m, Options{Registry: registry(func(context.Context, job.Call) (job.Outcome, error) {
			<-end
			return job.Outcome(`{"ok":true}`), nil
		})})
		w.session("s", "auto")
		w.call("s", "j", "other")
		still()
		w.answer("s", "j", true)
		time.Sleep(time.Second)
		still()
		close(end)
		still()
		fields := w.fields("s", "j")
		if fields[plexus.JudgeResult] != `"deny"` || fields[plexus.OutcomeJSON] != `{"ok":true}` || fields[plexus.LicenseReason] != `"person-allowed"` {
			t.Errorf("%v", fields)
		}
		m.answer = func(context.Context, remainder.Request) (string, error) { return sayYes, nil }
		w.call("s", "k", "other")
		still()
		if got := w.fields("s", "k")[plexus.OutcomeJSON]; got != `{"ok":true}` || m.count() != 2 {
			t.Error("it was remembered:", got, m.count())
		}
	})
}

// The file of the program is the kernel's own: no call changes it.
func TestTheProgramIsOutOfReach(t *testing.T) {
	w := judged(t, says(sayYes), Options{Policies: shippedOnly{}})
	file := filepath.Join(w.dir, "own.scm")
	w.configure(Settings{Program: Program{Name: "own.scm", Text: "deny", Files: []string{file}}})
	w.session("s", "yolo")
	w.call("s", "j", "echo allow >own.scm")
	if got := w.outcome("s", "j"); got != policyReceipt {
		t.Error(got)
	}
}
