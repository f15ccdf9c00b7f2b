package toolkit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"assent/internal/offspring"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// program is a server that is a program: messages are lines of its standard input
// and output. All that it started ends with it. When the host is killed, its input ends,
// and on Linux the program is killed, and what it started when the host starts again.
type program struct {
	in, out *os.File
	lines   *bufio.Reader
	log     *output      // what it writes beside
	stale   *atomic.Bool // set when it says that its tools have changed

	writing chan struct{} // held while a message is written
	asked   atomic.Int32  // requests of it without an answer
	over    chan struct{} // closed when it has ended, with all that it started
	kill    context.CancelFunc
	ending  sync.Once
}

var (
	_ mcp.Transport  = (*program)(nil)
	_ mcp.Connection = (*program)(nil)
)

// start runs the program of a server.
func start(m MCPServer, env []string, book *offspring.Book, stale *atomic.Bool) (*program, error) {
	theirs, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, answers, err := os.Pipe()
	if err != nil {
		theirs.Close()
		in.Close()
		return nil, err
	}
	p := &program{in: in, out: out, lines: bufio.NewReaderSize(out, 64<<10), log: newOutput(nil), stale: stale,
		writing: make(chan struct{}, 1), over: make(chan struct{})}
	ctx, kill := context.WithCancel(context.Background())
	p.kill = kill
	cmd := exec.CommandContext(ctx, m.Command, m.Args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, theirs, answers, p.log
	child := offspring.Of(cmd, offspring.Options{Grace: graceful, Book: book, Name: "server"})
	err = child.Start()
	theirs.Close()
	answers.Close()
	if err != nil {
		kill()
		in.Close()
		out.Close()
		return nil, err
	}
	go func() {
		defer kill()
		defer close(p.over)
		_, _ = child.Wait() // nobody waits for a receipt of it
		// What it wrote is still read, but nobody who got away is waited for.
		_ = out.SetReadDeadline(time.Now().Add(drain))
	}()
	return p, nil
}

// Connect is part of [mcp.Transport].
func (p *program) Connect(context.Context) (mcp.Connection, error) { return p, nil }

// SessionID is part of [mcp.Connection].
func (p *program) SessionID() string { return "" }

// drain is how long the output of a program that ended is read.
const drain = time.Second

// toolsChanged is what a server says when it has other tools.
const toolsChanged = "notifications/tools/list_changed"

// Read is the next message that matters here. Whatever is wrong with one ends the
// connection: where the next begins cannot be told.
func (p *program) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		line, err := p.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			continue
		}
		message, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			return nil, fmt.Errorf("the server wrote what is no message: %w", err)
		}
		request, ok := message.(*jsonrpc.Request)
		switch {
		case !ok:
		case request.IsCall():
			if p.asked.Add(1) > maxAsked {
				return nil, errAsks
			}
			if request.Method != "ping" { // what it asks is offered to nobody, and not read
				request.Method, request.Params = "none", nil
			}
		case request.Method != toolsChanged:
			continue // nothing else that it tells is used
		case p.stale.Swap(true):
			continue // known, and nobody has looked since
		}
		return message, nil
	}
}

// line is the next line, without its end.
func (p *program) line() ([]byte, error) {
	var line []byte
	for {
		part, err := p.lines.ReadSlice('\n')
		if len(line)+len(part) > maxMessage {
			return nil, errTooLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSpace(line), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(bytes.TrimSpace(line)) > 0:
			return nil, fmt.Errorf("the server ended within a message: %w", io.ErrUnexpectedEOF)
		default:
			return nil, fmt.Errorf("the server ended: %w", io.EOF)
		}
	}
}

// Write writes a message. A server that does not take it keeps nobody longer than
// ctx; one that took a part of it is ended.
func (p *program) Write(ctx context.Context, message jsonrpc.Message) error {
	if _, ok := message.(*jsonrpc.Response); ok {
		defer p.asked.Add(-1)
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	select {
	case p.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-p.over:
		return fmt.Errorf("the server ended: %w", io.EOF)
	}
	defer func() { <-p.writing }()
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		_ = p.in.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := p.in.Write(append(text, '\n'))
	if !stop() {
		<-cut
		_ = p.in.SetWriteDeadline(time.Time{})
	}
	switch {
	case err == nil:
		return nil
	case n == 0 && ctx.Err() != nil:
		return ctx.Err()
	}
	p.end()
	return fmt.Errorf("the server takes no message: %w", err)
}

// Close is part of [mcp.Connection]. It waits for nothing.
func (p *program) Close() error {
	p.end()
	p.out.Close() // whoever reads is told
	return nil
}

// end has the program end: its input ends, and what is still there a little later
// is asked to end, and then killed, with all that it started. [program.over] tells
// when that is done.
func (p *program) end() {
	p.ending.Do(func() {
		p.in.Close()
		late := time.AfterFunc(closeLimit, p.kill)
		go func() {
			<-p.over
			late.Stop()
		}()
	})
}
