package floor

import (
	"regexp"
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
	if endsMany(c) {
		return true
	}
	return slices.ContainsFunc(words, func(word string) bool {
		if n, err := strconv.Atoi(strings.TrimLeft(word, "-")); err == nil {
			return slices.Contains(f.Processes, n)
		}
		return c.Class != effect.Service && slices.ContainsFunc(strings.FieldsFunc(word, parts), names)
	})
}

// endsMany says whether a command signals processes that it does not tell apart, the
// kernel among them: everybody's, all of a user, or those that a pattern matches.
func endsMany(c *effect.Command) bool {
	has := func(names ...string) bool {
		return slices.ContainsFunc(c.Options, func(o effect.Option) bool { return slices.Contains(names, o.Name) })
	}
	switch c.Program {
	case "kill":
		return slices.Contains(signalled(c), -1)
	case "killall5", "slay":
		return true
	case "pkill", "skill", "snice":
		if has("-v", "--inverse") || len(c.Operands) == 0 && (has("--euid", "--uid", "--group") || has("--parent") && ofEverybody(c)) {
			return true
		}
		return slices.ContainsFunc(c.Operands, func(pattern string) bool {
			return matchesKernel(pattern, short(c, 'f') || has("--full"), short(c, 'i') || has("--ignore-case"), short(c, 'x') || has("--exact"))
		})
	case "killall":
		if len(c.Operands) == 0 {
			return has("--user", "--younger-than", "--older-than", "--ns")
		}
		return slices.ContainsFunc(c.Operands, func(name string) bool {
			if short(c, 'r') || has("--regexp") {
				return matchesKernel(name, false, short(c, 'I') || has("--ignore-case"), false)
			}
			return names(strings.ToLower(name))
		})
	case "fuser":
		return has("-m", "--ismountpoint", "-c", "--mount") // all that use a file system
	case "loginctl":
		return len(c.Sub) > 0 && slices.Contains([]string{"kill-user", "terminate-user"}, c.Sub[0])
	}
	return false
}

// signalled are the numbers that kill signals: behind the signal, where that is a
// number too.
func signalled(c *effect.Command) (numbers []int) {
	named := false
	for _, o := range c.Options {
		n, err := strconv.Atoi(o.Name)
		switch {
		case err == nil:
			numbers = append(numbers, n)
		case o.Name != "--verbose" && o.Name != "--help":
			named = true
		}
	}
	if !named && len(numbers) > 0 {
		numbers = numbers[1:]
	}
	for _, word := range c.Operands {
		if n, err := strconv.Atoi(word); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// ofEverybody says whether the parent that is named is the one of all that have lost
// theirs, as a kernel in the background has.
func ofEverybody(c *effect.Command) bool {
	return slices.ContainsFunc(c.Options, func(o effect.Option) bool {
		return o.Name == "--parent" && slices.Contains(strings.Split(o.Value, ","), "1")
	})
}

// short says whether one of the words of short options has a letter. Signals are
// written in capitals.
func short(c *effect.Command, letter rune) bool {
	return slices.ContainsFunc(c.Options, func(o effect.Option) bool {
		if len(o.Name) < 2 || o.Name[0] != '-' || o.Name[1] == '-' || letter < 'a' && strings.ToUpper(o.Name) == o.Name && len(o.Name) > 2 {
			return false
		}
		return strings.ContainsRune(o.Name, letter)
	})
}

// matchesKernel says whether a pattern of pkill is found in the name of the kernel's
// process, or with full in its command line. One that cannot be read is; one that is
// not known is asked about as anything unknown.
func matchesKernel(pattern string, full, anyCase, exact bool) bool {
	if strings.Contains(pattern, "…") {
		return false
	}
	pattern = strings.NewReplacer(`\<`, `\b`, `\>`, `\b`).Replace(pattern)
	if exact {
		pattern = "^(" + pattern + ")$"
	}
	if anyCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return true
	}
	lines := []string{"assent"}
	if full {
		lines = []string{"assent up", "/bin/assent up", "assent up --detach"}
	}
	return slices.ContainsFunc(lines, re.MatchString)
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
