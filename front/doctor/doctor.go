package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"assent/front/connect"
	"assent/internal/place"
)

// Result is what came of one check. The zero value is the worst.
type Result int

// The results. A limit is one of the client that no configuration lifts: it is
// told, and is no fault.
const (
	Hole Result = iota
	Limit
	Unknown
	Fine
)

func (r Result) String() string { return [...]string{"hole", "limit", "unknown", "ok"}[r] }

// MarshalText writes the result as its name.
func (r Result) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"`
	Result Result `json:"result"`
	What   string `json:"what"`
	// Effect is what the client would do, in a live case: "refused" or "ran".
	Effect string `json:"effect,omitempty"`
	// Do is what the person can do.
	Do string `json:"do,omitempty"`
}

// Report is what is known of one client.
type Report struct {
	Client string `json:"client"`
	Title  string `json:"title"`
	// Program is the client's own on the search path, Version what it says it is.
	Program string `json:"program,omitempty"`
	Version string `json:"version,omitempty"`
	// Files are the configurations with the hook in them.
	Files     []string `json:"files"`
	Connected bool     `json:"connected"`
	Checks    []Check  `json:"checks"`
	// Scratch is the folder that the live cases had, and which is gone.
	Scratch string `json:"scratch,omitempty"`
}

// Holes are how many checks found one.
func (r *Report) Holes() (n int) {
	for _, c := range r.Checks {
		if c.Result == Hole {
			n++
		}
	}
	return n
}

// Options of an examination.
type Options struct {
	Getenv  func(string) string
	Environ []string
	UID     int
	// Workspace is the project whose configuration counts too.
	Workspace string
	// Self is assent's own program: the hook must be of the same build.
	Self string
	// LookPath finds the client's program, "" where there is none.
	LookPath func(string) string
	// System is the root of the machine's configuration: "/".
	System string
	// Shared: a kernel runs for this user that somebody else set up, so that no
	// other can be asked.
	Shared bool
	// Still leaves the live cases out.
	Still bool
}

type examination struct {
	Options
	connect.Client
	*Report
}

func (x *examination) say(name string, result Result, do string, format string, args ...any) {
	x.Checks = append(x.Checks, Check{Name: name, Result: result, What: fmt.Sprintf(format, args...), Do: do})
}

func (x *examination) reconnect() string {
	return "assent connect " + x.Client.Name
}

// source is one configuration of the client's.
type source struct {
	path, text string
	project    bool
	there      bool
	err        error
}

// largest is larger than a configuration is, in bytes.
const largest = 8 << 20

func read(path string) source {
	text, _, err := place.Read(path, largest, "configuration")
	s := source{path: path, text: string(text), there: err == nil}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.err = err
	}
	return s
}

// Examine looks at one client. It always has a report; an error is one of the
// examination itself.
func Examine(ctx context.Context, c connect.Client, o Options) (*Report, error) {
	x := &examination{o, c, &Report{Client: c.Name, Title: c.Title, Files: []string{}, Checks: []Check{}}}
	x.version(ctx)
	var sources []source
	if file := c.Personal(o.Getenv); file != "" {
		sources = append(sources, read(file))
	} else {
		x.say("hook", Hole, "set HOME, or the client's variable, to a whole path", "where its configuration is cannot be told")
		return x.Report, nil
	}
	if o.Workspace != "" {
		s := read(filepath.Join(o.Workspace, c.Project))
		s.project = true
		sources = append(sources, s)
	}
	hooks := x.connected(sources)
	if !x.Connected {
		return x.Report, nil
	}
	x.switches(sources, hooks)
	if o.Still {
		return x.Report, nil
	}
	if o.Shared {
		x.say("live", Unknown, "", "the kernel here is another user's, and no other can be asked: the hook was not driven")
		return x.Report, nil
	}
	return x.Report, x.live(ctx, hooks[0])
}

// found is a hook and where it stands.
type found struct {
	connect.Hook
	source source
}

// connected looks for the hook and how it is set up. The first that it gives is
// the one before a call that is driven.
func (x *examination) connected(sources []source) []found {
	var hooks []found
	for _, s := range sources {
		switch {
		case s.err != nil:
			x.say("configuration", Hole, "look at that file", "%s cannot be read: %v", s.path, s.err)
		case s.there && x.Plugin():
			hooks = append(hooks, x.plugin(s)...)
		case s.there:
			list, err := x.Hooks(s.text)
			if err != nil {
				x.say("configuration", Hole, "mend that file: the client may leave out all of it", "%s cannot be read: %v", s.path, err)
				continue
			}
			for _, h := range list {
				hooks = append(hooks, found{h, s})
			}
			if len(list) > 0 {
				x.Files = append(x.Files, s.path)
				x.events(s, list)
			}
		}
	}
	before := "plugin"
	if !x.Plugin() {
		before = x.Events()[0].Name
	}
	x.Connected = slices.ContainsFunc(hooks, func(h found) bool { return h.Event == before })
	if !x.Connected {
		x.say("hook", Hole, x.reconnect(), "assent is not asked before a call")
		return nil
	}
	slices.SortStableFunc(hooks, func(a, b found) int {
		return strings.Compare(strconv.FormatBool(a.Event != before), strconv.FormatBool(b.Event != before))
	})
	x.programs(hooks)
	return hooks
}

// events looks at the hooks of one configuration.
func (x *examination) events(s source, list []connect.Hook) {
	for i, e := range x.Events() {
		at := slices.IndexFunc(list, func(h connect.Hook) bool { return h.Event == e.Name })
		gate := i == 0
		if at < 0 {
			switch {
			case gate:
				x.say("hook", Hole, x.reconnect(), "%s has no hook at %s: calls are not asked about", s.path, e.Name)
			case e.Closed: // the guard of its settings
				x.say("hook", Hole, x.reconnect(), "%s has no hook at %s: an agent can switch hooks off while it runs", s.path, e.Name)
			default:
				x.say("hook", Hole, x.reconnect(), "%s has no hook at %s: what becomes of calls is not told", s.path, e.Name)
			}
			continue
		}
		h := list[at]
		if h.Matcher != "*" && h.Matcher != "" {
			x.say("hook", Hole, x.reconnect(), "at %s it is asked about %q alone", e.Name, h.Matcher)
		} else if gate {
			x.say("hook", Fine, "", "%s asks it at %s, about every tool", s.path, e.Name)
		}
		if gate || e.Closed {
			x.limits(h, e)
		}
		if !gate {
			continue
		}
		if h.Async {
			x.say("failure", Hole, x.reconnect(), "it is asked, and nobody waits for what it says (async)")
		}
		if x.Client.Name == "claude" {
			x.failure(h)
		}
	}
}

// mostWaits is the longest limit that a client takes for what it says: one
// millisecond more than its timers hold, and it is over at once.
var mostWaits = map[string]time.Duration{"claude": 2147483 * time.Second, "gemini": 2147483647 * time.Millisecond}

// slack is how much sooner the hook must be done than its client stops waiting.
const slack = time.Second

func (x *examination) limits(h connect.Hook, e connect.Event) {
	program, deadline := h.Program()
	_ = program
	waits := h.Waits
	said := waits.String()
	if waits == 0 {
		waits = map[string]time.Duration{"gemini": time.Minute}[x.Client.Name]
		if waits == 0 {
			waits = 10 * time.Minute
		}
		said = waits.String() + " (the client's own)"
	}
	if deadline == 0 {
		deadline = map[string]time.Duration{"gemini": 50 * time.Second}[x.Client.Name]
		if deadline == 0 {
			deadline = 590 * time.Second
		}
	}
	switch most := mostWaits[x.Client.Name]; {
	case h.Waits < 0 || waits < slack:
		x.say("time limit", Hole, x.reconnect(), "at %s the client waits %s, and then the tool runs: its unit is %s", e.Name, said, unitName(x.Unit()))
	case most > 0 && waits > most:
		x.say("time limit", Hole, x.reconnect(), "at %s the limit of %s is longer than the client's timers hold, and over at once", e.Name, said)
	case deadline > waits-slack:
		x.say("time limit", Hole, x.reconnect(), "at %s the client waits %s, and the hook answers after %s: then the tool has run", e.Name, said, deadline)
	default:
		x.say("time limit", Fine, "", "at %s the hook answers after %s at the latest, the client waits %s", e.Name, deadline, said)
	}
}

func unitName(d time.Duration) string {
	if d == time.Millisecond {
		return "milliseconds"
	}
	return "seconds"
}

// blocksFrom is the first Claude Code that blocks where its hook fails.
const blocksFrom = "2.1.295"

func (x *examination) failure(h connect.Hook) {
	switch {
	case !h.Block:
		x.say("failure", Hole, x.reconnect(), "a hook that cannot start or is killed lets the call run: onFailure is not block")
	case x.Version == "":
		x.say("failure", Unknown, "", "onFailure is block; Claude Code follows that from %s on, and which one is used here is not known", blocksFrom)
	case !atLeast(x.Version, blocksFrom):
		x.say("failure", Limit, "update Claude Code to "+blocksFrom+" or newer", "onFailure is block, but Claude Code %s does not know it yet", x.Version)
	default:
		x.say("failure", Fine, "", "a hook that cannot start or is killed blocks the call")
	}
}

var number = regexp.MustCompile(`\d+(\.\d+)+`)

// atLeast compares numbers of versions; one that cannot be read is too old.
func atLeast(version, want string) bool {
	have, need := strings.Split(number.FindString(version), "."), strings.Split(want, ".")
	for i, n := range need {
		if i >= len(have) {
			return false
		}
		a, err1 := strconv.Atoi(have[i])
		b, err2 := strconv.Atoi(n)
		if err1 != nil || err2 != nil || a < b {
			return false
		}
		if a > b {
			return true
		}
	}
	return true
}

// plugin looks at the plugin of a client that has no hooks.
func (x *examination) plugin(s source) []found {
	program, args, whole, err := x.PluginCommand(s.text)
	if err != nil {
		x.say("hook", Hole, "move it away, and "+x.reconnect(), "%s %v", s.path, err)
		return nil
	}
	x.Files = append(x.Files, s.path)
	if !whole {
		x.say("hook", Hole, x.reconnect(), "%s is not as this assent writes it: a plugin that fails to load is left out silently", s.path)
	} else {
		x.say("hook", Fine, "", "%s is as this assent writes it", s.path)
	}
	return []found{{connect.Hook{Event: "plugin", Command: program, Args: args}, s}}
}

// programs looks at what the hooks start.
func (x *examination) programs(hooks []found) {
	seen := make(map[string]bool)
	for _, h := range hooks {
		program, _ := h.Program()
		if seen[program] {
			continue
		}
		seen[program] = true
		if program == "" {
			x.say("program", Hole, x.reconnect(), "what %s starts cannot be told: %s", h.source.path, h.Command)
			continue
		}
		if !filepath.IsAbs(program) {
			x.say("program", Hole, x.reconnect(), "%s is no whole path: which program is started depends on where, and by whom", program)
			continue
		}
		if err := connect.Sound(program, x.UID); errors.Is(err, fs.ErrNotExist) {
			x.say("program", Hole, x.reconnect(), "%s is not there: the client starts nothing, and the tool runs", program)
			continue
		} else if err != nil {
			x.say("program", Hole, x.reconnect(), "%v", err)
			continue
		}
		x.build(program)
	}
}

// version asks the client's program which one it is.
func (x *examination) version(ctx context.Context) {
	if x.LookPath == nil {
		return
	}
	program := x.LookPath(x.Client.Name)
	if program == "" {
		return
	}
	x.Program = program
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if out, err := output(ctx, x.Environ, program, "--version"); err == nil {
		x.Version = number.FindString(out)
	}
}

// patience is how long a program may take that only says who it is.
const patience = 20 * time.Second

// exists reports whether a file is there.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
