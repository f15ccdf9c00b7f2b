//go:build unix

package toolkit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"assent/job"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func init() { liar = lie }

// asked is a request that a liar got.
type asked struct {
	ID     jsontext.Value
	Method string
	Params struct {
		Name      string
		Arguments jsontext.Value
		Cursor    string
	}
}

// answered is an answer as a line.
func answered(id jsontext.Value, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

func says(id jsontext.Value, text string) string {
	return answered(id, `{"content":[{"type":"text","text":`+strconv.Quote(text)+`}]}`)
}

const noMethod = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}` + "\n"

// toolsOf is a list of tools with these names.
func toolsOf(names ...string) string {
	var all []string
	for _, n := range names {
		all = append(all, fmt.Sprintf(`{"name":%q,"description":"","inputSchema":{"type":"object"}}`, n))
	}
	return strings.Join(all, ",")
}

// lie is a server over standard input and output that says whatever it is told to.
func lie(what string) {
	how, with, _ := strings.Cut(what, " ")
	switch how {
	case "host": // it has a server and stays
		s := newServers(map[string]MCPServer{"x": {Command: os.Args[0], Env: []string{"TOOLKIT_TEST_SERVER=lasting " + with}}}, nil, nil)
		s.ask(context.Background())
		fmt.Println(s.list()[0].State)
		select {}
	case "lasting":
		if err := os.WriteFile(with, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			panic(err)
		}
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	say := func(format string, args ...any) { fmt.Printf(format, args...) }
	names := []string{"ok", "same", "late", "twice", "other", "wire", "garbage", "half", "close", "long", "asks", "form", "null", "swap", "echo", "loud", "raw"}
	var kept []jsontext.Value
	for page := 0; ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if how == "stubborn" || how == "lasting" {
				select {}
			}
			return
		}
		var r asked
		if json.Unmarshal(line, &r, json.MatchCaseInsensitiveNames(true)) != nil || r.ID == nil {
			continue
		}
		switch r.Method {
		case "initialize":
			switch how {
			case "hang":
				select {}
			case "stubborn": // it starts another, and neither ends when it is asked
				other := exec.Command("/bin/sh", "-c", `trap "" TERM HUP; echo $$ >`+with+`; exec 3>`+with+`.up; while :; do sleep 1000; done`)
				if err := other.Start(); err != nil {
					panic(err)
				}
				for {
					if _, err := os.Stat(with + ".up"); err == nil {
						break
					}
				}
			case "early":
				return
			}
			say("%s", answered(r.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"liar","version":"1"}}`))
		case "ping":
			say("%s", answered(r.ID, `{}`))
		case "tools/list":
			switch how {
			case "raw":
				say("%s", answered(r.ID, with))
				continue
			case "pages":
				page++
				say("%s", answered(r.ID, fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, toolsOf("t"+strconv.Itoa(page)), page)))
				continue
			case "many":
				var all []string
				for i := range maxTools + 1 {
					all = append(all, "t"+strconv.Itoa(i))
				}
				say("%s", answered(r.ID, `{"tools":[`+toolsOf(all...)+`]}`))
				continue
			case "wide":
				page++
				say("%s", answered(r.ID, fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{"type":"object","title":%q}}],"nextCursor":"%d"}`, page, strings.Repeat("x", 3<<20), page)))
				continue
			case "overlong":
				say("%s", answered(r.ID, `{"tools":[{"name":"t","inputSchema":{"type":"object","title":"`+strings.Repeat("x", maxMessage)+`"}}]}`))
				continue
			case "odd":
				say("%s", answered(r.ID, `{"tools":[null,`+toolsOf("ok", "dup", "dup", "g\u0435t_x", "a b", strings.Repeat("n", 200))+
					`,{"name":"big","inputSchema":{"type":"object","title":"`+strings.Repeat("x", maxSchema)+`"}}`+
					`,{"name":"wordy","inputSchema":{"type":"object"},"description":"`+strings.Repeat("x", maxDescription+1)+`"}]}`))
				continue
			}
			say("%s", answered(r.ID, `{"tools":[`+toolsOf(names...)+`]}`))
			if how == "deaf" {
				select {}
			}
		case "tools/call":
			switch r.Params.Name {
			case "late": // never, but for the next that is asked
				kept = append(kept, r.ID)
			case "twice":
				say("%s%s", says(r.ID, "first"), says(r.ID, "second"))
			case "other":
				say("%s%s%s", says(jsontext.Value("99999"), "stray"), says(jsontext.Value(`"`+string(r.ID)+`"`), "as a text"), says(r.ID, "mine"))
			case "wire":
				say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"not today"}}`+"\n", r.ID)
			case "garbage":
				say("Listening on port 80\n")
			case "half":
				say(`{"jsonrpc":"2.0","id":%s,"res`, r.ID)
				return
			case "close":
				fmt.Fprintln(os.Stderr, "out of memory")
				return
			case "long":
				out := bufio.NewWriter(os.Stdout)
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, r.ID)
				for {
					if _, err := out.WriteString(strings.Repeat("x", 1<<16)); err != nil {
						return
					}
				}
			case "asks":
				for i := range 100000 {
					say(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", i)
				}
				select {}
			case "form":
				say("%s", answered(r.ID, `{"content":7}`))
			case "null":
				say("%s", answered(r.ID, `{"content":[null]}`))
			case "swap":
				names = []string{"ok"}
				say("%s%s", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n", says(r.ID, "swapped"))
			case "echo":
				say("%s", says(r.ID, string(r.Params.Arguments)))
			case "raw":
				var raw struct{ Result jsontext.Value }
				_ = json.Unmarshal(r.Params.Arguments, &raw, json.MatchCaseInsensitiveNames(true))
				say("%s", answered(r.ID, string(raw.Result)))
			case "loud":
				for range 1 << 10 {
					fmt.Fprintln(os.Stderr, strings.Repeat("l", 1<<13))
				}
				say("%s", says(r.ID, "said"))
			default:
				for _, id := range kept {
					say("%s", says(id, "late"))
				}
				say("%s", says(r.ID, r.Params.Name))
			}
		default:
			say(noMethod, r.ID)
		}
	}
}

// What a server answers is its text and nothing else, and whatever it does instead
// of answering ends that call, with a receipt that says so.
func TestServersThatAnswerOddly(t *testing.T) {
	s := kitOf(t, map[string]MCPServer{"x": stdio(t, "all")})
	for _, row := range []struct{ why, tool, want string }{
		{"twice", "twice", `{"ok":true,"text":"first"}`},
		{"the second answer is nobody's", "ok", `{"ok":true,"text":"ok"}`},
		{"answers to what was not asked", "other", `{"ok":true,"text":"mine"}`},
		{"an error", "wire", `{"ok":false,"text":"mcp__x__wire: the server refused: not today (-32000)"}`},
		{"the connection is as it was", "ok", `{"ok":true,"text":"ok"}`},
		{"much beside", "loud", `{"ok":true,"text":"said"}`},
		{"no message", "garbage", `may have had its effect and is not asked again: calling "tools/call": the server wrote what is no message`},
		{"half a message", "half", `the server ended within a message`},
		{"the end", "close", `the server ended: EOF; it wrote: out of memory`},
		{"a message without end", "long", `a message of the server has more than 4 MiB`},
		{"questions without end", "asks", `the server asks more at once than it is answered`},
		{"another form", "form", `no answer came that could be used`},
		{"nothing", "null", `no answer came that could be used`},
		{"it is started anew", "ok", `{"ok":true,"text":"ok"}`},
	} {
		t.Run(row.why, func(t *testing.T) {
			out, err := askTool(t, t.Context(), s, "mcp__x__"+row.tool, `{}`)
			if err != nil || !strings.Contains(unquoted(out), row.want) {
				t.Errorf("%.400s %v, want %s", out, err, row.want)
			}
		})
	}
}

// unquoted is an outcome with its quotes as they were.
func unquoted(out string) string { return strings.ReplaceAll(out, `\"`, `"`) }

// An answer that comes when nobody waits any more is no answer to anything else.
func TestAnAnswerThatComesTooLate(t *testing.T) {
	s := kitOf(t, map[string]MCPServer{"x": stdio(t, "all")})
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() {
		_, err := askTool(t, ctx, s, "mcp__x__late", `{}`)
		done <- err
	}()
	for s.byName["x"].state() != Ready {
		runtime.Gosched()
	}
	why := errors.New("a person said so")
	cancel(why)
	err := <-done
	if cut, ok := errors.AsType[*job.Cut](err); !errors.Is(err, why) || ok && cut.Note != "the server was told; whether it stopped is not known" {
		t.Errorf("%v", err)
	}
	if out, err := askTool(t, t.Context(), s, "mcp__x__ok", `{}`); err != nil || out != `{"ok":true,"text":"ok"}` {
		t.Errorf("%s %v", out, err)
	}
}

func (s *server) state() ServerState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.State
}

// What is asked is what was judged, to the last digit.
func TestArgumentsStayWhatTheyAre(t *testing.T) {
	s := kitOf(t, map[string]MCPServer{"x": stdio(t, "all")})
	out, err := askTool(t, t.Context(), s, "mcp__x__echo", `{"id":12345678901234567890,"x":1.10}`)
	if err != nil || !strings.Contains(unquoted(out), `{"id":12345678901234567890,"x":1.10}`) {
		t.Errorf("%s %v", out, err)
	}
}

// A tool that is gone is not called, also when it went between the list and the call.
func TestToolsThatChange(t *testing.T) {
	s := kitOf(t, map[string]MCPServer{"x": stdio(t, "all")})
	for _, row := range []struct{ tool, want string }{
		{"swap", "swapped"},
		{"echo", "the server has no such tool"},
		{"ok", `{"ok":true,"text":"ok"}`},
	} {
		if out, err := askTool(t, t.Context(), s, "mcp__x__"+row.tool, `{}`); err != nil || !strings.Contains(out, row.want) {
			t.Errorf("%s: %s %v", row.tool, out, err)
		}
	}
	if all := s.list(); len(all[0].Tools) != 1 {
		t.Errorf("%+v", all)
	}
}

func TestListsThatAreNotTaken(t *testing.T) {
	for _, row := range []struct{ why, liar, want string }{
		{"pages without end", "pages", "its list has more than 100 pages"},
		{"too many", "many", "it lists more than 1000"},
		{"too much in all", "wide", "it says more than 8 MiB about them"},
		{"a message that is too long", "overlong", "more than 4 MiB"},
	} {
		t.Run(row.why, func(t *testing.T) {
			s := kitOf(t, map[string]MCPServer{"x": stdio(t, row.liar)})
			out, err := askTool(t, t.Context(), s, "mcp__x__t1", `{}`)
			if err != nil || !strings.Contains(out, row.want) || len(out) > 2000 {
				t.Errorf("%.300s %v", out, err)
			}
			if all := s.list(); all[0].State != Failed || all[0].Tools != nil {
				t.Errorf("%.300v", all)
			}
		})
	}
}

func TestToolsThatAreLeftOut(t *testing.T) {
	s := kitOf(t, map[string]MCPServer{"x": stdio(t, "odd"), "a": stdio(t, "all"), "a__b": stdio(t, "all")})
	s.ask(t.Context())
	all := s.list()
	x := all[2]
	if len(x.Tools) != 1 || x.Tools[0].Name != "mcp__x__ok" || len(x.LeftOut) != 6 {
		t.Fatalf("%+v", x)
	}
	if b := all[1]; len(b.Tools) != 0 || !strings.Contains(b.LeftOut[0], "may be a tool of a or of a__b") {
		t.Errorf("%+v", b)
	}
	for tool, want := range map[string]string{
		"dup": "two tools have this name", "g\u0435t_x": "something else than letters", "a b": "something else than letters", "big": "its schema has more than", "wordy": "its description",
	} {
		if out, err := askTool(t, t.Context(), s, "mcp__x__"+tool, `{}`); err != nil || !strings.Contains(out, "this tool is not used") || !strings.Contains(out, want) {
			t.Errorf("%s: %s %v", tool, out, err)
		}
	}
}

// A server that does not come up keeps nobody longer than it may, and the end of the
// host nobody at all.
func TestAServerThatHangs(t *testing.T) {
	s := kitOf(t, map[string]MCPServer{"x": stdio(t, "hang"), "y": stdio(t, "early")})
	s.byName["x"].patience = time.Millisecond
	if out, err := askTool(t, t.Context(), s, "mcp__x__t", `{}`); err != nil || !strings.Contains(out, "the server x cannot be used: it did not answer in time") {
		t.Errorf("%s %v", out, err)
	}
	if out, err := askTool(t, t.Context(), s, "mcp__y__t", `{}`); err != nil || !strings.Contains(out, "the server y cannot be used") {
		t.Errorf("%s %v", out, err)
	}
	s.byName["x"].patience = time.Hour
	done := make(chan string)
	go func() {
		out, _ := askTool(t, t.Context(), s, "mcp__x__t", `{}`)
		done <- out
	}()
	for len(s.byName["x"].lock) == 0 {
		runtime.Gosched()
	}
	s.close()
	if out := <-done; !strings.Contains(out, "shuts down") {
		t.Error(out)
	}
}

// A server that takes nothing keeps a call no longer than that is wanted.
func TestAServerThatReadsNothing(t *testing.T) {
	s := kitOf(t, map[string]MCPServer{"x": stdio(t, "deaf")})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	for range 2 {
		go func() {
			_, err := askTool(t, ctx, s, "mcp__x__ok", `{"word":"`+strings.Repeat("x", job.MaxArguments/2)+`"}`)
			done <- err
		}()
	}
	for s.byName["x"].state() != Ready {
		runtime.Gosched()
	}
	cancel()
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// With a server ends all that it started, also what does not want to.
func TestServersEndWithWhatTheyStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newServers(map[string]MCPServer{"x": stdio(t, "stubborn "+filepath.Join(dir, "pid"))}, nil, nil)
	if out, err := askTool(t, t.Context(), s, "mcp__x__ok", `{}`); err != nil || !strings.Contains(out, `"ok":true`) {
		t.Fatalf("%s %v", out, err)
	}
	s.close()
	gone(t, dir)
}

// Servers that fail, or are set up otherwise, end too.
func TestServersThatFailEnd(t *testing.T) {
	for _, tool := range []string{"garbage", "close", "long"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := newServers(map[string]MCPServer{"x": stdio(t, "stubborn "+filepath.Join(dir, "pid"))}, nil, nil)
			defer s.close()
			if out, err := askTool(t, t.Context(), s, "mcp__x__"+tool, `{}`); err != nil || !strings.Contains(out, `"ok":false`) {
				t.Fatalf("%s %v", out, err)
			}
			gone(t, dir)
		})
	}
}

// A server ends with a host that was killed, also when the end of its input means
// nothing to it.
func TestServersEndWithAHostThatIsKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a program that its parent has ended")
	}
	dir := t.TempDir()
	host := stdio(t, "host "+filepath.Join(dir, "pid"))
	cmd := exec.Command(host.Command)
	cmd.Env = host.Env
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if line != "ready\n" {
		t.Errorf("the server is %q", line)
	}
	gone(t, dir)
}

func TestServersThatAreSetUpOtherwiseEndUnderTheirCalls(t *testing.T) {
	var r job.Registry
	kit, err := Register(&r, Options{Settings: Settings{MCP: map[string]MCPServer{"x": stdio(t, "all")}}})
	must(t, err)
	defer kit.Close()
	done := make(chan string)
	go func() {
		out, _ := kit.call(t.Context(), job.Call{Name: "mcp__x__late"})
		done <- string(out)
	}()
	for kit.now().byName["x"].state() != Ready {
		runtime.Gosched()
	}
	kit.Set(Settings{})
	if out := <-done; !strings.Contains(out, "or the servers were set up anew") {
		t.Error(out)
	}
}

// Over HTTP as well, a server says no more than is taken.
func TestServersOverHTTPAreBounded(t *testing.T) {
	keys := make(chan string, 16)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { keys <- r.Header.Get("X-Key") }))
	defer elsewhere.Close()
	over := make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, "no", http.StatusMethodNotAllowed)
			return
		}
		var m asked
		if json.UnmarshalRead(r.Body, &m, json.MatchCaseInsensitiveNames(true)) != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			fmt.Fprint(w, answered(m.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"liar","version":"1"}}`))
			return
		case "tools/list":
			fmt.Fprint(w, answered(m.ID, `{"tools":[`+toolsOf("ok", "json", "events", "event", "away", "slash", "hang", "error", "open")+`]}`))
			return
		case "tools/call":
		default:
			fmt.Fprintf(w, noMethod, m.ID)
			return
		}
		much := strings.Repeat("x", 1<<16)
		switch m.Params.Name {
		case "ok":
			fmt.Fprint(w, says(m.ID, "ok"))
		case "json":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID)
			for {
				if _, err := fmt.Fprint(w, much); err != nil {
					return
				}
			}
		case "event":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: ")
			for {
				if _, err := fmt.Fprint(w, much); err != nil {
					return
				}
			}
		case "events": // more in all than one may have
			w.Header().Set("Content-Type", "text/event-stream")
			for range 2 * maxMessage / len(much) {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":%q}}\n\n", much)
			}
			fmt.Fprintf(w, "data: %s\n", says(m.ID, "ok"))
		case "open": // a stream that does not end with the answer
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n", says(m.ID, "ok"))
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-over:
			}
		case "away":
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		case "slash":
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/x", http.StatusTemporaryRedirect)
				return
			}
			fmt.Fprint(w, says(m.ID, "ok"))
		case "error":
			w.WriteHeader(http.StatusBadRequest)
			for {
				if _, err := fmt.Fprint(w, much); err != nil {
					return
				}
			}
		}
	}))
	defer func() { close(over); site.CloseClientConnections(); site.Close() }()
	s := kitOf(t, map[string]MCPServer{"x": {URL: site.URL, Header: http.Header{"X-Key": {"word"}}}})
	ok := `{"ok":true,"text":"ok"}`
	for _, row := range []struct{ why, tool, want string }{
		{"an answer", "ok", ok},
		{"an answer without end", "json", "a message of the server has more than 4 MiB"},
		{"an event without end", "event", "exceeded 4194304 bytes"},
		{"many events", "events", ok},
		{"it goes on", "ok", ok},
		{"a redirection elsewhere", "away", "which is not what was set up"},
		{"a redirection on the same server", "slash", ok},
		{"an error without end", "error", "no answer came that could be used"},
	} {
		t.Run(row.why, func(t *testing.T) {
			out, err := askTool(t, t.Context(), s, "mcp__x__"+row.tool, `{}`)
			if err != nil || !strings.Contains(out, row.want) {
				t.Errorf("%.400s %v, want %s", out, err, row.want)
			}
		})
	}
	for range 2 * maxAsked { // each leaves its place
		if out, err := askTool(t, t.Context(), s, "mcp__x__open", `{}`); err != nil || out != ok {
			t.Fatalf("%.400s %v", out, err)
		}
	}
	select {
	case key := <-keys:
		t.Errorf("the key went elsewhere: %q", key)
	default:
	}
}

// No form of an answer ends more than the call.
func TestAnswersOfAnyForm(t *testing.T) {
	s := kitOf(t, map[string]MCPServer{"x": stdio(t, "all")})
	for _, result := range []string{
		`null`, `7`, `"x"`, `[]`, `{}`, `{"content":null}`, `{"content":[]}`, `{"content":{}}`, `{"content":[[]]}`, `{"content":[{"type":"text"}]}`, `{"content":[{"type":"text","text":7}]}`,
		`{"content":[{"type":"none"}]}`, `{"content":[{"type":"resource"}]}`, `{"content":[{"type":"resource","resource":null}]}`, `{"content":[{"type":"resource","resource":{"blob":"%"}}]}`,
		`{"content":[{"type":"resource_link"}]}`, `{"content":[{"type":"image","data":7}]}`, `{"content":[{"type":"image","data":"AA=="}]}`, `{"content":[{"type":"audio"}]}`,
		`{"content":[{"type":"tool_use"}]}`, `{"content":[{"type":"tool_result","content":[null]}]}`, `{"structuredContent":[1,{"a":null}]}`, `{"isError":"yes"}`, `{"isError":true}`, `{"_meta":7}`,
		`{"resultType":"input_required"}`, `{"resultType":"input_required","inputRequests":{}}`, `{"resultType":7}`, `{"inputRequests":{"a":null}}`, `{"inputRequests":{"a":{"method":"roots/list"}}}`,
		`{"inputRequests":{"a":{"method":"sampling/createMessage","params":{}}}}`, `{"inputRequests":{"a":{"method":"elicitation/create","params":null}}}`,
	} {
		out, err := askTool(t, t.Context(), s, "mcp__x__raw", `{"result":`+result+`}`)
		if err != nil || !jsontext.Value(out).IsValid() || !strings.HasPrefix(out, `{"ok":`) {
			t.Errorf("%s: %s %v", result, out, err)
		}
	}
	for _, list := range []string{
		`null`, `7`, `[]`, `{}`, `{"tools":null}`, `{"tools":{}}`, `{"tools":[7]}`, `{"tools":[[]]}`, `{"tools":[{}]}`, `{"tools":[{"name":7}]}`, `{"tools":[{"name":"a","inputSchema":7}]}`,
		`{"tools":[{"name":"a","inputSchema":null,"annotations":[]}]}`, `{"tools":[{"name":"a","annotations":{"readOnlyHint":"yes"}}]}`, `{"tools":[],"nextCursor":7}`,
		`{"tools":[{"name":"a","inputSchema":{"properties":[]}}]}`, `{"tools":[{"name":"a","inputSchema":{"properties":{"b":{"x-mcp-header":7}}}}]}`, `{"tools":[],"_meta":[]}`,
	} {
		s := newServers(map[string]MCPServer{"x": stdio(t, "raw "+list)}, nil, nil)
		if out, err := askTool(t, t.Context(), s, "mcp__x__none", `{}`); err != nil || !strings.Contains(out, `{"ok":false`) {
			t.Errorf("%s: %s %v", list, out, err)
		}
		s.close()
	}
}

// Other settings hold at once, whatever the servers that are no more set up do.
func TestSettingsWaitForNoServer(t *testing.T) {
	var r job.Registry
	dir := t.TempDir()
	kit, err := Register(&r, Options{Settings: Settings{MCP: map[string]MCPServer{"x": stdio(t, "stubborn "+filepath.Join(dir, "pid"))}}})
	must(t, err)
	if out, err := kit.call(t.Context(), job.Call{Name: "mcp__x__ok"}); err != nil || !strings.Contains(string(out), `"ok":true`) {
		t.Fatalf("%s %v", out, err)
	}
	over := kit.now().byName["x"].conn.program.over
	kit.Set(Settings{Search: "https://example.com/?q={query}"})
	select {
	case <-over:
		t.Error("the server was waited for")
	default:
	}
	if kit.search() == "" || len(kit.Servers()) != 0 {
		t.Error("the settings are as they were")
	}
	kit.Close() // that waits
	select {
	case <-over:
	default:
		t.Error("the server goes on")
	}
	gone(t, dir)
}
