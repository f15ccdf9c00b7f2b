package floor

import (
	"strings"
	"testing"

	"assent/approval"
	"assent/floor/effect"

	"github.com/go-json-experiment/json"
)

// A path in a spelling that names a file on some system, or for some client, is
// never judged more loosely than asked about when that file is denied, and
// refused when it is refused.
func TestSpellingsOfPaths(t *testing.T) {
	for _, test := range []struct {
		why, path string
		read      approval.PolicyResult
		write     approval.PolicyResult
	}{
		{"plain", "src/a.go", approval.Allow, approval.Allow},
		{"blanks in a name", "docs/a b.md", approval.Allow, approval.Allow},
		{"brackets of a route", "app/[id]/(group)/[...slug].tsx", approval.Allow, approval.Allow},
		{"a dollar of a route", "routes/$id.tsx", approval.Allow, approval.Allow},
		{"a scope", "node_modules/@types/node/x.d.ts", approval.Allow, approval.Allow},
		{"a template's name", "{{cookiecutter.slug}}/a.py", approval.Allow, approval.Allow},
		{"accents", "docs/über-café.md", approval.Allow, approval.Allow},
		{"a backup", "a.go~", approval.Allow, approval.Allow},
		{"a line of a plain file", "src/a.go:10:5", approval.Allow, approval.Allow},
		{"the parent and back", "src/../src/a.go", approval.Allow, approval.Allow},

		{"a stream", ".env::$DATA", approval.Ask, approval.Ask},
		{"a named stream", "sub/.env:stream", approval.Ask, approval.Ask},
		{"a stream of a folder", ".git::$INDEX_ALLOCATION/config", approval.Ask, approval.Block},
		{"a stream further on", ".ssh:x:y/id", approval.Block, approval.Block},
		{"relative to a drive", "C:.env", approval.Deny, approval.Deny},
		{"a shortened name", "GIT~1/config", approval.Ask, approval.Ask},
		{"a shortened name with an ending", "sub/SECRET~1.YML", approval.Ask, approval.Ask},
		{"shortened behind backslashes", `sub\ID_ED2~1`, approval.Ask, approval.Ask},
		{"a dot behind a folder", ".git./config", approval.Allow, approval.Block},
		{"blanks behind a folder", ".git /config", approval.Allow, approval.Block},
		{"dots and blanks", ".git. . /hooks/x", approval.Allow, approval.Block},
		{"a dot behind", "secrets.yaml.", approval.Ask, approval.Allow},
		{"a fork", "prod.key/..namedfork/data", approval.Deny, approval.Allow},
		{"braces", "{a,.env}", approval.Ask, approval.Ask},
		{"braces in a name", ".{x,git}/config", approval.Allow, approval.Block},
		{"one in braces", ".e{n}v", approval.Ask, approval.Ask},
		{"a sequence in braces", ".en{u..w}", approval.Ask, approval.Ask},
		{"a line", ".env:1", approval.Ask, approval.Ask},
		{"line and column", ".env:1:5", approval.Ask, approval.Ask},
		{"a range of lines", ".env:1-20", approval.Ask, approval.Ask},
		{"a fragment", ".env#L1", approval.Ask, approval.Ask},
		{"a query", "prod.pem?x=1", approval.Ask, approval.Allow},
		{"a parameter", "prod.pem;x", approval.Ask, approval.Allow},
		{"a revision", "HEAD:prod.pem", approval.Deny, approval.Allow},
		{"a list", "a.go,prod.pem,b.go", approval.Ask, approval.Allow},
		{"a mention", "@secrets.yaml", approval.Ask, approval.Allow},
		{"a mention of home", "@~/.ssh/id_rsa", approval.Block, approval.Block},
		{"a mention in quotes", `@"~/.ssh/known"`, approval.Block, approval.Block},
		{"quotes", `"~/.ssh/known"`, approval.Block, approval.Block},
		{"one quote", `'secrets.yaml`, approval.Ask, approval.Allow},
		{"curly quotes", "“secrets.yaml”", approval.Ask, approval.Allow},
		{"angle brackets", "<secrets.yaml>", approval.Ask, approval.Allow},
		{"a known variable further on", "/home/$HOSTUSER/.ssh/x", approval.Block, approval.Block},
		{"home in the middle", "x:~/.ssh/id", approval.Block, approval.Block},
		{"a variable nobody knows", "src/${X}/a", approval.Ask, approval.Ask},
		{"a command in it", "src/$(x)/a", approval.Ask, approval.Ask},
		{"a variable of Windows", `%USERPROFILE%\x`, approval.Ask, approval.Ask},
		{"percent", "%2e%65nv", approval.Ask, approval.Ask},
		{"percent twice", "%252e%2565nv", approval.Ask, approval.Ask},
		{"percent for a slash", "..%2f..%2fx", approval.Ask, approval.Ask},
		{"percent and a line", "%2egit/config#1", approval.Allow, approval.Block},
		{"backslashes", `.git\config`, approval.Allow, approval.Block},
		{"a backslash before a letter", `.e\nv`, approval.Ask, approval.Ask},
		{"a code behind a backslash", `\x2eenv`, approval.Ask, approval.Ask},
		{"fullwidth", "．ｅｎｖ", approval.Ask, approval.Ask},
		{"fullwidth slash", ".git／config", approval.Allow, approval.Block},
		{"mathematical", ".𝗀𝗂𝗍/config", approval.Allow, approval.Block},
		{"another dot", "․env", approval.Ask, approval.Ask},
		{"letters as one", "con\ufb01g/.g\u2071t/config", approval.Allow, approval.Block},
		{"another case", ".ENV", approval.Deny, approval.Deny},
		{"a long s", "\u017fecrets.yaml", approval.Deny, approval.Allow},
		{"nothing to see", ".e\u200dnv", approval.Deny, approval.Deny},
		{"a wildcard", ".en*", approval.Ask, approval.Block},
		{"a class", ".[e]nv", approval.Ask, approval.Ask},
		{"an extended wildcard", "@(.env)", approval.Ask, approval.Ask},
		{"nothing to see before a root", "\ufeff/home/user/.ssh/x", approval.Block, approval.Block},
		{"a link in prose", "[x](../../.ssh/x)", approval.Block, approval.Block},
		{"a place in parentheses", "prod.pem(12,3)", approval.Ask, approval.Allow},
		{"many at once", `a:b:c,d;e|f{g,h}#i?j"k'l\m%2fn@o`, approval.Ask, approval.Ask},
	} {
		t.Run(test.why, func(t *testing.T) {
			policy, err := ParsePolicy("p", []byte("write: {allow: [\".\"]}\n"))
			if err != nil {
				t.Fatal(err)
			}
			f := &Floor{Operator: policy}
			for tool, want := range map[string]approval.PolicyResult{"Read": test.read, "Write": test.write} {
				arguments, err := json.Marshal(map[string]string{"file_path": test.path})
				if err != nil {
					t.Fatal(err)
				}
				call := at(tool, string(arguments))
				call.Vars = map[string]string{"HOSTUSER": "user"}
				if v := f.Judge(call); v.Result != want {
					t.Errorf("%s %s: %v, want %v\n%s", tool, test.path, v.Result, want, strings.Join(told(effectsOf(call)), "\n"))
				}
			}
		})
	}
}

// A tool that takes patterns reads no more under another spelling.
func TestSpellingsOfPatterns(t *testing.T) {
	for pattern, want := range map[string]approval.PolicyResult{
		"docs/**/*.{md,txt}": approval.Allow, "src/a.go": approval.Allow, "!docs/x": approval.Allow, ".env:1": approval.Ask, "@.env": approval.Deny, "`~/.ssh/x`": approval.Block, "．env": approval.Ask,
		"%2egit-credentials": approval.Block, "prod.key\r": approval.Ask, "{a,b}/prod.key#1": approval.Ask,
	} {
		arguments, err := json.Marshal(map[string][]string{"paths": {pattern}})
		if err != nil {
			t.Fatal(err)
		}
		if v := new(Floor).Judge(at("read_many_files", string(arguments))); v.Result != want {
			t.Errorf("%q: %v, want %v\n%s", pattern, v.Result, want, story(v))
		}
	}
}

// What a tool of a server is given under a name that tells nothing is read in the
// same ways; a rule for the tool lifts nothing that the floor denies.
func TestSpellingsOfArguments(t *testing.T) {
	policy, err := ParsePolicy("p", []byte("mcp: {allow: [fs/*]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		why, name, text string
		want            approval.PolicyResult
	}{
		{"a word", "input", "value", approval.Allow},
		{"an address", "uri", "https://example.com/a#b", approval.Allow},
		{"an issue", "input", "owner/repo#12", approval.Allow},
		{"a time", "input", "10:30:00", approval.Allow},
		{"text for people", "body", "see .env:1, @secrets.yaml", approval.Allow},
		{"a line", "input", ".git/config:1", approval.Block},
		{"a fragment", "document", ".git/config#x", approval.Block},
		{"backticks", "input", "`~/.ssh/x`", approval.Block},
		{"a mention", "item", "@file:~/.ssh/x", approval.Block},
		{"a link in prose", "item", "[x](~/.ssh/x)", approval.Block},
		{"the end of a text", "item", ".git/config\x00.txt", approval.Block},
		{"a relative address", "uri", "sub/.git/config", approval.Block},
		{"a relative address with percent signs", "uri", "sub/%2egit/config", approval.Block},
		{"an address of an editor", "uri", "vscode://file/home/user/.ssh/x", approval.Block},
		{"an address of a resource", "uri", "workspace://.git/config", approval.Block},
		{"an address of a resource with a host", "uri", "repo://x/.git/config", approval.Block},
	} {
		arguments, err := json.Marshal(map[string]string{test.name: test.text})
		if err != nil {
			t.Fatal(err)
		}
		if v := (&Floor{Operator: policy}).Judge(at("mcp__fs__put", string(arguments))); v.Result != test.want {
			t.Errorf("%s: %q: %v, want %v\n%s", test.why, test.text, v.Result, test.want, story(v))
		}
	}
}

func effectsOf(call Call) []effect.Effect {
	effects, _ := Effects(call)
	return effects
}
