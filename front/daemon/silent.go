package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"assent/internal/peer"
)

// Silent is the error of a kernel that is there and says nothing. Whoever
// connects would wait for ever: the system takes the connection in its stead.
type Silent struct {
	Process int  // 0 when it is not known
	Stopped bool // held by a signal or a debugger
}

func (s *Silent) Error() string {
	who := "the kernel"
	if s.Process != 0 {
		who = fmt.Sprintf("the kernel (process %d)", s.Process)
	}
	if s.Stopped {
		return who + " is stopped: it answers nobody until it goes on"
	}
	return who + " does not answer: it lets others connect and says nothing"
}

// Hint says what to do.
func (s *Silent) Hint() string {
	if s.Stopped {
		return fmt.Sprintf("let it go on with: kill -CONT %d", s.Process)
	}
	return "it may be busy: try again; its log may say more, and \"assent down\" ends it"
}

// A kernel may be silent for so long before that is told; one that is stopped,
// which it says nothing of itself, for as long as a look takes.
const (
	hush = 5 * time.Second
	look = 300 * time.Millisecond
)

// crowded is how long to wait for a place among those who connect.
const crowded = 20 * time.Millisecond

// Listen says whether a kernel that is there says anything: nil when it does, or
// when none is there, and [*Silent] when it was silent for some seconds.
func Listen(ctx context.Context, socket string) error {
	_, err := heard(ctx, socket)
	return err
}

// heard asks the kernel on a socket for anything at all.
func heard(ctx context.Context, socket string) (answered bool, err error) {
	conn, err := net.Dial("unix", socket)
	for until := time.Now().Add(hush); errors.Is(err, syscall.EAGAIN); conn, err = net.Dial("unix", socket) {
		// So many wait that there is no place. They may come faster than it takes them.
		if time.Now().After(until) {
			return false, &Silent{}
		}
		select {
		case <-time.After(crowded):
		case <-ctx.Done():
			return false, &Silent{}
		}
	}
	if err != nil {
		return false, nil
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /v1/status HTTP/1.1\r\nHost: assent\r\nConnection: close\r\n\r\n"); err != nil {
		return false, nil
	}
	pid := 0
	if at, ok := conn.(*net.UnixConn); ok {
		pid = peer.Listener(at)
	}
	for _, wait := range []time.Duration{look, hush - look} {
		until := time.Now().Add(wait)
		if end, ok := ctx.Deadline(); ok && end.Before(until) {
			until = end
		}
		if err := conn.SetReadDeadline(until); err != nil {
			return false, nil
		}
		n, err := conn.Read(make([]byte, 1))
		if e, ok := errors.AsType[net.Error](err); !ok || !e.Timeout() {
			return n == 1, nil
		}
		if peer.Stopped(pid) {
			return false, &Silent{pid, true}
		}
	}
	return false, &Silent{Process: pid}
}

// plain is an error in words of its own.
type plain struct {
	text string
	error
}

func (p plain) Error() string { return p.text }

func (p plain) Unwrap() error { return p.error }
