package floor

import (
	"slices"
	"strconv"
	"strings"

	"assent/floor/effect"
)

// answersItself is the shipped rule that keeps an agent from answering its own
// questions. To end the kernel by its number or its name is the same as to end
// it by its own command: another could be run in its place, or none.
const answersItself = "assent-answers"

// endsItself says whether a command tells a process of assent's own to end, or
// meddles with it.
func (f *Floor) endsItself(c *effect.Command) bool {
	if c == nil || c.Class != effect.Process && c.Class != effect.System && c.Class != effect.Service {
		return false
	}
	var words []string
	for i := range c.Options {
		words = append(words, c.Options[i].Name, c.Options[i].Value)
	}
	words = append(words, c.Operands...)
	return slices.ContainsFunc(words, func(word string) bool {
		if n, err := strconv.Atoi(strings.TrimLeft(word, "-")); err == nil {
			return slices.Contains(f.Processes, n)
		}
		return c.Class != effect.Service && slices.ContainsFunc(strings.FieldsFunc(word, parts), names)
	})
}

// parts says where a word is parted: a pattern, or a line of a command, has
// more than one name in it.
func parts(r rune) bool { return strings.ContainsRune(" \t\n^$*?+|()[]{}\\,=", r) }

// names says whether a name of a process or a unit is assent's. A folder of that
// name is anybody's.
func names(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, kind := range []string{".service", ".socket", ".scope", ".slice"} {
		name = strings.TrimSuffix(name, kind)
	}
	return name == "assent"
}

// rule are the rules with an id: one, or none.
func (p *Policy) rule(id string) []*Rule {
	i := slices.IndexFunc(p.Rules, func(r *Rule) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return p.Rules[i : i+1]
}
