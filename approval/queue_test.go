package approval_test

import (
	"fmt"
	"testing"

	"assent/approval"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestQueueIsTheTreeInOrder holds the queue against the leaves as they were
// planted.
func TestQueueIsTheTreeInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		session := anySession(t)
		n := 0
		var plant func(depth int) *approval.Sequence
		plant = func(depth int) *approval.Sequence {
			q := &approval.Sequence{ID: fmt.Sprintf("sequence %d", depth)}
			for range rapid.IntRange(0, 4).Draw(t, "children") {
				if depth < 4 && rapid.IntRange(0, 3).Draw(t, "nested") == 0 {
					q.Children = append(q.Children, plant(depth+1))
					continue
				}
				c := rapid.SampledFrom(calls).Draw(t, "call")
				n++
				leaf := approval.Leaf{
					ID: fmt.Sprint(n), Kind: c.kind, Name: c.name, Arguments: []byte(c.arguments), Paths: c.paths,
					PolicyResult: approval.PolicyResult(rapid.IntRange(0, 4).Draw(t, "policyResult")),
					Approved:     approval.Answer(rapid.IntRange(0, 2).Draw(t, "approved")),
				}
				if approval.NeedsHuman(leaf, session) {
					want = append(want, leaf.ID)
				}
				q.Children = append(q.Children, &leaf)
			}
			return q
		}
		turn := plant(0)
		var got []string
		for _, leaf := range turn.ApprovalQueue(session) {
			got = append(got, leaf.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("queue (-want +got)\n%s", diff)
		}
		head := turn.ApprovalQueueHead(session)
		switch {
		case head == nil && len(want) > 0:
			t.Fatalf("no head, want %s", want[0])
		case head != nil && (len(want) == 0 || head.ID != want[0]):
			t.Fatalf("head %s of queue %v", head.ID, want)
		}
		planted := 0
		for range turn.Leaves() {
			planted++
		}
		if planted != n {
			t.Fatalf("%d leaves walked, %d planted", planted, n)
		}
	})
}

// TestQueueFollowsTheMode holds that a change of mode answers every waiting
// leaf anew (law §6).
func TestQueueFollowsTheMode(t *testing.T) {
	turn := &approval.Sequence{Children: []approval.Job{
		&approval.Leaf{ID: "allowed", Name: "Bash", PolicyResult: approval.Allow},
		&approval.Sequence{Children: []approval.Job{
			&approval.Leaf{ID: "bash", Name: "Bash", PolicyResult: approval.Ask},
			&approval.Leaf{ID: "write", Name: "Write", PolicyResult: approval.Ask},
		}},
		&approval.Leaf{ID: "denied", Name: "WebFetch", PolicyResult: approval.Deny},
		&approval.Leaf{ID: "blocked", Name: "Bash", PolicyResult: approval.Block},
		&approval.Leaf{ID: "new", Name: "Bash"},
	}}
	for mode, want := range map[approval.Mode][]string{
		approval.Manual: {"bash", "write", "denied"},
		approval.Auto:   {"write", "denied"},
		approval.Yolo:   nil,
	} {
		var got []string
		for _, leaf := range turn.ApprovalQueue(approval.Session{CurrentPolicy: mode}) {
			got = append(got, leaf.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got)\n%s", mode, diff)
		}
	}
}
