package imports

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Codex: of all rules of .rules files that match the first words of a command the
// strictest decides (forbidden, prompt, allow), as here. Approval policies, sandboxes
// and trusted projects are modes and no rules.
func readCodex(b *builder, files []File) error {
	for _, file := range files {
		b.file = file.Path
		var err error
		if path.Ext(file.Path) == ".rules" {
			codexRules(b, file)
		} else {
			err = codexConfig(b, file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func codexConfig(b *builder, file File) error {
	type tool struct {
		Mode string `toml:"approval_mode"`
	}
	var c struct {
		Approval any    `toml:"approval_policy"`
		Sandbox  string `toml:"sandbox_mode"`
		Write    struct {
			Roots   []string `toml:"writable_roots"`
			Network bool     `toml:"network_access"`
		} `toml:"sandbox_workspace_write"`
		Projects map[string]struct {
			Trust string `toml:"trust_level"`
		} `toml:"projects"`
		Servers map[string]struct {
			Enabled  []string        `toml:"enabled_tools"`
			Disabled []string        `toml:"disabled_tools"`
			Default  string          `toml:"default_tools_approval_mode"`
			Tools    map[string]tool `toml:"tools"`
		} `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal([]byte(file.Text), &c); err != nil {
		return fmt.Errorf("%s cannot be read: %w", file.Path, err)
	}
	if c.Approval != nil {
		b.note(LeftOut, from{"approval_policy", fmt.Sprintf("approval_policy %v", c.Approval)}, "it says when the client asks, and is no rule: assent mode sets who answers")
	}
	if c.Sandbox != "" {
		why := "it says what commands can reach, and not which may run"
		if c.Sandbox == "workspace-write" {
			why += "; write: {allow: [.]} lets files of the workspace be written here"
		}
		b.note(LeftOut, from{"sandbox_mode", "sandbox_mode " + c.Sandbox}, "%s", why)
	}
	if c.Write.Network {
		b.note(LeftOut, from{"sandbox_workspace_write.network_access", "network_access true"}, "addresses are named under net")
	}
	for i, root := range c.Write.Roots {
		f := from{fmt.Sprintf("sandbox_workspace_write.writable_roots[%d]", i), root}
		if c.Sandbox != "workspace-write" || c.Approval == "untrusted" {
			b.note(Dead, f, "it holds with the sandbox workspace-write alone")
			continue
		}
		if !path.IsAbs(root) || path.Clean(root) == "/" || strings.ContainsAny(root, `*?[]{}\`) {
			b.note(LeftOut, f, "which folder is meant cannot be told")
			continue
		}
		b.add(f, "write", allow, path.Clean(root)+"/**")
		b.note(Narrower, f, "files may be written there, and deleting them is asked about")
	}
	for _, project := range sorted(c.Projects) {
		b.note(LeftOut, from{"projects." + project, "project " + project + " " + c.Projects[project].Trust}, "that a project is trusted is no rule")
	}
	modes := map[string]string{"approve": allow, "prompt": ask}
	for _, server := range sorted(c.Servers) {
		s := c.Servers[server]
		at := "mcp_servers." + server
		for _, t := range s.Disabled {
			b.server(from{at + ".disabled_tools", server + " without " + t}, block, server+"/"+t)
		}
		for _, t := range s.Enabled {
			b.note(LeftOut, from{at + ".enabled_tools", server + " with " + t}, "it says which tools the client has, and no more")
		}
		var own []string // their mode is their own, and not the server's
		for _, t := range sorted(s.Tools) {
			own = append(own, server+"/"+t)
			f := from{at + ".tools." + t, server + "/" + t + " " + s.Tools[t].Mode}
			if result := modes[s.Tools[t].Mode]; result != "" {
				b.server(f, result, server+"/"+t)
			} else if s.Tools[t].Mode != "" {
				b.note(LeftOut, f, "what such a tool does decides in the client")
			}
		}
		f := from{at + ".default_tools_approval_mode", server + " " + s.Default}
		if result := modes[s.Default]; result != "" {
			b.rule(f, "mcp", result, Rule{Match: []string{server + "/*"}, Except: own})
		} else if s.Default != "" {
			b.note(LeftOut, f, "what its tools do decides in the client")
		}
	}
	return nil
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// codexRules reads a file of rules. One that holds more than calls with plain
// values is not understood in part.
func codexRules(b *builder, file File) {
	calls, err := readCalls(file.Text)
	if err != nil {
		f := from{"", path.Base(file.Path)}
		b.leave(f, "run", block, "", "the file is not understood: %s", err)
		return
	}
	for _, c := range calls {
		f := from{fmt.Sprintf("line %d", c.line), c.name}
		switch c.name {
		case "prefix_rule":
			codexPrefix(b, f, c)
		case "network_rule":
			host, _ := c.args["host"].(string)
			decision, _ := c.args["decision"].(string)
			f.text = decision + " " + host
			b.leave(f, "net", codexResult(decision), "", "the client's rule is about its sandbox")
		case "host_executable":
			b.note(LeftOut, f, "which file a program is run from is not said by rules here; a pattern may be a path")
		default:
			b.leave(f, "run", block, "", "there is no such rule that is known here")
		}
	}
}

func codexResult(decision string) string {
	switch decision {
	case "allow", "":
		return allow
	case "prompt":
		return ask
	}
	return block
}

func codexPrefix(b *builder, f from, c starCall) {
	decision, _ := c.args["decision"].(string)
	pattern, _ := c.args["pattern"].([]any)
	justification, _ := c.args["justification"].(string)
	result := codexResult(decision)
	alternatives := [][]string{}
	for _, p := range pattern {
		one, ok := texts(p)
		if !ok || len(one) == 0 {
			alternatives = nil
			break
		}
		alternatives = append(alternatives, one)
	}
	commands := [][]string{nil}
	for _, one := range alternatives {
		var next [][]string
		for _, words := range commands {
			for _, w := range one {
				next = append(next, append(append([]string{}, words...), w))
			}
		}
		if commands = next; len(commands) > mostCommands {
			break
		}
	}
	if len(alternatives) == 0 || len(commands) > mostCommands {
		b.leave(f, "run", result, "", "its pattern is no list of words, or stands for too many")
		return
	}
	var match []string
	for _, words := range commands {
		f.text = strings.Join(words, " ")
		if decision != "" {
			f.text = decision + " " + f.text
		}
		for i, w := range words {
			words[i] = word(w)
		}
		if strings.HasPrefix(words[0], "@") || words[0] == "''" {
			b.leave(f, "run", result, "", "no program is called so")
			continue
		}
		match = []string{strings.Join(words, " ")}
		r := Rule{Match: match}
		if result == block {
			r.Message = strings.Join(strings.Fields(justification), " ")
		}
		b.rule(f, "run", result, r)
	}
}

// mostCommands is how many commands a rule with alternatives may stand for.
const mostCommands = 64

// word is a word of a command as a pattern that matches it alone.
func word(w string) string {
	plain := strings.IndexFunc(w, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@%=:,~", r))
	}) < 0
	if plain && w != "" {
		return w
	}
	switch {
	case !strings.Contains(w, "'"):
		return "'" + w + "'"
	case !strings.ContainsAny(w, "\"\\$`"):
		return `"` + w + `"`
	}
	var b strings.Builder
	for _, r := range w {
		b.WriteByte('\\')
		b.WriteRune(r)
	}
	return b.String()
}
