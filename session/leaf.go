package session

import (
	"encoding/json"
	"strconv"
	"strings"

	"assent/approval"
)

// leaf is a leaf that is not settled: its votes as committed, and what this
// life knows beside them.
type leaf struct {
	approval.Leaf
	cluster  approval.Cluster
	attempts int // failed attempts of the classifier, as committed

	// Answers that are not committed yet.
	floor     *FloorDone
	vote      approval.JudgeResult
	judgement string // of the vote
	late      bool   // the vote came when its attempt was over
	fail      approval.Text
	cancel    bool

	// What runs.
	judging    bool // the floor
	policy     int  // the policies it is asked of
	classifies int  // the attempt, 0 for none
	tried      bool // the classifier was started
	body       body
	stopped    bool // the body was told to stop
	ours       bool // the guard returned in this life
	outcome    approval.Text
	note       string // what its body had to tell when it was cut short

	asked bool
}

// body is how far a body is in this life.
type body uint8

const (
	notBegun body = iota
	runs
	ended
)

func newLeaf(job Job) *leaf {
	l := &leaf{Leaf: approval.Leaf{
		ID:   string(job.ID),
		Kind: job.Kind.Leaf(),
		Name: job.Name,
	}}
	if job.Arguments != "" {
		l.Arguments = []byte(job.Arguments)
	}
	l.cluster = l.Leaf.Cluster()
	return l
}

// over reports whether the document says that nothing begins on the leaf any
// more (law ruling 4).
// receiptCancelled is the receipt of a leaf that is cancelled, with what its body
// had to tell until then.
func (l *leaf) receiptCancelled() string {
	receipt := approval.ReceiptCancelled
	receipt.Note = l.note
	return receipt.String()
}

func (l *leaf) over() bool { return l.Cancelled || l.OutcomeJSON.Written || l.Completed }

// apply takes a committed field. The first value stands, as in the document. A
// value that cannot be read counts as the strictest of its field: the document
// refuses such values itself.
func (l *leaf) apply(name, value string) {
	text := []byte(value)
	switch name {
	case PolicyResult:
		if l.PolicyResult == approval.None {
			if l.PolicyResult.UnmarshalJSON(text) != nil || l.PolicyResult == approval.None {
				l.PolicyResult = approval.Block
			}
			l.RunsHatch, l.Ruled = true, l.cluster == approval.Read // until the explanation says otherwise
			l.floor = nil
		}
	case PolicyMessage:
		applyText(&l.PolicyMessage, text)
	case Paths:
		if l.Paths == nil {
			l.Paths = readPaths(text)
		}
	case Explanation:
		l.RunsHatch = l.cluster != approval.Bash || hatchOf(text)
		l.Ruled, l.Names = readingOf(l.cluster, text)
	case JudgeResult:
		if l.JudgeResult == approval.NoVote {
			if l.JudgeResult.UnmarshalJSON(text) != nil || l.JudgeResult == approval.NoVote {
				l.JudgeResult = approval.JudgeDeny
			}
			l.vote, l.judgement, l.fail = approval.NoVote, "", approval.Text{}
		}
	case Approved:
		if l.Approved == approval.Unanswered {
			if l.Approved.UnmarshalJSON(text) != nil || l.Approved == approval.Unanswered {
				l.Approved = approval.No
			}
		}
	case ApprovalComment:
		applyText(&l.ApprovalComment, text)
	case OrchestrationResult:
		if !l.Orchestrated() {
			if l.OrchestrationResult.UnmarshalJSON(text) != nil || !l.Orchestrated() {
				l.OrchestrationResult = approval.Refused
			}
			l.fail = approval.Text{}
		}
	case Cancelled:
		l.Cancelled, l.cancel = true, true
	case OutcomeJSON:
		if !l.OutcomeJSON.Written {
			l.OutcomeJSON = approval.Written(value)
		}
	case Completed:
		l.Completed = true
	default:
		number, ok := strings.CutPrefix(name, JudgeFail)
		if !ok {
			return
		}
		if n, err := strconv.Atoi(number); err == nil && n > l.attempts {
			l.attempts = n
			l.JudgeFailMessage = approval.Text{}
			applyText(&l.JudgeFailMessage, text)
			l.fail = approval.Text{}
		}
	}
}

func applyText(t *approval.Text, value []byte) {
	if t.Written {
		return
	}
	t.Written = true
	if json.Unmarshal(value, &t.Value) != nil {
		t.Value = string(value)
	}
}

// readPaths reads the paths of a call. A list that cannot be read is one path
// that cannot be told: nothing covers it.
func readPaths(text []byte) []approval.Path {
	var paths []approval.Path
	if json.Unmarshal(text, &paths) != nil {
		return []approval.Path{""}
	}
	return paths
}

// hatchOf is what the floor's explanation says of hatch; a hatch unless it
// says no, as a hatch only ever takes a grant away.
func hatchOf(explanation []byte) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(explanation, &members) != nil || string(members["hatch"]) != "false"
}

// with is the leaf as it will be when the floor's answer is committed.
func (f *FloorDone) with(l approval.Leaf) approval.Leaf {
	l.PolicyResult, l.PolicyMessage, l.Paths = f.Result, f.Message, f.Paths
	l.RunsHatch = l.Cluster() != approval.Bash || hatchOf([]byte(f.Explanation))
	l.Ruled, l.Names = readingOf(l.Cluster(), []byte(f.Explanation))
	return l
}

// readingOf is what the floor's explanation says of a read: whether a rule is
// against it, unless it says no, and the paths of which only names are looked at.
func readingOf(cluster approval.Cluster, explanation []byte) (ruled bool, names []approval.Path) {
	if cluster != approval.Read {
		return false, nil
	}
	var said struct {
		Ruled *bool           `json:"ruled"`
		Names []approval.Path `json:"names"`
	}
	if json.Unmarshal(explanation, &said) != nil || said.Ruled == nil {
		return true, nil
	}
	return *said.Ruled, said.Names
}

// obeyed is the leaf as it may be read: a true of a person counts after the floor, and
// never over a block (law ruling 2). The document holds no other; where one
// does all the same it is as good as none.
func obeyed(l approval.Leaf) approval.Leaf {
	if l.Approved == approval.Yes && (l.PolicyResult == approval.None || l.PolicyResult == approval.Block) {
		l.Approved = approval.Unanswered
	}
	return l
}

func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil { // a text always encodes
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func quoteAll[T ~string](texts []T) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(string(text))
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
