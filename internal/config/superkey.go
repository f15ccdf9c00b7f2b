package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assent/internal/spell"
)

// held are the keys that are held while another is pressed, in the order in which a
// terminal names them.
var held = []string{"ctrl", "alt", "shift", "meta", "hyper", "super"}

// superKeyOf reads the name of a key that can confirm what reaches beyond one call:
// one that is held, or one of its own that writes nothing and means nothing else in
// the prompt. A letter alone is typed by accident.
func superKeyOf(m member) (string, error) {
	const want = `a key that is held ("alt", "ctrl") or one of its own ("f9", "insert", "ctrl+g")`
	key, err := m.string(want)
	if err != nil {
		return "", err
	}
	if keyMeant(key) {
		return key, nil
	}
	f := &fault{at: m.value, text: fmt.Sprintf("%s: %.60q is no key that can confirm something", m.name, key), hint: "want " + want}
	lower := strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(key, "-", "+"), " ", ""))
	known := slices.Concat(held, []string{"insert", "delete"})
	switch near := spell.Near(lower, known); {
	case keyMeant(lower):
		f.hint = fmt.Sprintf("did you mean %q?", lower)
	case lower == "option":
		f.hint = `did you mean "alt"?`
	case lower == "control":
		f.hint = `did you mean "ctrl"?`
	case near != "":
		f.hint = fmt.Sprintf("did you mean %q?", near)
	}
	return "", f
}

// keyMeant reports whether a text is the name of such a key, as a terminal tells it.
func keyMeant(key string) bool {
	if slices.Contains(held, key) {
		return true
	}
	words := strings.Split(key, "+")
	with, last := words[:len(words)-1], words[len(words)-1]
	for i, word := range with {
		at := slices.Index(held, word)
		if at < 0 || i > 0 && at <= slices.Index(held, with[i-1]) {
			return false
		}
	}
	switch {
	case last == "insert", last == "delete":
		return true
	case len(last) > 1 && last[0] == 'f':
		n, err := strconv.Atoi(last[1:])
		return err == nil && 1 <= n && n <= 63 && last[1] != '0' && last[1] != '+'
	case len(last) != 1 || !('a' <= last[0] && last[0] <= 'z' || '0' <= last[0] && last[0] <= '9'):
		return false
	case len(with) == 1 && with[0] == "ctrl":
		// The others end or stop the program, scroll, or are Tab, Enter and Backspace.
		return strings.Contains("aegklnoprtuvwxy", last)
	}
	return len(with) > 0 && !slices.Equal(with, []string{"shift"}) // which writes another letter
}
