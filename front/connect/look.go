package connect

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Hook is one of ours that a configuration has.
type Hook struct {
	Event, Matcher string
	// Group and Index are its places in the lists of its event.
	Group, Index int
	// Command is a program with Args, or where Args is nil a line for a shell.
	Command string
	Args    []string
	Name    string
	// Waits is how long the client waits for it, 0 where that is not said.
	Waits time.Duration
	// Block: its failure blocks the call. Async: nobody waits for it.
	Block, Async bool
	// Raw is the entry as it stands there.
	Raw string
}

// Event is one at which the hook is wanted.
type Event struct {
	Name string
	// Waits and Answers are the limits that connect writes.
	Waits, Answers time.Duration
	// Closed: the client can be told that a failure blocks, where it can.
	Closed bool
}

// Events are those of a client that is told of hooks by its configuration; the
// first is the one before a call.
func (c Client) Events() (events []Event) {
	for _, e := range c.events {
		events = append(events, Event{e.name, e.waits, e.answer, e.closed})
	}
	return events
}

// Unit is the unit of the client's limits.
func (c Client) Unit() time.Duration { return c.unit }

// Plugin: the client has a plugin instead of hooks.
func (c Client) Plugin() bool { return c.plugin }

// Hooks are those of ours that a text has, in the order of their events.
func (c Client) Hooks(text string) (list []Hook, err error) {
	if strings.TrimSpace(text) == "" || c.plugin {
		return nil, nil
	}
	plain, err := Plain(text)
	if err != nil {
		return nil, err
	}
	var all struct {
		Hooks map[string]jsontext.Value `json:"hooks"`
	}
	if err := json.Unmarshal([]byte(plain), &all); err != nil {
		return nil, err
	}
	for name, value := range all.Hooks {
		var groups []struct {
			Matcher string           `json:"matcher"`
			Hooks   []jsontext.Value `json:"hooks"`
		}
		if json.Unmarshal(value, &groups) != nil {
			continue
		}
		for i, g := range groups {
			for k, h := range g.Hooks {
				var e entry
				if !ours(string(h), c.Name) || json.Unmarshal(h, &e) != nil {
					continue
				}
				waits := time.Duration(min(e.Timeout*float64(c.unit), math.MaxInt64/2))
				list = append(list, Hook{name, g.Matcher, i, k, e.Command, e.Args, e.Name, waits, e.Failure == "block", e.Async, string(h)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Hook) int { return strings.Compare(a.Event, b.Event) })
	return list, nil
}

// Words are the words of the hook's command. False: they cannot be told, as only
// a shell could.
func (h Hook) Words() ([]string, bool) {
	if h.Args != nil {
		return append([]string{h.Command}, h.Args...), true
	}
	var words []string
	var b strings.Builder
	open := false
	for i := 0; i < len(h.Command); i++ {
		switch c := h.Command[i]; {
		case c == ' ' || c == '\t':
			if open {
				words = append(words, b.String())
			}
			b.Reset()
			open = false
		case c == '\'' || c == '"':
			end := strings.IndexByte(h.Command[i+1:], c)
			if end < 0 || c == '"' && strings.ContainsAny(h.Command[i+1:i+1+end], "$`\\") {
				return nil, false
			}
			b.WriteString(h.Command[i+1 : i+1+end])
			i += end + 1
			open = true
		case c == '\\' && strings.HasPrefix(h.Command[i:], `\'`):
			b.WriteByte('\'')
			i++
			open = true
		case strings.IndexByte("$`\\|&;<>(){}*?[]#~!\n", c) >= 0:
			return nil, false
		default:
			b.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words, len(words) > 0
}

// Program is the hook's own program among its words, and the deadline that it is
// given, 0 where it has none.
func (h Hook) Program() (program string, deadline time.Duration) {
	words, _ := h.Words()
	i := slices.IndexFunc(words, func(w string) bool { return path.Base(w) == Program })
	if i < 0 {
		return "", 0
	}
	for k, w := range words[i+1:] {
		value, is := strings.CutPrefix(w, "--deadline=")
		if !is && w == "--deadline" && i+k+2 < len(words) {
			value, is = words[i+k+2], true
		}
		if is {
			deadline, _ = time.ParseDuration(value)
			break
		}
	}
	return words[i], deadline
}

// Hurried is the hook with another deadline. False: it has none that could be
// exchanged.
func (h Hook) Hurried(deadline time.Duration) (Hook, bool) {
	_, old := h.Program()
	if old == 0 {
		return h, false
	}
	if h.Args != nil {
		h.Args = slices.Clone(h.Args)
		for i, a := range h.Args {
			switch {
			case strings.HasPrefix(a, "--deadline="):
				h.Args[i] = "--deadline=" + deadline.String()
				return h, true
			case a == "--deadline" && i+1 < len(h.Args):
				h.Args[i+1] = deadline.String()
				return h, true
			}
		}
		return h, false
	}
	before, rest, found := strings.Cut(h.Command, "--deadline")
	if !found || rest == "" || rest[0] != ' ' && rest[0] != '=' {
		return h, false
	}
	_, after, found := strings.Cut(rest[1:], " ")
	h.Command = before + "--deadline" + rest[:1] + deadline.String() + " " + after
	return h, found
}

// At is the hook with another place of its kernel in its command; one that names no
// place stays. False: the command cannot be told.
func (h Hook) At(k Kernel) (Hook, bool) {
	words, ok := h.Words()
	if !ok {
		return h, false
	}
	words = slices.Clone(words)
	for i, w := range words {
		value, is := map[string]string{"--socket": k.Socket, "--config": k.Config, "--state": k.State}[w]
		if is && i+1 < len(words) {
			words[i+1] = value
		}
	}
	if h.Args != nil {
		h.Args = words[1:]
		return h, true
	}
	for i, w := range words {
		words[i] = quote(w)
	}
	h.Command = strings.Join(words, " ")
	return h, true
}

// PluginCommand is the program that a plugin of ours starts with its arguments, and
// whether the plugin is otherwise as it was written for that client.
func (c Client) PluginCommand(text string) (program string, args []string, whole bool, err error) {
	if !strings.HasPrefix(text, pluginMark) {
		return "", nil, false, ErrForeign
	}
	after := func(mark string, v any) bool {
		before, behind, _ := strings.Cut(pluginText, mark)
		line := before[strings.LastIndexByte(before, '\n')+1:]
		behind, _, _ = strings.Cut(behind, "\n")
		_, rest, found := strings.Cut(text, "\n"+line)
		value, _, _ := strings.Cut(rest, "\n")
		value, ends := strings.CutSuffix(value, behind)
		return found && ends && json.Unmarshal([]byte(value), v) == nil
	}
	if !after(pluginHook, &program) {
		return "", nil, false, fmt.Errorf("it names no program")
	}
	if !after(pluginArgs, &args) || !onlyOurs(args, c.Name) {
		return program, []string{c.Name}, false, nil
	}
	setting := Setting{Program: program}
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "--socket":
			setting.Kernel.Socket = args[i+1]
		case "--config":
			setting.Kernel.Config = args[i+1]
		case "--state":
			setting.Kernel.State = args[i+1]
		}
	}
	want, err := c.With("", setting)
	return program, args, err == nil && want == text, nil
}
