package card

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/wire"
	"assent/internal/drawn"
)

// mostWhat is how much of a value is told in one line, in bytes. What is dangerous
// may stand at its end, so that end is kept.
const mostWhat = 2000

// Telling are the arguments that tell most of a call, in the order in which they
// do.
var Telling = []string{"command", "cmd", "file_path", "filePath", "path", "url", "query", "pattern"}

// typed is a text, or the words of a command as one would type them.
func typed(v jsontext.Value) (text string) {
	var words []string
	switch {
	case json.Unmarshal(v, &text) == nil:
		return text
	case json.Unmarshal(v, &words) != nil:
		return ""
	}
	for i, w := range words {
		if w == "" || strings.ContainsFunc(w, special) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// special says whether a character means something to a shell, or might.
func special(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:=@%+,", r))
}

// besides names the arguments of a call beside the one that is shown.
func besides(members map[string]jsontext.Value, shown string) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name != shown {
			names = append(names, drawn.Middle(name, mostWhat))
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 3:
		names = append(names[:3], "...")
	}
	return " (with " + strings.Join(names, ", ") + ")"
}

// task is the register of a session that says what it was started for, as the host
// writes it.
const task = "host/task"

// Task is what a session was started for, by its registers; "" where no agent started it.
func Task(all wire.Registers) string {
	for _, r := range slices.Backward(all.Registers) {
		var of struct {
			Text string `json:"text"`
		}
		if r.Name == task && json.Unmarshal(r.Value, &of) == nil {
			return of.Text
		}
	}
	return ""
}

// What is what a call is about, in one line: its command, its path, or its
// arguments as they are. It is for lists; all of a call is in its JSON.
func What(arguments jsontext.Value) string {
	var members map[string]jsontext.Value
	if json.Unmarshal(arguments, &members) == nil {
		for _, name := range Telling {
			text := typed(members[name])
			if strings.TrimSpace(text) != "" {
				if name != "command" && name != "cmd" {
					return drawn.Middle(text, mostWhat) + besides(members, name)
				}
				return drawn.Middle(text, mostWhat)
			}
		}
	}
	if len(members) == 0 {
		return "-"
	}
	return drawn.Middle(string(arguments), mostWhat)
}
