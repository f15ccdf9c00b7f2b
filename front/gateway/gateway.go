package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/client"
)

// Options of a proxy.
type Options struct {
	Server Server
	// Name is the server's, by which its tools are judged (mcp__NAME__TOOL). It is a
	// person's to say: a server that named itself could take the name of another.
	Name string
	// Workspace is the folder that the session of the proxy works in.
	Workspace string
	// Kernel gives a client of the kernel; with start, one that starts a kernel where
	// none runs.
	Kernel func(start bool) (*client.Client, error)
	// Deadline is how long a call is held; 0 for what the client is known to wait.
	Deadline time.Duration
	In       io.Reader
	Out      io.Writer
	// Log tells whoever reads the client's log.
	Log func(string)
	// Unheard is how long a call may be undecided before it is told what it waits for,
	// Beat how long between two signs that it still waits; 0 for the usual.
	Unheard, Beat time.Duration

	within func(context.Context) (context.Context, context.CancelFunc) // the time of a call, in tests
}

const methodCancelled = "notifications/cancelled"

// passed are the requests of a client that go on as they are: they look something
// up, or are about what was licensed before. What is not known is not passed on, for
// what it does is not known either.
var passed = set("initialize", "ping", "server/discover", "tools/list", "resources/list", "resources/templates/list",
	"resources/unsubscribe", methodListen, "prompts/list", "prompts/get", "completion/complete",
	"logging/setLevel", "tasks/get", "tasks/list", "tasks/result", "tasks/cancel")

// noticed are the notifications of a client that go on. A cancellation is looked at.
var noticed = set("notifications/initialized", "notifications/progress", "notifications/roots/list_changed", "notifications/tasks/status")

// held are the requests of a client that are judged first: calls of tools, and reading
// a resource, as which being told of its changes counts: the server looks at what its
// address says.
var held = set(methodCall, "resources/read", "resources/subscribe")

const (
	methodCall   = "tools/call"
	methodListen = "subscriptions/listen"
)

// holds says whether a request is judged first.
func (m message) holds() bool {
	return held[m.method] || m.method == methodListen && !listensToLists(m.params)
}

func set(names ...string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, n := range names {
		all[n] = true
	}
	return all
}

// gateway is a proxy at work.
type gateway struct {
	Options
	server server
	kernel kernel

	writing sync.Mutex // of Out
	calls   sync.WaitGroup

	mu      sync.Mutex
	who     who
	running int                       // calls that are held or run
	asked   map[string]*request       // the client's requests without an answer
	ended   map[string]bool           // of the last that were cancelled
	order   []string                  // in which they were
	asks    map[string]jsontext.Value // the server's requests of the client
	ours    map[string]bool           // our own
	marked  string                    // begins the ids of our own, which no server guesses
	count   int
	over    error // why nothing is asked any more

	opening sync.Mutex
	session string
	left    []leaf // that wait without anybody, the oldest first
}

// who is what the client says of itself.
type who struct {
	name, version string
	protocol      string // that was agreed on
	elicits       bool
}

// request is a request of the client.
type request struct {
	message
	key string
	// at: the server has it, or is about to. Under mu.
	at bool
	*call
}

// Why a call is given up.
var (
	errClientGone = errors.New("the client has gone")
	errServerGone = errors.New("the server has ended")
)

// withdrawal is the client's word that it does not want an answer.
type withdrawal struct{ reason string }

func (*withdrawal) Error() string { return "the client cancelled it" }

// Run passes on messages between the client and the server, until one of them goes or
// ctx is done. It is an error where that was the server.
func Run(ctx context.Context, o Options) error {
	o.Unheard, o.Beat = cmp.Or(o.Unheard, 300*time.Millisecond), cmp.Or(o.Beat, 10*time.Second)
	server, err := o.Server.start(ctx, o.Log)
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	g := &gateway{Options: o, server: server, kernel: kernel{dial: o.Kernel}, asked: make(map[string]*request), ended: make(map[string]bool),
		asks: make(map[string]jsontext.Value), ours: make(map[string]bool), marked: "assent-" + rand.Text()}
	defer g.kernel.close()

	client, answers := make(chan error, 1), make(chan error, 1)
	go func() { client <- g.hear() }()
	go func() { answers <- g.relay() }()
	select {
	case err = <-answers:
		if errors.Is(err, io.EOF) {
			err = nil
		}
		err = errors.Join(errServerGone, err)
		server.hush() // who writes to it waits no more
		g.finish(errServerGone, true)
		server.end()
		return err
	case err = <-client:
	case <-ctx.Done():
	}
	// What the server has already may still be answered, to a client that only asks no
	// more.
	g.finish(errClientGone, false)
	server.hush()
	last, stop := context.WithTimeout(context.Background(), closeLimit)
	defer stop()
	select {
	case <-answers:
	case <-g.idle(last):
	case <-last.Done():
	}
	g.finish(errClientGone, true)
	server.end()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// idle is closed when nothing waits for an answer of a server that does not end by
// itself.
func (g *gateway) idle(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	if _, ends := g.server.(*program); ends {
		return done
	}
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			g.mu.Lock()
			n := g.running
			for _, q := range g.asked {
				if q.method != "subscriptions/listen" { // which has no answer
					n++
				}
			}
			g.mu.Unlock()
			if n == 0 {
				close(done)
				return
			}
			<-tick.C
		}
	}()
	return done
}

// finish gives up what waits, and with all also what the server has. It returns when
// every call that was given up is settled.
func (g *gateway) finish(why error, all bool) {
	g.mu.Lock()
	g.over = why
	var unanswered []*request
	for k, q := range g.asked {
		switch {
		case q.call != nil && (all || !q.at):
			q.cancel(why)
		case q.call == nil && all:
			delete(g.asked, k)
			unanswered = append(unanswered, q)
		}
	}
	g.mu.Unlock()
	for _, q := range unanswered {
		_ = g.say(refusal(q.id, broken, "%v", why))
	}
	if all {
		g.calls.Wait()
	}
}

// say writes a message to the client.
func (g *gateway) say(m message) error {
	g.writing.Lock()
	defer g.writing.Unlock()
	_, err := g.Out.Write(append(m.text(), '\n'))
	return err
}

// hear takes what the client says, to its end.
func (g *gateway) hear() error {
	in := newLines(g.In)
	for {
		line, err := in.next()
		if err != nil {
			return fmt.Errorf("reading from the client: %w", err)
		}
		m, err := parse(line)
		if err != nil {
			code := badRequest
			if !jsontext.Value(line).IsValid(lax) {
				code = badJSON
			}
			if err := g.say(refusal(m.id, code, "this message is not passed on: %v", err)); err != nil {
				return err
			}
			continue
		}
		switch {
		case m.reply:
			err = g.answered(m)
		case m.id == nil:
			err = g.notified(m)
		default:
			err = g.requested(m)
		}
		if err != nil {
			return err
		}
	}
}

// answered takes the client's answer to a question of the server's, or of ours.
func (g *gateway) answered(m message) error {
	k, _ := key(m.id)
	g.mu.Lock()
	id, theirs := g.asks[k]
	delete(g.asks, k)
	delete(g.ours, k) // whatever it says: no answer of a client decides anything
	g.mu.Unlock()
	if !theirs {
		return nil
	}
	m.id = id
	return g.pass(m)
}

// pass writes to the server. That it is gone is told by whoever reads from it.
func (g *gateway) pass(m message) error {
	if err := g.server.write(m); err != nil {
		g.Log("writing to the server: " + err.Error())
	}
	return nil
}

func (g *gateway) notified(m message) error {
	switch {
	case m.method == methodCancelled:
		g.cancel(m)
	case noticed[m.method]:
		return g.pass(m)
	default:
		g.Log(fmt.Sprintf("a notification that is not known is not passed on: %.60q", m.method))
	}
	return nil
}

// cancel is the client's word that it does not want an answer any more.
func (g *gateway) cancel(m message) {
	var p struct {
		ID     jsontext.Value `json:"requestId"`
		Reason string         `json:"reason"`
	}
	if json.Unmarshal(m.params, &p) != nil {
		return
	}
	k, _ := key(p.ID)
	g.mu.Lock()
	q := g.asked[k]
	if q == nil || q.method == "initialize" {
		g.mu.Unlock()
		return
	}
	g.forget(q)
	at, call := q.at, q.call
	g.mu.Unlock()
	switch {
	case call != nil:
		call.cancel(&withdrawal{p.Reason}) // the server is told after it was asked
	case at:
		_ = g.pass(cancelled(q.id, p.Reason))
	}
}

// forget drops a request that gets no answer. Its id is not one to be used again: the
// server may answer yet. It needs mu.
func (g *gateway) forget(q *request) {
	delete(g.asked, q.key)
	g.ended[q.key] = true
	if g.order = append(g.order, q.key); len(g.order) > maxEnded {
		delete(g.ended, g.order[0])
		g.order = g.order[1:]
	}
}

func (g *gateway) requested(m message) error {
	k, ok := key(m.id)
	q := &request{message: m, key: k}
	meta := g.introduced(m)
	g.mu.Lock()
	why, code, goes := "", badRequest, false
	switch {
	case !ok:
		why, q.id = "the id of a request is a text or an integer below 2^53", nil
	case g.asked[k] != nil || g.ended[k]:
		why = "this id was used already"
	case !passed[m.method] && !held[m.method]:
		why, code = fmt.Sprintf("%.60q is not passed on: what it does is not known", m.method), noMethod
	case len(g.asked) >= maxAsked:
		why, code = fmt.Sprintf("%d requests wait for an answer; ask again when some have it", maxAsked), broken
	case g.over != nil:
		why, code = g.over.Error(), broken
	case m.holds():
		q.call = newCall(meta)
		g.asked[k] = q
		if g.running >= maxCalls {
			g.mu.Unlock()
			return g.refuse(q, fmt.Sprintf("%d calls are under way; make it again when some are done", maxCalls))
		}
		g.running++
		g.calls.Go(func() { // under mu: nobody waits for the calls yet
			defer func() {
				g.mu.Lock()
				g.running--
				g.mu.Unlock()
			}()
			g.hold(q)
		})
	default:
		q.at, goes = true, true
		g.asked[k] = q
	}
	g.mu.Unlock()
	if why != "" {
		return g.say(refusal(q.id, code, "%s", why))
	}
	if !goes {
		return nil
	}
	return g.pass(m)
}

// meta is what of a request's _meta matters here.
type meta struct {
	Protocol string         `json:"io.modelcontextprotocol/protocolVersion"`
	Client   implementation `json:"io.modelcontextprotocol/clientInfo"`
	Token    jsontext.Value `json:"progressToken"`
}

type implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// introduced keeps what the client says of itself: at the beginning, or in each request.
func (g *gateway) introduced(m message) meta {
	var p struct {
		Meta         meta           `json:"_meta"`
		Client       implementation `json:"clientInfo"`
		Capabilities struct {
			Elicitation jsontext.Value `json:"elicitation"`
		} `json:"capabilities"`
	}
	if json.Unmarshal(m.params, &p) != nil {
		return meta{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.method == "initialize" {
		g.who.name, g.who.version = p.Client.Name, p.Client.Version
		var modes map[string]jsontext.Value
		if json.Unmarshal(p.Capabilities.Elicitation, &modes) == nil && modes != nil {
			_, form := modes["form"]
			g.who.elicits = form || len(modes) == 0
		}
	} else if g.who.name == "" {
		g.who.name, g.who.version = p.Meta.Client.Name, p.Meta.Client.Version
	}
	return p.Meta
}

// relay takes what the server says, to its end.
func (g *gateway) relay() error {
	for {
		m, err := g.server.read()
		if err != nil {
			return err
		}
		k, ok := key(m.id)
		switch {
		case m.id == nil:
			g.withdrawn(m)
		case !ok:
			g.Log("a message of the server has an id that is none, and is not passed on")
			continue
		case m.reply:
			if !g.answers(k, &m) {
				continue
			}
		default:
			g.mu.Lock()
			_, twice := g.asks[k]
			many := len(g.asks) >= maxAsked
			if twice = twice || g.ours[k]; !twice && !many {
				g.asks[k] = m.id
			}
			g.mu.Unlock()
			if twice || many {
				_ = g.pass(refusal(m.id, badRequest, "this id is used already, or %d requests wait for an answer", maxAsked))
				continue
			}
		}
		if err := g.say(m); err != nil {
			return errors.Join(errClientGone, err)
		}
	}
}

// withdrawn lets go of a question that the server takes back.
func (g *gateway) withdrawn(m message) {
	var p struct {
		ID jsontext.Value `json:"requestId"`
	}
	if m.method != methodCancelled || json.Unmarshal(m.params, &p, lax) != nil {
		return
	}
	if k, ok := key(p.ID); ok {
		g.mu.Lock()
		delete(g.asks, k)
		g.mu.Unlock()
	}
}

// answers takes an answer of the server, and reports whether it goes to the client
// now. What it was not asked, or has answered, is nobody's answer.
func (g *gateway) answers(k string, m *message) bool {
	g.mu.Lock()
	q := g.asked[k]
	if q == nil || !q.at {
		g.mu.Unlock()
		return false
	}
	delete(g.asked, k)
	if q.call == nil {
		g.mu.Unlock()
		if q.method == "initialize" {
			g.negotiated(m)
		}
		m.id = q.id
		return true
	}
	answer := q.answer
	g.mu.Unlock()
	answer <- *m // there is room for one, and it is the only one
	return false
}

func (g *gateway) negotiated(m *message) {
	var p struct {
		Version string `json:"protocolVersion"`
	}
	if json.Unmarshal(m.result, &p, lax) != nil {
		return
	}
	g.mu.Lock()
	g.who.protocol = p.Version
	g.mu.Unlock()
	g.server.agreed(p.Version)
}

// label names the client to people.
func (g *gateway) label() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	name := cmp.Or(g.who.name, "an MCP client")
	if g.who.version != "" {
		name += " " + g.who.version
	}
	if len(name) > 200 {
		name = strings.ToValidUTF8(name[:200], "")
	}
	return name + " (mcp " + g.Name + ")"
}
