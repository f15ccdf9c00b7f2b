package toolkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"assent/job"
)

// Clients run their own tools. What such a call would change of a file is shown all
// the same, as far as its arguments say it: these are the tools by which the clients
// write files, each with the names of its arguments. A tool that patches says in its
// text what it changes.
var clientTools = map[string]writes{
	"Write":      {path: "file_path", content: "content"},
	"Edit":       {path: "file_path", one: swap{"old_string", "new_string", "replace_all"}},
	"MultiEdit":  {path: "file_path", many: "edits", one: swap{"old_string", "new_string", "replace_all"}},
	"write":      {path: "filePath", content: "content"},
	"edit":       {path: "filePath", one: swap{"oldString", "newString", "replaceAll"}},
	"multiedit":  {path: "filePath", many: "edits", one: swap{"oldString", "newString", "replaceAll"}},
	"write_file": {path: "file_path", content: "content"},
	"replace":    {path: "file_path", one: swap{"old_string", "new_string", "allow_multiple"}, told: "instruction"},
}

// writes are the names of the arguments of a tool that writes one file.
type writes struct {
	path, content string
	many          string // the list of exchanges; "" where the arguments are the one
	one           swap
	told          string // a text that changes nothing
}

// swap are the names of the parts of an exchange.
type swap struct{ before, after, all string }

// preview shows what a call would change. The content of a new file stands in the
// call.
func (w writes) preview(ctx context.Context, call job.Call) (job.Shown, error) {
	c, err := w.change(ctx, call)
	switch {
	case err != nil:
		return job.Shown{}, err
	case c.absent:
		return job.Shown{Text: "it makes a new file: there is no " + c.shown + " now"}, nil
	case bytes.Equal(c.before, c.after):
		return job.Shown{Text: "nothing: " + c.shown + " is so already"}, nil
	}
	return job.Shown{Text: c.diff()}, nil
}

// change is what a call of a client's tool would do, as a [plan].
func (w writes) change(ctx context.Context, call job.Call) (*change, error) {
	var a map[string]any
	if err := call.Decode(&a); err != nil {
		return nil, err
	}
	if _, ok := a[w.path].(string); !ok {
		return nil, fmt.Errorf("%s is no text", w.path)
	}
	c, err := present(call)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{w.path: true}
	if w.told != "" {
		known[w.told] = true
	}
	if w.content != "" {
		text, ok := a[w.content].(string)
		if !ok {
			return c, fmt.Errorf("%s is no text", w.content)
		}
		c.after = []byte(text)
		known[w.content] = true
		return c, unknown(a, known)
	}
	exchanges := []any{a}
	if w.many != "" {
		known[w.many] = true
		var ok bool
		if exchanges, ok = a[w.many].([]any); !ok {
			return c, fmt.Errorf("%s is no list", w.many)
		}
		if err := unknown(a, known); err != nil {
			return c, err
		}
		known = map[string]bool{}
	}
	known[w.one.before], known[w.one.after], known[w.one.all] = true, true, true
	edits := make([]edit, 0, len(exchanges))
	for _, x := range exchanges {
		of, ok := x.(map[string]any)
		before, hasBefore := of[w.one.before].(string)
		after, hasAfter := of[w.one.after].(string)
		all, isBool := of[w.one.all].(bool)
		if !ok || !hasBefore || !hasAfter || !isBool && of[w.one.all] != nil {
			return c, fmt.Errorf("it says no %s and %s", w.one.before, w.one.after)
		}
		if err := unknown(of, known); err != nil {
			return c, err
		}
		edits = append(edits, edit{OldText: before, NewText: after, ReplaceAll: all})
	}
	if len(edits) > 0 && edits[0].OldText == "" && len(c.before) == 0 {
		c.before, c.after = nil, []byte(edits[0].NewText) // so a client makes a file
		if edits = edits[1:]; len(edits) == 0 {
			return c, nil
		}
		made := *c
		made.absent, made.before = false, c.after
		err := made.edit(ctx, edits, w.one.before)
		c.after = made.after
		return c, err
	}
	return c, c.edit(ctx, edits, w.one.before)
}

// errMore: the client may do more than what was understood.
var errMore = errors.New("the call has an argument that is not known here")

func unknown(a map[string]any, known map[string]bool) error {
	for name := range a {
		if !known[name] {
			return fmt.Errorf("%w: %s", errMore, name)
		}
	}
	return nil
}
