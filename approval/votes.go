package approval

// JudgeResult is the classifier's vote (law §2). The zero value is no vote:
// it has not run, or failed, or was stopped.
type JudgeResult uint8

// The votes of the classifier. There is no ask and no fail.
const (
	NoVote JudgeResult = iota
	JudgeAllow
	JudgeDeny
)

var judgeResultNames = []string{"", "allow", "deny"}

// String is the name on the wire, and "none" for the zero value.
func (v JudgeResult) String() string { return nameOf(judgeResultNames, v, "none") }

// MarshalJSON writes the name, and null for [NoVote].
func (v JudgeResult) MarshalJSON() ([]byte, error) { return marshalName(judgeResultNames, v) }

// UnmarshalJSON reads a name or null.
func (v *JudgeResult) UnmarshalJSON(b []byte) error {
	return unmarshalName("vote", judgeResultNames, b, v)
}

// Answer is what a person wrote into `approved` (law §2). Nobody but a person
// writes it, and the zero value says that nobody did.
type Answer uint8

// The answers of a person.
const (
	Unanswered Answer = iota
	No                // approved == false
	Yes               // approved == true
)

var answerNames = []string{"", "false", "true"}

// String is the value on the wire, and "none" for the zero value.
func (a Answer) String() string { return nameOf(answerNames, a, "none") }

// MarshalJSON writes true, false or null.
func (a Answer) MarshalJSON() ([]byte, error) { return marshalBool(a) }

// UnmarshalJSON reads true, false or null.
func (a *Answer) UnmarshalJSON(b []byte) error { return unmarshalBool(b, a) }

// Orchestration is what the guard returned (law §2). The zero value says that
// it has not returned.
type Orchestration uint8

// The returns of a guard.
const (
	NotReturned Orchestration = iota
	Refused                   // orchestrationResult == false
	Licensed                  // orchestrationResult == true
)

var orchestrationNames = []string{"", "false", "true"}

// String is the value on the wire, and "none" for the zero value.
func (o Orchestration) String() string { return nameOf(orchestrationNames, o, "none") }

// MarshalJSON writes true, false or null.
func (o Orchestration) MarshalJSON() ([]byte, error) { return marshalBool(o) }

// UnmarshalJSON reads true, false or null.
func (o *Orchestration) UnmarshalJSON(b []byte) error { return unmarshalBool(b, o) }

// Text is a text field that is null until it is written (law §2). Whether it
// is written counts, also for an empty text: a failed attempt without words
// has failed all the same.
type Text struct {
	Written bool
	Value   string
}

// Written is the text field holding value.
func Written(value string) Text { return Text{Written: true, Value: value} }
