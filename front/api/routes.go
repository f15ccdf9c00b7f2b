package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/wire"
	"assent/internal/oneline"
	"assent/job"
	"assent/plexus"
)

// route is one thing that may be asked.
type route struct {
	method, path string
	// agents says that an agent may ask it too; what it gets to see is its own.
	agents bool
	query  []string
	// body is how many bytes the body may have, 0 for a route without one.
	body int64
	do   func(*Server, *call) error
	// status is that of an answer that went well, 200 when 0.
	status int
	// stream says that the handler writes its answer itself, as it comes.
	stream bool
}

// The sizes of bodies: a call may have arguments and facts of
// [job.MaxArguments] each, written with escapes; an outcome is bounded by the
// kernel.
const (
	maxSmall   = 256 << 10
	maxCall    = 6 * job.MaxArguments
	maxOutcome = 17 << 20
)

const (
	ofSession = "/v1/sessions/{session}"
	ofJob     = ofSession + "/jobs/{job}"
)

// routes are all that may be asked. openapi.yaml says the same for others.
var routes = []route{
	{method: "GET", path: "/v1/status", agents: true, do: getStatus},
	{method: "GET", path: "/v1/openapi.yaml", agents: true, do: getOpenAPI, stream: true},

	{method: "GET", path: "/v1/sessions", query: []string{"before", "begins", "limit", "open"}, do: getSessions},
	{method: "POST", path: "/v1/sessions", agents: true, body: maxCall, do: postSession, status: http.StatusCreated},
	{method: "GET", path: ofSession, query: []string{"after", "limit"}, do: getSession},
	{method: "PUT", path: ofSession + "/mode", body: maxSmall, do: putMode},
	{method: "PUT", path: ofSession + "/agent", body: maxSmall, do: putAgent},
	{method: "POST", path: ofSession + "/cancel", do: postCancelSession, status: http.StatusAccepted},
	{method: "POST", path: ofSession + "/writes", body: maxCall, do: postWrites},
	{method: "GET", path: ofSession + "/queue", query: []string{"after", "limit", "skip", "under"}, do: getQueue},
	{method: "GET", path: ofSession + "/registers", query: []string{"after", "limit"}, do: getRegisters},
	{method: "PUT", path: ofSession + "/registers/{name...}", query: []string{"seen"}, body: maxCall, do: putRegister},
	{method: "GET", path: ofSession + "/presence", do: getPresence},
	{method: "GET", path: ofSession + "/watch", query: []string{"after"}, do: watch, stream: true},

	{method: "POST", path: ofSession + "/jobs", agents: true, body: maxCall, do: postJob, status: http.StatusCreated},
	{method: "POST", path: ofSession + "/same", agents: true, body: maxCall, do: postSame},
	{method: "POST", path: ofSession + "/hold", agents: true, body: maxCall, do: postHold},
	{method: "POST", path: ofSession + "/ran", agents: true, body: maxCall, do: postRan},
	{method: "GET", path: ofJob, do: getJob},
	{method: "GET", path: ofJob + "/receipt", agents: true, query: []string{"wait"}, do: getReceipt},
	{method: "POST", path: ofJob + "/cancel", agents: true, do: postCancel},
	{method: "POST", path: ofJob + "/begin", agents: true, do: postBegin},
	{method: "POST", path: ofJob + "/leave", agents: true, do: postLeave},
	{method: "POST", path: ofJob + "/heard", agents: true, do: postHeard},
	{method: "POST", path: ofJob + "/report", agents: true, body: maxOutcome, do: postReport},
	{method: "PUT", path: ofJob + "/{name}", body: maxSmall, do: putField},

	{method: "GET", path: "/v1/queue", query: []string{"after", "limit", "skip"}, do: getQueue},
	{method: "GET", path: "/v1/calls", query: []string{"session", "since", "until", "result", "tool", "before", "limit"}, do: getCalls},
	{method: "GET", path: "/v1/grants", query: []string{"session"}, do: getGrants},
	{method: "GET", path: "/v1/rows", query: []string{"after", "session", "limit"}, do: getRows},
	{method: "POST", path: "/v1/verify", body: maxSmall, do: postVerify},
	{method: "GET", path: "/v1/registers", query: []string{"after", "limit"}, do: getRegisters},
	{method: "PUT", path: "/v1/registers/{name}", query: []string{"seen"}, body: maxSmall, do: putRegister},
	{method: "GET", path: "/v1/tokens", do: getTokens},
	{method: "POST", path: "/v1/tokens", body: maxSmall, do: postToken, status: http.StatusCreated},
	{method: "DELETE", path: "/v1/tokens/{name}", do: deleteToken},
	{method: "GET", path: "/v1/tools", do: getTools},
	{method: "POST", path: "/v1/tools", do: postTools},
	{method: "GET", path: "/v1/presence", do: getPresence},
	{method: "GET", path: "/v1/watch", query: []string{"after"}, do: watch, stream: true},
	{method: "POST", path: "/v1/watches/{watch}", do: postWatch},
}

// call is a request that was found fit to be done.
type call struct {
	context.Context
	w     http.ResponseWriter
	r     *http.Request
	by    plexus.Writer
	query url.Values
	route *route
	s     *Server
	free  func() // ends the turn of the request, nil without one
	// answer is what goes back as JSON.
	answer any
}

// in reads the body. Who sends it is asked again then: it may have taken its
// time, and somebody may have become known for an agent meanwhile.
func (c *call) in(v any) error {
	if length := c.r.ContentLength; length > large || length < 0 && c.route.body > large {
		if err := c.turn(); err != nil {
			return err
		}
	}
	if p := readJSON(c.r.Body, c.r.ContentLength, v); p != nil {
		return p
	}
	if err := c.still(); err != nil {
		return err
	}
	return c.untimed()
}

// still reports whether the connection speaks for whom it did.
func (c *call) still() error {
	by, p := callerOf(c.r)
	if p == nil && by != c.by {
		p = problem(wire.Role, "the role of this connection has changed")
	}
	if p != nil {
		return p
	}
	return nil
}

// raw reads the body as one JSON value of any form.
func (c *call) raw() (jsontext.Value, error) {
	var v jsontext.Value
	return v, c.in(&v)
}

// untimed ends the time in which the request had to come: what it asks may
// take longer.
func (c *call) untimed() error {
	return http.NewResponseController(c.w).SetReadDeadline(time.Time{})
}

func (c *call) session() string { return c.r.PathValue("session") }
func (c *call) job() string     { return c.r.PathValue("job") }

// routes are the paths, each with its methods.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	byPath := make(map[string]map[string]*route)
	for i := range routes {
		r := &routes[i]
		if byPath[r.path] == nil {
			byPath[r.path] = make(map[string]*route)
		}
		byPath[r.path][r.method] = r
	}
	for path, methods := range byPath {
		allowed := make([]string, 0, len(methods))
		for method := range methods {
			allowed = append(allowed, method)
		}
		slices.Sort(allowed)
		mux.HandleFunc(path, func(w http.ResponseWriter, req *http.Request) {
			by := req.Context().Value(writerKey{}).(plexus.Writer)
			r := methods[req.Method]
			if r == nil {
				w.Header().Set("Allow", strings.Join(allowed, ", "))
				s.fail(w, req, problem(wire.Method, "%s is not for %s", cut(req.Method), path), by)
				return
			}
			s.serve(w, req, r, by)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		by := req.Context().Value(writerKey{}).(plexus.Writer)
		s.fail(w, req, problem(wire.NotFound, "there is no such path"), by)
	})
	return mux
}

type writerKey struct{}

// ServeHTTP answers a request. What refuses is asked first, from who calls to
// what is asked.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	by, p := callerOf(r)
	if p == nil {
		p = s.fit(r)
	}
	if p != nil {
		// Nothing more is read from whoever sent this.
		h.Set("Connection", "close")
		s.fail(w, r, p, by)
		return
	}
	if by.Role == plexus.Agent {
		s.mu.Lock()
		ok := s.asking.take(by.Name, s.opts.Limits)
		s.mu.Unlock()
		if !ok {
			s.fail(w, r, problem(wire.TooMany, "agents have all the requests under way that they may: %d in all, %d each", s.opts.Limits.Agents, s.opts.Limits.Each), by)
			return
		}
		defer func() {
			s.mu.Lock()
			s.asking.free(by.Name)
			s.mu.Unlock()
		}()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ending, cancel)()
	s.mux.ServeHTTP(w, r.WithContext(context.WithValue(ctx, writerKey{}, by)))
}

// claimOf is what a request says of who sends it.
func claimOf(r *http.Request) (Claim, *wire.Problem) {
	for _, name := range single {
		if len(r.Header.Values(name)) > 1 {
			return Claim{}, problem(wire.BadRequest, "%s comes twice", name)
		}
	}
	token, p := bearer(r)
	if p != nil {
		return Claim{}, p
	}
	claim := Claim{Token: token}
	switch r.Header.Get(wire.RoleHeader) {
	case "":
	case plexus.Agent.String():
		claim.Agent = true
	default:
		return Claim{}, problem(wire.BadRequest, "%s: nothing can be claimed but %v", wire.RoleHeader, plexus.Agent)
	}
	return claim, nil
}

// callerOf is for whom a request speaks.
func callerOf(r *http.Request) (plexus.Writer, *wire.Problem) {
	refused := problem(wire.Role, "this connection has no role")
	caller, ok := r.Context().Value(callerKey{}).(Caller)
	if !ok {
		return plexus.Writer{}, refused
	}
	claim, p := claimOf(r)
	if p != nil {
		return plexus.Writer{}, p
	}
	by, err := caller(claim)
	if err != nil {
		return plexus.Writer{}, problem(wire.Role, "%v", err)
	}
	if claim.Agent && by.Role == plexus.Human {
		return plexus.Writer{}, refused
	}
	if by.Name == "" || by.Role != plexus.Human && by.Role != plexus.Agent {
		return plexus.Writer{}, refused
	}
	return by, nil
}

// fit refuses requests of a form that nobody here sends.
func (s *Server) fit(r *http.Request) *wire.Problem {
	if why := fromBrowser(r); why != "" {
		return problem(wire.Browser, "the request has %s: it is not from a client of this socket", why)
	}
	if !plainPath(r.URL) {
		return problem(wire.NotFound, "there is no such path")
	}
	if r.Header.Get("Content-Encoding") != "" {
		return problem(wire.MediaType, "a body is not encoded")
	}
	return nil
}

// serve does what a route does.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, route *route, by plexus.Writer) {
	if by.Role != plexus.Human && !route.agents {
		s.fail(w, r, problem(wire.Role, "this is a person's to ask, and this connection is an agent's"), by)
		return
	}
	values, p := query(r.URL, route.query)
	switch {
	case p != nil:
	case route.body > 0 && !isJSON(r):
		p = problem(wire.MediaType, "the body is not %s", wire.JSON)
	case route.body == 0 && r.ContentLength != 0:
		p = problem(wire.BadRequest, "there is no body to this")
	case r.ContentLength > route.body:
		p = problem(wire.TooLarge, "the body has more than %d bytes", route.body)
	}
	if p != nil {
		w.Header().Set("Connection", "close") // the body is not read
		s.fail(w, r, p, by)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, route.body)
	c := &call{Context: r.Context(), w: w, r: r, by: by, query: values, route: route, s: s}
	defer c.done()
	if route.body == 0 {
		if err := c.untimed(); err != nil {
			s.fail(w, r, err, by)
			return
		}
	}
	if err := route.do(s, c); err != nil {
		s.fail(w, r, err, by)
		return
	}
	if !route.stream {
		s.answer(c)
	}
}

// answer writes what a call came to.
func (s *Server) answer(c *call) {
	status := c.route.status
	if status == 0 {
		status = http.StatusOK
	}
	body, err := json.Marshal(c.answer, json.Deterministic(true), json.FormatNilSliceAsNull(false))
	if err != nil {
		s.fail(c.w, c.r, err, c.by)
		return
	}
	s.write(c.w, status, wire.JSON, body)
}

// fail writes a problem.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error, by plexus.Writer) {
	p := problemOf(err, by)
	if p.Code == wire.Internal {
		s.opts.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte(`{"type":"about:blank","title":"Internal Server Error","status":500,"code":"internal","detail":""}`)
	}
	s.write(w, p.Status, wire.ProblemJSON, body)
}

func (s *Server) write(w http.ResponseWriter, status int, kind string, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.opts.Limits.Write)) // a pipe of a test has none
	body = append(oneline.JSON(body), '\n')
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body))) // in one piece, for the simplest of clients
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever asked is gone
}
