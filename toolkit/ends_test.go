//go:build unix

package toolkit

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"assent/job"
	"assent/session"
)

// Every body that can take long ends when its call is cancelled, and at its time
// limit, in whatever it was.
func TestEveryBodyEnds(t *testing.T) {
	g := newGround(t)
	g.file("ws/endless", strings.Repeat("text\n", 2000))
	must(t, os.Truncate(g.at("ws/endless"), 1<<40)) // takes no room
	page := site(t)
	registry := new(job.Registry)
	kit, err := Register(registry, Options{
		Env:      []string{"PATH=/usr/bin:/bin"},
		Contact:  func(context.Context, job.Call, string) error { return nil },
		Settings: Settings{Search: page.URL + "/slow?q={query}", MCP: map[string]MCPServer{"pipe": stdio(t, "tools"), "net": overHTTP(t, "word")}},
	})
	must(t, err)
	t.Cleanup(kit.Close)
	for _, call := range []job.Call{
		command(g.ws, "echo begun; sleep 1000"),
		g.call("read", `{"path":"endless","offset":3000}`, "endless"),
		g.call("grep", `{"pattern":"none","path":"endless"}`, "endless"),
		g.call("grep", `{"pattern":"none"}`, "."),
		{Kind: job.WebExtractTool, Name: "web_extract", Arguments: []byte(`{"url":"` + page.URL + `/drip"}`)},
		{Kind: job.WebSearchTool, Name: "web_search", Arguments: []byte(`{"query":"x"}`)},
		{Kind: job.MCPTool, Name: "mcp__pipe__stay", Arguments: []byte(`{}`)},
		{Kind: job.MCPTool, Name: "mcp__net__stay", Arguments: []byte(`{}`)},
	} {
		t.Run(call.Name+" "+string(call.Arguments), func(t *testing.T) {
			ended := make(chan session.Event, 1)
			starter := job.NewStarter(registry, func(_ string, ev session.Event) { ended <- ev })
			defer starter.Close()
			call.Job = "j"
			if !starter.Start(call, 0) {
				t.Fatal("it did not start")
			}
			starter.Stop("", "j")
			if ev, ok := (<-ended).(session.BodyDone); !ok || ev.Outcome != `{"ok":false,"text":"stopped"}` {
				t.Errorf("cancelled: %+v", ev)
			}
			starter.Start(call, 100*time.Millisecond)
			if ev, ok := (<-ended).(session.BodyTimeout); !ok || ev.Limit != 100*time.Millisecond {
				t.Errorf("too long: %+v", ev)
			}
			starter.Start(call, 0)
			starter.Close()
			select {
			case ev := <-ended:
				t.Errorf("a host that ends settles nothing: %+v", ev)
			default:
			}
		})
	}
}

// A body that is told to end before it began does nothing, and says so.
func TestABodyThatIsEndedBeforeItBegins(t *testing.T) {
	g := newGround(t)
	var r job.Registry
	_, err := Register(&r, Options{Env: []string{"PATH=/usr/bin:/bin"}})
	must(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("a person said so")
	cancel(why)
	for _, call := range []job.Call{
		command(g.ws, "echo mine >a.txt"),
		g.call("read", `{"path":"a.txt"}`, "a.txt"),
		g.call("list", `{}`, "."),
		g.call("glob", `{"pattern":"*"}`, "."),
		g.call("grep", `{"pattern":"one"}`, "."),
		g.call("write", `{"path":"a.txt","content":"mine"}`, "a.txt"),
		g.call("write", `{"path":"new/b.txt","content":"mine"}`, "new/b.txt"),
		g.call("edit", `{"path":"a.txt","edits":[{"oldText":"one","newText":"mine"}]}`, "a.txt"),
		{Kind: job.WebExtractTool, Name: "web_extract", Arguments: []byte(`{"url":"http://127.0.0.1:1/"}`)},
	} {
		e, _ := r.Lookup(call.Kind, call.Name)
		out, err := e.Body(ctx, call)
		if !errors.Is(err, why) {
			t.Errorf("%s: %s %v", call.Name, out, err)
		}
	}
	if g.content("ws/a.txt") != "one\ntwo\nthree\n" {
		t.Error("the file was changed")
	}
	if _, err := os.Lstat(g.at("ws/new")); err == nil {
		t.Error("a folder was made")
	}
}

// A folder of very many names, a pattern that stands for very many, and a file
// that is larger than any disk cost what is shown of them.
func TestWhatIsTooMuchIsRefusedOrCut(t *testing.T) {
	g := newGround(t)
	out := do(t, g.call("glob", fmt.Sprintf(`{"pattern":%q}`, strings.Repeat("{a,a,a}", 30)), "."))
	if out.OK || !strings.Contains(out.Text, "too many alternatives") {
		t.Errorf("%+v", out)
	}
	if out := do(t, g.call("glob", `{"pattern":"**/{a,b}.{txt,md,{x,y}}"}`, ".")); out.Text != "a.txt" {
		t.Errorf("%+v", out)
	}
	g.file("ws/huge", "text\n")
	must(t, os.Truncate(g.at("ws/huge"), 1<<40))
	for _, call := range []job.Call{
		g.call("write", `{"path":"huge","content":"x"}`, "huge"),
		g.call("edit", `{"path":"huge","edits":[{"oldText":"text","newText":"x"}]}`, "huge"),
	} {
		if out := do(t, call); out.OK || !strings.Contains(out.Text, "are the most") {
			t.Errorf("%s: %+v", call.Name, out)
		}
	}
	if out := do(t, g.call("read", `{"path":"huge","limit":1}`, "huge")); out.OK {
		t.Errorf("read: %+v", out) // NULs are no text
	}
}

// What the system shows of its processes is known by what it is, wherever it is
// mounted.
func TestFilesOfTheSystemAreKnown(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	for _, name := range []string{"/proc/self/environ", "/proc/self/status"} {
		root, err := os.OpenRoot(filepath.Dir(name))
		if err != nil {
			t.Skip(err)
		}
		defer root.Close()
		if f, err := openFile(root, filepath.Base(name)); !errors.Is(err, ErrSystem) {
			t.Errorf("%s: %v %v", name, f, err)
		}
	}
}

// Names that look alike are other names.
func TestANameOfAnotherFormIsAnotherFile(t *testing.T) {
	g := newGround(t)
	g.file("ws/caf\u00e9", "composed")
	if _, err := os.Lstat(g.at("ws/cafe\u0301")); err == nil {
		t.Skip("the file system takes them for one")
	}
	g.file("ws/cafe\u0301", secret)
	if out := do(t, g.call("read", `{"path":"x"}`, "caf\u00e9")); out.Text != "composed" {
		t.Errorf("%+v", out)
	}
	must(t, os.Remove(g.at("ws/caf\u00e9")))
	if out := do(t, g.call("read", `{"path":"x"}`, "caf\u00e9")); out.OK || strings.Contains(out.Text, secret) {
		t.Errorf("%+v", out)
	}
}

// A file that appears where there was none is not overwritten, however late.
func TestANewFileReplacesNothing(t *testing.T) {
	g := newGround(t)
	c := &change{target: target{abs: g.at("ws/new"), shown: "new"}, absent: true, after: []byte("mine")}
	c.late = func() { g.file("ws/new", "another's") }
	if err := c.save(t.Context()); !errors.Is(err, errChanged) {
		t.Errorf("%v", err)
	}
	if got := g.content("ws/new"); got != "another's" {
		t.Errorf("the file holds %q", got)
	}
	if entries, _ := os.ReadDir(g.ws); len(entries) != 3 {
		t.Errorf("something is left: %v", entries)
	}
}

// An answer that unpacks without end is read as far as any other.
func TestAnAnswerThatUnpacksWithoutEnd(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for block := []byte(strings.Repeat("x", 1<<20)); ; {
			if _, err := z.Write(block); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, err := extract(t, t.Context(), &web{limit: time.Minute}, s.URL+"/")
	runtime.ReadMemStats(&after)
	if err != nil || !out.OK || !out.More {
		t.Errorf("%v %.200s %v", out.OK, out.Text, err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 100<<20 {
		t.Errorf("it took %d MiB", grown>>20)
	}
}

// A server that speaks no HTTP, one that sends headers without end, and a loop.
func TestHostileServersOfPages(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		switch r.URL.Path {
		case "/noise":
			io.WriteString(conn, strings.Repeat("\x00\xff", 1000))
		case "/headers":
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			for {
				if _, err := io.WriteString(conn, "X-More: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
					return
				}
			}
		case "/cut":
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\nhalf")
		}
	}))
	defer s.Close()
	for _, path := range []string{"/noise", "/headers", "/cut"} {
		if out, err := extract(t, t.Context(), &web{limit: time.Minute}, s.URL+path); err != nil || out.OK {
			t.Errorf("%s: %+v %v", path, out, err)
		}
	}
}
