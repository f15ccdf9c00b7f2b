package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assent/approval"
	"assent/model"
)

func TestParse(t *testing.T) {
	zero := Config{AskThrottle: DefaultAskThrottle}
	with := func(change func(*Config)) Config {
		c := zero
		change(&c)
		return c
	}
	for why, c := range map[string]struct {
		text string
		want Config
	}{
		"nothing-said": {"{}", zero},
		"all": {`// how we work here
{
  "defaultPolicy": "auto", // new sessions
  "autoAllow": {"write": true, /* not bash */ "bash": false, "mcp": true,},
  "autoCoverDeny": false,
  "speculativePolicyProcessingTools": 4,
  "autoModeJudge": "/a/judge.scm",
  "autoModeAsk": "/a/ask.scm",
  "approvalAskThrottleMs": 0,
  "superKey": "alt",
}
// the end`, Config{DefaultPolicy: approval.Auto, AutoAllow: approval.Terms{Write: approval.Endless, MCP: approval.Endless}, AutoCoverDeny: approval.Classify, Slots: 4,
			AutoModeJudge: "/a/judge.scm", SuperKey: "alt",
			Warnings: []string{`config.json:8:3: autoModeAsk: it is not read, for autoModeJudge names another program (they are one setting; keep one of them)`}}},
		"on-ask":            {`{"onAsk": ["/bin/ping-me", "--quiet", ""]}`, with(func(c *Config) { c.OnAsk = []string{"/bin/ping-me", "--quiet", ""} })},
		"function-key":      {`{"superKey": "f12"}`, with(func(c *Config) { c.SuperKey = "f12" })},
		"keys-together":     {`{"superKey": "ctrl+alt+x"}`, with(func(c *Config) { c.SuperKey = "ctrl+alt+x" })},
		"bell":              {`{"bell": true}`, with(func(c *Config) { c.Bell = true })},
		"on-ask-nothing":    {`{"onAsk": []}`, with(func(*Config) {})},
		"throttle":          {`{"approvalAskThrottleMs": 1500}`, with(func(c *Config) { c.AskThrottle = 1500 * time.Millisecond })},
		"tool-timeout":      {`{"toolTimeoutMs": 86400000}`, with(func(c *Config) { c.ToolTimeout = 24 * time.Hour })},
		"space-of-an-agent": {`{"agentMegabytes": 2048}`, with(func(c *Config) { c.AgentBytes = 2 << 30 })},
		"reserve-of-disk":   {`{"diskReserveMegabytes": 1}`, with(func(c *Config) { c.Reserve = 1 << 20 })},
		"judge-by-its-alias": {`{"autoModeAsk": "/a"}`, with(func(c *Config) {
			c.AutoModeJudge = "/a"
		})},
		"judge-before-alias": {`{"autoModeAsk": "/a", "autoModeJudge": "/b"}`, with(func(c *Config) {
			c.AutoModeJudge, c.Warnings = "/b", []string{`config.json:1:2: autoModeAsk: it is not read, for autoModeJudge names another program (they are one setting; keep one of them)`}
		})},
		"judge-and-alias-agree": {`{"autoModeAsk": "/a", "autoModeJudge": "/a"}`, with(func(c *Config) {
			c.AutoModeJudge = "/a"
		})},
		"yolo":                 {`{"defaultPolicy": "yolo"}`, with(func(c *Config) { c.DefaultPolicy = approval.Yolo })},
		"alias-of-yolo":        {`{"defaultPolicy": "always-approve"}`, with(func(c *Config) { c.DefaultPolicy = approval.Yolo })},
		"manual":               {`{"defaultPolicy": "manual"}`, zero},
		"comment-in-a-text":    {`{"webSearch": "https://s.example/{query}// no /* comment"}`, with(func(c *Config) { c.WebSearch = "https://s.example/{query}// no /* comment" })},
		"quote-in-a-text":      {`{"webSearch": "https://s.example/{query}\"//"}`, with(func(c *Config) { c.WebSearch = `https://s.example/{query}"//` })},
		"comma-in-a-comment":   {"{\"autoCoverDeny\": true // ,\n}", zero},
		"comma-before-comment": {"{\"autoCoverDeny\": true, // the last\n}", zero},
		"empty-grants":         {`{"autoAllow": {}}`, zero},
		"folders":              {`{"agentFolders": ["/srv", "~/src", "/home/ada/src"]}`, with(func(c *Config) { c.AgentFolders = []string{"/srv", "~/src", "/home/ada/src"} })},
		"no-folders":           {`{"agentFolders": []}`, with(func(*Config) {})},
		"whole-number-as-1e1":  {`{"speculativePolicyProcessingTools": 1e1}`, with(func(c *Config) { c.Slots = 10 })},
		"windows-lines":        {"{\r\n// x\r\n\"autoCoverDeny\": false\r\n}\r\n", with(func(c *Config) { c.AutoCoverDeny = approval.Classify })},
		"grants-that-end":      {`{"autoAllow": {"bash": "2026-02-03T10:00:00Z"}}`, Config{AutoAllow: approval.Terms{Bash: 1770112800}, AskThrottle: DefaultAskThrottle}},
		"nobody-knows-the-mode": {`{"defaultPolicy": "Auto"}`, with(func(c *Config) {
			c.Warnings = []string{`config.json:1:19: defaultPolicy: nobody knows the mode "Auto"; it counts as manual (did you mean auto?)`}
		})},
		"connections": {`{"connections": {"claude": {"api": "anthropic", "model": "m", "keyRing": "work"}, "local": {"api": "openai", "url": "http://localhost:11434/v1", "timeoutMs": 5000, "proxy": "http://p:1", "keyEnv": "K"}}, "judgeConnection": "local", "judgeModel": "small"}`,
			Config{AskThrottle: DefaultAskThrottle, Connections: map[string]model.Connection{
				"claude": {API: model.Anthropic, Model: "m", KeyRing: "work"},
				"local":  {API: model.OpenAI, URL: "http://localhost:11434/v1", Timeout: 5 * time.Second, Proxy: "http://p:1", KeyEnv: "K"},
			}, JudgeConnection: "local", JudgeModel: "small"}},
		"judge-nowhere": {`{"connections": {"local": {"api": "openai"}}, "judgeConnection": "locl"}`,
			Config{AskThrottle: DefaultAskThrottle, Connections: map[string]model.Connection{"local": {API: model.OpenAI}}, JudgeConnection: "locl", Warnings: []string{`config.json:1:66: judgeConnection: connections has no "locl": the classifier has nobody to ask (did you mean local?)`}}},
		"servers-and-search": {`{"mcpServers": {"files": {"command": "npx", "args": ["-y", "x"], "env": {"K": "v"}}, "net-1": {"url": "https://x/mcp", "headers": {"X-Key": "w"}}}, "webSearch": "https://s/?q={query}"}`,
			Config{AskThrottle: DefaultAskThrottle, WebSearch: "https://s/?q={query}", MCPServers: map[string]MCPServer{
				"files": {Command: "npx", Args: []string{"-y", "x"}, Env: map[string]string{"K": "v"}},
				"net-1": {URL: "https://x/mcp", Headers: map[string]string{"X-Key": "w"}},
			}}},
	} {
		t.Run(why, func(t *testing.T) {
			got, err := Parse("config.json", []byte(c.text))
			if err != nil {
				t.Fatalf("%s: %v", c.text, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

// What is read as something else than it says, or lets more happen than it may
// mean, is in force and told.
func TestParseWarns(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"defaultPolicy": "atuo"}`, `1:19: defaultPolicy: nobody knows the mode "atuo"; it counts as manual (did you mean auto?)`},
		{`{"defaultPolicy": "Yolo"}`, `(did you mean yolo?)`},
		{`{"defaultPolicy": "always-aprove"}`, `(did you mean always-approve?)`},
		{`{"defaultPolicy": "ask"}`, `(want manual, auto or yolo)`},
		{`{"defaultPolicy": ""}`, `nobody knows the mode ""`},
		{`{"agentFolders": ["/srv", "/"]}`, `1:27: agentFolders: "/" is the whole file system`},
		{`{"agentFolders": ["//"]}`, `is the whole file system`},
		{`{"agentFolders": ["/srv/.."]}`, `is the whole file system`},
		{`{"agentFolders": ["~"]}`, `is the whole home folder`},
		{`{"agentFolders": ["~/"]}`, `is the whole home folder`},
		{`{"agentFolders": ["~/x/.."]}`, `is the whole home folder`},
		{`{"agentFolders": ["~/.."]}`, `is outside the home folder`},
		{`{"agentFolders": ["~/../.."]}`, `is outside the home folder`},
		{`{"agentFolders": ["/home"]}`, `is home folders, and whole`},
		{`{"agentFolders": ["/home/ada/"]}`, `is home folders, and whole`},
		{`{"agentFolders": ["/Users/ada"]}`, `is home folders, and whole`},
		{`{"agentFolders": ["/root"]}`, `is home folders, and whole`},
		{`{"agentFolders": ["/etc"]}`, `is a folder of the system`},
		{`{"agentFolders": ["/tmp/"]}`, `is a folder of the system`},
	} {
		got, err := Parse("c", []byte(c.text))
		if err != nil || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], c.want) {
			t.Errorf("%s: %v %q, want %q", c.text, err, got.Warnings, c.want)
		}
	}
	for _, text := range []string{`{"agentFolders": ["/srv", "/opt/x", "/data", "~/src", "~/..src", "/home/ada/src", "/tmp/x", "/etcetera"]}`, `{"defaultPolicy": "manual"}`} {
		if got, err := Parse("c", []byte(text)); err != nil || len(got.Warnings) != 0 {
			t.Errorf("%s: %v %q, want no warnings", text, err, got.Warnings)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for why, c := range map[string]struct{ text, want string }{
		"empty":              {"", `1:1: there is nothing in it (write {} for no settings)`},
		"only-a-comment":     {"// later\n", `2:1: there is nothing in it (write {} for no settings)`},
		"unknown-key":        {"{\n  \"defaultPolcy\": \"auto\"\n}", `2:3: nobody knows the key "defaultPolcy" (did you mean defaultPolicy?)`},
		"case-counts":        {`{"DefaultPolicy": "auto"}`, `1:2: nobody knows the key "DefaultPolicy" (did you mean defaultPolicy?)`},
		"session-s-own":      {`{"standingPolicy": "auto"}`, `1:2: nobody knows the key "standingPolicy" (that belongs to a session; defaultPolicy is what new sessions start in)`},
		"of-the-law":         {`{"standingAutoAllow": {}}`, `1:2: nobody knows the key "standingAutoAllow" (here it is called autoAllow)`},
		"nothing-near":       {`{"x": 1}`, `1:2: nobody knows the key "x" (the keys are agentFolders, agentMegabytes, approvalAskThrottleMs, autoAllow, autoCoverDeny, autoModeAsk, autoModeJudge, bell, connections, defaultPolicy, diskReserveMegabytes, judgeConnection, judgeModel, mcpServers, onAsk, speculativePolicyProcessingTools, superKey, toolTimeoutMs, webSearch)`},
		"plan":               {`{"defaultPolicy": "plan"}`, `1:19: defaultPolicy: "plan": not a permission mode (want manual, auto or yolo)`},
		"act":                {`{"defaultPolicy": "act"}`, `1:19: defaultPolicy: "act": not a permission mode (want manual, auto or yolo)`},
		"mode-no-text":       {`{"defaultPolicy": true}`, `1:19: defaultPolicy must be the name of a mode, in quotes, not true or false`},
		"mode-null":          {`{"defaultPolicy": null}`, `1:19: defaultPolicy must be the name of a mode, in quotes, not null`},
		"flag-no-bool":       {"{\"autoAllow\": {\n  \"bash\": \"yes\"}}", `2:11: bash must be true, false or a time, not "yes" (a grant that ends is written "2006-01-02T15:04:05Z")`},
		"flag-no-time":       {`{"autoAllow": {"bash": "2026-02-30T10:00:00Z"}}`, `1:24: bash must be true, false or a time, not "2026-02-30T10:00:00Z" (a grant that ends is written "2006-01-02T15:04:05Z")`},
		"flag-number":        {`{"autoAllow": {"bash": 1}}`, `1:24: bash must be true, false or a time, not 1 (a grant that ends is written "2006-01-02T15:04:05Z")`},
		"flag-of-read":       {`{"autoAllow": {"read": true}}`, `1:16: read cannot be granted (only write, bash and mcp can)`},
		"flag-unknown":       {`{"autoAllow": {"writes": true}}`, `1:16: nobody knows the key "writes" (did you mean write?)`},
		"grants-no-object":   {`{"autoAllow": ["write"]}`, `1:15: autoAllow must be an object, as in {"write": true}, not a list`},
		"cover-no-bool":      {`{"autoCoverDeny": 0}`, `1:19: autoCoverDeny must be true or false, not a number`},
		"no-list":            {`{"agentFolders": "/srv"}`, `1:18: agentFolders must be a list of folders, as in ["~/src"], not a text`},
		"no-folder":          {`{"agentFolders": ["/srv", 1]}`, `1:27: agentFolders must be a folder, in quotes, not a number`},
		"relative-folder":    {`{"agentFolders": ["/srv", "src"]}`, `1:27: agentFolders: "src" is no folder that is the same everywhere (begin it with / or ~/)`},
		"connections":        {`{"connections": {"a": "openai"}}`, `1:23: a must be an object, as in {"api": "anthropic", "model": "NAME"}, not a text`},
		"connection-name":    {`{"connections": {"a b": {}}}`, `1:18: "a b" cannot be the name of a connection (letters, digits, -, _ and .)`},
		"connection-api":     {`{"connections": {"a": {"model": "m"}}}`, `1:23: the connection a: api must be anthropic or openai`},
		"connection-key":     {`{"connections": {"a": {"api": "openai", "apiKey": "sk-1"}}}`, `1:41: nobody knows the key "apiKey" (keys are not kept in this file: keyEnv names a variable, keyRing a name in the key ring ("assent model key NAME" puts one there))`},
		"connection-open":    {`{"connections": {"a": {"api": "openai", "url": "http://models.example/v1"}}}`, `1:23: the connection a: url must be https, but for a server on this machine: what is asked and answered would be open to whoever is in between`},
		"connection-empty":   {`{"connections": {"a": {"api": "openai", "url": ""}}}`, `1:48: url is empty`},
		"connection-time":    {`{"connections": {"a": {"api": "openai", "timeoutMs": 0}}}`, `1:54: timeoutMs must be a whole number from 1 to 600000, not 0`},
		"connection-twice":   {`{"connections": {"a": {"api": "openai"}, "a": {"api": "openai"}}}`, `1:42: a stands here a second time`},
		"servers-no-object":  {`{"mcpServers": []}`, `1:16: mcpServers must be an object, as in {"name": {"command": "program"}}, not a list`},
		"server-no-object":   {`{"mcpServers": {"a": "npx"}}`, `1:22: a must be an object, as in {"command": "program"}, not a text`},
		"server-name":        {`{"mcpServers": {"a__b": {}}}`, `1:17: "a__b" cannot be the name of a server (letters, digits, - and _, no __)`},
		"server-nothing":     {`{"mcpServers": {"a": {}}}`, `1:22: the server a has neither a command nor a url`},
		"server-both":        {`{"mcpServers": {"a": {"command": "x", "url": "http://x/"}}}`, `1:22: the server a has a command and a url (one of them)`},
		"server-mixed":       {`{"mcpServers": {"a": {"url": "http://x/", "args": ["x"]}}}`, `1:22: the server a has settings that do not go together (args and env belong to a command, headers to a url)`},
		"server-unknown":     {`{"mcpServers": {"a": {"comand": "x"}}}`, `1:23: nobody knows the key "comand" (did you mean command?)`},
		"server-args":        {`{"mcpServers": {"a": {"command": "x", "args": "y"}}}`, `1:47: args must be a list of texts, not a text`},
		"server-arg-number":  {`{"mcpServers": {"a": {"command": "x", "args": [1]}}}`, `1:47: args must be a list of texts, not a list`},
		"server-url":         {`{"mcpServers": {"a": {"url": "stdio"}}}`, `1:30: url must be an address of http or https`},
		"no-time-for-a-tool": {`{"toolTimeoutMs": 0}`, `1:19: toolTimeoutMs must be a whole number from 1 to 86400000, not 0`},
		"on-ask-no-list":     {`{"onAsk": "/bin/ping-me"}`, `1:11: onAsk must be a program and its arguments, as in ["/usr/local/bin/ping-me", "--quiet"]`},
		"on-ask-by-name":     {`{"onAsk": ["ping-me"]}`, `1:12: onAsk: "ping-me" is no program that is the same everywhere (begin it with /)`},
		"on-ask-no-word":     {`{"onAsk": ["/bin/ping-me", 7]}`, `1:28: onAsk must be a word`},
		"search-no-words":    {`{"webSearch": "https://search.example/"}`, `1:15: webSearch must be an address of http or https that holds {query}`},
		"search-no-address":  {`{"webSearch": "{query}"}`, `1:15: webSearch must be an address of http or https that holds {query}`},
		"no-slots":           {`{"speculativePolicyProcessingTools": 0}`, `1:38: speculativePolicyProcessingTools must be a whole number from 1 to 256, not 0`},
		"half-a-slot":        {`{"speculativePolicyProcessingTools": 1.5}`, `1:38: speculativePolicyProcessingTools must be a whole number from 1 to 256, not 1.5`},
		"slots-beyond":       {`{"speculativePolicyProcessingTools": 1e999}`, `1:38: speculativePolicyProcessingTools must be a whole number from 1 to 256, not 1e999`},
		"twice":              {"{\"autoCoverDeny\": false,\n \"autoCoverDeny\": true}", `2:2: autoCoverDeny stands here a second time`},
		"twice-inside":       {`{"autoAllow": {"bash": false, "bash": true}}`, `1:31: bash stands here a second time`},
		"no-object":          {`["auto"]`, `1:1: an object { } must stand here, not a list`},
		"more-after":         {"{}\n{}", `2:1: there is something after the end`},
		"cut":                {`{"defaultPolicy": "auto"`, `1:25: it ends in the middle`},
		"open-comment":       {"{}\n /* later", `2:2: this comment does not end`},
		"no-key":             {`{"superKey": "a key"}`, `1:14: superKey: "a key" is no key that can confirm something (want a key that is held ("alt", "ctrl") or one of its own ("f9", "insert", "ctrl+g"))`},
		"a-letter":           {`{"superKey": "x"}`, `1:14: superKey: "x" is no key that can confirm something (want a key`},
		"a-key-otherwise":    {`{"superKey": "Ctrl-G"}`, `did you mean "ctrl+g"?`},
		"a-key-of-a-mac":     {`{"superKey": "Option"}`, `did you mean "alt"?`},
		"a-key-nearly":       {`{"superKey": "atl"}`, `did you mean "alt"?`},
		"a-key-that-ends":    {`{"superKey": "ctrl+c"}`, `is no key that can confirm something`},
		"a-key-that-writes":  {`{"superKey": "shift+x"}`, `is no key that can confirm something`},
		"a-key-out-of-order": {`{"superKey": "alt+ctrl+x"}`, `is no key that can confirm something`},
		"no-function-key":    {`{"superKey": "f99"}`, `is no key that can confirm something`},
		"no-bell":            {`{"bell": "loud"}`, `1:10: bell must be true or false`},
		"not-utf-8":          {"{\"superKey\": \"\xff\"}", `1:15: this is not UTF-8`},
		"column-of-letters":  {`{"autoModeJudge": "äöü", "x": 1}`, `1:26: nobody knows the key "x"`},
		"two-commas":         {`{"autoCoverDeny": true,,}`, `1:24: this is not JSON`},
		"a-comma-alone":      {`{,}`, `1:2: this is not JSON`},
		"single-quotes":      {`{'a': 1}`, `1:2: this is not JSON`},
		"missing-comma":      {"{\"autoCoverDeny\": true\n \"superKey\": \"f9\"}", `2:2: this is not JSON`},
		"bare-word":          {`{"autoCoverDeny": yes}`, `1:19: this is not JSON`},
		"slash":              {`{"autoCoverDeny": / true}`, `1:19: this is not JSON`},
		"byte-order-mark":    {"\ufeff{}", `1:1: this is not JSON`},
		"much-too-long-text": {"{}" + strings.Repeat(" ", maxText), `bytes are no configuration`},
	} {
		t.Run(why, func(t *testing.T) {
			got, err := Parse("config.json", []byte(c.text))
			e, ok := errors.AsType[*Error](err)
			if !ok || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "config.json:") {
				t.Errorf("%.80q:\ngot  %v (%+v)\nwant config.json:%s", c.text, err, e, c.want)
			}
			if diff := cmp.Diff(Config{}, got); diff != "" {
				t.Errorf("an error with settings:\n%s", diff)
			}
		})
	}
}

func TestSet(t *testing.T) {
	for why, c := range map[string]struct {
		text  string
		key   string
		value any
		want  string
	}{
		"no-text":       {"", DefaultPolicy, "auto", "{\n  \"defaultPolicy\": \"auto\"\n}\n"},
		"empty":         {"{}", DefaultPolicy, "auto", "{\n  \"defaultPolicy\": \"auto\"\n}"},
		"empty-on-two":  {"{\n}\n", DefaultPolicy, "auto", "{\n  \"defaultPolicy\": \"auto\"\n}\n"},
		"only-comments": {"// a {\n{ // b\n}\n", DefaultPolicy, "auto", "// a {\n{\n  \"defaultPolicy\": \"auto\" // b\n}\n"},
		"replaced": {"{\n  // new ones\n  \"defaultPolicy\": \"auto\", // really\n  \"superKey\": \"f9\"\n}\n", DefaultPolicy, "manual",
			"{\n  // new ones\n  \"defaultPolicy\": \"manual\", // really\n  \"superKey\": \"f9\"\n}\n"},
		"added": {"{\n    \"superKey\": \"f9\" // the key\n}\n", DefaultPolicy, "auto",
			"{\n    \"superKey\": \"f9\", // the key\n    \"defaultPolicy\": \"auto\"\n}\n"},
		"added-after-a-comma": {"{\n  \"superKey\": \"f9\", // the key\n}\n", DefaultPolicy, "auto",
			"{\n  \"superKey\": \"f9\", // the key\n  \"defaultPolicy\": \"auto\"\n}\n"},
		"added-on-the-line":  {`{"superKey": "f9"}`, AutoCoverDeny, false, `{"superKey": "f9", "autoCoverDeny": false}`},
		"added-with-a-comma": {`{"superKey": "f9",}`, AutoCoverDeny, false, `{"superKey": "f9", "autoCoverDeny": false}`},
		"added-after-comment": {"{\n  \"superKey\": \"f9\" /* a, b */\n}", AutoCoverDeny, false,
			"{\n  \"superKey\": \"f9\", /* a, b */\n  \"autoCoverDeny\": false\n}"},
		"grants-new": {"{}", AutoAllow, approval.Terms{Bash: approval.Endless}, "{\n  \"autoAllow\": {\"write\": false, \"bash\": true, \"mcp\": false}\n}"},
		"grants-kept": {"{\"autoAllow\": {\n  // careful\n  \"write\": true, // why\n}}", AutoAllow, approval.Terms{MCP: approval.Endless},
			"{\"autoAllow\": {\n  // careful\n  \"write\": false, // why\n  \"mcp\": true\n}}"},
		"grants-that-end":  {`{"autoAllow": {"bash": true}}`, AutoAllow, approval.Terms{Bash: 1770112800}, `{"autoAllow": {"bash": "2026-02-03T10:00:00Z"}}`},
		"grants-taken-all": {`{"autoAllow": {"bash": true}}`, AutoAllow, approval.Terms{}, `{"autoAllow": {"bash": false}}`},
	} {
		t.Run(why, func(t *testing.T) {
			got, err := Set("config.json", []byte(c.text), c.key, c.value)
			if err != nil || string(got) != c.want {
				t.Errorf("got\n%s\n%v\nwant\n%s", got, err, c.want)
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	for why, c := range map[string]struct {
		text  string
		key   string
		value any
	}{
		"a-broken-text":     {`{"x": 1}`, DefaultPolicy, "auto"},
		"a-value-of-a-sort": {`{}`, DefaultPolicy, 7},
		"plan":              {`{}`, DefaultPolicy, "plan"},
		"an-unknown-key":    {`{}`, "standingPolicy", "auto"},
	} {
		if got, err := Set("config.json", []byte(c.text), c.key, c.value); err == nil {
			t.Errorf("%s: got %s", why, got)
		}
	}
}

// Whatever stands in a text: what is set is read, the rest is as it was.
func TestSetIsRead(t *testing.T) {
	blank := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", " // a, \"b\" {\n", "/* c, */", "\r\n"})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		gap := func() { b.WriteString(blank.Draw(t, "blank")) }
		members := rapid.Permutation([]string{
			`"defaultPolicy"|"yolo"`, `"autoCoverDeny"|false`, `"autoAllow"|{"bash":true,}`, `"webSearch"|"https://s.example/?q={query}"`, `"speculativePolicyProcessingTools"|3`,
		}).Draw(t, "members")[:rapid.IntRange(0, 5).Draw(t, "count")]
		gap()
		b.WriteString("{")
		for i, m := range members {
			gap()
			key, value, _ := strings.Cut(m, "|")
			b.WriteString(key)
			gap()
			b.WriteString(":")
			gap()
			b.WriteString(value)
			gap()
			if i < len(members)-1 || rapid.Bool().Draw(t, "comma") {
				b.WriteString(",")
			}
		}
		gap()
		b.WriteString("}")
		gap()
		text := []byte(b.String())
		before, err := Parse("c", text)
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		want := before
		set := func(key string, value any) {
			edited, err := Set("c", text, key, value)
			if err != nil {
				t.Fatalf("set %s in\n%s\n%v", key, text, err)
			}
			got, err := Parse("c", edited)
			if err != nil || !cmp.Equal(got, want) {
				t.Fatalf("set %s to %v in\n%s\ngives\n%s\n%v\n%s", key, value, text, edited, err, cmp.Diff(want, got))
			}
			again, err := Set("c", edited, key, value)
			if err != nil || string(again) != string(edited) {
				t.Fatalf("a second time changes\n%s\nto\n%s\n%v", edited, again, err)
			}
			if n := strings.Count(string(edited), "// a, \"b\" {"); n != strings.Count(string(text), "// a, \"b\" {") {
				t.Fatalf("a comment is lost:\n%s\n%s", text, edited)
			}
			text = edited
		}
		want.DefaultPolicy = approval.Auto
		set(DefaultPolicy, want.DefaultPolicy.String())
		want.AutoAllow = approval.Terms{Write: approval.Endless}
		set(AutoAllow, want.AutoAllow)
		want.AutoCoverDeny = approval.Cover
		set(AutoCoverDeny, true)
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{}`, `{"autoAllow": {"bash": true,}, /* x */}`, `{"defaultPolicy": "auto" // a`, "{\"a\":\"\\u12\"}", `{"superKey": "a\"b"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("c", []byte(text))
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Line < 1 || e.Column < 1 {
				t.Fatalf("%q: %v", text, err)
			}
			if !cmp.Equal(c, Config{}) {
				t.Fatalf("%q: %v with %+v", text, err, c)
			}
			return
		}
		edited, err := Set("c", []byte(text), DefaultPolicy, "auto")
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		want := c
		want.DefaultPolicy = approval.Auto
		got, err := Parse("c", edited)
		got.Warnings, want.Warnings = nil, nil
		if err != nil || !cmp.Equal(got, want) {
			t.Fatalf("%q became %q: %v %s", text, edited, err, cmp.Diff(want, got))
		}
	})
}

func ExampleParse() {
	_, err := Parse("config.json", []byte("{\n  \"autoAllow\": {\"bsh\": true}\n}"))
	fmt.Println(err)
	// Output: config.json:2:17: nobody knows the key "bsh" (did you mean bash?)
}
