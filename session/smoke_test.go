package session_test

import (
	"testing"

	"assent/approval"
	"assent/session"
)

func TestFromFloorToBody(t *testing.T) {
	m, out := session.Open(session.Facts{Workspace: "/w"}, session.Rows{Upto: 2, Jobs: []session.Job{{ID: "a", Name: "Bash", Arguments: `{"command":"ls"}`}}})
	if len(out.Start) != 1 || out.Start[0].Do != session.Floor {
		t.Fatalf("opened: %+v", out)
	}
	out = m.Step(session.FloorDone{Job: "a", Result: approval.Allow})
	if len(out.Save) != 1 || len(out.Start) != 0 {
		t.Fatalf("floor: %+v", out)
	}
	out = m.Step(session.Saved{Save: out.Save[0].ID, Rev: 5})
	if len(out.Start) != 1 || out.Start[0].Do != session.Body {
		t.Fatalf("saved: %+v", out)
	}
	out = m.Step(session.BodyDone{Job: "a", Outcome: `{"ok":true}`})
	out = m.Step(session.Saved{Save: out.Save[0].ID, Rev: 7})
	if len(out.Publish) != 1 || out.Publish[0].News != session.Settled || !m.Idle() {
		t.Fatalf("settled: %+v", out)
	}
}
