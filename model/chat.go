package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"assent/remainder"
)

// Chat is a model that is spoken with: it is told which tools there are, and what
// it says comes while it is said. Many may speak with it at a time.
type Chat interface {
	// Stream asks once and yields what is said, in order. The last event of an answer
	// that is whole is [Ended]; without one it is an error, a [*remainder.Failure] or
	// ctx's cause, and what came before is no answer. Whoever leaves the loop ends the
	// request. Silence for as long as the connection's timeout is a failure.
	Stream(ctx context.Context, t Talk) iter.Seq2[Event, error]
	// Name is the model that is asked, as the other end knows it.
	Name() string
}

// Talk is what was said so far, and what may be called.
type Talk struct {
	System   string
	Messages []Message
	Tools    []Tool
	// MaxTokens bounds the answer. One that ends there is a Truncated failure.
	MaxTokens int
}

// Message is something that was said. The user's has the results of calls, which
// stand first, and texts, each by itself; the assistant's texts and then calls.
type Message struct {
	Role    remainder.Role
	Results []Result
	Texts   []string
	Calls   []Call
}

// Tool is something that may be called.
type Tool struct {
	Name, Description string
	Parameters        map[string]any // a JSON schema of an object
}

// Call is a call of a tool, as the model wrote it: its arguments may be no JSON.
type Call struct {
	ID, Name, Arguments string
}

// Result is what became of a call.
type Result struct {
	Call   string // its id
	Text   string
	Failed bool
}

// Event is a part of an answer: [Said], [Called] or [Ended].
type Event interface{ event() }

// Said is a piece of text.
type Said struct{ Text string }

// Called is a call, whole. No two of an answer have the same id.
type Called struct{ Call }

// Ended is the end of an answer. Tokens are as the other end counts them, 0 where it
// does not say.
type Ended struct {
	Model               string
	InTokens, OutTokens int
}

func (Said) event()   {}
func (Called) event() {}
func (Ended) event()  {}

// Chat gives a model of a connection to speak with, as [Connections.Connect] does.
func (c *Connections) Chat(ctx context.Context, connection, model string) (Chat, error) {
	with, err := c.reach(ctx, connection, model)
	if err != nil {
		return nil, err
	}
	if with.API == Anthropic {
		return messages{with}, nil
	}
	return completions{with}, nil
}

// Name is the model that is asked.
func (r reached) Name() string { return r.model }

// The bounds of an answer that is streamed.
const (
	maxStream = 64 << 20         // bytes on the wire: each token comes in some hundred
	maxSaid   = maxReply         // bytes of text and arguments
	maxCalls  = 128              // calls
	longest   = 30 * time.Minute // from the first byte to the last, also of an end that trickles
)

// listener is told of every piece of a body, through the context of its request.
type listener struct{ heard func() }

type listenerKey struct{}

// heard is a body that tells its listener.
type heard struct {
	io.ReadCloser
	l *listener
}

func (h heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.l.heard()
	return n, err
}

// patient bounds how long the other end may be silent, and all of it.
func (r reached) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithTimeoutCause(ctx, longest, errSlow)
	ctx, cancel := context.WithCancelCause(ctx)
	limit := cmp.Or(max(r.Timeout, 0), DefaultTimeout)
	silence := time.AfterFunc(limit, func() { cancel(errSlow) })
	ctx = context.WithValue(ctx, listenerKey{}, &listener{heard: func() { silence.Reset(limit) }})
	return ctx, func() {
		silence.Stop()
		cancel(nil)
		end()
	}
}

// stream is what a library reads an answer with.
type stream interface {
	Next() bool
	Err() error
	Close() error
}

// answer gathers what is said, and hands it on.
type answer struct {
	r     reached
	yield func(Event, error) bool
	left  bool // nobody listens any more
	bytes int
	ids   map[string]bool
	ended *Ended
}

// listen reads an answer to its end. event reads the one that came last and hands on
// what it says.
func (r reached) listen(caller, ctx context.Context, s stream, got **http.Response, yield func(Event, error) bool, event func(*answer) error) {
	a := &answer{r: r, yield: yield, ids: make(map[string]bool)}
	defer s.Close()
	if s.Err() == nil && *got != nil && (*got).StatusCode == http.StatusOK && !strings.HasPrefix((*got).Header.Get("Content-Type"), "text/event-stream") {
		yield(nil, r.unreadable("it is no stream of events"))
		return
	}
	for s.Next() {
		if err := event(a); err != nil {
			yield(nil, err)
			return
		}
		if a.left {
			return
		}
	}
	err := s.Err()
	if err := r.failure(caller, ctx, *got, errorBody(err), err); err != nil {
		if f, ok := errors.AsType[*remainder.Failure](err); ok {
			if told := r.toldInStream(s.Err()); told != nil {
				f.Cause, f.Code, f.Detail = told.Cause, 0, told.Detail
			}
		}
		yield(nil, err)
		return
	}
	if a.ended == nil {
		yield(nil, r.failed(remainder.Cut, ""))
		return
	}
	yield(*a.ended, nil)
}

func (a *answer) give(e Event, n int) error {
	if a.bytes += n; a.bytes > maxSaid {
		return a.r.unreadable(fmt.Sprintf("the answer is longer than %d bytes", maxSaid))
	}
	if !a.left {
		a.left = !a.yield(e, nil)
	}
	return nil
}

func (a *answer) say(text string) error {
	if text == "" {
		return nil
	}
	return a.give(Said{text}, len(text))
}

// call hands on a call. One without an id of its own gets one: what became of it is
// told under it.
func (a *answer) call(c Call) error {
	if len(a.ids) == maxCalls {
		return a.r.unreadable(fmt.Sprintf("it has more than %d calls", maxCalls))
	}
	if c.ID == "" || a.ids[c.ID] {
		c.ID = fmt.Sprintf("call_%d", len(a.ids)+1)
	}
	if a.ids[c.ID] {
		return a.r.unreadable("two calls have one id")
	}
	a.ids[c.ID] = true
	if strings.TrimSpace(c.Arguments) == "" {
		c.Arguments = "{}"
	}
	return a.give(Called{c}, len(c.Name)+len(c.Arguments))
}

// toldInStream is an error that came as an event of a stream, nil for none.
func (r reached) toldInStream(err error) *remainder.Failure {
	body := errorEvent(err)
	if body == "" {
		return nil
	}
	var told struct {
		Error struct {
			Type string `json:"type"`
		} `json:"error"`
	}
	f := &remainder.Failure{Cause: remainder.Status, Detail: r.detail(body)}
	if json.Unmarshal([]byte(body), &told) == nil && (told.Error.Type == "overloaded_error" || told.Error.Type == "rate_limit_error") {
		f.Cause = remainder.Overloaded
	}
	return f
}
