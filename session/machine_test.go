package session

import (
	"slices"
	"testing"

	"assent/approval"

	"github.com/google/go-cmp/cmp"
)

// A change of the mode writes the standing one and the overlay of the live
// head, where there is one (law §6).
func TestAssign(t *testing.T) {
	standing := Register{Name: StandingPolicy, Value: `"yolo"`}
	for _, test := range []struct {
		why  string
		jobs []Job
		want []Register
	}{
		{"no turn", []Job{{ID: "p", Kind: ProgrammaticJob}}, []Register{standing}},
		{"a turn", []Job{{ID: "t", Kind: SessionTurn}}, []Register{standing, {Name: "overlay/t", Value: `"yolo"`}}},
		{"the last in the tree", []Job{{ID: "t", Kind: SessionTurn, Ord: 2}, {ID: "u", Kind: SessionTurn, Ord: 1}},
			[]Register{standing, {Name: "overlay/t", Value: `"yolo"`}}},
		{"the last that came, side by side", []Job{{ID: "t", Kind: SessionTurn}, {ID: "u", Kind: SessionTurn}},
			[]Register{standing, {Name: "overlay/u", Value: `"yolo"`}}},
		{"none under a program", []Job{{ID: "p", Kind: ProgrammaticJob}, {ID: "t", Parent: "p", Kind: SessionTurn}}, []Register{standing}},
	} {
		t.Run(test.why, func(t *testing.T) {
			m, _ := Open(Facts{}, Rows{Upto: 1, Jobs: test.jobs})
			if diff := cmp.Diff(test.want, m.Assign(approval.Yolo)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A leaf shows the message of its latest failed attempt (law §2).
func TestTheLatestFailureIsShown(t *testing.T) {
	m, _ := Open(Facts{}, Rows{Upto: 1, Jobs: []Job{{ID: "a", Name: "Bash"}}, Fields: []Field{
		{"a", PolicyResult, `"ask"`}, {"a", JudgeFail + "1", `"first"`}, {"a", JudgeFail + "2", `"second"`},
	}})
	leaf, _ := m.Leaf("a")
	if leaf.JudgeFailMessage != approval.Written("second") {
		t.Errorf("got %+v", leaf.JudgeFailMessage)
	}
	m.Step(Committed{Rows{Upto: 2, Fields: []Field{{"a", JudgeFail + "10", `""`}}}})
	if leaf, _ = m.Leaf("a"); leaf.JudgeFailMessage != approval.Written("") {
		t.Errorf("got %+v", leaf.JudgeFailMessage)
	}
}

// What a host is shown of a machine is its own.
func TestViewIsACopy(t *testing.T) {
	m, _ := Open(Facts{Workspace: "/w", Home: "/home/u", Volumes: []string{"/vol"}}, Rows{Upto: 3, Registers: []Register{
		{Name: StandingPolicy, Value: `"auto"`, Rev: 1}, {Name: ReadAllowlist, Value: `["/srv/data","relative"]`, Rev: 2},
		{Kernel: true, Name: AutoCoverDeny, Value: `false`, Rev: 3},
	}})
	want := approval.Session{
		CurrentPolicy: approval.Auto, AutoCoverDeny: approval.Classify, Seat: approval.Attended,
		Workspace: "/w", Home: "/home/u", Volumes: []string{"/vol"}, ReadAllowlist: []string{"/srv/data", "relative"},
	}
	if diff := cmp.Diff(want, m.View()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	m.View().ReadAllowlist[0] = "/"
	if !slices.Contains(m.View().ReadAllowlist, "/srv/data") {
		t.Error("a view changes the machine")
	}
}

// A machine is idle when nothing is left to do, and not before.
func TestIdle(t *testing.T) {
	l := newLife(t)
	idle := func(want bool, when string) {
		t.Helper()
		if l.m.Idle() != want {
			t.Errorf("%s: idle %v", when, !want)
		}
	}
	idle(true, "empty")
	l.bash("a")
	idle(false, "a leaf without its floor")
	l.floors(FloorDone{Job: "a", Result: approval.Ask})
	idle(false, "a leaf that waits for a person")
	if err := l.doc.person(nil, Field{"a", Approved, "false"}); err != nil {
		t.Fatal(err)
	}
	l.deliver(l.doc.rev)
	idle(false, "a refusal on its way")
	l.saveAll()
	idle(true, "settled")
	if err := l.doc.mint(Job{ID: "t", Kind: SessionTurn}); err != nil {
		t.Fatal(err)
	}
	l.deliver(l.doc.rev)
	idle(true, "a sequence is whoever runs it's to settle")
	l.step(CancelAsked{Job: "t"})
	idle(false, "its cancel on its way")
	l.doc.full = true
	if _, err := l.apply(l.saves[0].ID, atOnce); err == nil {
		t.Fatal("the disk is not full")
	}
	idle(false, "its cancel to be tried again")
	l.doc.full = false
	l.step(Retry{})
	l.saveAll()
	idle(true, "cancelled")
}

// The floor always answers: no answer is a block (law ruling 7).
func TestAFloorWithoutAnAnswer(t *testing.T) {
	for _, result := range []approval.PolicyResult{approval.None, 99} {
		l := newLife(t)
		l.bash("a")
		l.floors(FloorDone{Job: "a", Result: result, Message: approval.Written("fine")})
		if got := l.story("a"); !l.doc.is("a", PolicyResult, `"block"`) || !l.doc.is("a", PolicyMessage, `"the floor gave no answer"`) || !l.doc.has("a", Completed) {
			t.Errorf("%d: %s", result, got)
		}
	}
}
