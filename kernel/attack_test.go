package kernel

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assent/approval"
	"assent/job"
	"assent/plexus"
)

// heldTrue is a document that takes no true of a guard until the gate is open.
type heldTrue struct {
	*plexus.Store
	gate chan struct{}
}

func (h *heldTrue) Apply(ctx context.Context, tx plexus.Tx) (plexus.Rev, error) {
	for _, row := range tx.Writes {
		if f, ok := row.(plexus.Field); ok && f.Name == plexus.OrchestrationResult && f.Value == plexus.True {
			<-h.gate
		}
	}
	return h.Store.Apply(ctx, tx)
}

// Between what licensed a leaf and the row that says so, anything may come. A
// license on a view that no longer holds is never stored, and no body begins
// before its true is durable.
func TestWhatComesBeforeTheTrueIsStored(t *testing.T) {
	register := func(name, value string) func(w *world) {
		return func(w *world) {
			w.write(ada, plexus.Register{Session: "s", Name: name, Value: value})
		}
	}
	yes := func(w *world) { w.answer("s", "j", true) }
	no := func(w *world) { w.answer("s", "j", false) }
	tests := []struct {
		why, mode, name, arguments string
		license, then              func(w *world)
		want                       string // of the outcome; "" waits
	}{
		{"nothing", "yolo", "Bash", `{"command":"other"}`, nil, nil, `{"ok":true}`},
		{"yolo ends", "yolo", "Bash", `{"command":"other"}`, nil, func(w *world) { w.assign("manual") }, ""},
		{"yolo ends and begins again", "yolo", "Bash", `{"command":"other"}`, nil, func(w *world) { w.assign("manual"); w.assign("yolo") }, `{"ok":true}`},
		{"a person says no, in yolo", "yolo", "Bash", `{"command":"other"}`, nil, no, personReceipt},
		{"a person says no, and the floor allows", "manual", "Bash", `{"command":"let it"}`, nil, func(w *world) {
			// The floor's answer waits together with the true.
			no(w)
		}, personReceipt},
		{"a grant is taken back", "auto", "Bash", `{"command":"other"}`, register(plexus.AutoAllow, `{"bash":true}`), register(plexus.AutoAllow, `{}`), ""},
		{"a standing grant is taken back", "auto", "Bash", `{"command":"other"}`, func(w *world) {
			w.configure(Settings{StandingAutoAllow: approval.Terms{Bash: approval.Endless}})
		}, func(w *world) { w.configure(Settings{}) }, ""},
		{"a key of the allowlist goes", "manual", "Read", `{"file_path":"/srv/x"}`, register(plexus.ReadAllowlist, `["/srv"]`), register(plexus.ReadAllowlist, `[]`), ""},
		{"cancelled after a person's yes", "manual", "Bash", `{"command":"other"}`, yes, func(w *world) { w.later(func() { w.cancel("j") }) }, cancelReceipt},
		{"the session is cancelled after a person's yes", "manual", "Bash", `{"command":"other"}`, yes, func(w *world) { w.later(func() { w.cancel("") }) }, cancelReceipt},
		{"a comment after a person's yes", "manual", "Bash", `{"command":"other"}`, yes, func(w *world) {
			w.write(ada, plexus.Field{Session: "s", Job: "j", Name: plexus.ApprovalComment, Value: `"but quickly"`})
		}, `{"ok":true}`},
		{"the mode, after a person's yes", "manual", "Bash", `{"command":"other"}`, yes, func(w *world) { w.assign("auto") }, `{"ok":true}`},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := heldTrue{gate: make(chan struct{})}
				var ran log
				w := newWorldOver(t, Options{Registry: registry(func(ctx context.Context, call job.Call) (job.Outcome, error) {
					ran.done(ctx, call)
					return job.Outcome(`{"ok":true}`), nil
				})}, func(doc *plexus.Store) Document {
					h.Store = doc
					return &h
				})
				w.session("s", test.mode)
				w.admit(NewCall{Session: "s", ID: "j", Kind: job.SystemTool, Name: test.name, Arguments: []byte(test.arguments)}, host)
				still()
				if test.license != nil {
					test.license(w)
					still()
				}
				if test.then != nil {
					test.then(w)
					still()
				}
				if calls := ran.all(); len(calls) > 0 {
					t.Fatalf("it ran before its true was stored: %v", calls)
				}
				close(h.gate)
				still()
				if got := w.fields("s", "j")[plexus.OutcomeJSON]; got != test.want {
					t.Errorf("outcome %q, want %q\n%s", got, test.want, w.story("s"))
				}
				if calls := ran.all(); len(calls) > 1 || (len(calls) > 0) != (test.want == `{"ok":true}`) {
					t.Errorf("ran %v", calls)
				}
			})
		})
	}
}

// later runs f, which may wait for the document.
func (w *world) later(f func()) {
	var done sync.WaitGroup
	done.Go(f)
	w.Cleanup(done.Wait)
}

// The clock of the machine may stand or step back: nothing depends on it.
func TestAClockThatSteps(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	doc, err := plexus.Open(t.TempDir()+"/document", plexus.Options{Now: func() time.Time {
		now = now.Add(-time.Hour)
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer doc.Close()
	k, err := Open(t.Context(), Options{Document: doc, Policies: rulesOf(t), Registry: registry(ok)})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	w := &world{TB: t, doc: doc, Kernel: k, dir: t.TempDir()}
	w.session("s", "manual")
	for i := range 5 {
		id := fmt.Sprint("j", i)
		w.call("s", id, "other")
		w.await("s", id, plexus.PolicyResult)
		w.answer("s", id, i%2 == 0)
		if got, want := w.outcome("s", id), map[bool]string{true: `{"ok":true}`, false: personReceipt}[i%2 == 0]; got != want {
			t.Errorf("%s: outcome %s, want %s", id, got, want)
		}
	}
	if _, err := doc.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// Of many who mint a call of the same id one does, and it runs once.
func TestOneIDMintedByMany(t *testing.T) {
	var ran log
	w := newWorld(t, Options{Registry: registry(ran.done)})
	w.session("s", "manual")
	var minting sync.WaitGroup
	minted := make(chan error, 16)
	for range cap(minted) {
		minting.Go(func() {
			_, err := w.Admit(t.Context(), NewCall{Session: "s", ID: "j", Kind: job.SystemTool, Name: "Bash", Arguments: bash("let it")}, host)
			minted <- err
		})
	}
	minting.Wait()
	close(minted)
	taken := 0
	for err := range minted {
		if err == nil {
			taken++
		}
	}
	w.outcome("s", "j")
	if calls := ran.all(); taken != 1 || len(calls) != 1 {
		t.Errorf("%d were taken, and %d ran", taken, len(calls))
	}
}

// What a call or a body may be made of: it is refused, or it comes to its end,
// and it is never allowed because it is large or strange.
func TestHostileCalls(t *testing.T) {
	long := strings.Repeat("x", 900_000)
	var paths strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&paths, `"/srv/%d",`, i)
	}
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) }
	tests := []struct {
		why, name, arguments string
		result               string // "" for refused when it is admitted
	}{
		{"a command of a megabyte", "Bash", `{"command":"let ` + long + `"}`, `"ask"`},
		{"a thousand commands", "Bash", `{"command":"` + strings.Repeat("let it; ", 1000) + `never x"}`, `"block"`},
		{"twenty thousand paths", "read_many_files", `{"paths":[` + paths.String() + `"/srv/x"]}`, `"deny"`},
		{"a path of a megabyte", "Read", `{"file_path":"/` + long + `"}`, `"ask"`},
		{"nesting that JSON readers differ about", "mcp__x__get", deep(2000), ""},
		{"nesting", "mcp__x__get", deep(900), `"ask"`},
		{"a name of a megabyte", long, `{}`, ""},
		{"a name that is not UTF-8", "Ba\xffsh", `{}`, ""},
		{"a name with a NUL", "Bash\x00", `{}`, ""},
		{"a name that looks like another", "Bash ", `{"command":"let it"}`, `"ask"`},
		{"a name that steers a terminal", "Bash\x1b[2J", `{"command":"let it"}`, `"ask"`},
		{"a command that is no text", "Bash", `{"command":{"let":"it"}}`, `"ask"`},
		{"no command", "Bash", `{"Command":"let it","cmd":1}`, `"ask"`},
		{"a command with a NUL", "Bash", `{"command":"let it\u0000; never x"}`, `"ask"`},
		{"half a surrogate", "Bash", `{"command":"let \ud800"}`, ""},
	}
	w := newWorld(t, Options{Prepare: Options{}.withDefaults().Prepare})
	w.session("s", "manual")
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			w := &world{TB: t, doc: w.doc, Kernel: w.Kernel, dir: w.dir}
			row, err := w.Admit(t.Context(), NewCall{Session: "s", Name: test.name, Arguments: []byte(test.arguments)}, hook)
			switch {
			case test.result == "" && err == nil:
				t.Error("it was taken")
			case test.result != "" && err != nil:
				t.Error(err)
			case test.result != "":
				if got := w.await("s", row.ID, plexus.PolicyResult); got != test.result {
					t.Errorf("result %s, want %s", got, test.result)
				}
				if n := len(w.fields("s", row.ID)[plexus.Explanation]); n == 0 || n > 3*maxEffects*maxTarget {
					t.Errorf("the explanation has %d bytes", n)
				}
			}
		})
	}
}

// Whatever a body gives back, its leaf is settled.
func TestHostileOutcomes(t *testing.T) {
	outcomes := map[string]job.Outcome{
		"nothing": nil, "null": job.Outcome("null"), "no JSON": job.Outcome("oops"), "two": job.Outcome("{}{}"),
		"a member twice": job.Outcome(`{"a":1,"a":2}`), "no UTF-8": job.Outcome("\"\xff\""), "a NUL": job.Outcome("\"\x00\""),
		"nested": job.Outcome(strings.Repeat("[", 3000) + strings.Repeat("]", 3000)),
		"huge":   job.Outcome(`"` + strings.Repeat("x", maxOutcome) + `"`),
		"number": job.Outcome("1e999"), "text": job.Text("\xff\x00\u2028"),
	}
	w := newWorld(t, Options{Registry: registry(func(_ context.Context, call job.Call) (job.Outcome, error) {
		return outcomes[call.Name], nil
	})})
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Mode: "yolo", Workspace: w.dir}, ada); err != nil {
		t.Fatal(err)
	}
	for name := range outcomes {
		row, err := w.Admit(t.Context(), NewCall{Session: "s", Kind: job.SystemTool, Name: name}, host)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.outcome("s", row.ID); got == "" || len(got) > maxOutcome {
			t.Errorf("%s: outcome %.100s", name, got)
		}
	}
}

// A tree may be deep and wide.
func TestALargeTree(t *testing.T) {
	w := newWorld(t, Options{})
	w.session("s", "manual")
	const depth, wide = 300, 1000
	parent := ""
	var rows []plexus.Row
	for i := range depth {
		id := fmt.Sprint("bag", i)
		rows = append(rows, plexus.Job{Session: "s", ID: id, Parent: parent, Kind: plexus.ProgrammaticJob})
		parent = id
	}
	w.write(host, rows...)
	rows = nil
	var last string
	for i := range wide {
		last = fmt.Sprint("leaf", i)
		rows = append(rows, plexus.Job{Session: "s", ID: last, Parent: fmt.Sprint("bag", i%depth), Ord: int64(i), Name: "Bash", Arguments: `{"command":"other"}`})
	}
	w.write(host, rows...)
	w.awaitAll("s", plexus.PolicyResult, wide)
	queue, err := w.Queue(t.Context(), "s", "bag100")
	if err != nil || len(queue) != 2*200+200 {
		t.Errorf("%d under the hundredth, %v", len(queue), err)
	}
	if err := w.Cancel(t.Context(), "s", "bag0", ada); err != nil {
		t.Fatal(err)
	}
	w.awaitAll("s", plexus.Completed, wide+depth)
	if got := w.fields("s", last)[plexus.OutcomeJSON]; got != cancelReceipt {
		t.Errorf("the last: %s", got)
	}
}
