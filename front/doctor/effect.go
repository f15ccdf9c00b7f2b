package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// outcome is what a hook did, as its client sees it.
type outcome struct {
	stdout, stderr string
	exit           int
	signal         string // it was ended by it
	late           bool   // the client would not wait any longer
	failed         error  // it could not be started
}

// said is the outcome in words.
func (o outcome) said() string {
	why := first(o.stderr)
	if why != "" {
		why = ": " + why
	}
	switch {
	case o.failed != nil:
		return "it cannot be started: " + o.failed.Error()
	case o.late:
		return "it does not answer" + why
	case o.signal != "":
		return "it is ended by a signal (" + o.signal + ")" + why
	}
	return fmt.Sprintf("exit code %d%s", o.exit, why)
}

// longestSaid is how much of what a hook said is repeated, in characters.
const longestSaid = 160

func first(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > longestSaid {
		line = string(r[:longestSaid]) + "…"
	}
	return line
}

// effect is what a client does with a call.
type effect string

const (
	ran     effect = "ran"
	refused effect = "refused"
)

// effectOf is what a client makes of what its hook did, as it was seen of Claude
// Code 2.1.197, Codex 0.171.0, Gemini CLI 0.61.0 and opencode 1.18.33. What was not
// seen to stop a tool runs it. Closed: the client blocks where its hook fails.
func effectOf(client string, closed bool, o outcome) effect {
	ended := o.failed == nil && !o.late && o.signal == ""
	switch client {
	case "claude":
		if !ended {
			return when(closed)
		}
		return claudeEffect(o, closed)
	case "codex":
		return codexEffect(o, ended)
	case "gemini":
		return geminiEffect(o, ended)
	case "opencode": // the plugin throws for all else
		var answer struct {
			Decision string `json:"decision"`
		}
		if ended && o.exit == 0 && json.Unmarshal([]byte(o.stdout), &answer) == nil && answer.Decision == "allow" {
			return ran
		}
		return refused
	}
	return ran
}

func when(stops bool) effect {
	if stops {
		return refused
	}
	return ran
}

// decision is the answer that Claude Code and Codex have in common.
type decision struct {
	Specific struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	} `json:"hookSpecificOutput"`
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// claudeEffect: a refusal as JSON holds with every exit code, another JSON that
// has a decision it does not know is dropped and takes the exit code with it.
func claudeEffect(o outcome, closed bool) effect {
	text := strings.TrimSpace(o.stdout)
	if text == "" {
		return when(o.exit == 2 || o.exit != 0 && closed)
	}
	var d decision
	if json.Unmarshal([]byte(text), &d) != nil {
		return ran
	}
	return when(d.Specific.Event == "PreToolUse" && d.Specific.Decision == "deny" || d.Decision == "block" && o.exit == 0)
}

// codexEffect: only the exact forms stop; a member too many makes the hook count
// as failed, and the tool runs.
func codexEffect(o outcome, ended bool) effect {
	text := strings.TrimSpace(o.stdout)
	switch {
	case !ended:
		return ran
	case o.exit == 2:
		return when(text == "" && strings.TrimSpace(o.stderr) != "")
	case o.exit != 0 || text == "":
		return ran
	}
	var d decision
	if json.Unmarshal([]byte(text), &d, json.RejectUnknownMembers(true)) != nil {
		return ran
	}
	return when(d.Specific.Event == "PreToolUse" && d.Specific.Decision == "deny" && d.Specific.Reason != "" || d.Decision == "block" && d.Reason != "")
}

func geminiEffect(o outcome, ended bool) effect {
	if !ended {
		return ran
	}
	var d map[string]jsontext.Value
	if json.Unmarshal([]byte(strings.TrimSpace(o.stdout)), &d) == nil {
		return when(slices.Contains([]string{`"deny"`, `"block"`}, string(d["decision"])) && o.exit <= 2)
	}
	return when(o.exit >= 2 && strings.TrimSpace(o.stderr) != "")
}
