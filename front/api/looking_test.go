package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"assent/approval"
	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/kernel"
	"assent/plexus"
)

// watch is a watch of nobody's client: it gives no signs of life.
type watch struct {
	net.Conn
	id     string
	within float64
}

func (w *world) watch(token, path string) watch {
	w.Helper()
	conn := w.dial(request("GET", path, "", "Authorization: Bearer "+token))
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var told wire.Watching
			if err := json.Unmarshal([]byte(data), &told); err != nil || told.Watch == "" || told.Within <= 0 {
				w.Fatalf("the first event is %s: %v", data, err)
			}
			return watch{conn, told.Watch, told.Within}
		}
	}
	w.Fatalf("no watch: %v", lines.Err())
	return watch{}
}

// lookers are the names of those who look at a session.
func lookers(p wire.Presence) (names []string) {
	for key := range p {
		if name, ok := strings.CutPrefix(key, wire.Looking); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sees waits until the client is told that these people look, and nobody else.
func (w *world) sees(session string, want ...string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
	defer cancel()
	var last []string
	for e, err := range w.client.Watch(ctx, session, 0) {
		if err != nil {
			w.Fatalf("told that %q look, want %q: %v", last, want, err)
		}
		if e.Presence == nil {
			continue
		}
		if last = lookers(e.Presence.Presence); slices.Equal(last, want) {
			return
		}
	}
}

// Who looks is seen by others: in the presence of the session and of the
// document, in the status, in an event; and ends with the connection.
func TestLookingIsSeen(t *testing.T) {
	nothingLeft(t)
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	w.session("other", "manual")
	before, err := w.doc.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bob := w.watch("bob", "/v1/sessions/s/watch")
	w.sees("s", "ada", "bob")
	for session, want := range map[string][]string{"s": {"bob"}, "other": nil, "": nil} {
		settles(t, "who looked for a moment is gone", func() bool {
			p, err := w.client.Presence(t.Context(), session)
			return err == nil && slices.Equal(lookers(p), want)
		})
	}
	doc, err := w.client.Session(t.Context(), "s")
	if err != nil || !slices.Equal(lookers(doc.Presence), []string{"bob"}) {
		t.Errorf("the document: %v, %v", doc.Presence, err)
	}
	st, err := w.client.Status(t.Context())
	if err != nil || len(st.Kernel.Looking) != 1 || st.Kernel.Looking[0].Name != "bob" || st.Kernel.Looking[0].Session != "s" || st.Kernel.Looking[0].Since.IsZero() {
		t.Errorf("the status: %+v, %v", st.Kernel, err)
	}
	// Who looks at all sessions looks at each.
	all := w.watch("bob", "/v1/watch")
	w.sees("other", "ada", "bob")
	bob.Close()
	w.sees("s", "ada", "bob")
	all.Close()
	w.sees("s", "ada")
	if status, body := w.raw(request("GET", "/v1/sessions/s/presence", "", "Authorization: Bearer hook")); status != 403 {
		t.Errorf("an agent is told who looks: %d %s", status, body)
	}
	after, err := w.doc.Head(t.Context())
	if err != nil || after != before {
		t.Errorf("looking wrote rows: %v, then %v, %v", before, after, err)
	}
}

// Whose sign of life counts.
func TestSignsOfLife(t *testing.T) {
	w := newWorld(t, api.Options{})
	mine := w.watch("ada", "/v1/watch")
	for _, a := range []struct {
		why, token, id string
		status         int
		code           wire.Code
	}{
		{"its own", "ada", mine.id, 200, ""},
		{"another person's", "bob", mine.id, 404, wire.NoName},
		{"an agent's", "hook", mine.id, 403, wire.Role},
		{"of no watch", "ada", "none", 404, wire.NoName},
		{"of a watch that is the path", "ada", "..", 404, wire.NotFound},
	} {
		status, body := w.raw(request("POST", "/v1/watches/"+a.id, "", "Authorization: Bearer "+a.token))
		if status != a.status || a.code != "" && code(body) != a.code {
			t.Errorf("%s: %d %s", a.why, status, body)
		}
	}
	mine.Close()
	settles(t, "a watch that ended takes none", func() bool {
		status, _ := w.raw(request("POST", "/v1/watches/"+mine.id, ""))
		return status == 404
	})
}

// A connection that stands while nobody is heard is nobody's presence.
func TestWhoIsNotHeardIsAway(t *testing.T) {
	nothingLeft(t)
	w := newWorld(t, api.Options{Limits: api.Limits{Heartbeat: 20 * time.Millisecond}})
	w.session("s", "manual")
	w.watch("bob", "/v1/sessions/s/watch")
	w.sees("s", "ada")
}

// A person who becomes known for an agent does not look any more.
func TestAnAgentDoesNotLook(t *testing.T) {
	var known atomic.Bool
	w := newWorld(t, api.Options{
		// Long, so that it is not for want of a sign of life.
		Limits: api.Limits{Heartbeat: time.Second},
		Role: func(net.Conn) api.Caller {
			return func(claim api.Claim) (plexus.Writer, error) {
				if claim.Agent || claim.Token == "bob" && known.Load() {
					return hook, nil
				}
				return tokens[claim.Token], nil
			}
		},
	})
	w.session("s", "manual")
	for _, path := range []string{"/v1/watch", "/v1/sessions/s/watch"} {
		if status, body := w.raw(request("GET", path, "", "Authorization: Bearer ada", wire.RoleHeader+": agent")); status != 403 {
			t.Errorf("%s: an agent watches: %d %s", path, status, body)
		}
	}
	w.watch("bob", "/v1/sessions/s/watch")
	known.Store(true)
	w.sees("s", "ada")
}

// The law asks whose seat a session is, and not who looks (law §3). Whatever is
// asked, in every mode and seat, comes to the same with and without anybody who
// looks: the same fields, the same queue.
func TestLookingDecidesNothing(t *testing.T) {
	w := newWorld(t, api.Options{})
	ctx := t.Context()
	come := func(look bool) map[string]string {
		if look {
			w.watch("ada", "/v1/watch")
		}
		out := make(map[string]string)
		for _, s := range []struct {
			mode string
			seat approval.Seat
		}{{"manual", approval.Attended}, {"auto", approval.Attended}, {"yolo", approval.Attended}, {"auto", approval.Unattended}, {"yolo", approval.Unattended}} {
			id := fmt.Sprintf("%s-%v-%t", s.mode, s.seat, look)
			if _, err := w.kernel.CreateSession(ctx, kernel.NewSession{ID: id, Mode: s.mode, Seat: s.seat, Workspace: w.dir}, ada); err != nil {
				t.Fatal(err)
			}
			if look {
				w.watch("ada", "/v1/sessions/"+id+"/watch")
			}
			for _, call := range []string{"let it", "other", "no way", "never ever"} {
				leaf := strings.Fields(call)[0]
				w.admit(id, leaf, call)
				w.until(id, leaf, plexus.PolicyResult)
				judged := s.mode == "auto" && (leaf == "other" || leaf == "no" && s.seat == approval.Unattended)
				switch {
				case judged:
					w.until(id, leaf, plexus.JudgeFail(1))
				case leaf == "let" || leaf == "never" || s.mode == "yolo":
					w.until(id, leaf, plexus.OrchestrationResult)
				}
				var job wire.Job
				settles(t, "the queue", func() bool {
					var err error
					job, err = w.client.Job(ctx, id, leaf)
					return err == nil && job.Leaf.NeedsHuman == (job.Leaf.OrchestrationResult == nil)
				})
				var names []string
				for name := range job.Leaf.Written {
					if !strings.HasPrefix(name, "judgeFail/") || name == plexus.JudgeFail(1) {
						names = append(names, name)
					}
				}
				slices.Sort(names)
				reason := ""
				if job.Leaf.LicenseReason != nil {
					reason = *job.Leaf.LicenseReason
				}
				out[fmt.Sprint(s.mode, " ", s.seat, " ", call)] = fmt.Sprint(names, reason, job.Leaf.NeedsHuman, job.Leaf.Approved)
			}
		}
		return out
	}
	if diff := cmp.Diff(come(false), come(true)); diff != "" {
		t.Errorf("somebody looks, and that changed something (-nobody, +somebody):\n%s", diff)
	}
}

// watcher is the variable that makes this test's binary a client that watches.
const watcher = "ASSENT_TEST_WATCHER"

func TestWatcherProcess(t *testing.T) {
	socket := os.Getenv(watcher)
	if socket == "" {
		t.Skip("is run by TestDeadClients")
	}
	c := client.New(socket, client.Options{Token: "bob"})
	for _, err := range c.Watch(context.Background(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Two people look, from processes of their own. One is killed; one is stopped,
// so that its connection stands, and goes on later.
func TestDeadClients(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	w := newWorld(t, api.Options{Limits: api.Limits{Heartbeat: 50 * time.Millisecond}})
	w.session("s", "manual")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func() *exec.Cmd {
		bob := exec.CommandContext(t.Context(), exe, "-test.run=^TestWatcherProcess$")
		bob.Env = append(os.Environ(), watcher+"="+w.socket)
		if err := bob.Start(); err != nil {
			t.Fatal(err)
		}
		return bob
	}
	signal := func(bob *exec.Cmd, s syscall.Signal) {
		if err := bob.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	bob := start()
	w.sees("s", "ada", "bob")
	signal(bob, syscall.SIGSTOP)
	w.sees("s", "ada")
	signal(bob, syscall.SIGCONT)
	w.sees("s", "ada", "bob")
	signal(bob, syscall.SIGKILL)
	var killed *exec.ExitError
	if err := bob.Wait(); !errors.As(err, &killed) {
		t.Errorf("it ended with %v", err)
	}
	w.sees("s", "ada")
	again := start()
	w.sees("s", "ada", "bob")
	signal(again, syscall.SIGKILL)
	_ = again.Wait()
	w.sees("s", "ada")
}
