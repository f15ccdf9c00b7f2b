package approval

// Leaf is an approvable job: a tool call and the votes on it (law §2). The
// zero value is a call nobody has judged. Fields are named as in the
// document; [Leaf.Orchestrated] is computed there and here.
type Leaf struct {
	ID        string
	Kind      Kind
	Name      string // the tool, as the caller spells it
	Arguments []byte // one JSON object; empty for none

	PolicyResult        PolicyResult
	PolicyMessage       Text
	JudgeResult         JudgeResult
	JudgeFailMessage    Text
	Approved            Answer
	ApprovalComment     Text
	OrchestrationResult Orchestration
	Cancelled           bool
	Completed           bool
	OutcomeJSON         Text

	// Paths are the prepared paths the call reads or writes, all of them; a
	// path that cannot be told is "" and stays in the list. Computed by the
	// host from the call, never stored as a vote.
	Paths []Path
	// RunsHatch says that the floor told a run of npx or bunx among the
	// effects of the call (law ruling 11). Computed, never stored.
	RunsHatch bool
	// Ruled says that something else than its lying outside the workspace keeps
	// a read from being allowed: a rule, or what cannot be told. No allowlist
	// lifts that, and a person's yes to it is for this call (law §10). Computed.
	Ruled bool
	// Names are those of Paths of which only names are looked at, as a listing
	// does: a yes to that opens no content. Computed.
	Names []Path
}

// Orchestrated reports whether the guard has returned (law §2).
func (l *Leaf) Orchestrated() bool { return l.OrchestrationResult != NotReturned }

// Open reports whether something may still be decided or started for the
// leaf: it is not orchestrated, not cancelled and not completed (law §4, §7).
func (l *Leaf) Open() bool { return !l.Orchestrated() && !l.Cancelled && !l.Completed }
