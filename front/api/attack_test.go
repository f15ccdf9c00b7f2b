package api_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/kernel"
	"assent/plexus"
)

// settles waits until something is so.
func settles(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !so(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Errorf("%s: not even after 20 s", what)
			return
		}
	}
}

func handles() int {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(files)
}

// nothingLeft checks, after all else of the test, that goroutines and handles
// are as they were.
func nothingLeft(t *testing.T) {
	t.Helper()
	goroutines, files := runtime.NumGoroutine(), handles()
	t.Cleanup(func() {
		settles(t, "goroutines and handles are back", func() bool {
			return runtime.NumGoroutine() <= goroutines && handles() <= files
		})
		if t.Failed() {
			b := make([]byte, 1<<20)
			t.Logf("%d goroutines, %d before; %d handles, %d before\n%s", runtime.NumGoroutine(), goroutines, handles(), files, b[:runtime.Stack(b, true)])
		}
	})
}

// dial opens a connection and sends text on it.
func (w *world) dial(text string) net.Conn {
	w.Helper()
	conn, err := net.Dial("unix", w.socket)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		w.Fatal(err)
	}
	_, _ = io.WriteString(conn, text) // the other end may have closed it: who reads sees that
	return conn
}

func TestSlowRequestsEnd(t *testing.T) {
	nothingLeft(t)
	w := newWorld(t, api.Options{Limits: api.Limits{Header: 20 * time.Millisecond, Body: 40 * time.Millisecond, Idle: 20 * time.Millisecond}})
	if _, err := w.kernel.CreateSession(t.Context(), kernel.NewSession{ID: "s", Workspace: w.dir}, ada); err != nil {
		t.Fatal(err)
	}
	for why, text := range map[string]string{
		"nothing comes":            "",
		"a header that never ends": "GET /v1/status HTTP/1.1\r\nHost: assent\r\nX: y",
		"a body that never comes":  request("PUT", "/v1/sessions/s/mode", "", "Content-Type: application/json", "Content-Length: 10"),
		"a body that never ends":   request("PUT", "/v1/sessions/s/mode", `{"mode":`, "Content-Length: 20"),
		"chunks that never end":    request("PUT", "/v1/sessions/s/mode", "5\r\n{\"mod", "Transfer-Encoding: chunked"),
		"nothing after an answer":  request("GET", "/v1/status", "", "Connection: keep-alive"),
	} {
		b, err := io.ReadAll(w.dial(text))
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			continue // reset
		}
		if err != nil {
			t.Errorf("%s: the connection stands", why)
		}
		// On a busy machine the time may be over before the request is looked at.
		if strings.Contains(why, "body") && len(b) > 0 && !strings.Contains(string(b), `"code":"timeout"`) {
			t.Errorf("%s: %s", why, b)
		}
	}
}

// A request that has come is not cut off by the time that it had to come.
func TestWatchOutlivesTheTimeOfRequests(t *testing.T) {
	nothingLeft(t)
	w := newWorld(t, api.Options{Limits: api.Limits{Body: 200 * time.Millisecond, Heartbeat: 20 * time.Millisecond}})
	lines := bufio.NewScanner(w.dial(request("GET", "/v1/watch", "")))
	beats := 0
	for beats < 20 && lines.Scan() {
		if lines.Text() == ":" {
			beats++
		}
	}
	if beats < 20 {
		t.Errorf("after %d signs of life it ended: %v", beats, lines.Err())
	}
}

func TestPlacesAreFew(t *testing.T) {
	nothingLeft(t)
	w := newWorld(t, api.Options{Limits: api.Limits{Agents: 1, Watchers: 1, Conns: 8}})
	w.session("s", "manual")
	w.admit("s", "j", "other")
	waiting := w.dial(request("GET", "/v1/sessions/s/jobs/j/receipt?wait=decided", "", "Authorization: Bearer hook"))
	settles(t, "an agent waits", func() bool {
		status, _ := w.raw(request("GET", "/v1/status", "", "Authorization: Bearer hook"))
		return status == 429
	})
	if _, err := w.client.Status(t.Context()); err != nil {
		t.Errorf("agents keep a person out: %v", err)
	}
	waiting.Close()
	settles(t, "an agent that went gives its place back", func() bool { _, err := w.agent.Status(t.Context()); return err == nil })

	watching := w.dial(request("GET", "/v1/watch", ""))
	if _, err := bufio.NewReader(watching).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if status, body := w.raw(request("GET", "/v1/watch", "")); status != 429 || code(body) != wire.TooMany {
		t.Errorf("a watch too many: %d %s", status, body)
	}
	// Half closed is closed: nobody of ours sends and goes on to listen.
	if err := watching.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, watching); err != nil {
		t.Errorf("a watch that was half closed stands: %v", err)
	}

	w.client.Close()
	w.agent.Close()
	var conns []net.Conn
	settles(t, "one connection too many is closed", func() bool {
		conn := w.dial("")
		conns = append(conns, conn)
		_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		_, err := conn.Read(make([]byte, 1))
		return errors.Is(err, io.EOF)
	})
	if len(conns) > 9 {
		t.Errorf("%d connections stood", len(conns)-1)
	}
	for _, conn := range conns {
		conn.Close()
	}
	settles(t, "places of connections come back", func() bool { _, err := w.client.Status(t.Context()); return err == nil })
}

// A watcher that takes nothing is dropped, holds nobody up, and misses nothing
// when it comes back.
func TestSlowWatcher(t *testing.T) {
	nothingLeft(t)
	w := newWorld(t, api.Options{Limits: api.Limits{Write: 500 * time.Millisecond}})
	w.session("s", "manual")
	slow := w.dial(request("GET", "/v1/sessions/s/watch", ""))
	first, err := bufio.NewReaderSize(slow, 16).ReadString('\n')
	if err != nil || !strings.Contains(first, "200") {
		t.Fatalf("%q, %v", first, err)
	}
	const calls = 40
	large := strings.Repeat("x", 64<<10)
	for i := range calls {
		w.admit("s", fmt.Sprint("j", i), "other "+large)
	}
	settles(t, "the slow one is dropped", func() bool {
		st, err := w.client.Status(t.Context())
		return err == nil && st.Kernel.Watchers == 0
	})
	jobs := make(map[string]bool)
	var last wire.Rev
	for e, err := range w.client.Watch(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range e.Rows {
			if row.Rev <= last {
				t.Fatalf("rev %d after %d", row.Rev, last)
			}
			last = row.Rev
			if row.Job != nil {
				jobs[row.Job.ID] = true
			}
		}
		if len(jobs) == calls {
			break
		}
	}
}

// Many watch while many write: all see the same, in the same order.
func TestManyWatchers(t *testing.T) {
	nothingLeft(t)
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	const watchers, writers, each = 40, 4, 25
	var all sync.WaitGroup
	seen := make([]string, watchers)
	for i := range watchers {
		all.Go(func() {
			var b strings.Builder
			jobs := 0
			for e, err := range w.client.Watch(t.Context(), "s", 0) {
				if err != nil {
					t.Error(err)
					return
				}
				for _, row := range e.Rows {
					if row.Job != nil {
						jobs++
						fmt.Fprintf(&b, "%d %s\n", row.Rev, row.Job.ID)
					}
				}
				if jobs == writers*each {
					seen[i] = b.String()
					return
				}
			}
		})
	}
	for i := range writers {
		all.Go(func() {
			for j := range each {
				if _, err := w.agent.Admit(t.Context(), "s", wire.NewJob{ID: fmt.Sprint(i, "-", j), Name: "Bash", Arguments: bash("other")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i, s := range seen {
		if s != seen[0] || s == "" {
			t.Errorf("watcher %d saw another order:\n%s\nthan the first:\n%s", i, s, seen[0])
		}
	}
}

// Two people answer at once: one answer stands, and the other is told.
func TestTwoAnswers(t *testing.T) {
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	for i := range 20 {
		id := fmt.Sprint("j", i)
		w.admit("s", id, "other")
		w.until("s", id, plexus.PolicyResult)
		var both sync.WaitGroup
		errs := make([]error, 2)
		for k := range errs {
			both.Go(func() { _, errs[k] = w.client.Answer(t.Context(), "s", id, k == 0, "") })
		}
		both.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("answers: %v, %v", errs[0], errs[1])
		}
		for _, err := range errs {
			if err != nil && !errors.Is(err, wire.Written) && !errors.Is(err, wire.Completed) {
				t.Errorf("who came second is told %v", err)
			}
		}
		receipt, err := w.agent.Receipt(t.Context(), "s", id, client.Decided)
		if err != nil || *receipt.OrchestrationResult != (errs[0] == nil) {
			t.Errorf("receipt %+v, %v after %v", receipt, err, errs)
		}
	}
}

// A server that ends lets nobody wait; a client finds the next one and goes on
// where it was.
func TestWatchFindsTheNextServer(t *testing.T) {
	nothingLeft(t)
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	w.admit("s", "before", "other")
	w.until("s", "before", plexus.PolicyResult)
	told := make(chan wire.Row, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e, err := range w.client.Watch(t.Context(), "s", 0) {
			if err != nil {
				t.Error(err)
				return
			}
			for _, row := range e.Rows {
				told <- row
				if row.Job != nil && row.Job.ID == "after" {
					return
				}
			}
		}
	}()
	for row := range told {
		if row.Job != nil {
			break
		}
	}
	if err := errors.Join(w.server.Shutdown(t.Context()), <-w.served); err != nil {
		t.Fatal(err)
	}
	w.serve(api.Options{})
	w.admit("s", "after", "other")
	<-done
	close(told)
	revs := make(map[wire.Rev]bool)
	for row := range told {
		if revs[row.Rev] {
			t.Errorf("rev %d came twice", row.Rev)
		}
		revs[row.Rev] = true
	}
}
