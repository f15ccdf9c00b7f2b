package session

import (
	"strings"
	"testing"

	"assent/approval"
)

// Rows that no document of ours holds. Whatever they say, doubt is never an
// allow: what cannot be read is the strictest of its kind.
func TestForeignRows(t *testing.T) {
	bash := Job{ID: "a", Name: "Bash"}
	read := Job{ID: "a", Name: "Read"}
	field := func(name, value string) Field { return Field{Job: "a", Name: name, Value: value} }
	mode := func(name string) Register { return Register{Name: StandingPolicy, Value: name} }
	all := `{"write":true,"bash":true,"mcp":true}`
	ask, deny := field(PolicyResult, `"ask"`), field(PolicyResult, `"deny"`)
	plain := field(Explanation, `{"hatch":false,"ruled":false}`)
	outside := field(Paths, `["/srv/data/x"]`)
	for _, test := range []struct {
		why       string
		job       Job
		fields    []Field
		registers []Register
		want      string // a part of what follows
	}{
		{"a result nobody knows", bash, []Field{field(PolicyResult, `"maybe"`)}, nil, "floor-blocked"},
		{"a result that is null", bash, []Field{field(PolicyResult, `null`)}, nil, "floor-blocked"},
		{"a result that is not JSON", bash, []Field{field(PolicyResult, `allow`)}, nil, "floor-blocked"},
		{"a second result", bash, []Field{deny, field(PolicyResult, `"allow"`)}, nil, "asked a"},
		{"a true before the floor", bash, []Field{field(Approved, `true`)}, nil, "start floor a"},
		{"a true over a block", bash, []Field{field(PolicyResult, `"block"`), field(Approved, `true`)}, nil, "floor-blocked"},
		{"a true that is a text", bash, []Field{ask, field(Approved, `"true"`)}, nil, "person-refused"},
		{"an answer that is null", bash, []Field{ask, field(Approved, `null`)}, nil, "person-refused"},
		{"a second answer", bash, []Field{ask, field(Approved, `false`), field(Approved, `true`)}, nil, "person-refused"},
		{"a vote nobody knows", bash, []Field{ask, field(JudgeResult, `"ask"`)}, []Register{mode(`"auto"`)}, "classifier-denied"},
		{"a vote that is null", bash, []Field{ask, field(JudgeResult, `null`)}, []Register{mode(`"auto"`)}, "classifier-denied"},
		{"a second vote", bash, []Field{ask, field(JudgeResult, `"deny"`), field(JudgeResult, `"allow"`)}, []Register{mode(`"auto"`)}, "classifier-denied"},
		{"a guard that returned nothing", bash, []Field{ask, field(OrchestrationResult, `null`)}, nil, approval.ReceiptPolicy.String()},
		{"a guard that returned a number", bash, []Field{ask, field(OrchestrationResult, `1`)}, nil, approval.ReceiptPolicy.String()},
		{"a second return", bash, []Field{ask, field(OrchestrationResult, `false`), field(OrchestrationResult, `true`)}, nil, approval.ReceiptPolicy.String()},
		{"a license on what is cancelled", bash, []Field{field(OrchestrationResult, `true`), field(Cancelled, `true`)}, nil, approval.ReceiptCancelled.String()},
		{"a field nobody knows", bash, []Field{field("orchestrated", `true`)}, nil, "start floor a"},
		{"a field of another job", bash, []Field{{Job: "b", Name: OrchestrationResult, Value: "true"}}, nil, "start floor a"},

		{"attempts that cannot be counted", bash, []Field{ask, field(JudgeFail+"x", `"no"`), field(JudgeFail+"0", `"no"`), field(JudgeFail+"-3", `"no"`), field(JudgeFail, `"no"`)},
			[]Register{mode(`"auto"`)}, "start classify a attempt=1\n"},
		{"attempts out of order", bash, []Field{ask, field(JudgeFail+"3", `"no"`), field(JudgeFail+"1", `"no"`)}, []Register{mode(`"auto"`)}, "start classify a attempt=4 "},
		{"an attempt without words has failed", bash, []Field{ask, field(JudgeFail+"1", `""`)}, []Register{mode(`"auto"`)}, "asked a"},
		{"an attempt whose words are none", bash, []Field{ask, field(JudgeFail+"1", `7`)}, []Register{mode(`"auto"`)}, "asked a"},

		{"no word on hatch", bash, []Field{ask}, []Register{mode(`"auto"`), {Name: AutoAllow, Value: all}}, "start classify a"},
		{"an explanation without one", bash, []Field{ask, field(Explanation, `{}`)}, []Register{mode(`"auto"`), {Name: AutoAllow, Value: all}}, "start classify a"},
		{"a word on hatch that is a text", bash, []Field{ask, field(Explanation, `{"hatch":"false"}`)}, []Register{mode(`"auto"`), {Name: AutoAllow, Value: all}}, "start classify a"},
		{"an explanation that is none", bash, []Field{ask, field(Explanation, `[false]`)}, []Register{mode(`"auto"`), {Name: AutoAllow, Value: all}}, "start classify a"},
		{"no hatch", bash, []Field{ask, plain}, []Register{mode(`"auto"`), {Name: AutoAllow, Value: all}}, "granted"},

		{"paths that are no list", read, []Field{deny, field(Paths, `"/srv/data/x"`)}, []Register{{Name: ReadAllowlist, Value: `["/srv/data"]`}}, "asked a"},
		{"paths with a number", read, []Field{deny, field(Paths, `["/srv/data/x",7]`)}, []Register{{Name: ReadAllowlist, Value: `["/srv/data"]`}}, "asked a"},
		{"no paths", read, []Field{deny}, []Register{{Name: ReadAllowlist, Value: `["/srv/data"]`}}, "asked a"},
		{"a second list of paths", read, []Field{deny, field(Paths, `["/etc/x"]`), outside}, []Register{{Name: ReadAllowlist, Value: `["/srv/data"]`}}, "asked a"},
		{"a key", read, []Field{deny, outside, plain}, []Register{{Name: ReadAllowlist, Value: `["/srv/data"]`}}, "read-allowlisted"},
		{"a key that is not clean", read, []Field{deny, outside, plain}, []Register{{Name: ReadAllowlist, Value: `["/srv/data/."]`}}, "read-allowlisted"},
		{"a key that climbs", read, []Field{deny, outside, plain}, []Register{{Name: ReadAllowlist, Value: `["/srv/data/y/.."]`}}, "asked a"},
		{"a key that is relative", read, []Field{deny, field(Paths, `["data/x"]`)}, []Register{{Name: ReadAllowlist, Value: `["data"]`}}, "asked a"},
		{"a list of keys that is none", read, []Field{deny, outside, plain}, []Register{{Name: ReadAllowlist, Value: `{"/srv/data":true}`}}, "asked a"},
		{"a key, and no word on rules", read, []Field{deny, outside}, []Register{{Name: ReadAllowlist, Value: `["/srv/data"]`}}, "asked a"},
		{"a key, and a rule against it", read, []Field{deny, outside, field(Explanation, `{"ruled":true}`)}, []Register{{Name: ReadAllowlist, Value: `["/srv/data"]`}}, "asked a"},
		{"a key, and a word on rules that is a text", read, []Field{deny, outside, field(Explanation, `{"ruled":"false"}`)}, []Register{{Name: ReadAllowlist, Value: `["/srv/data"]`}}, "asked a"},
		{"a key, and names that are no list", read, []Field{deny, outside, field(Explanation, `{"ruled":false,"names":7}`)}, []Register{{Name: ReadAllowlist, Value: `["/srv/data"]`}}, "asked a"},
		{"a list of keys with a number", read, []Field{deny, outside, plain}, []Register{{Name: ReadAllowlist, Value: `["/srv/data",7]`}}, "asked a"},

		{"a mode nobody knows", bash, []Field{ask}, []Register{mode(`"wild"`)}, "asked a"},
		{"plan", bash, []Field{ask}, []Register{mode(`"plan"`)}, "asked a"},
		{"a mode in capitals", bash, []Field{ask}, []Register{mode(`"YOLO"`)}, "asked a"},
		{"a mode that is no text", bash, []Field{ask}, []Register{mode(`2`)}, "asked a"},
		{"the alias, should it be stored", bash, []Field{ask}, []Register{mode(`"always-approve"`)}, "yolo"},
		{"grants with one nobody knows", bash, []Field{ask, plain}, []Register{mode(`"auto"`), {Name: AutoAllow, Value: `{"bash":true,"web":true}`}}, "start classify a"},
		{"grants in capitals", bash, []Field{ask, plain}, []Register{mode(`"auto"`), {Name: AutoAllow, Value: `{"Bash":true}`}}, "start classify a"},
		{"grants that are texts", bash, []Field{ask, plain}, []Register{mode(`"auto"`), {Name: AutoAllow, Value: `{"bash":"true"}`}}, "start classify a"},
		{"a grant twice", bash, []Field{ask, plain}, []Register{mode(`"auto"`), {Name: AutoAllow, Value: `{"bash":false,"bash":true}`}}, "start classify a"},
		{"standing grants of a session", bash, []Field{ask, plain}, []Register{mode(`"auto"`), {Name: StandingAutoAllow, Value: all}}, "start classify a"},
		{"covering that is no word", bash, []Field{deny}, []Register{mode(`"auto"`), {Name: AutoCoverDeny, Value: `0`}}, "asked a"},
		{"covering that is taken back", bash, []Field{deny}, []Register{mode(`"auto"`), {Kernel: true, Name: AutoCoverDeny, Value: `false`}, {Name: AutoCoverDeny, Value: `null`}}, "start classify a"},
		{"a register nobody knows", bash, []Field{ask}, []Register{{Name: "currentPolicy", Value: `"yolo"`}}, "asked a"},
		{"a mode of the kernel", bash, []Field{ask}, []Register{{Kernel: true, Name: StandingPolicy, Value: `"yolo"`}}, "asked a"},
		{"an overlay of no turn", bash, []Field{ask}, []Register{{Name: Overlay, Value: `"yolo"`}, {Name: Overlay + "a", Value: `"yolo"`}}, "asked a"},
		{"a revision that is older", bash, []Field{ask}, []Register{{Name: StandingPolicy, Value: `"manual"`, Rev: 9}, {Name: StandingPolicy, Value: `"yolo"`, Rev: 8}}, "asked a"},

		{"a parent nobody knows", Job{ID: "a", Parent: "p", Name: "Bash"}, nil, nil, "start floor a"},
		{"a parent of its own", Job{ID: "a", Parent: "a", Name: "Bash"}, nil, nil, "start floor a"},
		{"a kind nobody knows", Job{ID: "a", Kind: "AgentTalkJob", Name: "agent_call"}, nil, nil, "start floor a"},
		{"a job without an id", Job{Name: "Bash"}, nil, nil, ""},
	} {
		t.Run(test.why, func(t *testing.T) {
			rows := Rows{Upto: 10, Jobs: []Job{test.job, test.job}, Fields: test.fields}
			for i, r := range test.registers {
				if r.Rev == 0 {
					r.Rev = Rev(i + 1)
				}
				rows.Registers = append(rows.Registers, r)
			}
			_, opened := Open(Facts{Workspace: "/w", Home: "/home/u"}, rows)
			m, _ := Open(Facts{Workspace: "/w", Home: "/home/u"}, Rows{Upto: 1})
			came := m.Step(Committed{rows})
			for _, out := range []Ready{opened, came} {
				got := describe(out)
				if !strings.Contains(got, test.want) || test.want == "" && got != "" {
					t.Errorf("want %q in\n%s", test.want, got)
				}
				for _, a := range out.Start {
					if a.Do == Body {
						t.Errorf("%v begins", a)
					}
				}
			}
		})
	}
}

// An unattended session has the mode that was written first (law §6).
func TestForeignModesOfAnUnattendedSession(t *testing.T) {
	m, out := Open(Facts{Seat: approval.Unattended}, Rows{
		Upto:   10,
		Jobs:   []Job{{ID: "t", Kind: SessionTurn}, {ID: "a", Parent: "t", Name: "Bash"}},
		Fields: []Field{{"a", PolicyResult, `"ask"`}},
		Registers: []Register{
			{Name: StandingPolicy, Value: `"auto"`, Rev: 1}, {Name: StandingPolicy, Value: `"yolo"`, Rev: 2}, {Name: Overlay + "t", Value: `"yolo"`, Rev: 3},
		},
	})
	if got := describe(out); got != "start classify a attempt=1\n" {
		t.Error(got)
	}
	if got := m.Assign(approval.Yolo); got != nil {
		t.Errorf("a change of the mode writes %v", got)
	}
	// Without a mode nobody but a person answers.
	_, out = Open(Facts{Seat: approval.Unattended}, Rows{Upto: 10, Jobs: []Job{{ID: "a", Name: "Bash"}}, Fields: []Field{{"a", PolicyResult, `"ask"`}}})
	if got := describe(out); got != "asked a\n" {
		t.Error(got)
	}
}
