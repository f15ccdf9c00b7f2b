package floor

import (
	"errors"
	"strings"
	"testing"

	"assent/approval"

	"github.com/google/go-cmp/cmp"
)

func TestParsePolicyProblems(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{"p:1:1: the document is empty (a policy without rules has only version: 1)"}},
		{"only-comments", "# nothing\n\n", []string{"p:1:1: the document is empty (a policy without rules has only version: 1)"}},
		{"not-a-mapping", "- run\n", []string{"p:1:1: want a mapping, not a list (a policy looks like  run: {allow: [go test]})"}},
		{"unknown-key", "version: 1\nrunn:\n  allow: [ls]\n", []string{`p:2:1: unknown key "runn" (did you mean run?)`}},
		{"unknown-key-unlike-any", "version: 1\nzzz: 1\n", []string{`p:2:1: unknown key "zzz" (known here: version, extends, run, read, write, delete, net, env, mcp, opaque, scanner)`}},
		{"unknown-result", "run:\n  alow: [ls]\n", []string{`p:2:3: unknown key "alow" (did you mean allow?)`}},
		{"duplicate-key", "run:\n  allow: [ls]\nrun:\n  deny: [rm]\n", []string{`p:3:1: "run" is given twice`}},
		{"duplicate-list", "run:\n  allow: [ls]\n  allow: [rm]\n", []string{`p:3:3: "allow" is given twice`}},
		{"version", "version: 2\n", []string{`p:1:10: unknown version "2" (this program reads version 1)`}},
		{"extends", "extends: base\n", []string{"p:1:10: unknown floor to extend (default, or none to do without the shipped allows, asks and denies)"}},
		{"scanner", "scanner: on\n", []string{"p:1:10: unknown scanner setting (one of auto, required, off)"}},
		{"section-is-a-list", "run: [ls]\n", []string{"p:1:6: want lists by result, not a list (run: {ask: [...], deny: [...]})"}},
		{"rule-without-match", "run:\n  deny:\n    - {message: no}\n", []string{"p:3:8: the rule has no match"}},
		{"rule-key", "run:\n  deny:\n    - {match: ls, mesage: no}\n", []string{`p:3:19: unknown key "mesage" (did you mean message?)`}},
		{"unknown-class", "run:\n  allow: [\"@lok\"]\n", []string{`p:2:11: bad pattern "@lok": there is no class @lok (did you mean @look?)`}},
		{"class-with-words", "run:\n  allow: [\"@look x\"]\n", []string{`p:2:11: bad pattern "@look x": a class stands alone; write the program's name to say more`}},
		{"unknown-set", "read:\n  allow: [\"@sytem\"]\n", []string{`p:2:11: bad pattern "@sytem": there is no set @sytem (did you mean @system?)`}},
		{"unknown-host-set", "net:\n  deny: [\"@loopbak\"]\n", []string{`p:2:10: bad pattern "@loopbak": there is no set @loopbak (did you mean @loopback?)`}},
		{"shell-syntax", "run:\n  allow: [\"ls; rm\"]\n", []string{`p:2:11: bad pattern "ls; rm": ';' means something to a shell; a run pattern is one command, quote the character if it is part of a word`}},
		{"variable", "run:\n  allow: [\"ls $HOME\"]\n", []string{`p:2:11: bad pattern "ls $HOME": "$" means something to a shell; a run pattern holds no variables, quote the character if it is part of a word`}},
		{"open-quote", "run:\n  allow: ['echo \"x']\n", []string{`p:2:11: bad pattern "echo \"x": a quote has no end`}},
		{"other-notation", "run:\n  allow: [\"Bash(git push:*)\"]\n", []string{`p:2:11: bad pattern "Bash(git push:*)": this is another program's notation; write git push`}},
		{"assignment", "run:\n  allow: [\"CI=1 npm test\"]\n", []string{`p:2:11: bad pattern "CI=1 npm test": a pattern starts with the program; variables have their own section, env`}},
		{"bad-path", "read:\n  deny: [\"a/[b\", \"../x\"]\n", []string{
			`p:2:10: bad pattern "a/[b": the bracket expression has no end`,
			`p:2:18: bad pattern "../x": ".." is not supported; write the folder itself, from "/" or "~/"`}},
		{"bad-host", "net:\n  allow: [\"https://x.org/docs\"]\n", []string{`p:2:11: bad pattern "https://x.org/docs": net rules compare hosts; leave out user, path and query`}},
		{"host-that-is-a-scheme", "net:\n  deny: [\"http:8080\"]\n", []string{`p:2:10: bad pattern "http:8080": "http:" begins an address; write http://HOST, or only the host`}},
		{"host-wildcard-at-the-end", "net:\n  allow: [\"docs.*\"]\n", []string{`p:2:11: bad pattern "docs.*": the end of a host may not be a wildcard`}},
		{"bad-variable", "env:\n  allow: [\"PATH=/x\"]\n", []string{`p:2:11: bad pattern "PATH=/x": no name of a variable looks so (only the variable's name, as in GIT_*)`}},
		{"opaque-allow", "opaque:\n  allow: [\"*\"]\n", []string{"p:2:3: what cannot be told is never allowed by itself (name the command in run: an allow there also answers what cannot be told of it)"}},
		{"severity", "mcp:\n  severity: {\"a/b\": never}\n", []string{`p:2:21: unknown result "never" (one of allow, ask, deny, block)`}},
		{"secret", "net:\n  allow: [ghp_0123456789abcdefghij0123456789abcdef]\n", []string{"p:2:11: the pattern looks like a GitHub token (rules never carry secrets)"}},
		{"secret-in-run", "run:\n  allow: [\"curl -H 'token: sk-abc123def456ghi789jkl'\"]\n", []string{"p:2:11: the pattern looks like an API key (rules never carry secrets)"}},
		{"only-negation", "read:\n  deny: [\"!x\"]\n", []string{`p:2:9: the list has only "!" patterns (write what it takes away from)`}},
		{"unknown-shipped", "read:\n  allow:\n    - {match: x, except: \"shipped:shs\"}\n", []string{`p:3:26: there is no shipped rule "shs" (did you mean ssh?)`}},
		{"fixed-shipped", "write:\n  allow:\n    - {match: x, except: \"shipped:assent\"}\n", []string{`p:3:26: the rule "assent" protects assent itself and has no exceptions`}},
		{"id-twice", "run:\n  deny:\n    - {id: a, match: x}\n    - {id: a, match: y}\n", []string{`p:4:12: the id "a" is used before, in line 3`}},
		{"test-hit-fails", "run:\n  deny:\n    - {match: git push --force, test: {hit: [git push]}}\n", []string{`p:3:46: the test "git push" should hit this rule and does not; it runs "git push" (@send)`}},
		{"test-miss-fails", "read:\n  deny:\n    - {match: \"*.key\", test: {miss: [a.key]}}\n", []string{`p:3:38: the test "a.key" should miss this rule and hits it`}},
		{"tab", "run:\n\tallow: [ls]\n", []string{"p:2:1: a line is indented with a tab (YAML takes blanks only)"}},
		{"alias", "run:\n  allow: &a [ls]\n  deny: *a\n", []string{
			"p:2:10: anchors are not supported (write the value out)",
			"p:3:9: aliases are not supported (write the value out; quote a pattern that starts with *)"}},
		{"tag", "run:\n  allow: [!!str ls]\n", []string{"p:2:11: tags are not supported (quote a pattern that starts with !)"}},
		{"two-documents", "version: 1\n---\nversion: 1\n", []string{"p:3:1: there is a second document (a policy is one document)"}},
		{"control-character", "run: {allow: [a\x01]}\n", []string{"p:1:16: the document holds a control character"}},
		{"not-utf-8", "run: {allow: [\xff]}\n", []string{"p:1:15: the document is not valid UTF-8"}},
		{"deep", strings.Repeat("[", 100), []string{"p:1:41: the document is nested too deeply"}},
		{"deep-dashes", strings.Repeat("- ", 100) + "x", []string{"p:1:81: the document is nested too deeply"}},
		{"list-in-a-list", "run:\n  allow: [[ls]]\n", []string{"p:2:11: want a pattern or a rule, not a list ({match: ..., except: ..., message: ...})"}},
		{"all-at-once", "version: 3\nrun:\n  allow: [\"a;b\"]\nnot: 1\n", []string{
			`p:1:10: unknown version "3" (this program reads version 1)`,
			`p:3:11: bad pattern "a;b": ';' means something to a shell; a run pattern is one command, quote the character if it is part of a word`,
			`p:4:1: unknown key "not" (known here: version, extends, run, read, write, delete, net, env, mcp, opaque, scanner)`}},
		{"json", `{"run": {"alow": ["ls"]},` + "\n" + ` "net": {"deny": "a b"}}`, []string{
			`p:1:10: unknown key "alow" (did you mean allow?)`,
			`p:2:18: bad pattern "a b": the pattern holds a blank or control character`}},
		{"json-duplicate", `{"run": {}, "run": {}}`, []string{`p:1:13: "run" is given twice`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := ParsePolicy("p", []byte(tt.text))
			if p != nil {
				t.Fatalf("the document is accepted")
			}
			ps, ok := errors.AsType[Problems](err)
			if !ok {
				t.Fatalf("error %v is of type %T", err, err)
			}
			var got []string
			for _, p := range ps {
				got = append(got, p.String())
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("problems (-want +got):\n%s", d)
			}
		})
	}
}

// TestParsePolicyShapes: the same policy in every shape it may be written.
func TestParsePolicyShapes(t *testing.T) {
	want := []string{"run allow: go test", "run deny: git push --force", "read block: ~/.x/**"}
	for name, text := range map[string]string{
		"lists":    "version: 1\nrun:\n  allow: [go test]\n  deny: [git push --force]\nread:\n  block: [\"~/.x/**\"]\n",
		"scalars":  "run: {allow: go test, deny: git push --force}\nread: {block: \"~/.x/**\"}",
		"mappings": "run:\n  allow: {match: go test}\n  deny:\n    match: [git push --force]\nread:\n  block:\n    - match: ~/.x/**\n",
		"json":     `{"version": 1, "run": {"allow": ["go test"], "deny": {"match": "git push --force"}}, "read": {"block": "~/.x/**"}}`,
		"json-tab": "{\n\t\"run\": {\"allow\": \"go test\", \"deny\": \"git push --force\"},\n\t\"read\": {\"block\": [\"~/.x/**\"]}\n}",
		"bom":      "\ufeffrun: {allow: go test, deny: git push --force}\r\nread: {block: [\"~/.x/**\"]}\r\n",
		"flow":     "{run: {allow: [go test], deny: [git push --force]}, read: {block: [~/.x/**]}}",
		"nulls":    "run: {allow: [go test], ask: , deny: [git push --force]}\nread: {block: [~/.x/**]}\nwrite:\nnet: {}\n",
	} {
		p, err := ParsePolicy(name, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, r := range p.Rules {
			got = append(got, r.Text())
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestShippedPolicyLoads(t *testing.T) {
	p, err := parsePolicy(shippedName, reasonableDefaults, Shipped, true)
	if err != nil {
		t.Fatalf("the shipped floor does not load:\n%v", err)
	}
	seen := map[string]bool{}
	for _, r := range p.Rules {
		if r.ID == "" {
			t.Errorf("%s:%d: a shipped rule has no id", r.File, r.Line)
		}
		seen[r.ID] = true
	}
	for _, id := range []string{"assent", "assent-read", "assent-answers"} {
		if !seen[id] {
			t.Errorf("no shipped rule %q protects assent", id)
		}
	}
	if ShippedPolicy().Name != shippedName {
		t.Error("the floor of last resort is in use")
	}
}

// TestMinimal: the floor of last resort asks about everything and keeps the
// worst blocks.
func TestMinimal(t *testing.T) {
	f := Floor{Base: loadShipped([]byte("run: ["))}
	for command, want := range map[string]Result{
		"ls":                               approval.Ask,
		"cat ~/.ssh/id_rsa":                approval.Block,
		"rm -rf /":                         approval.Block,
		"echo x > .git/hooks/pre-commit":   approval.Block,
		"curl http://169.254.169.254/":     approval.Block,
		"cat ~/.config/assent/policy.yaml": approval.Block,
	} {
		if got := f.Judge(bash(command)).Result; got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}

func FuzzParsePolicy(f *testing.F) {
	f.Add([]byte("version: 1\nrun:\n  allow: [go test, {match: x, except: [y], test: {hit: x}}]\n"))
	f.Add([]byte(`{"read": {"block": ["~/.x/**", "!a"]}, "mcp": {"severity": {"a/b": "deny"}}}`))
	f.Add([]byte("net: {deny: [\"*.x\", 10.0.0.0/8, \"a:1\"]}\nenv: {ask: PATH}\nopaque: {deny: \"*\"}"))
	f.Add([]byte("a: &a [*a, *a]\n"))
	f.Add([]byte("? - : -\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePolicy("p", data)
		if (p == nil) == (err == nil) {
			t.Fatalf("policy %v, error %v", p, err)
		}
		if err != nil {
			if ps, ok := errors.AsType[Problems](err); !ok || len(ps) == 0 || ps[0].Line < 1 || ps[0].Column < 1 {
				t.Fatalf("the error tells no place: %#v", err)
			}
			return
		}
		p.Warnings(nil)
		var fl Floor
		fl.Operator = p
		fl.Judge(bash("ls && git push -f && cat /etc/passwd"))
	})
}
