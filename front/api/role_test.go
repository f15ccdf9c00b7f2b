package api_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assent/front/api"
	"assent/front/api/wire"
	"assent/plexus"
)

// Who becomes known for an agent while its body comes, or while it watches, is
// one from then on.
func TestRolesChange(t *testing.T) {
	var known atomic.Bool
	w := newWorld(t, api.Options{
		Limits: api.Limits{Heartbeat: 20 * time.Millisecond},
		Role: func(net.Conn) api.Caller {
			return func(claim api.Claim) (plexus.Writer, error) {
				if known.Load() && claim.Token == "" {
					return hook, nil
				}
				return tokens[claim.Token], nil
			}
		},
	})
	w.session("s", "manual")
	w.admit("s", "j", "other")
	w.until("s", "j", plexus.PolicyResult)

	watching := bufio.NewReader(w.dial(request("GET", "/v1/sessions/s/watch", "")))
	if _, err := watching.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	answering := w.dial(request("PUT", "/v1/sessions/s/jobs/j/approved", "tr", "Content-Length: 4"))
	watch := w.dial(request("PUT", "/v1/sessions/s/mode", `{"mode":`, "Content-Length: 15"))
	settles(t, "both are being read", func() bool {
		st, err := w.client.Status(t.Context())
		return err == nil && st.Kernel.Watchers == 1
	})
	known.Store(true)
	if _, err := io.WriteString(answering, "ue"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(watch, `"yolo"}`); err != nil {
		t.Fatal(err)
	}
	for _, conn := range []net.Conn{answering, watch} {
		if status, body := answer(conn); status != 403 || code(body) != wire.Role {
			t.Errorf("%d %s", status, body)
		}
	}
	if b, err := io.ReadAll(watching); err != nil || !strings.Contains(string(b), `"code":"role"`) {
		t.Errorf("the watch: %v, %.300s", err, b)
	}
	doc, err := w.client.Session(t.Context(), "s")
	if err != nil || doc.View.CurrentPolicy != "manual" || doc.Jobs[0].Leaf.Approved != nil {
		t.Errorf("%+v, %v", doc, err)
	}
}

// However many connections agents hold, a person gets one.
func TestAgentsLeaveRoomForPeople(t *testing.T) {
	nothingLeft(t)
	var person atomic.Bool
	w := newWorld(t, api.Options{
		Limits: api.Limits{Agents: 4, Conns: 6},
		Role: func(net.Conn) api.Caller {
			by := hook
			if person.Load() {
				by = ada
			}
			return func(api.Claim) (plexus.Writer, error) { return by, nil }
		},
	})
	closed := 0
	for range 20 {
		conn := w.dial("")
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := conn.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
			closed++
		}
	}
	if closed < 10 {
		t.Errorf("%d of 20 connections were refused", closed)
	}
	person.Store(true)
	st, err := w.client.Status(t.Context())
	if err != nil || st.You.Role != "human" {
		t.Errorf("a person is kept out: %+v, %v", st, err)
	}
}

// However many connections and requests one agent holds, another gets its own.
func TestAgentsLeaveRoomForEachOther(t *testing.T) {
	nothingLeft(t)
	var who atomic.Pointer[plexus.Writer]
	who.Store(&hook)
	w := newWorld(t, api.Options{
		Limits: api.Limits{Agents: 8, Each: 3},
		Role: func(net.Conn) api.Caller {
			by := *who.Load()
			return func(api.Claim) (plexus.Writer, error) { return by, nil }
		},
	})
	var open []net.Conn
	for range 20 {
		open = append(open, w.dial(""))
	}
	settles(t, "one agent has three connections", func() bool {
		open = slices.DeleteFunc(open, func(conn net.Conn) bool {
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			_, err := conn.Read(make([]byte, 1))
			return !errors.Is(err, os.ErrDeadlineExceeded)
		})
		return len(open) <= 3
	})
	if len(open) != 3 {
		t.Errorf("it has %d connections, want 3", len(open))
	}
	who.Store(&spy)
	st, err := w.client.Status(t.Context())
	if err != nil || st.You.Name != "spy" {
		t.Errorf("another agent is kept out: %+v, %v", st, err)
	}
}
