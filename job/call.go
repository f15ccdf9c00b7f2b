package job

import (
	"context"
	"errors"
	"fmt"

	"assent/approval"
	"assent/session"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Call is what a guard and a body get to know.
type Call struct {
	Session   string
	Job       session.JobID
	Kind      Kind
	Name      string         // the tool
	Arguments jsontext.Value // an object, or empty for none
	// Workspace, Cwd and Home are the session's folders, absolute; Cwd and Home
	// may be empty.
	Workspace, Cwd, Home string
	// RealWorkspace is where the workspace was when its session was made, with
	// no links left. A path inside the workspace lies below it and nowhere else.
	RealWorkspace string
	// RealCwd is the same of Cwd: where a command starts.
	RealCwd string
	// Paths are the prepared paths of the licensed leaf: what a body may open
	// beside the workspace (law ruling 9). A guard is heard before they are
	// known.
	Paths []approval.Path
	// Shown is the image of what was there when a person was asked (see [Shown]):
	// a body that finds another one changes nothing. "" where nobody was asked. Under
	// [Withheld] the person, and so the model, was told nothing of the content.
	Shown string
	// Resumed says that the body was licensed in an earlier life and may have
	// had its effect already. A body that cannot be run twice reports that and
	// does not run (law §7).
	Resumed bool
	// Begun says that the earlier life wrote down that the body began. Where
	// it did not, no body of this call has run.
	Begun bool
	// Progress tells those who look how far the body is. It may be nil.
	Progress func(text string)
}

// Decode reads the arguments into v, strictly: no unknown members, no
// duplicates, no folding of case.
func (c *Call) Decode(v any) error {
	arguments := c.Arguments
	if len(arguments) == 0 {
		arguments = jsontext.Value("{}")
	}
	if err := json.Unmarshal(arguments, v, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("reading the arguments of %s: %w", c.Name, err)
	}
	return nil
}

// Guard is heard before the law, together with the floor. False, an error and
// a panic block the call, which no person and no mode lifts; true leaves
// everything to the law. A guard must not wait for people: it holds a slot of
// the floor.
type Guard func(ctx context.Context, call Call) (bool, error)

// Body runs a licensed call and gives its outcome. It must return when ctx is
// done: the leaf is not settled before. An error becomes the outcome
// {"ok":false,"text":...}.
type Body func(ctx context.Context, call Call) (Outcome, error)

// Cut is the error of a body that was cut short and has something to tell: what a
// command wrote until then. Where the call was cancelled or ran out of time, that is
// the note of its receipt.
type Cut struct {
	Cause error
	Note  string
}

func (c *Cut) Error() string { return c.Cause.Error() }

// Unwrap is the cause.
func (c *Cut) Unwrap() error { return c.Cause }

// Preview tells what a call would change, before anybody answers. It changes
// nothing itself. Paths of the call are known.
type Preview func(ctx context.Context, call Call) (Shown, error)

// Shown is what a person can see of a call.
type Shown struct {
	Text string `json:"text"`
	// Image names the state that the text is about, as the body will compare
	// it; "" for none.
	Image string `json:"image,omitzero"`
}

// Images that are none of a content.
const (
	// Unseen: nobody could look at what is there. No body goes on from it.
	Unseen = "unseen"
	// Withheld: what is there is not shown, and neither is its image. The host keeps
	// that in memory and gives it to the body behind this word and a colon;
	// one that was started anew has none.
	Withheld = "withheld"
)

// Outcome is what the model reads of a call that ran: JSON, as it stands in
// outcomeJson.
type Outcome jsontext.Value

// Text is the outcome {"ok":true,"text":...}.
func Text(text string) Outcome {
	return Outcome(must(struct {
		OK   bool   `json:"ok"`
		Text string `json:"text"`
	}{true, text}))
}

// JSON is the outcome that v is on the wire.
func JSON(v any) (Outcome, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing an outcome: %w", err)
	}
	return Outcome(b), nil
}

func must(v any) []byte {
	b, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return []byte(approval.ReceiptAborted("the outcome cannot be written").String())
	}
	return b
}

// MaxArguments is how many bytes the arguments of a call may have.
const MaxArguments = 1 << 20

// ErrArguments is the error of arguments that are no call.
var ErrArguments = errors.New("want one JSON object")

// CheckArguments refuses arguments that are not one JSON object, read
// strictly: valid UTF-8, no member twice, nothing behind it, no more than
// [MaxArguments]. Empty arguments are none.
func CheckArguments(text []byte) error {
	switch {
	case len(text) == 0:
		return nil
	case len(text) > MaxArguments:
		return fmt.Errorf("arguments of %d bytes, at most %d: %w", len(text), MaxArguments, ErrArguments)
	}
	switch kind := jsontext.Value(text).Kind(); kind {
	case '[', '"', '0', 't', 'f':
		return fmt.Errorf("arguments are no object but %s: %w", map[jsontext.Kind]string{'[': "a list", '"': "a text", '0': "a number", 't': "true", 'f': "false"}[kind], ErrArguments)
	}
	var object map[string]jsontext.Value
	if err := json.Unmarshal(text, &object); err != nil {
		return fmt.Errorf("%w: %w", ErrArguments, err)
	}
	if object == nil {
		return fmt.Errorf("arguments are null: %w", ErrArguments)
	}
	return nil
}
