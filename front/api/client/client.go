// Package client speaks to the daemon over its socket (see package api): it
// reads the document, watches it, and writes what a person or an agent may
// write.
//
// What went wrong there comes back as a [*wire.Problem], and errors.Is tells
// its kind: errors.Is(err, wire.Written). Without a daemon it is [ErrNoDaemon],
// unless [Options.Start] gets one to run.
//
// Start reading at [New].
package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/wire"
)

var (
	// ErrNoDaemon: nobody listens on the socket.
	ErrNoDaemon = errors.New("the kernel is not running")
	// ErrForeign: what listens there is not the daemon, or another version.
	ErrForeign = errors.New("what answers on the socket is not this kernel")
)

// Options of a client. The zero value is fine.
type Options struct {
	// Token is a paired one, presented with every request.
	Token string
	// Agent says that whoever asks is an agent, or asks for one: its calls are
	// an agent's also where its process looks like a person's.
	Agent bool
	// Start gets a daemon to run; it is called once, when there is none, and
	// returns when the daemon answers.
	Start func(context.Context) error
	// Verify looks at a connection before anything is sent, such as for who
	// listens there.
	Verify func(net.Conn) error
}

// Client is a client of one daemon. Its methods may be called at once.
type Client struct {
	socket string
	opts   Options
	http   *http.Client

	start sync.Mutex
	tried bool // Start was called
}

// New is a client of the daemon on a socket. It connects when it is used.
func New(socket string, opts Options) *Client {
	c := &Client{socket: socket, opts: opts}
	c.http = &http.Client{
		Transport: &http.Transport{
			DialContext:            c.dial,
			DisableCompression:     true,
			MaxResponseHeaderBytes: 64 << 10,
			IdleConnTimeout:        30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// Close lets go of connections that nothing uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func (c *Client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := c.connect(ctx)
	if errors.Is(err, ErrNoDaemon) && c.opts.Start != nil {
		if err := c.startOnce(ctx); err != nil {
			return nil, err
		}
		conn, err = c.connect(ctx)
	}
	return conn, err
}

func (c *Client) startOnce(ctx context.Context) error {
	c.start.Lock()
	defer c.start.Unlock()
	if c.tried {
		return nil
	}
	if err := c.opts.Start(ctx); err != nil {
		return fmt.Errorf("starting the kernel: %w", err)
	}
	c.tried = true
	return nil
}

func (c *Client) connect(ctx context.Context) (net.Conn, error) {
	conn, err := c.reach(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("%w (%s)", ErrNoDaemon, c.socket)
	case err != nil:
		return nil, fmt.Errorf("connecting to the kernel: %w", err)
	}
	if c.opts.Verify != nil {
		if err := c.opts.Verify(conn); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return conn, nil
}

// crowded is how long a connection is tried for that finds no place in the
// socket's queue, because too many others wait there.
const crowded = 5 * time.Second

// reach connects to the socket, again for a moment where its queue is full.
func (c *Client) reach(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	deadline := time.Now().Add(crowded)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		conn, err := d.DialContext(ctx, "unix", c.socket)
		if !errors.Is(err, syscall.EAGAIN) || time.Now().After(deadline) {
			return conn, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// path joins escaped segments. A segment of dots alone would be taken for a
// folder.
func path(segments ...string) string {
	var b strings.Builder
	b.WriteString("/" + wire.Version)
	for _, s := range segments {
		b.WriteByte('/')
		if strings.Trim(s, ".") == "" {
			b.WriteString(strings.ReplaceAll(s, ".", "%2E"))
			continue
		}
		b.WriteString(url.PathEscape(s))
	}
	return b.String()
}

// query writes parameters; empty values are left out.
func query(pairs ...string) string {
	values := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// maxAnswer bounds what is read of one answer.
const maxAnswer = 1 << 30

// send asks and gives the answer, which went well.
func (c *Client) send(ctx context.Context, method, path string, body any, header http.Header) (*http.Response, error) {
	var in io.Reader
	if body != nil {
		text, ok := body.(jsontext.Value)
		if !ok {
			var err error
			if text, err = json.Marshal(body); err != nil {
				return nil, unwritable("request", err)
			}
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+wire.Host+path, in)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", wire.JSON)
	}
	if c.opts.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}
	if c.opts.Agent {
		req.Header.Set(wire.RoleHeader, "agent")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // the address says nothing
		}
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	p := new(wire.Problem)
	if err := json.Unmarshal(text, p); err != nil || p.Status != resp.StatusCode {
		return nil, fmt.Errorf("%w: it says %s", ErrForeign, resp.Status)
	}
	return nil, p
}

// unwritable says why something is no JSON that can be sent.
func unwritable(what string, err error) error {
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok && strings.Contains(s.Error(), "UTF-8") {
		return fmt.Errorf("the %s holds bytes that are no UTF-8 (at %s)", what, cmp.Or(string(s.JSONPointer), "its beginning"))
	}
	return fmt.Errorf("writing the %s: %w", what, err)
}

// ask asks and reads the answer into out. Members that are unknown are of a
// later daemon and are passed over.
func (c *Client) ask(ctx context.Context, method, path string, body, out any) error {
	resp, err := c.send(ctx, method, path, body, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.UnmarshalRead(io.LimitReader(resp.Body, maxAnswer), out); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return nil
}

// Status tells what the kernel is doing.
func (c *Client) Status(ctx context.Context) (out wire.Status, err error) {
	return out, c.ask(ctx, http.MethodGet, path("status"), nil, &out)
}

// Tools tells of the servers of MCP tools; with ask it has all asked which they
// have, and started for that.
func (c *Client) Tools(ctx context.Context, ask bool) (out wire.Servers, err error) {
	method := http.MethodGet
	if ask {
		method = http.MethodPost
	}
	return out, c.ask(ctx, method, path("tools"), nil, &out)
}

// Pair pairs a token for a client of that name. What it gives is told this once.
func (c *Client) Pair(ctx context.Context, name string) (out wire.NewToken, err error) {
	return out, c.ask(ctx, http.MethodPost, path("tokens"), wire.Pair{Name: name}, &out)
}

// Tokens are the paired tokens that hold.
func (c *Client) Tokens(ctx context.Context) (out wire.Tokens, err error) {
	return out, c.ask(ctx, http.MethodGet, path("tokens"), nil, &out)
}

// Revoke takes a token back.
func (c *Client) Revoke(ctx context.Context, name string) (out wire.Wrote, err error) {
	return out, c.ask(ctx, http.MethodDelete, path("tokens", name), nil, &out)
}

// SessionFilter says which sessions are wanted. The zero value wants all.
type SessionFilter struct {
	Begins string   // with an id that begins so
	Open   bool     // that have something unsettled
	Limit  int      // 0 for the server's default
	Before wire.Rev // made before that one, 0 for all
}

// Sessions are sessions, the newest first. They come in as many answers as they
// need.
func (c *Client) Sessions(ctx context.Context, f SessionFilter) (out wire.Sessions, err error) {
	open := ""
	if f.Open {
		open = "true"
	}
	want := f.Limit
	if want == 0 {
		want = sessionsDefault
	}
	for {
		var page wire.Sessions
		q := query("before", count(int(f.Before)), "begins", f.Begins, "limit", count(min(want-len(out.Sessions), sessionsMost)), "open", open)
		if err := c.ask(ctx, http.MethodGet, path("sessions")+q, nil, &page); err != nil {
			return out, err
		}
		if out.Sessions == nil {
			out = page
		} else {
			out.Sessions, out.More = append(out.Sessions, page.Sessions...), page.More
		}
		if !page.More || len(page.Sessions) == 0 || len(out.Sessions) >= want {
			return out, nil
		}
		f.Before = page.Sessions[len(page.Sessions)-1].Rev
	}
}

// sessionsMost is how many sessions one answer has at most.
const sessionsMost = 10_000

// sessionsDefault is how many sessions a list has where nobody says.
const sessionsDefault = 100

// Summary is the session of an id, as a list has it but for how many of its calls
// are not settled.
func (c *Client) Summary(ctx context.Context, session string) (wire.Summary, error) {
	doc, err := c.SessionPage(ctx, session, 0, 1)
	if err != nil {
		return wire.Summary{}, err
	}
	return wire.Summary{Session: doc.Session, Stamp: doc.Stamp, CurrentPolicy: doc.View.CurrentPolicy, Asking: doc.Waiting}, nil
}

// CreateSession makes a session.
func (c *Client) CreateSession(ctx context.Context, s wire.NewSession) (out wire.Session, err error) {
	return out, c.ask(ctx, http.MethodPost, path("sessions"), s, &out)
}

// Session is a session with all its jobs. They come in as many answers as they need;
// the rev is that of the first, so that a watch from there on misses nothing.
func (c *Client) Session(ctx context.Context, session string) (out wire.Document, err error) {
	out, err = c.SessionPage(ctx, session, 0, 0)
	for more := out.More; err == nil && more && len(out.Jobs) > 0; {
		var page wire.Document
		page, err = c.SessionPage(ctx, session, out.Jobs[len(out.Jobs)-1].Stamp.Rev, 0)
		out.Jobs = append(out.Jobs, page.Jobs...)
		more = page.More && len(page.Jobs) > 0
		out.More = more
	}
	return out, err
}

// SessionPage is a session with so many of its jobs, after the job of that number, or
// with fewer where they are too much for one answer. 0 and 0 are as many as go into
// the first.
func (c *Client) SessionPage(ctx context.Context, session string, after wire.Rev, limit int) (out wire.Document, err error) {
	return out, c.ask(ctx, http.MethodGet, path("sessions", session)+query("after", count(int(after)), "limit", count(limit)), nil, &out)
}

// Assign sets the mode of a session, and tells what holds then.
func (c *Client) Assign(ctx context.Context, session string, a wire.Assign) (out wire.Assigned, err error) {
	return out, c.ask(ctx, http.MethodPut, path("sessions", session, "mode"), a, &out)
}

// Give gives a session to the agent that a process is or belongs to.
func (c *Client) Give(ctx context.Context, session string, process int) (out wire.Given, err error) {
	return out, c.ask(ctx, http.MethodPut, path("sessions", session, "agent"), wire.Give{Process: process}, &out)
}

// Queue are the leaves of a session that need a person, or with "" of all.
func (c *Client) Queue(ctx context.Context, session string) (wire.Queue, error) {
	return c.QueuePage(ctx, session, 0, 0)
}

// QueuePage are so many of them, after so many; limit 0 is [queueMost]. The server
// gives no more at a time than an answer may hold, so it may be asked several times.
func (c *Client) QueuePage(ctx context.Context, session string, skip, limit int) (out wire.Queue, err error) {
	if limit <= 0 {
		limit = queueMost
	}
	after := ""
	for {
		page, err := c.queue(ctx, session, after, skip, limit)
		jobs := page.Queue
		unawaited := out.Unawaited
		page.Queue = out.Queue
		out = page
		out.Queue = append(out.Queue, jobs...)
		out.Unawaited = append(unawaited, page.Unawaited...)
		after, skip = page.Next, 0
		limit -= len(jobs)
		if err != nil || after == "" || limit <= 0 {
			return out, err
		}
	}
}

// QueueNext goes on where an answer ended, with the next of that: so many, or fewer
// where they are too much for one answer.
func (c *Client) QueueNext(ctx context.Context, session, next string, limit int) (wire.Queue, error) {
	return c.queue(ctx, session, next, 0, limit)
}

func (c *Client) queue(ctx context.Context, session, after string, skip, limit int) (out wire.Queue, err error) {
	p := path("queue")
	if session != "" {
		p = path("sessions", session, "queue")
	}
	return out, c.ask(ctx, http.MethodGet, p+query("after", after, "skip", count(skip), "limit", count(limit)), nil, &out)
}

// queueMost is how many leaves of a queue are listed at most.
const queueMost = 10_000

// Admit mints a job: it authorizes nothing.
func (c *Client) Admit(ctx context.Context, session string, j wire.NewJob) (out wire.JobRow, err error) {
	return out, c.ask(ctx, http.MethodPost, path("sessions", session, "jobs"), j, &out)
}

// Job is a job with its fields.
func (c *Client) Job(ctx context.Context, session, job string) (out wire.Job, err error) {
	return out, c.ask(ctx, http.MethodGet, path("sessions", session, "jobs", job), nil, &out)
}

// What a receipt is waited for.
const (
	Now     = ""
	Decided = "decided"
	Settled = "settled"
)

// Receipt is what became of a call. It is waited for until it is decided or
// settled, if need be for ever.
func (c *Client) Receipt(ctx context.Context, session, job, until string) (out wire.Receipt, err error) {
	for {
		out = wire.Receipt{}
		err = c.ask(ctx, http.MethodGet, path("sessions", session, "jobs", job, "receipt")+query("wait", until), nil, &out)
		done := out.Completed != nil || until == Decided && (out.OrchestrationResult != nil || out.Cancelled != nil)
		if err != nil || until == Now || done {
			return out, err
		}
	}
}

// Cancel cancels a leaf or a sequence with all in it; with "" what is under way
// in the session.
func (c *Client) Cancel(ctx context.Context, session, job string) error {
	p := path("sessions", session, "cancel")
	if job != "" {
		p = path("sessions", session, "jobs", job, "cancel")
	}
	return c.ask(ctx, http.MethodPost, p, nil, new(wire.Wrote))
}

// Begin claims a licensed call for whoever is about to run it.
func (c *Client) Begin(ctx context.Context, session, job string) error {
	return c.ask(ctx, http.MethodPost, path("sessions", session, "jobs", job, "begin"), nil, new(wire.Wrote))
}

// Same finds open calls of one's own, and those that were refused when nobody waited
// any longer, that are of the same tool with the same arguments, the oldest first.
func (c *Client) Same(ctx context.Context, session string, call wire.Same) (out wire.SameCalls, err error) {
	return out, c.ask(ctx, http.MethodPost, path("sessions", session, "same"), call, &out)
}

// Hold admits a call, or takes up the very same one that was answered too late,
// waits for a moment, and begins it where it may run.
func (c *Client) Hold(ctx context.Context, session string, call wire.Hold) (out wire.Held, err error) {
	return out, c.ask(ctx, http.MethodPost, path("sessions", session, "hold"), call, &out)
}

// Ran says that a call of one's own ran, and hears how that was not licensed.
func (c *Client) Ran(ctx context.Context, session string, r wire.Report) (out wire.Reported, err error) {
	return out, c.ask(ctx, http.MethodPost, path("sessions", session, "ran"), r, &out)
}

// Leave says that nobody waits for a call any longer: a person's no is told by Same
// from then on, until it is heard.
func (c *Client) Leave(ctx context.Context, session, job string) error {
	return c.ask(ctx, http.MethodPost, path("sessions", session, "jobs", job, "leave"), nil, new(wire.Wrote))
}

// Heard says that the answer to a call that was left has reached its agent.
func (c *Client) Heard(ctx context.Context, session, job string) error {
	return c.ask(ctx, http.MethodPost, path("sessions", session, "jobs", job, "heard"), nil, new(wire.Wrote))
}

// Report settles a licensed call with its outcome, any JSON but null.
func (c *Client) Report(ctx context.Context, session, job string, outcome jsontext.Value) error {
	return c.ask(ctx, http.MethodPost, path("sessions", session, "jobs", job, "report"), outcome, new(wire.Wrote))
}

// Write writes fields and registers of a session, all or none.
func (c *Client) Write(ctx context.Context, session string, w wire.Writes) (out wire.Wrote, err error) {
	return out, c.ask(ctx, http.MethodPost, path("sessions", session, "writes"), w, &out)
}

// Field writes a field of a job.
func (c *Client) Field(ctx context.Context, session, job, name string, value any) (out wire.Wrote, err error) {
	text, err := json.Marshal(value)
	if err != nil {
		return out, unwritable(name, err)
	}
	return out, c.ask(ctx, http.MethodPut, path("sessions", session, "jobs", job, name), jsontext.Value(text), &out)
}

// Answer writes a person's answer, and the comment where there is one.
func (c *Client) Answer(ctx context.Context, session, job string, yes bool, comment string) (wire.Wrote, error) {
	if comment == "" {
		return c.Field(ctx, session, job, "approved", yes)
	}
	text, err := json.Marshal(comment)
	if err != nil {
		return wire.Wrote{}, unwritable("comment", err)
	}
	return c.Write(ctx, session, wire.Writes{Writes: []wire.Write{
		{Job: job, Name: "approvalComment", Value: text},
		{Job: job, Name: "approved", Value: jsontext.Value(strconv.FormatBool(yes))},
	}})
}

// Registers are all revisions of the registers of a session, "" for the kernel's, in
// as many answers as they need. The rev is that of the first.
func (c *Client) Registers(ctx context.Context, session string) (out wire.Registers, err error) {
	p := path("registers")
	if session != "" {
		p = path("sessions", session, "registers")
	}
	err = c.ask(ctx, http.MethodGet, p, nil, &out)
	for err == nil && out.More && len(out.Registers) > 0 {
		var page wire.Registers
		err = c.ask(ctx, http.MethodGet, p+query("after", count(int(out.Registers[len(out.Registers)-1].Rev))), nil, &page)
		out.Registers = append(out.Registers, page.Registers...)
		out.More = page.More && len(page.Registers) > 0
	}
	return out, err
}

// SetRegister writes a revision of a register of a session, "" for the
// kernel's. It is refused with [wire.Stale] when a register was written after
// seen, which is 0 for a value that holds whatever there is.
func (c *Client) SetRegister(ctx context.Context, session, name string, value any, seen wire.Rev) (out wire.Wrote, err error) {
	text, err := json.Marshal(value)
	if err != nil {
		return out, unwritable(name, err)
	}
	p := path("registers", name)
	if session != "" {
		p = path("sessions", session, "registers", name)
	}
	if seen != 0 {
		p += query("seen", strconv.FormatInt(seen, 10))
	}
	return out, c.ask(ctx, http.MethodPut, p, jsontext.Value(text), &out)
}

// Grants are the grants that hold, with what went through them: those of all
// sessions, or with a session its own and those that count in all.
func (c *Client) Grants(ctx context.Context, session string) (out wire.GrantList, err error) {
	return out, c.ask(ctx, http.MethodGet, path("grants")+query("session", session), nil, &out)
}

// Presence is what is present in a session, "" for the kernel.
func (c *Client) Presence(ctx context.Context, session string) (wire.Presence, error) {
	p := path("presence")
	if session != "" {
		p = path("sessions", session, "presence")
	}
	var out wire.PresenceOf
	err := c.ask(ctx, http.MethodGet, p, nil, &out)
	return out.Presence, err
}

// CallFilter says which calls are wanted. The zero value wants the newest of
// all sessions.
type CallFilter struct {
	Session      string
	Result       string // allow, deny, cancelled, wait
	Tool         string
	Since, Until time.Time
	Limit        int // 0 for 100
}

// Calls tell how calls were decided, the newest first. The server gives no more
// at a time than an answer may hold, so it may be asked several times.
func (c *Client) Calls(ctx context.Context, f CallFilter) (out wire.Calls, err error) {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	limit, before := cmp.Or(f.Limit, 100), ""
	for {
		q := query("session", f.Session, "result", f.Result, "tool", f.Tool, "since", at(f.Since), "until", at(f.Until), "before", before, "limit", count(limit))
		var page wire.Calls
		err = c.ask(ctx, http.MethodGet, path("calls")+q, nil, &page)
		out.Rev, out.More = max(out.Rev, page.Rev), page.More
		out.Calls = append(out.Calls, page.Calls...)
		if limit -= len(page.Calls); err != nil || !page.More || len(page.Calls) == 0 || limit <= 0 {
			return out, err
		}
		before = strconv.FormatInt(page.Calls[len(page.Calls)-1].Stamp.Rev, 10)
	}
}

// Rows are rows after a rev, a page of them; of one session when it is named.
func (c *Client) Rows(ctx context.Context, after wire.Rev, session string) (out wire.Rows, err error) {
	return out, c.ask(ctx, http.MethodGet, path("rows")+query("after", strconv.FormatInt(after, 10), "session", session), nil, &out)
}

// Row is the row of a rev; ok is false when there is none.
func (c *Client) Row(ctx context.Context, rev wire.Rev) (row wire.Row, ok bool, err error) {
	var out wire.Rows
	err = c.ask(ctx, http.MethodGet, path("rows")+query("after", strconv.FormatInt(rev-1, 10), "limit", "1"), nil, &out)
	switch {
	case errors.Is(err, wire.Future):
		return wire.Row{}, false, nil
	case err != nil:
		return wire.Row{}, false, err
	case len(out.Rows) != 1 || out.Rows[0].Rev != rev:
		return wire.Row{}, false, nil
	}
	return out.Rows[0], true, nil
}

// Verify has the hashes of all rows checked, and that rows which were kept
// elsewhere are there.
func (c *Client) Verify(ctx context.Context, kept ...wire.Head) (out wire.Verified, err error) {
	return out, c.ask(ctx, http.MethodPost, path("verify"), wire.Verify{Heads: kept}, &out)
}
