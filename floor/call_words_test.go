package floor

import (
	"testing"

	"assent/approval"

	"github.com/go-json-experiment/json"
)

// A list is a command's words, and the line that a client makes of them with
// blanks between: the stricter of both holds.
func TestWordsOfCommands(t *testing.T) {
	for _, test := range []struct {
		why   string
		words []string
		want  approval.PolicyResult
	}{
		{"plain", []string{"cat", "a", "-n"}, approval.Allow},
		{"a blank in a word", []string{"cat", "a b"}, approval.Allow},
		{"a shell with its text", []string{"bash", "-lc", "for f in a b; do cat $f; done | wc"}, approval.Allow},
		{"a shell with its text, by its path", []string{"/bin/sh", "-c", "cat a && cat b"}, approval.Allow},
		{"a semicolon", []string{"ls", ";", "rm", "x"}, approval.Ask},
		{"a semicolon in a word", []string{"ls", "a;rm x"}, approval.Ask},
		{"and", []string{"ls", "&&rm x"}, approval.Ask},
		{"or", []string{"ls", "||", "rm x"}, approval.Ask},
		{"behind", []string{"ls", "&", "rm", "x"}, approval.Ask},
		{"a pipe", []string{"ls", "|", "tee", "x"}, approval.Ask},
		{"a redirection", []string{"ls", ">", "x"}, approval.Ask},
		{"a redirection in a word", []string{"ls", "2>x"}, approval.Ask},
		{"a substitution", []string{"echo", "$(rm x)"}, approval.Ask},
		{"a backtick", []string{"echo", "`rm x`"}, approval.Ask},
		{"a process", []string{"cat", "<(rm x)"}, approval.Ask},
		{"a line feed", []string{"ls", "\nrm x"}, approval.Ask},
		{"a wildcard", []string{"cat", ".en*"}, approval.Deny},
		{"braces", []string{"cat", "{a,.env}"}, approval.Deny},
		{"a variable", []string{"cat", "$HOME/.ssh/id_rsa"}, approval.Block},
		{"home", []string{"cat", "~/.ssh/id_rsa"}, approval.Block},
		{"one word that is a line", []string{"cat a.txt .env"}, approval.Deny},
		{"quotes that words close", []string{"echo", "'", ";", "rm", "x", "'"}, approval.Allow},
		{"a comment that hides", []string{"echo", "#", "\nrm", "x"}, approval.Ask},
		{"an assignment first", []string{"A=1;rm", "x"}, approval.Ask},
		{"no text of a shell", []string{"bash", "-c", "ls", ";rm x"}, approval.Ask},
	} {
		arguments, err := json.Marshal(map[string]any{"command": test.words})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range []string{"Bash", "shell", "run_command"} {
			if v := new(Floor).Judge(at(tool, string(arguments))); v.Result != test.want {
				t.Errorf("%s: %s %q: %v, want %v\n%s", test.why, tool, test.words, v.Result, test.want, story(v))
			}
		}
	}
}

// Many commands may be run by one shell.
func TestManyCommands(t *testing.T) {
	for arguments, want := range map[string]approval.PolicyResult{
		`{"commands":["cat a","cat b"]}`:                 approval.Allow,
		`{"commands":["cd ~/.ssh","cat known"]}`:         approval.Block,
		`{"commands":["d=~/.ssh","cat $d/known"]}`:       approval.Block,
		`{"commands":["cat <<E","rm x","E"]}`:            approval.Ask,
		`{"cmds":["cd sub","cat a"]}`:                    approval.Allow,
		`{"options":{"commands":["cd /etc","rm motd"]}}`: approval.Deny,
	} {
		if v := new(Floor).Judge(at("Bash", arguments)); v.Result != want {
			t.Errorf("%s: %v, want %v\n%s", arguments, v.Result, want, story(v))
		}
	}
	v := new(Floor).Judge(at("mcp__box__execute", `{"command":["cd ~/.ssh","cat known"]}`))
	if v.Result != approval.Block {
		t.Errorf("a server's commands: %v\n%s", v.Result, story(v))
	}
}

// A folder counts in every spelling, as a path does.
func TestSpellingsOfFolders(t *testing.T) {
	for folder, want := range map[string]approval.PolicyResult{
		"src": approval.Allow, "docs/a b": approval.Allow, "../../.ssh": approval.Block, "~/.ssh": approval.Block, `\"~/.ssh\"`: approval.Block, "@~/.ssh": approval.Block, "%2e%2e/%2e%2e/.ssh": approval.Block,
		"file:///home/user/.ssh": approval.Block, "{src,/home/user/.ssh}": approval.Block, "${X}/a": approval.Ask, "vscode://a/b": approval.Ask, "a\\nb": approval.Ask, `C:\\x`: approval.Deny,
	} {
		for _, tool := range []string{"Bash", "shell"} {
			if v := new(Floor).Judge(at(tool, `{"command":"cat x","workdir":"`+folder+`"}`)); v.Result != want {
				t.Errorf("%s in %s: %v, want %v\n%s", tool, folder, v.Result, want, story(v))
			}
		}
	}
}

// What a tool for files is given besides a path may be one too.
func TestPathsBesides(t *testing.T) {
	policy, err := ParsePolicy("p", []byte("write: {allow: [\".\"]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]approval.PolicyResult{
		`{"file_path":"a","content":"/etc/x"}`:                        approval.Allow,
		`{"file_path":"a","old_string":"a.go","new_string":"b/c.go"}`: approval.Allow,
		`{"file_path":"a","target_content":".git/config"}`:            approval.Allow,
		`{"file_path":"a","output":"json"}`:                           approval.Allow,
		`{"file_path":"a","target":"a"}`:                              approval.Allow,
		`{"file_path":"a","save_as":"b.go"}`:                          approval.Ask,
		`{"file_path":"a","save_as":".git/config"}`:                   approval.Block,
		`{"path":"a","rename_to":".git/config"}`:                      approval.Block,
		`{"path":"a","newName":".git/config"}`:                        approval.Block,
		`{"path":"a","backup":"~/.ssh/x"}`:                            approval.Block,
		`{"path":"passwd","workspace":"/etc"}`:                        approval.Deny,
		`{"path":"config","workdir":".git"}`:                          approval.Deny,
		`{"path":"a","link_target":"@.git/config:1"}`:                 approval.Block,
	} {
		if v := (&Floor{Operator: policy}).Judge(at("Write", arguments)); v.Result != want {
			t.Errorf("%s: %v, want %v\n%s", arguments, v.Result, want, story(v))
		}
	}
}

// Searchers and readers of addresses are judged by all that they are told.
func TestMoreOfSearchesAndFetches(t *testing.T) {
	policy, err := ParsePolicy("p", []byte("net: {allow: [example.com]}\nmcp: {allow: [s/*]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, arguments string
		want            approval.PolicyResult
	}{
		{"Grep", `{"pattern":"--force","-A":3,"output_mode":"content","type":"go"}`, approval.Allow},
		{"Grep", `{"pattern":"--pre=./x"}`, approval.Ask},
		{"Grep", `{"pattern":"--pretty"}`, approval.Allow},
		{"Grep", `{"pattern":"x","path":"--pre=./x"}`, approval.Ask},
		{"Grep", `{"pattern":"x","args":["--pre","./x"]}`, approval.Ask},
		{"find_files", `{"pattern":"*.go","options":"-exec rm {} +"}`, approval.Ask},
		{"fetch", `{"url":"https://example.com/a","prompt":"see http://other.example/","format":"markdown"}`, approval.Allow},
		{"fetch", `{"url":"https://example.com/a","proxy":"http://other.example:8080"}`, approval.Ask},
		{"fetch", `{"url":"https://example.com/a","proxy":{"server":"169.254.169.254"}}`, approval.Block},
		{"fetch", `{"url":"https://example.com/a","output":"~/.bashrc"}`, approval.Block},
		{"fetch", `{"url":"https://example.com/a","file_path":".git/config"}`, approval.Block},
		{"fetch", `{"url":"https://example.com/a","save_to":"page.html"}`, approval.Ask},
		{"mcp__s__open", `{"url":"data:text/html,x"}`, approval.Allow},
		{"mcp__s__open", `{"url":"https:example.com"}`, approval.Allow},
	} {
		if v := (&Floor{Operator: policy}).Judge(at(test.name, test.arguments)); v.Result != test.want {
			t.Errorf("%s %s: %v, want %v\n%s", test.name, test.arguments, v.Result, test.want, story(v))
		}
	}
}
