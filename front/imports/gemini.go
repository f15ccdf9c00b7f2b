package imports

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"
)

// Gemini CLI: the rule of the highest priority decides. What settings say has
// fixed ones among those of the person's policy files, and the project's files
// come after the person's.
const (
	geminiPerson  = 4000
	geminiProject = 3000

	geminiExcludedServer = geminiPerson + 900
	geminiExcluded       = geminiPerson + 400
	geminiAllowed        = geminiPerson + 300
	geminiTrusted        = geminiPerson + 200
)

type geminiRanked struct {
	orderedRule
	priority int
}

type geminiReader struct {
	*builder
	rules []geminiRanked
}

func readGemini(b *builder, files []File) error {
	g := &geminiReader{builder: b}
	for _, file := range files {
		b.file = file.Path
		read := g.settings
		if path.Ext(file.Path) == ".toml" {
			read = g.policy
		}
		if err := read(file); err != nil {
			return err
		}
	}
	slices.SortStableFunc(g.rules, func(x, y geminiRanked) int { return cmp.Compare(y.priority, x.priority) })
	var rules []orderedRule
	for _, r := range g.rules {
		rules = append(rules, r.orderedRule)
	}
	b.ordered(rules)
	return nil
}

func (g *geminiReader) settings(file File) error {
	var s struct {
		Tools struct {
			Allowed []string `json:"allowed"`
			Exclude []string `json:"exclude"`
			Core    []string `json:"core"`
		} `json:"tools"`
		MCP struct {
			Allowed  []string `json:"allowed"`
			Excluded []string `json:"excluded"`
		} `json:"mcp"`
		Servers map[string]struct {
			Trust   bool           `json:"trust"`
			Include []string       `json:"includeTools"`
			Exclude []string       `json:"excludeTools"`
			Rest    jsontext.Value `json:",unknown"`
		} `json:"mcpServers"`
		OldAllowed []string `json:"allowedTools"`
		OldExclude []string `json:"excludeTools"`
		OldCore    []string `json:"coreTools"`
	}
	if err := plainJSON(file, &s); err != nil {
		return err
	}
	for _, l := range []struct {
		name, result string
		priority     int
		tools        []string
	}{
		{"tools.exclude", block, geminiExcluded, s.Tools.Exclude}, {"excludeTools", block, geminiExcluded, s.OldExclude},
		{"tools.allowed", allow, geminiAllowed, s.Tools.Allowed}, {"allowedTools", allow, geminiAllowed, s.OldAllowed},
	} {
		for i, tool := range l.tools {
			f := from{fmt.Sprintf("%s[%d]", l.name, i), tool}
			name, spec, scoped := strings.Cut(tool, "(")
			if scoped && (!strings.HasSuffix(spec, ")") || !geminiShell[name]) {
				if l.result == allow && strings.HasSuffix(spec, ")") {
					g.note(LeftOut, f, "the client does not look at what is in parentheses there, and allows the tool")
					continue
				}
				g.note(Dead, f, "no tool is called so")
				continue
			}
			spec = strings.TrimSuffix(spec, ")")
			if scoped && l.result == block {
				g.note(Dead, f, "newer versions of the client never match it; the policy has what it says")
			}
			g.add(f, l.result, l.priority, name, "", spec, "")
		}
	}
	for i, tool := range append(s.Tools.Core, s.OldCore...) {
		g.note(LeftOut, from{fmt.Sprintf("tools.core[%d]", i), tool}, "it says which tools the client has, and no more")
	}
	for i, server := range s.MCP.Excluded {
		g.add(from{fmt.Sprintf("mcp.excluded[%d]", i), server}, block, geminiExcludedServer, "*", server, "", "")
	}
	for i, server := range s.MCP.Allowed {
		g.note(LeftOut, from{fmt.Sprintf("mcp.allowed[%d]", i), server}, "it says which servers the client starts; mcp: {allow: [%s/*]} allows all that its tools do", server)
	}
	names := make([]string, 0, len(s.Servers))
	for name := range s.Servers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		server := s.Servers[name]
		at := "mcpServers." + name
		if server.Trust {
			g.add(from{at + ".trust", name + " trust"}, allow, geminiTrusted, "*", name, "", "")
		}
		for _, tool := range server.Exclude {
			g.add(from{at + ".excludeTools", name + " without " + tool}, block, geminiExcludedServer, tool, name, "", "")
		}
		for _, tool := range server.Include {
			g.note(LeftOut, from{at + ".includeTools", name + " with " + tool}, "it says which tools the client has, and no more")
		}
	}
	return nil
}

var (
	geminiShell  = map[string]bool{"run_shell_command": true, "ShellTool": true}
	geminiReads  = map[string]bool{"read_file": true, "read_many_files": true, "glob": true, "list_directory": true, "grep_search": true, "search_file_content": true, "ReadFileTool": true}
	geminiWrites = map[string]bool{"write_file": true, "replace": true, "WriteFileTool": true, "EditTool": true}
)

// add adds one rule, of one tool and one beginning of a command.
func (g *geminiReader) add(f from, result string, priority int, tool, server, prefix, message string) {
	r := orderedRule{from: f, file: g.file, result: result, message: message}
	put := func() { g.rules = append(g.rules, geminiRanked{r, priority}) }
	if server == "" {
		if rest, ok := strings.CutPrefix(tool, "mcp_"); ok {
			if rest == "*" {
				server, tool = "*", "*"
			} else if of, name, ok := strings.Cut(rest, "_"); ok {
				server, tool = of, name
			}
		}
	}
	switch {
	case server != "":
		if tool == "" {
			tool = "*"
		}
		if strings.ContainsAny(server+tool, "/ ") || result == allow && server == "*" {
			g.leave(f, "mcp", result, "", "which server and tool are meant cannot be told, or it is every server's")
			return
		}
		r.section, r.glob, r.match = "mcp", server+"/"+tool, []string{server + "/" + tool}
		put()
	case geminiShell[tool] && prefix == "":
		r.section, r.glob, r.command = "run", "*", &commandRule{text: "*", many: true}
		put()
	case geminiShell[tool]:
		prefix = strings.TrimSpace(prefix)
		r.section, r.glob, r.command = "run", prefix+" *", &commandRule{text: prefix, prefix: true}
		put()
	case geminiReads[tool] || geminiWrites[tool]:
		if r.section = "read"; geminiWrites[tool] {
			r.section = "write"
		}
		if result == block {
			g.leave(f, r.section, result, "", "the client takes the tool away from its agent")
			return
		}
		if result == allow {
			g.note(Narrower, f, "it allows that in the workspace alone")
		}
		r.glob, r.match = "*", []string{"."}
		put()
	case tool == "*":
		if result == allow {
			g.note(LeftOut, f, "it allows everything")
			return
		}
		for _, section := range []string{"run", "read", "write", "mcp"} {
			g.lose(f, section, result, "")
		}
		g.note(LeftOut, f, "rules for tools of any name are not known here; the client goes on to follow it")
	case tool == "web_fetch" || tool == "WebFetchTool":
		g.note(LeftOut, f, "it names no host; what no rule of net names is asked about")
	case result == block:
		g.note(LeftOut, f, "the client takes the tool away from its agent")
	default:
		g.tool(f, result, tool)
	}
}

// texts is a text or several.
func texts(v any) (out []string, ok bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, true
	case []any:
		for _, e := range v {
			s, is := e.(string)
			if !is {
				return nil, false
			}
			out = append(out, s)
		}
		return out, true
	}
	return nil, false
}

// geminiNarrow are the members that make a rule one about some calls, which no
// rule here can say.
var geminiNarrow = []string{"commandRegex", "argsPattern", "subagent", "toolAnnotations", "interactive"}

func (g *geminiReader) policy(file File) error {
	var p struct {
		Rules []map[string]any `toml:"rule"`
	}
	if err := toml.Unmarshal([]byte(file.Text), &p); err != nil {
		return fmt.Errorf("%s cannot be read: %w", file.Path, err)
	}
	base := geminiPerson
	if file.Project {
		base = geminiProject
	}
	for i, rule := range p.Rules {
		g.policyRule(fmt.Sprintf("rule[%d]", i), base, rule)
	}
	return nil
}

func (g *geminiReader) policyRule(at string, base int, rule map[string]any) {
	tools, okTools := texts(rule["toolName"])
	prefixes, okPrefixes := texts(rule["commandPrefix"])
	modes, okModes := texts(rule["modes"])
	server, _ := rule["mcpName"].(string)
	decision, _ := rule["decision"].(string)
	message, _ := rule["denyMessage"].(string)
	message = strings.Join(strings.Fields(message), " ")
	priority, okPriority := rule["priority"].(int64)
	text := strings.Join(append([]string{decision}, tools...), " ")
	if server != "" {
		text += " of " + server
	}
	if len(prefixes) > 0 {
		text += " " + strings.Join(prefixes, " | ")
	}
	f := from{at, text}
	result, ok := map[string]string{"allow": allow, "ask_user": ask, "deny": block}[decision]
	if !ok || !okTools || !okPrefixes || !okModes || !okPriority || priority < 0 || priority > 999 {
		g.note(Dead, f, "the client takes no such rule: a decision, a priority from 0 to 999 and texts are wanted")
		return
	}
	if result != block {
		message = ""
	}
	for _, name := range geminiNarrow {
		if _, has := rule[name]; has {
			g.note(LeftOut, f, "%s says which calls it is about, and no rule here can; the client goes on to follow it", name)
			for _, section := range []string{"run", "read", "write", "mcp"} {
				g.lose(f, section, result, "")
			}
			return
		}
	}
	if len(modes) > 0 && result == allow && !slices.Contains(modes, "default") {
		g.note(LeftOut, f, "it allows that in the mode %s alone", strings.Join(modes, ", "))
		return
	}
	if len(tools) == 0 {
		switch {
		case len(prefixes) > 0:
			tools = []string{"run_shell_command"}
		default:
			tools = []string{"*"}
		}
	}
	if len(prefixes) == 0 {
		prefixes = []string{""}
	}
	for _, tool := range tools {
		for _, prefix := range prefixes {
			if prefix != "" && !geminiShell[tool] {
				g.note(Dead, f, "a beginning of a command is for run_shell_command alone")
				continue
			}
			one := f
			if prefix != "" {
				one.text = decision + " " + prefix
			}
			g.add(one, result, base+int(priority), tool, server, prefix, message)
		}
	}
}
