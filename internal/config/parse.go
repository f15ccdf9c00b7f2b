package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/internal/misread"
	"assent/internal/spell"
	"assent/model"
)

// Config is what a config.json says. The zero value is the strictest, and what
// an object without members says.
type Config struct {
	// DefaultPolicy is the mode that new sessions start in, where the document
	// names none (law §6).
	DefaultPolicy approval.Mode
	// AutoAllow are the standing grants, and how long each holds.
	AutoAllow approval.Terms
	// AutoCoverDeny says who answers the floor's denials in mode auto.
	AutoCoverDeny approval.CoverDeny
	// Slots is speculativePolicyProcessingTools, 0 where nothing was said.
	Slots int
	// AgentFolders are folders in which an agent's session may work wherever the
	// agent was started: absolute, or from the home folder ("~/src").
	AgentFolders []string
	// AgentBytes is agentMegabytes, Reserve diskReserveMegabytes, in bytes; 0 where
	// nothing was said.
	AgentBytes, Reserve int64
	// AutoModeJudge is the path of the remainder program, "" for the shipped
	// one. It is autoModeJudge, or else its alias autoModeAsk (law ruling 17).
	AutoModeJudge string
	// AskThrottle is approvalAskThrottleMs, SuperKey superKey; both act in the
	// prompt only (law ruling 19).
	AskThrottle time.Duration
	SuperKey    string
	// Bell says that the prompt rings the bell of its terminal for a card that comes
	// by itself.
	Bell bool
	// MCPServers are the servers of tools that the kernel itself asks, by name.
	MCPServers map[string]MCPServer
	// WebSearch is the address of a web search, with {query} where the words
	// go; "" for none.
	WebSearch string
	// Connections are those to language models, by name. JudgeConnection is the one
	// that the classifier asks where its session names none, JudgeModel the model
	// there; "" for none.
	Connections                 map[string]model.Connection
	JudgeConnection, JudgeModel string
	// ToolTimeout is how long a tool that the kernel runs itself may take, 0 where
	// nothing was said: [DefaultToolTimeout].
	ToolTimeout time.Duration
	// OnAsk is the command that "assent watch --notify" runs for a new card: a program
	// by its whole path, and its arguments. None for no command.
	OnAsk []string
	// Warnings say, each with its place, what was read as something else than it
	// says, and what lets more happen than whoever wrote it may have meant.
	Warnings []string
}

// DefaultAskThrottle is what approvalAskThrottleMs is where nothing is said
// (law §6).
const DefaultAskThrottle = 2 * time.Second

// DefaultToolTimeout is what toolTimeoutMs is where nothing is said: longer than a
// build takes, and short of a night.
const DefaultToolTimeout = 10 * time.Minute

// Limits of what makes sense.
const (
	maxText  = 1 << 20
	maxSlots = 256
	maxMs    = 10 * 60 * 1000
	maxTool  = 24 * 60 * 60 * 1000
	maxDisk  = 1 << 20 // MiB: more than a disk has for this
)

// The keys. Their names are the law's.
const (
	DefaultPolicy = "defaultPolicy"
	AutoAllow     = "autoAllow"
	AutoCoverDeny = "autoCoverDeny"
	slots         = "speculativePolicyProcessingTools"
	autoModeJudge = "autoModeJudge"
	autoModeAsk   = "autoModeAsk"
	askThrottle   = "approvalAskThrottleMs"
	superKey      = "superKey"
	agentFolders  = "agentFolders"
	agentSpace    = "agentMegabytes"
	reserve       = "diskReserveMegabytes"
	mcpServers    = "mcpServers"
	webSearch     = "webSearch"
	toolTimeout   = "toolTimeoutMs"
	onAsk         = "onAsk"
	bell          = "bell"
	connections   = "connections"
	// JudgeConnection and JudgeModel are the law's too (law §9).
	JudgeConnection = "judgeConnection"
	JudgeModel      = "judgeModel"
)

var keys = []string{DefaultPolicy, AutoAllow, AutoCoverDeny, slots, autoModeJudge, autoModeAsk, askThrottle, superKey, agentFolders, agentSpace, reserve, mcpServers, webSearch, toolTimeout, onAsk, bell, connections, JudgeConnection, JudgeModel}

// elsewhere are words that people may look for here, and what to do instead.
var elsewhere = map[string]string{
	"standingPolicy":    "that belongs to a session; defaultPolicy is what new sessions start in",
	"currentPolicy":     "that belongs to a session; defaultPolicy is what new sessions start in",
	"mode":              "the mode of new sessions is defaultPolicy",
	"servers":           "servers of tools are mcpServers",
	"permissionMode":    "the mode of new sessions is defaultPolicy",
	"defaultMode":       "the mode of new sessions is defaultPolicy",
	"standingAutoAllow": "here it is called autoAllow",
	"grants":            "the standing grants are autoAllow",
	"readAllowlist":     "that belongs to a session",
	"rules":             "rules are written in policy.yaml",
	"allow":             "rules are written in policy.yaml",
	"deny":              "rules are written in policy.yaml",
	"scanner":           "the scanner is set in policy.yaml",
	"models":            "connections to models are connections",
	"providers":         "connections to models are connections",
	"classifier":        "the classifier asks judgeConnection, one of connections",
	"key":               "keys are not kept in this file: keyEnv names a variable, keyRing a name in the key ring (\"assent model key NAME\" puts one there)",
	"apiKey":            "keys are not kept in this file: keyEnv names a variable, keyRing a name in the key ring (\"assent model key NAME\" puts one there)",
	"api_key":           "keys are not kept in this file: keyEnv names a variable, keyRing a name in the key ring (\"assent model key NAME\" puts one there)",
}

// Error says what is wrong with a config.json, and where.
type Error struct {
	File string
	// Line and Column count from 1; the column counts characters.
	Line, Column int
	Text         string
	// Hint says what to do, "" when that is plain.
	Hint string
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text)
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// fault is an error by its place in the text.
type fault struct {
	at         int
	text, hint string
}

func (f *fault) Error() string { return f.text }

// Parse reads a config.json. name is what errors call it. An error is an
// [*Error], and the Config that comes with it is the zero one.
func Parse(name string, text []byte) (Config, error) {
	r := reader{name: name, text: text}
	c, err := r.parse()
	if f, ok := errors.AsType[*fault](err); ok {
		return Config{}, f.in(name, text)
	}
	return c, err
}

// reader reads one text.
type reader struct {
	name string
	text []byte
}

// warn adds a warning with its place.
func (r reader) warn(c *Config, f fault) {
	c.Warnings = append(c.Warnings, f.in(r.name, r.text).Error())
}

func (f *fault) in(name string, text []byte) *Error {
	at := min(max(f.at, 0), len(text))
	before := text[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &Error{File: name, Line: line, Column: column, Text: f.text, Hint: f.hint}
}

func (r reader) parse() (Config, error) {
	members, err := object(r.text)
	if err != nil {
		return Config{}, err
	}
	c := Config{AskThrottle: DefaultAskThrottle}
	ask, askAt, connectionAt := "", 0, 0
	for _, m := range members {
		switch m.name {
		case autoModeAsk:
			askAt = m.nameAt
		case JudgeConnection:
			connectionAt = m.value
		}
		if err := m.set(&c, &ask, r.warn); err != nil {
			return Config{}, err
		}
	}
	if _, ok := c.Connections[c.JudgeConnection]; !ok && c.JudgeConnection != "" {
		f := fault{at: connectionAt, text: fmt.Sprintf("%s: connections has no %q: the classifier has nobody to ask", JudgeConnection, c.JudgeConnection)}
		if near := spell.Near(c.JudgeConnection, slices.Collect(maps.Keys(c.Connections))); near != "" {
			f.hint = "did you mean " + near + "?"
		}
		r.warn(&c, f)
	}
	switch {
	case c.AutoModeJudge == "":
		c.AutoModeJudge = ask
	case ask != "" && ask != c.AutoModeJudge:
		r.warn(&c, fault{at: askAt, text: fmt.Sprintf("%s: it is not read, for %s names another program", autoModeAsk, autoModeJudge), hint: "they are one setting; keep one of them"})
	}
	return c, nil
}

// member is a member of an object with its places in the text.
type member struct {
	name               string
	nameAt, value, end int
	text               jsontext.Value
}

// object reads the object that the text is.
func object(text []byte) ([]member, error) {
	if len(text) > maxText {
		return nil, &fault{at: maxText, text: fmt.Sprintf("%d bytes are no configuration; at most %d", len(text), maxText)}
	}
	if at := invalid(text); at >= 0 {
		return nil, &fault{at: at, text: "this is not UTF-8"}
	}
	out, open := plain(text)
	if open >= 0 {
		return nil, &fault{at: open, text: "this comment does not end"}
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return nil, &fault{at: len(text), text: "there is nothing in it", hint: "write {} for no settings"}
	}
	members, end, err := membersOf(out, 0)
	if err != nil {
		return nil, err
	}
	if rest := skip(out, end); rest < len(out) {
		return nil, &fault{at: rest, text: "there is something after the end"}
	}
	return members, nil
}

func invalid(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// skip goes over blanks and what separates values.
func skip(text []byte, at int) int {
	for at < len(text) && strings.IndexByte(" \t\r\n,:", text[at]) >= 0 {
		at++
	}
	return at
}

// membersOf reads the object that begins at a place, and says where it ends.
func membersOf(text []byte, from int) (members []member, end int, err error) {
	from = skip(text, from)
	d := jsontext.NewDecoder(bytes.NewReader(text[from:]))
	now := func() int { return from + int(d.InputOffset()) }
	wrong := func(err error) error {
		if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			if errors.Is(err, jsontext.ErrDuplicateName) {
				return &fault{at: skip(text, from+int(s.ByteOffset)), text: fmt.Sprintf("%s stands here a second time", s.JSONPointer.LastToken())}
			}
			if f, ok := misread.JSON(text[from:], err); ok {
				what := "this is not JSON: " + f.What
				switch at := from + f.At; {
				case at == len(text):
					what = f.What
				case text[at] == '#':
					what = "a comment begins with //"
				}
				return &fault{at: from + f.At, text: what}
			}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return &fault{at: len(text), text: "it ends in the middle"}
		}
		return &fault{at: now(), text: err.Error()}
	}
	if kind := d.PeekKind(); kind != '{' {
		if _, err := d.ReadToken(); err != nil {
			return nil, 0, wrong(err)
		}
		return nil, 0, &fault{at: from, text: "an object { } must stand here, not " + misread.Kind(kind)}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, 0, wrong(err)
	}
	for d.PeekKind() != '}' {
		m := member{nameAt: skip(text, now())}
		name, err := d.ReadToken()
		if err != nil {
			return nil, 0, wrong(err)
		}
		m.name = name.String()
		m.value = skip(text, now())
		value, err := d.ReadValue()
		if err != nil {
			return nil, 0, wrong(err)
		}
		m.end, m.text = now(), value.Clone()
		members = append(members, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, 0, wrong(err)
	}
	return members, now(), nil
}

// modes are the names that defaultPolicy knows, for "did you mean".
var modes = []string{"manual", "auto", "yolo", "always-approve"}

// set takes one setting.
func (m member) set(c *Config, ask *string, warn func(*Config, fault)) error {
	switch m.name {
	case DefaultPolicy:
		name, err := m.string("the name of a mode")
		if err != nil {
			return err
		}
		mode, err := approval.ParseMode(name)
		if err != nil {
			return &fault{at: m.value, text: fmt.Sprintf("%s: %v", m.name, err)}
		}
		if mode == approval.Manual && name != approval.Manual.String() {
			f := fault{at: m.value, text: fmt.Sprintf("%s: nobody knows the mode %q; it counts as manual", m.name, name), hint: "want manual, auto or yolo"}
			if near := spell.Near(name, modes); near != "" {
				f.hint = "did you mean " + near + "?"
			}
			warn(c, f)
		}
		c.DefaultPolicy = mode
	case AutoAllow:
		return m.grants(&c.AutoAllow)
	case AutoCoverDeny:
		on, err := m.bool()
		c.AutoCoverDeny = approval.CoverDenyOf(on)
		return err
	case slots:
		n, err := m.int(1, maxSlots)
		c.Slots = n
		return err
	case askThrottle:
		n, err := m.int(0, maxMs)
		c.AskThrottle = time.Duration(n) * time.Millisecond
		return err
	case toolTimeout:
		n, err := m.int(1, maxTool)
		c.ToolTimeout = time.Duration(n) * time.Millisecond
		return err
	case superKey:
		key, err := superKeyOf(m)
		c.SuperKey = key
		return err
	case bell:
		on, err := m.bool()
		c.Bell = on
		return err
	case onAsk:
		words, err := m.command()
		c.OnAsk = words
		return err
	case agentFolders:
		folders, wide, err := m.folders()
		c.AgentFolders = folders
		for _, f := range wide {
			warn(c, f)
		}
		return err
	case agentSpace:
		n, err := m.int(1, maxDisk)
		c.AgentBytes = int64(n) << 20
		return err
	case reserve:
		n, err := m.int(1, maxDisk)
		c.Reserve = int64(n) << 20
		return err
	case mcpServers:
		servers, err := m.servers()
		c.MCPServers = servers
		return err
	case connections:
		all, err := m.connections()
		c.Connections = all
		return err
	case JudgeConnection:
		name, err := m.string("the name of one of connections")
		c.JudgeConnection = name
		return err
	case JudgeModel:
		name, err := m.string("the name of a model")
		c.JudgeModel = name
		return err
	case webSearch:
		address, err := m.string("an address")
		if err == nil && (!webAddress(address) || !strings.Contains(address, "{query}")) {
			err = &fault{at: m.value, text: m.name + " must be an address of http or https that holds {query}", hint: `as in "https://search.example/?q={query}"`}
		}
		c.WebSearch = address
		return err
	case autoModeJudge, autoModeAsk:
		path, err := m.string("the path of a program")
		if m.name == autoModeAsk {
			*ask = path
		} else {
			c.AutoModeJudge = path
		}
		return err
	default:
		return unknown(m, keys)
	}
	return nil
}

func unknown(m member, known []string) error {
	f := &fault{at: m.nameAt, text: fmt.Sprintf("nobody knows the key %q", m.name)}
	if near := spell.Near(m.name, known); near != "" {
		f.hint = "did you mean " + near + "?"
	}
	if hint := elsewhere[m.name]; hint != "" {
		f.hint = hint
	}
	if f.hint == "" {
		sorted := slices.Sorted(slices.Values(known))
		f.hint = "the keys are " + strings.Join(sorted, ", ")
	}
	return f
}

func (m member) wrong(want string) error {
	return &fault{at: m.value, text: fmt.Sprintf("%s must be %s, not %s", m.name, want, misread.Kind(m.text.Kind()))}
}

func (m member) string(what string) (string, error) {
	if m.text.Kind() != '"' {
		return "", m.wrong(what + ", in quotes")
	}
	text, err := jsontext.AppendUnquote(nil, []byte(m.text))
	if err != nil {
		return "", &fault{at: m.value, text: fmt.Sprintf("%s: %v", m.name, err)}
	}
	return string(text), nil
}

func (m member) bool() (bool, error) {
	switch m.text.Kind() {
	case 't':
		return true, nil
	case 'f':
		return false, nil
	}
	return false, m.wrong("true or false")
}

func (m member) int(least, most int) (int, error) {
	if m.text.Kind() != '0' {
		return 0, m.wrong("a number")
	}
	n, err := strconv.ParseFloat(string(m.text), 64)
	if err != nil || n != math.Trunc(n) || n < float64(least) || n > float64(most) {
		return 0, &fault{at: m.value, text: fmt.Sprintf("%s must be a whole number from %d to %d, not %s", m.name, least, most, m.text)}
	}
	return int(n), nil
}

// folders reads a list of folders.
func (m member) folders() (folders []string, wide []fault, err error) {
	const want = `a list of folders, as in ["~/src"]`
	if m.text.Kind() != '[' {
		return nil, nil, m.wrong(want)
	}
	d := jsontext.NewDecoder(bytes.NewReader(m.text))
	if _, err := d.ReadToken(); err != nil {
		return nil, nil, m.wrong(want)
	}
	for d.PeekKind() != ']' {
		at := skip(m.text, int(d.InputOffset()))
		value, err := d.ReadValue()
		if err != nil {
			return nil, nil, m.wrong(want)
		}
		item := member{name: m.name, value: m.value + at, text: value.Clone()}
		folder, err := item.string("a folder")
		if err != nil {
			return nil, nil, err
		}
		if folder != "~" && !strings.HasPrefix(folder, "~/") && !strings.HasPrefix(folder, "/") {
			return nil, nil, &fault{at: item.value, text: fmt.Sprintf("%s: %q is no folder that is the same everywhere", m.name, folder), hint: "begin it with / or ~/"}
		}
		if why := tooWide(folder); why != "" {
			wide = append(wide, fault{at: item.value, text: fmt.Sprintf("%s: %q is %s: agents may choose their sessions' workspaces anywhere in it, whatever they were started in", m.name, folder, why), hint: `name the folders of your projects, as in ["~/src"]`})
		}
		folders = append(folders, folder)
	}
	return folders, wide, nil
}

// tooWide says what a folder is that holds more than projects, "" for one that may
// hold just those.
func tooWide(folder string) string {
	if rest, ok := strings.CutPrefix(folder, "~"); ok {
		switch rel := path.Clean(strings.TrimPrefix(rest, "/")); {
		case rel == ".":
			return "the whole home folder"
		case rel == ".." || strings.HasPrefix(rel, "../"):
			return "outside the home folder"
		}
		return ""
	}
	folder = path.Clean(folder)
	first, below, _ := strings.Cut(strings.TrimPrefix(folder, "/"), "/")
	switch {
	case first == "":
		return "the whole file system"
	case first == "root" && below == "", (first == "home" || first == "Users") && !strings.Contains(below, "/"):
		return "home folders, and whole"
	case below == "" && slices.Contains(ofTheSystem, first):
		return "a folder of the system"
	}
	return ""
}

// ofTheSystem are folders of the root that hold the system's things. Some people
// have their projects in /srv, /opt and where disks are mounted.
var ofTheSystem = []string{
	"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "nix", "proc", "run", "sbin", "snap", "sys", "tmp", "usr", "var",
	"Applications", "Library", "Network", "System", "Volumes", "cores", "private",
}

// grants reads the clusters that may be granted.
func (m member) grants(into *approval.Terms) error {
	if m.text.Kind() != '{' {
		return m.wrong(`an object, as in {"write": true}`)
	}
	members, _, err := membersOf(m.text, 0)
	if err != nil {
		return m.inside(err)
	}
	var g approval.Terms
	for _, flag := range members {
		term, err := flag.term()
		switch flag.name {
		case "write":
			g.Write = term
		case "bash":
			g.Bash = term
		case "mcp":
			g.MCP = term
		default:
			err = unknown(flag, []string{"write", "bash", "mcp"})
			if c := flag.name; c == "read" || c == "web" || c == "comm" {
				err = &fault{at: flag.nameAt, text: fmt.Sprintf("%s cannot be granted", c), hint: "only write, bash and mcp can"}
			}
		}
		if err != nil {
			return m.inside(err)
		}
	}
	*into = g
	return nil
}

// command reads a program and its arguments.
func (m member) command() (words []string, err error) {
	const want = `a program and its arguments, as in ["/usr/local/bin/ping-me", "--quiet"]`
	if m.text.Kind() != '[' {
		return nil, m.wrong(want)
	}
	d := jsontext.NewDecoder(bytes.NewReader(m.text))
	if _, err := d.ReadToken(); err != nil {
		return nil, m.wrong(want)
	}
	for d.PeekKind() != ']' {
		at := skip(m.text, int(d.InputOffset()))
		value, err := d.ReadValue()
		if err != nil {
			return nil, m.wrong(want)
		}
		word, err := member{name: m.name, value: m.value + at, text: value.Clone()}.string("a word")
		if err == nil && strings.IndexByte(word, 0) >= 0 {
			err = &fault{at: m.value + at, text: m.name + ": no word holds U+0000"}
		}
		if err != nil {
			return nil, err
		}
		if len(words) == 0 && !path.IsAbs(word) {
			return nil, &fault{at: m.value + at, text: fmt.Sprintf("%s: %.60q is no program that is the same everywhere", m.name, word), hint: "begin it with /"}
		}
		words = append(words, word)
	}
	return words, nil
}

// term reads how long a grant holds.
func (m member) term() (t approval.Term, err error) {
	if k := m.text.Kind(); k == 't' || k == 'f' || k == '"' {
		if err = t.UnmarshalJSON(m.text); err == nil {
			return t, nil
		}
	}
	return approval.Never, &fault{at: m.value, text: fmt.Sprintf("%s must be true, false or a time, not %.40s", m.name, m.text), hint: `a grant that ends is written "2006-01-02T15:04:05Z"`}
}

// inside gives an error of the member's value its place in the whole text.
func (m member) inside(err error) error {
	if f, ok := errors.AsType[*fault](err); ok {
		f.at += m.value
	}
	return err
}
