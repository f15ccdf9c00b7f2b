package hook

import (
	"strings"
	"time"
)

// Codex. Only a refusal by exit code, with its reason, is sure: an answer that
// allows before the call, or has a member too many, makes the hook count as
// failed, and then the tool runs. To have no objection is to say nothing. Its
// own question to the person, which has no id of the call, may be answered with
// a yes where it is about a tool of a server.
var codex = Dialect{
	Name: "codex", Client: "Codex",
	Deadline: 590 * time.Second, // its own default is 600 s
	Read: func(text []byte) (Payload, error) {
		return readCommon(text, map[string]Moment{"PreToolUse": Before, "PermissionRequest": Permission, "PostToolUse": After})
	},
	// About a command it asks when that is to leave its sandbox, which was not judged.
	Asks:   func(p Payload) bool { return strings.HasPrefix(p.Tool, "mcp__") },
	Refuse: func(_ Payload, reason string) Reply { return refusal(reason) },
	Pass: func(p Payload, _ string) Reply {
		if p.Moment != Permission {
			return Reply{}
		}
		return Reply{Stdout: object(permissionReply{permission{"PermissionRequest", behavior{Behavior: "allow"}}})}
	},
}
