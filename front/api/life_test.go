package api_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/approval"
	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/plexus"
)

// A call from its admission to its receipt, by those who take part.
func TestLife(t *testing.T) {
	w := newWorld(t, api.Options{Version: "v1.2.3"})
	ctx := t.Context()
	w.session("s", "manual")
	w.admit("s", "j", "other")
	w.until("s", "j", plexus.PolicyResult)

	queue, err := w.client.Queue(ctx, "")
	if err != nil || len(queue.Queue) != 1 || queue.Queue[0].ID != "j" || !queue.Queue[0].Leaf.NeedsHuman {
		t.Fatalf("queue %+v, %v", queue, err)
	}
	waits, err := w.agent.Receipt(ctx, "s", "j", client.Now)
	if err != nil || !waits.NeedsHuman || waits.PolicyMessage == nil || *waits.PolicyMessage != *queue.Queue[0].Leaf.PolicyMessage {
		t.Errorf("why it waits: %+v, %v", waits, err)
	}
	if _, err := w.agent.Answer(ctx, "s", "j", true, ""); !errors.Is(err, wire.Role) {
		t.Fatalf("an agent's answer: %v", err)
	}
	if _, err := w.client.Answer(ctx, "s", "j", true, "just this once"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.Answer(ctx, "s", "j", false, ""); !errors.Is(err, wire.Written) {
		t.Fatalf("a second answer: %v", err)
	}
	receipt, err := w.agent.Receipt(ctx, "s", "j", client.Decided)
	if err != nil || receipt.OrchestrationResult == nil || !*receipt.OrchestrationResult {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	if receipt.ApprovalComment == nil || *receipt.ApprovalComment != "just this once" ||
		receipt.LicenseReason == nil || *receipt.LicenseReason != approval.PersonAllowed.Name() || receipt.NeedsHuman {
		t.Errorf("who decided, and what they said to it: %+v", receipt)
	}
	if err := w.agent.Begin(ctx, "s", "j"); err != nil {
		t.Fatal(err)
	}
	if err := w.agent.Begin(ctx, "s", "j"); !errors.Is(err, wire.Begun) {
		t.Fatalf("begun twice: %v", err)
	}
	if err := w.agent.Report(ctx, "s", "j", []byte(`{"ok": true}`)); err != nil {
		t.Fatal(err)
	}
	receipt, err = w.agent.Receipt(ctx, "s", "j", client.Settled)
	if err != nil || string(receipt.OutcomeJSON) != `{"ok":true}` {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	calls, err := w.client.Calls(ctx, client.CallFilter{})
	if err != nil || len(calls.Calls) != 1 || calls.Calls[0].Result != "allow" || calls.Calls[0].By != "human:ada" {
		t.Fatalf("calls %+v, %v", calls, err)
	}
	verified, err := w.client.Verify(ctx)
	if err != nil || !verified.OK {
		t.Fatalf("verified %+v, %v", verified, err)
	}
	st, err := w.agent.Status(ctx)
	if diff := cmp.Diff(wire.Status{Version: "v1.2.3", You: wire.You{Role: "agent", Name: "hook"}}, st); diff != "" || err != nil {
		t.Errorf("what an agent is told: %v, %s", err, diff)
	}
}

// What a person says to a refusal reaches whoever asked, beside the outcome and
// not in it (law §7), in the same breath as the refusal.
func TestRefusedWithAComment(t *testing.T) {
	w := newWorld(t, api.Options{})
	ctx := t.Context()
	w.session("s", "manual")
	w.admit("s", "j", "other")
	w.until("s", "j", plexus.PolicyResult)
	if _, err := w.client.Answer(ctx, "s", "j", false, "not on a friday"); err != nil {
		t.Fatal(err)
	}
	receipt, err := w.agent.Receipt(ctx, "s", "j", client.Decided)
	if err != nil || receipt.ApprovalComment == nil || *receipt.ApprovalComment != "not on a friday" {
		t.Errorf("receipt %+v, %v", receipt, err)
	}
	if got, want := string(receipt.OutcomeJSON), `{"ok":false,"text":"User refused this tool use"}`; got != want {
		t.Errorf("outcome %s, want %s", got, want)
	}
	if receipt.LicenseReason == nil || *receipt.LicenseReason != approval.PersonRefused.Name() {
		t.Errorf("receipt %+v", receipt)
	}
}

func TestModeGrantsAndRegisters(t *testing.T) {
	w := newWorld(t, api.Options{})
	ctx := t.Context()
	w.session("s", "manual")
	view, err := w.client.Assign(ctx, "s", wire.Assign{Mode: "always-approve"})
	if err != nil || view.CurrentPolicy != "yolo" {
		t.Errorf("mode %+v, %v", view, err)
	}
	if _, err := w.client.Assign(ctx, "s", wire.Assign{Mode: "plan"}); !errors.Is(err, wire.Mode) {
		t.Errorf("plan: %v", err)
	}
	if _, err := w.client.SetRegister(ctx, "s", plexus.AutoAllow, wire.Grants{Bash: true}, 0); err != nil {
		t.Error(err)
	}
	if _, err := w.client.SetRegister(ctx, "s", plexus.AutoAllow, wire.Grants{Write: true}, 1); !errors.Is(err, wire.Stale) {
		t.Errorf("on an old view: %v", err)
	}
	doc, err := w.client.Session(ctx, "s")
	if err != nil || !doc.View.AutoAllow.Bash || doc.View.AutoAllow.Write {
		t.Errorf("document %+v, %v", doc, err)
	}
	history, err := w.client.Registers(ctx, "s")
	if err != nil || len(history.Registers) != 3 || history.Registers[2].Writer != "human:ada" {
		t.Errorf("registers %+v, %v", history, err)
	}
	if _, err := w.client.Session(ctx, "none"); !errors.Is(err, wire.NoSession) {
		t.Errorf("no session: %v", err)
	}
}

func TestWatchResumes(t *testing.T) {
	w := newWorld(t, api.Options{})
	ctx := t.Context()
	w.session("s", "manual")
	w.admit("s", "j", "other")
	w.until("s", "j", plexus.PolicyResult)
	var after wire.Rev
	for e, err := range w.client.Watch(ctx, "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Rows) > 0 {
			after = e.Rows[len(e.Rows)-1].Rev
			break
		}
	}
	var names []string
	for e, err := range w.client.Watch(ctx, "s", after) {
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range e.Rows {
			if row.Field != nil {
				names = append(names, row.Field.Name)
			}
		}
		if len(names) > 0 {
			break
		}
	}
	if names[0] != plexus.PolicyResult {
		t.Errorf("fields %q", names)
	}
}

// A stream that is not taken up again ends with why it broke.
func TestStreamEnds(t *testing.T) {
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	begun := false
	var end error
	for e, err := range w.client.Stream(t.Context(), "s", 0) {
		if err != nil {
			end = err
			continue
		}
		if len(e.Rows) > 0 && !begun {
			begun = true
			if err := w.server.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	if !begun || end == nil {
		t.Errorf("begun %v, and it ended with %v", begun, end)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range w.client.Stream(ctx, "s", 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("of somebody who has gone: %v", err)
		}
	}
}
