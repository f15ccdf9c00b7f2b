package approval_test

import (
	"testing"

	"assent/approval"
)

func TestMayPersist(t *testing.T) {
	type leaf = approval.Leaf
	bash := approval.Grants{Bash: true}
	for _, row := range []struct {
		name    string
		leaf    leaf
		session approval.Session
		want    approval.Persist
	}{
		{"write that is asked", leaf{Name: "Write", PolicyResult: approval.Ask}, approval.Session{CurrentPolicy: approval.Auto},
			approval.Persist{Grant: true}},
		{"write that is denied", leaf{Name: "Write", PolicyResult: approval.Deny}, approval.Session{CurrentPolicy: approval.Auto},
			approval.Persist{Grant: true, Classify: true}},
		{"write that is denied, nobody looking", leaf{Name: "Write", PolicyResult: approval.Deny},
			approval.Session{CurrentPolicy: approval.Auto, Seat: approval.Unattended}, approval.Persist{Grant: true}},
		{"bash after a failed attempt", leaf{Name: "Bash", PolicyResult: approval.Ask, JudgeFailMessage: approval.Written("")},
			approval.Session{CurrentPolicy: approval.Auto}, approval.Persist{Grant: true}},
		{"bash that is denied", leaf{Name: "Bash", PolicyResult: approval.Deny}, approval.Session{CurrentPolicy: approval.Auto},
			approval.Persist{Grant: true, Classify: true}},
		{"web that is denied", leaf{Name: "WebFetch", PolicyResult: approval.Deny}, approval.Session{CurrentPolicy: approval.Auto},
			approval.Persist{Classify: true}},
		{"look-up that is denied", leaf{Name: "mcp__x__get_y", PolicyResult: approval.Deny}, approval.Session{CurrentPolicy: approval.Auto},
			approval.Persist{Grant: true, Classify: true}},
		{"changing tool: a grant would not answer it", leaf{Name: "mcp__x__set_y", PolicyResult: approval.Deny},
			approval.Session{CurrentPolicy: approval.Auto}, approval.Persist{Classify: true}},
		{"secret in the workspace", leaf{Name: "Read", PolicyResult: approval.Deny, Paths: []approval.Path{".env"}},
			approval.Session{CurrentPolicy: approval.Auto}, approval.Persist{Classify: true}},

		{"read outside", leaf{Name: "Read", PolicyResult: approval.Deny, Paths: []approval.Path{"/opt/a/b"}},
			approval.Session{CurrentPolicy: approval.Auto}, approval.Persist{}},
		{"read that cannot be told", leaf{Name: "Read", PolicyResult: approval.Deny}, approval.Session{CurrentPolicy: approval.Auto}, approval.Persist{}},
		{"hatch", leaf{Name: "Bash", Arguments: []byte(`{"command":"npx x"}`), PolicyResult: approval.Deny},
			approval.Session{CurrentPolicy: approval.Auto}, approval.Persist{}},
		{"run that is a hatch", leaf{Name: "Bash", RunsHatch: true, PolicyResult: approval.Deny},
			approval.Session{CurrentPolicy: approval.Auto}, approval.Persist{}},
		{"granted already", leaf{Name: "Bash", PolicyResult: approval.Deny, JudgeFailMessage: approval.Written("x")},
			approval.Session{CurrentPolicy: approval.Auto, AutoAllow: bash}, approval.Persist{}},
		{"manual: grants do not act there", leaf{Name: "Write", PolicyResult: approval.Ask}, approval.Session{}, approval.Persist{}},
		{"no prompt", leaf{Name: "Bash", PolicyResult: approval.Ask}, approval.Session{CurrentPolicy: approval.Auto}, approval.Persist{}},
		{"block", leaf{Name: "Write", PolicyResult: approval.Block}, approval.Session{CurrentPolicy: approval.Auto}, approval.Persist{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := approval.MayPersist(row.leaf, row.session); got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}
