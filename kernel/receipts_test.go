package kernel

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"assent/approval"
	"assent/job"
	"assent/plexus"
	"assent/remainder"
)

// The receipts of the law (§7), to the letter.
const (
	policyReceipt     = `{"ok":false,"text":"Policy prohibits this tool use. Do not try to bypass it; if this is crucial, ask user to do it","code":"policy_denied"}`
	personReceipt     = `{"ok":false,"text":"User refused this tool use"}`
	classifierReceipt = `{"ok":false,"text":"Classifier marked this tool use as dangerous; ask user to confirm this action","code":"policy_denied"}`
	cancelReceipt     = `{"ok":false,"text":"cancelled"}`
)

func TestReceipts(t *testing.T) {
	refuse := func(w *world) { w.answer("s", "j", false) }
	tests := []struct {
		cause, mode, command string
		do                   func(w *world)
		want                 string
	}{
		{"a person's no", "manual", "other", refuse, personReceipt},
		{"a person's no over a machine's deny", "manual", "no way", refuse, personReceipt},
		{"a person's no with a comment", "manual", "other", func(w *world) {
			w.write(ada, plexus.Field{Session: "s", Job: "j", Name: plexus.ApprovalComment, Value: `"not today"`},
				plexus.Field{Session: "s", Job: "j", Name: plexus.Approved, Value: plexus.False})
		}, personReceipt},
		{"a person's no in auto, before the classifier", "auto", "no slow", refuse, personReceipt},
		{"the classifier's deny", "auto", "other", nil, classifierReceipt},
		{"the floor's block", "manual", "never ever", nil, policyReceipt},
		{"the floor's block in auto", "auto", "never ever", nil, policyReceipt},
		{"the floor's block in yolo", "yolo", "never ever", nil, policyReceipt},
		{"a refusal that was torn", "manual", "other", func(w *world) {
			w.Kernel.Close()
			refuse(w)
			head, err := w.doc.Head(w.Context())
			if err == nil {
				_, err = w.doc.Apply(w.Context(), plexus.Tx{Writer: host, Seen: head.Rev, Writes: []plexus.Row{
					plexus.Field{Session: "s", Job: "j", Name: plexus.OrchestrationResult, Value: plexus.False},
				}})
			}
			if err != nil {
				w.Error(err)
			}
			w.restart()
		}, policyReceipt},
		{"cancelled while it waits", "manual", "other", func(w *world) { w.cancel("j") }, cancelReceipt},
		{"cancelled while it runs", "manual", "let hang", func(w *world) { w.cancel("j") }, cancelReceipt},
		{"cancelled by what it is in", "manual", "let hang", func(w *world) { w.cancel("") }, cancelReceipt},
		{"a time limit", "manual", "let hang", func(*world) { time.Sleep(time.Minute) }, `{"ok":false,"text":"timed out after 1500ms"}`},
		{"what ended the body", "manual", "let fail", nil, `{"ok":false,"text":"no such file"}`},
	}
	for _, test := range tests {
		t.Run(test.cause, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{
					Settings: Settings{AutoCoverDeny: approval.Classify},
					Limit:    func(job.Kind, string) time.Duration { return 1500 * time.Millisecond },
					Registry: registry(func(ctx context.Context, call job.Call) (job.Outcome, error) {
						switch string(call.Arguments) {
						case `{"command":"let hang"}`:
							<-ctx.Done()
							return nil, ctx.Err()
						case `{"command":"let fail"}`:
							return nil, errors.New("no such file")
						}
						t.Error("it ran")
						return nil, nil
					}),
					Classifier: classifier(func(ctx context.Context, q Question) (remainder.Vote, error) {
						if string(q.Leaf.Arguments) == `{"command":"no slow"}` {
							<-ctx.Done()
							return remainder.Vote{Result: approval.NoVote}, ctx.Err()
						}
						return remainder.Vote{Result: approval.JudgeDeny}, nil
					}),
				})
				w.session("s", test.mode)
				w.call("s", "j", test.command)
				still()
				if test.do != nil {
					test.do(w)
					still()
				}
				fields := w.fields("s", "j")
				if got := fields[plexus.OutcomeJSON]; got != test.want || fields[plexus.Completed] != plexus.True {
					t.Errorf("receipt %s\nwant    %s\n%s", got, test.want, w.story("s"))
				}
				if test.want == cancelReceipt && (fields[plexus.Cancelled] != plexus.True || fields[plexus.Approved] != "") {
					t.Errorf("cancelling wrote %v", fields)
				}
			})
		})
	}
}

func (w *world) cancel(what string) {
	w.Helper()
	if err := w.Cancel(w.Context(), "s", what, ada); err != nil {
		w.Error(err)
	}
}
