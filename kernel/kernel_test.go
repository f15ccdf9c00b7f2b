package kernel

import (
	"context"
	"testing"

	"assent/approval"
	"assent/job"
	"assent/plexus"
)

func TestLives(t *testing.T) {
	tests := []struct {
		why, mode, command string
		answer             string // of a person: yes, no or nothing
		want, reason       string
	}{
		{"the floor allows", "manual", "let it", "", `{"ok":true}`, `"floor-allowed"`},
		{"a person allows", "manual", "other", "yes", `{"ok":true}`, `"person-allowed"`},
		{"a person refuses", "manual", "other", "no", personReceipt, `"person-refused"`},
		{"a person lifts a deny", "manual", "no way", "yes", `{"ok":true}`, `"person-allowed"`},
		{"the floor blocks", "manual", "never ever", "", policyReceipt, `"floor-blocked"`},
		{"the floor blocks in yolo", "yolo", "never ever", "", policyReceipt, `"floor-blocked"`},
		{"yolo", "yolo", "no way", "", `{"ok":true}`, `"yolo"`},
		{"auto without a classifier falls to a person", "auto", "other", "yes", `{"ok":true}`, `"person-allowed"`},
	}
	w := newWorld(t, Options{Registry: registry(ok)})
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			w := &world{TB: t, doc: w.doc, Kernel: w.Kernel, dir: w.dir}
			id := w.NewID()
			w.session(id, test.mode)
			w.call(id, "j", test.command)
			if test.answer != "" {
				w.await(id, "j", plexus.PolicyResult)
				if test.mode == "auto" {
					w.await(id, "j", plexus.JudgeFail(1))
				}
				w.answer(id, "j", test.answer == "yes")
			}
			if got := w.outcome(id, "j"); got != test.want {
				t.Errorf("outcome %s, want %s", got, test.want)
			}
			if got := w.fields(id, "j")[plexus.LicenseReason]; got != test.reason {
				t.Errorf("reason %s, want %s", got, test.reason)
			}
		})
	}
}

func TestCommunicationMeetsNoFloor(t *testing.T) {
	w := newWorld(t, Options{})
	w.session("s", "manual")
	w.admit(NewCall{Session: "s", ID: "j", Kind: job.AgentMessage, Name: "agent_message"}, host)
	w.await("s", "j", plexus.OrchestrationResult)
	if err := w.Report(t.Context(), "s", "j", `{"ok":true}`, host); err != nil {
		t.Fatal(err)
	}
	if result, judged := w.fields("s", "j")[plexus.PolicyResult]; judged {
		t.Error("the floor was asked:", result)
	}
}

func TestExternal(t *testing.T) {
	w := newWorld(t, Options{Registry: registry(func(context.Context, job.Call) (job.Outcome, error) {
		t.Error("a foreign call was run here")
		return nil, nil
	})})
	w.session("s", "manual")
	w.admit(NewCall{Session: "s", ID: "j", Name: "Bash", Arguments: bash("other")}, hook)
	if err := w.Report(t.Context(), "s", "j", `{}`, hook); err == nil {
		t.Error("an outcome without a license was taken")
	}
	w.await("s", "j", plexus.PolicyResult)
	w.answer("s", "j", true)
	w.await("s", "j", plexus.OrchestrationResult)
	w.restart()

	if err := w.Begin(t.Context(), "s", "j", hook); err != nil {
		t.Error("begin:", err)
	}
	if err := w.Begin(t.Context(), "s", "j", hook); err == nil {
		t.Error("it was begun twice")
	}
	other := plexus.Writer{Role: plexus.Agent, Name: "other"}
	if err := w.Report(t.Context(), "s", "j", `{"ok":true}`, other); err == nil {
		t.Error("another agent reported")
	}
	for _, outcome := range []string{``, `null`, `{"a":1,"a":2}`, "\"\xff\"", `{} {}`} {
		if err := w.Report(t.Context(), "s", "j", outcome, hook); err == nil {
			t.Errorf("outcome %q was taken", outcome)
		}
	}
	if err := w.Report(t.Context(), "s", "j", `{"ok":true,"text":"done"}`, hook); err != nil {
		t.Error("report:", err)
	}
	if got := w.fields("s", "j")[plexus.OutcomeJSON]; got != `{"ok":true,"text":"done"}` {
		t.Error("outcome", got)
	}
	if err := w.Report(t.Context(), "s", "j", `{}`, hook); err == nil {
		t.Error("it was reported twice")
	}
}

func TestCancel(t *testing.T) {
	begun := make(chan struct{})
	w := newWorld(t, Options{Registry: registry(func(ctx context.Context, call job.Call) (job.Outcome, error) {
		close(begun)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})})
	w.session("s", "manual")
	w.write(host, plexus.Job{Session: "s", ID: "turn", Kind: plexus.SessionTurn})

	w.call("s", "waits", "other")
	w.await("s", "waits", plexus.PolicyResult)
	w.call("s", "runs", "let it")
	<-begun
	w.admit(NewCall{Session: "s", ID: "outside", Name: "Bash", Arguments: bash("let it")}, hook)
	w.await("s", "outside", plexus.OrchestrationResult)
	w.admit(NewCall{Session: "s", ID: "under", Parent: "turn", Kind: job.SystemTool, Name: "Bash", Arguments: bash("other")}, host)
	w.await("s", "under", plexus.PolicyResult)

	for _, leaf := range []string{"waits", "runs", "outside"} {
		if err := w.Cancel(t.Context(), "s", leaf, ada); err != nil {
			t.Error(err)
		}
		if w.fields("s", leaf)[plexus.Cancelled] == "" {
			t.Error(leaf, "is not cancelled on return")
		}
	}
	if err := w.Cancel(t.Context(), "s", "turn", ada); err != nil {
		t.Error(err)
	}
	for _, leaf := range []string{"waits", "runs", "outside", "under"} {
		if got := w.outcome("s", leaf); got != cancelReceipt {
			t.Errorf("%s: outcome %s", leaf, got)
		}
	}
	w.await("s", "turn", plexus.Completed)
}

func TestRefusedCalls(t *testing.T) {
	w := newWorld(t, Options{})
	w.session("s", "manual")
	big := make([]byte, job.MaxArguments)
	for i := range big {
		big[i] = 'x'
	}
	tests := []struct {
		why string
		by  plexus.Writer
		c   NewCall
	}{
		{"no session", host, NewCall{Session: "none", Name: "Bash"}},
		{"no name", host, NewCall{Session: "s"}},
		{"no object", host, NewCall{Session: "s", Name: "Bash", Arguments: []byte(`[]`)}},
		{"a member twice", host, NewCall{Session: "s", Name: "Bash", Arguments: []byte(`{"command":"a","command":"b"}`)}},
		{"two values", host, NewCall{Session: "s", Name: "Bash", Arguments: []byte(`{}{}`)}},
		{"not UTF-8", host, NewCall{Session: "s", Name: "Bash", Arguments: []byte("{\"a\":\"\xff\"}")}},
		{"too large", host, NewCall{Session: "s", Name: "Bash", Arguments: []byte(`{"command":"` + string(big) + `"}`)}},
		{"an agent with a kind of ours", hook, NewCall{Session: "s", Name: "x", Kind: job.AgentMessage}},
		{"nobody", plexus.Writer{}, NewCall{Session: "s", Name: "x"}},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			if _, err := w.Admit(t.Context(), test.c, test.by); err == nil {
				t.Error("it was taken")
			}
		})
	}
}

func TestSessions(t *testing.T) {
	w := newWorld(t, Options{Settings: Settings{DefaultPolicy: approval.Auto}})
	tests := []struct {
		why  string
		by   plexus.Writer
		s    NewSession
		want string // the mode, "" for refused
	}{
		{"the default", ada, NewSession{ID: "a", Workspace: w.dir}, "auto"},
		{"a mode nobody knows", ada, NewSession{ID: "b", Workspace: w.dir, Mode: "wild"}, "manual"},
		{"an alias", ada, NewSession{ID: "yolo", Workspace: w.dir, Mode: "always-approve"}, "yolo"},
		{"plan", ada, NewSession{Workspace: w.dir, Mode: "plan"}, ""},
		{"unattended in manual", ada, NewSession{Workspace: w.dir, Mode: "manual", Seat: approval.Unattended}, ""},
		{"unattended", ada, NewSession{ID: "eval", Workspace: w.dir, Mode: "yolo", Seat: approval.Unattended}, "yolo"},
		{"a child", hook, NewSession{ID: "child", Workspace: w.dir, Parent: "eval"}, "yolo"},
		{"a child of a child", hook, NewSession{ID: "grandchild", Workspace: w.dir, Parent: "child"}, "yolo"},
		{"an agent wants a mode", hook, NewSession{Workspace: w.dir, Mode: "yolo"}, ""},
		{"no parent", hook, NewSession{Workspace: w.dir, Parent: "none"}, ""},
		{"a relative workspace", ada, NewSession{Workspace: "x"}, ""},
		{"no workspace", ada, NewSession{}, ""},
		{"a workspace that is not there", ada, NewSession{Workspace: w.dir + "/none"}, ""},
		{"a workspace that is a file", ada, NewSession{Workspace: w.path}, ""},
		{"a home that is not there", ada, NewSession{Workspace: w.dir, Home: "/none/at/all"}, ""},
		{"nobody", plexus.Writer{}, NewSession{Workspace: w.dir}, ""},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			row, err := w.CreateSession(t.Context(), test.s, test.by)
			if test.want == "" {
				if err == nil {
					t.Error("it was made")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			view, err := w.View(t.Context(), row.ID)
			if err != nil || view.CurrentPolicy.String() != test.want {
				t.Errorf("mode %v, %v, want %s", view.CurrentPolicy, err, test.want)
			}
		})
	}
	if view, err := w.View(t.Context(), "grandchild"); err != nil || view.Seat != approval.Unattended {
		t.Error("a child of an unattended session is attended:", err)
	}
}

func TestModeAnswersWhatWaits(t *testing.T) {
	w := newWorld(t, Options{Registry: registry(ok)})
	w.session("s", "manual")
	w.call("s", "j", "other")
	w.await("s", "j", plexus.PolicyResult)
	if queue, err := w.Queue(t.Context(), "s", ""); err != nil || len(queue) != 1 {
		t.Errorf("queue %v, %v", queue, err)
	}
	if _, err := w.Assign(t.Context(), "s", "yolo", false, hook); err == nil {
		t.Error("an agent set the mode")
	}
	if _, err := w.Assign(t.Context(), "s", "yolo", true, ada); err != nil {
		t.Fatal(err)
	}
	if got := w.outcome("s", "j"); got != `{"ok":true}` {
		t.Error("outcome", got)
	}
	w.session("next", "")
	if view, _ := w.View(t.Context(), "next"); view.CurrentPolicy != approval.Yolo {
		t.Error("the last choice is not the default")
	}
}
