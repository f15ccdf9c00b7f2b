package approval_test

import (
	"testing"

	"assent/approval"

	"pgregory.net/rapid"
)

func TestCluster(t *testing.T) {
	for _, row := range []struct {
		name string
		kind approval.Kind
		tool string
		want approval.Cluster
	}{
		{"shell of Claude Code", 0, "Bash", approval.Bash},
		{"shell of Codex", 0, "exec_command", approval.Bash},
		{"keys to a running shell", 0, "write_stdin", approval.Bash},
		{"shell of Gemini CLI", 0, "run_shell_command", approval.Bash},
		{"shell of Cursor", 0, "run_terminal_cmd", approval.Bash},
		{"shell of VS Code", 0, "run_in_terminal", approval.Bash},
		{"read", 0, "Read", approval.Read},
		{"read of many", 0, "read_many_files", approval.Read},
		{"search", 0, "search_file_content", approval.Read},
		{"image", 0, "view_image", approval.Read},
		{"patch", 0, "apply_patch", approval.Write},
		{"edit", 0, "MultiEdit", approval.Write},
		{"replace", 0, "replace", approval.Write},
		{"editor that also looks", 0, "str_replace_editor", approval.Write},
		{"fetch", 0, "WebFetch", approval.Web},
		{"search the web", 0, "google_web_search", approval.Web},
		{"server tool", 0, "mcp__github__get_issue", approval.MCP},
		{"server tool of Gemini CLI", 0, "mcp_github_get_issue", approval.MCP},
		{"agent of a client", 0, "Task", approval.MCP},
		{"newer agent of a client", 0, "Agent", approval.MCP},
		{"notes of a client", 0, "TodoWrite", approval.MCP},
		{"unknown", 0, "frobnicate", approval.MCP},
		{"no name", 0, "", approval.MCP},
		{"other case is another tool", 0, "BASH", approval.MCP},
		{"our side channel, minted", approval.SystemTool, "update_metadata", approval.Comm},
		{"our side channel, by kind", approval.ContextNeedTool, "context_need", approval.Comm},
		{"agent call", approval.AgentCall, "reviewer", approval.Comm},
		{"agent notify", approval.AgentNotify, "notify", approval.Comm},
		{"kind before name", approval.FileMutateTool, "Read", approval.Write},
		{"server tool by kind", approval.MCPTool, "update_metadata", approval.MCP},
		{"web extract by kind", approval.WebExtractTool, "x", approval.Web},
		{"system tool by name", approval.SystemTool, "bash", approval.Bash},
		// A client's or a server's tool may bear any name.
		{"our name, foreign", 0, "update_metadata", approval.MCP},
		{"our need, foreign", 0, "context_need", approval.MCP},
		{"our kind, foreign", 0, "AgentCallJob", approval.MCP},
		{"notify of a server", 0, "mcp__x__notify", approval.MCP},
		{"our name of a server", 0, "mcp__x__update_metadata", approval.MCP},
		{"bare notify", approval.SystemTool, "notify", approval.MCP},
	} {
		t.Run(row.name, func(t *testing.T) {
			leaf := approval.Leaf{Kind: row.kind, Name: row.tool}
			if got := leaf.Cluster(); got != row.want {
				t.Errorf("%v %q is %v, want %v", row.kind, row.tool, got, row.want)
			}
		})
	}
}

// TestForeignIsNeverComm holds that no name makes a call from outside skip the
// floor, and that an unknown tool is covered by no grant.
func TestForeignIsNeverComm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"update_metadata", "context_need", "agent_call",
			"AgentCallJob", "AgentMessageJob", "AgentCallbackJob", "AgentNotifyJob", "ContextNeedToolJob", "notify"})).Draw(t, "name")
		leaf := approval.Leaf{Name: name, PolicyResult: approval.Ask}
		if leaf.Cluster() == approval.Comm {
			t.Fatalf("a foreign tool %q is comm", name)
		}
		all := approval.Grants{Write: true, Bash: true, MCP: true}
		if approval.ClusterOf(name) == approval.MCP && !approval.IsLookUp(name) && approval.Granted(leaf, approval.Session{AutoAllow: all, StandingAutoAllow: all}) {
			t.Fatalf("unknown tool %q is granted", name)
		}
	})
}

func TestKindOf(t *testing.T) {
	for _, row := range []struct {
		tool    string
		want    approval.Kind
		cluster approval.Cluster
	}{
		{"AgentCallJob", approval.AgentCall, approval.Comm},
		{"AgentCallbackJob", approval.AgentCallback, approval.Comm},
		{"AgentNotifyJob", approval.AgentNotify, approval.Comm},
		{"AgentMessageJob", approval.AgentMessage, approval.Comm},
		{"ContextNeedToolJob", approval.ContextNeedTool, approval.Comm},
		{"context_need", approval.ContextNeedTool, approval.Comm},
		{"update_metadata", approval.SystemTool, approval.Comm},
		{"FileMutateToolJob", approval.FileMutateTool, approval.Write},
		{"MCPToolJob", approval.MCPTool, approval.MCP},
		{"WebSearchToolJob", approval.WebSearchTool, approval.Web},
		{"WebExtractToolJob", approval.WebExtractTool, approval.Web},
		{"SystemToolJob", approval.SystemTool, approval.MCP},
		{"Bash", approval.SystemTool, approval.Bash},
		{"Task", approval.SystemTool, approval.MCP},
		{"notify", approval.SystemTool, approval.MCP},
		{"", approval.SystemTool, approval.MCP},
	} {
		got := approval.KindOf(row.tool)
		leaf := approval.Leaf{Kind: got, Name: row.tool}
		if got != row.want || leaf.Cluster() != row.cluster {
			t.Errorf("KindOf(%q) = %v with cluster %v, want %v and %v", row.tool, got, leaf.Cluster(), row.want, row.cluster)
		}
	}
}

// Names of kinds are exact, and "" is a client's own call (law §8).
func TestKindNamed(t *testing.T) {
	for _, row := range []struct {
		name string
		want approval.Kind
		ok   bool
	}{
		{"", approval.Foreign, true},
		{"SystemToolJob", approval.SystemTool, true},
		{"ContextNeedToolJob", approval.ContextNeedTool, true},
		{"systemtooljob", approval.Foreign, false},
		{"SystemTool", approval.Foreign, false},
		{"SessionTurn", approval.Foreign, false},
		{"ProgrammaticJob", approval.Foreign, false},
	} {
		if got, ok := approval.KindNamed(row.name); got != row.want || ok != row.ok {
			t.Errorf("%q: got %v, %v", row.name, got, ok)
		}
	}
}
