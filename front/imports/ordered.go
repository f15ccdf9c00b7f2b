package imports

import (
	"slices"
	"strings"
)

// orderedRule is one of a client that takes the first that matches, in its own
// order, and not the strictest.
type orderedRule struct {
	from
	file            string
	section, result string
	apart           bool   // it is asked besides the others of its section
	glob            string // as the client compares it: "*" is any text
	match           []string
	command         *commandRule // in the section run
	exact           bool         // a command that is nothing but that
	message         string
}

// ordered adds rules, the one that decides first in front. Here the strictest
// decides: so each leaves out what a looser one decided before.
func (b *builder) ordered(rules []orderedRule) {
	b.inOrder = true
	for i, r := range rules {
		b.file = r.file
		var except []string
		dead := false
		for _, o := range rules[:i] {
			if o.section != r.section || o.apart != r.apart {
				continue
			}
			if covers(o.glob, r.glob) {
				b.note(Dead, r.from, "%s decides first", o.text)
				dead = true
				break
			}
			if stricter(o.result, r.result) < 0 && !o.exact && o.meets(&r) {
				except = append(except, o.patterns()...)
			}
		}
		if dead {
			continue
		}
		slices.Sort(except)
		except = slices.Compact(except)
		if r.command != nil {
			b.commandExcept(r.from, r.result, *r.command, except, r.message)
			continue
		}
		b.rule(r.from, r.section, r.result, Rule{Match: r.match, Except: except, Message: r.message})
		if r.section == "write" && r.result == allow {
			b.rule(r.from, "delete", ask, Rule{Match: r.match})
		}
	}
}

// meets reports whether both may match the same.
func (r *orderedRule) meets(o *orderedRule) bool {
	cut := ""
	switch r.section {
	case "run":
		cut = " "
	case "mcp":
		cut = "/"
	default:
		return true
	}
	a, _, _ := strings.Cut(r.glob, cut)
	b, _, _ := strings.Cut(o.glob, cut)
	return a == b || strings.ContainsAny(a+b, "*?'\"\\")
}

// patterns are what the rule matches, as patterns of ours that match no more.
func (r *orderedRule) patterns() []string {
	if r.command == nil {
		return r.match
	}
	match, why := r.command.pattern(strings.TrimSpace(r.command.text))
	if why != "" || match == "" || strings.ContainsAny(match[:1], "*?") {
		return nil
	}
	return []string{match}
}

// covers reports whether a pattern matches all that another does.
func covers(wide, narrow string) bool {
	if rest, ok := strings.CutSuffix(wide, " *"); ok && rest == narrow {
		return true
	}
	return globbed(wide, narrow)
}

// globbed compares a text with a pattern in which "*" is any text.
func globbed(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, p)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}
