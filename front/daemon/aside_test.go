package daemon

import (
	"testing"

	"assent/internal/peer"
)

// Nobody is given a session who is whoever gives it, or holds them.
func TestAside(t *testing.T) {
	asks := peer.Facts{Lineage: []peer.Ancestor{
		{Process: peer.Process{PID: 30, Start: 3}, Session: 20},
		{Process: peer.Process{PID: 20, Start: 2}, Session: 20, Terminal: 5},
		{Process: peer.Process{PID: 10, Start: 1}, Session: 10},
		{Process: peer.Process{PID: 1, Start: 1}},
	}}
	body := func(pid int, start uint64, session int) peer.Body {
		return peer.Body{Process: peer.Process{PID: pid, Start: start}, Session: session}
	}
	for _, test := range []struct {
		why     string
		pid     peer.Process
		body    peer.Body
		refused bool
	}{
		{"an agent in a terminal of its own", peer.Process{PID: 50, Start: 9}, body(40, 8, 40), false},
		{"an agent without a terminal", peer.Process{PID: 50, Start: 9}, body(50, 9, 0), false},
		{"a number that was given out again", peer.Process{PID: 10, Start: 7}, body(10, 7, 9), false},
		{"the first process", peer.Process{PID: 1, Start: 1}, body(1, 1, 0), true},
		{"an agent that would be found in the first process", peer.Process{PID: 50, Start: 9}, body(1, 1, 0), true},
		{"the asker's own shell", peer.Process{PID: 20, Start: 2}, body(20, 2, 20), true},
		{"what the asker's shell was started by", peer.Process{PID: 10, Start: 1}, body(10, 1, 10), true},
		{"a job of the asker's terminal", peer.Process{PID: 60, Start: 9}, body(60, 9, 20), true},
		{"one whose root holds the asker", peer.Process{PID: 50, Start: 9}, body(10, 1, 0), true},
	} {
		f := peer.Facts{Lineage: []peer.Ancestor{{Process: test.pid}}}
		if err := aside(asks, f, test.body); (err != nil) != test.refused {
			t.Errorf("%s: %v", test.why, err)
		}
	}
}
