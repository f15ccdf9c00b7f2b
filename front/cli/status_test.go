package cli

import (
	"strings"
	"testing"
	"time"

	"assent/front/api/wire"
)

// Having no policy is said where its place is told, and is no trouble.
func TestStatusWithoutAPolicy(t *testing.T) {
	for policyError, want := range map[string]string{
		wire.NoOperatorPolicy: "  policy    /c/policy.yaml (not there: the shipped floor answers)\n",
		"policy.yaml:3: oops": "  ! policy  policy.yaml:3: oops\n",
	} {
		s := kernelStatus{Running: true, Policy: "/c/policy.yaml"}
		s.Kernel = &wire.Kernel{Presence: wire.Presence{"policyError": policyError}}
		var b strings.Builder
		if err := s.print(&b, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.Contains(got, want) || strings.Contains(got, "!") != strings.Contains(want, "!") {
			t.Errorf("%s:\n%s", policyError, got)
		}
	}
}

// The files that are told are the kernel's, also where this program's
// environment names others.
func TestStatusTellsOfTheKernelSFiles(t *testing.T) {
	s := kernelStatus{Running: true, Config: "/mine/config.json", Policy: "/mine/policy.yaml"}
	s.told() // an agent is told of none
	s.Kernel = &wire.Kernel{Config: "/its/config.json", Policy: "/its/policy.yaml"}
	s.told()
	var b strings.Builder
	if err := s.print(&b, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Contains(got, "/mine/") || !strings.Contains(got, "settings  /its/config.json\n  policy    /its/policy.yaml\n") {
		t.Error(got)
	}
}

// An agent is told that there is more, and who is told it.
func TestStatusOfAnAgent(t *testing.T) {
	s := kernelStatus{Running: true}
	s.You = wire.You{Role: "agent", Name: "7"}
	var b strings.Builder
	if err := s.print(&b, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "  withheld  what waits and what is wrong") {
		t.Error(got)
	}
	s.Kernel = &wire.Kernel{}
	b.Reset()
	if err := s.print(&b, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Contains(got, "withheld") {
		t.Error(got)
	}
}

// What agents have of the document is told, and what is refused to them for it.
func TestStatusTellsOfStorage(t *testing.T) {
	free := func(bytes int64) *int64 { return &bytes }
	for _, test := range []struct {
		why     string
		storage wire.Storage
		want    []string
		not     string
	}{
		{"nobody", wire.Storage{AgentBytes: 1 << 30, Free: free(1 << 40)}, nil, "stored"},
		{"the most", wire.Storage{AgentBytes: 1 << 30, Agents: []wire.AgentStorage{
			{Agent: "a", Bytes: 5 << 20, Sessions: 2}, {Agent: "b", Bytes: 5000, Sessions: 1}}},
			[]string{"  stored    5 MiB of 1024 MiB by a, in 2 sessions, the most of all agents\n"}, "by b"},
		{"no more room", wire.Storage{AgentBytes: 1 << 20, Agents: []wire.AgentStorage{
			{Agent: "a", Bytes: 1 << 20, Sessions: 2}, {Agent: "b\x1b", Bytes: 1000 << 10, Sessions: 1}, {Agent: "c", Bytes: 5000}}},
			[]string{"  ! stored  1 MiB of 1 MiB by a, in 2 sessions: it is refused what is more (agentMegabytes in config.json)\n",
				"  ! stored  1000 KiB of 1 MiB by b␛"}, "by c"},
		{"many wait", wire.Storage{AgentBytes: 1 << 30, WaitingMost: 1000, Agents: []wire.AgentStorage{{Agent: "a", Waiting: 999}, {Agent: "b", Waiting: 1000}}},
			[]string{"  ! waiting 1000 calls of b wait, the most: it is refused what is more"}, "of a wait"},
		{"a full disk", wire.Storage{AgentBytes: 1 << 30, Reserve: 256 << 20, Free: free(255 << 20)},
			[]string{"  ! disk    255 MiB are free: below 256 MiB nothing of agents is taken; make room (diskReserveMegabytes in config.json)\n"}, "stored"},
	} {
		s := kernelStatus{Running: true}
		s.Kernel = &wire.Kernel{Storage: test.storage}
		var b strings.Builder
		if err := s.print(&b, time.Now()); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: want %q\n%s", test.why, want, b.String())
			}
		}
		if strings.Contains(b.String(), test.not) {
			t.Errorf("%s: has %q\n%s", test.why, test.not, b.String())
		}
	}
}

// A kernel that answers and refuses is there.
func TestStatusThatIsRefused(t *testing.T) {
	var b strings.Builder
	if err := (kernelStatus{Refused: true, Error: "this token is not paired with the kernel"}).print(&b, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.HasPrefix(got, "The kernel refuses to answer.\n  error     this token is not paired") {
		t.Error(got)
	}
}

// Who looks is told with what they look at, and that nobody does.
func TestStatusTellsWhoLooks(t *testing.T) {
	now := time.Unix(1e9, 0)
	for _, test := range []struct {
		why  string
		who  []wire.Looker
		want string
	}{
		{"nobody", nil, "  looking   nobody\n"},
		{"all", []wire.Looker{{Name: "ada", Since: now.Add(-time.Hour)}}, "  looking   ada, at all sessions, for 1 h 0 min\n"},
		{"two", []wire.Looker{{Name: "ada@phone", Session: "S1", Since: now.Add(-time.Second)}, {Name: "bob", Since: now.Add(time.Second)}},
			"  looking   ada@phone, at session S1, for 1 s\n            bob, at all sessions, for 0 s\n"},
		{"a name for a terminal", []wire.Looker{{Name: "a\x1b[2J\nb", Since: now}}, "  looking   a␛[2J␊b, at all sessions"},
	} {
		s := kernelStatus{Running: true}
		s.Kernel = &wire.Kernel{Looking: test.who, Presence: wire.Presence{wire.Looking + "someError": "now"}}
		var b strings.Builder
		if err := s.print(&b, now); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.Contains(got, test.want) || strings.Contains(got, "someError") {
			t.Errorf("%s: want %q\n%s", test.why, test.want, got)
		}
	}
}
