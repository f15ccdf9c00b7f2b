package gateway

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
)

// Piped is a server at the other end of two pipes.
func Piped(out io.ReadCloser, in io.WriteCloser) Server {
	return Server{func(context.Context, func(string)) (server, error) {
		return &piped{lines: lines{bufio.NewReader(out)}, out: out, in: in}, nil
	}}
}

type piped struct {
	lines
	out io.ReadCloser
	in  io.WriteCloser
	mu  sync.Mutex
}

func (p *piped) read() (message, error) {
	line, err := p.next()
	if err != nil {
		if errors.Is(err, io.ErrClosedPipe) {
			err = io.EOF
		}
		return message{}, err
	}
	return parse(line, lax)
}

func (p *piped) write(m message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.in.Write(append(m.text(), '\n'))
	return err
}

func (p *piped) agreed(string) {}
func (p *piped) hush()         { p.in.Close() }
func (p *piped) end()          { p.in.Close(); p.out.Close() }

// The most of what there may be.
const (
	MaxCalls   = maxCalls
	MaxAsked   = maxAsked
	MaxMessage = maxMessage
)

// Within has f say how long a call is held.
func Within(o *Options, f func(context.Context) (context.Context, context.CancelFunc)) {
	o.within = f
}
