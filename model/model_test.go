package model

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/model/scripted"
	"assent/remainder"
)

const secret = "sk-very-secret-0123456789"

// env are keys in variables alone.
func env(vars map[string]string) Keys {
	return Keys{Env: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }}
}

// to is a connection to an address, with the key.
func to(t *testing.T, api API, url string) remainder.Model {
	t.Helper()
	if api == OpenAI {
		url += "/v1"
	}
	c := New(env(map[string]string{"KEY": secret}))
	one := Connection{API: api, URL: url, Model: "small", KeyEnv: "KEY"}
	if err := one.Check(); err != nil {
		t.Fatal(err)
	}
	c.Set(map[string]Connection{"here": one})
	t.Cleanup(func() { c.Close() })
	m, err := c.Connect(t.Context(), "here", "")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var both = []API{Anthropic, OpenAI}

var question = remainder.Request{
	System: "You judge.", MaxTokens: 100, JSON: true,
	Messages: []remainder.Message{
		{Role: remainder.User, Parts: []remainder.Part{{Text: "first"}, {Text: "second", Quarantined: true}}},
		{Role: remainder.Assistant, Parts: []remainder.Part{{Text: "more"}}},
		{Role: remainder.User, Parts: []remainder.Part{{Text: "third"}}},
	},
}

// What is asked arrives as it was asked, block for block.
func TestWhatIsAsked(t *testing.T) {
	for _, api := range both {
		s := scripted.Start(t, func(int, scripted.Ask) scripted.Reply { return scripted.Reply{Text: "yes <b>"} })
		answer, err := to(t, api, s.URL).Complete(t.Context(), question)
		if want := (remainder.Answer{Text: "yes <b>", Model: "small", InTokens: 7, OutTokens: 3}); err != nil || answer != want {
			t.Errorf("%s: %+v, %v", api, answer, err)
		}
		got := s.Asked()[0]
		got.Header = nil
		want := scripted.Ask{API: string(api), Key: secret, Model: "small", System: "You judge.", MaxTokens: 100, Messages: []scripted.Message{
			{Role: "user", Parts: []string{"first", "second"}}, {Role: "assistant", Parts: []string{"more"}}, {Role: "user", Parts: []string{"third"}},
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", api, diff)
		}
	}
}

// An answer that has the key in it is given without.
func TestAnAnswerHasNotTheKey(t *testing.T) {
	for _, api := range both {
		s := scripted.Start(t, func(int, scripted.Ask) scripted.Reply { return scripted.Reply{Text: "you sent " + secret + "."} })
		if answer, err := to(t, api, s.URL).Complete(t.Context(), question); err != nil || answer.Text != "you sent (key)." {
			t.Errorf("%s: %+v, %v", api, answer, err)
		}
	}
}

// Every way in which there is no answer is told apart, and none has the key.
func TestFailures(t *testing.T) {
	type reply = scripted.Reply
	is := func(api API, anthropic, openai string) string {
		if api == Anthropic {
			return anthropic
		}
		return openai
	}
	for _, api := range both {
		tests := []struct {
			why   string
			reply reply
			cause remainder.Cause
			code  int
			has   string
		}{
			{"too many", reply{Status: 429, Body: `{"error":{"message":"slow down"}}`}, remainder.Overloaded, 429, "slow down"},
			{"overloaded", reply{Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, remainder.Overloaded, 529, "Overloaded"},
			{"their fault", reply{Status: 500, Body: "<html>"}, remainder.Status, 500, ""},
			{"no such model", reply{Status: 404, Body: `{"error":{"message":"model small: none"}}`}, remainder.Status, 404, "model small"},
			{"the key is repeated", reply{Status: 401, Body: `{"error":{"message":"bad key ` + secret + `"}}`}, remainder.Refused, 401, "bad key (key)"},
			{"a part of the key is repeated", reply{Status: 401, Body: `{"error":{"message":"bad key ` + secret[:9] + `****` + secret[len(secret)-4:] + `, see https://a"}}`}, remainder.Refused, 401, "bad key (key) see https://a"},
			{"the end of the key is repeated", reply{Status: 401, Body: `{"error":{"message":"bad key ****` + secret[len(secret)-4:] + `"}}`}, remainder.Refused, 401, "bad key (key)"},
			{"a long complaint of many lines", reply{Status: 403, Body: `{"error":{"message":"` + strings.Repeat(`a\n\u001b`, 9000) + `"}}`}, remainder.Refused, 403, "a a a"},
			{"sent elsewhere", reply{Status: 307, Header: map[string]string{"Location": "http://127.0.0.1:1/"}}, remainder.Status, 307, ""},
			{"sent elsewhere with another method", reply{Status: 302, Header: map[string]string{"Location": "http://127.0.0.1:1/"}}, remainder.Status, 302, ""},
			{"nothing", reply{Status: 204}, remainder.Status, 204, ""},
			{"cut", reply{Text: "long enough to be cut", Cut: true}, remainder.Cut, 0, ""},
			{"no JSON", reply{Body: "<html></html>"}, remainder.Unreadable, 0, ""},
			{"a page", reply{Body: "<html></html>", Header: map[string]string{"Content-Type": "text/html"}}, remainder.Unreadable, 0, ""},
			{"no object", reply{Body: "[]"}, remainder.Unreadable, 0, ""},
			{"an empty object", reply{Body: "{}"}, remainder.Unreadable, 0, ""},
			{"no text", reply{Body: is(api, `{"type":"message","role":"assistant","stop_reason":"end_turn","content":[]}`,
				`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":null}}]}`)}, remainder.Unreadable, 0, "no text"},
			{"a text that is a number", reply{Body: is(api, `{"type":"message","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":5}]}`,
				`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":5}}]}`)}, remainder.Unreadable, 0, ""},
			{"a content that is a text", reply{Body: is(api, `{"type":"message","role":"assistant","stop_reason":"end_turn","content":"allow"}`,
				`{"choices":"allow"}`)}, remainder.Unreadable, 0, ""},
			{"a name twice", reply{Body: is(api, `{"type":"message","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"a","text":"b"}]}`,
				`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"a","content":"b"}}]}`)}, remainder.Unreadable, 0, ""},
			{"a call of a tool", reply{Body: is(api, `{"type":"message","role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"1","name":"x","input":{}}]}`,
				`{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"a"}}]}`)}, remainder.Unreadable, 0, "tool"},
			{"another speaks", reply{Body: is(api, `{"type":"message","role":"user","stop_reason":"end_turn","content":[{"type":"text","text":"a"}]}`,
				`{"choices":[{"finish_reason":"stop","message":{"role":"user","content":"a"}}]}`)}, remainder.Unreadable, 0, "assistant"},
			{"two answers, or none ended", reply{Body: is(api, `{"type":"message","role":"assistant","stop_reason":null,"content":[{"type":"text","text":"a"}]}`,
				`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"a"}},{"finish_reason":"stop","message":{"role":"assistant","content":"b"}}]}`)}, remainder.Unreadable, 0, ""},
			{"at its end", reply{Text: "allo", Stop: is(api, "max_tokens", "length")}, remainder.Truncated, 0, ""},
			{"declined", reply{Text: "no", Stop: is(api, "refusal", "content_filter")}, remainder.Declined, 0, ""},
			{"without end", reply{Text: strings.Repeat("x", maxReply)}, remainder.Unreadable, 0, "longer than"},
		}
		for _, test := range tests {
			s := scripted.Start(t, func(int, scripted.Ask) scripted.Reply { return test.reply })
			answer, err := to(t, api, s.URL).Complete(t.Context(), question)
			f, ok := errors.AsType[*remainder.Failure](err)
			if !ok || f.Cause != test.cause || f.Code != test.code || !strings.Contains(err.Error(), test.has) || f.Connection != "here" {
				t.Errorf("%s, %s: %+v, %v", api, test.why, answer, err)
			}
			if n := len(s.Asked()); n != 1 {
				t.Errorf("%s, %s: asked %d times", api, test.why, n)
			}
			if ok && (strings.Contains(err.Error(), secret) || strings.ContainsAny(f.Detail, "\n\x1b") || len(f.Detail) > 2*maxDetail) {
				t.Errorf("%s, %s: %q", api, test.why, f.Detail)
			}
		}
	}
}

// A model that hangs ends with whoever waits, and with the time it may take.
func TestHangs(t *testing.T) {
	for _, api := range both {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("the call was cancelled")
		s := scripted.Start(t, func(int, scripted.Ask) scripted.Reply {
			cancel(why)
			return scripted.Reply{Hang: true}
		})
		if _, err := to(t, api, s.URL).Complete(ctx, question); !errors.Is(err, why) {
			t.Errorf("%s: cancelled: %v", api, err)
		}
		q := question
		q.Timeout = time.Millisecond
		if _, err := to(t, api, s.URL).Complete(t.Context(), q); remainder.CauseOf(err) != remainder.Slow {
			t.Errorf("%s: slow: %v", api, err)
		}
	}
}

// Nobody is there, or something that speaks otherwise.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer silent.Close()
	for _, api := range both {
		if _, err := to(t, api, "http://"+l.Addr().String()).Complete(t.Context(), question); remainder.CauseOf(err) != remainder.Unreachable {
			t.Errorf("%s: nobody: %v", api, err)
		}
		if _, err := to(t, api, silent.URL).Complete(t.Context(), question); remainder.CauseOf(err) != remainder.Cut {
			t.Errorf("%s: silent: %v", api, err)
		}
	}
}

// No variable of the environment moves a connection or gives it a key.
func TestTheEnvironmentMovesNothing(t *testing.T) {
	elsewhere := scripted.Start(t, func(int, scripted.Ask) scripted.Reply { return scripted.Reply{Text: "allow"} })
	for _, name := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, elsewhere.URL)
	}
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_CUSTOM_HEADERS", "OPENAI_CUSTOM_HEADERS"} {
		t.Setenv(name, "x-from: env")
	}
	for _, api := range both {
		s := scripted.Start(t, func(int, scripted.Ask) scripted.Reply { return scripted.Reply{Text: "deny"} })
		c := New(Keys{})
		c.Set(map[string]Connection{"local": {API: api, URL: s.URL, Model: "m"}})
		m, err := c.Connect(t.Context(), "local", "other")
		if err != nil {
			t.Fatal(err)
		}
		if a, err := m.Complete(t.Context(), question); err != nil || a.Text != "deny" {
			t.Errorf("%s: %+v, %v", api, a, err)
		}
		ask := s.Asked()[0]
		if ask.Model != "other" {
			t.Errorf("%s: asked %q", api, ask.Model)
		}
		for name, values := range ask.Header {
			if strings.Contains(strings.Join(values, " "), "env") || strings.Contains(name, "Auth") || strings.Contains(name, "Key") {
				t.Errorf("%s: the header %s: %q", api, name, values)
			}
		}
	}
	if n := len(elsewhere.Asked()); n != 0 {
		t.Errorf("elsewhere was asked %d times", n)
	}
}

// Where a key comes from, and what is said when there is none.
func TestKeys(t *testing.T) {
	ring := func(name string) (string, error) {
		switch name {
		case "claude", "mine":
			return "ring-" + name, nil
		case "locked":
			return "", errors.New("it is locked")
		case "odd":
			return "two\nlines", nil
		}
		return "", ErrNoKey
	}
	vars := map[string]string{"OPENAI_API_KEY": " env-key\n", "EMPTY": ""}
	tests := []struct {
		why       string
		name      string
		c         Connection
		key, says string
	}{
		{"the variable of the API", "gpt", Connection{API: OpenAI}, "env-key", ""},
		{"the ring, under the connection's name", "claude", Connection{API: Anthropic}, "ring-claude", ""},
		{"neither", "other", Connection{API: Anthropic}, "", `no key: the key ring has none under "other" ("assent model key other" puts one there), and the kernel has no variable ANTHROPIC_API_KEY: it has what was set`},
		{"a name in the ring", "x", Connection{API: OpenAI, KeyRing: "mine"}, "ring-mine", ""},
		{"a name that the ring has not", "x", Connection{API: OpenAI, KeyRing: "none"}, "", `the key ring has no such key: "none"`},
		{"a ring that is locked", "x", Connection{API: OpenAI, KeyRing: "locked"}, "", "it is locked"},
		{"what is no key", "x", Connection{API: OpenAI, KeyRing: "odd"}, "", "is no key"},
		{"a variable", "x", Connection{API: OpenAI, KeyEnv: "OPENAI_API_KEY"}, "env-key", ""},
		{"a variable that is empty", "claude", Connection{API: Anthropic, KeyEnv: "EMPTY"}, "", "no variable EMPTY"},
		{"another address gets no key unasked", "claude", Connection{API: Anthropic, URL: "http://localhost:1"}, "", ""},
	}
	for _, test := range tests {
		c := New(Keys{Env: env(vars).Env, Ring: ring})
		test.c.Model = "m"
		c.Set(map[string]Connection{test.name: test.c})
		m, err := c.Connect(t.Context(), test.name, "")
		if test.says != "" {
			if remainder.CauseOf(err) != remainder.Unconnected || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", test.why, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.why, err)
			continue
		}
		got := ""
		switch m := m.(type) {
		case messages:
			got = m.key
		case completions:
			got = m.key
		}
		if got != test.key {
			t.Errorf("%s: %q", test.why, got)
		}
	}
	if key, err := New(Keys{}).env("X"); err == nil {
		t.Errorf("no variables: %q", key)
	}
}

// A key ring that asks the person and waits keeps nobody longer than they wait.
func TestARingThatWaits(t *testing.T) {
	waits := make(chan struct{})
	defer close(waits)
	ctx, cancel := context.WithCancel(t.Context())
	c := New(Keys{Ring: func(string) (string, error) { cancel(); <-waits; return "", ErrNoKey }})
	c.Set(map[string]Connection{"x": {API: OpenAI, Model: "m"}})
	if _, err := c.Connect(ctx, "x", ""); remainder.CauseOf(err) != remainder.Unconnected || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What is not there is said.
func TestUnconnected(t *testing.T) {
	c := New(Keys{})
	c.Set(map[string]Connection{"b": {API: OpenAI, URL: "http://localhost:1"}, "a": {API: OpenAI}})
	for _, test := range []struct{ connection, says string }{
		{"", "no connection is named"},
		{"c", "it has a, b"},
		{"b", "which model"},
	} {
		if _, err := c.Connect(t.Context(), test.connection, ""); remainder.CauseOf(err) != remainder.Unconnected || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q: %v", test.connection, err)
		}
	}
	if _, ok := c.Setting("c"); ok {
		t.Error("it has c")
	}
	if err := c.Close(); err != nil || len(c.Names()) != 0 {
		t.Error(err, c.Names())
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		c    Connection
		says string
	}{
		{Connection{API: Anthropic}, ""},
		{Connection{API: OpenAI, URL: "http://127.0.0.1:11434/v1"}, ""},
		{Connection{API: OpenAI, URL: "http://[::1]:1/v1"}, ""},
		{Connection{API: OpenAI, URL: "https://models.example/v1", Proxy: "socks5://localhost:1"}, ""},
		{Connection{API: "gemini"}, "api must be"},
		{Connection{}, "api must be"},
		{Connection{API: OpenAI, URL: "http://models.example/v1"}, "must be https"},
		{Connection{API: OpenAI, URL: "http://127.0.0.1.models.example/v1"}, "must be https"},
		{Connection{API: OpenAI, URL: "https://me:pw@models.example/v1"}, "no user"},
		{Connection{API: OpenAI, URL: "https://models.example/v1?key=1"}, "no query"},
		{Connection{API: OpenAI, URL: "models.example"}, "an address"},
		{Connection{API: OpenAI, Proxy: "localhost"}, "proxy must be"},
		{Connection{API: OpenAI, KeyEnv: "A", KeyRing: "b"}, "both"},
	} {
		err := test.c.Check()
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: %v", test.c, err)
		}
	}
}
