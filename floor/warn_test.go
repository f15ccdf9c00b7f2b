package floor

import (
	"fmt"
	"strings"
	"testing"

	"assent/approval"
)

func TestWarnings(t *testing.T) {
	for _, test := range []struct {
		name  string
		layer Layer
		text  string
		want  []string // what the warnings hold, with their lines
	}{
		{"nothing odd", Operator, "run: {allow: [go test, '@look', ./x.sh, Bash, '*', sudo]}\nread: {deny: ['**/.env.*', 'docs/.*', '*.*', '[^a]']}\nnet: {allow: ['*.example.com']}\nmcp: {allow: [a/b, mcp__a__b]}", nil},
		{"allow of a project", Project, "run:\n  allow: [ls]\n  deny: [git push]", []string{"2: allow does nothing in the policy of the project"}},
		{"allow of the manager", Managed, "run: {allow: [ls]}", []string{"1: allow does nothing in the policy of the managed"}},
		{"message on allow", Operator, "run: {allow: [{match: ls, message: x}]}", []string{"1: the message of a rule that allows is never told"}},
		{"twice", Operator, "run:\n  allow: [go test]\n  deny: [go test]", []string{`2: "go test" never decides here: line 3 has it under deny`}},
		{"twice, with an exception", Operator, "run:\n  allow: [go test]\n  deny: [{match: go test, except: go test -v}]", nil},
		{"regular expression", Operator, "run:\n  allow: ['git .*', 'git.*', '^git', 'git\\\\b']", []string{"2: ", "2: ", "2: ", "2: "}},
		{"server:tool", Operator, "mcp: {deny: ['tracker:get']}", []string{`1: "tracker:get" is taken for the name of a server (a tool of it is "tracker/get")`}},
		{"a set of characters", Operator, "env: {deny: ['GIT[_]*', 'GIT_{A,B}', 'A|B', 'GIT_*', '*', A?]}\nmcp: {deny: ['a/get[s]', 'a/{b,c}', 'a/get_*']}", []string{
			`1: "GIT[_]*" is taken as it stands: "[" means nothing in a pattern of env`, `1: "GIT_{A,B}"`, `1: "A|B"`, `2: "a/get[s]"`, `2: "a/{b,c}"`}},
		{"slip in a program", Operator, "run: {allow: [gti]}", []string{`1: no program "gti" is known: the rule only holds for that very name (did you mean git?)`}},
		{"own program", Operator, "run: {allow: [frobnicate]}", nil},
		{"a folder", Operator, "write:\n  allow: [docs, ./top, src/gen]\nread: {allow: [tests]}", []string{
			`2: "docs" allows a file of that name, and nothing in a folder that is called so (for the folder with what is in it: "docs/**")`, `2: "./top"`, `2: "src/gen"`, `3: "tests"`}},
		{"a folder that is there", Operator, "write: {allow: [Sources, ~/notes]}", []string{`1: "Sources"`, `1: "~/notes"`}},
		{"no folder", Operator, "write: {allow: [Makefile, makefile, LICENSE, a.md, '*.md', docs/, 'docs/**', '.', /srv/x, '@null', ~/x, Tests, .env]}", nil},
		{"a folder and what is in it", Operator, "write: {allow: [docs, docs/**, src, src/]}", nil},
		{"a folder that is denied", Operator, "write: {deny: [docs], ask: [src]}", nil},
		{"unknown and denied", Operator, "run: {deny: [frobnicate]}", []string{`1: no program "frobnicate" is known`}},
	} {
		p, err := ParseLayer("p", []byte(test.text), test.layer)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for _, w := range p.Warnings(func(p string) bool { return p == "Sources" || p == "~/notes" }) {
			line := fmt.Sprintf("%d: %s", w.Line, w.Message)
			if w.Hint != "" {
				line += " (" + w.Hint + ")"
			}
			got = append(got, line)
		}
		same := len(got) == len(test.want)
		for i := 0; same && i < len(got); i++ {
			same = strings.HasPrefix(got[i], test.want[i])
		}
		if !same {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// What YAML takes for something else is told with what to write.
func TestSlips(t *testing.T) {
	for text, want := range map[string]string{
		"read:\n  deny:\n    - **/*.pem":                           `"**/*.pem"`,
		"run:\n  allow: [ls, @look]":                               `"@look"`,
		"run:\n  allow:\n    - @look # all":                        `"@look"`,
		"read:\n  deny: [x, !x]":                                   `"!x"`,
		"run:\n  deny:\n    - match: x\n      message: Do it: now": `"Do it: now"`,
		"read:\n  allow: [{match: x, except: [shipped:ssh]}]":      `"shipped:ssh"`,
		"read:\n  allow: [{match: x, except: {shipped:ssh}}]":      `"shipped:ssh"`,
		"run:\n  allow: [git commit: x]":                           `"git commit: x"`,
		"read:\n  deny: [`x`]":                                     "\"`x`\"",
		"read:\n  deny: [{a,b}.txt]":                               `"{a,b}.txt"`,
		"read:\n  deny: [x, a{b,c}.txt]":                           `"a{b,c}.txt"`,
		"run:\n  allow: [make # x]":                                `"make # x"`,
		"run:\n  allow: [{match: x, except: shipped:repos}]":       "did you mean repo?",
		"read:\n  deny: [*.pem]":                                   "quote a pattern that starts with *",
		"read:\n  deny:\n    - !x":                                 "quote a pattern that starts with !",
		"read:\n  deny:\n    - ~\n":                                "quote a pattern",
	} {
		_, err := ParsePolicy("p", []byte(text))
		if err == nil {
			t.Errorf("%q is a policy", text)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s in it", text, err, want)
		}
	}
}

// A run pattern with a wildcard in the path of the program, and one that ends
// in "*" for a program that runs others.
func TestRunPatternsOfFolders(t *testing.T) {
	for _, test := range []struct {
		pattern, command string
		want             Result
	}{
		{"./scripts/*", "./scripts/a.sh", approval.Allow},
		{"./scripts/*", "scripts/a.sh x", approval.Allow},
		{"scripts/*", "./scripts/a.sh", approval.Allow},
		{"./scripts/*", "scripts/sub/a.sh", approval.Ask},
		{"./scripts/**", "scripts/sub/a.sh", approval.Allow},
		{"./scripts/*", "scripts/../x.sh", approval.Ask},
		{"./scripts/*", "cd /srv && scripts/a.sh", approval.Deny},
		{"./scripts/*", "scripts/a.sh >/etc/x", approval.Deny},
		{"~/bin/*", "~/bin/x", approval.Allow},
		{"yarn *", "yarn add x", approval.Allow},
		{"yarn *", "yarn remove x", approval.Allow},
		{"yarn *", "pnpm add x", approval.Ask},
		{"pnpm *", "pnpm add x", approval.Allow},
		{"pnpm *", "pnpm remove x", approval.Allow},
	} {
		if v := judgeWith(t, "run: {allow: ['"+test.pattern+"']}", bash(test.command)); v.Result != test.want {
			t.Errorf("allow %s: %s: want %v\n%s", test.pattern, test.command, test.want, story(v))
		}
	}
	for _, test := range []struct {
		pattern, command string
		want             Result
	}{
		{"yarn *", "yarn add x", approval.Deny},
		{"./scripts/*", "scripts/a.sh", approval.Deny},
		{"./scripts/*", "./other.sh", approval.Ask},
	} {
		if v := judgeWith(t, "run: {deny: ['"+test.pattern+"']}", bash(test.command)); v.Result != test.want {
			t.Errorf("deny %s: %s: want %v\n%s", test.pattern, test.command, test.want, story(v))
		}
	}
	if _, err := ParsePolicy("p", []byte("run: {allow: ['./a*/{b']}")); err == nil {
		t.Error("a pattern of paths that is none is taken")
	}
}

// A rule that says what a program is given does not speak of code that is
// given besides.
func TestOtherCodeIsNotCovered(t *testing.T) {
	for command, want := range map[string]Result{
		"python3 x.py":                approval.Allow,
		"python3 -c 'import os' x.py": approval.Ask,
		"python3 -u x.py":             approval.Allow,
	} {
		if v := judgeWith(t, "run: {allow: [python3 x.py]}", bash(command)); v.Result != want {
			t.Errorf("%s: want %v\n%s", command, want, story(v))
		}
	}
}
