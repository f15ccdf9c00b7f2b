// Package scripted is a model server on loopback for tests: it speaks Anthropic's
// messages and OpenAI's chat completions, whole or as streams, and says what a script
// says.
package scripted

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Ask is what was asked.
type Ask struct {
	API       string // "anthropic" or "openai"
	Key       string // as it came, without "Bearer "
	Model     string
	System    string
	Messages  []Message
	MaxTokens int
	JSON      bool
	Stream    bool
	Tools     []string // their names
	Header    http.Header
}

// Message is a message with its blocks of text. A result of a call is a message of
// the role tool, whichever API.
type Message struct {
	Role  string
	Parts []string
	Calls []Call `json:",omitzero"`
	// Of is the call that a result is of.
	Of string `json:",omitzero"`
}

// Call is a call of a tool.
type Call struct {
	ID, Name, Arguments string
}

// Text is all that was asked, without the system's part.
func (a Ask) Text() string {
	var all []string
	for _, m := range a.Messages {
		all = append(all, m.Parts...)
	}
	return strings.Join(all, "\n")
}

// Reply is what the server does.
type Reply struct {
	Text string
	// Calls are the calls of tools, after the text.
	Calls []Call
	// Stop is why it ended, "" for the end of what there was to say.
	Stop string
	// Status is another status than 200, Body another body than that of Text.
	Status int
	Body   string
	Header map[string]string
	// Cut ends the connection in the middle of the body.
	Cut bool
	// Hang keeps the answer until whoever asks has gone.
	Hang bool
	// Stall does the same in a stream, after the text.
	Stall bool
	// Fail ends a stream with an event of this error, after the text.
	Fail string
}

// Server is a model server.
type Server struct {
	URL string

	mu    sync.Mutex
	asked []Ask
}

// Start starts a server that answers as script says; it may be called at once.
// It ends with the test.
func Start(t testing.TB, script func(n int, a Ask) Reply) *Server {
	s := &Server{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, err := asked(r)
		if err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		s.asked = append(s.asked, a)
		n := len(s.asked)
		s.mu.Unlock()
		answer(w, r, a, script(n, a))
	}))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Asked is what was asked until now.
func (s *Server) Asked() []Ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Ask(nil), s.asked...)
}

// content is a text or a list of blocks.
type content []blockIn

type blockIn struct {
	Type    string         `json:"type"`
	Text    string         `json:"text"`
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Input   jsontext.Value `json:"input"`
	Of      string         `json:"tool_use_id"`
	Content jsontext.Value `json:"content"`
}

func (c *content) UnmarshalJSON(text []byte) error {
	if jsontext.Value(text).Kind() == '"' {
		var one string
		err := json.Unmarshal(text, &one)
		*c = content{{Type: "text", Text: one}}
		return err
	}
	var blocks []blockIn
	if err := json.Unmarshal(text, &blocks); err != nil {
		return err
	}
	for _, b := range blocks {
		switch b.Type {
		case "text", "tool_use", "tool_result":
		default:
			return fmt.Errorf("a block of the type %q", b.Type)
		}
	}
	*c = blocks
	return nil
}

func (c content) texts() (all []string) {
	for _, b := range c {
		if b.Type == "text" {
			all = append(all, b.Text)
		}
	}
	return all
}

func asked(r *http.Request) (a Ask, err error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return a, err
	}
	var in struct {
		Model     string  `json:"model"`
		System    content `json:"system"`
		MaxTokens int     `json:"max_tokens"`
		Most      int     `json:"max_completion_tokens"`
		Stream    bool    `json:"stream"`
		Messages  []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
			Of      string  `json:"tool_call_id"`
			Calls   []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Name     string         `json:"name"`
			Schema   jsontext.Value `json:"input_schema"`
			Function struct {
				Name       string         `json:"name"`
				Parameters jsontext.Value `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		Format struct {
			Type string `json:"type"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return a, err
	}
	a = Ask{Model: in.Model, System: strings.Join(in.System.texts(), "\n"), MaxTokens: in.MaxTokens + in.Most, JSON: in.Format.Type != "", Stream: in.Stream, Header: r.Header, Key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	switch {
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		a.API = "anthropic"
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		a.API = "openai"
	default:
		return a, fmt.Errorf("nothing is there")
	}
	for _, t := range in.Tools {
		schema := t.Schema
		if a.API == "openai" {
			t.Name, schema = t.Function.Name, t.Function.Parameters
		}
		if t.Name == "" || schema.Kind() != '{' {
			return a, fmt.Errorf("a tool %q with the schema %s", t.Name, schema)
		}
		a.Tools = append(a.Tools, t.Name)
	}
	for _, m := range in.Messages {
		if m.Role == "system" {
			a.System = strings.Join(m.Content.texts(), "\n")
			continue
		}
		if m.Of != "" {
			a.Messages = append(a.Messages, Message{Role: m.Role, Parts: m.Content.texts(), Of: m.Of})
			continue
		}
		said := Message{Role: m.Role, Parts: m.Content.texts()}
		for _, c := range m.Calls {
			said.Calls = append(said.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
		}
		for _, b := range m.Content {
			switch b.Type {
			case "tool_use":
				said.Calls = append(said.Calls, Call{b.ID, b.Name, string(b.Input)})
			case "tool_result":
				if len(said.Parts) > 0 && m.Content[0].Type == "text" {
					return a, fmt.Errorf("a result stands behind a text")
				}
				var inside content
				if err := json.Unmarshal(b.Content, &inside); err != nil {
					return a, err
				}
				a.Messages = append(a.Messages, Message{Role: "tool", Parts: inside.texts(), Of: b.Of})
			}
		}
		if len(said.Parts)+len(said.Calls) > 0 {
			a.Messages = append(a.Messages, said)
		}
	}
	return a, nil
}

func answer(w http.ResponseWriter, r *http.Request, a Ask, reply Reply) {
	if reply.Hang {
		<-r.Context().Done()
		return
	}
	if a.Stream && reply.Body == "" && reply.Status == 0 {
		streamed(w, r, a, reply)
		return
	}
	body := reply.Body
	if body == "" {
		body = said(a, reply)
	}
	w.Header().Set("Content-Type", "application/json")
	for name, value := range reply.Header {
		w.Header().Set(name, value)
	}
	if reply.Cut {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		body = body[:len(body)/2]
	}
	if reply.Status != 0 {
		w.WriteHeader(reply.Status)
	}
	_, _ = io.WriteString(w, body) // whoever asked may have gone
	if reply.Cut {
		panic(http.ErrAbortHandler)
	}
}

// said is a reply as its API has it.
func said(a Ask, reply Reply) string {
	quoted, err := json.Marshal(reply.Text)
	if err != nil {
		panic(err) // it is a text
	}
	if a.API == "anthropic" {
		stop := reply.Stop
		if stop == "" {
			stop = "end_turn"
		}
		return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":%q,"content":[{"type":"text","text":%s}],"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":3}}`, a.Model, quoted, stop)
	}
	stop := reply.Stop
	if stop == "" {
		stop = "stop"
	}
	return fmt.Sprintf(`{"id":"c1","object":"chat.completion","created":1,"model":%q,"choices":[{"index":0,"message":{"role":"assistant","content":%s,"refusal":null},"logprobs":null,"finish_reason":%q}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`, a.Model, quoted, stop)
}
