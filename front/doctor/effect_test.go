package doctor

import (
	"errors"
	"testing"

	"assent/front/connect"
)

// What was seen of the clients: which outcomes of a hook stopped a tool.
func TestEffects(t *testing.T) {
	const (
		deny  = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R"}}`
		allow = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`
		block = `{"decision":"block","reason":"R"}`
		other = `{"decision":"deny","reason":"R"}`
	)
	for _, row := range []struct {
		why, client string
		closed      bool
		o           outcome
		want        effect
	}{
		{"its form", "claude", false, outcome{stdout: deny}, refused},
		{"its form, failed", "claude", false, outcome{stdout: deny, exit: 1}, refused},
		{"its form, and the code", "claude", false, outcome{stdout: deny, stderr: "E", exit: 2}, refused},
		{"block", "claude", false, outcome{stdout: block}, refused},
		{"the code and a reason", "claude", false, outcome{stderr: "E", exit: 2}, refused},
		{"the code alone", "claude", false, outcome{exit: 2}, refused},
		{"another client's form", "claude", false, outcome{stdout: other}, ran},
		{"another client's form takes the code with it", "claude", false, outcome{stdout: other, stderr: "E", exit: 2}, ran},
		{"no name of the event", "claude", false, outcome{stdout: `{"hookSpecificOutput":{"permissionDecision":"deny"}}`}, ran},
		{"something before it", "claude", false, outcome{stdout: "log\n" + deny}, ran},
		{"a decision nobody knows", "claude", false, outcome{stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"banana"}}`}, ran},
		{"allow", "claude", false, outcome{stdout: allow}, ran},
		{"silence", "claude", false, outcome{}, ran},
		{"failed", "claude", false, outcome{exit: 1}, ran},
		{"failed, and blocking", "claude", true, outcome{exit: 1}, refused},
		{"killed", "claude", false, outcome{signal: "killed", exit: -1}, ran},
		{"killed, and blocking", "claude", true, outcome{signal: "killed", exit: -1}, refused},
		{"late", "claude", false, outcome{late: true}, ran},
		{"not there", "claude", false, outcome{failed: errors.New("none")}, ran},

		{"its form", "codex", false, outcome{stdout: deny}, refused},
		{"block", "codex", false, outcome{stdout: block}, refused},
		{"the code and a reason", "codex", false, outcome{stderr: "E", exit: 2}, refused},
		{"the code alone", "codex", false, outcome{exit: 2}, ran},
		{"its form, failed", "codex", false, outcome{stdout: deny, exit: 1}, ran},
		{"no reason", "codex", false, outcome{stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`}, ran},
		{"a member too many", "codex", false, outcome{stdout: `{"decision":"block","reason":"R","more":1}`}, ran},
		{"allow", "codex", false, outcome{stdout: allow}, ran},
		{"failed", "codex", false, outcome{exit: 1}, ran},
		{"killed", "codex", true, outcome{signal: "killed", exit: -1}, ran},
		{"late", "codex", false, outcome{late: true}, ran},
		{"silence", "codex", false, outcome{}, ran},

		{"its form", "gemini", false, outcome{stdout: other}, refused},
		{"block", "gemini", false, outcome{stdout: block}, refused},
		{"its form, failed", "gemini", false, outcome{stdout: other, exit: 1}, refused},
		{"no reason", "gemini", false, outcome{stdout: `{"decision":"deny"}`}, refused},
		{"the code and a reason", "gemini", false, outcome{stderr: "E", exit: 2}, refused},
		{"another code and a reason", "gemini", false, outcome{stderr: "E", exit: 3}, refused},
		{"the shell finds nothing", "gemini", false, outcome{stderr: "not found", exit: 127}, refused},
		{"the code alone", "gemini", false, outcome{exit: 2}, ran},
		{"failed", "gemini", false, outcome{stderr: "E", exit: 1}, ran},
		{"killed", "gemini", true, outcome{signal: "killed", exit: -1}, ran},
		{"late", "gemini", false, outcome{late: true}, ran},
		{"no JSON", "gemini", false, outcome{stdout: "deny"}, ran},
		{"another client's form", "gemini", false, outcome{stdout: deny}, ran},

		{"its word", "opencode", false, outcome{stdout: `{"decision":"allow"}`}, ran},
		{"its word, failed", "opencode", false, outcome{stdout: `{"decision":"allow"}`, exit: 1}, refused},
		{"silence", "opencode", false, outcome{}, refused},
		{"killed", "opencode", false, outcome{signal: "killed", exit: -1}, refused},
		{"not there", "opencode", false, outcome{failed: errors.New("none")}, refused},

		{"nobody knows it", "emacs", true, outcome{exit: 2, stderr: "E"}, ran},
	} {
		t.Run(row.client+" "+row.why, func(t *testing.T) {
			if got := effectOf(row.client, row.closed, row.o); got != row.want {
				t.Errorf("%+v: got %s, want %s", row.o, got, row.want)
			}
		})
	}
}

// A hook that Codex itself has hashed so.
func TestTheHashOfCodex(t *testing.T) {
	h := connect.Hook{Event: "PostToolUse", Matcher: "*", Raw: `{"type":"command","command":"'/Applications/GWT.app/Contents/MacOS/gwtd' hook event PostToolUse"}`}
	got, err := codexHash(h)
	if want := "sha256:9c3ce103f03f0b27a28bc4a30883f7e98a80b5df566b4572fcbb2955ebf5ba62"; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestVersionsAreCompared(t *testing.T) {
	for _, row := range []struct {
		version string
		want    bool
	}{
		{"2.1.295", true}, {"2.1.294", false}, {"2.2.0", true}, {"3.0", true}, {"2.1", false}, {"2.1.295 (Claude Code)", true}, {"", false}, {"x", false},
		{"2.1.1000", true}, {"10.0.0", true}, {"2.1.99999999999999999999", false},
	} {
		if got := atLeast(row.version, blocksFrom); got != row.want {
			t.Errorf("%q: got %v", row.version, got)
		}
	}
}
