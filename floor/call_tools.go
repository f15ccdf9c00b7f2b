package floor

import "assent/floor/effect"

// tool is what a tool of an agent client does with its arguments.
type tool struct {
	read func(r *reading, name string, args *value)
}

// tools knows the built-in tools of the common clients by their exact names.
// The names of one client are another client's too, so there is one table; a
// name that is not in it is no built-in tool. Exactness matters: clients join
// the name of an MCP server and its tool with "_", and "todo_read" of a server
// must not pass for a note of the agent.
var tools = make(map[string]tool)

func known(t tool, names ...string) {
	for _, n := range names {
		tools[n] = t
	}
}

// own is a tool that works on the agent's own state: its notes, its
// plan, its questions to the person, its own background shells. It is a
// look-up: a policy can still name it.
func own(r *reading, name string, args *value) {
	r.run(name, effect.Look)
	if name == "StructuredOutput" { // it may have any
		r.strays(name, args)
		return
	}
	r.strangers(name, args)
}

// ownArguments are those of the tools above, by which nothing happens outside of the
// agent: texts for the person or itself, names of its own tasks, shells and agents.
var ownArguments = set("todos", "newtodos", "merge", "op", "id", "ids", "title", "status", "content", "subject", "description", "activeform", "metadata", "taskid", "taskids",
	"owner", "addblocks", "addblockedby", "tasklist", "plan", "planname", "overview", "phases", "explanation", "objective", "tokenbudget", "allowedprompts", "reason", "response",
	"needsmoreexploration", "taskprogress", "options", "questions", "question", "answers", "annotations", "header", "multiselect", "choices", "allowfreeform", "followup",
	"intent", "summary", "strategicintent", "result", "results", "message", "taskcompleted", "outputs", "answer", "thought", "thoughts", "thoughtnumber", "totalthoughts", "nextthoughtneeded",
	"timezone", "bashid", "filter", "sessionid", "shellid", "terminalid", "delay", "block", "wait", "timeout", "timeoutms", "timeoutseconds", "waitupto", "waitdurationseconds",
	"commandid", "outputpriority", "outputcharactercount", "jobid", "agentid", "agentids", "targets", "cursor", "server", "limit", "maxresults", "query", "seconds",
	"duration", "durationms", "durationseconds", "ms", "toolaction", "toolsummary", "waitforprevioustools", "securityrisk", "pathprefix", "offset", "lines", "maxlines",
	"yieldtimems", "maxoutputtokens", "processid", "pid", "priority", "tasks", "name", "placeholder", "completed", "isrunning", "requiresapproval", "mode")

// strangers are arguments that a tool does not have which does nothing but for its
// agent. A client may read them all the same: attempt_completion of some runs the
// command that it is given, to show the result.
func (r *reading) strangers(name string, args *value) {
	r.command = nil
	for i := range args.members {
		m := &args.members[i]
		switch n := argumentName(m.name); {
		case ownArguments[n], m.value.empty():
		case n == "command" && name == "task_tracker" && (m.value.text == "view" || m.value.text == "plan"):
		default:
			one := value{kind: '{', members: []member{*m}}
			if !r.stray(name, m) {
				r.opaque(m.name, "what "+shown(m.name)+" changes about the call is not known")
				r.certainty = effect.Maybe
				r.openArguments(name, &one, false)
				r.certainty = effect.Sure
			}
		}
	}
}

// stray reads an argument as the command that it is called.
func (r *reading) stray(name string, m *member) bool {
	words := nameWords(m.name)
	if len(words) == 0 || !shellWords[words[len(words)-1]] && !shellWords[argumentName(m.name)] || m.value.plain() || m.value.empty() {
		return false
	}
	one := value{kind: '{', members: []member{*m}}
	before := len(r.effects)
	r.openArguments(name, &one, false)
	return len(r.effects) > before
}

// looks is a tool that has no command: one that is given is read as one.
func looks(read func(r *reading, name string, args *value)) tool {
	return tool{func(r *reading, name string, args *value) {
		read(r, name, args)
		r.strays(name, args)
	}}
}

func (r *reading) strays(name string, args *value) {
	r.command = nil
	for i := range args.members {
		r.stray(name, &args.members[i])
	}
}

// of gives the reader for a tool that is described by its class alone.
func of(class effect.Class) tool {
	return looks(func(r *reading, name string, args *value) { r.run(name, class) })
}

func init() {
	known(tool{(*reading).shell},
		"Bash", "bash", "Shell", "shell", "shell_command", "exec_command", "local_shell", "local_shell_call", "container.exec",
		"unified_exec", "exec", "run_shell_command", "ShellTool", "run_terminal_cmd", "run_terminal_command", "run_terminal_command_v2",
		"runTerminalCommand", "run_in_terminal", "runInTerminal", "execute_command", "run_command", "execute_bash", "terminal", "Terminal",
		"developer__shell", "execute_cmd", "bash_command", "Execute", "launch-process", "run_commands",
		"executeBash", "Monitor")
	known(tool{screen}, "write_stdin", "write_bash", "write_powershell", "send_to_terminal", "sendTerminalInput", "send_command_input", "write-process", "terminal_input")
	known(tool{code},
		"python", "ipython", "execute_ipython_cell", "run_python", "execute_code", "code_execution", "code_interpreter", "js_repl", "browser",
		"run_notebook_cell", "PowerShell", "powershell", "REPL", "computer", "browser_action", "use_aws", "executeCode", "run_vscode_command")

	known(looks(readFile),
		"Read", "ReadFile", "read", "read_file", "readFile", "ReadFileTool", "NotebookRead", "read_notebook", "view", "View", "view_file", "view_image",
		"copilot_readFile", "read_many_files", "read_files", "readManyFiles", "look_at", "open_file", "read_file_range", "view_line_range", "get_diagnostics",
		"diagnostics", "get_errors", "read_lints", "ReadLints", "LSP", "lsp", "view_file_outline", "list_code_definition_names", "read_currently_open_file",
		"copilot_getNotebookSummary", "fs_read", "readCode", "getDiagnostics", "view_code_item")
	known(tool{writeFile},
		"Write", "WriteFile", "write", "write_file", "writeFile", "WriteFileTool", "write_to_file", "create_file", "createFile", "create_new_file",
		"create", "Create", "save_file", "save-file", "create_directory", "createDirectory", "make_directory", "mkdir", "new_rule", "generate_image",
		"create_new_jupyter_notebook", "fsWrite", "fsAppend")
	known(tool{editFile},
		"Edit", "EditFile", "edit", "edit_file", "editFile", "EditTool", "MultiEdit", "multiedit", "multi_edit", "NotebookEdit", "edit_notebook",
		"edit_notebook_file", "EditNotebook", "replace", "replace_in_file", "replace_string_in_file", "multi_replace_string_in_file",
		"insert_edit_into_file", "search_replace", "SearchReplace", "StrReplace", "search_and_replace", "single_find_and_replace", "edit_existing_file",
		"insert_content", "apply_diff", "reapply", "replace_file_content", "multi_replace_file_content", "undo_edit", "format_file", "StrReplaceFile", "editFiles",
		"restore_file_from_disk", "strReplace")
	known(tool{deleteFile}, "Delete", "DeleteFile", "delete", "delete_file", "deleteFile", "delete_path", "remove_file", "remove-files")
	known(tool{moveFile}, "move_path", "move_file", "moveFile", "rename_file", "renameFile")
	known(tool{copyFile}, "copy_path", "copy_file", "copyFile")
	known(tool{(*reading).patch}, "apply_patch", "applyPatch", "ApplyPatch", "patch", "Patch", "apply_patch_tool")
	known(tool{editor},
		"str_replace_editor", "str_replace_based_edit_tool", "str-replace-editor", "file_editor", "text_editor", "developer__text_editor", "edit_anthropic",
		"fs_write", "memory")

	known(looks(listFolder), "LS", "ls", "List", "list", "list_dir", "list_directory", "list_files", "listDirectory", "LSTool", "listFiles")
	known(looks(findFiles),
		"Glob", "glob", "GlobTool", "FindFiles", "find_files", "find_path", "file_search", "fileSearch", "file_glob_search", "glob_file_search", "find_by_name",
		"findFiles")
	known(looks(searchText),
		"Grep", "grep", "GrepTool", "rg", "Search", "search", "search_file_content", "SearchText", "grep_search", "grepSearch", "search_files", "searchFiles",
		"codebase_search", "CodebaseSearch", "semantic_search", "SemanticSearch", "file_content_search", "grep_files", "textSearch")

	known(looks(fetch),
		"WebFetch", "webfetch", "web_fetch", "WebFetchTool", "webFetch", "fetch", "Fetch", "fetch_webpage", "fetchWebPage", "fetch_url_content", "FetchUrl", "FetchURL",
		"read_web_page", "read_url_content", "open_simple_browser", "web-fetch", "agentic_fetch", "web_extract")
	known(tool{download}, "download")
	known(of(effect.Fetch),
		"WebSearch", "websearch", "web_search", "WebSearchTool", "webSearch", "google_web_search", "GoogleSearch", "search_web", "SearchWeb", "web-search", "github_repo",
		"sourcegraph", "codesearch", "fetch_pull_request", "remote_web_search")

	known(tool{own},
		"TodoWrite", "TodoRead", "todowrite", "todoread", "todo_write", "todo_read", "todos", "todo", "todo_list", "WriteTodos", "write_todos", "update_todo",
		"update_todo_list", "manage_todo_list", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList", "task_tracker", "update_plan", "UpdatePlan", "create_goal",
		"update_goal", "get_goal", "EnterPlanMode", "enter_plan_mode", "ExitPlanMode", "exit_plan_mode", "exitPlanMode", "plan_exit", "plan_enter",
		"plan_mode_respond", "AskUserQuestion", "ask_user", "AskUser", "question", "request_user_input", "ask_followup_question", "report_intent",
		"update_topic", "complete_task", "attempt_completion", "finish", "submit", "think", "thinking", "Think", "now", "StructuredOutput",
		"BashOutput", "bash_output", "read_bash", "list_bash", "stop_bash", "read_powershell", "stop_powershell", "read_command_output", "get_terminal_output", "getTerminalOutput",
		"terminal_last_command", "command_status", "job_output", "job_kill", "KillShell", "KillBash", "kill_shell", "TaskOutput", "TaskStop", "AgentOutputTool",
		"wait_agent", "collaborationwait_agent", "list_agents", "collaborationlist_agents", "ListMcpResourcesTool", "list_mcp_resources",
		"list_mcp_resource_templates", "ToolSearch", "tool_search", "clock", "sleep")
	known(of(effect.Agent),
		"Task", "task", "Agent", "agent", "invoke_agent", "subagent", "spawn_agent", "collaborationspawn_agent", "send_input", "collaborationsend_input",
		"resume_agent", "collaborationresume_agent", "close_agent", "collaborationclose_agent", "collaborationsend_message", "SendMessage", "TeamCreate",
		"TeamDelete", "runSubagent", "new_task", "delegate", "delegate_to_agent", "oracle", "Skill", "skill", "use_skill", "activate_skill", "SlashCommand",
		"run_slash_command", "switch_mode", "save_memory", "update_memory", "store_memory", "create_rule_block", "SwitchMode", "request_permissions",
		"install_plugin", "request_plugin_install")
	known(of(effect.Persist), "CronCreate", "CronDelete", "ScheduleWakeup", "RemoteTrigger")
	known(tool{own}, "CronList")
	known(of(effect.Repo), "EnterWorktree", "ExitWorktree", "get_changed_files", "view_diff")
	known(of(effect.Build), "runTests", "run_tests", "test_failure")
	known(of(effect.Install), "install_extension", "install_python_packages")

	known(tool{useServer}, "use_mcp_tool")
	known(tool{serverResource}, "ReadMcpResourceTool", "read_mcp_resource", "access_mcp_resource")
	known(tool{batch}, "batch", "multi_tool_use.parallel", "parallel")
}

// code is a tool that runs code it is given.
func code(r *reading, name string, args *value) {
	r.run(name, effect.Code)
	r.coverable = true
	r.opaque("", "code is run by "+name)
	r.coverable = false
}

// screen is a tool that types into a program that already runs: what it does
// there cannot be told.
func screen(r *reading, name string, args *value) {
	r.run(name, effect.UI)
	for i := range args.members {
		m := &args.members[i]
		switch argumentName(m.name) {
		case "chars", "input", "text", "keys", "data", "command":
			if m.value.empty() {
				continue
			}
			r.opaque(m.name, "text is typed into a running program")
			return
		}
	}
	// Nothing is typed: the call only waits for output.
	r.effects[len(r.effects)-1].Command.Class = effect.Look
	r.strangers(name, args)
}

// batch is a tool whose arguments are calls of other tools.
func batch(r *reading, name string, args *value) {
	if r.nesting++; r.nesting > maxCalls {
		r.opaque("", "calls nest too deep")
		return
	}
	defer func() { r.nesting-- }()
	before := len(r.effects)
	all := func(r *reading) {
		for i := range args.members {
			m := &args.members[i]
			for j := range m.value.list {
				r.inner(m.name, &m.value.list[j])
			}
		}
	}
	if r.beside == nil {
		alone := *r
		alone.effects, alone.beside = nil, []effect.Effect{}
		all(&alone)
		r.beside = alone.effects
		defer func() { r.beside = nil }()
	}
	all(r)
	if len(r.effects) == before {
		r.opaque("", "a batch without calls")
	}
}

// inner reads one call out of a batch.
func (r *reading) inner(arg string, v *value) {
	var names []string
	inner := value{kind: '{'}
	for i := range v.members {
		m := &v.members[i]
		switch argumentName(m.name) {
		case "tool", "toolname", "name", "recipientname":
			names = append(names, trimFunctions(m.value.text))
		case "parameters", "arguments", "args", "input":
			if !inner.empty() {
				r.opaque(arg, "the call in a batch has two sets of arguments")
			}
			inner = *objectOf(&m.value)
		}
	}
	if len(names) != 1 {
		r.opaque(arg, "a call in a batch that names no single tool")
	}
	for _, n := range names {
		r.call(n, &inner)
	}
}

// objectOf reads text that holds an object as that object.
func objectOf(v *value) *value {
	if v.kind == '"' {
		if inner, flaw, err := parseArguments([]byte(v.text)); err == nil && flaw == "" && inner.kind == '{' {
			return &inner
		}
	}
	return v
}

func trimFunctions(name string) string {
	const prefix = "functions."
	if len(name) > len(prefix) && name[:len(prefix)] == prefix {
		return name[len(prefix):]
	}
	return name
}
