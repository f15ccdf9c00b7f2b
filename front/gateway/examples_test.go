package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/front/gateway"
)

// example builds an example of the protocol's library, out of the version of it that
// this module uses.
func example(t testing.TB, name string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), strings.ReplaceAll(name, "/", "-"))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", out, "github.com/modelcontextprotocol/go-sdk/examples/"+name)
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the example %s: %v\n%s", name, err, text)
	}
	return out
}

// behind is a command behind a proxy of its own.
func (w *world) behind(server ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], server...)
	cmd.Env = append(os.Environ(), proxyOf+"="+w.socket, workspaceOf+"="+w.ws)
	return cmd
}

// output is what a command says.
func output(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, &errs)
	}
	return string(out)
}

const allowAll = "version: 1\nmcp: {allow: [srv]}\n"

// The examples of the library, unchanged: its client that lists what a server has, in
// front of each of its servers that speak over standard input and output or HTTP.
// Left out are examples that are client and server in one process (basic, custom-method,
// custom-transport, elicitation, middleware, toolschemas), or that speak only what no
// proxy is for (distributed, sse, auth), and loadtest, which asks over HTTP alone.
func TestTheLibrarysExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the library's examples")
	}
	w := newWorld(t, allowAll)
	list := example(t, "client/listfeatures")
	for _, name := range []string{"server/hello", "server/everything", "server/memory", "server/sequentialthinking"} {
		t.Run(name, func(t *testing.T) {
			server := example(t, name)
			want := output(t, exec.Command(list, server))
			through := exec.Command(list, w.behind(server).Args...)
			through.Env = w.behind().Env
			if got := output(t, through); got != want || !strings.Contains(got, "tools:\n\t") {
				t.Errorf("through the proxy: -want +got\n%s", cmp.Diff(want, got))
			}
			t.Run("byte for byte", func(t *testing.T) { w.sameBytes(t, server) })
			for _, version := range []string{"", "2025-06-18"} {
				t.Run("all it can "+version, func(t *testing.T) {
					want := everything(t, exec.Command(server), version)
					if diff := cmp.Diff(want, everything(t, w.behind(server), version)); diff != "" {
						t.Errorf("through the proxy: -want +got\n%s", diff)
					}
				})
			}
		})
	}
	t.Run("over HTTP", func(t *testing.T) {
		server := exec.Command(example(t, "server/everything"), "-http", freeAddress(t))
		url := "http://" + server.Args[2]
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
		reachable(t, server.Args[2])
		want := output(t, exec.Command(list, "--http", url))
		through := exec.Command(list, w.behind("--url", url).Args...)
		through.Env = w.behind().Env
		if got := output(t, through); got != want || !strings.Contains(got, "tools:\n\t") {
			t.Errorf("through the proxy: -want +got\n%s", cmp.Diff(want, got))
		}
		for _, version := range []string{"", "2025-06-18"} {
			direct := calls(t, &mcp.StreamableClientTransport{Endpoint: url}, version)
			if diff := cmp.Diff(direct, calls(t, &mcp.CommandTransport{Command: w.behind("--url", url)}, version)); diff != "" {
				t.Errorf("%s: through the proxy: -want +got\n%s", version, diff)
			}
		}
	})
}

func freeAddress(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func reachable(t testing.TB, address string) {
	for t.Context().Err() == nil {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return
		}
	}
}

// sameBytes compares what a server says with what comes out of its proxy.
func (w *world) sameBytes(t *testing.T, server string) {
	said := func(cmd *exec.Cmd) (all []string) {
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := read(out)
		for _, ask := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bytes","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":"two","method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":3,"method":"prompts/list"}`,
			`{"jsonrpc":"2.0","id":4,"method":"resources/list"}`,
			`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"greet","arguments":{"name":"<you> & \"me\""}}}`,
		} {
			if _, err := io.WriteString(in, ask+"\n"); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(ask, `"id"`) {
				all = append(all, <-lines)
			}
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", cmd.Args, err)
		}
		return all
	}
	want := said(exec.Command(server))
	if !strings.Contains(want[1], `"tools":[{`) {
		t.Errorf("the server lists no tools: %s", want[1])
	}
	if diff := cmp.Diff(want, said(w.behind(server))); diff != "" {
		t.Errorf("through the proxy: -want +got\n%s", diff)
	}
}

// everything is all that a client of the library gets out of a server over standard
// input and output.
func everything(t *testing.T, server *exec.Cmd, version string) []string {
	t.Helper()
	return calls(t, &mcp.CommandTransport{Command: server}, version)
}

// arguments that the examples' tools take.
var takes = map[string]string{
	"greet": `{"name":"you"}`, "greet (structured)": `{"name":"you"}`, "greet (with Icons)": `{"name":"you"}`, "greet (content with ResourceLink)": `{"name":"you"}`,
	"create_entities": `{"entities":[{"name":"a","entityType":"b","observations":["c"]}]}`, "search_nodes": `{"query":"a"}`, "open_nodes": `{"names":["a"]}`,
}

func calls(t *testing.T, over mcp.Transport, version string) (all []string) {
	t.Helper()
	var mu sync.Mutex
	add := func(what string, v any, err error) {
		text, _ := json.Marshal(v)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, fmt.Sprintf("%s: %s %v", what, text, err))
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "examples", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: "sampled"}}, nil
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"random": r.Params.Message}}, nil
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) { add("log", r.Params.Data, nil) },
	})
	c.AddRoots(&mcp.Root{Name: "root", URI: "file:///root"})
	ctx := t.Context()
	s, err := c.Connect(ctx, over, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	add("hello", s.InitializeResult(), nil)
	if version != "" {
		add("level", nil, s.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"}))
	}
	for tool, err := range s.Tools(ctx, nil) {
		add("tool", tool, err)
		if err != nil {
			break
		}
		arguments := takes[tool.Name]
		if arguments == "" {
			arguments = `{}`
		}
		if tool.Name == "log" { // what it says may come before or after the answer
			continue
		}
		if strings.Contains(tool.Name, "think") { // with the time in it
			continue
		}
		result, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: json.RawMessage(arguments)})
		if strings.HasPrefix(tool.Name, "elicit (url)") { // it counts
			result = nil
		}
		add("call "+tool.Name, result, err)
	}
	for p, err := range s.Prompts(ctx, nil) {
		add("prompt", p, err)
		if err != nil {
			break
		}
		got, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: map[string]string{"name": "you"}})
		add("prompt", got, err)
	}
	for r, err := range s.Resources(ctx, nil) {
		add("resource", r, err)
		if err != nil {
			break
		}
		got, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.URI})
		add("read", got, err)
	}
	got, err := s.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "greet"}, Argument: mcp.CompleteParamsArgument{Name: "name", Value: "a"}})
	add("complete", got, err)
	mu.Lock()
	defer mu.Unlock()
	return all
}

// Over HTTP a server says what it likes at any time, and is told what it is told
// over standard input.
func TestOverHTTP(t *testing.T) {
	w := newWorld(t, rules)
	started, cancelled := make(chan struct{}), make(chan struct{})
	server := mcp.NewServer(&mcp.Implementation{Name: "http"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "let"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "let_long"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		close(started)
		<-ctx.Done()
		close(cancelled)
		return nil, nil, ctx.Err()
	})
	mcp.AddTool(server, &mcp.Tool{Name: "never"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		t.Error("a call that is blocked reached the server")
		return nil, nil, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	var keyless []string
	versions := make(map[string]bool)
	var mu sync.Mutex
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if r.Header.Get("X-Key") != "secret" {
			keyless = append(keyless, r.Method)
		}
		versions[r.Header.Get("Mcp-Protocol-Version")] = true
		mu.Unlock()
		handler.ServeHTTP(rw, r)
	}))
	defer front.Close()

	progress, changed := make(chan struct{}, 10), make(chan struct{}, 10)
	c := mcp.NewClient(&mcp.Implementation{Name: "c"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { progress <- struct{}{} },
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	s, err := c.Connect(t.Context(), &mcp.CommandTransport{Command: w.behind("--url", front.URL)}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "let"})
	if err != nil || result.IsError || result.Content[0].(*mcp.TextContent).Text != "done" {
		t.Errorf("let: %+v, %v", result, err)
	}
	result, err = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "never"})
	if err != nil || !result.IsError || !strings.Contains(result.Content[0].(*mcp.TextContent).Text, "Policy prohibits") {
		t.Errorf("never: %+v, %v", result, err)
	}
	t.Run("it is cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		params := &mcp.CallToolParams{Name: "let_long"}
		params.SetProgressToken("p")
		go func() {
			_, err := s.CallTool(ctx, params)
			done <- err
		}()
		<-started
		<-progress
		cancel()
		<-cancelled
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the call ends with %v", err)
		}
	})
	t.Run("it says something unasked", func(t *testing.T) {
		// The stream is there some time after the beginning, and what is said before is
		// lost without the proxy too: it is said until it is heard.
		for n := 0; ; n++ {
			mcp.AddTool(server, &mcp.Tool{Name: fmt.Sprint("later", n)}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
				return nil, nil, nil
			})
			select {
			case <-changed:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	mu.Lock()
	defer mu.Unlock()
	if len(keyless) > 0 {
		t.Errorf("requests without the header: %v", keyless)
	}
	if want := map[string]bool{"": true, "2025-06-18": true}; !cmp.Equal(versions, want) {
		t.Errorf("the versions that were told are %v", versions)
	}
}

// A server that leads elsewhere gets nothing there, nor does whoever it leads to.
func TestAServerThatLeadsElsewhere(t *testing.T) {
	w := newWorld(t, rules)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	r := w.rig(func(o *gateway.Options) { o.Server = gateway.Address(server.URL, nil) })
	r.client.says(call(`1`, "let", `{}`))
	if got := r.client.next(); !strings.Contains(got, "not what was set up") {
		t.Errorf("the client got %s", got)
	}
}

// A program that is a server ends with all that it started, and what it writes beside
// is its client's to read.
func TestAProgram(t *testing.T) {
	w := newWorld(t, rules)
	var errs bytes.Buffer
	r := w.rig(func(o *gateway.Options) {
		o.Server = gateway.Program([]string{"/bin/sh", "-c", `echo beside >&2; sleep 1000 & while read line; do echo "$line"; done`}, &errs)
	})
	r.client.says(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	// It says back what it hears: a question, which has no answer yet.
	r.client.gets(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	r.client.in.Close()
	if err := <-r.done; err != nil { // it waits for what the program started
		t.Error(err)
	}
	if errs.String() != "beside\n" {
		t.Errorf("beside it wrote %q", &errs)
	}
	w.rig(func(o *gateway.Options) {
		o.Server = gateway.Program([]string{"/nonexistent/server"}, io.Discard)
	}).fails("starting the server")
	w.rig(func(o *gateway.Options) {
		o.Server = gateway.Program([]string{"/bin/sh", "-c", "echo hello"}, io.Discard)
	}).fails("what is no message")
}

// A program that reads no more keeps nobody when it has said what is no message.
func TestAProgramThatReadsNothing(t *testing.T) {
	w := newWorld(t, rules)
	r := w.rig(func(o *gateway.Options) {
		o.Server = gateway.Program([]string{"/bin/sh", "-c", "head -c 10 >/dev/null; echo garbage; exec sleep 1000"}, io.Discard)
	})
	r.client.says(call(`1`, "let", `{"a":"`+strings.Repeat("x", 1<<19)+`"}`))
	if got := refused(t, r.client.next()); !strings.Contains(got, "the server") {
		t.Errorf("the client is told %q", got)
	}
	r.fails("what is no message")
}

// A client that goes and reads nothing more does not keep the kernel from being told.
func TestAClientThatIsKilled(t *testing.T) {
	w := newWorld(t, rules)
	got := filepath.Join(w.ws, "got")
	cmd := w.behind("/bin/sh", "-c", "while read line; do echo >>"+got+"; done")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	say := func(line string) {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	say(call(`1`, "put", `{}`))
	held := w.waits()
	say(call(`2`, "let", `{}`))
	for range w.rows() {
		if _, err := os.Lstat(got); err == nil { // the server has it
			break
		}
	}
	runs, _ := w.last()
	out.Close()
	in.Close()
	_ = cmd.Wait()
	if got := w.settled(held); got.Cancelled == nil {
		t.Errorf("what was held is %+v", got)
	}
	if got := outcome(w.settled(runs)); !strings.Contains(got, "may have had its effect") {
		t.Errorf("the outcome is %s", got)
	}
}

func (r *rig) fails(want string) {
	r.Helper()
	if err := <-r.done; err == nil || !strings.Contains(err.Error(), want) {
		r.Errorf("the proxy ends with %v, want %s", err, want)
	}
}
