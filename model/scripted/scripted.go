// Package scripted is a model server on loopback for tests: it speaks Anthropic's
// messages and OpenAI's chat completions, and says what a script says.
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
	Header    http.Header
}

// Message is a message with its blocks of text.
type Message struct {
	Role  string
	Parts []string
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

// content is a text or a list of blocks of text.
type content []string

func (c *content) UnmarshalJSON(text []byte) error {
	if jsontext.Value(text).Kind() == '"' {
		var one string
		err := json.Unmarshal(text, &one)
		*c = content{one}
		return err
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(text, &blocks); err != nil {
		return err
	}
	for _, b := range blocks {
		if b.Type != "text" {
			return fmt.Errorf("a block of the type %q", b.Type)
		}
		*c = append(*c, b.Text)
	}
	return nil
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
		Messages  []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
		Format struct {
			Type string `json:"type"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return a, err
	}
	a = Ask{Model: in.Model, System: strings.Join(in.System, "\n"), MaxTokens: in.MaxTokens + in.Most, JSON: in.Format.Type != "", Header: r.Header, Key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	switch {
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		a.API = "anthropic"
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		a.API = "openai"
	default:
		return a, fmt.Errorf("nothing is there")
	}
	for _, m := range in.Messages {
		if m.Role == "system" {
			a.System = strings.Join(m.Content, "\n")
			continue
		}
		a.Messages = append(a.Messages, Message{m.Role, m.Content})
	}
	return a, nil
}

func answer(w http.ResponseWriter, r *http.Request, a Ask, reply Reply) {
	if reply.Hang {
		<-r.Context().Done()
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
