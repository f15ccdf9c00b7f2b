package gateway

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Headers of streamable HTTP that the library sets only for a client of its own, as
// it begins the stream of what a server says unasked only for one.
const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
	lastHeader    = "Last-Event-ID"
)

// stateless is the version of the protocol from which on a server says nothing
// unasked and asks by its answers alone.
const stateless = "2026-07-28"

// address is a server that is reached over streamable HTTP.
type address struct {
	url     string
	conn    mcp.Connection
	client  *http.Client
	base    *http.Transport
	version atomic.Value // string: the one that was agreed on
	log     func(string)

	life  context.Context
	cut   context.CancelFunc
	queue chan message
	ended chan struct{}
	why   error // before ended is closed
	all   sync.WaitGroup
	heed  sync.Once // listens

	mu    sync.Mutex
	calls map[string]context.CancelFunc // requests under way, by key
}

// Address is a server at an address, with headers of a person's that every request
// carries.
func Address(url string, header http.Header) Server {
	return Server{func(ctx context.Context, log func(string)) (server, error) {
		a := &address{url: url, log: log, queue: make(chan message), ended: make(chan struct{}), calls: make(map[string]context.CancelFunc)}
		a.base = http.DefaultTransport.(*http.Transport).Clone()
		a.base.MaxResponseHeaderBytes = 256 << 10
		a.client = &http.Client{Transport: carrier{a, header}, CheckRedirect: sameServer}
		a.life, a.cut = context.WithCancel(context.WithoutCancel(ctx))
		var err error
		a.conn, err = (&mcp.StreamableClientTransport{
			Endpoint: url, HTTPClient: a.client, MaxEventSize: maxMessage, DisableStandaloneSSE: true,
		}).Connect(a.life)
		if err != nil {
			a.cut()
			return nil, err
		}
		a.all.Go(a.pump)
		return a, nil
	}}
}

// pump takes what the library reads.
func (a *address) pump() {
	defer close(a.ended)
	for {
		m, err := a.conn.Read(a.life)
		if err != nil {
			a.why = err
			return
		}
		a.deliver(of(m))
	}
}

// deliver has a message read.
func (a *address) deliver(m message) {
	if m.reply {
		defer a.over(m)
	}
	select {
	case a.queue <- m:
	case <-a.life.Done():
	}
}

// over lets go of a request that has its answer.
func (a *address) over(m message) {
	if k, ok := key(m.id); ok {
		a.mu.Lock()
		defer a.mu.Unlock()
		if cancel := a.calls[k]; cancel != nil {
			cancel()
			delete(a.calls, k)
		}
	}
}

// of is a message as it is here.
func of(m jsonrpc.Message) message {
	switch m := m.(type) {
	case *jsonrpc.Request:
		r := message{method: m.Method, params: []byte(m.Params)}
		if m.IsCall() {
			r.id = object(m.ID.Raw())
		}
		return r
	case *jsonrpc.Response:
		r := message{id: object(m.ID.Raw()), reply: true}
		if fault, ok := errors.AsType[*jsonrpc.Error](m.Error); ok {
			r.fault = object(struct {
				Code    int64  `json:"code"`
				Message string `json:"message"`
				Data    any    `json:"data,omitzero"`
			}{fault.Code, fault.Message, raw(fault.Data)})
		} else if m.Error != nil {
			r.fault = refusal(nil, broken, "the server: %v; the call may have had its effect", m.Error).fault
		} else {
			r.result = []byte(m.Result)
		}
		return r
	}
	return message{}
}

// raw is JSON as it is, nil for none.
func raw(text []byte) any {
	if len(text) == 0 {
		return nil
	}
	return jsontext.Value(text)
}

func (a *address) read() (message, error) {
	select {
	case m := <-a.queue:
		return m, nil
	case <-a.ended:
		return message{}, a.why
	}
}

func (a *address) agreed(version string) { a.version.Store(version) }

// told is how long a server may take to take what it has not to answer.
const told = 30 * time.Second

func (a *address) write(m message) error {
	var id jsonrpc.ID
	if m.id != nil {
		var value any
		if err := json.Unmarshal(m.id, &value); err != nil {
			return err
		}
		var err error
		if id, err = jsonrpc.MakeID(value); err != nil {
			return err
		}
	}
	if m.reply {
		r := &jsonrpc.Response{ID: id, Result: []byte(m.result)}
		if m.fault != nil {
			fault := new(jsonrpc.Error)
			if err := json.Unmarshal(m.fault, fault, lax); err != nil {
				fault = &jsonrpc.Error{Code: broken, Message: string(m.fault)}
			}
			r.Error = fault
		}
		return a.post(r)
	}
	r := &jsonrpc.Request{ID: id, Method: m.method, Params: []byte(m.params)}
	if m.id != nil {
		a.ask(m, r)
		return nil
	}
	err := a.post(r)
	switch m.method {
	case "notifications/initialized":
		if version, _ := a.version.Load().(string); version < stateless {
			a.heed.Do(func() { a.all.Go(a.listen) })
		}
	case methodCancelled:
		// A server that takes the end of a request for its cancellation is told so too.
		var p struct {
			ID jsontext.Value `json:"requestId"`
		}
		if json.Unmarshal(m.params, &p) == nil {
			a.over(message{id: p.ID})
		}
	}
	return err
}

// post sends what has no answer, in its order.
func (a *address) post(m jsonrpc.Message) error {
	ctx, cancel := context.WithTimeout(a.life, told)
	defer cancel()
	return a.conn.Write(ctx, m)
}

// notSent is the code by which the library says that an error is its own.
const notSent = -32005

// ask sends a request: a server may answer with the whole answer only.
func (a *address) ask(m message, r *jsonrpc.Request) {
	ctx, cancel := context.WithCancel(a.life)
	k, _ := key(m.id)
	a.mu.Lock()
	a.calls[k] = cancel
	a.mu.Unlock()
	a.all.Go(func() {
		if err := a.conn.Write(ctx, r); err != nil {
			answer := refusal(m.id, broken, "the server: %v", err)
			if fault, ok := errors.AsType[*jsonrpc.Error](err); ok && fault.Code != notSent { // its own
				answer = of(&jsonrpc.Response{ID: r.ID, Error: fault})
				answer.id = m.id
			}
			a.deliver(answer)
		}
	})
}

func (a *address) hush() {}

func (a *address) end() {
	_ = a.conn.Close() // tells the server that its session is over, for 5 s at most
	a.cut()
	a.all.Wait()
	a.base.CloseIdleConnections()
}

// How often a stream is begun anew that brings nothing, and how long is waited
// before.
const (
	mostTries = 5
	pause     = time.Second
)

// listen reads what the server says unasked, where it has such a stream.
func (a *address) listen() {
	last, wait := "", pause
	for try := 0; try < mostTries; try++ {
		r, err := http.NewRequestWithContext(a.life, http.MethodGet, a.url, nil)
		if err != nil {
			return
		}
		r.Header.Set("Accept", "text/event-stream")
		if id := a.conn.SessionID(); id != "" {
			r.Header.Set(sessionHeader, id)
		}
		if last != "" {
			r.Header.Set(lastHeader, last)
		}
		answer, err := a.client.Do(r)
		if err == nil {
			if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); answer.StatusCode != http.StatusOK || kind != "text/event-stream" {
				answer.Body.Close()
				return
			}
			if a.events(answer.Body, &last, &wait) {
				try = 0
			}
			answer.Body.Close()
		}
		select {
		case <-a.life.Done():
			return
		case <-time.After(wait):
		}
	}
	a.log("the stream of what the server says unasked has ended")
}

// events reads events to the end of a stream, and reports whether there was any.
func (a *address) events(body io.Reader, last *string, wait *time.Duration) (some bool) {
	r := bufio.NewReaderSize(body, 64<<10)
	var data []byte
	name, id := "", *last
	for size := 0; ; {
		line, err := r.ReadSlice('\n')
		size += len(line)
		if size > maxMessage {
			return some
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			long := append([]byte(nil), line...)
			for errors.Is(err, bufio.ErrBufferFull) && size <= maxMessage {
				line, err = r.ReadSlice('\n')
				size += len(line)
				long = append(long, line...)
			}
			line = long
		}
		if err != nil {
			return some
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if len(data) > 0 && cmp.Or(name, "message") == "message" {
				m, err := jsonrpc.DecodeMessage(data)
				if err != nil {
					a.log("the server said unasked what is no message")
					return some
				}
				some = true
				a.deliver(of(m))
			}
			*last = id // of one that was cut it would be lost
			data, name, size = nil, "", 0
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
		case "event":
			name = string(value)
		case "id":
			id = strings.ToValidUTF8(string(value), "")
		case "retry":
			if n, err := strconv.Atoi(string(value)); err == nil && n >= 0 {
				*wait = min(time.Duration(n)*time.Millisecond, 30*time.Second)
			}
		}
	}
}

// carrier adds to each request what all carry, and bounds what is read of an answer
// that ends.
type carrier struct {
	*address
	header http.Header
}

// RoundTrip is part of [http.RoundTripper].
func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if version, _ := c.version.Load().(string); version != "" && r.Header.Get(versionHeader) == "" {
		r.Header.Set(versionHeader, version)
	}
	for name, values := range c.header {
		r.Header[name] = values
	}
	answer, err := c.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind != "text/event-stream" {
		answer.Body = &bounded{answer.Body, maxMessage}
	}
	return answer, nil
}

// bounded is the body of an answer, of which so much is read.
type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if n > b.left {
		return b.left, errTooLong
	}
	b.left -= n
	return n, err
}

// sameServer has a redirection followed only where it stays on the server that a
// person set up: its keys go along.
func sameServer(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > 5:
		return errors.New("the server leads from one address to the next")
	case r.URL.Scheme != first.Scheme || r.URL.Host != first.Host:
		return fmt.Errorf("the server leads to %s://%s, which is not what was set up", r.URL.Scheme, r.URL.Host)
	}
	return nil
}
