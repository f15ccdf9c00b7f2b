package approval

import "strings"

// clientTools maps the tools of the common clients to their clusters. One
// name means one cluster, whoever uses it; where clients disagree about a
// name, the entry is the one that lets less happen unseen.
//
// Write covers everything that changes files; a tool that both looks and
// edits (str_replace_editor) is a write. Bash covers everything that steers a
// shell, writing to and reading from a running one included.
var clientTools = func() map[string]Cluster {
	tools := make(map[string]Cluster, 300)
	for _, group := range [...]struct {
		cluster Cluster
		names   string
	}{
		{Bash, `
			Bash BashOutput KillBash KillShell PowerShell Monitor
			Shell ShellTool Terminal Execute
			bash bash_command bash_output read_bash write_bash stop_bash list_bash kill_shell
			command_status container.exec developer__shell exec exec_command execute_bash executeBash execute_cmd execute_command
			get_terminal_output getTerminalOutput job_kill job_output launch-process local_shell local_shell_call
			powershell read_powershell write_powershell stop_powershell
			read_command_output run_command run_commands run_in_terminal runInTerminal run_shell_command
			run_terminal_cmd run_terminal_command run_terminal_command_v2 runTerminalCommand
			send_command_input send_to_terminal sendTerminalInput shell shell_command
			terminal terminal_input terminal_last_command unified_exec write-process write_stdin`},
		{Read, `
			Read ReadFile ReadFileTool NotebookRead View
			fs_read look_at open_file read read_currently_open_file read_file read_file_range read_files readFile readManyFiles
			read_many_files read_notebook readCode view view_code_item view_file view_file_outline view_image view_line_range
			copilot_getNotebookSummary copilot_readFile
			LSP ReadLints diagnostics get_diagnostics get_errors getDiagnostics list_code_definition_names lsp read_lints
			LS LSTool List list list_dir list_directory list_files listDirectory listFiles ls
			FindFiles Glob GlobTool file_glob_search file_search fileSearch find_by_name find_files find_path findFiles
			glob glob_file_search
			CodebaseSearch Grep GrepTool Search SearchText SemanticSearch codebase_search file_content_search
			grep grep_files grep_search grepSearch rg search search_file_content search_files searchFiles semantic_search textSearch`},
		{Write, `
			Create Write WriteFile WriteFileTool
			create create_directory create_file create_new_file create_new_jupyter_notebook createDirectory createFile
			fs_write fsAppend fsWrite make_directory mkdir new_rule
			save-file save_file save_memory write write_file write_to_file writeFile
			Edit EditFile EditNotebook EditTool MultiEdit NotebookEdit SearchReplace StrReplace StrReplaceFile
			apply_diff edit edit_existing_file edit_file edit_notebook edit_notebook_file editFile editFiles format_file
			insert_content insert_edit_into_file multi_edit multi_replace_file_content multi_replace_string_in_file multiedit
			reapply replace replace_file_content replace_in_file replace_string_in_file restore_file_from_disk
			search_and_replace search_replace single_find_and_replace strReplace undo_edit
			ApplyPatch Patch apply_patch apply_patch_tool applyPatch patch
			developer__text_editor edit_anthropic file_editor memory str-replace-editor str_replace_based_edit_tool
			str_replace_editor text_editor
			Delete DeleteFile delete delete_file delete_path deleteFile remove-files remove_file
			copy_file copy_path copyFile move_file move_path moveFile rename_file renameFile
			FileMutateToolJob`},
		{Web, `
			Fetch FetchURL FetchUrl WebFetch WebFetchTool
			agentic_fetch browser_action download generate_image fetch fetch_url_content fetch_webpage fetchWebPage open_simple_browser
			read_url_content read_web_page web-fetch web_extract web_fetch webFetch webfetch
			GoogleSearch SearchWeb WebSearch WebSearchTool
			codesearch google_web_search remote_web_search search_web web-search web_search webSearch websearch
			WebExtractToolJob WebSearchToolJob`},
	} {
		for name := range strings.FieldsSeq(group.names) {
			tools[name] = group.cluster
		}
	}
	return tools
}()
