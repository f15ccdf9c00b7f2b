package api_test

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"assent/front/api"
	"assent/plexus"
)

// Connections that nobody has looked at yet, and that take long to look at,
// keep nobody out that comes from elsewhere: not of one terminal or of several, and
// not of as many sessions as there are connections. Nor do those that were looked
// at: agents that connect and say nothing, or a part of something.
func TestFloodKeepsNobodyOut(t *testing.T) {
	const many = 60
	for _, test := range []struct {
		why     string
		origin  func(n int) (terminal, session string)
		says    string
		unknown bool // nobody gets to look at them
	}{
		{"one-session", func(int) (string, string) { return "flood", "flood" }, "", true},
		{"three-terminals", func(n int) (string, string) { return fmt.Sprint("flood ", n%3), "flood" }, "", true},
		{"four-terminals", func(n int) (string, string) { return fmt.Sprint("flood ", n%4), "flood" }, "", true},
		{"each-its-own-session", func(n int) (string, string) { return "flood", fmt.Sprint("flood ", n) }, "", true},
		{"each-its-own-terminal", func(n int) (string, string) { return fmt.Sprint("flood ", n), "flood" }, "", true},
		{"from-where-the-person-is", func(n int) (string, string) { return "elsewhere", fmt.Sprint("flood ", n/2) }, "", false},
		{"connects-and-holds", func(n int) (string, string) { return fmt.Sprint("flood ", n), "flood" }, "", false},
		{"a-part-of-a-head", func(n int) (string, string) { return fmt.Sprint("flood ", n), "flood" }, "GET /v1/status HTTP/1.1\r\nHost: as", false},
		{"a-part-of-a-body", func(n int) (string, string) { return fmt.Sprint("flood ", n), "flood" },
			"POST /v1/sessions HTTP/1.1\r\nHost: assent\r\nAuthorization: Bearer hook\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{", false},
	} {
		t.Run(test.why, func(t *testing.T) {
			var mu sync.Mutex
			made := 0
			flood := make(map[net.Conn]bool)
			looked := make(chan struct{})
			w := newWorld(t, api.Options{
				Limits: api.Limits{Conns: 16, Each: 4, Agents: 8},
				Origin: func(conn net.Conn) (terminal, session string) {
					mu.Lock()
					defer mu.Unlock()
					if made++; made <= many {
						flood[conn] = true
						return test.origin(made)
					}
					return "elsewhere", "elsewhere"
				},
				Role: func(conn net.Conn) api.Caller {
					mu.Lock()
					floods := flood[conn]
					mu.Unlock()
					if !floods {
						return role(conn)
					}
					if test.unknown {
						<-looked
					}
					return func(api.Claim) (plexus.Writer, error) { return hook, nil }
				},
			})
			t.Cleanup(func() { close(looked) }) // before the world ends
			for range many {
				conn, err := net.Dial("unix", w.socket)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { conn.Close() })
				_, _ = io.WriteString(conn, test.says) // it may be closed already
			}
			if st, err := w.client.Status(t.Context()); err != nil || st.You.Role != "human" {
				t.Errorf("a person: %+v, %v", st.You, err)
			}
		})
	}
}

// Who has gone already is not looked at, and takes no place.
func TestWhoIsGoneIsNotLookedAt(t *testing.T) {
	var mu sync.Mutex
	made := 0
	w := newWorld(t, api.Options{
		Limits: api.Limits{Conns: 1},
		Gone: func(net.Conn) bool {
			mu.Lock()
			defer mu.Unlock()
			made++
			return made <= 20
		},
		Role: func(conn net.Conn) api.Caller {
			mu.Lock()
			defer mu.Unlock()
			if made <= 20 {
				t.Error("looked at")
			}
			return role(conn)
		},
	})
	for range 20 {
		conn, err := net.Dial("unix", w.socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
	}
	if st, err := w.client.Status(t.Context()); err != nil || st.You.Role != "human" {
		t.Errorf("a person: %+v, %v", st.You, err)
	}
}
