package card

import (
	"strings"
	"testing"
	"time"

	"assent/front/api/wire"
)

// How it stands with the classifier is told whether an attempt runs, waits for its
// time, or for a connection.
func TestJudging(t *testing.T) {
	now := time.Date(2026, 3, 14, 14, 2, 11, 0, time.UTC)
	ask, fail, at := "ask", "connection local: it took too long", now.Add(3*time.Second)
	for _, test := range []struct {
		why     string
		fails   int
		judging *wire.Judging
		want    []string
		hasNot  string
	}{
		{"the first runs", 0, &wire.Judging{Attempt: 1, State: "asks", At: &now, Connection: "local", Model: "small\u202e"}, []string{"now", "attempt 1 asks since", "small", "on local"}, "failed"},
		{"the next has a time", 2, &wire.Judging{Attempt: 3, State: "waits", At: &at, Connection: "local", Model: "small"}, []string{"2 attempts have failed", fail, "next", "attempt 3 at"}, "no attempt is planned"},
		{"the next waits for a connection", 1, &wire.Judging{Attempt: 2, State: "unasked"}, []string{"attempt 2, as soon as a connection for the classifier is chosen"}, "no attempt is planned"},
		{"none", 1, nil, []string{"no attempt is planned"}, "attempt 2"},
	} {
		t.Run(test.why, func(t *testing.T) {
			l := &wire.Leaf{Cluster: "bash", PolicyResult: &ask, NeedsHuman: test.fails > 0, JudgeFails: test.fails, Judging: test.judging, Written: map[string]wire.Stamp{}}
			if test.fails > 0 {
				l.JudgeFailMessage = &fail
			}
			text := Text(Of(wire.Job{Name: "Bash", Leaf: l}, About{Now: now}).Lines(Look{Width: 100}), false)
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			if strings.Contains(text, test.hasNot) || strings.Contains(text, "\u202e") {
				t.Errorf("%q is there:\n%s", test.hasNot, text)
			}
		})
	}
}

// Who voted is told, and what they said is seen for what it is.
func TestJudgement(t *testing.T) {
	vote := "allow"
	for _, test := range []struct {
		why, judgement string
		want           []string
	}{
		{"a model", `{"program":"p","connection":"local","model":"small\u202e","uncertainty":1,"severity":2.5,"reason":"only looks \u001b[2J"}`,
			[]string{"vote", "allow", "small", "on local (uncertainty 1, severity 2.5)", "only looks", "U+202E", "[2J"}},
		{"it was asked before", `{"program":"p","connection":"local","model":"small","remembered":true}`, []string{"small on local, to the same call before"}},
		{"the program", `{"program":"mine.scm"}`, []string{"the program mine.scm itself"}},
		{"what nobody can read", `[1]`, []string{"vote", "allow"}},
	} {
		t.Run(test.why, func(t *testing.T) {
			l := &wire.Leaf{Cluster: "bash", JudgeResult: &vote, Judgement: []byte(test.judgement), Written: map[string]wire.Stamp{}}
			text := Text(Of(wire.Job{Name: "Bash", Leaf: l}, About{}).Lines(Look{Width: 100}), false)
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			if strings.ContainsAny(text, "\u202e\x1b") {
				t.Errorf("it is not seen for what it is:\n%s", text)
			}
		})
	}
}
