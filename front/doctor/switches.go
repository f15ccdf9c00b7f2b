package doctor

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"

	"assent/front/connect"
)

// switches looks at the client's own means to leave hooks out.
func (x *examination) switches(sources []source, hooks []found) {
	switch x.Client.Name {
	case "claude":
		x.claude(sources)
	case "codex":
		x.codex(hooks)
	case "gemini":
		x.gemini(sources, hooks)
	case "opencode":
		x.say("switch", Limit, "", "opencode --pure loads no plugin, and a plugin of a project runs in the same process")
	}
}

// settings are a client's, as JSON with comments.
func (x *examination) settings(path string, into any) bool {
	s := read(path)
	if !s.there && s.err == nil {
		return false
	}
	text, err := connect.Plain(s.text)
	if s.err != nil {
		err = s.err
	}
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), into, jsontext.AllowDuplicateNames(true))
	}
	if err != nil {
		x.say("switch", Hole, "mend that file", "%s cannot be read: %v", path, err)
		return false
	}
	return true
}

func (x *examination) claude(sources []source) {
	files := []string{sources[0].path}
	if x.Workspace != "" {
		files = append(files, filepath.Join(x.Workspace, ".claude/settings.json"), filepath.Join(x.Workspace, ".claude/settings.local.json"))
	}
	managed := filepath.Join(x.System, "etc/claude-code/managed-settings.json")
	off := false
	for _, file := range append(files, managed) {
		var s struct {
			Off     jsontext.Value `json:"disableAllHooks"`
			Managed bool           `json:"allowManagedHooksOnly"`
		}
		if !x.settings(file, &s) {
			continue
		}
		if len(s.Off) > 0 && s.Off.Kind() != 'f' {
			off = true
			x.say("switch", Hole, "take disableAllHooks out of "+file, "%s switches all hooks off (disableAllHooks)", file)
		}
		if s.Managed && file == managed && !slices.Contains(x.Files, managed) {
			off = true
			x.say("switch", Hole, "have whoever manages this machine put the hook into "+managed, "%s lets no other hooks run than its own (allowManagedHooksOnly)", file)
		}
	}
	if !off {
		x.say("switch", Fine, "", "no settings of the person, of this project or of the machine switch hooks off")
	}
	x.say("switch", Limit, "", "--bare, --safe-mode and --setting-sources without user start Claude Code without the hook")
}

// codexName is how Codex calls an event in the names of hooks.
var codexName = map[string]string{"PreToolUse": "pre_tool_use", "PostToolUse": "post_tool_use"}

// codexHash is the hash of a hook by which Codex knows that it was trusted.
func codexHash(h connect.Hook) (string, error) {
	var e struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Timeout *float64 `json:"timeout"`
		Status  *string  `json:"statusMessage"`
	}
	if err := json.Unmarshal([]byte(h.Raw), &e); err != nil {
		return "", err
	}
	timeout := int64(600)
	if e.Timeout != nil {
		timeout = max(int64(*e.Timeout), 1)
	}
	handler := map[string]any{"type": "command", "command": e.Command, "timeout": timeout, "async": false}
	if e.Status != nil {
		handler["statusMessage"] = *e.Status
	}
	text, err := json.Marshal(map[string]any{"event_name": codexName[h.Event], "matcher": h.Matcher, "hooks": []any{handler}}, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

func (x *examination) codex(hooks []found) {
	file := filepath.Join(filepath.Dir(x.Personal(x.Getenv)), "config.toml")
	var c struct {
		Features map[string]any `toml:"features"`
		Hooks    map[string]any `toml:"hooks"`
	}
	s := read(file)
	if err := toml.Unmarshal([]byte(s.text), &c); err != nil || s.err != nil {
		x.say("trust", Hole, "mend that file", "%s cannot be read", file)
		return
	}
	for _, name := range []string{"hooks", "codex_hooks"} {
		if on, is := c.Features[name].(bool); is && !on {
			x.say("switch", Hole, "take that out of "+file, "%s switches hooks off (features.%s)", file, name)
		}
	}
	state, _ := c.Hooks["state"].(map[string]any)
	const review = "start codex, and choose to trust it where \"Hooks need review\" is shown"
	for _, h := range hooks {
		name := codexName[h.Event]
		if name == "" {
			continue
		}
		key := h.source.path + ":" + name + ":" + strconv.Itoa(h.Group) + ":" + strconv.Itoa(h.Index)
		one, _ := state[key].(map[string]any)
		trusted, _ := one["trusted_hash"].(string)
		want, err := codexHash(h.Hook)
		enabled, is := one["enabled"].(bool)
		switch {
		case is && !enabled:
			x.say("trust", Hole, review, "Codex has the hook at %s switched off", h.Event)
		case trusted == "":
			x.say("trust", Hole, review, "the hook at %s is not trusted: Codex does not run it, and says nothing", h.Event)
		case err != nil || trusted != want:
			x.say("trust", Hole, review, "the hook at %s is another one than was trusted: Codex does not run it, and says nothing", h.Event)
		default:
			x.say("trust", Fine, "", "the hook at %s is the one that was trusted", h.Event)
		}
	}
	x.say("switch", Limit, "", "-c features.hooks=false starts Codex without the hook, and what is typed into a program that runs (write_stdin) asks none")
}

func (x *examination) gemini(sources []source, hooks []found) {
	files := []string{sources[0].path}
	if x.Workspace != "" {
		files = append(files, filepath.Join(x.Workspace, ".gemini/settings.json"))
	}
	off := false
	for _, file := range append(files, filepath.Join(x.System, "etc/gemini-cli/settings.json")) {
		var s struct {
			Config struct {
				Enabled  jsontext.Value `json:"enabled"`
				Disabled []string       `json:"disabled"`
			} `json:"hooksConfig"`
		}
		if !x.settings(file, &s) {
			continue
		}
		if len(s.Config.Enabled) > 0 && s.Config.Enabled.Kind() != 't' {
			off = true
			x.say("switch", Hole, "take hooksConfig.enabled out of "+file, "%s switches all hooks off (hooksConfig.enabled)", file)
		}
		for _, h := range hooks {
			if h.Name != "" && slices.Contains(s.Config.Disabled, h.Name) || slices.Contains(s.Config.Disabled, h.Command) {
				off = true
				x.say("switch", Hole, "take it out of hooksConfig.disabled in "+file, "%s switches this hook off (hooksConfig.disabled)", file)
				break
			}
		}
	}
	for _, h := range hooks {
		if h.Name == "" {
			x.say("switch", Hole, x.reconnect(), "the hook at %s has no name of its own: a project can switch it off by its command", h.Event)
		}
	}
	if !off {
		x.say("switch", Fine, "", "no settings of the person, of this project or of the machine switch it off")
	}
	x.say("switch", Limit, "", "gemini --acp (in editors) calls no hook at all")
}
