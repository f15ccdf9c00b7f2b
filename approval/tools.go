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
	tools := make(map[string]Cluster, 256)
	for _, group := range [...]struct {
		cluster Cluster
		names   string
	}{
		{Bash, `
			Bash BashOutput KillBash KillShell PowerShell Monitor
			shell shell_command local_shell exec_command write_stdin container.exec unified_exec
			run_shell_command
			bash
			Shell run_terminal_cmd run_terminal_command terminal
			read_bash write_bash stop_bash list_bash powershell read_powershell write_powershell stop_powershell
			run_in_terminal runInTerminal get_terminal_output getTerminalOutput
			execute_command execute_bash executeBash run_command`},
		{Read, `
			Read Glob Grep LS NotebookRead
			read_file list_dir grep_files view_image
			read_many_files list_directory glob search_file_content grep_search
			read grep list ls
			file_search codebase_search SemanticSearch ReadLints read_lints
			view rg readFile listDirectory fileSearch textSearch semantic_search
			view_file view_line_range find_by_name find_path
			search_files list_files list_code_definition_names
			fs_read ReadFile`},
		{Write, `
			Write Edit MultiEdit NotebookEdit
			apply_patch
			write_file replace edit_file save_memory
			write edit multiedit patch
			StrReplace Delete EditNotebook search_replace delete_file reapply
			create str_replace_editor str_replace_based_edit_tool file_editor
			create_file replace_string_in_file multi_replace_string_in_file insert_edit_into_file
			create_directory edit_notebook_file createFile editFiles
			write_to_file replace_in_file apply_diff insert_content search_and_replace replace_file_content
			delete_path move_path copy_path save_file restore_file_from_disk
			fs_write fsWrite WriteFile StrReplaceFile
			FileMutateToolJob`},
		{Web, `
			WebFetch WebSearch
			web_search web_fetch google_web_search
			webfetch websearch codesearch
			FetchURL SearchWeb
			fetch_webpage fetch browser_action read_url_content search_web web_extract
			WebSearchToolJob WebExtractToolJob`},
	} {
		for name := range strings.FieldsSeq(group.names) {
			tools[name] = group.cluster
		}
	}
	return tools
}()
