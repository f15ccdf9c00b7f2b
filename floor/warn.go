package floor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"assent/approval"
	"assent/floor/commands"
	"assent/floor/effect"
	"assent/internal/spell"
)

// Warnings tells what in a policy is understood and will hardly do what was
// meant: rules without any effect, and patterns that seem to be written in
// another notation. They refuse nothing. Folder, which may be nil, tells whether a
// path as patterns write it is a folder that exists.
func (p *Policy) Warnings(folder func(string) bool) Problems {
	var ps Problems
	warn := func(r *Rule, hint, format string, args ...any) {
		ps = append(ps, Problem{r.File, r.Line, r.Column, fmt.Sprintf(format, args...), hint})
	}
	type place struct {
		kind    effect.Kind
		pattern string
	}
	strictest := map[place]*Rule{}
	for _, r := range p.Rules {
		for _, m := range r.Match {
			at := place{r.Kind, m}
			if old := strictest[at]; old == nil || r.Result.Stricter(old.Result) {
				strictest[at] = r
			}
		}
	}
	for _, r := range p.Rules {
		if r.Result == approval.Allow && p.layer != Operator && p.layer != Shipped {
			warn(r, "", "allow does nothing in the policy of the %s, which only makes results stricter", p.layer)
		}
		if r.Result == approval.Allow && r.Message != "" {
			warn(r, "a reason is for people", "the message of a rule that allows is never told")
		}
		for _, m := range r.Match {
			if s := strictest[place{r.Kind, m}]; s != r && s.Result != r.Result && len(s.Except) == 0 && s.negated.empty() {
				warn(r, "the strictest rule wins", "%q never decides here: line %d has it under %s", shown(m), s.Line, s.Result)
			}
		}
		for _, m := range slices.Concat(r.Match, r.Except) {
			if message, hint := oddPattern(r, m); message != "" {
				warn(r, hint, "%s", message)
			}
		}
	}
	for _, r := range p.Rules {
		for _, m := range r.Match {
			if r.Result == approval.Allow && p.layer == Operator && meansFolder(m, r.Kind, folder) && !p.allowsBelow(r.Kind, m) {
				warn(r, fmt.Sprintf("for the folder with what is in it: %q", strings.TrimPrefix(m, "./")+"/**"),
					"%q allows a file of that name, and nothing in a folder that is called so", shown(m))
			}
		}
	}
	return ps.sorted()
}

// meansFolder reports whether a pattern that only matches a path itself is one of a
// folder, or reads as if it were.
func meansFolder(text string, kind effect.Kind, folder func(string) bool) bool {
	switch kind {
	case effect.Read, effect.Write, effect.Delete:
	default:
		return false
	}
	if strings.Trim(text, "./~") == "" || strings.IndexByte("@!", text[0]) >= 0 || strings.HasSuffix(text, "/") || strings.ContainsAny(text, `*?[]{}\`) {
		return false
	}
	if folder != nil && folder(text) {
		return true
	}
	name := path.Base(text)
	return strings.IndexByte("/~$", text[0]) < 0 && !fileNames[name] && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// fileNames are files whose names look like those of folders.
var fileNames = set("makefile", "justfile", "gradlew", "mvnw", "configure", "rakefile", "gemfile", "brewfile", "dockerfile", "containerfile", "vagrantfile", "procfile", "license", "licence",
	"readme", "changelog", "authors", "notice", "codeowners", "version", "install", "todo", "copying", "news", "contributors", "crontab", "hosts", "passwd", "motd", "fstab", "known_hosts",
	"authorized_keys", "tags", "core", "go", "buck", "build-id", "owners", "maintainers")

// allowsBelow reports whether another pattern allows what is in the folder.
func (p *Policy) allowsBelow(kind effect.Kind, text string) bool {
	below := strings.TrimPrefix(text, "./") + "/"
	for _, r := range p.Rules {
		if r.Kind == kind && r.Result == approval.Allow && slices.ContainsFunc(r.Match, func(m string) bool {
			return m == "." || strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(m, "**/"), "./"), below)
		}) {
			return true
		}
	}
	return false
}

// oddPattern tells what is odd about a pattern.
func oddPattern(r *Rule, text string) (message, hint string) {
	if r.Kind != effect.Opaque && looksRegular(r.Kind, text) {
		return fmt.Sprintf("%q looks like a regular expression, which patterns are not", shown(text)), `"*" is any text, "?" one character`
	}
	if r.Kind == effect.Env || r.Kind == effect.MCP {
		// Neither the names of variables nor those of tools have these.
		if i := strings.IndexAny(text, "[]{}|$="); i >= 0 {
			return fmt.Sprintf("%q is taken as it stands: %q means nothing in a pattern of %s, and no name has it", shown(text), text[i:i+1], r.Kind),
				`"*" is any text, "?" one character; several patterns are a list`
		}
	}
	switch r.Kind {
	case effect.MCP:
		if server, tool, ok := strings.Cut(text, ":"); ok && !strings.Contains(text, "/") && server != "" && tool != "" {
			return fmt.Sprintf("%q is taken for the name of a server", shown(text)), fmt.Sprintf("a tool of it is %q", shown(server+"/"+strings.TrimLeft(tool, ":")))
		}
	case effect.Run:
		return oddProgram(r, text)
	}
	return "", ""
}

// looksRegular reports whether a pattern has what only a regular expression
// has. Names of files may have much of it.
func looksRegular(kind effect.Kind, s string) bool {
	switch kind {
	case effect.Read, effect.Write, effect.Delete:
		return strings.HasPrefix(s, "^") || strings.HasSuffix(s, "$")
	}
	for _, mark := range []string{`\b`, `\s`, `\d`, `\w`, "(?", "[^", ".+"} {
		if strings.Contains(s, mark) {
			return true
		}
	}
	for i := 0; ; i++ {
		k := strings.Index(s[i:], ".*")
		if k < 0 {
			break
		}
		if i += k; (i == 0 || strings.IndexByte("*./", s[i-1]) < 0) && (i+2 == len(s) || s[i+2] == ' ') {
			return true // "git .*", "git.*"; and not "*.*" or "docs/.*"
		}
	}
	return strings.HasPrefix(s, "^") || strings.HasSuffix(s, "$")
}

// oddProgram tells of a program that nobody knows: for a rule that restricts
// always, since it then holds for nothing; otherwise when it is near one that
// is known.
func oddProgram(r *Rule, text string) (message, hint string) {
	words, err := splitWords(text)
	if err != nil || words[0].wild || strings.ContainsAny(words[0].text, "/@") || words[0].text == "assent" {
		return "", ""
	}
	name := words[0].text
	know := commands.Default()
	if know.Lookup(name) != nil || know.Lookup(path.Base(strings.ToLower(name))) != nil {
		return "", ""
	}
	if _, tool := tools[name]; tool {
		return "", ""
	}
	if near := spell.Near(name, know.Names()); near != "" {
		hint = "did you mean " + near + "?"
	}
	if hint == "" && r.Result < approval.Deny {
		return "", ""
	}
	return fmt.Sprintf("no program %q is known: the rule only holds for that very name", shown(name)), hint
}
