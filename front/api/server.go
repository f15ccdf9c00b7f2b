package api

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"assent/approval"
	"assent/front/api/wire"
	"assent/kernel"
	"assent/plexus"
)

// Caller tells for whom a connection speaks, given what a request presents. It
// is asked for every request, as what is known of other processes changes while
// a connection stands. An error, the host's role and nobody's are refused.
type Caller func(Claim) (plexus.Writer, error)

// Claim is what a request says of who sends it.
type Claim struct {
	// Token is a paired token, "" for none.
	Token string
	// Agent says that it is an agent's. It is taken at its word: nobody becomes
	// a person by what they say.
	Agent bool
}

// Options of a server. Kernel, Document and Role are needed.
type Options struct {
	Kernel   *kernel.Kernel
	Document *plexus.Store
	// Role looks at a connection when it is made. It must not wait for the
	// other end.
	Role func(net.Conn) Caller
	// Origin names where a connection comes from, the terminal that all of it
	// descends from, and the session there: at once and with no more than a glance.
	// It only says whose connections have to wait for one another. All come from one
	// when nil.
	Origin func(net.Conn) (terminal, session string)
	// Gone says, at once, whether whoever made a connection has left it already; with
	// nil nobody has. Such a one is not worth a look.
	Gone func(net.Conn) bool
	// Standing has something set for the whole kernel: grants, the cover of
	// denials, the default mode. It calls write, which writes it into the
	// document. Whoever keeps those in a file writes it there then, and keeps
	// what the file said before from being taken in between; with nil the
	// document alone has it.
	Standing func(s Standing, write func() error) error
	// Agents is told of a connection by which an agent is about to admit a
	// session or a call; an error refuses it. It gives the folder that the agent
	// was started in, as the system knows it, "" when it does not. With nil nobody
	// is told.
	Agents func(context.Context, net.Conn) (folder string, err error)
	// AgentOf is the name of the agent that a process is or belongs to, and makes
	// it known; nobody can be named when nil. The connection is that of whoever asks.
	AgentOf func(ctx context.Context, conn net.Conn, pid int) (name string, err error)
	// Tokens are the paired ones; none can be paired when nil. Whether one that is
	// presented holds is for Role to say.
	Tokens *Tokens
	// Why says what the role of a connection follows from, for the status;
	// nobody does when nil.
	Why func(net.Conn, Claim) string
	// Scanner says how the scanner of commands is, for the status; nobody does
	// when nil.
	Scanner func(context.Context) wire.Scanner
	// Servers tells of the servers of MCP tools, and asks them which they have where
	// that is wanted, for which it starts them; there are none when nil.
	Servers func(ctx context.Context, ask bool) []wire.ServerTools
	// Version, and the files of the document (Path), the settings and the
	// operator's policy are for the status.
	Version, Path, Config, Policy string
	// Now is the clock of the status, [time.Now] when nil.
	Now func() time.Time
	// Log is told what goes wrong here; nil for nobody.
	Log *slog.Logger
	// Limits that are zero have their default.
	Limits Limits
}

// Standing is what is set for the whole kernel; what is nil stays.
type Standing struct {
	DefaultPolicy     *approval.Mode
	StandingAutoAllow *approval.Terms
	AutoCoverDeny     *approval.CoverDeny
	JudgeConnection   *string
	JudgeModel        *string
}

// Limits bound what one client can cost the others.
type Limits struct {
	Header    time.Duration // for the headers of a request to come; 5 s
	Body      time.Duration // for all of it; 30 s
	Idle      time.Duration // between requests; 2 min
	Write     time.Duration // for one piece of an answer to be taken; 30 s
	Heartbeat time.Duration // between signs of life of a watch, from either end; 15 s
	Wait      time.Duration // that a receipt is waited for; 50 s
	Conns     int           // open at a time; 1024
	Agents    int           // connections, and requests under way, of all but persons; 512
	Each      int           // the same, of one agent; 128
	Watchers  int           // of persons at a time; 128
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		have *time.Duration
		want time.Duration
	}{
		{&l.Header, 5 * time.Second}, {&l.Body, 30 * time.Second}, {&l.Idle, 2 * time.Minute}, {&l.Write, 30 * time.Second},
		{&l.Heartbeat, 15 * time.Second}, {&l.Wait, 50 * time.Second},
	} {
		if *d.have <= 0 {
			*d.have = d.want
		}
	}
	for _, n := range []struct {
		have *int
		want int
	}{{&l.Conns, 1024}, {&l.Agents, 512}, {&l.Each, 128}, {&l.Watchers, 128}} {
		if *n.have <= 0 {
			*n.have = n.want
		}
	}
	return l
}

// Server serves the document. It is an [http.Handler] for connections whose
// context comes from [Server.ConnContext]; [Server.Serve] sees to that.
type Server struct {
	opts    Options
	mux     *http.ServeMux
	http    *http.Server
	started time.Time

	watchers chan struct{} // places that are taken
	looking  looking
	awaiting awaiting
	turns    *turns
	arriving arriving
	pages    pages

	ending context.Context // ends when the server does
	end    context.CancelFunc

	mu       sync.Mutex
	conns    int   // open
	ofAgents parts // of them
	asking   parts // requests of agents under way
}

// parts are places that agents have: so many in all, and so many each. Who has
// no name, because nobody knows who it is, is one of them.
type parts struct {
	all  int
	each map[string]int
}

// take takes a place for an agent; false when there is none.
func (p *parts) take(name string, l Limits) bool {
	if p.all >= l.Agents || p.each[name] >= l.Each {
		return false
	}
	if p.each == nil {
		p.each = make(map[string]int)
	}
	p.all++
	p.each[name]++
	return true
}

func (p *parts) free(name string) {
	p.all--
	if p.each[name]--; p.each[name] == 0 {
		delete(p.each, name)
	}
}

// New is a server that serves nothing yet.
func New(opts Options) *Server {
	opts.Limits = opts.Limits.withDefaults()
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		opts:     opts,
		started:  opts.Now(),
		watchers: make(chan struct{}, opts.Limits.Watchers),
		turns:    newTurns(),
		looking:  looking{lease: leases * opts.Limits.Heartbeat},
		awaiting: awaiting{grace: opts.Limits.Heartbeat},
	}
	if opts.Document != nil { // a server that lets nobody in has none
		s.looking.publish = opts.Document.SetPresence
	}
	s.ending, s.end = context.WithCancel(context.Background())
	s.mux = s.routes()
	s.http = &http.Server{
		Handler:                      s,
		ReadHeaderTimeout:            opts.Limits.Header,
		ReadTimeout:                  opts.Limits.Body,
		IdleTimeout:                  opts.Limits.Idle,
		MaxHeaderBytes:               maxHeader,
		ConnContext:                  s.ConnContext,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(opts.Log.Handler(), slog.LevelWarn),
	}
	return s
}

// maxHeader is more than any client of ours sends. (net/http adds 4096.)
const maxHeader = 16 << 10

type (
	callerKey struct{}
	connKey   struct{}
)

// ConnContext is the context of requests on a connection (see
// [http.Server.ConnContext]): it knows for whom the connection speaks.
func (s *Server) ConnContext(ctx context.Context, conn net.Conn) context.Context {
	counted, ok := conn.(*counted)
	if ok {
		conn = counted.Conn
	}
	if s.opts.Role == nil {
		return ctx
	}
	var caller Caller
	if ok {
		counted.look = func() Caller { return s.opts.Role(conn) }
		if s.opts.Origin != nil {
			counted.origin, counted.session = s.opts.Origin(conn)
		}
		if out := s.arriving.enter(counted, s.opts.Limits); out != nil {
			out.Close()
		}
		caller = counted.speaks
	} else if caller = s.opts.Role(conn); caller == nil {
		return ctx
	}
	return context.WithValue(context.WithValue(ctx, connKey{}, conn), callerKey{}, caller)
}

// Serve serves connections of the listener until [Server.Shutdown], and then
// returns nil.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(&counting{Listener: l, s: s})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown ends the server: watches end, requests under way are answered, and
// whoever is not done with ctx is cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.end()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	return err
}

// counting is a listener that keeps no more than so many connections: one
// more is closed at once.
type counting struct {
	net.Listener
	s *Server
}

func (l *counting) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.s.opts.Gone != nil && l.s.opts.Gone(conn) {
			conn.Close()
			continue
		}
		l.s.mu.Lock()
		full := l.s.conns >= l.s.opts.Limits.Conns
		if !full {
			l.s.conns++
		}
		l.s.mu.Unlock()
		if !full {
			return &counted{Conn: conn, s: l.s, gone: make(chan struct{})}, nil
		}
		conn.Close()
	}
}

// counted is a connection that has one of the few places.
type counted struct {
	net.Conn
	s *Server

	origin, session string
	look            func() Caller
	met             sync.Once
	caller          Caller        // once it is met
	gone            chan struct{} // closed with it

	restricted bool   // under s.mu
	part       string // of whom it is, then
	closed     bool   // under s.mu
}

// restrict counts the connection among those that have a part of the places
// only, and closes it when there is none.
func (c *counted) restrict(part string) {
	c.s.mu.Lock()
	full := false
	if !c.closed && !c.restricted {
		full = !c.s.ofAgents.take(part, c.s.opts.Limits)
		c.restricted, c.part = !full, part
	}
	c.s.mu.Unlock()
	if full {
		c.Close()
	}
}

func (c *counted) Close() error {
	c.s.mu.Lock()
	first := !c.closed
	if first {
		c.closed = true
		close(c.gone)
		c.s.conns--
		if c.restricted {
			c.s.ofAgents.free(c.part)
		}
	}
	c.s.mu.Unlock()
	if first {
		c.s.arriving.leave(c)
	}
	return c.Conn.Close()
}

// take takes one of few places, until free is called; false when there is none.
func take(places chan struct{}) (free func(), ok bool) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, true
	default:
		return nil, false
	}
}

func (s *Server) status(c *call) (wire.Status, error) {
	by := c.by
	st := wire.Status{Version: s.opts.Version, You: wire.You{Role: by.Role.String(), Name: by.Name}}
	if conn, ok := c.Value(connKey{}).(net.Conn); ok && s.opts.Why != nil {
		claim, p := claimOf(c.r)
		if p != nil {
			return wire.Status{}, p
		}
		st.You.Why = s.opts.Why(conn, claim)
	}
	if by.Role != plexus.Human {
		return st, nil
	}
	head, err := s.opts.Document.Head(c)
	presence := s.opts.Document.Presence("")
	switch {
	case errors.Is(err, plexus.ErrTampered): // that is what status is asked for
		presence[kernel.DocumentError] = kernel.Fault(err)
	case err != nil:
		return wire.Status{}, err
	}
	now := s.opts.Kernel.Status()
	st.Kernel = &wire.Kernel{
		PID: os.Getpid(), Started: s.started.UTC(), Document: s.opts.Path, Config: s.opts.Config, Policy: s.opts.Policy, Rev: wire.Rev(head.Rev),
		Sessions: now.Sessions, Unsettled: now.Unsettled, Asking: now.Asking,
		Judging: now.Judging, Queued: now.Queued, Slots: now.Slots,
		Watchers: len(s.watchers), Looking: s.looking.all(), Storage: storageOf(s.opts.Kernel.Used()), Presence: presence,
	}
	// A document that fails is what status is asked for: then it has no mode.
	if mode, err := s.opts.Kernel.DefaultPolicy(c); err == nil {
		st.Kernel.DefaultPolicy = mode.String()
	}
	if s.opts.Scanner != nil {
		scanner := s.opts.Scanner(c)
		st.Kernel.Scanner = &scanner
	}
	if s.opts.Servers != nil {
		for _, at := range s.opts.Servers(c, false) {
			st.Kernel.Servers = append(st.Kernel.Servers, wire.Server{Name: at.Name, Over: at.Over, State: at.State, Why: at.Why, Tools: len(at.Tools)})
		}
	}
	return st, nil
}
