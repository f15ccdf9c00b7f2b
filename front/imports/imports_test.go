package imports_test

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"assent/approval"
	"assent/floor"
	"assent/front/imports"
)

var update = flag.Bool("update", false, "write the expected policies anew")

var titles = map[string]string{"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "opencode": "opencode"}

// The configurations, and what becomes of them. The name begins with the client's;
// files below project/ are the project's.
func TestWhatComesOver(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, file := range archives {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			client, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txtar"), "-")
			var files []imports.File
			want := ""
			for _, f := range ar.Files {
				if f.Name == "out/policy.yaml" {
					want = string(f.Data)
					continue
				}
				files = append(files, imports.File{Path: "/home/user/" + f.Name, Text: string(f.Data), Project: strings.HasPrefix(f.Name, "project/")})
			}
			got, err := imports.Read(client, titles[client], files)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				ar.Files = slices.DeleteFunc(ar.Files, func(f txtar.File) bool { return f.Name == "out/policy.yaml" })
				ar.Files = append(ar.Files, txtar.File{Name: "out/policy.yaml", Data: []byte(got.Policy)})
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want, got.Policy); d != "" {
				t.Error(d)
			}
			if _, err := floor.ParsePolicy("policy.yaml", []byte(got.Policy)); err != nil {
				t.Error(err)
			}
			if _, err := json.Marshal(got); err != nil {
				t.Error(err)
			}
		})
	}
}

// nothing is a floor that allows nothing by itself: what is allowed, a policy
// that came over has allowed.
var nothing = floor.Floor{Base: must("version: 1\n")}

func must(text string) *floor.Policy {
	p, err := floor.ParsePolicy("base.yaml", []byte(text))
	if err != nil {
		panic(err)
	}
	return p
}

func judge(t *testing.T, policy, tool string, args map[string]string) approval.PolicyResult {
	t.Helper()
	p, err := floor.ParsePolicy("policy.yaml", []byte(policy))
	if err != nil {
		t.Fatal(err)
	}
	f := nothing
	f.Operator = p
	text, err := json.Marshal(args, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return f.Judge(floor.Call{Name: tool, Arguments: text, Workspace: "/home/user/project", Home: "/home/user"}).Result
}

// what a rule of a client says of a call
type said struct {
	why, client, config string
	tool, arg           string
	want                approval.PolicyResult // None: anything but allow
}

var argument = map[string]string{"Bash": "command", "bash": "command", "run_shell_command": "command", "Read": "file_path", "Write": "file_path", "WebFetch": "url"}

func claudes(allow, ask, deny string) string {
	return `{"permissions":{"allow":[` + allow + `],"ask":[` + ask + `],"deny":[` + deny + `]}}`
}

// An allow is never more than the client's.
func TestNothingIsAllowedThatWasNot(t *testing.T) {
	exact := claudes(`"Bash(npm run build)"`, "", "")
	prefix := claudes(`"Bash(npm run test:*)"`, "", "")
	for _, row := range []said{
		{"exact", "claude", exact, "Bash", "npm run build", approval.Allow},
		{"exact, a word more", "claude", exact, "Bash", "npm run build x", approval.None},
		{"exact, an option more", "claude", exact, "Bash", "npm run build --silent", approval.None},
		{"exact, words behind dashes", "claude", exact, "Bash", "npm run build -- --x", approval.None},
		{"exact, a word that is not known", "claude", exact, "Bash", "npm run build $X", approval.None},
		{"exact, of an unknown program", "claude", claudes(`"Bash(zonk x)"`, "", ""), "Bash", "zonk x --all", approval.None},
		{"exact, with an option", "claude", claudes(`"Bash(zonk -a x)"`, "", ""), "Bash", "zonk -a x", approval.Allow},
		{"exact, with an option, and another", "claude", claudes(`"Bash(zonk -a x)"`, "", ""), "Bash", "zonk -a -b x", approval.None},
		{"beginning", "claude", prefix, "Bash", "npm run test -- -t x", approval.Allow},
		{"beginning, of a longer word", "claude", prefix, "Bash", "npm run tests", approval.None},
		{"beginning, and another command", "claude", prefix, "Bash", "npm run test && zonk", approval.None},
		{"beginning, in a program of the folder", "claude", claudes(`"Bash(make:*)"`, "", ""), "Bash", "./make x", approval.None},
		{"a star within", "claude", claudes(`"Bash(zonk * main)"`, "", ""), "Bash", "zonk a main", approval.Allow},
		{"a star within, more behind", "claude", claudes(`"Bash(zonk * main)"`, "", ""), "Bash", "zonk a main b", approval.None},
		{"any program", "claude", claudes(`"Bash(* --version)"`, "", ""), "Bash", "zonk --version", approval.None},
		{"everything", "claude", claudes(`"Bash"`, "", ""), "Bash", "zonk", approval.None},
		{"everything, otherwise", "claude", claudes(`"Bash(*)"`, "", ""), "Bash", "zonk", approval.None},
		{"a question mark is plain", "claude", claudes(`"Bash(zonk a?:*)"`, "", ""), "Bash", "zonk ab", approval.None},
		{"an interpreter alone", "claude", claudes(`"Bash(bash)"`, "", ""), "Bash", "bash <<< zonk", approval.None},
		{"a pipe", "claude", claudes(`"Bash(zonk | sh)"`, "", ""), "Bash", "zonk | sh", approval.None},
		{"a deny before", "claude", claudes(`"Bash(zonk a:*)"`, "", `"Bash(zonk:*)"`), "Bash", "zonk a", approval.Block},
		{"an ask before", "claude", claudes(`"Bash(zonk a:*)"`, `"Bash(zonk:*)"`, ""), "Bash", "zonk a", approval.Ask},
		{"a narrower deny that holds", "claude", claudes(`"Bash(zonk:*)"`, "", `"Bash(zonk -f:*)"`), "Bash", "zonk -f x", approval.Block},
		{"a deny that cannot be said", "claude", claudes(`"Bash(zonk:*)"`, "", `"Bash(zonk * a b)"`), "Bash", "zonk 1 2 3 4 a b", approval.None},
		{"an allow beside such a deny", "claude", claudes(`"Bash(other:*)"`, "", `"Bash(zonk * a b)"`), "Bash", "other x", approval.Allow},
		{"a deny of any program", "claude", claudes(`"Bash(zonk:*)"`, "", `"Bash(*secret*)"`), "Bash", "zonk secret", approval.None},
		{"a deny of the whole tool", "claude", claudes(`"Bash(zonk:*)"`, "", `"Bash"`), "Bash", "zonk", approval.None},
		{"writing is not deleting", "claude", claudes(`"Edit(docs/**)","Bash(rm:*)"`, "", ""), "Bash", "rm docs/x", approval.None},
		{"writing", "claude", claudes(`"Edit(docs/**)"`, "", ""), "Write", "/home/user/project/docs/x", approval.Allow},
		{"writing elsewhere", "claude", claudes(`"Edit(docs/**)"`, "", ""), "Write", "/home/user/project/a/docs/x", approval.None},
		{"a rule of Write is dead", "claude", claudes(`"Write(docs/**)"`, "", ""), "Write", "/home/user/project/docs/x", approval.None},
		{"a deny of Write holds now", "claude", claudes(``, "", `"Write(docs/**)"`), "Write", "/home/user/project/docs/x", approval.Block},
		{"one slash is not the root", "claude", claudes(`"Read(/etc/**)"`, "", ""), "Read", "/etc/motd", approval.None},
		{"two slashes are", "claude", claudes(`"Read(//etc/**)"`, "", ""), "Read", "/etc/motd", approval.Allow},
		{"braces are plain", "claude", claudes(`"Read(//srv/{a,b})"`, "", ""), "Read", "/srv/a", approval.None},
		{"a star is in one folder", "claude", claudes(`"Read(//srv/*.csv)"`, "", ""), "Read", "/srv/x/a.csv", approval.None},
		{"a name at any depth", "claude", claudes("", "", `"Read(.env)"`), "Read", "/home/user/project/a/b/.env", approval.Block},
		{"a host", "claude", claudes(`"WebFetch(domain:example.com)"`, "", ""), "WebFetch", "https://example.com/x", approval.Allow},
		{"another host", "claude", claudes(`"WebFetch(domain:example.com)"`, "", ""), "WebFetch", "https://a.example.com/x", approval.None},
		{"hosts below one are not it", "claude", claudes(`"WebFetch(domain:*.example.com)"`, "", ""), "WebFetch", "https://example.com/x", approval.None},
		{"any host", "claude", claudes(`"WebFetch"`, "", ""), "WebFetch", "https://example.com/x", approval.None},
		{"a tool of a server", "claude", claudes(`"mcp__tracker__get_issue"`, "", ""), "mcp__tracker__get_issue", "", approval.Allow},
		{"another tool of it", "claude", claudes(`"mcp__tracker__get_issue"`, "", ""), "mcp__tracker__delete", "", approval.None},
		{"any server", "claude", claudes(`"mcp__*"`, "", ""), "mcp__tracker__delete", "", approval.None},

		{"words", "codex", `prefix_rule(pattern=["zonk", ["a", "b"]])`, "Bash", "zonk b x", approval.Allow},
		{"another word", "codex", `prefix_rule(pattern=["zonk", ["a", "b"]])`, "Bash", "zonk c", approval.None},
		{"a word with a star", "codex", `prefix_rule(pattern=["zonk", "*"])`, "Bash", "zonk c", approval.None},
		{"forbidden wins", "codex", `prefix_rule(pattern=["zonk"])` + "\n" + `prefix_rule(pattern=["zonk", "-f"], decision="forbidden")`, "Bash", "zonk -f", approval.Block},
		{"a program in it", "codex", `xs = ["zonk"]` + "\n" + `prefix_rule(pattern=xs)`, "Bash", "zonk", approval.None},
		{"a text put together", "codex", `prefix_rule(pattern=["zonk" "a"])`, "Bash", "zonk", approval.None},

		{"a beginning", "gemini", `{"tools":{"allowed":["run_shell_command(zonk a)"]}}`, "Bash", "zonk a b", approval.Allow},
		{"not of a word", "gemini", `{"tools":{"allowed":["run_shell_command(zonk a)"]}}`, "Bash", "zonk ab", approval.None},
		{"a star is plain", "gemini", `{"tools":{"allowed":["run_shell_command(zonk *)"]}}`, "Bash", "zonk ab", approval.None},
		{"the whole tool", "gemini", `{"tools":{"allowed":["run_shell_command"]}}`, "Bash", "zonk ab", approval.None},
		{"writing in the workspace", "gemini", `{"tools":{"allowed":["write_file"]}}`, "Write", "/home/user/project/x", approval.Allow},
		{"writing outside", "gemini", `{"tools":{"allowed":["write_file"]}}`, "Write", "/home/user/x", approval.None},
		{"a higher priority", "gemini-policy", "[[rule]]\ntoolName='run_shell_command'\ncommandPrefix='zonk'\ndecision='allow'\npriority=10\n[[rule]]\ntoolName='run_shell_command'\ncommandPrefix='zonk a'\ndecision='deny'\npriority=20\n", "Bash", "zonk a", approval.Block},
		{"a lower one is taken from", "gemini-policy", "[[rule]]\ntoolName='run_shell_command'\ncommandPrefix='zonk a'\ndecision='allow'\npriority=20\n[[rule]]\ntoolName='run_shell_command'\ncommandPrefix='zonk'\ndecision='deny'\npriority=10\n", "Bash", "zonk a", approval.Allow},
		{"and holds for the rest", "gemini-policy", "[[rule]]\ntoolName='run_shell_command'\ncommandPrefix='zonk a'\ndecision='allow'\npriority=20\n[[rule]]\ntoolName='run_shell_command'\ncommandPrefix='zonk'\ndecision='deny'\npriority=10\n", "Bash", "zonk b", approval.Block},
		{"a deny by a regular expression", "gemini-policy", "[[rule]]\ntoolName='run_shell_command'\ncommandPrefix='zonk'\ndecision='allow'\npriority=10\n[[rule]]\ntoolName='run_shell_command'\ncommandRegex='.*-f'\ndecision='deny'\npriority=20\n", "Bash", "zonk x -f", approval.None},
		{"in another mode alone", "gemini-policy", "[[rule]]\ntoolName='run_shell_command'\ncommandPrefix='zonk'\ndecision='allow'\npriority=10\nmodes=['yolo']\n", "Bash", "zonk", approval.None},

		{"the last", "opencode", `{"permission":{"bash":{"zonk *":"allow","*":"ask"}}}`, "Bash", "zonk a", approval.Ask},
		{"the last, narrower", "opencode", `{"permission":{"bash":{"*":"ask","zonk *":"allow"}}}`, "Bash", "zonk a", approval.Allow},
		{"and the rest", "opencode", `{"permission":{"bash":{"*":"deny","zonk *":"allow"}}}`, "Bash", "other", approval.Block},
		{"notes are no commands", "opencode", `{"permission":{"bash":{"*":"deny"}}}`, "todowrite", "", approval.None},
		{"exact", "opencode", `{"permission":{"bash":{"zonk a":"allow"}}}`, "Bash", "zonk a b", approval.None},
		{"exact in a broader ask", "opencode", `{"permission":{"bash":{"*":"ask","zonk a":"allow"}}}`, "Bash", "zonk a", approval.Ask},
		{"everything", "opencode", `{"permission":"allow"}`, "Bash", "zonk", approval.None},
		{"everything denied", "opencode", `{"permission":{"*":"deny"}}`, "Write", "/home/user/project/x", approval.Block},
		{"a star is any folder", "opencode", `{"permission":{"edit":{"docs/*":"allow"}}}`, "Write", "/home/user/project/docs/a/b", approval.Allow},
		{"a part of a host", "opencode", `{"permission":{"webfetch":{"https://example.com/a/*":"allow"}}}`, "WebFetch", "https://example.com/b", approval.None},
		{"a host", "opencode", `{"permission":{"webfetch":{"https://example.com/*":"allow"}}}`, "WebFetch", "https://example.com/b", approval.Allow},
		{"a tool that is a program, too", "opencode", `{"permission":{"task":"allow"}}`, "Bash", "task x", approval.None},
	} {
		t.Run(row.client+" "+row.why, func(t *testing.T) {
			client, policy := strings.CutSuffix(row.client, "-policy")
			file := map[string]string{"claude": ".claude/settings.json", "codex": ".codex/rules/default.rules", "gemini": ".gemini/settings.json", "opencode": "opencode.json"}[client]
			if policy {
				file = ".gemini/policies/own.toml"
			}
			got, err := imports.Read(client, titles[client], []imports.File{{Path: "/home/user/project/" + file, Text: row.config, Project: true}})
			if err != nil {
				t.Fatal(err)
			}
			args := map[string]string{}
			if key := argument[row.tool]; key != "" {
				args[key] = row.arg
			}
			result := judge(t, got.Policy, row.tool, args)
			if row.want == approval.None && result == approval.Allow || row.want != approval.None && result != row.want {
				t.Errorf("%s %s: got %s, want %s\n%s", row.tool, row.arg, result, row.want, got.Policy)
			}
		})
	}
}

func TestABadConfigurationIsRefused(t *testing.T) {
	for _, row := range []struct{ why, client, file, text string }{
		{"no JSON", "claude", "settings.json", `{"permissions":`},
		{"a name twice", "claude", "settings.json", `{"permissions":{},"permissions":{}}`},
		{"rules that are no list", "claude", "settings.json", `{"permissions":{"allow":"Bash"}}`},
		{"no TOML", "codex", "config.toml", `approval_policy = `},
		{"no TOML", "gemini", "own.toml", `[[rule]`},
		{"a list of permissions", "opencode", "opencode.json", `{"permission":["bash"]}`},
	} {
		t.Run(row.client+" "+row.why, func(t *testing.T) {
			got, err := imports.Read(row.client, row.client, []imports.File{{Path: row.file, Text: row.text}})
			if err == nil || !strings.Contains(err.Error(), row.file) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// Whatever stands in a configuration, a policy or an error comes out, and no
// secret is repeated.
func TestSecretsAreNotRepeated(t *testing.T) {
	const token = "ghp_abcdefghijklmnop1234567890ABCD"
	got, err := imports.Read("claude", "Claude Code", []imports.File{{Path: "settings.json", Text: claudes(`"Bash(curl -H `+token+` x:*)","Bash(x | `+token+`)","Skill(`+token+`)"`, "", "")}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), token) {
		t.Error(string(text))
	}
}

func TestFindReadsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"odd[1]/rules/b.rules": "", "odd[1]/rules/a.rules": "", "odd[1]/config.toml": "", "odd[1]/rules/x.txt": ""} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(path.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := imports.Find("codex", filepath.Join(dir, "odd[1]"), "", false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, filepath.Base(f.Path))
	}
	if d := cmp.Diff([]string{"config.toml", "a.rules", "b.rules"}, got); d != "" {
		t.Error(d)
	}
	if _, err := imports.Read("emacs", "", nil); err == nil {
		t.Error("a client that nobody knows")
	}
}

func TestAFileIsNotWrittenOver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := imports.Write(file, "a"); err != nil {
		t.Fatal(err)
	}
	if err := imports.Write(file, "b"); err == nil {
		t.Error("it was written over")
	}
	if text, _ := os.ReadFile(file); string(text) != "a" {
		t.Errorf("got %q", text)
	}
}

func FuzzClaude(f *testing.F) {
	for _, s := range []string{"Bash(a:*)", "Bash(a * b)", "Read(//x/{a})", "Edit(!x)", "WebFetch(domain:x)", "mcp__a__b__c", "Bash('", "Read(~)", "Bash(@look)", "Tool(", "Read(#x: y)", "Bash(a\x00b)", "Edit(./)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, rule string) {
		text, err := json.Marshal(map[string]any{"permissions": map[string]any{"allow": []string{rule}, "ask": []string{rule}, "deny": []string{rule}}})
		if err != nil {
			t.Skip()
		}
		if _, err := imports.Read("claude", "Claude Code", []imports.File{{Path: "/x/settings.json", Text: string(text)}}); err != nil {
			t.Errorf("%q: %v", rule, err)
		}
	})
}
