package remainder

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"assent/approval"
)

// Effect is what the floor found that a call does.
type Effect struct {
	Kind   string   `json:"kind"`
	Target string   `json:"target"`
	Notes  []string `json:"notes"`
	Result string   `json:"result"`
	Rule   *string  `json:"rule"`
}

// maxEffectTarget is the longest target of which it is sure that nothing was cut from it.
const maxEffectTarget = 4096

// EffectsIn are the effects in the explanation of the floor as the document keeps it:
// all of them, or none where some were left out or cut.
func EffectsIn(explanation string) []Effect {
	var said struct {
		Effects []Effect `json:"effects"`
		More    int      `json:"more"`
	}
	if json.Unmarshal([]byte(explanation), &said) != nil || said.More != 0 || slices.ContainsFunc(said.Effects, func(e Effect) bool {
		return len(e.Target) >= maxEffectTarget || slices.ContainsFunc(e.Notes, func(n string) bool { return len(n) >= maxEffectTarget })
	}) {
		return nil
	}
	return said.Effects
}

// String is the effect as a model reads it.
func (e Effect) String() string {
	text := e.Kind + " " + e.Target
	if len(e.Notes) > 0 {
		text += " (" + strings.Join(e.Notes, "; ") + ")"
	}
	if e.Result != "" {
		text += ": " + e.Result
	}
	return text
}

// maxTold is how much a model is told of what a call does, in bytes.
const maxTold = 32 << 10

// told is what the floor found that the call does, a line each, "" where not all of
// it is known or it is too much.
func (c Call) told() string {
	var b strings.Builder
	for _, e := range c.Effects {
		b.WriteString(strings.ReplaceAll(e.String(), "\n", "⏎") + "\n")
		if b.Len() > maxTold {
			return ""
		}
	}
	return strings.ToValidUTF8(strings.TrimSuffix(b.String(), "\n"), "\uFFFD")
}

// contents are the arguments of tools that write by which what a file contains is
// said, in the spellings of the clients. It changes neither the license nor the key
// (law ruling 14): what becomes of which file is in the effects.
var contents = []string{
	"content", "contents", "text", "file_text", "code_edit", "new_source", "edits", "changes", "diff", "patch", "patchText", "input",
	"old_string", "new_string", "oldString", "newString", "oldText", "newText", "old_str", "new_str", "instruction", "instructions", "description",
}

// payload is that of the key of a call that reads or writes files (law §9): what the
// floor found that it does, in its order, and the arguments but for contents. "" is
// none.
func (c Call) payload() string {
	if len(c.Effects) == 0 || len(c.Paths) == 0 || slices.Contains(c.Paths, "") {
		return ""
	}
	var without []string
	if c.Cluster == approval.Write {
		without = contents
	}
	arguments, ok := canonical(c.Arguments, without...)
	if !ok {
		return ""
	}
	text, err := json.Marshal([]any{c.Name, c.Cwd, c.Effects, arguments}, json.Deterministic(true))
	if err != nil {
		return ""
	}
	return string(text)
}
