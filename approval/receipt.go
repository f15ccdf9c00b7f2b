package approval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Receipt is the answer a model gets for a call that did not run (law §7). On
// the wire it is {"ok":false,"text":...} with code and note where they are
// not empty, in this order.
type Receipt struct {
	Text string
	Code string
	Note string
}

// codeDenied marks the refusals of machines.
const codeDenied = "policy_denied"

// The receipts of law §7, word for word.
var (
	ReceiptPersonRefused = Receipt{Text: "User refused this tool use"}
	ReceiptClassifier    = Receipt{Text: "Classifier marked this tool use as dangerous; ask user to confirm this action", Code: codeDenied}
	ReceiptPolicy        = Receipt{Text: "Policy prohibits this tool use. Do not try to bypass it; if this is crucial, ask user to do it", Code: codeDenied}
	ReceiptCancelled     = Receipt{Text: "cancelled"}
)

// ReceiptTimeout is the receipt of a body that ran out of time, told in whole
// milliseconds (law §7).
func ReceiptTimeout(limit time.Duration) Receipt {
	return Receipt{Text: fmt.Sprintf("timed out after %dms", limit.Milliseconds())}
}

// ReceiptAborted is the receipt of a body that was stopped for a reason of
// its own (law §7).
func ReceiptAborted(reason string) Receipt { return Receipt{Text: reason} }

// ReceiptFor is the receipt of a refusal, by the line of the law that refused.
// A refusal nobody can explain any more (a torn deny, law ruling 3) is the
// machine's.
func ReceiptFor(reason Reason) Receipt {
	switch reason {
	case PersonRefused:
		return ReceiptPersonRefused
	case ClassifierDenied:
		return ReceiptClassifier
	case FloorBlocked, NothingDecides, Communication, PersonAllowed, ReadAllowlisted, FloorAllowed, YoloMode,
		GrantSkips, ClassifierAllowed:
	}
	return ReceiptPolicy
}

// MarshalJSON writes the receipt's one form.
func (r Receipt) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		OK   bool   `json:"ok"`
		Text string `json:"text"`
		Code string `json:"code,omitempty"`
		Note string `json:"note,omitempty"`
	}{Text: r.Text, Code: r.Code, Note: r.Note})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// String is the receipt as it stands in outcomeJson.
func (r Receipt) String() string {
	b, err := r.MarshalJSON()
	if err != nil { // a struct of strings always encodes
		return `{"ok":false,"text":"refused"}`
	}
	return string(b)
}
