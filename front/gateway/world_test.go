package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"assent/floor"
	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/gateway"
	"assent/kernel"
	"assent/plexus"
)

var (
	ada   = plexus.Writer{Role: plexus.Human, Name: "ada"}
	agent = plexus.Writer{Role: plexus.Agent, Name: "agent"}
)

const rules = `version: 1
mcp:
  allow: ["srv/let*"]
  block: [{match: srv/never, message: Not here.}]
`

type policies struct{ operator *floor.Policy }

func (p policies) Layers(string) kernel.Layers {
	return kernel.Layers{Floor: floor.Floor{Operator: p.operator}}
}
func (policies) Notify(string, func()) (end func()) { return func() {} }

// world is a kernel behind a socket, a person who may answer, and a folder to work in.
type world struct {
	testing.TB
	dir, socket, ws string
	policy          *floor.Policy
	person          *client.Client
	stop            func()
}

func newWorld(t testing.TB, rules string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "mcp") // short: sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, dir: dir, socket: filepath.Join(dir, "s"), ws: filepath.Join(dir, "ws")}
	if err := os.Mkdir(w.ws, 0o755); err != nil {
		t.Fatal(err)
	}
	if w.policy, err = floor.ParsePolicy("/policy.yaml", []byte(rules)); err != nil {
		t.Fatal(err)
	}
	w.person = client.New(w.socket, client.Options{})
	t.Cleanup(w.person.Close)
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

// start has a kernel run over the document.
func (w *world) start() {
	w.Helper()
	doc, err := plexus.Open(filepath.Join(w.dir, "document"), plexus.Options{})
	if err != nil {
		w.Fatal(err)
	}
	k, err := kernel.Open(context.Background(), kernel.Options{
		Document: doc, Policies: policies{w.policy},
		Prepare: func(_ context.Context, _ *floor.Floor, call floor.Call) floor.Call { return call },
	})
	if err != nil {
		w.Fatal(err)
	}
	tokens, err := api.OpenTokens(context.Background(), doc)
	if err != nil {
		w.Fatal(err)
	}
	server := api.New(api.Options{Kernel: k, Document: doc, Tokens: tokens, Role: func(net.Conn) api.Caller {
		return func(claim api.Claim) (plexus.Writer, error) {
			if claim.Agent {
				return agent, nil
			}
			return ada, nil
		}
	}})
	l, err := net.Listen("unix", w.socket)
	if err != nil {
		w.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	w.stop = sync.OnceFunc(func() {
		w.person.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			w.Error(err)
		}
		<-served
		k.Close()
		doc.Close()
	})
}

// waits gives the first call that waits for a person.
func (w *world) waits() wire.Job {
	w.Helper()
	for event, err := range w.rows() {
		if err != nil {
			w.Fatal(err)
		}
		_ = event
		q, err := w.person.Queue(w.Context(), "")
		if err != nil {
			w.Fatal(err)
		}
		if len(q.Queue) > 0 {
			return q.Queue[0]
		}
	}
	w.Fatal("nothing waits")
	return wire.Job{}
}

// rows tells each time that something may have changed.
func (w *world) rows() func(func(int, error) bool) {
	return func(yield func(int, error) bool) {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for n := 0; yield(n, w.Context().Err()); n++ {
			<-tick.C
		}
	}
}

func (w *world) answer(call wire.Job, yes bool, comment string) {
	w.Helper()
	if _, err := w.person.Answer(w.Context(), call.Session, call.ID, yes, comment); err != nil {
		w.Fatal(err)
	}
}

// settled is a call that is settled.
func (w *world) settled(call wire.Job) wire.Receipt {
	w.Helper()
	r, err := w.person.Receipt(w.Context(), call.Session, call.ID, client.Settled)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// last is the call that was admitted last, with its session.
func (w *world) last() (wire.Job, wire.Session) {
	w.Helper()
	all, err := w.person.Sessions(w.Context(), client.SessionFilter{})
	if err != nil || len(all.Sessions) == 0 {
		w.Fatal(err, len(all.Sessions))
	}
	doc, err := w.person.Session(w.Context(), all.Sessions[0].ID)
	if err != nil || len(doc.Jobs) == 0 {
		w.Fatal(err, len(doc.Jobs))
	}
	return doc.Jobs[len(doc.Jobs)-1], doc.Session
}

// dial gives clients of the kernel, which no start can bring up.
func (w *world) dial(bool) (*client.Client, error) {
	return client.New(w.socket, client.Options{Agent: true}), nil
}

// rig is a proxy between a client and a server that a test plays.
type rig struct {
	*world
	client, server end
	done           chan error
	stop           context.CancelFunc
}

// end is one end of the proxy: what comes out of it, and what goes in.
type end struct {
	testing.TB
	who string
	in  io.WriteCloser
	out chan string // closed at its end
}

func (w *world) rig(change func(o *gateway.Options)) *rig {
	w.Helper()
	fromClient, client := io.Pipe()
	toClient, fromProxy := io.Pipe()
	toServer, server := io.Pipe()
	fromServer, answers := io.Pipe()
	o := gateway.Options{
		Server: gateway.Piped(fromServer, server), Name: "srv", Workspace: w.ws, Kernel: w.dial, In: fromClient, Out: fromProxy,
		Log: func(text string) { w.Log(text) }, Deadline: time.Hour, Unheard: time.Millisecond, Beat: time.Hour,
	}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &rig{world: w, done: make(chan error, 1), stop: cancel,
		client: end{w, "client", client, read(toClient)}, server: end{w, "server", answers, read(toServer)}}
	over := make(chan struct{})
	go func() {
		defer close(over)
		err := gateway.Run(ctx, o)
		fromProxy.Close()
		r.done <- err
	}()
	w.Cleanup(func() {
		cancel()
		client.Close()
		answers.Close()
		<-over
	})
	return r
}

func read(from io.Reader) chan string {
	out := make(chan string, 10_000)
	go func() {
		defer close(out)
		in := bufio.NewReader(from)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			out <- strings.TrimSuffix(line, "\n")
		}
	}()
	return out
}

// says has an end say something.
func (e end) says(text string) {
	e.Helper()
	if _, err := io.WriteString(e.in, text+"\n"); err != nil {
		e.Fatalf("%s: %v", e.who, err)
	}
}

// gets has an end wait for the next message, which is that.
func (e end) gets(want string) {
	e.Helper()
	if got := e.next(); got != want {
		e.Fatalf("the %s got %s\nwant %s", e.who, got, want)
	}
}

func (e end) next() string {
	e.Helper()
	got, ok := <-e.out
	if !ok {
		e.Fatalf("the %s gets nothing more", e.who)
	}
	return got
}

// quiet says that the server got nothing until now.
func (r *rig) quiet() {
	r.Helper()
	r.client.says(`{"jsonrpc":"2.0","id":"quiet","method":"ping"}`)
	r.server.gets(`{"jsonrpc":"2.0","id":"quiet","method":"ping"}`)
	r.server.says(`{"jsonrpc":"2.0","id":"quiet","result":{}}`)
	r.client.gets(`{"jsonrpc":"2.0","id":"quiet","result":{}}`)
}

// hello is the beginning of the protocol.
func (r *rig) hello(name, capabilities string) {
	r.Helper()
	begin := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"` + name + `","version":"1.2"}}}`
	r.client.says(begin)
	r.server.gets(begin)
	is := `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`
	r.server.says(is)
	r.client.gets(is)
	r.client.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	r.server.gets(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func call(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

// refused is the text of a tool's failure, "" for another answer.
func refused(t testing.TB, line string) string {
	t.Helper()
	var m struct {
		Result struct {
			Content []struct{ Type, Text string }
			IsError bool `json:"isError"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(line), &m, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if !m.Result.IsError || len(m.Result.Content) != 1 {
		return ""
	}
	return m.Result.Content[0].Text
}

func outcome(r wire.Receipt) string { return string(r.OutcomeJSON) }
