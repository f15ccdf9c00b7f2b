package floor

import (
	"errors"
	"strings"
)

// A toolPattern matches tools of MCP servers: "server/tool" with wildcards,
// "server" alone for all of its tools, or a name as clients write it,
// "mcp__server__tool". Names are compared exactly: a server that names a tool
// "foo:bar" is not allowed by a rule for "foo_bar".
type toolPattern struct {
	text   string
	globs  []wordGlob // of "server/tool"
	folded []wordGlob // for rules that restrict
}

func compileTool(text string) (toolPattern, error) {
	p := toolPattern{text: text}
	if strings.TrimSpace(text) != text || text == "" {
		return p, errors.New("the pattern is empty or has blanks around it")
	}
	add := func(server, tool string) {
		p.globs = append(p.globs, parseGlob(server+"/"+tool))
		p.folded = append(p.folded, parseGlob(strings.ToLower(server+"/"+tool)))
	}
	if rest, ok := strings.CutPrefix(text, "mcp__"); ok {
		if rest == "" {
			return p, errors.New("the name of the server is missing")
		}
		found := false
		for i := 1; i+2 <= len(rest); i++ {
			if rest[i:i+2] == "__" && (rest[i-1] != '_' || i == 1) {
				tool := rest[i+2:]
				if tool == "" {
					tool = "*"
				}
				add(rest[:i], tool)
				found = true
			}
		}
		if !found {
			add(rest, "*")
		}
		return p, nil
	}
	server, tool, ok := strings.Cut(text, "/")
	switch {
	case !ok:
		tool = "*"
	case server == "" || tool == "":
		return p, errors.New(`a pattern is "server/tool"`)
	}
	add(server, tool)
	return p, nil
}

func (p *toolPattern) match(target string, loose bool) bool {
	if loose {
		target = strings.ToLower(target)
		for i := range p.folded {
			if p.folded[i].match(target) {
				return true
			}
		}
		return false
	}
	for i := range p.globs {
		g := &p.globs[i]
		// A second slash belongs to a name nobody thought of.
		if g.match(target) && (!g.wild || strings.Count(target, "/") == 1) {
			return true
		}
	}
	return false
}
