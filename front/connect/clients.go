package connect

import (
	_ "embed"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The limits. The hook answers before its client stops waiting for it: a hook
// that is late lets the tool run. After a call nobody is waited for.
const (
	Waits     = time.Hour
	Answers   = Waits - 30*time.Second
	waitsPost = time.Minute
	answers   = waitsPost - 10*time.Second
)

// Program is the name of the hook.
const Program = "assent-hook"

// Setting is what goes into a configuration.
type Setting struct {
	// Program is the whole path of the hook.
	Program string
	// Kernel is the place of the kernel it asks. It stands in the command: what a
	// client sets in the environment of its hooks, often as a project says, leads to
	// no other kernel.
	Kernel Kernel
	// Name is one that an agent cannot guess, for a client whose own switch
	// takes names.
	Name string
}

// Kernel is where a kernel is: its socket and its folders. The zero value says nothing.
type Kernel struct{ Socket, Config, State string }

// args are what the hook is started with.
func (s Setting) args(answer time.Duration, client string) []string {
	var args []string
	if s.Kernel != (Kernel{}) {
		args = []string{"--socket", s.Kernel.Socket, "--config", s.Kernel.Config, "--state", s.Kernel.State}
	}
	if answer != 0 {
		args = append(args, "--deadline", answer.String())
	}
	return append(args, client)
}

// Client is one whose configuration can be changed.
type Client struct {
	Name, Title string
	// Personal and Project are the paths of its configuration, from its variables
	// and home, and in a project.
	Personal func(lookup func(string) string) string
	Project  string
	// Notes say what must be done yet, Holes what a hook of this client does not
	// stop.
	Notes, Holes []string
	// Elsewhere says what this client does on a machine where the program of the
	// hook is not at that path, as where a project's configuration came by version
	// control.
	Elsewhere string

	unit    time.Duration
	events  []event
	handler func(s Setting, e event) any
	plugin  bool
}

type event struct {
	name          string
	matcher       string // of the tools it is about
	waits, answer time.Duration
	closed        bool // its failure blocks
}

const everyTool = "*"

func before(name string) event { return event{name, everyTool, Waits, Answers, true} }

func after(name string) event { return event{name, everyTool, waitsPost, answers, false} }

// home joins a path to the home folder, "" where there is none.
func home(lookup func(string) string, parts ...string) string {
	if h := lookup("HOME"); path.IsAbs(h) {
		return path.Join(append([]string{h}, parts...)...)
	}
	return ""
}

// or is the folder in a variable, else that one in the home folder.
func or(variable string, parts []string, file ...string) func(func(string) string) string {
	return func(lookup func(string) string) string {
		dir := lookup(variable)
		if !path.IsAbs(dir) {
			if dir != "" {
				return "" // which folder a client takes it from is not known here
			}
			dir = home(lookup, parts...)
		}
		if dir == "" {
			return ""
		}
		return path.Join(append([]string{dir}, file...)...)
	}
}

const settingsHole = "an agent that can write its own configuration can switch the hook off for the next session; configuration managed by the machine's administrator, or a sandbox, is what prevents that"

// Clients are those that are known, in the order of their names.
var Clients = []Client{
	{
		Name: "claude", Title: "Claude Code",
		Elsewhere: "Claude Code runs every call there, from 2.1.295 on it runs none",
		Personal:  or("CLAUDE_CONFIG_DIR", []string{".claude"}, "settings.json"),
		Project:   ".claude/settings.local.json",
		unit:      time.Second,
		events: []event{before("PreToolUse"), after("PostToolUse"), after("PostToolUseFailure"),
			{"ConfigChange", everyTool, waitsPost, answers, true}},
		handler: func(s Setting, e event) any {
			return claudeHandler{"command", s.Program, s.args(e.answer, "claude"), int64(e.waits / time.Second), failure(e)}
		},
		Notes: []string{"what assent allows, Claude Code asks about no more; its plan mode, its plans and its own questions stay its own",
			"a hook that cannot start or is killed blocks the call from Claude Code 2.1.295 on (onFailure); older ones let it run"},
		Holes: []string{
			"--bare, --safe-mode, --setting-sources without user, and disableAllHooks in any settings file start Claude Code without the hook",
			settingsHole,
		},
	},
	{
		Name: "codex", Title: "Codex",
		Elsewhere: "Codex runs every call there, once these hooks are trusted",
		Personal:  or("CODEX_HOME", []string{".codex"}, "hooks.json"),
		Project:   ".codex/hooks.json",
		unit:      time.Second,
		// Its own question about a tool of an MCP server is the one that was answered
		// already; codex exec takes it for refused where nobody answers. Its question
		// about a command is another one, whether that may leave its sandbox: the call
		// does not say so, nobody was asked, and so that stays with the person.
		events: []event{before("PreToolUse"), {"PermissionRequest", "mcp__.*", waitsPost, answers, false}, after("PostToolUse")},
		handler: func(s Setting, e event) any {
			return codexHandler{"command", line(s, e.answer, "codex"), int64(e.waits / time.Second)}
		},
		Notes: []string{
			"Codex asks its own question besides where a command is to run outside of its sandbox",
			"Codex runs no hook that you have not trusted, and says nothing of it: start codex once now, and choose to trust it where \"Hooks need review\" is shown; again after every change of this file",
			"until then every call runs without assent",
		},
		Holes: []string{
			"what is typed into a program that already runs (write_stdin) asks no hook: to allow bash, python or ssh allows everything that is typed there",
			"-c features.hooks=false starts Codex without the hook; searches of the web that its provider makes are not seen; a hook that is killed lets the call run",
			settingsHole,
		},
	},
	{
		Name: "gemini", Title: "Gemini CLI",
		Elsewhere: "Gemini CLI runs no call there",
		Personal: func(lookup func(string) string) string {
			if dir := lookup("GEMINI_CLI_HOME"); dir != "" {
				if !path.IsAbs(dir) {
					return ""
				}
				return path.Join(dir, ".gemini/settings.json")
			}
			return home(lookup, ".gemini/settings.json")
		},
		Project: ".gemini/settings.json",
		unit:    time.Millisecond,
		events:  []event{before("BeforeTool"), after("AfterTool")},
		handler: func(s Setting, e event) any {
			return geminiHandler{"command", s.Name, line(s, e.answer, "gemini"), int64(e.waits / time.Millisecond)}
		},
		Notes: []string{"Gemini CLI asks its own questions besides; sessions that are open take the hook when they are started again"},
		Holes: []string{
			"gemini --acp (in editors) calls no hook at all",
			"a project that you trust can switch hooks off (hooksConfig in its .gemini/settings.json); a hook that is killed lets the call run",
			settingsHole,
		},
	},
	{
		Name: "opencode", Title: "opencode",
		Elsewhere: "opencode runs no call there",
		Personal:  or("XDG_CONFIG_HOME", []string{".config"}, "opencode/plugins/assent.js"),
		Project:   ".opencode/plugins/assent.js",
		plugin:    true,
		Notes:     []string{"sessions that are open take the plugin when they are started again; the first start may fetch opencode's plugin package from the network"},
		Holes: []string{
			"opencode --pure loads no plugin, and a plugin that fails to load is left out silently",
			"a plugin of the project runs in the same process and can undo this one",
			settingsHole,
		},
	},
}

func failure(e event) string {
	if e.closed {
		return "block"
	}
	return ""
}

type claudeHandler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout int64    `json:"timeout"`
	Failure string   `json:"onFailure,omitempty"`
}

type codexHandler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int64  `json:"timeout"`
}

type geminiHandler struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Command string `json:"command"`
	Timeout int64  `json:"timeout"`
}

type group struct {
	Matcher string `json:"matcher"`
	Hooks   []any  `json:"hooks"`
}

// line is a command for a shell.
func line(s Setting, answer time.Duration, client string) string {
	words := []string{quote(s.Program)}
	for _, arg := range s.args(answer, client) {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

// words are those of a command as [line] writes them; what a shell could read in
// another way is none.
func words(text string) (words []string, ok bool) {
	for text != "" {
		var word string
		if strings.HasPrefix(text, "'") {
			for {
				var more string
				if more, text, ok = strings.Cut(text[1:], "'"); !ok {
					return nil, false
				}
				word += more
				if !strings.HasPrefix(text, `\''`) {
					break
				}
				word += "'"
				text = text[2:]
			}
			if text != "" && text[0] != ' ' {
				return nil, false
			}
			text = strings.TrimPrefix(text, " ")
		} else {
			word, text, _ = strings.Cut(text, " ")
			if word == "" || quote(word) != word {
				return nil, false
			}
		}
		words = append(words, word)
	}
	return words, true
}

func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@%", r)
	}
	if strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Find is a client by its name.
func Find(name string) (Client, bool) {
	for _, c := range Clients {
		if c.Name == name {
			return c, true
		}
	}
	return Client{}, false
}

//go:embed plugin.js
var pluginText string

const (
	pluginMark = "// Written by `assent connect opencode`"
	pluginHook = `"@PROGRAM@"`
	pluginArgs = `["@ARGUMENTS@"]`
)

// ErrForeign: something of somebody else's is where ours would be.
var ErrForeign = errors.New("is not what assent has written: it stays as it is")

// With is the text of a configuration with the hook in it. A text that has it
// already comes back as it is.
func (c Client) With(text string, s Setting) (string, error) {
	for _, p := range []string{s.Program, s.Kernel.Socket, s.Kernel.Config, s.Kernel.State} {
		if p == "" && s.Kernel == (Kernel{}) && p != s.Program {
			continue
		}
		if strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }) || !path.IsAbs(p) {
			return "", fmt.Errorf("%q is no whole path", p)
		}
	}
	if c.plugin {
		if text != "" && !strings.HasPrefix(text, pluginMark) {
			return "", ErrForeign
		}
		quoted, err := jsontext.AppendQuote(nil, s.Program)
		if err != nil {
			return "", err
		}
		args, err := json.Marshal(s.args(0, c.Name), jsontext.SpaceAfterComma(true))
		return strings.NewReplacer(pluginHook, string(quoted), pluginArgs, string(args)).Replace(pluginText), err
	}
	if name := c.nameIn(text); name != "" {
		s.Name = name
	}
	bare, err := c.Without(text)
	if err != nil {
		return "", err
	}
	out := bare
	if strings.TrimSpace(out) == "" {
		out = "{}\n"
	}
	unit, newline := layout(out)
	for _, e := range c.events {
		if out, err = c.add(out, e, s, unit, newline); err != nil {
			return "", err
		}
	}
	if same(out, text) {
		return text, nil
	}
	return out, nil
}

// same: both say the same, however they are written.
func same(a, b string) bool {
	if a == b {
		return true
	}
	x, err := read(a)
	if err != nil {
		return false
	}
	y, err := read(b)
	return err == nil && x.plain(a) == y.plain(b)
}

// add puts the hook behind the others of an event.
func (c Client) add(text string, e event, s Setting, unit, newline string) (string, error) {
	root, err := read(text)
	if err != nil {
		return "", err
	}
	if root.kind != '{' {
		return "", errors.New("it is not an object")
	}
	render := func(v any, depth int) (string, error) {
		out, err := json.Marshal(v, jsontext.WithIndentPrefix(strings.Repeat(unit, depth)), jsontext.WithIndent(unit))
		return strings.ReplaceAll(string(out), "\n", newline), err
	}
	one := group{e.matcher, []any{c.handler(s, e)}}
	hooks, err := root.member("hooks")
	if err != nil {
		return "", err
	}
	if hooks == nil {
		v, err := render(map[string][]group{e.name: {one}}, 1)
		return insert(text, root, `"hooks": `+v, unit, "", newline), err
	}
	if hooks.kind != '{' {
		return "", errors.New("its hooks are not an object")
	}
	groups, err := hooks.member(e.name)
	if err != nil {
		return "", err
	}
	if groups == nil {
		v, err := render([]group{one}, 2)
		return insert(text, hooks, `"`+e.name+`": `+v, strings.Repeat(unit, 2), unit, newline), err
	}
	if groups.kind != '[' {
		return "", fmt.Errorf("its hooks of %s are not a list", e.name)
	}
	v, err := render(one, 3)
	return insert(text, groups, v, strings.Repeat(unit, 3), strings.Repeat(unit, 2), newline), err
}

// layout is how far a text is indented, and how its lines end.
func layout(text string) (unit, newline string) {
	unit, newline = "  ", "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, " \t"); strings.HasPrefix(rest, `"`) && len(rest) < len(line) {
			return line[:len(line)-len(rest)], newline
		}
	}
	return unit, newline
}

// Without is the text without the hook and with everything else; what had
// nothing else in it goes too.
func (c Client) Without(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return text, nil
	}
	if c.plugin {
		if !strings.HasPrefix(text, pluginMark) {
			return "", ErrForeign
		}
		return "", nil
	}
	for {
		out, found, err := c.once(text)
		if err != nil || !found {
			return text, err
		}
		text = out
	}
}

// once takes one hook of ours out.
func (c Client) once(text string) (out string, found bool, err error) {
	root, err := read(text)
	if err != nil {
		return "", false, err
	}
	if root.kind != '{' {
		return "", false, errors.New("it is not an object")
	}
	hooks, err := root.member("hooks")
	if err != nil || hooks == nil || hooks.kind != '{' {
		return text, false, err
	}
	for i, ev := range hooks.items {
		if ev.value.kind != '[' {
			continue
		}
		for j, g := range ev.value.items {
			if g.value.kind != '{' {
				continue
			}
			list, err := g.value.member("hooks")
			if err != nil {
				return "", false, err
			}
			if list == nil || list.kind != '[' {
				continue
			}
			for k, h := range list.items {
				if !ours(h.value.plain(text), c.Name) {
					continue
				}
				switch {
				case len(list.items) > 1:
					return remove(text, list, k), true, nil
				case len(ev.value.items) > 1:
					return remove(text, ev.value, j), true, nil
				case len(hooks.items) > 1:
					return remove(text, hooks, i), true, nil
				}
				for n, it := range root.items {
					if it.value == hooks {
						return remove(text, root, n), true, nil
					}
				}
			}
		}
	}
	return text, false, nil
}

// entry is a hook of any client.
type entry struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout float64  `json:"timeout"`
	Failure string   `json:"onFailure"`
	Async   bool     `json:"async"`
}

// ours: that hook is one that assent writes for that client. What somebody made around
// assent's program is theirs.
func ours(text, client string) bool {
	var e entry
	if json.Unmarshal([]byte(text), &e) != nil {
		return false
	}
	args := append([]string{e.Command}, e.Args...)
	if e.Args == nil {
		var ok bool
		if args, ok = words(e.Command); !ok {
			return false
		}
	}
	return len(args) > 1 && path.IsAbs(args[0]) && path.Base(args[0]) == Program && onlyOurs(args[1:], client)
}

// onlyOurs: arguments as [Setting.args] makes them, of this version or an older one.
func onlyOurs(args []string, client string) bool {
	for len(args) > 2 {
		switch args[0] {
		case "--socket", "--config", "--state", "--deadline":
			args = args[2:]
		default:
			return false
		}
	}
	return len(args) == 1 && args[0] == client
}

// off is the switch of a configuration by which no hook in it runs, "" for none.
func (c Client) off(text, name string) string {
	root, err := read(text)
	if err != nil {
		return ""
	}
	var all struct {
		Claude  jsontext.Value `json:"disableAllHooks"`
		Managed jsontext.Value `json:"allowManagedHooksOnly"`
		Gemini  struct {
			Enabled  jsontext.Value   `json:"enabled"`
			Disabled []jsontext.Value `json:"disabled"`
		} `json:"hooksConfig"`
	}
	if json.Unmarshal([]byte(root.plain(text)), &all) != nil {
		return ""
	}
	on := func(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'f' && v.Kind() != 'n' }
	switch {
	case c.Name == "claude" && on(all.Claude):
		return "disableAllHooks"
	case c.Name == "claude" && on(all.Managed):
		return "allowManagedHooksOnly"
	case c.Name == "gemini" && len(all.Gemini.Enabled) > 0 && all.Gemini.Enabled.Kind() != 't':
		return "hooksConfig.enabled"
	case c.Name == "gemini":
		if known := c.nameIn(text); known != "" {
			name = known
		}
		for _, v := range all.Gemini.Disabled {
			if v.Kind() == '"' && (strings.Contains(string(v), Program) || string(v) == `"`+name+`"`) {
				return "hooksConfig.disabled"
			}
		}
	}
	return ""
}

// nameIn is the name that a configuration has for the hook.
func (c Client) nameIn(text string) string {
	found, err := c.Hooks(text)
	if err != nil {
		return ""
	}
	for _, h := range found {
		if h.Name != "" {
			return h.Name
		}
	}
	return ""
}
