package approval

// Cluster is the family of a tool (law §3). It decides which grant counts,
// whether the read allowlist applies, and who may answer.
//
// The zero value is [MCP], the cluster of a tool nobody knows: no grant
// covers it, as it is no look-up by name (see [IsLookUp]), no allowlist does,
// and the floor always runs.
type Cluster uint8

// The closed list of clusters.
const (
	MCP Cluster = iota
	Read
	Write
	Bash
	Web
	Comm
)

var clusterNames = [...]string{"mcp", "read", "write", "bash", "web", "comm"}

// String is the cluster's name on the wire.
func (c Cluster) String() string {
	if int(c) < len(clusterNames) {
		return clusterNames[c]
	}
	return clusterNames[MCP]
}

// MarshalText writes the name on the wire.
func (c Cluster) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// ClusterOf tells the cluster from a tool's name, as the common clients spell
// it. Names are compared exactly. It never says [Comm]: row 0 of the license
// is for the host's own jobs, and a client's or a server's tool of that name
// must meet the floor (law ruling 1).
//
// A tool that is not listed is MCP, also the tools by which clients start
// agents of their own: the host does not know what their bodies do.
func ClusterOf(name string) Cluster { return clientTools[name] }

// Cluster is the leaf's cluster: what its kind fixes, else what the tool's
// name tells (law §3, §8).
func (l *Leaf) Cluster() Cluster {
	switch l.Kind {
	case AgentCall, AgentCallback, AgentNotify, AgentMessage, ContextNeedTool:
		return Comm
	case FileMutateTool:
		return Write
	case MCPTool:
		return MCP
	case WebSearchTool, WebExtractTool:
		return Web
	case SystemTool:
		if l.Name == updateMetadata || l.Name == contextNeed {
			return Comm
		}
	case Foreign:
	}
	return ClusterOf(l.Name)
}
