package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/model/scripted"
	"assent/remainder"
)

// speaker is a model to speak with at an address.
func speaker(t *testing.T, api API, url string, timeout time.Duration) Chat {
	t.Helper()
	if api == OpenAI {
		url += "/v1"
	}
	c := New(env(map[string]string{"KEY": secret}))
	c.Set(map[string]Connection{"here": {API: api, URL: url, Model: "small", KeyEnv: "KEY", Timeout: timeout}})
	t.Cleanup(func() { c.Close() })
	chat, err := c.Chat(t.Context(), "here", "")
	if err != nil {
		t.Fatal(err)
	}
	return chat
}

// heardAll is all that was said.
func heardAll(ctx context.Context, chat Chat, talk Talk) (events []Event, err error) {
	for e, err := range chat.Stream(ctx, talk) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

var talk = Talk{
	System: "You work.", MaxTokens: 100,
	Tools: []Tool{{Name: "read", Description: "Reads.", Parameters: map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}}}},
	Messages: []Message{
		{Texts: []string{"go on"}},
		{Role: remainder.Assistant, Texts: []string{"I look."}, Calls: []Call{{"a1", "read", `{"path":"x"}`}, {"a2", "read", `{"path":`}}},
		{Results: []Result{{Call: "a1", Text: "nothing"}, {Call: "a2", Text: "no JSON", Failed: true}}, Texts: []string{"a note", "another"}},
	},
}

// What is asked arrives as it was asked: results first and in order, each note by
// itself behind them. What is said comes in pieces, calls whole.
func TestChat(t *testing.T) {
	for _, api := range both {
		s := scripted.Start(t, func(int, scripted.Ask) scripted.Reply {
			return scripted.Reply{Text: "Now two.", Calls: []scripted.Call{{ID: "b1", Name: "read", Arguments: `{"path":"y \" z"}`}, {ID: "b2", Name: "list"}}}
		})
		chat := speaker(t, api, s.URL, 0)
		got, err := heardAll(t.Context(), chat, talk)
		want := []Event{Said{"Now "}, Said{"two."}, Called{Call{"b1", "read", `{"path":"y \" z"}`}}, Called{Call{"b2", "list", "{}"}}, Ended{"small", 7, 3}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got\n%s", api, err, diff)
		}
		ask := s.Asked()[0]
		ask.Header = nil
		broken := `{"path":`
		notes := []scripted.Message{{Role: "user", Parts: []string{"a note"}}, {Role: "user", Parts: []string{"another"}}}
		if api == Anthropic {
			broken = "{}"
			notes = []scripted.Message{{Role: "user", Parts: []string{"a note", "another"}}}
		}
		asked := scripted.Ask{API: string(api), Key: secret, Model: "small", System: "You work.", MaxTokens: 100, Stream: true, Tools: []string{"read"}, Messages: append([]scripted.Message{
			{Role: "user", Parts: []string{"go on"}},
			{Role: "assistant", Parts: []string{"I look."}, Calls: []scripted.Call{{ID: "a1", Name: "read", Arguments: `{"path":"x"}`}, {ID: "a2", Name: "read", Arguments: broken}}},
			{Role: "tool", Parts: []string{"nothing"}, Of: "a1"},
			{Role: "tool", Parts: []string{"no JSON"}, Of: "a2"},
		}, notes...)}
		if diff := cmp.Diff(asked, ask); diff != "" {
			t.Errorf("%s: -want +got\n%s", api, diff)
		}
	}
}

func events(lines ...string) scripted.Reply {
	var b strings.Builder
	for _, line := range lines {
		kind := "message"
		if _, rest, ok := strings.Cut(line, `"type":"`); ok {
			kind, _, _ = strings.Cut(rest, `"`)
		}
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, line)
	}
	return scripted.Reply{Body: b.String(), Header: map[string]string{"Content-Type": "text/event-stream"}}
}

// The events of an answer that says "hi".
const (
	start  = `{"type":"message_start","message":{"role":"assistant","model":"m","usage":{"input_tokens":1}}}`
	block0 = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"hi"}}`
	stop0  = `{"type":"content_block_stop","index":0}`
	turned = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`
	stop   = `{"type":"message_stop"}`
	hi     = `{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"hi"},"finish_reason":null}]}`
	over   = `{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
)

// An answer that is not whole is none, and every way of that is told apart.
func TestChatFailures(t *testing.T) {
	type reply = scripted.Reply
	tests := []struct {
		why   string
		api   API // "" for both
		reply reply
		cause remainder.Cause
		has   string
	}{
		{"the key", "", reply{Status: 401, Body: `{"error":{"message":"no ` + secret + `"}}`}, remainder.Refused, "(key)"},
		{"too much", "", reply{Status: 529, Body: `{}`}, remainder.Overloaded, ""},
		{"elsewhere", "", reply{Status: 302, Body: `{}`, Header: map[string]string{"Location": "http://localhost:1"}}, remainder.Status, ""},
		{"cut in the middle", "", reply{Text: "some words", Cut: true}, remainder.Cut, ""},
		{"an error in the middle", "", reply{Text: "some", Fail: "too many " + secret}, remainder.Overloaded, "too many (key)"},
		{"at its end", Anthropic, reply{Text: "some", Stop: "max_tokens"}, remainder.Truncated, ""},
		{"at its end", OpenAI, reply{Text: "some", Stop: "length"}, remainder.Truncated, ""},
		{"in a call", OpenAI, reply{Calls: []scripted.Call{{ID: "1", Name: "x", Arguments: `{"a`}}, Stop: "length"}, remainder.Truncated, ""},
		{"declined", Anthropic, reply{Text: "no", Stop: "refusal"}, remainder.Declined, ""},
		{"declined", OpenAI, reply{Text: "no", Stop: "content_filter"}, remainder.Declined, ""},
		{"declined in words", OpenAI, events(`{"choices":[{"index":0,"delta":{"refusal":"not this"},"finish_reason":"stop"}]}`), remainder.Declined, "not this"},
		{"a reason that is not known", "", reply{Text: "x", Stop: "pause_turn"}, remainder.Unreadable, "pause_turn"},
		{"no stream", "", reply{Body: `{"choices":[]}`}, remainder.Unreadable, "no stream"},
		{"an empty stream", "", reply{Body: ": nothing\n\n", Header: map[string]string{"Content-Type": "text/event-stream"}}, remainder.Cut, ""},
		{"no end", Anthropic, events(start, block0, stop0, turned), remainder.Cut, ""},
		{"no end", OpenAI, events(hi), remainder.Cut, ""},
		{"no JSON", "", events(start+"x", hi+"x"), remainder.Unreadable, ""},
		{"a name twice", Anthropic, events(`{"type":"message_start","message":{"role":"assistant","role":"assistant"}}`), remainder.Unreadable, ""},
		{"a name twice", OpenAI, events(`{"choices":[{"index":0,"delta":{"content":"a","content":"b"}}]}`), remainder.Unreadable, ""},
		{"a text that is a number", Anthropic, events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":5}}`), remainder.Unreadable, ""},
		{"a text that is a number", OpenAI, events(`{"choices":[{"index":0,"delta":{"content":5}}]}`), remainder.Unreadable, ""},
		{"another speaks", Anthropic, events(`{"type":"message_start","message":{"role":"user"}}`), remainder.Unreadable, "assistant"},
		{"another speaks", OpenAI, events(`{"choices":[{"index":0,"delta":{"role":"user","content":"a"}}]}`), remainder.Unreadable, "assistant"},
		{"before it begins", Anthropic, events(block0), remainder.Unreadable, "outside"},
		{"after its end", Anthropic, events(start, block0, stop0, turned, stop, block0), remainder.Unreadable, "outside"},
		{"after its end", OpenAI, events(hi, over, hi), remainder.Unreadable, "behind its end"},
		{"a block without end", Anthropic, events(start, block0, turned, stop), remainder.Unreadable, "no end"},
		{"a block of another kind", Anthropic, events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use"}}`), remainder.Unreadable, "server_tool_use"},
		{"two answers", OpenAI, events(`{"choices":[{"index":0,"delta":{}},{"index":1,"delta":{}}]}`), remainder.Unreadable, "several"},
		{"a call that is none", "", reply{Text: "x", Stop: "tool_use"}, remainder.Unreadable, ""},
		{"too long", "", reply{Text: strings.Repeat("x", maxSaid+1)}, remainder.Unreadable, "longer"},
		{"too many calls", "", reply{Calls: make([]scripted.Call, maxCalls+1)}, remainder.Unreadable, "calls"},
	}
	for _, test := range tests {
		for _, api := range both {
			if test.api != "" && test.api != api {
				continue
			}
			s := scripted.Start(t, func(int, scripted.Ask) scripted.Reply { return test.reply })
			got, err := heardAll(t.Context(), speaker(t, api, s.URL, 0), talk)
			f, ok := errors.AsType[*remainder.Failure](err)
			if !ok || f.Cause != test.cause || !strings.Contains(err.Error(), test.has) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s, %s: %d events, %v", api, test.why, len(got), err)
			}
			for _, e := range got {
				if _, ended := e.(Ended); ended {
					t.Errorf("%s, %s: it ended", api, test.why)
				}
			}
			if n := len(s.Asked()); n != 1 {
				t.Errorf("%s, %s: asked %d times", api, test.why, n)
			}
		}
	}
}

// A stream that is silent ends after the connection's time, and with whoever waits or
// leaves. A trickle of words is no silence.
func TestChatHangs(t *testing.T) {
	for _, api := range both {
		for _, reply := range []scripted.Reply{{Hang: true}, {Text: "some words", Stall: true}} {
			s := scripted.Start(t, func(int, scripted.Ask) scripted.Reply { return reply })
			if _, err := heardAll(t.Context(), speaker(t, api, s.URL, time.Millisecond), talk); remainder.CauseOf(err) != remainder.Slow {
				t.Errorf("%s: silent: %v", api, err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("the turn was cancelled")
			s = scripted.Start(t, func(int, scripted.Ask) scripted.Reply { cancel(why); return reply })
			if _, err := heardAll(ctx, speaker(t, api, s.URL, 0), talk); !errors.Is(err, why) {
				t.Errorf("%s: cancelled: %v", api, err)
			}
		}
		gone := make(chan struct{})
		s := scripted.Start(t, func(int, scripted.Ask) scripted.Reply { return scripted.Reply{Text: "some words", Stall: true} })
		for e, err := range speaker(t, api, s.URL, 0).Stream(t.Context(), talk) {
			if e != (Said{"some "}) || err != nil {
				t.Errorf("%s: %v, %v", api, e, err)
			}
			close(gone)
			break // the server's end waits until the request has ended
		}
		<-gone
	}
}

// Some servers tell each call whole, all under one index, without ids.
func TestChatOddCalls(t *testing.T) {
	one := func(id, name string) string {
		return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":%q,"function":{"name":%q,"arguments":"{}"}}]}}]}`, id, name)
	}
	for _, test := range []struct {
		why  string
		body scripted.Reply
		want []Event
	}{
		{"one index", events(one("a", "x"), one("b", "y"), over), []Event{Called{Call{"a", "x", "{}"}}, Called{Call{"b", "y", "{}"}}, Ended{Model: "m"}}},
		{"no id", events(one("", "x"), over), []Event{Called{Call{"call_1", "x", "{}"}}, Ended{Model: "m"}}},
	} {
		s := scripted.Start(t, func(int, scripted.Ask) scripted.Reply { return test.body })
		got, err := heardAll(t.Context(), speaker(t, OpenAI, s.URL, 0), talk)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got\n%s", test.why, err, diff)
		}
	}
	s := scripted.Start(t, func(int, scripted.Ask) scripted.Reply {
		return events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"x","input":{"k":1}}}`, stop0, `{"type":"later"}`, turned, stop)
	})
	got, err := heardAll(t.Context(), speaker(t, Anthropic, s.URL, 0), talk)
	if diff := cmp.Diff([]Event{Called{Call{"a", "x", `{"k":1}`}}, Ended{"m", 1, 1}}, got); err != nil || diff != "" {
		t.Errorf("whole at its start: %v, -want +got\n%s", err, diff)
	}
}
