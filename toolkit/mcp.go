package toolkit

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"assent/internal/offspring"
	"assent/job"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// MCPServer is how a server of tools is reached: by a program that is started
// and speaks over its standard input and output, or by an address.
type MCPServer struct {
	Command string
	Args    []string
	Env     []string // beside the variables every command gets
	URL     string   // streamable HTTP
	Header  http.Header
}

// Tool is what a server says of one of its tools. None of it is trusted: what a
// tool may do is told by its name (law §3).
type Tool struct {
	Name        string // mcp__SERVER__TOOL, as calls spell it
	Description string
	Schema      any
	// ReadOnly and Destructive are the server's hints, for people to read.
	ReadOnly    bool
	Destructive bool
}

// Server is what is known of a server of tools.
type Server struct {
	Name  string
	Over  string // stdio or http
	State ServerState
	// Why says what was wrong when it was last asked.
	Why   string
	Tools []Tool // by name
	// LeftOut says which of its tools are not used, and why.
	LeftOut []string
}

// ServerState says whether a server can be used.
type ServerState uint8

// The states. The zero value is one that nobody has asked yet.
const (
	Unasked ServerState = iota
	Ready
	Failed // the next call tries again
)

func (s ServerState) String() string {
	switch s {
	case Ready:
		return "ready"
	case Failed:
		return "failed"
	case Unasked:
	}
	return "unasked"
}

// How long a server may take.
const (
	connectLimit = 30 * time.Second
	closeLimit   = 2 * time.Second
)

// servers are the servers of tools that a person set up. One is started when
// it is first asked, and started anew when it went away.
type servers struct {
	byName map[string]*server
	ctx    context.Context // ends what is asked and started
	stop   context.CancelFunc
}

type server struct {
	name string
	MCPServer
	env      []string
	book     *offspring.Book
	patience time.Duration

	lock  chan struct{} // held while it is connected or looked at; nobody waits for it for ever
	conn  *connection   // under lock
	stale atomic.Bool   // its tools have changed

	mu    sync.Mutex
	known Server            // what [Kit.Servers] says
	tools map[string]*Tool  // by the server's own name
	odd   map[string]string // why one of its tools is not used
}

// connection is a server that is connected.
type connection struct {
	*mcp.ClientSession
	program *program // one of them is nil
	wires   *wires
	lost    sync.Once
	dead    atomic.Bool
	ending  sync.Once
}

// end ends the connection and its program, and waits for that.
func (c *connection) end() {
	c.ending.Do(func() {
		if c.program != nil {
			c.program.end() // first: closing the session waits for a server that reads nothing
			c.Close()
			<-c.program.over
			return
		}
		late := time.AfterFunc(closeLimit, c.wires.cut)
		c.Close()
		late.Stop()
		c.wires.end()
	})
}

// lose has the next call connect anew, and ends what is left of this connection.
func (s *server) lose(conn *connection, why error) {
	conn.lost.Do(func() {
		s.tell(Failed, why)
		conn.dead.Store(true)
		go conn.end() // the next connection waits for it, and so does the end of all
	})
}

var (
	errShutDown = errors.New("the host shuts down, or the servers were set up anew")
	errPatience = errors.New("it did not answer in time")
)

func newServers(all map[string]MCPServer, env []string, book *offspring.Book) *servers {
	s := &servers{byName: make(map[string]*server)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	for name, m := range all {
		at := &server{name: name, MCPServer: m, env: slices.Concat(env, m.Env), book: book, patience: connectLimit, lock: make(chan struct{}, 1)}
		at.known = Server{Name: name, Over: "stdio"}
		if m.URL != "" {
			at.known.Over = "http"
		}
		s.byName[name] = at
	}
	return s
}

// within is ctx, ended as soon as the servers are.
func (s *servers) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(errShutDown) })
	return ctx, func() { stop(); cancel(nil) }
}

// call is the body of every tool of a server. What a call of another's server
// did is not known, so it is not repeated.
func (s *servers) call(ctx context.Context, call job.Call) (job.Outcome, error) {
	if call.Resumed && call.Begun {
		return failed(errResumed)
	}
	at, tool, err := s.find(call.Name)
	if err != nil {
		return failed(err)
	}
	within, stop := s.within(ctx)
	defer stop()
	result, sent, err := at.ask(within, tool, call)
	switch {
	case err == nil:
	case ctx.Err() != nil && sent:
		return nil, &job.Cut{Cause: context.Cause(ctx), Note: "the server was told; whether it stopped is not known"}
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case within.Err() != nil && sent:
		return failed(fmt.Errorf("%s: it may have had its effect: %w", call.Name, context.Cause(within)))
	case within.Err() != nil:
		return failed(fmt.Errorf("%s: %w", call.Name, context.Cause(within)))
	default:
		return failed(errors.New(cutMiddle(valid(fmt.Sprintf("%s: %v", call.Name, err)), maxText)))
	}
	return job.JSON(struct {
		OK   bool   `json:"ok"`
		Text string `json:"text"`
	}{!result.IsError, cutMiddle(textOf(result), maxText)})
}

// find is the server and the tool that a name means. A name that could mean two
// servers means none.
func (s *servers) find(name string) (at *server, tool string, err error) {
	for _, n := range slices.Sorted(maps.Keys(s.byName)) {
		rest, ok := strings.CutPrefix(name, "mcp__"+n+"__")
		switch {
		case !ok || rest == "":
		case at != nil:
			return nil, "", fmt.Errorf("%s may be a tool of %s or of %s: rename one of the servers", name, at.name, n)
		default:
			at, tool = s.byName[n], rest
		}
	}
	if at == nil {
		return nil, "", fmt.Errorf("%s is a tool of no server that is set up", name)
	}
	return at, tool, nil
}

// notSent is the code by which the protocol's library says that an error is its own.
const notSent = -32005

// ask calls a tool, and says whether the server may know of it.
func (s *server) ask(ctx context.Context, tool string, call job.Call) (result *mcp.CallToolResult, sent bool, err error) {
	arguments := call.Arguments // as they were judged: a number stays what it is
	if len(arguments) == 0 {
		arguments = jsontext.Value("{}")
	}
	for again := true; ; again = false {
		conn, err := s.connected(ctx, tool)
		if err != nil {
			return nil, false, err
		}
		err = contained(func() (err error) {
			result, err = conn.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: stdjson.RawMessage(arguments)})
			return err
		})
		answer, ok := errors.AsType[*jsonrpc.Error](err)
		switch {
		case err == nil && result.NeedsInput():
			return nil, true, errors.New("the server asks for more input, which it does not get from here")
		case err == nil:
			return result, true, nil
		case ok && answer.Code != notSent:
			return nil, true, fmt.Errorf("the server refused: %s (%d)", answer.Message, answer.Code)
		case ctx.Err() != nil:
			return nil, true, err
		}
		s.lose(conn, err)
		conn.end()
		if !again || !errors.Is(err, mcp.ErrSessionMissing) { // with that it has not looked at the call
			return nil, true, fmt.Errorf("no answer came that could be used, so it may have had its effect and is not asked again: %w%s", err, conn.said())
		}
	}
}

// contained keeps an answer that the protocol's library does not survive from ending
// the host.
func contained(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the server's answer cannot be read: %v", p)
		}
	}()
	return f()
}

// connected is the connection to the server, made where there is none. Its tools are
// looked at where they have changed, and where the one that is wanted is not known;
// "" looks at them anyway. A tool that is not to be used is an error.
func (s *server) connected(ctx context.Context, tool string) (*connection, error) {
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.lock }()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if s.conn != nil && s.conn.dead.Load() {
		s.conn.end()
		s.conn = nil
	}
	if s.conn == nil {
		conn, err := s.connect(ctx)
		if err != nil {
			s.tell(Failed, err)
			return nil, err
		}
		s.conn = conn
	}
	there, odd := s.has(tool)
	if s.stale.Swap(false) || tool == "" || !there && odd == "" {
		if err := s.look(ctx); err != nil {
			s.stale.Store(true)
			s.lose(s.conn, err)
			return nil, err
		}
		there, odd = s.has(tool)
	}
	switch {
	case tool == "":
	case odd != "":
		return nil, fmt.Errorf("this tool is not used: %s", odd)
	case !there:
		return nil, errors.New("the server has no such tool")
	}
	return s.conn, nil
}

// has says what is known of a tool.
func (s *server) has(tool string) (there bool, odd string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools[tool] != nil, s.odd[tool]
}

// tell keeps what is known of the server. What it listed is known no more when it
// failed.
func (s *server) tell(state ServerState, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.State, s.known.Why = state, ""
	if why != nil {
		s.known.Why = cutMiddle(valid(why.Error()), 2000)
		s.tools, s.odd = nil, nil
	}
	s.known.Tools, s.known.LeftOut = nil, nil
	for _, name := range slices.Sorted(maps.Keys(s.tools)) {
		s.known.Tools = append(s.known.Tools, *s.tools[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.odd)) {
		s.known.LeftOut = append(s.known.LeftOut, fmt.Sprintf("%q: %s", cutMiddle(name, maxToolName), s.odd[name]))
	}
}

func (s *server) connect(ctx context.Context) (conn *connection, err error) {
	ctx, stop := context.WithTimeoutCause(ctx, s.patience, errPatience)
	defer stop()
	client := mcp.NewClient(&mcp.Implementation{Name: "assent", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, // it gets no answers of ours: no roots, no models, no questions
	})
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, r)
			if method == toolsChanged {
				s.stale.Store(true)
			}
			return result, err
		}
	})
	s.stale.Store(true)
	conn = &connection{}
	var over mcp.Transport
	if s.URL != "" {
		conn.wires = newWires(s.Header)
		// Nothing is waited for beside the calls: a tool that is not known is looked for.
		over = &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: conn.wires.client(), MaxEventSize: maxMessage, DisableStandaloneSSE: true}
	} else if conn.program, err = start(s.MCPServer, s.env, s.book, &s.stale); err == nil {
		over = conn.program
	}
	if err == nil {
		err = contained(func() (err error) {
			conn.ClientSession, err = client.Connect(ctx, over, nil)
			return err
		})
	}
	if err == nil {
		go func() { // ends with the session
			err := conn.Wait()
			if err == nil {
				err = errors.New("the server ended")
			}
			s.lose(conn, fmt.Errorf("%w%s", err, conn.said()))
		}()
		return conn, nil
	}
	said := ""
	switch {
	case conn.program != nil:
		conn.program.Close()
		<-conn.program.over // for what it wrote
		said = conn.said()
	case conn.wires != nil:
		conn.wires.end()
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return nil, fmt.Errorf("the server %s cannot be used: %w%s", s.name, err, said)
}

// look asks for the tools of the server that is connected. Where that fails, none is
// known.
func (s *server) look(ctx context.Context) error {
	ctx, stop := context.WithTimeoutCause(ctx, s.patience, errPatience)
	defer stop()
	var tools map[string]*Tool
	var odd map[string]string
	err := contained(func() (err error) {
		tools, odd, err = listed(ctx, s.conn.ClientSession, "mcp__"+s.name+"__")
		return err
	})
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("the tools of the server %s: %w%s", s.name, err, s.conn.said())
	}
	s.mu.Lock()
	s.tools, s.odd = tools, odd
	s.mu.Unlock()
	s.tell(Ready, nil)
	return nil
}

// listed are the tools that a server lists, and those that are not used, by its own
// names.
func listed(ctx context.Context, session *mcp.ClientSession, prefix string) (tools map[string]*Tool, odd map[string]string, err error) {
	tools, odd = make(map[string]*Tool), make(map[string]string)
	n, size, cursor := 0, 0, ""
	for page := 1; ; page++ {
		some, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, nil, err
		}
		for _, t := range some.Tools {
			schema, err := stdjson.Marshal(t.InputSchema)
			if err != nil {
				return nil, nil, err
			}
			n++
			size += len(t.Name) + len(t.Description) + len(schema)
			switch {
			case n > maxTools:
				return nil, nil, fmt.Errorf("it lists more than %d", maxTools)
			case size > maxListed:
				return nil, nil, errors.New("it says more than 8 MiB about them")
			case tools[t.Name] != nil || odd[t.Name] != "":
				delete(tools, t.Name)
				odd[t.Name] = "two tools have this name"
			case !toolName(t.Name):
				odd[t.Name] = "its name has something else than letters, digits and _ - . /, or more than 128 of them"
			case len(schema) > maxSchema:
				odd[t.Name] = "its schema has more than 256 KiB"
			case len(t.Description) > maxDescription:
				odd[t.Name] = "its description has more than 16 KiB"
			default:
				tool := &Tool{Name: prefix + t.Name, Description: t.Description, Schema: t.InputSchema}
				if h := t.Annotations; h != nil {
					tool.ReadOnly, tool.Destructive = h.ReadOnlyHint, h.DestructiveHint == nil || *h.DestructiveHint
				}
				tools[t.Name] = tool
			}
		}
		cursor = some.NextCursor
		switch {
		case cursor == "":
			return tools, odd, nil
		case page == maxPages:
			return nil, nil, fmt.Errorf("its list has more than %d pages", maxPages)
		}
	}
}

// said is the end of what the server's program wrote beside, for an error.
func (c *connection) said() string {
	if c.program == nil {
		return ""
	}
	if text := strings.TrimSpace(c.program.log.last(500)); text != "" {
		return "; it wrote: " + text
	}
	return ""
}

// ask has every server asked for its tools.
func (s *servers) ask(ctx context.Context) {
	ctx, stop := s.within(ctx)
	defer stop()
	var all sync.WaitGroup
	for _, at := range s.byName {
		all.Go(func() {
			_, _ = at.connected(ctx, "") // what is wrong is kept
		})
	}
	all.Wait()
}

// list is what is known of the servers, by name.
func (s *servers) list() (all []Server) {
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		at := s.byName[name]
		at.mu.Lock()
		known := at.known
		known.LeftOut = slices.Clone(known.LeftOut)
		known.Tools = slices.Clone(known.Tools)
		at.mu.Unlock()
		// A name that two servers give is a tool of neither.
		known.Tools = slices.DeleteFunc(known.Tools, func(t Tool) bool {
			_, _, err := s.find(t.Name)
			if err != nil {
				known.LeftOut = append(known.LeftOut, err.Error())
			}
			return err != nil
		})
		all = append(all, known)
	}
	return all
}

// close ends all that is asked, and all servers, and waits for that.
func (s *servers) close() {
	s.stop()
	var all sync.WaitGroup
	for _, at := range s.byName {
		all.Go(func() {
			at.lock <- struct{}{}
			defer func() { <-at.lock }()
			if at.conn != nil {
				at.conn.end()
				at.conn = nil
			}
		})
	}
	all.Wait()
}

// textOf is what a tool answered, as text.
func textOf(result *mcp.CallToolResult) string {
	var parts []string
	for _, c := range result.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.ImageContent:
			parts = append(parts, fmt.Sprintf("[an image, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *mcp.AudioContent:
			parts = append(parts, fmt.Sprintf("[audio, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *mcp.ResourceLink:
			parts = append(parts, fmt.Sprintf("[a resource: %s]", c.URI))
		case *mcp.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				parts = append(parts, c.Resource.Text)
			} else if c.Resource != nil {
				parts = append(parts, fmt.Sprintf("[a resource: %s, %d bytes]", c.Resource.URI, len(c.Resource.Blob)))
			}
		default:
			parts = append(parts, "[something that is no text]")
		}
	}
	if len(parts) == 0 && result.StructuredContent != nil {
		if text, err := json.Marshal(result.StructuredContent); err == nil {
			parts = append(parts, string(text))
		}
	}
	return valid(strings.Join(parts, "\n"))
}
