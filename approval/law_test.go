package approval_test

import (
	"fmt"
	"testing"

	"assent/approval"
)

// The law is finite once a call is reduced to what the law asks of it. This
// file walks the whole space and holds every state against twins that are
// written from the tables of the law, line by line, with none of the words
// the package computes on its way.

// call is a representative of every kind of call the law tells apart.
type call struct {
	label     string
	kind      approval.Kind
	name      string
	arguments string
	paths     []approval.Path
	// What the tables ask of a call.
	cluster     string
	hatch       bool
	lookUp      bool
	allowlisted bool // a key of the allowlist covers it
}

var calls = []call{
	{label: "read", name: "Read", paths: []approval.Path{"/ext/a"}, cluster: "read"},
	{label: "read-listed", name: "Read", paths: []approval.Path{"/srv/listed/a"}, cluster: "read", allowlisted: true},
	{label: "write", name: "Write", paths: []approval.Path{"/srv/listed/a"}, cluster: "write"},
	{label: "bash", name: "Bash", arguments: `{"command":"make"}`, cluster: "bash"},
	{label: "bash-hatch", name: "Bash", arguments: `{"command":"npx x"}`, cluster: "bash", hatch: true},
	{label: "mcp-look-up", name: "mcp__srv__get_thing", cluster: "mcp", lookUp: true},
	{label: "mcp-changing", name: "mcp__srv__set_thing", cluster: "mcp"},
	{label: "web", name: "WebFetch", cluster: "web"},
	{label: "comm", kind: approval.AgentCall, name: "agent_call", cluster: "comm"},
}

type state struct {
	call    call
	leaf    approval.Leaf
	session approval.Session
}

func (s state) String() string {
	l, v := s.leaf, s.session
	return fmt.Sprintf("%s floor=%v judge=%v failed=%v approved=%v guard=%v cancelled=%v completed=%v | %v overlay=%v standing=%v coverDeny=%v seat=%v",
		s.call.label, l.PolicyResult, l.JudgeResult, l.JudgeFailMessage.Written, l.Approved, l.OrchestrationResult, l.Cancelled, l.Completed,
		v.CurrentPolicy, v.AutoAllow, v.StandingAutoAllow, v.AutoCoverDeny == approval.Cover, v.Seat == approval.Attended)
}

// eachState yields every state of the law. The grants of the overlay and of
// the standing record are all or nothing: a call asks for one flag.
func eachState(yield func(state) bool) {
	all := approval.Grants{Write: true, Bash: true, MCP: true}
	for _, c := range calls {
		for votes := range 5 * 3 * 2 * 3 * 3 * 2 * 2 {
			n := votes
			pick := func(of int) int { v := n % of; n /= of; return v }
			leaf := approval.Leaf{Kind: c.kind, Name: c.name, Arguments: []byte(c.arguments), Paths: c.paths}
			leaf.PolicyResult = approval.PolicyResult(pick(5))
			leaf.JudgeResult = approval.JudgeResult(pick(3))
			leaf.JudgeFailMessage.Written = pick(2) == 1
			leaf.Approved = approval.Answer(pick(3))
			leaf.OrchestrationResult = approval.Orchestration(pick(3))
			leaf.Cancelled, leaf.Completed = pick(2) == 1, pick(2) == 1
			for view := range 3 * 2 * 2 * 2 * 2 {
				n = view
				session := approval.Session{Workspace: "/home/u/work", ReadAllowlist: []string{"/srv/listed"}}
				session.CurrentPolicy = approval.Mode(pick(3))
				if pick(2) == 1 {
					session.AutoAllow = all
				}
				if pick(2) == 1 {
					session.StandingAutoAllow = all
				}
				session.AutoCoverDeny = approval.CoverDeny(pick(2))
				session.Seat = approval.Seat(pick(2))
				if !yield(state{c, leaf, session}) {
					return
				}
			}
		}
	}
}

// facts are the state in the words of the tables.
type facts struct {
	floor   string
	mode    string
	granted bool
	looking bool
	cover   bool
	listed  bool
}

func factsOf(s state) facts {
	f := facts{floor: s.leaf.PolicyResult.String(), mode: s.session.CurrentPolicy.String()}
	flag := s.session.AutoAllow.Bash || s.session.StandingAutoAllow.Bash
	switch s.call.cluster {
	case "write", "bash":
		f.granted = flag
	case "mcp":
		f.granted = flag && s.call.lookUp
	}
	f.looking = s.session.Seat == approval.Attended
	f.cover = s.session.AutoCoverDeny == approval.Cover
	f.listed = s.call.allowlisted && f.floor != "none" && f.floor != "block"
	return f
}

// lawTable is law §5: the first row that fits, with its three columns.
var lawTable = []struct {
	row                string
	fits               func(facts, call) bool
	manual, auto, yolo string
}{
	{"not evaluated", func(f facts, _ call) bool { return f.floor == "none" }, "waits", "waits", "waits"},
	{"allow", func(f facts, _ call) bool { return f.floor == "allow" }, "runs", "runs", "runs"},
	{"ask, granted, not hatch", func(f facts, c call) bool { return f.floor == "ask" && f.granted && !c.hatch }, "human", "runs", "runs"},
	{"ask, write not granted", func(f facts, c call) bool { return f.floor == "ask" && c.cluster == "write" && !f.granted }, "human", "human", "runs"},
	{"ask, anything else", func(f facts, _ call) bool { return f.floor == "ask" }, "human", "classifier", "runs"},
	{"deny, write not granted", func(f facts, c call) bool { return f.floor == "deny" && c.cluster == "write" && !f.granted }, "human", "human", "runs"},
	{"deny, granted", func(f facts, _ call) bool { return f.floor == "deny" && f.granted }, "human", "classifier", "runs"},
	{"deny, looking, autoCoverDeny", func(f facts, _ call) bool { return f.floor == "deny" && f.looking && f.cover }, "human", "human", "runs"},
	{"deny, otherwise", func(f facts, _ call) bool { return f.floor == "deny" }, "human", "classifier", "runs"},
	{"block", func(f facts, _ call) bool { return f.floor == "block" }, "refused", "refused", "refused"},
}

// tableSays is what law §5 says of a state, and which row said it.
func tableSays(f facts, c call) (row, cell string) {
	for _, r := range lawTable {
		if r.fits(f, c) {
			switch f.mode {
			case "manual":
				return r.row, r.manual
			case "auto":
				return r.row, r.auto
			}
			return r.row, r.yolo
		}
	}
	return "", "no row fits"
}

// TestTable holds every leaf without a human answer or a vote, not
// allowlisted and not comm, against law §5 (law ruling 13).
func TestTable(t *testing.T) {
	seen := make(map[string]int)
	for s := range eachState {
		f := factsOf(s)
		if s.call.cluster == "comm" || f.listed || s.leaf.Approved != approval.Unanswered || s.leaf.JudgeResult != approval.NoVote || !s.leaf.Open() {
			continue
		}
		row, cell := tableSays(f, s.call)
		want := map[string]string{
			"waits":      "license wait, human false, classifier false",
			"runs":       "license allow, human false, classifier false",
			"refused":    "license deny, human false, classifier false",
			"human":      "license wait, human true, classifier false",
			"classifier": "license wait, human false, classifier true",
		}[cell]
		if cell == "classifier" && s.leaf.JudgeFailMessage.Written {
			want = "license wait, human true, classifier true"
		}
		license, _ := approval.LicenseDecision(s.leaf, s.session)
		got := fmt.Sprintf("license %v, human %v, classifier %v", license, approval.NeedsHuman(s.leaf, s.session), approval.ClassifierRuns(s.leaf, s.session))
		if got != want {
			t.Fatalf("%v\nrow  %s\ngot  %s\nwant %s", s, row, got, want)
		}
		seen[row+"/"+f.mode]++
	}
	for _, r := range lawTable {
		for _, mode := range []string{"manual", "auto", "yolo"} {
			if seen[r.row+"/"+mode] == 0 {
				t.Errorf("no state reached row %q in mode %s", r.row, mode)
			}
		}
	}
}

// TestLicenseOrder holds every state against the lines of law §4 and row 0.
func TestLicenseOrder(t *testing.T) {
	for s := range eachState {
		f := factsOf(s)
		open := f.floor == "ask" || f.floor == "deny"
		skip := f.mode == "auto" && f.floor == "ask" && f.granted && !s.call.hatch
		lines := []struct {
			holds bool
			side  string
		}{
			{s.call.cluster == "comm", "allow"},
			{s.leaf.Approved == approval.Yes, "allow"},
			{s.leaf.Approved == approval.No, "deny"},
			{f.floor == "block", "deny"},
			{f.listed, "allow"},
			{f.floor == "allow", "allow"},
			{f.mode == "yolo" && open, "allow"},
			{skip, "allow"},
			{f.mode == "auto" && open && !skip && s.leaf.JudgeResult == approval.JudgeAllow, "allow"},
			{f.mode == "auto" && open && !skip && s.leaf.JudgeResult == approval.JudgeDeny, "deny"},
			{true, "wait"},
		}
		want := ""
		for _, line := range lines {
			if line.holds {
				want = line.side
				break
			}
		}
		license, reason := approval.LicenseDecision(s.leaf, s.session)
		if license.String() != want {
			t.Fatalf("%v\ngot %v (%v), want %s", s, license, reason, want)
		}
		if (license == approval.Wait) != (reason == approval.NothingDecides) {
			t.Fatalf("%v: %v because %v", s, license, reason)
		}
	}
}

// TestWords holds the computed words against their sentences in law §3.
func TestWords(t *testing.T) {
	for s := range eachState {
		f := factsOf(s)
		skip := f.mode == "auto" && f.floor == "ask" && f.granted && !s.call.hatch
		remainder := "none"
		if f.mode == "auto" && (f.floor == "ask" || f.floor == "deny") && !skip {
			remainder = f.floor
		}
		pending := remainder != "none" && s.leaf.JudgeResult == approval.NoVote &&
			!(s.call.cluster == "write" && !f.granted) &&
			!(f.floor == "deny" && !f.granted && f.looking && f.cover)
		got := fmt.Sprintln(approval.AutoAllowSkip(s.leaf, s.session), approval.AutoRemainder(s.leaf, s.session), approval.AutoClassifierPending(s.leaf, s.session))
		if want := fmt.Sprintln(skip, remainder, pending); got != want {
			t.Fatalf("%v\ngot  skip, remainder, pending = %s\nwant %s", s, got, want)
		}
	}
}

// TestInvariants are the sentences of the law that speak of all states.
func TestInvariants(t *testing.T) {
	for s := range eachState {
		l, v := s.leaf, s.session
		license, reason := approval.LicenseDecision(l, v)
		human, runs := approval.NeedsHuman(l, v), approval.ClassifierRuns(l, v)
		persist := approval.MayPersist(l, v)
		for _, law := range []struct {
			says  string
			holds bool
		}{
			{"a leaf that has its answer asks nobody (§4)", license == approval.Wait || !human},
			{"block is never a prompt (§4)", l.PolicyResult != approval.Block || !human},
			{"under yolo nothing is a prompt (§4)", v.CurrentPolicy != approval.Yolo || !human},
			{"block is refused in every mode unless a person answered (§4)",
				l.PolicyResult != approval.Block || l.Approved == approval.Yes || reason == approval.Communication || license == approval.DenySide},
			{"a person's answer comes first (§4)", l.Approved == approval.Unanswered || reason == approval.Communication ||
				license == map[approval.Answer]approval.License{approval.Yes: approval.AllowSide, approval.No: approval.DenySide}[l.Approved]},
			{"no machine allows what the floor has not seen (§7)",
				l.PolicyResult != approval.None || license != approval.AllowSide || l.Approved == approval.Yes || reason == approval.Communication},
			{"nothing waits for a settled leaf (§4, ruling 4)", l.Open() || !human && !runs},
			{"no classifier on block or floor allow (§9)", l.PolicyResult.Remainder() || !runs},
			{"no classifier outside auto (§9)", v.CurrentPolicy == approval.Auto || !runs},
			{"no classifier on writes that are not granted (§12)", s.call.cluster != "write" || approval.Granted(l, v) || !runs},
			{"the classifier runs only while the license waits (ruling 5)", !runs || license == approval.Wait},
			{"comm is allowed, whatever the votes (ruling 1)", s.call.cluster != "comm" || license == approval.AllowSide && !human && !runs},
			{"a changing tool is never granted (§3)", s.call.label != "mcp-changing" || !approval.Granted(l, v)},
			{"a write is never allowlisted (§10)", s.call.cluster == "read" || !approval.Allowlisted(l, v)},
			{"nothing lasting from a hatch (ruling 15)", !s.call.hatch || persist == approval.Persist{}},
			{"nothing lasting without a prompt (ruling 15)", human || persist == approval.Persist{}},
			{"nothing lasting from a read outside (ruling 15)", s.call.cluster != "read" || persist == approval.Persist{}},
			{"only write, bash and look-ups are granted from a prompt (§3)",
				!persist.Grant || s.call.cluster == "write" || s.call.cluster == "bash" || s.call.lookUp},
			{"nothing that waits in auto waits for nobody (§5)", license != approval.Wait || !l.Open() || l.PolicyResult == approval.None || human || runs},
		} {
			if !law.holds {
				t.Fatalf("%v\nbreaks: %s\nlicense=%v (%v) human=%v classifier=%v persist=%+v", s, law.says, license, reason, human, runs, persist)
			}
		}
	}
}

// TestZeroValues are the safe answers that forgetting to fill something in
// gives.
func TestZeroValues(t *testing.T) {
	license, reason := approval.LicenseDecision(approval.Leaf{}, approval.Session{})
	if license != approval.Wait || reason != approval.NothingDecides {
		t.Errorf("empty leaf, empty session: %v because %v, want wait", license, reason)
	}
	var session approval.Session
	if session.CurrentPolicy != approval.Manual || session.AutoCoverDeny != approval.Cover || !session.Looking() {
		t.Errorf("empty session is %+v, want manual, covering, looking", session)
	}
	if approval.NeedsHuman(approval.Leaf{}, session) {
		t.Error("a person is asked about a leaf the floor has not seen")
	}
	if got := approval.ReceiptFor(0); got != approval.ReceiptPolicy {
		t.Errorf("a refusal without a reason has receipt %v", got)
	}
}
