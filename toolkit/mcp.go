package toolkit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"assent/job"

	"github.com/go-json-experiment/json"
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

// How long a server may take.
const (
	connectLimit = 30 * time.Second
	closeLimit   = 2 * time.Second
)

// servers are the servers of tools that a person set up. One is started when
// it is first asked, and started anew when it went away.
type servers struct {
	byName map[string]*server
	ctx    context.Context // ends the programs
	stop   context.CancelFunc
}

type server struct {
	name string
	MCPServer
	env  []string
	lock chan struct{} // held while it is connected; nobody waits for it for ever

	session *mcp.ClientSession
	tools   map[string]*Tool // by the server's own name
	twice   map[string]bool  // names that two of its tools have, or that cannot be read
	log     *output          // what its program writes beside
	stale   atomic.Bool      // its tools have changed
}

func newServers(all map[string]MCPServer, env []string) *servers {
	s := &servers{byName: make(map[string]*server)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	for name, m := range all {
		s.byName[name] = &server{name: name, MCPServer: m, env: slices.Concat(env, m.Env), lock: make(chan struct{}, 1)}
	}
	return s
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
	result, err := at.ask(ctx, s.ctx, tool, call)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return failed(fmt.Errorf("%s: %w", call.Name, err))
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

// ask calls a tool.
func (s *server) ask(ctx, life context.Context, tool string, call job.Call) (*mcp.CallToolResult, error) {
	session, err := s.connected(ctx, life, func() error {
		switch {
		case s.twice[tool]:
			return errors.New("the server has two tools of this name, or nobody can read it")
		case s.tools[tool] == nil:
			return errors.New("the server has no such tool")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var arguments map[string]any
	if err := call.Decode(&arguments); err != nil {
		return nil, err
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	switch {
	case err != nil:
		if ctx.Err() == nil && session.Ping(ctx, nil) != nil {
			s.drop(session)
		}
		return nil, err
	case result.NeedsInput():
		return nil, errors.New("the server asks for more input, which it does not get from here")
	}
	return result, nil
}

// connected is the connection to the server, made where there is none, and has
// check called while its tools do not change.
func (s *server) connected(ctx, life context.Context, check func() error) (*mcp.ClientSession, error) {
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.lock }()
	if life.Err() != nil {
		return nil, errors.New("the host shuts down")
	}
	if s.session == nil {
		if err := s.connect(ctx, life); err != nil {
			return nil, err
		}
	}
	if s.stale.Swap(false) {
		if err := s.look(ctx); err != nil {
			s.stale.Store(true)
			return nil, err
		}
	}
	return s.session, check()
}

func (s *server) connect(ctx, life context.Context) (err error) {
	within, stop := context.WithTimeout(ctx, connectLimit)
	defer stop()
	defer func() {
		if err != nil {
			err = fmt.Errorf("the server %s cannot be used: %w%s", s.name, err, s.said())
		}
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "assent", Version: "1"}, &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{}, // it gets no answers of ours: no roots, no models, no questions
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { s.stale.Store(true) },
	})
	s.stale.Store(true)
	s.session, err = client.Connect(within, s.transport(life), nil)
	return err
}

// look asks for the tools of the server that is connected.
func (s *server) look(ctx context.Context) error {
	within, stop := context.WithTimeout(ctx, connectLimit)
	defer stop()
	s.tools, s.twice = make(map[string]*Tool), make(map[string]bool)
	for t, err := range s.session.Tools(within, nil) {
		if err != nil {
			return fmt.Errorf("the tools of the server %s: %w%s", s.name, err, s.said())
		}
		if s.tools[t.Name] != nil || s.twice[t.Name] || !plainName(t.Name) {
			delete(s.tools, t.Name)
			s.twice[t.Name] = true
			continue
		}
		tool := &Tool{Name: "mcp__" + s.name + "__" + t.Name, Description: t.Description, Schema: t.InputSchema}
		if h := t.Annotations; h != nil {
			tool.ReadOnly, tool.Destructive = h.ReadOnlyHint, h.DestructiveHint == nil || *h.DestructiveHint
		}
		s.tools[t.Name] = tool
	}
	return nil
}

// plainName reports whether people can read a tool's name as it is.
func plainName(name string) bool {
	return name != "" && len(name) <= 256 && strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }) < 0
}

func (s *server) transport(life context.Context) mcp.Transport {
	if s.URL != "" {
		return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: headers{s.Header}}}
	}
	s.log = newOutput(nil)
	cmd := exec.CommandContext(life, s.Command, s.Args...)
	cmd.Env, cmd.Stderr, cmd.WaitDelay = s.env, s.log, closeLimit
	return &mcp.CommandTransport{Command: cmd, TerminateDuration: closeLimit}
}

// said is the end of what the server's program wrote beside, for an error.
func (s *server) said() string {
	if s.log == nil {
		return ""
	}
	if text := strings.TrimSpace(s.log.last(500)); text != "" {
		return "; it wrote: " + text
	}
	return ""
}

// drop forgets a connection.
func (s *server) drop(session *mcp.ClientSession) {
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	if s.session == session {
		s.session = nil
	}
	session.Close()
}

// list are the tools of all servers that can be reached, by name, and what is
// wrong with the others.
func (s *servers) list(ctx context.Context) (tools []Tool, problems []error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, at := range s.byName {
		all.Go(func() {
			_, err := at.connected(ctx, s.ctx, func() error {
				mu.Lock()
				defer mu.Unlock()
				for _, t := range at.tools {
					tools = append(tools, *t)
				}
				for name := range at.twice {
					problems = append(problems, fmt.Errorf("the server %s has two tools %q, or nobody can read that name: it is left out", at.name, name))
				}
				return nil
			})
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				problems = append(problems, err)
			}
		})
	}
	all.Wait()
	slices.SortFunc(tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	// A name that two servers give is a tool of neither.
	for i := 0; i < len(tools); i++ {
		if _, _, err := s.find(tools[i].Name); err != nil {
			problems = append(problems, err)
			tools = slices.Delete(tools, i, i+1)
			i--
		}
	}
	return tools, problems
}

func (s *servers) close() {
	for _, at := range s.byName {
		at.lock <- struct{}{}
		if at.session != nil {
			at.session.Close()
			at.session = nil
		}
		<-at.lock
	}
	s.stop()
}

// headers adds what the person set up to every request.
type headers struct{ http.Header }

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range h.Header {
		r.Header[name] = values
	}
	return http.DefaultTransport.RoundTrip(r)
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
