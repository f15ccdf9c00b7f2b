package approval

import "slices"

// Kind is what sort of job a leaf is (law §8). The zero value is [Foreign]: a
// call that came from a client of its own, where only the tool's name tells
// what it does and where no name makes it communication of ours.
type Kind uint8

// The kinds of an approvable leaf.
const (
	Foreign Kind = iota
	SystemTool
	FileMutateTool
	MCPTool
	WebSearchTool
	WebExtractTool
	AgentCall
	AgentCallback
	AgentNotify
	AgentMessage
	ContextNeedTool
	numKinds
)

var kindNames = [numKinds]string{"", "SystemToolJob", "FileMutateToolJob", "MCPToolJob", "WebSearchToolJob",
	"WebExtractToolJob", "AgentCallJob", "AgentCallbackJob", "AgentNotifyJob", "AgentMessageJob", "ContextNeedToolJob"}

// The side-channel tools of the host itself (law §7).
const (
	updateMetadata = "update_metadata"
	contextNeed    = "context_need"
)

// String is the kind's name in the document, and "" for [Foreign].
func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return ""
}

// KindNamed is the kind that a document calls so; false for a name that none
// has.
func KindNamed(name string) (Kind, bool) {
	i := slices.Index(kindNames[:], name)
	return Kind(max(i, 0)), i >= 0
}

// KindOf is the kind of a leaf that the host itself mints for one of its own
// tools: a name of law §8 or a tool of the host. Any other name is a system
// tool, of which [ClusterOf] tells more.
//
// Never ask it about a call that came from outside: there a tool may bear any
// name, also one of ours, and stays [Foreign].
func KindOf(name string) Kind {
	switch name {
	case contextNeed:
		return ContextNeedTool
	case "agent_call":
		return AgentCall
	case "agent_callback":
		return AgentCallback
	case "agent_notify":
		return AgentNotify
	case "agent_message":
		return AgentMessage
	}
	if k, ok := KindNamed(name); ok && k != Foreign {
		return k
	}
	return SystemTool
}
