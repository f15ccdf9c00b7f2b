package approval_test

import (
	"encoding/json"
	"testing"
	"time"

	"assent/approval"
)

func TestReceipts(t *testing.T) {
	for _, row := range []struct {
		name string
		got  approval.Receipt
		want string
	}{
		{"human no", approval.ReceiptFor(approval.PersonRefused),
			`{"ok":false,"text":"User refused this tool use"}`},
		{"classifier deny", approval.ReceiptFor(approval.ClassifierDenied),
			`{"ok":false,"text":"Classifier marked this tool use as dangerous; ask user to confirm this action","code":"policy_denied"}`},
		{"floor block", approval.ReceiptFor(approval.FloorBlocked),
			`{"ok":false,"text":"Policy prohibits this tool use. Do not try to bypass it; if this is crucial, ask user to do it","code":"policy_denied"}`},
		{"torn deny", approval.ReceiptFor(approval.NothingDecides),
			`{"ok":false,"text":"Policy prohibits this tool use. Do not try to bypass it; if this is crucial, ask user to do it","code":"policy_denied"}`},
		{"cancel", approval.ReceiptCancelled, `{"ok":false,"text":"cancelled"}`},
		{"time limit", approval.ReceiptTimeout(1500 * time.Millisecond), `{"ok":false,"text":"timed out after 1500ms"}`},
		{"abort", approval.ReceiptAborted("the session ended"), `{"ok":false,"text":"the session ended"}`},
		{"note", approval.Receipt{Text: "a < b", Code: "c", Note: "n"}, `{"ok":false,"text":"a < b","code":"c","note":"n"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := row.got.String(); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if b, err := row.got.MarshalJSON(); err != nil || !json.Valid(b) {
				t.Errorf("%s, %v", b, err)
			}
		})
	}
}
