package hook

import "time"

// Claude Code. Its hook may answer allow, which spares its person a second
// question; its own rules that deny or ask hold all the same. A hook that dies
// or is late lets the tool run, and so does JSON with a member that is not
// known.
var claude = Dialect{
	Name: "claude", Client: "Claude Code",
	Deadline: 590 * time.Second, // its own default is 600 s
	Root:     []string{"CLAUDE_PROJECT_DIR"},
	Read: func(text []byte) (Payload, error) {
		return readCommon(text, map[string]Moment{
			"PreToolUse": Before, "PermissionRequest": Permission, "PostToolUse": After, "PostToolUseFailure": Failed, "ConfigChange": Settings,
		})
	},
	Refuse: func(p Payload, reason string) Reply {
		r := refusal(reason)
		switch p.Moment {
		case Before:
			r.Stdout = object(claudeReply{claudeDecision{Event: "PreToolUse", Decision: "deny", Reason: "assent: " + reason}})
		case Permission: // here an exit code decides nothing
			r.Stdout, r.Exit = object(permissionReply{permission{"PermissionRequest", behavior{"deny", "assent: " + reason}}}), 0
		case Other, After, Failed, Settings:
		}
		return r
	},
	Pass: func(p Payload, reason string) Reply {
		// Its own question to its person, and that it only plans, an allow would
		// switch off: there it hears no objection and goes by its own rules.
		if p.Moment != Before || p.Mode == "plan" || p.Tool == "ExitPlanMode" || p.Tool == "AskUserQuestion" {
			return Reply{}
		}
		return Reply{Stdout: object(claudeReply{claudeDecision{Event: "PreToolUse", Decision: "allow", Reason: "assent: " + reason}})}
	},
}

type claudeReply struct {
	Specific claudeDecision `json:"hookSpecificOutput"`
}

type claudeDecision struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
}

type permissionReply struct {
	Specific permission `json:"hookSpecificOutput"`
}

type permission struct {
	Event    string   `json:"hookEventName"`
	Decision behavior `json:"decision"`
}

type behavior struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitzero"`
}
