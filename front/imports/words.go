package imports

import (
	"slices"
	"strings"

	"assent/floor"
	"assent/floor/effect"

	"github.com/go-json-experiment/json/jsontext"
)

// commandRule is a client's rule about commands, as text.
type commandRule struct {
	text string
	// prefix: any further words may follow.
	prefix bool
	// many and one: "*" and "?" stand for any text and for any character.
	many, one bool
}

// longestGap is how many words a "*" within a command stands for in a rule that
// restricts: here it is within a word.
const longestGap = 3

// command adds a rule about commands.
func (b *builder) command(f from, result string, c commandRule) {
	b.commandExcept(f, result, c, nil, "")
}

// commandExcept adds one that leaves out what other patterns match.
func (b *builder) commandExcept(f from, result string, c commandRule, except []string, message string) {
	text := strings.TrimSpace(c.text)
	if text == "" || c.many && strings.Trim(text, "* ") == "" {
		if result == allow {
			b.note(LeftOut, f, "it allows every command; run: {allow: [\"*\"]} would, as far as the shipped floor denies nothing")
			return
		}
		// Tools that only keep an agent's notes are no commands.
		b.rule(f, "run", result, Rule{Match: []string{"*"}, Except: append(notebooks(), except...), Message: message})
		return
	}
	match, why := c.pattern(text)
	if why != "" {
		b.leave(f, "run", result, text, "%s", why)
		return
	}
	words := strings.Fields(match)
	last := words[len(words)-1]
	open := c.prefix || c.many && strings.HasSuffix(last, "*")
	gap := c.many && strings.Contains(strings.TrimSuffix(strings.TrimRight(text, " "), "*"), "*")
	r := Rule{Match: []string{match}, Except: except, Message: message}
	switch {
	case result != allow && gap && onlyOptions(words):
		// An option is looked for wherever it stands.
	case result != allow && gap:
		r.Match = gaps(words)
		why = "a \"*\" within it stands for up to three words here"
		if strings.Contains(words[0], "*") {
			why = "it is compared with the program and the words behind it, and not with the whole text of the command"
		}
		b.note(Narrower, f, "%s", why)
		b.lose(f, "run", result, text)
	case result != allow:
	case strings.ContainsAny(words[0], "*?") && !strings.HasPrefix(text, words[0][:1]) || strings.ContainsAny(words[0][:1], "*?"):
		b.note(LeftOut, f, "it allows programs of any name")
		return
	case !open && len(words) == 1 && takesCode(match):
		b.rule(f, "run", ask, r)
		b.note(LeftOut, f, "it allows a program that runs what it is given on its input: it is asked about")
		return
	default:
		if gap {
			b.note(Narrower, f, "a \"*\" within it stands for one word here")
		}
		if !open {
			r.Except = append([]string{match + " ?*", match + " -*"}, except...)
		}
	}
	b.rule(f, "run", result, r)
}

// notebooks are tools with which agents keep their notes and ask their person.
func notebooks() []string { return []string{"TodoWrite", "todowrite", "todoread", "AskUserQuestion"} }

// pattern is the text as a pattern of ours, or why there is none.
func (c commandRule) pattern(text string) (match, why string) {
	const means = "it holds %s, which is more to a shell than a word; each command of a line is judged for itself here"
	for _, r := range text {
		if strings.ContainsRune(";|&<>()$`\n\r", r) {
			return "", strings.Replace(means, "%s", string(r), 1)
		}
	}
	if strings.Contains(text, `\`) {
		return "", "it holds a backslash, and which text is meant cannot be told"
	}
	if strings.ContainsAny(text, `'"`) && (c.many && strings.Contains(text, "*") || c.one && strings.Contains(text, "?")) {
		return "", "it holds quotes and wildcards, and which text is meant cannot be told"
	}
	if strings.HasPrefix(text, "@") {
		return "", "no program is called so"
	}
	var out strings.Builder
	quote := rune(0)
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && (r == '*' && !c.many || r == '?' && !c.one):
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return strings.Join(strings.Fields(out.String()), " "), ""
}

// gaps spells a "*" of its own between words out as several.
func gaps(words []string) []string {
	out := []string{strings.Join(words, " ")}
	for i := 1; i < len(words)-1; i++ {
		if words[i] != "*" {
			continue
		}
		for n := 2; n <= longestGap; n++ {
			long := append(append(append([]string{}, words[:i]...), strings.Fields(strings.Repeat("* ", n))...), words[i+1:]...)
			out = append(out, strings.Join(long, " "))
		}
		break
	}
	return out
}

// onlyOptions reports whether nothing but options stands behind a "*" that is a
// word.
func onlyOptions(words []string) bool {
	star := slices.Index(words, "*")
	return star > 0 && !slices.ContainsFunc(words[star+1:], func(w string) bool { return w[0] != '-' || strings.Contains(w, "*") }) &&
		!slices.ContainsFunc(words[:star], func(w string) bool { return strings.Contains(w, "*") })
}

// takesCode reports whether a program alone runs what it is given.
func takesCode(program string) bool {
	quoted, err := jsontext.AppendQuote(nil, program)
	if err != nil {
		return true
	}
	effects, _ := floor.Effects(floor.Call{Name: "Bash", Arguments: []byte(`{"command":` + string(quoted) + `}`), Workspace: "/home/user/project"})
	for _, e := range effects {
		if e.Kind != effect.Run || e.Command == nil {
			continue
		}
		switch e.Command.Class {
		case effect.Code, effect.Wrap, effect.Privilege, effect.Remote, effect.UI:
			return true
		}
	}
	return false
}

// tool adds a rule about a tool of the client that is known by its name alone.
func (b *builder) tool(f from, result, name string) {
	effects, _ := floor.Effects(floor.Call{Name: name, Arguments: []byte("{}"), Workspace: "/home/user/project"})
	for _, e := range effects {
		if e.Kind != effect.Run || e.Target != name {
			continue
		}
		if result == allow && strings.ToLower(name) == name && !strings.Contains(name, "_") {
			b.note(LeftOut, f, "a command may be called %s, too, and would be allowed with the tool", name)
			return
		}
		b.add(f, "run", result, name)
		return
	}
	if result == block {
		b.note(LeftOut, f, "no rule is about that tool; the client goes on to refuse it")
		return
	}
	b.note(LeftOut, f, "no rule is about that tool")
}

// server adds a rule about tools of a server of MCP tools.
func (b *builder) server(f from, result, pattern string) { b.add(f, "mcp", result, pattern) }
