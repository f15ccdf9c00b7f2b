package plexus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// The rules are the engine's: these tests go past the store, with SQL of their
// own on connections of their own, while the store has the document open.

// doors are connections that somebody else might open, and how they call the
// document there.
var doors = []struct {
	why, prefix string
	prepare     []string
}{
	{"plain", "", nil},
	{"constraints-off", "", []string{"PRAGMA ignore_check_constraints = ON", "PRAGMA foreign_keys = OFF", "PRAGMA recursive_triggers = OFF"}},
	{"recursive", "", []string{"PRAGMA recursive_triggers = ON", "PRAGMA foreign_keys = ON"}},
	{"attached", "doc.", nil},
	{"temp-trigger", "", []string{`CREATE TEMP TRIGGER cover BEFORE INSERT ON main.field WHEN NEW.name = 'approved' AND NEW.value = 'false' BEGIN
		INSERT INTO field SELECT rev + 1, rev + 1, NEW.session, NEW.job, 'approvalComment', '"x"', 0, 'human:x', 0, randomblob(32) FROM head; END`}},
}

func openDoor(t *testing.T, path string, door int) *sql.Conn {
	t.Helper()
	d := doors[door]
	file := path
	if d.prefix != "" {
		file = ":memory:"
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if d.prefix != "" {
		d.prepare = []string{fmt.Sprintf("ATTACH '%s' AS doc", path)}
	}
	for _, text := range d.prepare {
		if _, err := conn.ExecContext(context.Background(), text); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// states is a store with a leaf or a sequence for every state a rule tells
// apart.
func states(t *testing.T, path string) *Store {
	t.Helper()
	s := openAt(t, path)
	leaf := func(id string) Job { return Job{Session: "s", ID: id, Name: "Bash"} }
	f := func(job, name, value string) Field { return Field{Session: "s", Job: job, Name: name, Value: value} }
	must(t, s, host, 0, Session{ID: "s"}, Session{ID: "u", Seat: 1})
	must(t, s, host, 0, Register{Session: "u", Name: StandingPolicy, Value: `"auto"`})
	for _, id := range []string{"fresh", "ask", "block", "no", "yes", "denied", "failed", "voted", "true", "false", "cancelled", "started", "done", "halted", "torn"} {
		must(t, s, host, 0, leaf(id))
	}
	must(t, s, host, 0, Job{Session: "s", ID: "comm", Kind: "AgentMessageJob", Name: "agent_message"}, Job{Session: "s", ID: "turn", Kind: SessionTurn},
		Job{Session: "s", ID: "closed", Kind: ProgrammaticJob}, Job{Session: "s", ID: "stopped", Kind: SessionTurn})
	must(t, s, host, 0, f("closed", OutcomeJSON, `{}`), f("closed", Completed, True), f("stopped", Cancelled, True))
	for _, id := range []string{"ask", "no", "yes", "denied", "failed", "voted", "false"} {
		must(t, s, host, 0, f(id, PolicyResult, `"ask"`))
	}
	must(t, s, host, 0, f("block", PolicyResult, `"block"`))
	for _, id := range []string{"true", "started", "done", "halted", "torn"} {
		seen := must(t, s, host, 0, f(id, PolicyResult, `"allow"`))
		must(t, s, host, seen, f(id, OrchestrationResult, True))
	}
	must(t, s, human, 0, f("no", Approved, False))
	must(t, s, human, 0, f("yes", Approved, True))
	seen := must(t, s, human, 0, f("false", Approved, False))
	must(t, s, host, seen, f("false", OrchestrationResult, False))
	must(t, s, host, 0, f("denied", JudgeResult, `"deny"`))
	must(t, s, host, 0, f("failed", JudgeFail(1), `"no connection"`))
	must(t, s, host, 0, f("voted", JudgeFail(1), `"no connection"`), f("voted", JudgeResult, `"allow"`))
	must(t, s, host, 0, f("cancelled", Cancelled, True))
	must(t, s, host, 0, f("started", BodyStarted, True))
	must(t, s, host, 0, f("done", OutcomeJSON, `{"ok":true}`), f("done", Completed, True))
	must(t, s, host, 0, f("halted", Cancelled, True))
	// Half of an outcome: [Tx] refuses that before the engine sees it.
	torn := &request{tx: &Tx{Writer: host, Writes: []Row{f("torn", OutcomeJSON, `{"ok":true}`)}}, done: make(chan struct{})}
	s.requests <- torn
	if <-torn.done; torn.err != nil {
		t.Fatal(torn.err)
	}
	return s
}

// refused are rows the engine must not take, by the rule that refuses them.
// Values are SQL; HEAD is the rev of the last row.
var refused = []struct {
	why  string
	row  Row
	by   string // the writer
	want error
}{
	// fields: names and roles
	{"a name that is none", Field{Session: "s", Job: "fresh", Name: "orchestrated", Value: "true"}, "host:k", ErrName},
	{"a name in another case", Field{Session: "s", Job: "yes", Name: "Approved", Value: "true"}, "human:a", ErrName},
	{"attempt zero", Field{Session: "s", Job: "fresh", Name: "judgeFail/0", Value: `""`}, "host:k", ErrName},
	{"attempt with a zero in front", Field{Session: "s", Job: "fresh", Name: "judgeFail/01", Value: `""`}, "host:k", ErrName},
	{"attempt that is no number", Field{Session: "s", Job: "fresh", Name: "judgeFail/1x", Value: `""`}, "host:k", ErrName},
	{"attempt that was skipped", Field{Session: "s", Job: "failed", Name: "judgeFail/3", Value: `""`}, "host:k", ErrName},
	{"the host answers for a person", Field{Session: "s", Job: "ask", Name: Approved, Value: "true"}, "host:k", ErrRole},
	{"the host refuses for a person", Field{Session: "s", Job: "ask", Name: Approved, Value: "false"}, "host:k", ErrRole},
	{"the host comments for a person", Field{Session: "s", Job: "ask", Name: ApprovalComment, Value: `"x"`}, "host:k", ErrRole},
	{"an agent answers for a person", Field{Session: "s", Job: "ask", Name: Approved, Value: "true"}, "agent:a", ErrRole},
	{"nobody answers", Field{Session: "s", Job: "ask", Name: Approved, Value: "true"}, "nobody:a", ErrRole},
	{"a person without a name", Field{Session: "s", Job: "ask", Name: Approved, Value: "true"}, "human:", ErrRole},
	{"a role in another case", Field{Session: "s", Job: "ask", Name: Approved, Value: "true"}, "Human:a", ErrRole},
	{"a person judges", Field{Session: "s", Job: "fresh", Name: PolicyResult, Value: `"allow"`}, "human:a", ErrRole},
	{"a person votes for the classifier", Field{Session: "s", Job: "ask", Name: JudgeResult, Value: `"allow"`}, "human:a", ErrRole},
	{"a person licenses", Field{Session: "s", Job: "yes", Name: OrchestrationResult, Value: "true"}, "human:a", ErrRole},
	{"a person cancels past the host", Field{Session: "s", Job: "ask", Name: Cancelled, Value: "true"}, "human:a", ErrRole},
	{"an agent judges", Field{Session: "s", Job: "fresh", Name: PolicyResult, Value: `"allow"`}, "agent:a", ErrRole},
	{"an agent writes its outcome", Field{Session: "s", Job: "true", Name: OutcomeJSON, Value: `{}`}, "agent:a", ErrRole},

	// fields: jobs
	{"no job", Field{Session: "s", Job: "nowhere", Name: PolicyResult, Value: `"ask"`}, "host:k", ErrNoJob},
	{"a job of another session", Field{Session: "u", Job: "fresh", Name: PolicyResult, Value: `"ask"`}, "host:k", ErrNoJob},
	{"a vote on a sequence", Field{Session: "s", Job: "turn", Name: PolicyResult, Value: `"ask"`}, "host:k", ErrGeometry},
	{"an answer on a sequence", Field{Session: "s", Job: "turn", Name: Approved, Value: `false`}, "human:a", ErrGeometry},

	// fields: values
	{"a result that is none", Field{Session: "s", Job: "fresh", Name: PolicyResult, Value: `"maybe"`}, "host:k", ErrValue},
	{"a result in another case", Field{Session: "s", Job: "fresh", Name: PolicyResult, Value: `"Allow"`}, "host:k", ErrValue},
	{"a result that is null", Field{Session: "s", Job: "fresh", Name: PolicyResult, Value: `null`}, "host:k", ErrValue},
	{"no JSON", Field{Session: "s", Job: "fresh", Name: PolicyResult, Value: `allow`}, "host:k", ErrValue},
	{"empty", Field{Session: "s", Job: "fresh", Name: PolicyResult, Value: ``}, "host:k", ErrValue},
	{"an answer as text", Field{Session: "s", Job: "ask", Name: Approved, Value: `"true"`}, "human:a", ErrValue},
	{"an answer as a number", Field{Session: "s", Job: "ask", Name: Approved, Value: `1`}, "human:a", ErrValue},
	{"cancelled is false", Field{Session: "s", Job: "ask", Name: Cancelled, Value: `false`}, "host:k", ErrValue},
	{"a classifier that asks", Field{Session: "s", Job: "ask", Name: JudgeResult, Value: `"ask"`}, "host:k", ErrValue},
	{"a comment that is no text", Field{Session: "s", Job: "ask", Name: ApprovalComment, Value: `{}`}, "human:a", ErrValue},
	{"an attempt without text", Field{Session: "s", Job: "fresh", Name: "judgeFail/1", Value: `null`}, "host:k", ErrValue},
	{"an outcome of null", Field{Session: "s", Job: "true", Name: OutcomeJSON, Value: `null`}, "host:k", ErrValue},
	{"an outcome that is no JSON", Field{Session: "s", Job: "true", Name: OutcomeJSON, Value: `{ok}`}, "host:k", ErrValue},

	// fields: once, and the last
	{"written", Field{Session: "s", Job: "ask", Name: PolicyResult, Value: `"allow"`}, "host:k", ErrWritten},
	{"written the same", Field{Session: "s", Job: "ask", Name: PolicyResult, Value: `"ask"`}, "host:k", ErrWritten},
	{"answered", Field{Session: "s", Job: "no", Name: Approved, Value: `true`}, "human:a", ErrWritten},
	{"answered, other person", Field{Session: "s", Job: "yes", Name: Approved, Value: `false`}, "human:b", ErrWritten},
	{"returned", Field{Session: "s", Job: "true", Name: OrchestrationResult, Value: `false`}, "host:k", ErrWritten},
	{"an attempt again", Field{Session: "s", Job: "failed", Name: "judgeFail/1", Value: `""`}, "host:k", ErrWritten},
	{"an attempt after the vote", Field{Session: "s", Job: "voted", Name: "judgeFail/2", Value: `""`}, "host:k", ErrWritten},
	{"a vote after the end", Field{Session: "s", Job: "done", Name: JudgeResult, Value: `"deny"`}, "host:k", ErrCompleted},
	{"cancelled after the end", Field{Session: "s", Job: "done", Name: Cancelled, Value: `true`}, "host:k", ErrCompleted},
	{"another outcome", Field{Session: "s", Job: "done", Name: OutcomeJSON, Value: `{}`}, "host:k", ErrCompleted},
	{"completed again", Field{Session: "s", Job: "done", Name: Completed, Value: `true`}, "host:k", ErrCompleted},

	// fields: what belongs together
	{"completed without an outcome", Field{Session: "s", Job: "true", Name: Completed, Value: `true`}, "host:k", ErrApart},
	{"a message without a result", Field{Session: "s", Job: "fresh", Name: PolicyMessage, Value: `"x"`}, "host:k", ErrApart},
	{"a message after the result", Field{Session: "s", Job: "ask", Name: PolicyMessage, Value: `"x"`}, "host:k", ErrApart},
	{"paths after the result", Field{Session: "s", Job: "ask", Name: Paths, Value: `["/etc"]`}, "host:k", ErrApart},
	{"effects after the result", Field{Session: "s", Job: "ask", Name: Effects, Value: `[]`}, "host:k", ErrApart},
	{"an explanation after the result", Field{Session: "s", Job: "ask", Name: Explanation, Value: `{}`}, "host:k", ErrApart},
	{"a judgement without a vote", Field{Session: "s", Job: "ask", Name: Judgement, Value: `{}`}, "host:k", ErrApart},
	{"a judgement that is none", Field{Session: "s", Job: "ask", Name: Judgement, Value: `"x"`}, "host:k", ErrValue},
	{"a judgement of an agent's", Field{Session: "s", Job: "ask", Name: Judgement, Value: `{}`}, "agent:a", ErrRole},
	{"a reason after the license", Field{Session: "s", Job: "true", Name: LicenseReason, Value: `"x"`}, "host:k", ErrApart},

	// fields: the law
	{"a true before the floor", Field{Session: "s", Job: "fresh", Name: Approved, Value: `true`}, "human:a", ErrFloorFirst},
	{"a true on a block", Field{Session: "s", Job: "block", Name: Approved, Value: `true`}, "human:a", ErrBlocked},
	{"a license without a view", Field{Session: "s", Job: "yes", Name: OrchestrationResult, Value: `true`}, "host:k", ErrStale},
	{"a license on an old view", Field{Session: "s", Job: "yes", Name: OrchestrationResult, Value: `true`, Seen: 3}, "host:k", ErrStale},
	{"a license before the floor", Field{Session: "s", Job: "fresh", Name: OrchestrationResult, Value: `true`, Seen: -1}, "host:k", ErrUnlicensed},
	{"a license on a block", Field{Session: "s", Job: "block", Name: OrchestrationResult, Value: `true`, Seen: -1}, "host:k", ErrUnlicensed},
	{"a license on a no", Field{Session: "s", Job: "no", Name: OrchestrationResult, Value: `true`, Seen: -1}, "host:k", ErrUnlicensed},
	{"a refusal nobody made", Field{Session: "s", Job: "ask", Name: OrchestrationResult, Value: `false`, Seen: -1}, "host:k", ErrUnlicensed},
	{"a refusal of a yes", Field{Session: "s", Job: "yes", Name: OrchestrationResult, Value: `false`, Seen: -1}, "host:k", ErrUnlicensed},
	{"a refusal of communication", Field{Session: "s", Job: "comm", Name: OrchestrationResult, Value: `false`, Seen: -1}, "host:k", ErrUnlicensed},
	{"a cancelled guard returns", Field{Session: "s", Job: "cancelled", Name: OrchestrationResult, Value: `true`, Seen: -1}, "host:k", ErrCancelled},
	{"a body without a license", Field{Session: "s", Job: "yes", Name: BodyStarted, Value: `true`}, "host:k", ErrUnlicensed},
	{"a body on a refusal", Field{Session: "s", Job: "false", Name: BodyStarted, Value: `true`}, "host:k", ErrUnlicensed},
	{"a body on what was cancelled", Field{Session: "s", Job: "halted", Name: BodyStarted, Value: `true`}, "host:k", ErrCancelled},
	{"a body after the outcome", Field{Session: "s", Job: "torn", Name: BodyStarted, Value: `true`}, "host:k", ErrCompleted},
	{"a result decided on an old view", Field{Session: "s", Job: "cancelled", Name: PolicyResult, Value: `"ask"`, Seen: 3}, "host:k", ErrStale},
	{"an outcome of what is undecided", Field{Session: "s", Job: "yes", Name: OutcomeJSON, Value: `{}`}, "host:k", ErrUndecided},

	// jobs
	{"a job again", Job{Session: "s", ID: "ask", Name: "Read"}, "host:k", ErrWritten},
	{"no session", Job{Session: "nowhere", ID: "x", Name: "Read"}, "host:k", ErrNoSession},
	{"a job without an id", Job{Session: "s", Name: "Read"}, "host:k", ErrValue},
	{"an id with a space", Job{Session: "s", ID: "a b", Name: "Read"}, "host:k", ErrValue},
	{"an id with a line", Job{Session: "s", ID: "a\nb", Name: "Read"}, "host:k", ErrValue},
	{"an id that looks like another", Job{Session: "s", ID: "аsk", Name: "Read"}, "host:k", ErrValue},
	{"a kind that is none", Job{Session: "s", ID: "x", Kind: "Foreign"}, "host:k", ErrValue},
	{"arguments that are no object", Job{Session: "s", ID: "x", Arguments: "[]"}, "host:k", ErrValue},
	{"arguments that are no JSON", Job{Session: "s", ID: "x", Arguments: "{"}, "host:k", ErrValue},
	{"facts that are no object", Job{Session: "s", ID: "x", Facts: "1"}, "host:k", ErrValue},
	{"no parent", Job{Session: "s", ID: "x", Parent: "nowhere"}, "host:k", ErrNoJob},
	{"a leaf as parent", Job{Session: "s", ID: "x", Parent: "ask"}, "host:k", ErrGeometry},
	{"a closed parent", Job{Session: "s", ID: "x", Parent: "closed"}, "host:k", ErrCompleted},
	{"a cancelled parent", Job{Session: "s", ID: "x", Parent: "stopped"}, "host:k", ErrCancelled},
	{"its own parent", Job{Session: "s", ID: "x", Parent: "x", Kind: SessionTurn}, "host:k", ErrNoJob},
	{"an agent claims to communicate", Job{Session: "s", ID: "x", Kind: "AgentMessageJob"}, "agent:a", ErrRole},
	{"an agent claims a kind", Job{Session: "s", ID: "x", Kind: "FileMutateToolJob"}, "agent:a", ErrRole},
	{"an agent speaks for a person", Job{Session: "s", ID: "x", Kind: SessionTurn, Arguments: `{"prompt":"yes, all of it"}`}, "agent:a", ErrRole},
	{"nobody mints", Job{Session: "s", ID: "x"}, "root", ErrRole},

	// sessions
	{"a session again", Session{ID: "s"}, "host:k", ErrWritten},
	{"a session without an id", Session{}, "host:k", ErrValue},
	{"an agent opens a session", Session{ID: "x"}, "agent:a", ErrRole},
	{"no such parent", Session{ID: "x", Parent: "nowhere"}, "host:k", ErrNoSession},
	{"session facts that are no object", Session{ID: "x", Facts: `""`}, "host:k", ErrValue},

	// registers
	{"a register that is none", Register{Session: "s", Name: "yolo", Value: "true"}, "human:a", ErrName},
	{"a mode of the kernel", Register{Name: StandingPolicy, Value: `"yolo"`}, "human:a", ErrName},
	{"standing grants of a session", Register{Session: "s", Name: StandingAutoAllow, Value: `{}`}, "human:a", ErrName},
	{"a register without a name", Register{Name: "host/", Value: `{}`}, "host:k", ErrName},
	{"an agent changes the mode", Register{Session: "s", Name: StandingPolicy, Value: `"yolo"`}, "agent:a", ErrRole},
	{"an agent grants", Register{Session: "s", Name: AutoAllow, Value: `{"bash":true}`}, "agent:a", ErrRole},
	{"an agent lets itself read", Register{Session: "s", Name: ReadAllowlist, Value: `["/etc"]`}, "agent:a", ErrRole},
	{"a person writes what is the host's", Register{Session: "s", Name: HostRegister("x"), Value: `1`}, "human:a", ErrRole},
	{"a register of no session", Register{Session: "nowhere", Name: AutoAllow, Value: `{}`}, "host:k", ErrNoSession},
	{"an overlay of no turn", Register{Session: "s", Name: Overlay("nowhere"), Value: `"auto"`}, "host:k", ErrNoJob},
	{"an overlay of a leaf", Register{Session: "s", Name: Overlay("ask"), Value: `"auto"`}, "host:k", ErrNoJob},
	{"a mode that is none", Register{Session: "s", Name: StandingPolicy, Value: `"plan"`}, "host:k", ErrValue},
	{"the alias of a mode", Register{Session: "s", Name: StandingPolicy, Value: `"always-approve"`}, "host:k", ErrValue},
	{"a grant that is none", Register{Session: "s", Name: AutoAllow, Value: `{"read":true}`}, "host:k", ErrValue},
	{"a grant that ends on no day", Register{Session: "s", Name: AutoAllow, Value: `{"bash":"2026-02-30T00:00:00Z"}`}, "host:k", ErrValue},
	{"a grant that ends at no hour", Register{Session: "s", Name: AutoAllow, Value: `{"bash":"2026-02-03T24:00:00Z"}`}, "host:k", ErrValue},
	{"a grant that ends in another spelling", Register{Session: "s", Name: AutoAllow, Value: `{"bash":"2026-02-03T10:00:00+01:00"}`}, "host:k", ErrValue},
	{"a grant that ends in parts of a second", Register{Session: "s", Name: AutoAllow, Value: `{"bash":"2026-02-03T10:00:00.5Z"}`}, "host:k", ErrValue},
	{"a grant that ended before all time", Register{Session: "s", Name: AutoAllow, Value: `{"bash":"1970-01-01T00:00:00Z"}`}, "host:k", ErrValue},
	{"a grant that ends at a number", Register{Session: "s", Name: AutoAllow, Value: `{"bash":1770112800}`}, "host:k", ErrValue},
	{"standing grants that are none", Register{Name: StandingAutoAllow, Value: `{"bash":"soon"}`}, "host:k", ErrValue},
	{"a grant as text", Register{Session: "s", Name: AutoAllow, Value: `{"bash":"true"}`}, "host:k", ErrValue},
	{"a relative key", Register{Session: "s", Name: ReadAllowlist, Value: `["x"]`}, "host:k", ErrValue},
	{"keys that are no list", Register{Session: "s", Name: ReadAllowlist, Value: `{"/a":"/a"}`}, "host:k", ErrValue},
	{"a cover that is no truth", Register{Name: AutoCoverDeny, Value: `0`}, "host:k", ErrValue},
	{"a register decided on an old view", Register{Session: "u", Name: AutoAllow, Value: `{}`, Seen: 1}, "host:k", ErrStale},
	{"an observer changes an unattended mode", Register{Session: "u", Name: StandingPolicy, Value: `"yolo"`}, "human:a", ErrAdmitted},
	{"the host changes an unattended mode", Register{Session: "u", Name: StandingPolicy, Value: `"yolo"`}, "host:k", ErrAdmitted},
}

// taken are rows that the engine takes, each for itself.
var taken = []struct {
	why string
	row Row
	by  string
}{
	{"the floor answers", Field{Session: "s", Job: "fresh", Name: PolicyResult, Value: `"block"`}, "host:k"},
	{"a person refuses before the floor", Field{Session: "s", Job: "fresh", Name: Approved, Value: False}, "human:a"},
	{"a person refuses a block", Field{Session: "s", Job: "block", Name: Approved, Value: False}, "human:a"},
	{"a person allows", Field{Session: "s", Job: "ask", Name: Approved, Value: True}, "human:a"},
	{"a person allows what was denied", Field{Session: "s", Job: "denied", Name: Approved, Value: True}, "human:a"},
	{"a no while the body runs", Field{Session: "s", Job: "started", Name: Approved, Value: False}, "human:a"},
	{"a late comment", Field{Session: "s", Job: "done", Name: ApprovalComment, Value: `""`}, "human:a"},
	{"a late vote", Field{Session: "s", Job: "true", Name: JudgeResult, Value: `"deny"`}, "host:k"},
	{"a vote after a no", Field{Session: "s", Job: "no", Name: JudgeResult, Value: `"allow"`}, "host:k"},
	{"another attempt", Field{Session: "s", Job: "failed", Name: "judgeFail/2", Value: `""`}, "host:k"},
	{"a license of a yes", Field{Session: "s", Job: "yes", Name: OrchestrationResult, Value: True, Seen: -1}, "host:k"},
	{"a refusal of a no", Field{Session: "s", Job: "no", Name: OrchestrationResult, Value: False, Seen: -1}, "host:k"},
	{"a refusal of a block", Field{Session: "s", Job: "block", Name: OrchestrationResult, Value: False, Seen: -1}, "host:k"},
	{"a refusal by the classifier", Field{Session: "s", Job: "denied", Name: OrchestrationResult, Value: False, Seen: -1}, "host:k"},
	{"communication without the floor", Field{Session: "s", Job: "comm", Name: OrchestrationResult, Value: True, Seen: -1}, "host:k"},
	{"cancelled before the body", Field{Session: "s", Job: "true", Name: Cancelled, Value: True}, "host:k"},
	{"cancelled sequence", Field{Session: "s", Job: "turn", Name: Cancelled, Value: True}, "host:k"},
	{"the other half", Field{Session: "s", Job: "torn", Name: Completed, Value: True}, "host:k"},
	{"an agent admits a call", Job{Session: "s", ID: "x", Parent: "turn", Name: "Bash", Arguments: `{}`}, "agent:a"},
	{"a job named as one of another session", Job{Session: "u", ID: "ask", Name: "Bash"}, "agent:a"},
	{"the host mints communication", Job{Session: "s", ID: "x", Kind: "AgentCallJob"}, "host:k"},
	{"a child session", Session{ID: "x", Seat: 1, Parent: "s", Facts: `{"client":"eval"}`}, "host:k"},
	{"a person opens a session", Session{ID: "x"}, "human:a"},
	{"a mode", Register{Session: "s", Name: StandingPolicy, Value: `"yolo"`}, "human:a"},
	{"an overlay", Register{Session: "s", Name: Overlay("turn"), Value: `"auto"`}, "human:a"},
	{"a default that inherits", Register{Name: DefaultPolicy, Value: `""`}, "human:a"},
	{"a grant that ends", Register{Session: "u", Name: AutoAllow, Value: `{"bash":"2026-02-28T23:59:59Z","mcp":false}`}, "human:a"},
	{"a grant", Register{Session: "u", Name: AutoAllow, Value: `{"bash":true,"mcp":false}`}, "human:a"},
	{"a key", Register{Session: "s", Name: ReadAllowlist, Value: `["/etc/hosts"]`}, "host:k"},
	{"what is the host's", Register{Session: "s", Name: HostRegister("rounds"), Value: `{"n":1}`}, "host:k"},
}

// spot is where a raw row says it stands; the zero value follows the head.
type spot struct{ rev, tx, hash string }

// insert is the SQL of a row past the store. A Seen of -1 is the head.
func insertSQL(verb, prefix string, row Row, by string, at spot) string {
	text := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	head := "(SELECT rev + %d FROM " + prefix + "head)"
	if at.rev == "" {
		at.rev = fmt.Sprintf(head, 1)
	}
	if at.tx == "" {
		at.tx = at.rev
	}
	if at.hash == "" {
		at.hash = "randomblob(32)"
	}
	seen := func(r Rev) string {
		if r < 0 {
			return fmt.Sprintf(head, 0)
		}
		return fmt.Sprint(int64(r))
	}
	tail := text(by) + ", 0, " + at.hash
	var table string
	var values []string
	switch r := row.(type) {
	case Session:
		table, values = "session", []string{text(r.ID), text(seatName(r.Seat)), text(r.Client), text(r.Workspace), text(r.Cwd), text(r.Home), text(r.Parent), text(r.Facts)}
	case Job:
		table, values = "job", []string{text(r.Session), text(r.ID), text(r.Parent), fmt.Sprint(r.Ord), text(r.Kind), text(r.Name), text(r.Arguments), text(r.Facts)}
	case Field:
		table, values = "field", []string{text(r.Session), text(r.Job), text(r.Name), text(r.Value), seen(r.Seen)}
	case Register:
		table, values = "register", []string{text(r.Session), text(r.Name), text(r.Value), seen(r.Seen)}
	}
	return fmt.Sprintf("%s INTO %s%s VALUES (%s, %s, %s, %s)", verb, prefix, table, at.rev, at.tx, strings.Join(values, ", "), tail)
}

var verbs = []string{"INSERT", "INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE", "INSERT OR FAIL", "INSERT OR ROLLBACK"}

// mustRefuse runs SQL that must be refused, and looks that nothing was added.
// A nil want is any error. That nothing was changed shows in the end, by
// [mustVerify].
func mustRefuse(t *testing.T, s *Store, conn *sql.Conn, text string, want error) {
	t.Helper()
	before, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.ExecContext(context.Background(), text)
	if err == nil {
		t.Errorf("%s: was taken, want %v", text, want)
	} else if got, _ := translate(err); want != nil && !errors.Is(got, want) {
		t.Errorf("%s: got %v, want %v", text, got, want)
	}
	after, err := s.Head(t.Context())
	if err != nil || after != before {
		t.Fatalf("%s: the document was at %v and is at %v, %v", text, before, after, err)
	}
}

func mustVerify(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestSideDoorInserts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	s := states(t, path)
	for d, door := range doors {
		t.Run(door.why, func(t *testing.T) {
			conn := openDoor(t, path, d)
			for _, test := range refused {
				t.Run(test.why, func(t *testing.T) {
					want := test.want
					if f, ok := test.row.(Field); ok && door.why == "temp-trigger" && f.Name == Approved && f.Value == False {
						want = nil // it meets the row of the trigger first
					}
					for _, verb := range verbs {
						mustRefuse(t, s, conn, insertSQL(verb, door.prefix, test.row, test.by, spot{}), want)
					}
				})
			}
			mustVerify(t, s)
		})
	}
}

func TestSideDoorTakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	s := states(t, path)
	for d, door := range doors[:4] {
		conn := openDoor(t, path, d)
		for _, test := range taken {
			if err := try(t, conn, insertSQL("INSERT", door.prefix, test.row, test.by, spot{})); err != nil {
				t.Errorf("%s: %s: %v", door.why, test.why, err)
			}
		}
	}
	mustVerify(t, s)
}

// try says what comes of a statement, and undoes it.
func try(t *testing.T, conn *sql.Conn, text string) error {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), "SAVEPOINT before"); err != nil {
		t.Fatal(err)
	}
	_, failed := conn.ExecContext(t.Context(), text)
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK TO before; RELEASE before"); err != nil {
		t.Fatal(err)
	}
	err, _ := translate(failed)
	return err
}

// The same rows through the store give the same errors.
func TestApplyRefuses(t *testing.T) {
	s := states(t, filepath.Join(t.TempDir(), "document"))
	for _, test := range refused {
		t.Run(test.why, func(t *testing.T) {
			head, err := s.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			w, err := ParseWriter(test.by)
			if err == nil {
				var seen Rev
				switch r := test.row.(type) {
				case Field:
					seen = r.Seen
				case Register:
					seen = r.Seen
				}
				if seen < 0 {
					seen = head.Rev
				}
				_, err = s.Apply(t.Context(), Tx{Writer: w, Seen: seen, Writes: []Row{test.row}})
			}
			want := test.want
			if f, ok := test.row.(Field); ok && (f.Name == Completed || f.Name == OutcomeJSON) && errors.Is(err, ErrApart) {
				want = ErrApart // halves do not reach the engine
			}
			if !errors.Is(err, want) {
				t.Errorf("%s by %s: got %v, want %v", test.row, test.by, err, want)
			}
			if after, err := s.Head(t.Context()); err != nil || after != head {
				t.Errorf("the document was at %v and is at %v, %v", head, after, err)
			}
		})
	}
}

// Rows stand in one order, without gaps, and nothing changes or goes.
func TestSideDoorStatements(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	s := states(t, path)
	fine := Field{Session: "s", Job: "ask", Name: Approved, Value: "true"}
	var texts []struct {
		text string
		want error
	}
	add := func(want error, format ...string) {
		for _, text := range format {
			texts = append(texts, struct {
				text string
				want error
			}{text, want})
		}
	}
	// DOC stands for the prefix.
	for _, verb := range verbs {
		for _, at := range []spot{
			{rev: "1"}, {rev: "(SELECT rev FROM DOC head)"}, {rev: "(SELECT rev + 2 FROM DOC head)"}, {rev: "0"}, {rev: "-1"}, {rev: "NULL"},
			{tx: "1"}, {tx: "0"}, {tx: "(SELECT rev + 2 FROM DOC head)"}, {hash: "x''"}, {hash: "randomblob(31)"}, {hash: "zeroblob(33)"},
		} {
			add(ErrOrder, insertSQL(verb, "DOC ", fine, "human:a", at))
			add(ErrOrder, insertSQL(verb, "DOC ", Job{Session: "s", ID: "x"}, "host:k", at))
			add(ErrOrder, insertSQL(verb, "DOC ", Session{ID: "x"}, "host:k", at))
			add(ErrOrder, insertSQL(verb, "DOC ", Register{Session: "s", Name: StandingPolicy, Value: `"yolo"`}, "human:a", at))
		}
		add(ErrOrder, insertSQL(verb, "DOC ", Field{Session: "s", Job: "ask", Name: JudgeResult, Value: `"allow"`, Seen: 1 << 40}, "host:k", spot{}))
		add(ErrOrder, insertSQL(verb, "DOC ", fine, "human:a", spot{hash: "NULL"}))
	}
	add(ErrWritten,
		insertSQL("INSERT", "DOC ", Field{Session: "s", Job: "no", Name: Approved, Value: "true"}, "human:a", spot{})+" ON CONFLICT DO UPDATE SET value = 'true'",
		insertSQL("INSERT", "DOC ", Field{Session: "s", Job: "no", Name: Approved, Value: "true"}, "human:a", spot{})+" ON CONFLICT(session, job, name) DO UPDATE SET value = excluded.value",
		insertSQL("INSERT", "DOC ", Field{Session: "s", Job: "no", Name: Approved, Value: "true"}, "human:a", spot{})+" ON CONFLICT DO NOTHING",
		`INSERT INTO DOC field SELECT (SELECT rev + 1 FROM DOC head), (SELECT rev + 1 FROM DOC head), session, job, name, 'true', seen, writer, at, hash
			FROM DOC field WHERE job = 'no' AND name = 'approved'`,
	)
	for _, table := range []string{"session", "job", "field", "register", "head"} {
		add(ErrImmutable, "DELETE FROM DOC "+table, "UPDATE DOC "+table+" SET hash = randomblob(32)", "UPDATE DOC "+table+" SET rev = rev + 1",
			"UPDATE OR REPLACE DOC "+table+" SET rev = 1", "UPDATE OR IGNORE DOC "+table+" SET tx = 1")
		if table != "head" {
			add(ErrImmutable, "DELETE FROM DOC "+table+" WHERE rev = (SELECT max(rev) FROM DOC "+table+")",
				"UPDATE DOC "+table+" SET writer = 'human:a'", "UPDATE OR REPLACE DOC "+table+" SET writer = 'human:a'")
		}
	}
	add(ErrImmutable, "UPDATE DOC field SET value = 'true' WHERE name = 'approved'",
		"UPDATE DOC field SET name = 'approved', value = 'true', writer = 'human:a' WHERE job = 'ask'",
		"UPDATE DOC session SET seat = 'attended'", "UPDATE DOC job SET kind = 'AgentMessageJob'",
		"UPDATE DOC head SET rev = rev", "UPDATE DOC head SET one = 2", "UPDATE DOC head SET rev = 0, tx = 0, hash = zeroblob(32)",
		"INSERT INTO DOC head VALUES (2, 0, 0, zeroblob(32))", "REPLACE INTO DOC head VALUES (1, 0, 0, zeroblob(32))",
		"INSERT OR IGNORE INTO DOC head VALUES (1, 0, 0, zeroblob(32))",
		"INSERT INTO DOC head VALUES (1, 0, 0, zeroblob(32)) ON CONFLICT DO UPDATE SET rev = 0",
		// the list of what is unsettled: nothing leaves it that is not completed, and nothing comes that is
		"DELETE FROM DOC unsettled", "DELETE FROM DOC unsettled WHERE job = 'ask'", "DELETE FROM DOC unsettled WHERE job = 'stopped'",
		"UPDATE DOC unsettled SET job = 'done'", "UPDATE OR REPLACE DOC unsettled SET job = 'yes' WHERE job = 'ask'",
		"INSERT INTO DOC unsettled VALUES ('s', 'done')", "INSERT INTO DOC unsettled VALUES ('s', 'turn')", "REPLACE INTO DOC unsettled VALUES ('s', 'closed')",
		"INSERT INTO DOC unsettled VALUES ('s', 'nothing')", "INSERT INTO DOC unsettled VALUES ('s', 'ask') ON CONFLICT DO UPDATE SET job = 'done'")
	for d, door := range doors {
		t.Run(door.why, func(t *testing.T) {
			conn := openDoor(t, path, d)
			for _, test := range texts {
				mustRefuse(t, s, conn, strings.ReplaceAll(test.text, "DOC ", door.prefix), test.want)
			}
			mustVerify(t, s)
		})
	}
}

// A trigger of somebody's own connection may write beside a row. Then neither
// that row nor the one beside it gets in.
func TestSideDoorOfATemporaryTrigger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	s := states(t, path)
	conn := openDoor(t, path, 4)
	for _, verb := range verbs {
		mustRefuse(t, s, conn, insertSQL(verb, "", Field{Session: "s", Job: "ask", Name: Approved, Value: "false"}, "human:a", spot{}), nil)
	}
	mustVerify(t, s)
}

// Half of a statement is none of it.
func TestSideDoorOfManyRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	s := states(t, path)
	conn := openDoor(t, path, 0)
	row := func(rev int, job, value string) string {
		return fmt.Sprintf("((SELECT rev + %d FROM head), (SELECT rev + %d FROM head), 's', '%s', 'approved', '%s', 0, 'human:a', 0, randomblob(32))", rev, rev, job, value)
	}
	// Both are computed before the first is written, so they are told apart by what they add.
	mustRefuse(t, s, conn, "INSERT INTO field VALUES "+row(1, "ask", "true")+", "+row(1, "block", "true"), nil)
	mustRefuse(t, s, conn, "INSERT INTO field VALUES "+row(1, "block", "true")+", "+row(2, "ask", "true"), ErrBlocked)
	mustVerify(t, s)
}

// An outcome that stands there without completed can be settled: whoever
// finds it torn writes the rest.
func TestTornOutcomeIsSettled(t *testing.T) {
	s := states(t, filepath.Join(t.TempDir(), "document"))
	must(t, s, Writer{Role: Host, Name: "k"}, 0, Field{Session: "s", Job: "torn", Name: Completed, Value: True})
}
