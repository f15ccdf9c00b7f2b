package imports

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// opencode: the last rule that matches decides, in the order of the file. "*" is
// any text, a slash too, "?" one character, and a last " *" may match nothing.
func readOpencode(b *builder, files []File) error {
	var rules []orderedRule
	for _, file := range files {
		b.file = file.Path
		var config struct {
			Permission jsontext.Value `json:"permission"`
			Tools      jsontext.Value `json:"tools"`
			Agent      map[string]struct {
				Permission jsontext.Value `json:"permission"`
			} `json:"agent"`
		}
		if err := plainJSON(file, &config); err != nil {
			return err
		}
		if err := eachMember(config.Permission, func(tool string, v jsontext.Value) error {
			if v.Kind() == '"' {
				rules = append(rules, opencodeRule(b, tool, "*", v)...)
				return nil
			}
			return eachMember(v, func(pattern string, v jsontext.Value) error {
				rules = append(rules, opencodeRule(b, tool, pattern, v)...)
				return nil
			})
		}); err != nil {
			return fmt.Errorf("%s cannot be read: permission: %w", file.Path, err)
		}
		if err := eachMember(config.Tools, func(tool string, v jsontext.Value) error {
			b.note(LeftOut, from{"tools." + tool, "tools." + tool + ": " + string(v)}, "the client gives or takes the whole tool")
			return nil
		}); err != nil {
			return fmt.Errorf("%s cannot be read: tools: %w", file.Path, err)
		}
		for name, a := range config.Agent {
			if len(a.Permission) > 0 { // it may be stricter, but then for that agent alone
				b.note(LeftOut, from{"agent." + name + ".permission", "the permissions of the agent " + name}, "no rule is about one agent alone")
			}
		}
	}
	slices.Reverse(rules)
	b.ordered(rules)
	return nil
}

// eachMember goes through an object in its order; a text stands for all of it.
func eachMember(v jsontext.Value, do func(name string, v jsontext.Value) error) error {
	switch v.Kind() {
	case 0, 'n':
		return nil
	case '"':
		return do("*", v)
	case '{':
	default:
		return fmt.Errorf("%s is no object", string(v[:min(len(v), 20)]))
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := key.String()
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		if err := do(name, value.Clone()); err != nil {
			return err
		}
	}
	return nil
}

func opencodeRule(b *builder, tool, pattern string, v jsontext.Value) []orderedRule {
	f := from{"permission." + tool, fmt.Sprintf("%s %q: %s", tool, pattern, string(v))}
	result, ok := map[string]string{`"allow"`: allow, `"ask"`: ask, `"deny"`: block}[string(v)]
	if !ok {
		b.note(Dead, f, "there is no such action")
		return nil
	}
	if pattern == "*" {
		f.text = fmt.Sprintf("%s: %s", tool, string(v))
	}
	r := orderedRule{from: f, file: b.file, result: result, glob: pattern}
	paths := func(section string) []orderedRule {
		match, why := opencodePath(pattern, result)
		if why != "" {
			b.leave(f, section, result, "", "%s", why)
			return nil
		}
		r.section, r.match = section, match
		return []orderedRule{r}
	}
	switch tool {
	case "bash":
		r.section = "run"
		c := commandRule{text: pattern, many: true, one: true}
		if rest, ok := strings.CutSuffix(pattern, " *"); ok {
			c.text, c.prefix = rest, true
		}
		r.command, r.exact = &c, !c.prefix && !strings.HasSuffix(pattern, "*")
		return []orderedRule{r}
	case "edit":
		return paths("write")
	case "read":
		return paths("read")
	case "external_directory":
		if pattern == "*" || result != allow {
			b.note(LeftOut, f, "a person is asked about everything outside of the workspace")
			return nil
		}
		b.note(Narrower, f, "reading there is allowed, and writing is asked about")
		r.apart = true
		return paths("read")
	case "webfetch":
		r.section = "net"
		if pattern == "*" && result != allow {
			if result == block {
				b.note(Narrower, f, "a person is asked about every address, whichever tool contacts it")
			}
			r.result, r.match = ask, []string{"*"}
			return []orderedRule{r}
		}
		host := opencodeHost(pattern, result)
		if host == "" {
			b.leave(f, "net", result, "", "it names no host by itself; what no rule of net names is asked about")
			return nil
		}
		r.match = []string{host}
		return []orderedRule{r}
	case "*":
		if result == allow {
			b.note(LeftOut, f, "it allows everything")
			return nil
		}
		var all []orderedRule
		c := commandRule{text: "*", many: true}
		for _, one := range []orderedRule{{section: "run", command: &c}, {section: "read", match: []string{"."}}, {section: "write", match: []string{"."}}, {section: "mcp", match: []string{"*/*"}}} {
			one.from, one.file, one.result, one.glob = f, b.file, result, "*"
			if one.section == "mcp" {
				one.glob = "*/*"
			}
			all = append(all, one)
		}
		return all
	case "glob", "grep", "list", "lsp", "codesearch", "doom_loop", "question", "todoread", "todowrite", "plan_enter", "plan_exit":
		b.note(LeftOut, f, "no rule is about that")
		return nil
	case "task", "skill", "websearch":
		if pattern != "*" {
			b.note(LeftOut, f, "rules about what %s is given are not known here", tool)
			return nil
		}
		b.tool(f, result, tool)
		return nil
	}
	// What is left are tools of servers: "server_tool".
	server, ok := strings.CutSuffix(tool, "_*")
	if pattern != "*" || !ok || server == "" || strings.ContainsAny(server, "*?/") {
		b.leave(f, "mcp", result, "", "which server and tool are meant cannot be told")
		return nil
	}
	r.section, r.glob, r.match = "mcp", server+"/*", []string{server + "/*"}
	return []orderedRule{r}
}

// opencodePath is a pattern of paths in which "*" matches a slash, too.
func opencodePath(pattern, result string) (match []string, why string) {
	if rest, ok := strings.CutPrefix(pattern, "$HOME/"); ok {
		pattern = "~/" + rest
	}
	switch {
	case pattern == "*" || pattern == "**":
		return []string{"."}, ""
	case pattern == "" || strings.ContainsAny(pattern, `[]{}\`) || strings.ContainsAny(pattern[:1], "$@!"):
		return nil, "which file is meant cannot be told"
	case strings.HasPrefix(pattern, ".."):
		return nil, "it leaves the folder of the project"
	}
	anchored := !strings.HasPrefix(pattern, "*")
	segments := strings.Split(strings.TrimPrefix(pattern, "./"), "/")
	var out []string
	for i, s := range segments {
		stars := strings.Count(s, "*")
		switch {
		case stars == 0:
			out = append(out, s)
		case strings.Trim(s, "*") == "":
			out = append(out, "**")
		case stars == 1 && s[0] == '*' && i == len(segments)-1:
			if i > 0 { // "x/*.md" is any file below x
				out = append(out, "**")
			}
			out = append(out, s)
		case stars == 1 && s[len(s)-1] == '*' && i == len(segments)-1:
			out = append(out, s)
		case result == allow:
			out = append(out, s)
		default:
			return nil, "a \"*\" within it matches folders as well, which no pattern here does"
		}
	}
	text := strings.Join(out, "/")
	if anchored && text[0] != '/' && text[0] != '~' {
		text = "./" + text
	}
	match = []string{text}
	if last := out[len(out)-1]; result != allow && strings.HasSuffix(last, "*") && last != "**" {
		match = append(match, text+"/**")
	}
	return match, ""
}

// opencodeHost is the host of a pattern of addresses that is about a host.
func opencodeHost(pattern, result string) string {
	u, err := url.Parse(strings.TrimSuffix(pattern, "*"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.ContainsAny(u.Host, "*?@:") {
		return ""
	}
	if result == allow && (u.Scheme != "https" || u.Path != "/" || !strings.HasSuffix(pattern, "*") || u.RawQuery != "") {
		return "" // one that allows a part of it allowed more here
	}
	return strings.ToLower(u.Host)
}
