package prompt

import (
	"strings"
	"unicode"
)

// most is how long a comment may be, in characters.
const mostComment = 10_000

// input is a line that is being typed.
type input struct {
	runes []rune
	at    int
}

func (i *input) text() string { return string(i.runes) }

// put writes a text where the cursor is: on one line, and without characters that
// are not seen.
func (i *input) put(text string) {
	var add []rune
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case r == '\n', r == '\r', r == '\t':
			add = append(add, ' ')
		case unicode.IsPrint(r) || unicode.IsMark(r):
			add = append(add, r)
		}
	}
	add = add[:max(0, min(len(add), mostComment-len(i.runes)))]
	i.runes = append(i.runes[:i.at:i.at], append(add, i.runes[i.at:]...)...)
	i.at += len(add)
}

// key takes a key that edits, and reports whether it was one.
func (i *input) key(k Key) bool {
	cut := func(from, to int) {
		i.runes = append(i.runes[:from:from], i.runes[to:]...)
		i.at = from
	}
	switch k.Name {
	case "left", "ctrl+b":
		i.at = max(0, i.at-1)
	case "right", "ctrl+f":
		i.at = min(len(i.runes), i.at+1)
	case "home", "ctrl+a":
		i.at = 0
	case "end", "ctrl+e":
		i.at = len(i.runes)
	case "backspace", "ctrl+h":
		if i.at > 0 {
			cut(i.at-1, i.at)
		}
	case "delete", "ctrl+d":
		if i.at < len(i.runes) {
			cut(i.at, i.at+1)
		}
	case "ctrl+u":
		cut(0, i.at)
	case "ctrl+k":
		cut(i.at, len(i.runes))
	case "ctrl+w", "alt+backspace":
		from := i.at
		for from > 0 && i.runes[from-1] == ' ' {
			from--
		}
		for from > 0 && i.runes[from-1] != ' ' {
			from--
		}
		cut(from, i.at)
	default:
		if k.Text == "" {
			return false
		}
		i.put(k.Text)
	}
	return true
}
