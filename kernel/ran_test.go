package kernel

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"assent/plexus"
)

// runs are what is kept of a session's runs that were not licensed.
func (w *world) runs(session string) (runs []Run) {
	w.Helper()
	kept, err := w.doc.Revisions(w.Context(), session, Ran)
	if err != nil {
		w.Fatal(err)
	}
	for _, r := range kept {
		var run Run
		if err := json.Unmarshal([]byte(r.Value), &run); err != nil {
			w.Fatal(err)
		}
		runs = append(runs, run)
	}
	return runs
}

func (w *world) asks(id, command string) {
	w.Helper()
	w.admit(NewCall{Session: "s", ID: id, Name: "Bash", Arguments: bash(command)}, hook)
	w.await("s", id, plexus.PolicyResult)
}

func (w *world) ran(id, command string) Unlicensed {
	w.Helper()
	how, err := w.RanSo(w.Context(), "s", Report{ID: id, Name: "Bash", Arguments: bash(command), OK: true, Text: "RAN", Unasked: true}, hook)
	if err != nil {
		w.Fatal(err)
	}
	return how
}

// What a client ran is held against what it was licensed to run.
func TestRan(t *testing.T) {
	for _, row := range []struct {
		name    string
		before  func(w *world)
		id, ran string
		want    Unlicensed
		job     string // that is flagged
		outcome string // of that job, where it is more than a cancel's or a refusal's
	}{
		{"as-licensed", func(w *world) { w.asks("a", "let it"); w.begins("a") }, "a", "let it", "", "a", `{"ok":true,"text":"RAN"}`},
		{"licensed-without-an-id", func(w *world) { w.asks("a", "let it"); w.begins("a") }, "", "let it", "", "a", `{"ok":true,"text":"RAN"}`},
		{"two-hooks-asked-for-it", func(w *world) {
			w.asks("a", "let it")
			w.begins("a")
			w.asks("b", "let it")
			w.begins("b")
			w.ran("a", "let it")
		}, "a", "let it", "", "b", `{"ok":true,"text":"RAN"}`},
		{"told-twice", func(w *world) { w.asks("a", "let it"); w.begins("a"); w.ran("a", "let it") }, "a", "let it", "", "", ""},
		{"an-id-used-again-after-a-no", func(w *world) {
			w.asks("a", "never")
			w.await("s", "a", plexus.Completed)
			w.asks("b", "let it")
			w.begins("b")
		}, "a", "let it", "", "b", `{"ok":true,"text":"RAN"}`},
		{"otherwise", func(w *world) { w.asks("a", "let it"); w.begins("a") }, "a", "let be", RanOtherwise, "a", `{"ok":true,"text":"RAN","otherwise":true,"arguments":{"command":"let be"}}`},
		{"otherwise-as-another-was-licensed", func(w *world) { w.asks("a", "let it"); w.begins("a"); w.asks("b", "let be"); w.begins("b") },
			"a", "let be", RanOtherwise, "a", `{"ok":true,"text":"RAN","otherwise":true,"arguments":{"command":"let be"}}`},
		{"blocked", func(w *world) { w.asks("a", "never"); w.await("s", "a", plexus.Completed) }, "a", "never", RanRefused, "a", ""},
		{"blocked-without-an-id", func(w *world) { w.asks("a", "never"); w.await("s", "a", plexus.Completed) }, "", "never", RanRefused, "a", ""},
		{"a-person-said-no", func(w *world) { w.asks("a", "other"); w.answer("s", "a", false); w.await("s", "a", plexus.Completed) }, "a", "other", RanRefused, "a", ""},
		{"waiting", func(w *world) { w.asks("a", "other") }, "a", "other", RanWaiting, "a", `{"ok":false,"text":"cancelled"}`},
		{"waiting-without-an-id", func(w *world) { w.asks("a", "other") }, "", "other", RanWaiting, "a", `{"ok":false,"text":"cancelled"}`},
		{"waiting-and-otherwise", func(w *world) { w.asks("a", "other") }, "a", "another", RanWaiting, "a", `{"ok":false,"text":"cancelled"}`},
		{"cancelled", func(w *world) { w.asks("a", "other"); w.must(w.Cancel(w.Context(), "s", "a", hook)) }, "a", "other", RanCancelled, "a", ""},
		{"allowed-and-not-claimed", func(w *world) {
			w.asks("a", "other")
			w.answer("s", "a", true)
			w.await("s", "a", plexus.OrchestrationResult)
		}, "a", "other", RanUnclaimed, "a", `{"ok":false,"text":"cancelled"}`},
		{"never-asked", func(*world) {}, "a", "other", RanUnasked, "a", `{"ok":false,"text":"cancelled"}`},
		{"never-asked-and-without-an-id", func(*world) {}, "", "other", RanUnasked, "", ""},
		{"asked-once-and-run-twice-without-an-id", func(w *world) { w.asks("a", "let it"); w.begins("a"); w.ran("", "let it") }, "", "let it", RanUnasked, "", ""},
		{"another-agent-asked", func(w *world) {
			w.admit(NewCall{Session: "s", ID: "a", Kind: "", Name: "Bash", Arguments: bash("let it")}, ada)
			w.await("s", "a", plexus.OrchestrationResult)
		}, "a", "let it", RanUnasked, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.session("s", "manual")
			w.must(w.Give(t.Context(), "s", hook.Name, ada))
			row.before(w)
			before := len(w.runs("s"))
			if got := w.ran(row.id, row.ran); got != row.want {
				t.Fatalf("got %q, want %q\n%s", got, row.want, w.story("s"))
			}
			if row.outcome != "" {
				if got := w.outcome("s", row.job); got != row.outcome {
					t.Errorf("outcome: got %s, want %s", got, row.outcome)
				}
			}
			runs := w.runs("s")[before:]
			if row.want == "" {
				if len(runs) != 0 {
					t.Errorf("got %+v", runs)
				}
				return
			}
			if len(runs) != 1 || runs[0].How != row.want || row.job != "" && runs[0].Job != row.job || runs[0].Text != "RAN" || !runs[0].OK || runs[0].Tool != "Bash" {
				t.Fatalf("got %+v, want one of %q", runs, row.job)
			}
			if job := runs[0].Job; w.fields("s", job)[plexus.Completed] == "" { // nothing waits that has run
				t.Errorf("%s is not settled:\n%s", job, w.story("s"))
			}
			w.ran(row.id, row.ran)
			if row.id != "" && row.name != "another-agent-asked" && len(w.runs("s")) != before+1 {
				t.Error("a call is flagged twice")
			}
			w.restart()
			if got := w.Status(); got.Unsettled != 0 && row.name != "another-agent-asked" && row.name != "otherwise-as-another-was-licensed" {
				t.Errorf("unsettled: %+v\n%s", got, w.story("s"))
			}
		})
	}
}

// begins claims a call that is licensed.
func (w *world) begins(id string) {
	w.Helper()
	w.await("s", id, plexus.OrchestrationResult)
	w.must(w.Begin(w.Context(), "s", id, hook))
}

// Of what a session does not know nothing is kept where that was not asked for, and
// nothing in a session that another agent has.
func TestRanElsewhere(t *testing.T) {
	w := newWorld(t, Options{})
	w.session("s", "manual")
	w.must(w.Give(t.Context(), "s", "other", ada))
	r := Report{ID: "a", Name: "Bash", Arguments: bash("let it")}
	if _, err := w.RanSo(t.Context(), "s", r, hook); !errors.Is(err, plexus.ErrNoJob) {
		t.Errorf("got %v", err)
	}
	r.Unasked = true
	if _, err := w.RanSo(t.Context(), "s", r, hook); !errors.Is(err, ErrOther) {
		t.Errorf("another agent's: %v", err)
	}
	if _, err := w.RanSo(t.Context(), "none", r, hook); !errors.Is(err, plexus.ErrNoSession) {
		t.Errorf("no session: %v", err)
	}
	if runs := w.runs("s"); len(runs) != 0 {
		t.Errorf("got %+v", runs)
	}
}

// Arguments that are not the call's are kept, long ones by their length.
func TestRanWithOthers(t *testing.T) {
	w := newWorld(t, Options{})
	w.session("s", "manual")
	w.must(w.Give(t.Context(), "s", hook.Name, ada))
	w.asks("a", "other")
	w.asks("b", "other")
	w.ran("a", "short")
	w.ran("b", strings.Repeat("x", maxRanArguments))
	runs := w.runs("s")
	if len(runs) != 2 || string(runs[0].Arguments) != `{"command":"short"}` || runs[1].Arguments != nil || runs[1].Cut != maxRanArguments+len(`{"command":""}`) {
		t.Errorf("got %+v", runs)
	}
	if got := w.Kernel.Document.(*plexus.Store).Presence(""); !strings.Contains(got[UnlicensedRun], string(RanWaiting)) {
		t.Errorf("presence: %q", got)
	}
}
