package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"assent/floor"
	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/job"
	"assent/kernel"
	"assent/plexus"
)

var (
	ada  = plexus.Writer{Role: plexus.Human, Name: "ada"}
	hook = plexus.Writer{Role: plexus.Agent, Name: "hook"}
	spy  = plexus.Writer{Role: plexus.Agent, Name: "spy"}
)

// tokens stand for what a process is, so that one test can be many.
var tokens = map[string]plexus.Writer{
	"": ada, "ada": ada, "bob": {Role: plexus.Human, Name: "bob"}, "hook": hook, "spy": spy,
	"host": {Role: plexus.Host, Name: "kernel"}, "nobody": {}, "nameless": {Role: plexus.Human},
}

var errStranger = errors.New("nobody here knows you")

func role(net.Conn) api.Caller {
	return func(claim api.Claim) (plexus.Writer, error) {
		by, ok := tokens[claim.Token]
		if !ok {
			return plexus.Writer{}, errStranger
		}
		if claim.Agent && by.Role == plexus.Human {
			return hook, nil
		}
		return by, nil
	}
}

// rules is a floor whose answers follow from the command: "let", "no", "never".
type rules struct{ operator *floor.Policy }

func (r rules) Layers(string) kernel.Layers {
	return kernel.Layers{Floor: floor.Floor{Operator: r.operator}}
}
func (rules) Notify(string, func()) (end func()) { return func() {} }

// world is a server on a socket over a kernel and a document of its own.
type world struct {
	testing.TB
	dir, socket string
	doc         *plexus.Store
	kernel      *kernel.Kernel
	server      *api.Server
	client      *client.Client // ada's
	agent       *client.Client // hook's
	served      chan error
}

func newWorld(t testing.TB, opts api.Options) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "api") // short: sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	policy, err := floor.ParsePolicy("/policy.yaml", []byte("version: 1\nrun:\n  allow: [let *]\n  deny: [no *]\n  block: [never *]\n"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, dir: dir, socket: filepath.Join(dir, "s"), served: make(chan error, 1)}
	if w.doc, err = plexus.Open(filepath.Join(dir, "document"), plexus.Options{}); err != nil {
		t.Fatal(err)
	}
	registry := new(job.Registry)
	err = registry.RegisterExecutor(job.SystemTool, nil, func(context.Context, job.Call) (job.Outcome, error) { return job.Text("done"), nil })
	if err != nil {
		t.Fatal(err)
	}
	if w.kernel, err = kernel.Open(t.Context(), kernel.Options{
		Document: w.doc, Policies: rules{policy}, Registry: registry,
		Prepare: func(_ context.Context, _ *floor.Floor, call floor.Call) floor.Call { return call },
	}); err != nil {
		t.Fatal(err)
	}
	w.serve(opts)
	w.client = client.New(w.socket, client.Options{Token: "ada"})
	w.agent = client.New(w.socket, client.Options{Token: "hook"})
	t.Cleanup(w.stop)
	return w
}

// serve begins to serve.
func (w *world) serve(opts api.Options) {
	w.Helper()
	opts.Kernel, opts.Document = w.kernel, w.doc
	if opts.AgentOf == nil {
		opts.AgentOf = func(_ context.Context, _ net.Conn, pid int) (string, error) {
			if pid != 7 {
				return "", errors.New("there is no such process")
			}
			return spy.Name, nil
		}
	}
	if opts.Tokens == nil {
		var err error
		if opts.Tokens, err = api.OpenTokens(w.Context(), w.doc); err != nil {
			w.Fatal(err)
		}
	}
	if opts.Role == nil {
		opts.Role = role
	}
	w.server = api.New(opts)
	l, err := net.Listen("unix", w.socket)
	if err != nil {
		w.Fatal(err)
	}
	go func() { w.served <- w.server.Serve(l) }()
}

func (w *world) stop() {
	w.Helper()
	w.client.Close()
	w.agent.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := errors.Join(w.server.Shutdown(ctx), <-w.served, w.kernel.Close(), w.doc.Close(), os.RemoveAll(w.dir)); err != nil {
		w.Error("stopping:", err)
	}
}

// session makes a session in a mode.
func (w *world) session(id, mode string) {
	w.Helper()
	if _, err := w.client.CreateSession(w.Context(), wire.NewSession{ID: id, Mode: mode, Workspace: w.dir}); err != nil {
		w.Fatal(err)
	}
}

func bash(command string) jsontext.Value {
	return fmt.Appendf(nil, `{"command":%s}`, plexus.Text(command))
}

// admit mints a foreign call by an agent.
func (w *world) admit(session, id, command string) {
	w.Helper()
	if _, err := w.agent.Admit(w.Context(), session, wire.NewJob{ID: id, Name: "Bash", Arguments: bash(command)}); err != nil {
		w.Fatal(err)
	}
}

// until waits for a field of a leaf to be written.
func (w *world) until(session, leaf, name string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
	defer cancel()
	for rows, err := range w.doc.Watch(ctx, 0, plexus.Filter{Session: session}) {
		if err != nil {
			w.Fatalf("waiting for %s of %s: %v", name, leaf, err)
		}
		for _, row := range rows {
			if f, ok := row.(plexus.Field); ok && f.Job == leaf && f.Name == name {
				return
			}
		}
	}
}

// raw sends bytes as they are on a connection of their own, and gives the
// status and the body of the answer; status 0 when there is none.
func (w *world) raw(text string) (status int, body string) {
	w.Helper()
	conn, err := net.Dial("unix", w.socket)
	if err != nil {
		w.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		w.Fatal(err)
	}
	go io.WriteString(conn, text) // it may be refused before it is all sent
	return answer(conn)
}

func answer(conn net.Conn) (status int, body string) {
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// request is a request as text; a body gets its headers.
func request(method, path, body string, headers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", method, path)
	has := func(name string) bool {
		for _, h := range headers {
			if strings.HasPrefix(strings.ToLower(h), strings.ToLower(name)+":") {
				return true
			}
		}
		return false
	}
	if !has("Host") {
		b.WriteString("Host: assent\r\n")
	}
	if !has("Connection") {
		b.WriteString("Connection: close\r\n")
	}
	if body != "" && !has("Content-Type") {
		b.WriteString("Content-Type: application/json\r\n")
	}
	if body != "" && !has("Content-Length") && !has("Transfer-Encoding") {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	return b.String() + "\r\n" + body
}

// code is the code of a problem in a body.
func code(body string) wire.Code {
	_, rest, _ := strings.Cut(body, `"code":"`)
	name, _, _ := strings.Cut(rest, `"`)
	return wire.Code(name)
}

var _ http.Handler = (*api.Server)(nil)
