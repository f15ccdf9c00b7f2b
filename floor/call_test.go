package floor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"assent/approval"
	"assent/floor/effect"
	"assent/floor/paths"

	"github.com/google/go-cmp/cmp"
)

// told writes effects as lines: kind, target, and what sets the effect apart.
func told(effects []effect.Effect) []string {
	var out []string
	for _, e := range effects {
		line := e.Kind.String()
		if e.Certainty == effect.Maybe {
			line = "maybe " + line
		}
		if e.Kind == effect.Run && e.Command != nil && e.Command.Class != "" {
			line += "@" + string(e.Command.Class)
		}
		if e.Meta {
			line += " names"
		}
		if e.Tree {
			line += " tree"
		}
		if (e.Kind == effect.Read || e.Kind == effect.Write || e.Kind == effect.Delete) && !e.Path.Known() {
			line += " unknown"
		}
		if e.Path.Known() {
			line += " " + e.Path.Abs
		} else {
			line += " " + e.Target
		}
		if e.Kind == effect.Opaque && e.Coverable {
			line += " (coverable)"
		}
		out = append(out, line)
	}
	return out
}

func at(name, arguments string) Call {
	return Call{Name: name, Arguments: []byte(arguments), Workspace: "/home/user/project", Home: "/home/user"}
}

// The tool of a server is not taken for a built-in tool of another client.
func TestToolsOfAClient(t *testing.T) {
	for _, row := range []struct {
		client, name, arguments string
		want                    approval.PolicyResult
	}{
		{"opencode", "todo_write", `{}`, approval.Ask}, {"opencode", "ask_user", `{"question":"x"}`, approval.Ask}, {"opencode", "read_file", `{"path":"a"}`, approval.Ask},
		{"opencode", "list_directory", `{"path":"."}`, approval.Ask}, {"opencode", "todowrite", `{"todos":[]}`, approval.Allow}, {"opencode", "read", `{"filePath":"a"}`, approval.Allow},
		{"opencode", "read_file", `{"path":"/etc/shadow"}`, approval.Block}, {"opencode", "batch", `{"tool_calls":[{"tool":"todo_write","parameters":{}}]}`, approval.Ask},
		{"Gemini CLI", "todo", `{}`, approval.Ask}, {"Gemini CLI", "write_todos", `{"todos":[]}`, approval.Allow}, {"Gemini CLI", "read_file", `{"file_path":"a"}`, approval.Allow},
		{"", "todo_write", `{}`, approval.Allow}, {"Claude Code", "TodoWrite", `{"todos":[]}`, approval.Allow}, {"another", "ask_user", `{"question":"x"}`, approval.Allow},
	} {
		call := at(row.name, row.arguments)
		call.Client = row.client
		if v := (&Floor{}).Judge(call); v.Result != row.want {
			t.Errorf("%s %s %s: %v, want %v: %s", row.client, row.name, row.arguments, v.Result, row.want, v.Message)
		}
	}
}

// No built-in tool that is allowed by itself passes a command over.
func TestNoToolPassesACommandOver(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		for _, first := range []string{``, `"file_path":"a",`, `"pattern":"a",`, `"query":"a",`, `"path":".",`} {
			for _, rest := range []string{`"command":"rm -rf ~"`, `"cmd":["rm","-rf","/"]`, `"run_command":"rm -rf ~"`, `"zap":"x"`} {
				if rest == `"zap":"x"` && !harmless(name) {
					continue // it has arguments of its own, which are read
				}
				v := (&Floor{}).Judge(at(name, `{`+first+rest+`}`))
				if v.Result == approval.Allow {
					t.Errorf("%s with %s%s is allowed", name, first, rest)
				}
			}
		}
	}
}

// harmless are tools that are allowed with nothing.
func harmless(name string) bool {
	return name != "StructuredOutput" && (&Floor{}).Judge(at(name, `{"status":"x"}`)).Result == approval.Allow && len(told(read(new(at(name, `{}`)), new(at(name, `{}`)).Place()).effects)) == 1 &&
		told(read(new(at(name, `{}`)), new(at(name, `{}`)).Place()).effects)[0] == "run@look "+name
}

func TestEffectsOfTools(t *testing.T) {
	tests := []struct{ why, name, arguments, want string }{
		{"absolute read", "Read", `{"file_path":"/home/user/project/a.go"}`, "read /home/user/project/a.go"},
		{"relative read", "read_file", `{"absolute_path":"sub/../a.go"}`, "read /home/user/project/a.go"},
		{"camel-case argument", "read", `{"filePath":"/etc/passwd"}`, "read /etc/passwd"},
		{"capitals", "view_file", `{"AbsolutePath":"/etc/passwd"}`, "read /etc/passwd"},
		{"home", "Read", `{"file_path":"~/.ssh/id_rsa"}`, "read /home/user/project/~/.ssh/id_rsa\nread /home/user/.ssh/id_rsa"},
		{"tool that trims", "Read", `{"file_path":" /etc/passwd"}`, "read /home/user/project/ /etc/passwd\nread /etc/passwd"},
		{"variable", "Write", `{"file_path":"$HOME/.bashrc","content":"x"}`, "write /home/user/project/$HOME/.bashrc\nwrite /home/user/.bashrc"},
		{"dollar in a name", "Read", `{"file_path":"routes/$id.tsx"}`, "read /home/user/project/routes/$id.tsx"},
		{"file URL", "Read", `{"file_path":"file:///etc/passwd"}`, "read unknown file:///etc/passwd\nread /etc/passwd"},
		{"other URL", "Read", `{"file_path":"vscode-remote://x/y"}`, "read unknown vscode-remote://x/y"},
		{"device path", "Read", `{"file_path":"\\??\\UNC\\h\\share\\x"}`, `read unknown \??\UNC\h\share\x` + "\nmaybe read /??/UNC/h/share/x\nmaybe read /home/user/project/??UNChsharex\nmaybe read /?\nmaybe read /home/user/project/?"},
		{"drive", "Write", `{"file_path":"C:\\Users\\x\\id"}`, `write unknown C:\Users\x\id` + "\nmaybe write /home/user/project/C\nmaybe write /home/user/project/C:Usersxid\nmaybe write /Users/x/id" +
			"\nmaybe write /home/user/project/Usersxid\nmaybe write /home/user/project/C/Users/x/id"},
		{"NUL in a path", "Read", "{\"file_path\":\"a\\u0000b\"}", "opaque the path holds a NUL byte\nread unknown a\x00b\nread /home/user/project/a"},
		{"empty path", "Read", `{"file_path":""}`, "opaque the path is empty"},
		{"no path", "Read", `{}`, "opaque no path is given"},
		{"no arguments", "Read", ``, "opaque no path is given"},
		{"path of a wrong type", "Read", `{"file_path":7}`, "opaque the path is no text\nopaque no path is given"},
		{"two spellings, two paths", "Read", `{"file_path":"a","path":"/etc/shadow"}`,
			"opaque two arguments name two different paths\nread /home/user/project/a\nread /etc/shadow"},
		{"two ways to write a name, two paths", "Read", `{"file_path":"a","filePath":"/etc/shadow"}`,
			"opaque two arguments name two different paths\nread /home/user/project/a\nread /etc/shadow"},
		{"two spellings, one path", "Read", `{"file_path":"a","path":"a"}`, "read /home/user/project/a\nread /home/user/project/a"},
		{"repeated name", "Read", `{"file_path":"a","file_path":"/etc/shadow"}`,
			"opaque the arguments are not strict JSON: character 18: \"file_path\" stands there a second time\nread /home/user/project/a\nread /etc/shadow"},
		{"several files", "read_file", `{"files":[{"path":"a"},{"path":"b"}]}`, "read /home/user/project/a\nread /home/user/project/b"},
		{"edit", "Edit", `{"file_path":"a","old_string":"/etc/x","new_string":"y"}`, "read /home/user/project/a\nwrite /home/user/project/a"},
		{"notebook", "NotebookEdit", `{"notebook_path":"n.ipynb"}`, "read /home/user/project/n.ipynb\nwrite /home/user/project/n.ipynb"},
		{"many edits", "multi_replace_string_in_file", `{"replacements":[{"filePath":"a"},{"filePath":"b"}]}`,
			"read /home/user/project/a\nwrite /home/user/project/a\nread /home/user/project/b\nwrite /home/user/project/b"},
		{"delete", "delete_file", `{"target_file":"a"}`, "delete tree /home/user/project/a"},
		{"move", "move_path", `{"source_path":"a","destination_path":"/b"}`, "read tree /home/user/project/a\ndelete tree /home/user/project/a\nwrite tree /b"},
		{"editor looks", "str_replace_editor", `{"command":"view","path":"/etc"}`, "read /etc"},
		{"editor creates", "str_replace_based_edit_tool", `{"command":"create","path":"a"}`, "write /home/user/project/a"},
		{"editor does what nobody knows", "str_replace_editor", `{"command":"zap","path":"a"}`,
			"opaque unknown editor command zap\nread /home/user/project/a\nwrite /home/user/project/a\ndelete /home/user/project/a"},

		{"list here", "LS", `{}`, "read names /home/user/project"},
		{"list a tree", "list_files", `{"path":"sub","recursive":true}`, "read names tree /home/user/project/sub"},
		{"glob", "Glob", `{"pattern":"**/*.go"}`, "read names tree /home/user/project"},
		{"glob climbs out", "Glob", `{"pattern":"../../**/*.pem"}`, "read names tree /home/user/project\nread names tree /home/**/*.pem"},
		{"absolute glob", "glob", `{"pattern":"/etc/*","path":"sub"}`, "read names tree /home/user/project/sub\nread names tree /etc/*"},
		{"glob hides a climb in braces", "Glob", `{"pattern":"{a,../..}/x"}`,
			"read names tree /home/user/project\nread names tree /home/user/project/a/x\nread names tree /home/x"},
		{"search everything", "Grep", `{"pattern":"../x"}`, "read tree /home/user/project"},
		{"search elsewhere", "Grep", `{"pattern":"x","path":"/tmp"}`, "read tree /tmp"},
		{"search by name", "Grep", `{"pattern":"PASSWORD","path":"/home/user/project","glob":"app.config"}`,
			"read /home/user/project\nread /home/user/project/**/app.config"},
		{"search by names", "grep_search", `{"query":"x","includePattern":"*.{ts,tsx}"}`,
			"read /home/user/project\nread /home/user/project/**/*.ts\nread /home/user/project/**/*.tsx"},
		{"search without a name", "grep_search", `{"query":"x","includePattern":"!*.ts"}`, "read tree /home/user/project"},
		{"read many", "read_many_files", `{"paths":["docs/*.md","/etc/passwd"]}`, "read tree /home/user/project/docs/*.md\nread tree /etc/passwd\nread /etc/passwd/**"},

		{"patch", "apply_patch", `{"command":"*** Begin Patch\n*** Add File: a\n+*** Add File: no\n*** Update File: b\n*** Move to: /c\n@@\n*** Delete File: d\n*** End Patch\n"}`,
			"write /home/user/project/a\nread /home/user/project/b\nwrite /home/user/project/b\nwrite /c\ndelete /home/user/project/b\ndelete /home/user/project/d"},
		{"patch as bare text", "apply_patch", `"*** Begin Patch\n*** Delete File: d\n*** End Patch"`, "delete /home/user/project/d"},
		{"patch through a shell tool", "shell", `{"command":["apply_patch","*** Begin Patch\n*** Add File: a\n*** End Patch"]}`, "write /home/user/project/a"},
		{"patch without files", "apply_patch", `{"input":"hello"}`, "opaque the patch names no file"},
		{"unified diff", "patch", `{"patch":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n"}`,
			"read /home/user/project/a/x\nwrite /home/user/project/a/x\nread /home/user/project/x\nwrite /home/user/project/x\n" +
				"read /home/user/project/b/x\nwrite /home/user/project/b/x\nread /home/user/project/x\nwrite /home/user/project/x"},
		{"patch as an operation", "apply_patch", `{"operation":{"type":"delete_file","path":"a"}}`,
			"delete /home/user/project/a\nread /home/user/project/a\nwrite /home/user/project/a"},

		{"fetch", "WebFetch", `{"url":"https://u@Example.com./x","prompt":"see http://other.example"}`, "net https://u@Example.com./x"},
		{"fetch by prose", "web_fetch", `{"prompt":"get http://127.0.0.1:1/x, and (https://b.example)."}`, "net http://127.0.0.1:1/x\nnet https://b.example"},
		{"fetch nothing", "web_fetch", `{"prompt":"hello"}`, "opaque no address is given"},
		{"fetch a file", "WebFetch", `{"url":"file:///etc/passwd"}`, "read unknown file:///etc/passwd\nread /etc/passwd\nnet file:///etc/passwd"},
		{"fetch with NUL", "WebFetch", `{"url":"https://a\u0000.b"}`, "opaque the address holds a control character\nnet https://a\x00.b"},
		{"web search", "WebSearch", `{"query":"x"}`, "run@fetch WebSearch"},

		{"the command of a tool for the agent alone", "attempt_completion", `{"result":"done","command":"rm -rf b"}`,
			"run@look attempt_completion\nopaque a command is given as command\nmaybe run@edit rm -rf b\nmaybe delete tree /home/user/project/b"},
		{"an argument that it does not have", "think", `{"thought":"x","zap":"/etc/x"}`, "run@look think\nopaque what zap changes about the call is not known\nmaybe read /etc/x\nmaybe write /etc/x"},
		{"a switch that it does not have", "exit_plan_mode", `{"plan":"x","zap":true}`, "run@look exit_plan_mode\nopaque what zap changes about the call is not known"},
		{"a command that is a choice", "task_tracker", `{"command":"view"}`, "run@look task_tracker"},
		{"nothing in an argument that it does not have", "TodoRead", `{"zap":""}`, "run@look TodoRead"},
		{"own notes", "TodoWrite", `{"todos":[{"content":"rm -rf /"}]}`, "run@look TodoWrite"},
		{"an agent", "Task", `{"prompt":"x"}`, "run@agent Task"},
		{"typing", "write_stdin", `{"session_id":1,"chars":"y\n"}`, "run@ui write_stdin\nopaque text is typed into a running program"},
		{"waiting", "write_stdin", `{"session_id":1,"chars":""}`, "run@look write_stdin"},
		{"code", "execute_ipython_cell", `{"code":"1"}`, "run@code execute_ipython_cell\nopaque code is run by execute_ipython_cell (coverable)"},
		{"batch", "batch", `{"tool_calls":[{"tool":"read","parameters":{"filePath":"a"}},{"tool":"todowrite","parameters":{}}]}`,
			"read /home/user/project/a\nrun@look todowrite"},
		{"batch of text", "multi_tool_use.parallel", `{"tool_uses":[{"recipient_name":"functions.read_file","parameters":"{\"path\":\"a\"}"}]}`,
			"read /home/user/project/a"},
		{"empty batch", "batch", `{}`, "opaque a batch without calls"},

		{"look-up of a server", "mcp__tracker__get_issue", `{"id":"1; rm -rf /"}`, "mcp tracker/get_issue"},
		{"two readings of a name", "mcp__a__b__get_x", `{}`, "mcp a/b__get_x\nmcp a__b/get_x"},
		{"one underscore", "mcp_fakemcp_danger", `{"text":"d"}`, "mcp fakemcp/danger"},
		{"slash", "tracker/get_issue", `{}`, "mcp tracker/get_issue"},
		{"strange tool name", "mcp__srv__foo:bar", `{"x":1}`, "mcp srv/foo:bar"},
		{"no server", "mcp__x", `{}`, "opaque the name mcp__x tells no server and tool"},
		{"read through a server", "mcp__filesystem__read_text_file", `{"path":"/home/user/allowed-evil/x"}`,
			"mcp filesystem/read_text_file\nread /home/user/allowed-evil/x"},
		{"move through a server", "mcp__filesystem__move_file", `{"source":"/home/user/project/x","destination":"/home/user/.bashrc"}`,
			"mcp filesystem/move_file\nread tree /home/user/project/x\ndelete tree /home/user/project/x\nwrite /home/user/.bashrc"},
		{"write through a server", "mcp__filesystem__write_file", `{"path":"a","content":"/etc/x y"}`,
			"mcp filesystem/write_file\nread /home/user/project/a\nwrite /home/user/project/a\nmaybe read /etc/x y\nmaybe write /etc/x y"},
		{"page code", "mcp__playwright__browser_evaluate", `{"function":"() => document.cookie"}`,
			"mcp playwright/browser_evaluate\nopaque the tool may return secrets (coverable)\nopaque code is given as function (coverable)"},
		{"free query", "mcp__supabase__execute_sql", `{"query":"select 1"}`, "mcp supabase/execute_sql\nopaque code is given as query (coverable)"},
		{"plain query", "mcp__tracker__search_issues", `{"query":"select 1"}`, "mcp tracker/search_issues"},
		{"secrets", "mcp__everything__get-env", `{}`, "mcp everything/get-env\nopaque the tool may return secrets (coverable)"},
		{"page", "mcp__browser__navigate", `{"url":"http://169.254.169.254/"}`, "mcp browser/navigate\nnet http://169.254.169.254/"},
		{"file URL of a server", "mcp__docs__read_page", `{"uri":"file:///etc/passwd"}`, "mcp docs/read_page\nread /etc/passwd"},
		{"named by arguments", "use_mcp_tool", `{"server_name":"fs","tool_name":"read_file","arguments":"{\"path\":\"/etc/x\"}"}`,
			"mcp fs/read_file\nread /etc/x"},
		{"resource", "ReadMcpResourceTool", `{"server":"fs","uri":"file:///etc/x"}`, "mcp fs/read_resource\nread /etc/x"},

		{"unknown tool", "frobnicate", `{}`, "opaque unknown tool frobnicate"},
		{"unknown joined name", "srv_get", `{"path":"/etc/x"}`,
			"opaque unknown tool srv_get\nmaybe mcp srv/get\nmaybe read /etc/x\nmaybe write /etc/x"},
		{"no name", "", `{}`, "opaque a tool without a name"},
		{"array", "Read", `["a"]`, "opaque the arguments are not an object\nopaque no path is given"},
		{"no JSON", "Read", `{"file_path":`, "opaque the arguments are not strict JSON: character 14: it ends in the middle: a } is missing\nopaque no path is given"},
		{"more than one value", "Read", `{"file_path":"a"} {"file_path":"/etc/x"}`,
			"opaque the arguments are not strict JSON: there is text after the arguments\nread /home/user/project/a"},
		{"text that holds an object", "Read", `"{\"file_path\":\"a\"}"`, "read /home/user/project/a"},
		{"deep", "Read", `{"file_path":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
			"opaque the arguments are not strict JSON: the arguments nest too deep\nopaque no path is given"},
		{"invalid UTF-8", "Read", "{\"file_path\":\"/etc/\xff\"}", "opaque there are bytes that are no UTF-8 (character 20 of the arguments)\nread /etc/\ufffd"},
		{"no command", "Bash", `{"description":"x"}`, "opaque no command is given"},
		{"command of a wrong type", "Bash", `{"command":{"x":1}}`, "opaque the command is no text"},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			effects, text := Effects(at(test.name, test.arguments))
			if diff := cmp.Diff(strings.Split(test.want, "\n"), told(effects)); diff != "" {
				t.Errorf("%s %s: (-want +got)\n%s", test.name, test.arguments, diff)
			}
			if text != "" {
				t.Errorf("text %q of a tool that is no shell", text)
			}
		})
	}
}

// What a shell tool is given becomes the text that the shell reader judges.
func TestTextOfShellTools(t *testing.T) {
	tests := []struct{ why, name, arguments, text string }{
		{"text", "Bash", `{"command":"cat a | wc"}`, "cat a | wc"},
		{"cmd", "exec_command", `{"cmd":"cat a"}`, "cat a"},
		{"capitals", "run_command", `{"CommandLine":"cat a","Cwd":"/tmp"}`, "cat a"},
		{"shell words", "shell", `{"command":["bash","-lc","cat a | wc"]}`, "cat a | wc"},
		{"words", "shell", `{"command":["cat","a b","*"]}`, "cat 'a b' '*'"},
		{"a word that is a keyword", "shell", `{"command":["if","x"]}`, "'if' x"},
		{"a word that is an assignment", "shell", `{"command":["A=b","x"]}`, "'A=b' x"},
		{"a shell of one's own", "shell", `{"command":["./bash","-c","cat a"]}`, "./bash -c 'cat a'"},
		{"nested", "local_shell", `{"action":{"type":"exec","command":["cat","a"],"working_directory":"/tmp"}}`, "cat a"},
		{"as text", "shell", `"{\"command\":\"cat a\"}"`, "cat a"},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			_, text := Effects(at(test.name, test.arguments))
			if text != test.text {
				t.Errorf("%s %s: got text %q, want %q", test.name, test.arguments, text, test.text)
			}
		})
	}
}

// tells checks that an effect is among those of a call.
func tells(t *testing.T, name, arguments, want string) {
	t.Helper()
	effects, _ := Effects(at(name, arguments))
	lines := strings.Join(told(effects), "\n") + "\n"
	if !strings.Contains(lines, want+"\n") {
		t.Errorf("%s %s: no effect %q among\n%s", name, arguments, want, lines)
	}
}

func TestWhereShellToolsRun(t *testing.T) {
	tests := []struct{ why, name, arguments, want string }{
		{"in the present folder", "Bash", `{"command":"cat a"}`, "read /home/user/project/a"},
		{"in a folder", "shell", `{"command":"cat a","workdir":"sub"}`, "read /home/user/project/sub/a"},
		{"outside", "run_shell_command", `{"command":"cat a","dir_path":"/etc"}`, "read /etc/a"},
		{"in two folders", "run_shell_command", `{"command":"cat a","dir_path":"/etc","directory":"sub"}`, "opaque two arguments name two different folders"},
		{"another home", "Bash", `{"command":"cat ~/a","env":{"HOME":"/etc"}}`, "read /etc/a"},
		{"another user", "local_shell", `{"action":{"command":["id"],"user":"root"}}`, "opaque the command runs as another user"},
		{"another shell", "exec_command", `{"cmd":"cat a","shell":"/tmp/bash"}`, "opaque the command is read by /tmp/bash"},
		{"a variable", "Bash", `{"command":"make","env":{"PATH":"/tmp"}}`, "env PATH"},
		{"two commands", "Bash", `{"command":"cat a","cmd":"cat /etc/shadow"}`, "read /etc/shadow"},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) { tells(t, test.name, test.arguments, test.want) })
	}
}

// Whatever the members of a shell tool's arguments make together is judged, and
// what takes a command out of its place is never silent.
func TestMembersOfShellTools(t *testing.T) {
	tests := []struct{ why, name, arguments, want string }{
		{"further words", "execute_command", `{"command":"cat","args":[".env"]}`, "read /home/user/project/.env"},
		{"further words as text", "execute_command", `{"command":"cat","args":"a b"}`, "read /home/user/project/b"},
		{"further words that are quoted", "execute_command", `{"command":"cat","args":["a b"]}`, "read /home/user/project/a b"},
		{"further words that are not quoted", "execute_command", `{"command":"cat","args":["a;cat b"]}`, "read /home/user/project/b"},
		{"the command alone", "execute_command", `{"command":"rm -rf x","args":["--help"]}`, "delete tree /home/user/project/x"},
		{"words alone", "execute_command", `{"args":["cat","a"]}`, "read /home/user/project/a"},
		{"words that are no text", "execute_command", `{"command":"cat","args":[{"x":1}]}`, "opaque the words of the command are no text"},
		{"an object", "Bash", `{"command":{"cmd":"cat .env"}}`, "read /home/user/project/.env"},
		{"an object with a folder", "Bash", `{"command":{"cmd":"cat a","cwd":"/etc"}}`, "read /etc/a"},
		{"a list of objects", "run_commands", `{"commands":[{"command":"cat a"},{"command":"cat b"}]}`, "read /home/user/project/b"},
		{"a list of texts and others", "run_commands", `{"commands":["cat a",1]}`, "read /home/user/project/a"},
		{"options", "exec", `{"command":"cat a","options":{"cwd":"/etc"}}`, "read /etc/a"},
		{"home as folder", "Bash", `{"command":"cat a","cwd":"~"}`, "read /home/user/a"},
		{"home as the name of a folder", "Bash", `{"command":"cat a","cwd":"~"}`, "read /home/user/project/~/a"},
		{"a variable as folder", "shell", `{"command":"cat a","workdir":"$HOME/.ssh"}`, "read /home/user/.ssh/a"},
		{"below home", "run_shell_command", `{"command":"cat id_rsa","directory":"~/.ssh"}`, "read /home/user/.ssh/id_rsa"},
		{"two folders", "run_shell_command", `{"command":"cat a","dir_path":"/etc","directory":"sub"}`, "read /etc/a"},
		{"a program that reads it", "exec_command", `{"cmd":"cat a","shell":"/tmp/x"}`, "read /tmp/x"},
		{"a library to load", "Bash", `{"command":"ls","env":{"LD_PRELOAD":"/tmp/x.so"}}`, "env LD_PRELOAD"},
		{"no name of a variable", "Bash", `{"command":"ls","env":{"A B":"x"}}`, "env A B"},
		{"text for a shell", "Bash", `{"command":"bash","stdin":"cat .env"}`, "read /home/user/project/.env"},
		{"input for a shell", "Bash", `{"command":"sh","input":"rm -rf /etc\n"}`, "delete tree /etc"},
		{"only input", "exec", `{"input":"cat .env"}`, "read /home/user/project/.env"},
		{"another command", "Bash", `{"command":"ls","setup_command":"cat .env"}`, "read /home/user/project/.env"},
		{"a file for the output", "Bash", `{"command":"ls","output_file":".git/hooks/pre-commit"}`, "write /home/user/project/.git/hooks/pre-commit"},
		{"where a tool knows no folder", "Bash", `{"command":"cat ../a","cwd":"sub"}`, "read /home/user/a"},
		{"and one that may mean it", "Bash", `{"command":"cat ../a","cwd":"sub"}`, "read /home/user/project/a"},
		{"a name that may be the folder", "exec", `{"command":"cat ../a","project_root":"sub"}`, "read /home/user/a"},
		{"what nobody knows", "Bash", `{"command":"ls","launcher":"/etc/x"}`, "opaque what launcher changes about the command is not known"},
		{"a path in what nobody knows", "Bash", `{"command":"ls","launcher":"/etc/x"}`, "read /etc/x"},
		{"an object that nobody knows", "Bash", `{"command":"ls","overrides":{"file":"/etc/x"}}`, "write /etc/x"},
		{"another machine", "exec", `{"command":"ls","host":"prod"}`, "opaque the command runs somewhere else"},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) { tells(t, test.name, test.arguments, test.want) })
	}
}

func TestEscalationsAreNeverSilent(t *testing.T) {
	loud := []string{
		`"sudo":true`, `"with_escalated_permissions":true`, `"sandbox_permissions":"require_escalated"`, `"sandbox_permissions":["disk-full-read-access"]`,
		`"dangerouslyDisableSandbox":true`, `"dangerously_disable_sandbox":"true"`, `"unsandboxed":true`, `"elevated":true`, `"runElevated":true`, `"as_root":true`,
		`"asRoot":"yes"`, `"user":"root"`, `"uid":"0"`, `"run_as_admin":true`, `"privileged":1`, `"sandbox":false`, `"sandbox":"none"`, `"sandbox":"danger-full-access"`,
		`"use_sandbox":false`, `"sandbox_mode":"danger-full-access"`, `"sandbox_policy":{"type":"dangerFullAccess"}`, `"bypassSandbox":true`, `"no_sandbox":true`,
		`"additional_permissions":{"network":true}`, `"network_access":true`, `"shell":"/tmp/x"`, `"env":{"LD_PRELOAD":"/tmp/x.so"}`,
		`"environment":{"PATH":"/tmp"}`, `"environment":["BASH_ENV=/tmp/x"]`, `"stdin":"rm x"`, `"action":"detach"`,
		`"wrapper":"nsenter"`, `"prefix":["strace"]`, `"init":"rm x"`, `"mode":"jailbreak"`, `"then":"rm x"`, `"container":"db"`, `"docker":true`, `"template":{"x":"y"}`, `"run":"x"`,
	}
	for _, m := range loud {
		var f Floor
		if v := f.Judge(at("Bash", `{"command":"ls",`+m+`}`)); v.Result < approval.Ask {
			t.Errorf("%s: %s; an escalation is never silent", m, v.Result)
		}
	}
	// What leaves a sandbox or raises rights is denied: no grant answers it.
	for _, m := range loud[:slices.Index(loud, `"shell":"/tmp/x"`)] {
		var f Floor
		if v := f.Judge(at("Bash", `{"command":"ls",`+m+`}`)); v.Result < approval.Deny {
			t.Errorf("%s: %s; a grant would answer it", m, v.Result)
		}
	}
	quiet := []string{
		`"sudo":false`, `"with_escalated_permissions":false`, `"sandbox_permissions":"use_default"`, `"dangerouslyDisableSandbox":false`, `"sandbox":true`,
		`"sandbox_mode":"workspace-write"`, `"network_access":false`, `"run_in_background":true`, `"timeout":120000`, `"timeout_ms":1000`, `"is_background":false`,
		`"description":"needs sudo"`, `"justification":"it must leave the sandbox"`, `"login":false`, `"tty":true`, `"yield_time_ms":10`, `"max_output_tokens":10`, `"shell":"bash"`,
		`"shell":true`, `"shell":"/bin/bash"`, `"env":{"CI":"1"}`, `"env":{}`, `"args":[]`, `"cwd":"sub"`, `"workdir":"/home/user/project"`, `"stdin":null`, `"explanation":"lists ~/x"`, `"user":""`,
		`"SafeToAutoRun":true`, `"mode":"async"`, `"sessionId":"7"`, `"requires_approval":false`, `"task_progress":"- [ ] one"`, `"security_risk":"LOW"`, `"prefix_rule":["ls"]`, `"environment_id":"local"`,
		`"max_wait_seconds":5`, `"initial_wait":30`, `"persistent":false`, `"goal":"x"`,
	}
	for _, m := range quiet {
		var f Floor
		if v := f.Judge(at("Bash", `{"command":"ls",`+m+`}`)); v.Result != approval.Allow {
			t.Errorf("%s: %s, %s; it changes nothing", m, v.Result, v.Message)
		}
	}
	// No rule for the program answers an escalation.
	p, err := ParsePolicy("p", []byte("version: 1\nrun: {allow: [ls, make]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := Floor{Operator: p}
	for _, m := range loud {
		if v := f.Judge(at("Bash", `{"command":"ls",`+m+`}`)); v.Result < approval.Ask {
			t.Errorf("%s, with a rule for ls: %s", m, v.Result)
		}
	}
}

// The law and the floor know the same tools: whatever runs text as a shell is
// of cluster bash, so that a hatch in it is seen.
func TestShellToolsAreBash(t *testing.T) {
	shells := 0
	for name := range tools {
		if _, text := Effects(at(name, `{"command":"ls"}`)); text == "" {
			continue
		}
		shells++
		if c := approval.ClusterOf(name); c != approval.Bash {
			t.Errorf("%s: cluster %v, want bash", name, c)
		}
	}
	if shells < 10 {
		t.Errorf("only %d tools are shells", shells)
	}
}

// What is shown of a path is short inside the workspace and whole outside.
func TestTargets(t *testing.T) {
	for path, want := range map[string]string{"/home/user/project/sub/a": "sub/a", "/home/user/project": ".", "/etc/passwd": "/etc/passwd", "vscode://x": "vscode://x"} {
		effects, _ := Effects(at("Read", fmt.Sprintf(`{"file_path":%q}`, path)))
		if got := effects[0].Target; got != want {
			t.Errorf("%s: got target %q, want %q", path, got, want)
		}
	}
}

// A link in the workspace is followed for every tool.
func TestLinksHoldForTools(t *testing.T) {
	call := at("Write", `{"file_path":"outbox/new.txt"}`)
	call.Facts = paths.Facts{Links: map[string]string{"/home/user/project/outbox": "/outside"}}
	effects, _ := Effects(call)
	if got := fmt.Sprint(told(effects)); got != "[write /outside/new.txt]" {
		t.Errorf("got %s", got)
	}
}

// FuzzEffects: no call is without effects, and none brings the reader down.
func FuzzEffects(f *testing.F) {
	f.Add("Read", `{"file_path":"a"}`)
	f.Add("Bash", `{"command":["bash","-lc","ls"],"workdir":"x"}`)
	f.Add("Glob", `{"pattern":"{a,b}/**/[!x]*","path":"~"}`)
	f.Add("apply_patch", `{"input":"*** Update File: a\n*** Move to: b"}`)
	f.Add("mcp__a__b__c", `{"command":["ls","-l"],"urls":["http://x"],"o":{"path":["a"]}}`)
	f.Add("batch", `{"tool_calls":[{"tool":"batch","parameters":{"tool_calls":[]}}]}`)
	f.Fuzz(func(t *testing.T, name, arguments string) {
		effects, text := Effects(at(name, arguments))
		if len(effects) == 0 {
			t.Fatal("a call without effects")
		}
		for _, e := range effects {
			if e.Span.Start < 0 || e.Span.End > len(text) {
				t.Fatalf("the span of %+v lies outside of the text", e)
			}
		}
	})
}
