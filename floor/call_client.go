package floor

import "strings"

// builtIns are the tools of the clients that call the tools of a server by a name
// that may be another client's built-in tool: opencode joins the two with "_", and
// Gemini CLI left the server out. Other clients have a prefix. The keys are the names
// by which sessions know their clients.
var builtIns = map[string]map[string]bool{
	"opencode": set("apply_patch", "plan_exit", "plan_enter", "multi_tool_use.parallel"),
	"Gemini CLI": set("read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content", "replace", "write_file", "run_shell_command", "web_fetch",
		"google_web_search", "save_memory", "write_todos", "activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode", "invoke_agent", "delegate_to_agent", "update_topic",
		"complete_task", "list_mcp_resources", "read_mcp_resource"),
}

// another reports whether a name that is a built-in tool somewhere is none of the
// client's own. An opencode tool without "_" is its own: no tool of a server is
// called so.
func another(client, name string) bool {
	own, ok := builtIns[client]
	if !ok || own[name] {
		return false
	}
	return client != "opencode" || strings.Contains(name, "_")
}
