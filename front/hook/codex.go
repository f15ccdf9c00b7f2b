package hook

import (
	"bytes"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Codex. Only a refusal by exit code, with its reason, is sure: an answer that
// allows before the call, or has a member too many, makes the hook count as
// failed, and then the tool runs. To have no objection is to say nothing. Its
// own question to the person, which has no id of the call, may be answered with
// a yes.
var codex = Dialect{
	Name: "codex", Client: "Codex",
	Deadline: 590 * time.Second, // its own default is 600 s
	Read: func(text []byte) (Payload, error) {
		p, err := readCommon(text, map[string]Moment{"PreToolUse": Before, "PermissionRequest": Permission, "PostToolUse": After})
		if err == nil && p.Moment == Permission && !strings.HasPrefix(p.Tool, "mcp__") { // whose arguments are its own
			p.Arguments, err = without(p.Arguments, "description")
		}
		return p, err
	},
	Refuse: func(_ Payload, reason string) Reply { return refusal(reason) },
	Pass: func(p Payload, _ string) Reply {
		if p.Moment != Permission {
			return Reply{}
		}
		return Reply{Stdout: object(permissionReply{permission{"PermissionRequest", behavior{Behavior: "allow"}}})}
	},
}

// without takes a member out of an object: why the agent wants the call stands
// beside its arguments where the person is asked.
func without(arguments jsontext.Value, name string) (jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(arguments))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for d.PeekKind() != '}' {
		key, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		key = key.Clone()
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		if string(key) == `"`+name+`"` {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}
