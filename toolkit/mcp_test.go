package toolkit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"assent/job"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// liar is a server that says whatever it is told to.
var liar func(what string)

// TestMain lets this program be a server of tools.
func TestMain(m *testing.M) {
	switch what := os.Getenv("TOOLKIT_TEST_SERVER"); what {
	case "tools":
		if err := toolServer("stdio", nil).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "broken":
		fmt.Fprintln(os.Stderr, "no key is set")
		os.Exit(3)
	case "":
		os.Exit(m.Run())
	default:
		liar(what)
	}
}

// toolServer is a server with a few tools. One stays until it is told to end,
// or over is closed.
func toolServer(name string, over <-chan struct{}) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	add := func(tool string, hints *mcp.ToolAnnotations, f func(ctx context.Context, arguments map[string]any) (*mcp.CallToolResult, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: tool, Description: "about " + tool, Annotations: hints},
			func(ctx context.Context, _ *mcp.CallToolRequest, arguments map[string]any) (*mcp.CallToolResult, any, error) {
				r, err := f(ctx, arguments)
				return r, nil, err
			})
	}
	text := func(t string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t}}}
	}
	no := false
	add("say", &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no}, func(_ context.Context, a map[string]any) (*mcp.CallToolResult, error) {
		return text(fmt.Sprint(a["word"], " from ", name)), nil
	})
	add("fail", nil, func(context.Context, map[string]any) (*mcp.CallToolResult, error) {
		return nil, errors.New("it went wrong")
	})
	add("much", nil, func(context.Context, map[string]any) (*mcp.CallToolResult, error) {
		return text(strings.Repeat("x", 2*maxText)), nil
	})
	add("mixed", nil, func(context.Context, map[string]any) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a"}, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("123")}}}, nil
	})
	add("stay", nil, func(ctx context.Context, _ map[string]any) (*mcp.CallToolResult, error) {
		select {
		case <-ctx.Done():
		case <-over:
		}
		return nil, errors.New("it ended")
	})
	add("die", nil, func(context.Context, map[string]any) (*mcp.CallToolResult, error) { os.Exit(1); return nil, nil })
	return s
}

func stdio(t *testing.T, what string) MCPServer {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	return MCPServer{Command: self, Env: []string{"TOOLKIT_TEST_SERVER=" + what}}
}

func overHTTP(t *testing.T, header string) MCPServer {
	t.Helper()
	over := make(chan struct{})
	server := toolServer("http", over)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != header {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { close(over); s.CloseClientConnections(); s.Close() })
	return MCPServer{URL: s.URL, Header: http.Header{"X-Key": {"word"}}}
}

func kitOf(t *testing.T, all map[string]MCPServer) *servers {
	t.Helper()
	s := newServers(all, nil, nil)
	t.Cleanup(s.close)
	return s
}

func askTool(t *testing.T, ctx context.Context, s *servers, name, arguments string) (string, error) {
	t.Helper()
	out, err := s.call(ctx, job.Call{Kind: job.MCPTool, Name: name, Arguments: []byte(arguments)})
	return string(out), err
}

func TestToolsOfServers(t *testing.T) {
	s := kitOf(t, map[string]MCPServer{"pipe": stdio(t, "tools"), "net": overHTTP(t, "word"), "shut": overHTTP(t, "another"), "broken": stdio(t, "broken"),
		"a": stdio(t, "tools"), "a__b": stdio(t, "tools")})
	for _, row := range []struct{ name, tool, arguments, want string }{
		{"over a pipe", "mcp__pipe__say", `{"word":"hello"}`, `{"ok":true,"text":"hello from stdio"}`},
		{"over HTTP", "mcp__net__say", `{"word":"hello"}`, `{"ok":true,"text":"hello from http"}`},
		{"a tool that fails", "mcp__pipe__fail", `{}`, `{"ok":false,"text":"it went wrong"}`},
		{"more than is kept", "mcp__pipe__much", `{}`, `bytes left out`},
		{"what is no text", "mcp__pipe__mixed", `{}`, `{"ok":true,"text":"a\n[an image, image/png, 3 bytes]"}`},
		{"no such tool", "mcp__pipe__none", `{}`, `the server has no such tool`},
		{"no such server", "mcp__none__say", `{}`, `a tool of no server that is set up`},
		{"no tool", "mcp__pipe__", `{}`, `a tool of no server that is set up`},
		{"a name of two servers", "mcp__a__b__say", `{}`, `may be a tool of a or of a__b`},
		{"a server that does not start", "mcp__broken__say", `{}`, `no key is set`},
		{"a server that lets nobody in", "mcp__shut__say", `{}`, `the server shut cannot be used`},
	} {
		t.Run(row.name, func(t *testing.T) {
			out, err := askTool(t, t.Context(), s, row.tool, row.arguments)
			if err != nil || !strings.Contains(out, row.want) {
				t.Errorf("%.300s %v", out, err)
			}
		})
	}
}

func TestToolsAreListedWithWhatIsWrong(t *testing.T) {
	s := kitOf(t, map[string]MCPServer{"pipe": stdio(t, "tools"), "net": overHTTP(t, "word"), "broken": stdio(t, "broken")})
	for _, server := range s.list() {
		if server.State != Unasked || len(server.Tools) != 0 {
			t.Errorf("nobody has asked: %+v", server)
		}
	}
	s.ask(t.Context())
	all := s.list()
	if len(all) != 3 || all[0].State != Failed || !strings.Contains(all[0].Why, "no key is set") || all[1].State != Ready || all[1].Over != "http" || len(all[1].Tools) != 6 ||
		all[2].Over != "stdio" || all[2].State != Ready {
		t.Fatalf("%+v", all)
	}
	for _, tool := range all[2].Tools {
		if tool.Name == "mcp__pipe__say" && (!tool.ReadOnly || tool.Destructive || tool.Description != "about say") {
			t.Errorf("%+v", tool)
		}
	}
}

// What was licensed once is not done twice because a server went away.
func TestAServerThatWentAwayIsStartedForTheNextCall(t *testing.T) {
	s := kitOf(t, map[string]MCPServer{"pipe": stdio(t, "tools")})
	if out, err := askTool(t, t.Context(), s, "mcp__pipe__die", `{}`); err != nil || !strings.Contains(out, `"ok":false`) {
		t.Errorf("%s %v", out, err)
	}
	if out, err := askTool(t, t.Context(), s, "mcp__pipe__say", `{"word":"again"}`); err != nil || !strings.Contains(out, "again from stdio") {
		t.Errorf("%s %v", out, err)
	}
}

func TestAToolOfAServerEnds(t *testing.T) {
	for name, m := range map[string]MCPServer{"pipe": stdio(t, "tools"), "net": overHTTP(t, "word")} {
		t.Run(name, func(t *testing.T) {
			s := kitOf(t, map[string]MCPServer{"x": m})
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("a person said so")
			done := make(chan error)
			go func() {
				_, err := askTool(t, ctx, s, "mcp__x__stay", `{}`)
				done <- err
			}()
			if out, err := askTool(t, t.Context(), s, "mcp__x__say", `{"word":"meanwhile"}`); err != nil || !strings.Contains(out, "meanwhile") {
				t.Errorf("%s %v", out, err)
			}
			cancel(why)
			if err := <-done; !errors.Is(err, why) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAToolOfAServerIsNotAskedTwice(t *testing.T) {
	s := kitOf(t, nil)
	out, err := s.call(t.Context(), job.Call{Name: "mcp__pipe__say", Resumed: true, Begun: true})
	if err != nil || !strings.Contains(string(out), "may have had its effect") {
		t.Errorf("%s %v", out, err)
	}
}

func TestServersLeaveNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	s := newServers(map[string]MCPServer{"pipe": stdio(t, "tools")}, nil, nil)
	s.ask(t.Context())
	if all := s.list(); all[0].State != Ready {
		t.Fatal(all)
	}
	s.close()
	if out, err := askTool(t, t.Context(), s, "mcp__pipe__say", `{}`); err != nil || !strings.Contains(out, "shuts down") {
		t.Errorf("%s %v", out, err)
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), before)
		}
	}
}
