package toolkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
)

// wires is how a server is reached by an address: what it answers is bounded, and so
// is how much is asked at a time. What a person set up is added to every request.
type wires struct {
	header http.Header
	life   context.Context // ends all requests
	cut    context.CancelFunc
	under  chan struct{} // a place for each request under way
	base   *http.Transport
}

func newWires(header http.Header) *wires {
	w := &wires{header: header, under: make(chan struct{}, maxAsked), base: http.DefaultTransport.(*http.Transport).Clone()}
	w.base.MaxResponseHeaderBytes = 256 << 10
	w.life, w.cut = context.WithCancel(context.Background())
	return w
}

func (w *wires) client() *http.Client {
	return &http.Client{Transport: w, CheckRedirect: sameServer}
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

// RoundTrip is part of [http.RoundTripper].
func (w *wires) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case w.under <- struct{}{}:
	default: // nobody waits: a server could have others wait for ever
		return nil, errors.New("the server leaves too many requests without an answer")
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(w.life, cancel)
	over := sync.OnceFunc(func() {
		stop()
		cancel()
		<-w.under
	})
	r = r.Clone(ctx)
	for name, values := range w.header {
		r.Header[name] = values
	}
	answer, err := w.base.RoundTrip(r)
	if err != nil {
		over()
		return nil, err
	}
	body := &bounded{ReadCloser: answer.Body, over: over, left: maxMessage, ends: true}
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind == "text/event-stream" {
		body.ends = false // each of its messages is bounded, by whoever reads them
	}
	answer.Body = body
	return answer, nil
}

// end ends what is under way.
func (w *wires) end() {
	w.cut()
	w.base.CloseIdleConnections()
}

// bounded is the body of an answer.
type bounded struct {
	io.ReadCloser
	over func()
	ends bool // at all
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if !b.ends {
		return b.ReadCloser.Read(p)
	}
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

func (b *bounded) Close() error {
	defer b.over()
	return b.ReadCloser.Close()
}
