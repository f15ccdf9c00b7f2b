package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"assent/internal/offspring"
)

// Server is how the server is reached, which [Program] or [Address] says.
type Server struct {
	start func(ctx context.Context, log func(string)) (server, error)
}

// server is the server, once it is there. Writes may come at once, reads from one
// place.
type server interface {
	// read gives the next message; an error is the end.
	read() (message, error)
	write(message) error
	// agreed tells which version of the protocol holds.
	agreed(version string)
	// hush tells that nothing more will be asked, end ends it and waits for that.
	hush()
	end()
}

// How long a program may take to end by itself, and how long what it wrote is read
// after that.
const (
	closeLimit = 2 * time.Second
	graceful   = 2 * time.Second
	drain      = time.Second
)

// program is a server that is a program: messages are lines of its standard input
// and output. All that it started ends with it.
type program struct {
	in, out *os.File
	lines   lines
	writing sync.Mutex
	kill    context.CancelFunc
	over    chan struct{} // closed when it has ended, with all that it started
	hushing sync.Once
}

// Program is a server that is started with a command. It has the environment and the
// folder of whoever starts it, as it would without a proxy; what it writes beside
// goes to stderr.
func Program(command []string, stderr io.Writer) Server {
	return Server{func(_ context.Context, _ func(string)) (server, error) {
		theirs, in, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer theirs.Close()
		out, answers, err := os.Pipe()
		if err != nil {
			in.Close()
			return nil, err
		}
		defer answers.Close()
		ctx, kill := context.WithCancel(context.Background())
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, answers, stderr
		child := offspring.Of(cmd, offspring.Options{Grace: graceful, Name: "server"})
		if err := child.Start(); err != nil {
			kill()
			in.Close()
			out.Close()
			return nil, err
		}
		p := &program{in: in, out: out, lines: newLines(out), kill: kill, over: make(chan struct{})}
		go func() {
			defer kill()
			defer close(p.over)
			_, _ = child.Wait() // nobody waits for a receipt of it
			// What it wrote is still read, but nobody who got away is waited for.
			_ = out.SetReadDeadline(time.Now().Add(drain))
		}()
		return p, nil
	}}
}

func (p *program) read() (message, error) {
	for {
		line, err := p.lines.next()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = io.EOF
		}
		if err != nil {
			return message{}, err
		}
		m, err := parse(line, lax)
		if err != nil {
			return message{}, fmt.Errorf("it wrote what is no message: %w", err)
		}
		return m, nil
	}
}

func (p *program) write(m message) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.in.Write(append(m.text(), '\n'))
	return err
}

func (p *program) agreed(string) {}

// hush gives it some time to end by itself.
func (p *program) hush() {
	p.hushing.Do(func() {
		p.in.Close()
		late := time.AfterFunc(closeLimit, p.kill)
		go func() {
			<-p.over
			late.Stop()
		}()
	})
}

func (p *program) end() {
	p.hush()
	<-p.over
	p.out.Close()
}
