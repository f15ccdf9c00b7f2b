package approval_test

import (
	"encoding/json"
	"errors"
	"testing"

	"assent/approval"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestResultOrder(t *testing.T) {
	order := []approval.PolicyResult{approval.None, approval.Allow, approval.Ask, approval.Deny, approval.Block}
	for i, a := range order {
		for j, b := range order {
			if got := a.Stricter(b); got != (i > j) {
				t.Errorf("%v.Stricter(%v) = %v", a, b, got)
			}
			if got, want := a.Join(b), order[max(i, j)]; got != want {
				t.Errorf("%v.Join(%v) = %v, want %v", a, b, got, want)
			}
		}
	}
}

func TestNamesOnTheWire(t *testing.T) {
	type votes struct {
		P approval.PolicyResult
		J approval.JudgeResult
		A approval.Answer
		O approval.Orchestration
	}
	for _, row := range []struct {
		name, wire string
		votes      votes
	}{
		{"nothing written", `{"P":null,"J":null,"A":null,"O":null}`, votes{}},
		{"allow and true", `{"P":"allow","J":"allow","A":true,"O":true}`, votes{approval.Allow, approval.JudgeAllow, approval.Yes, approval.Licensed}},
		{"deny and false", `{"P":"deny","J":"deny","A":false,"O":false}`, votes{approval.Deny, approval.JudgeDeny, approval.No, approval.Refused}},
		{"ask", `{"P":"ask","J":null,"A":null,"O":null}`, votes{P: approval.Ask}},
		{"block", `{"P":"block","J":null,"A":null,"O":null}`, votes{P: approval.Block}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got votes
			if err := json.Unmarshal([]byte(row.wire), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.votes, got); diff != "" {
				t.Errorf("read (-want +got)\n%s", diff)
			}
			wire, err := json.Marshal(row.votes)
			if err != nil || string(wire) != row.wire {
				t.Errorf("wrote %s, %v; want %s", wire, err, row.wire)
			}
		})
	}
	for _, bad := range []string{`{"P":"Allow"}`, `{"P":""}`, `{"P":"none"}`, `{"P":true}`, `{"P":1}`, `{"J":"ask"}`, `{"J":"fail"}`, `{"A":"true"}`, `{"A":1}`, `{"O":"false"}`} {
		got := votes{P: approval.Block, J: approval.JudgeDeny, A: approval.No, O: approval.Refused}
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s was read as %+v", bad, got)
		} else if (got != votes{P: approval.Block, J: approval.JudgeDeny, A: approval.No, O: approval.Refused}) {
			t.Errorf("%s was refused and still changed the vote to %+v", bad, got)
		}
	}
	if _, err := json.Marshal(approval.PolicyResult(9)); err == nil {
		t.Error("a result without a name was written")
	}
}

// TestNoReverseEdge writes at random and holds that no field that has its
// value ever changes, but for the message of a failed attempt while there is
// no vote (law §2).
func TestNoReverseEdge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var leaf approval.Leaf
		for range rapid.IntRange(1, 30).Draw(t, "writes") {
			before := leaf
			write, err := anyWrite(t, leaf)
			if err != nil {
				if diff := cmp.Diff(before, write); diff != "" {
					t.Fatalf("a refused write (%v) changed the leaf (-before +after)\n%s", err, diff)
				}
				continue
			}
			leaf = write
			for _, field := range []struct {
				name          string
				before, after any
				null          bool
			}{
				{"policyResult", before.PolicyResult, leaf.PolicyResult, before.PolicyResult == approval.None},
				{"policyMessage", before.PolicyMessage, leaf.PolicyMessage, before.PolicyResult == approval.None},
				{"judgeResult", before.JudgeResult, leaf.JudgeResult, before.JudgeResult == approval.NoVote},
				{"judgeFailMessage", before.JudgeFailMessage, leaf.JudgeFailMessage, before.JudgeResult == approval.NoVote && !before.Completed},
				{"approved", before.Approved, leaf.Approved, before.Approved == approval.Unanswered},
				{"approvalComment", before.ApprovalComment, leaf.ApprovalComment, !before.ApprovalComment.Written},
				{"orchestrationResult", before.OrchestrationResult, leaf.OrchestrationResult, !before.Orchestrated()},
				{"cancelled", before.Cancelled, leaf.Cancelled, !before.Cancelled},
				{"completed", before.Completed, leaf.Completed, !before.Completed},
				{"outcomeJson", before.OutcomeJSON, leaf.OutcomeJSON, !before.OutcomeJSON.Written},
			} {
				if field.before != field.after && !field.null {
					t.Fatalf("%s went from %v to %v", field.name, field.before, field.after)
				}
			}
			if before.JudgeFailMessage.Written && !leaf.JudgeFailMessage.Written {
				t.Fatal("a failed attempt was forgotten")
			}
			if leaf.Approved == approval.Yes && (leaf.PolicyResult == approval.None || leaf.PolicyResult == approval.Block) {
				t.Fatalf("a person's true stands on floor %v", leaf.PolicyResult)
			}
			if leaf.Cancelled && !before.Cancelled && (leaf.Approved != before.Approved || leaf.OrchestrationResult != before.OrchestrationResult) {
				t.Fatal("cancel answered the leaf")
			}
		}
	})
}

// TestLiftedBlock holds that no sequence of writes gives a blocked leaf an
// allow, in any mode (law §5, ruling 2).
func TestLiftedBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		leaf, err := approval.Leaf{Name: anyCall(t).name}.WritePolicy(approval.Block, approval.Text{})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 20).Draw(t, "writes") {
			leaf, _ = anyWrite(t, leaf)
		}
		session := anySession(t)
		if license, reason := approval.LicenseDecision(leaf, session); license != approval.DenySide {
			t.Fatalf("%+v in %+v: %v because %v", leaf, session, license, reason)
		}
	})
}

func anyWrite(t *rapid.T, leaf approval.Leaf) (approval.Leaf, error) {
	switch rapid.IntRange(0, 7).Draw(t, "field") {
	case 0:
		return leaf.WritePolicy(approval.PolicyResult(rapid.IntRange(0, 4).Draw(t, "policyResult")), anyText(t))
	case 1:
		return leaf.WriteJudge(approval.JudgeResult(rapid.IntRange(0, 2).Draw(t, "judgeResult")))
	case 2:
		return leaf.WriteJudgeFail(rapid.String().Draw(t, "judgeFailMessage"))
	case 3:
		return leaf.WriteApproved(rapid.Bool().Draw(t, "approved"))
	case 4:
		return leaf.WriteComment(rapid.String().Draw(t, "approvalComment"))
	case 5:
		return leaf.WriteOrchestration(rapid.Bool().Draw(t, "orchestrationResult"))
	case 6:
		return leaf.WriteCancelled()
	}
	return leaf.WriteCompleted("{}")
}

func anyText(t *rapid.T) approval.Text {
	if rapid.Bool().Draw(t, "null") {
		return approval.Text{}
	}
	return approval.Written(rapid.String().Draw(t, "text"))
}

func anyCall(t *rapid.T) call {
	return rapid.SampledFrom(calls[:len(calls)-1]).Draw(t, "call")
}

func anySession(t *rapid.T) approval.Session {
	grants := rapid.Custom(func(t *rapid.T) approval.Grants {
		return approval.Grants{Write: rapid.Bool().Draw(t, "write"), Bash: rapid.Bool().Draw(t, "bash"), MCP: rapid.Bool().Draw(t, "mcp")}
	})
	return approval.Session{
		CurrentPolicy:     approval.Mode(rapid.IntRange(0, 2).Draw(t, "mode")),
		AutoAllow:         grants.Draw(t, "overlay"),
		StandingAutoAllow: grants.Draw(t, "standing"),
		AutoCoverDeny:     approval.CoverDeny(rapid.IntRange(0, 1).Draw(t, "coverDeny")),
		Seat:              approval.Seat(rapid.IntRange(0, 1).Draw(t, "seat")),
		Workspace:         "/home/u/work",
		ReadAllowlist:     rapid.SliceOfN(rapid.SampledFrom([]string{"/srv/listed", "/ext", "/", ".", "/ext/a"}), 0, 3).Draw(t, "allowlist"),
	}
}

func TestRefusedWrites(t *testing.T) {
	asked := approval.Leaf{PolicyResult: approval.Ask}
	for _, row := range []struct {
		name  string
		write func() (approval.Leaf, error)
		want  error
	}{
		{"true before the floor", func() (approval.Leaf, error) { return approval.Leaf{}.WriteApproved(true) }, approval.ErrFloorFirst},
		{"true on a block", func() (approval.Leaf, error) { return approval.Leaf{PolicyResult: approval.Block}.WriteApproved(true) }, approval.ErrBlocked},
		{"false before the floor", func() (approval.Leaf, error) { return approval.Leaf{}.WriteApproved(false) }, nil},
		{"false on a block", func() (approval.Leaf, error) { return approval.Leaf{PolicyResult: approval.Block}.WriteApproved(false) }, nil},
		{"false on a running body", func() (approval.Leaf, error) {
			return approval.Leaf{PolicyResult: approval.Allow, OrchestrationResult: approval.Licensed}.WriteApproved(false)
		}, nil},
		{"second answer", func() (approval.Leaf, error) {
			return approval.Leaf{PolicyResult: approval.Ask, Approved: approval.No}.WriteApproved(true)
		}, approval.ErrWritten},
		{"second floor result", func() (approval.Leaf, error) { return asked.WritePolicy(approval.Allow, approval.Text{}) }, approval.ErrWritten},
		{"null floor result", func() (approval.Leaf, error) { return approval.Leaf{}.WritePolicy(approval.None, approval.Text{}) }, approval.ErrEmpty},
		{"null vote", func() (approval.Leaf, error) { return asked.WriteJudge(approval.NoVote) }, approval.ErrEmpty},
		{"failed attempt after the vote", func() (approval.Leaf, error) {
			return approval.Leaf{JudgeResult: approval.JudgeAllow}.WriteJudgeFail("late")
		}, approval.ErrWritten},
		{"guard of a cancelled leaf", func() (approval.Leaf, error) { return approval.Leaf{Cancelled: true}.WriteOrchestration(true) }, approval.ErrCancelled},
		{"the first vote", func() (approval.Leaf, error) { return asked.WriteJudge(approval.JudgeDeny) }, nil},
		{"a vote that is late", func() (approval.Leaf, error) {
			return approval.Leaf{OrchestrationResult: approval.Licensed}.WriteJudge(approval.JudgeDeny)
		}, nil},
		{"second vote", func() (approval.Leaf, error) {
			return approval.Leaf{JudgeResult: approval.JudgeDeny}.WriteJudge(approval.JudgeAllow)
		}, approval.ErrWritten},
		{"settling", func() (approval.Leaf, error) { return asked.WriteCompleted(`{}`) }, nil},
		{"settling twice", func() (approval.Leaf, error) { return approval.Leaf{Completed: true}.WriteCompleted(`{}`) }, approval.ErrCompleted},
		{"cancelling twice", func() (approval.Leaf, error) { return approval.Leaf{Cancelled: true}.WriteCancelled() }, approval.ErrWritten},
		{"a second return", func() (approval.Leaf, error) {
			return approval.Leaf{OrchestrationResult: approval.Refused}.WriteOrchestration(true)
		}, approval.ErrWritten},
		{"host after completed", func() (approval.Leaf, error) { return approval.Leaf{Completed: true}.WriteCancelled() }, approval.ErrCompleted},
		{"second comment", func() (approval.Leaf, error) {
			return approval.Leaf{ApprovalComment: approval.Written("")}.WriteComment("x")
		}, approval.ErrWritten},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := row.write(); !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
		})
	}
}

// A write that is taken changes its field and no other (law §2).
func TestTakenWrites(t *testing.T) {
	for _, row := range []struct {
		name       string
		leaf, want approval.Leaf
		write      func(approval.Leaf) (approval.Leaf, error)
	}{
		{"policyResult", approval.Leaf{}, approval.Leaf{PolicyResult: approval.Deny, PolicyMessage: approval.Written("why")},
			func(l approval.Leaf) (approval.Leaf, error) {
				return l.WritePolicy(approval.Deny, approval.Written("why"))
			}},
		{"judgeResult", approval.Leaf{JudgeFailMessage: approval.Written("x")}, approval.Leaf{JudgeFailMessage: approval.Written("x"), JudgeResult: approval.JudgeAllow},
			func(l approval.Leaf) (approval.Leaf, error) { return l.WriteJudge(approval.JudgeAllow) }},
		{"judgeFailMessage, replaced", approval.Leaf{JudgeFailMessage: approval.Written("x")}, approval.Leaf{JudgeFailMessage: approval.Written("y")},
			func(l approval.Leaf) (approval.Leaf, error) { return l.WriteJudgeFail("y") }},
		{"approved, after the host's last write", approval.Leaf{PolicyResult: approval.Ask, Completed: true}, approval.Leaf{PolicyResult: approval.Ask, Completed: true, Approved: approval.Yes},
			func(l approval.Leaf) (approval.Leaf, error) { return l.WriteApproved(true) }},
		{"approvalComment", approval.Leaf{}, approval.Leaf{ApprovalComment: approval.Written("")},
			func(l approval.Leaf) (approval.Leaf, error) { return l.WriteComment("") }},
		{"orchestrationResult", approval.Leaf{PolicyResult: approval.Block}, approval.Leaf{PolicyResult: approval.Block, OrchestrationResult: approval.Refused},
			func(l approval.Leaf) (approval.Leaf, error) { return l.WriteOrchestration(false) }},
		{"cancelled answers nothing", approval.Leaf{PolicyResult: approval.Ask}, approval.Leaf{PolicyResult: approval.Ask, Cancelled: true},
			func(l approval.Leaf) (approval.Leaf, error) { return l.WriteCancelled() }},
		{"completed, with its outcome", approval.Leaf{Cancelled: true}, approval.Leaf{Cancelled: true, Completed: true, OutcomeJSON: approval.Written("{}")},
			func(l approval.Leaf) (approval.Leaf, error) { return l.WriteCompleted("{}") }},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := row.write(row.leaf)
			if diff := cmp.Diff(row.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// A value outside its list has the name of the zero value, which is the safe
// one, and no place on the wire.
func TestValuesOutsideTheirLists(t *testing.T) {
	for over := range 250 {
		n := uint8(over) + 6
		for _, row := range []struct{ got, want string }{
			{approval.Cluster(n).String(), "mcp"},
			{approval.Mode(n).String(), "manual"},
			{approval.License(n).String(), "wait"},
			{approval.Kind(n + 5).String(), ""},
			{approval.Reason(n + 5).String(), approval.NothingDecides.String()},
			{approval.Reason(n + 5).Name(), ""},
			{approval.PolicyResult(n).String(), "none"},
			{approval.Answer(n).String(), "none"},
		} {
			if n+5 > n && row.got != row.want {
				t.Errorf("%d: got %q, want %q", n, row.got, row.want)
			}
		}
		if b, err := approval.PolicyResult(n).MarshalJSON(); err == nil {
			t.Errorf("result %d is %s on the wire", n, b)
		}
	}
	for _, list := range []struct {
		name string
		got  string
		want string
	}{
		{"the first mode after the last", approval.Mode(3).String(), "manual"},
		{"the first license after the last", approval.License(3).String(), "wait"},
		{"the first kind after the last", approval.Kind(11).String(), ""},
		{"the first reason after the last", approval.Reason(11).Name() + approval.Reason(11).String(), approval.NothingDecides.String()},
	} {
		if list.got != list.want {
			t.Errorf("%s: got %q, want %q", list.name, list.got, list.want)
		}
	}
}
