package job

import (
	"assent/approval"
	"assent/session"
)

// Kind is a job's kind as the document spells it (law §8).
type Kind = session.Kind

// The kinds of leaves. Foreign is a call of a client's own, of which only the
// tool's name tells what it does.
const (
	Foreign         Kind = ""
	SystemTool      Kind = "SystemToolJob"
	FileMutateTool  Kind = "FileMutateToolJob"
	MCPTool         Kind = "MCPToolJob"
	WebSearchTool   Kind = "WebSearchToolJob"
	WebExtractTool  Kind = "WebExtractToolJob"
	AgentCall       Kind = "AgentCallJob"
	AgentCallback   Kind = "AgentCallbackJob"
	AgentNotify     Kind = "AgentNotifyJob"
	AgentMessage    Kind = "AgentMessageJob"
	ContextNeedTool Kind = "ContextNeedToolJob"
)

// The sequences: they hold leaves and have no votes.
const (
	SessionTurn     = session.SessionTurn
	ProgrammaticJob = session.ProgrammaticJob
)

// AgentTurn is the name of the turns that the host's own agent goes through.
const AgentTurn = "agent"

// Leaves are the ten kinds of leaves that a host mints for tools of its own.
func Leaves() []Kind {
	return []Kind{SystemTool, FileMutateTool, MCPTool, WebSearchTool, WebExtractTool,
		AgentCall, AgentCallback, AgentNotify, AgentMessage, ContextNeedTool}
}

// Communication reports whether a tool of the kind is communication of the
// host: allowed without the floor (law ruling 1).
func Communication(kind Kind, name string) bool {
	leaf := approval.Leaf{Kind: kind.Leaf(), Name: name}
	return leaf.Cluster() == approval.Comm
}

// Tool is a tool of the host as programs call it: what it needs is given in that order.
type Tool struct {
	Kind  Kind
	Name  string
	Needs []string // names of its arguments
}

func known(kind Kind) bool {
	return kind == Foreign || kind.Sequence() || kind.Leaf() != approval.Foreign
}
