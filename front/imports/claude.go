package imports

import (
	"fmt"
	"path"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/front/connect"
)

// Claude Code: deny, then ask, then allow, of all files together, however
// narrow a rule is. Here the strictest wins as well, so that each rule comes over
// by itself.
//
// A command is compared as text: "x:*" and "x *" are x and further words, "x*" is
// what begins so, and "x" is nothing but x. Paths are those of gitignore: "//x" is
// from the root, "~/x" from the home, "/x" from the project (in the person's own
// settings from their folder), "x" without a slash at any depth.
func readClaude(b *builder, files []File) error {
	for _, file := range files {
		b.file = file.Path
		var settings struct {
			Permissions struct {
				Allow   []jsontext.Value `json:"allow"`
				Ask     []jsontext.Value `json:"ask"`
				Deny    []jsontext.Value `json:"deny"`
				Mode    string           `json:"defaultMode"`
				Folders []string         `json:"additionalDirectories"`
			} `json:"permissions"`
		}
		if err := plainJSON(file, &settings); err != nil {
			return err
		}
		p := settings.Permissions
		for _, l := range []struct {
			name, result string
			rules        []jsontext.Value
		}{{"deny", block, p.Deny}, {"ask", ask, p.Ask}, {"allow", allow, p.Allow}} {
			for i, v := range l.rules {
				f := from{fmt.Sprintf("permissions.%s[%d]", l.name, i), string(v)}
				var text string
				if json.Unmarshal(v, &text) != nil {
					b.note(Dead, f, "a rule is a text")
					continue
				}
				f.text = text
				claudeRule(b, file, f, l.result, text)
			}
		}
		if p.Mode != "" && p.Mode != "default" {
			b.note(LeftOut, from{"permissions.defaultMode", "defaultMode " + p.Mode}, "it is a mode and no rule: assent mode sets assent's")
		}
		for i, folder := range p.Folders {
			f := from{fmt.Sprintf("permissions.additionalDirectories[%d]", i), folder}
			if !path.IsAbs(folder) && !strings.HasPrefix(folder, "~/") || strings.ContainsAny(folder, "*?[{$") {
				b.note(LeftOut, f, "which folder is meant cannot be told here")
				continue
			}
			b.add(f, "read", allow, strings.TrimRight(folder, "/")+"/**")
			b.note(Narrower, f, "reading there is allowed; the client works in it as in the project")
		}
	}
	return nil
}

// plainJSON reads JSON that may have comments.
func plainJSON(file File, into any) error {
	text, err := connect.Plain(file.Text)
	if err == nil {
		err = json.Unmarshal([]byte(text), into)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", file.Path, err)
	}
	return nil
}

// The tools that Claude Code names in rules.
var (
	claudeReads = map[string]bool{"Read": true, "Glob": true, "Grep": true, "LS": true, "NotebookRead": true}
	claudeEdits = map[string]bool{"Edit": true, "Write": true, "MultiEdit": true, "NotebookEdit": true}
)

func claudeRule(b *builder, file File, f from, result, text string) {
	tool, spec, scoped := strings.Cut(text, "(")
	if scoped {
		if !strings.HasSuffix(spec, ")") {
			b.note(Dead, f, "a parenthesis is missing")
			return
		}
		spec = strings.TrimSuffix(spec, ")")
	}
	tool = strings.TrimSpace(tool)
	if spec == "*" || spec == "" {
		scoped = false
	}
	switch {
	case tool == "Bash" && scoped:
		claudeCommand(b, f, result, spec)
	case tool == "Bash":
		if result == block {
			b.leave(f, "run", result, "", "the client takes the tool away from its agent")
			return
		}
		b.command(f, result, commandRule{text: "*", many: true})
	case tool == "PowerShell":
		b.note(LeftOut, f, "commands of PowerShell are not read here")
	case strings.HasPrefix(tool, "mcp__"):
		claudeServer(b, f, result, tool, scoped)
	case strings.ContainsAny(tool, "*?"):
		if result == allow {
			b.note(Dead, f, "the client ignores an allow for tools of any name")
			return
		}
		for _, section := range []string{"run", "read", "write", "net", "mcp"} {
			b.lose(f, section, result, "")
		}
		b.note(LeftOut, f, "rules for tools of any name are not known here; the client goes on to follow it")
	case (tool == "Read" || tool == "Edit") && scoped:
		claudePath(b, file, f, result, tool, spec)
	case (claudeReads[tool] || claudeEdits[tool]) && scoped:
		as := "Edit"
		if claudeReads[tool] {
			as = "Read"
		}
		if result == allow {
			b.note(Dead, f, "the client looks at paths in rules of Read and Edit alone; %s(%s) is what was meant", as, spec)
			return
		}
		b.note(Dead, f, "the client looks at paths in rules of Read and Edit alone; the policy has it as %s(%s)", as, spec)
		claudePath(b, file, f, result, as, spec)
	case claudeReads[tool], claudeEdits[tool]:
		section := "read"
		if claudeEdits[tool] {
			section = "write"
		}
		if result == block {
			b.leave(f, section, result, "", "the client takes the tool away from its agent")
			return
		}
		b.add(f, section, result, ".")
		if result == allow {
			b.note(Narrower, f, "it allows that in the workspace alone")
		}
	case tool == "WebFetch" && scoped:
		host, ok := strings.CutPrefix(spec, "domain:")
		if host = strings.TrimSpace(host); !ok || host == "*" || host == "" {
			b.leave(f, "net", result, "", "no host is named")
			return
		}
		b.add(f, "net", result, strings.ToLower(host))
	case tool == "WebFetch":
		b.leave(f, "net", result, "", "it names no host; what no rule of net names is asked about")
	case scoped:
		b.note(LeftOut, f, "rules about what %s is given are not known here", tool)
	default:
		if result == block {
			b.note(LeftOut, f, "the client takes the tool away from its agent")
			return
		}
		b.tool(f, result, tool)
	}
}

func claudeCommand(b *builder, f from, result, spec string) {
	c := commandRule{text: spec, many: true}
	if rest, ok := strings.CutSuffix(spec, ":*"); ok {
		c.text, c.prefix = rest, true
	} else if rest, ok := strings.CutSuffix(spec, " *"); ok {
		c.text, c.prefix = rest, true
	} else if strings.Contains(spec, ":*") {
		b.note(Dead, f, "\":*\" means something at the end alone")
		return
	}
	if c.prefix && strings.Trim(c.text, " *") == "" {
		c = commandRule{text: "*", many: true}
	}
	b.command(f, result, c)
}

func claudeServer(b *builder, f from, result, tool string, scoped bool) {
	server, of, _ := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
	switch {
	case scoped:
		b.leave(f, "mcp", result, "", "rules about what a tool is given are not known here")
	case server == "*" && of == "" && result != allow:
		b.server(f, result, "*/*")
	case strings.ContainsAny(server, "*?") && result == allow:
		b.note(Dead, f, "the client ignores an allow for servers of any name")
	case strings.ContainsAny(server, "*?"):
		b.server(f, result, server+"/"+orAll(of))
	case of == "":
		b.server(f, result, server+"/*")
	default:
		b.server(f, result, tool)
	}
}

func orAll(tool string) string {
	if tool == "" {
		return "*"
	}
	return tool
}

// claudePath adds a rule about files.
func claudePath(b *builder, file File, f from, result, tool, spec string) {
	section := "read"
	if tool == "Edit" {
		section = "write"
	}
	match, why := claudePattern(file, result, spec)
	if why != "" {
		b.leave(f, section, result, "", "%s", why)
		return
	}
	b.add(f, section, result, match)
}

func claudePattern(file File, result, spec string) (match, why string) {
	restricts := result != allow
	if strings.HasPrefix(spec, "!") {
		return "", "a pattern that takes away from others"
	}
	// Braces are plain there, and "$" and "@" too.
	escape := strings.NewReplacer("{", `\{`, "}", `\}`).Replace
	switch {
	case strings.HasPrefix(spec, "//"):
		return escape(spec[1:]), ""
	case strings.HasPrefix(spec, "~/"):
		return escape(spec), ""
	case strings.HasPrefix(spec, "/") && !file.Project:
		return escape(path.Join(path.Dir(file.Path), spec)), ""
	case strings.HasPrefix(spec, "/"):
		return within(escape(spec[1:])), ""
	case strings.ContainsAny(spec[:1], "$@~"):
		return "", "which file is meant cannot be told"
	}
	dotted := strings.HasPrefix(spec, "./")
	spec = escape(strings.TrimPrefix(spec, "./"))
	switch bare := strings.TrimSuffix(spec, "/"); {
	case bare == "" || bare == "." || bare == "*" || bare == "**":
		return ".", ""
	case strings.HasPrefix(spec, ".."):
		return "", "it leaves the folder of the project"
	case !strings.Contains(bare, "/") && (restricts || !dotted):
		return spec, "" // at any depth
	case strings.HasPrefix(spec, "**/"):
		return spec, ""
	}
	return within(spec), ""
}

// within is a pattern that starts at the workspace.
func within(spec string) string {
	switch strings.Trim(spec, "/") {
	case "", "*", "**":
		return "."
	}
	return "./" + spec
}
