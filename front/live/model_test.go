package live

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// protocol is how a client speaks to its model.
type protocol struct {
	// turn says whether a request is one of the agent's own turns; others, such as
	// for a title, are answered by "fine".
	turn func(r *http.Request, body string) bool
	// call writes the answer that calls the shell, text the one that says something.
	call func(w io.Writer, r *http.Request, body, id, command string)
	text func(w io.Writer, r *http.Request, body, text string)
	// stream says whether the answer is a stream of events.
	stream func(r *http.Request, body string) bool
}

// model is a model by a script: it asks for nothing but what the test says.
type model struct {
	protocol
	URL   string
	asked chan string                                 // a turn's request
	say   chan func(io.Writer, *http.Request, string) // what is answered to it
	calls int
}

func newModel(t *testing.T, p protocol) *model {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &model{protocol: p, URL: "http://" + l.Addr().String(), asked: make(chan string), say: make(chan func(io.Writer, *http.Request, string))}
	server := &http.Server{Handler: m}
	done := make(chan struct{})
	go func() { server.Serve(l); close(done) }()
	t.Cleanup(func() { server.Close(); <-done })
	return m
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	body := string(text)
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	answer := func(w io.Writer, r *http.Request, body string) { m.text(w, r, body, "fine") }
	if m.turn(r, body) {
		select {
		case m.asked <- body:
		case <-r.Context().Done():
			return
		}
		select {
		case answer = <-m.say:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if m.stream(r, body) {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	answer(w, r, body)
}

// next waits for the agent's next turn and gives its request.
func (m *model) next(t *testing.T, client *window) string {
	t.Helper()
	select {
	case body := <-m.asked:
		return body
	case <-client.ended:
		t.Fatalf("the client has ended with %d; it says\n%s", client.status, client.all())
	case <-time.After(longest):
		t.Fatalf("the client asks its model nothing; it says\n%s", client.all())
	}
	return ""
}

// shell answers the turn by calling the shell.
func (m *model) shell(command string) {
	m.calls++
	id := fmt.Sprintf("call_%d", m.calls)
	m.say <- func(w io.Writer, r *http.Request, body string) { m.call(w, r, body, id, command) }
}

// use answers the turn by calling any tool, as far as the protocol knows how.
func (m *model) use(call func(w io.Writer, id string)) {
	m.calls++
	id := fmt.Sprintf("call_%d", m.calls)
	m.say <- func(w io.Writer, _ *http.Request, _ string) { call(w, id) }
}

// end answers the turn by saying that all is done.
func (m *model) end() {
	m.say <- func(w io.Writer, r *http.Request, body string) { m.text(w, r, body, "That is all.") }
}

// event writes one of a stream.
func event(w io.Writer, kind, data string) {
	if kind != "" {
		fmt.Fprintf(w, "event: %s\n", kind)
	}
	fmt.Fprintf(w, "data: %s\n\n", strings.ReplaceAll(data, "\n", ""))
}
