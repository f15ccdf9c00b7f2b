package api_test

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"assent/front/api"
)

// Connections that nobody has looked at yet, and that take long to look at,
// keep nobody out that comes from elsewhere: not of one group, and not of many.
func TestFloodKeepsNobodyOut(t *testing.T) {
	for _, groups := range []int{1, 3, 4} {
		t.Run(fmt.Sprint(groups), func(t *testing.T) {
			var mu sync.Mutex
			made := 0
			flood := make(map[net.Conn]bool)
			looked := make(chan struct{})
			const many = 40
			w := newWorld(t, api.Options{
				Limits: api.Limits{Conns: 16, Each: 4},
				Group: func(conn net.Conn) string {
					mu.Lock()
					defer mu.Unlock()
					if made++; made <= many {
						flood[conn] = true
						return fmt.Sprint("flood ", made%groups)
					}
					return "elsewhere"
				},
				Role: func(conn net.Conn) api.Caller {
					mu.Lock()
					slow := flood[conn]
					mu.Unlock()
					if slow {
						<-looked
					}
					return role(conn)
				},
			})
			t.Cleanup(func() { close(looked) }) // before the world ends
			for range many {
				conn, err := net.Dial("unix", w.socket)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { conn.Close() })
			}
			if st, err := w.client.Status(t.Context()); err != nil || st.You.Role != "human" {
				t.Errorf("a person: %+v, %v", st.You, err)
			}
		})
	}
}
