package session

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"assent/approval"
)

// What a floor or a body hands in may be anything; what the document would
// refuse for good must not come into a save, or its leaf would never settle.

// maxDepth is how deep the document's engine reads JSON: SQLite's
// JSON_MAX_DEPTH.
const maxDepth = 1000

// unkept says why the document would not keep JSON as a value, "" when it does.
func unkept(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "it is not UTF-8"
	case !json.Valid([]byte(text)):
		return "it is not JSON"
	case strings.TrimSpace(text) == "null":
		return "it is null"
	case depth(text) > maxDepth:
		return "it is nested too deeply"
	}
	return ""
}

// depth is how deep valid JSON is nested.
func depth(text string) (deepest int) {
	now, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			now++
			deepest = max(deepest, now)
		case c == ']' || c == '}':
			now--
		}
	}
	return deepest
}

// kept is the outcome as the document keeps it.
func kept(outcome string) string {
	switch why := unkept(outcome); {
	case why == "":
		return outcome
	case !json.Valid([]byte(outcome)):
		return approval.ReceiptAborted(outcome).String() // a reason and no outcome
	default:
		return approval.ReceiptAborted("the outcome cannot be kept: " + why).String()
	}
}

// keptObject is an object as the document keeps it, "" for one that it would not.
func keptObject(text string) string {
	if unkept(text) != "" || !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return ""
	}
	return text
}

// kept is the floor's answer as the document keeps it. An explanation that it
// would not is left out, and a path that is no text cannot be told: what would
// be written in its place is another path.
func (f FloorDone) kept() FloorDone {
	f.Explanation = keptObject(f.Explanation)
	paths := f.Paths
	f.Paths = nil
	for _, p := range paths {
		if !utf8.ValidString(string(p)) || strings.IndexByte(string(p), 0) >= 0 {
			p = ""
		}
		f.Paths = append(f.Paths, p)
	}
	return f
}
