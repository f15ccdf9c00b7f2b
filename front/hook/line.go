package hook

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"assent/front/api/wire"
)

// maxAnswer is how long an answer of the kernel may be, in bytes: a receipt has
// an outcome in it.
const maxAnswer = 32 << 20

// errNoKernel: nobody listens on the socket.
var errNoKernel = errors.New("the kernel is not running")

// line is one connection to the kernel, on which requests follow each other. It
// speaks as much HTTP/1.1 as the kernel's answers need and no more: a client for
// all of the web would take longer to start than the kernel to answer.
type line struct {
	socket string
	verify func(uid uint32) error
	conn   *os.File
	r      *bufio.Reader
}

func (l *line) close() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

// connect connects, again for a moment where too many do.
func (l *line) connect(ctx context.Context) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		fd, err := dial(l.socket)
		switch {
		case err == nil:
			if err := l.listens(fd); err != nil {
				unix.Close(fd)
				return err
			}
			l.conn = os.NewFile(uintptr(fd), l.socket)
			l.r = bufio.NewReaderSize(l.conn, 16<<10)
			return nil
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ECONNREFUSED):
			return errNoKernel
		case !errors.Is(err, unix.EAGAIN):
			return fmt.Errorf("connecting to the kernel: %w", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// dial connects a socket that does not block: a local one connects at once or
// not at all.
func dial(path string) (fd int, err error) {
	syscall.ForkLock.RLock()
	fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return -1, err
	}
	if err = unix.SetNonblock(fd, true); err == nil {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
	}
	if err != nil {
		unix.Close(fd)
	}
	return fd, err
}

// listens asks who listens, and whether that is right.
func (l *line) listens(fd int) error {
	uid, err := listener(fd)
	if err != nil {
		return fmt.Errorf("who listens on %s: %w", l.socket, err)
	}
	return l.verify(uid)
}

// ask sends a request and reads its answer into out. What the kernel refuses is
// a [*wire.Problem].
func (l *line) ask(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("writing to the kernel: %w", err)
		}
	}
	status, text, err := l.exchange(ctx, method, path, body)
	if err != nil {
		l.close()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("speaking to the kernel: %w", err)
	}
	if status >= 300 {
		problem := new(wire.Problem)
		if json.Unmarshal(text, problem) != nil || problem.Code == "" {
			return fmt.Errorf("the kernel answers with status %d", status)
		}
		return problem
	}
	if err := json.Unmarshal(text, out, json.RejectUnknownMembers(false)); err != nil {
		return fmt.Errorf("the kernel's answer cannot be read: %w", err)
	}
	return nil
}

func (l *line) exchange(ctx context.Context, method, path string, body []byte) (status int, text []byte, err error) {
	if l.conn == nil {
		if err := l.connect(ctx); err != nil {
			return 0, nil, err
		}
	}
	// A context that ends cuts the connection: nothing waits longer.
	stop := context.AfterFunc(ctx, func() { l.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: %s\r\n%s: agent\r\n", method, path, wire.Host, wire.RoleHeader)
	if body != nil {
		fmt.Fprintf(&head, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	} else if method != "GET" {
		head.WriteString("Content-Length: 0\r\n")
	}
	head.WriteString("\r\n")
	head.Write(body)
	if _, err := l.conn.Write(head.Bytes()); err != nil {
		return 0, nil, err
	}
	return readAnswer(l.r)
}

// longestLine bounds a line of an answer's head.
const longestLine = 8 << 10

func readLine(r *bufio.Reader) (string, error) {
	text, err := r.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull || len(text) > longestLine:
		return "", errors.New("a line of the answer is too long")
	case err == io.EOF:
		return "", io.ErrUnexpectedEOF
	case err != nil:
		return "", err
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

func readAnswer(r *bufio.Reader) (status int, text []byte, err error) {
	first, err := readLine(r)
	if err != nil {
		return 0, nil, err
	}
	version, rest, _ := strings.Cut(first, " ")
	code, _, _ := strings.Cut(rest, " ")
	if status, err = strconv.Atoi(code); err != nil || version != "HTTP/1.1" || status < 200 || status > 599 {
		return 0, nil, fmt.Errorf("what answers is not the kernel: %.60q", first)
	}
	length, chunked := int64(-1), false
	for i := 0; ; i++ {
		h, err := readLine(r)
		if err != nil {
			return 0, nil, err
		}
		if h == "" {
			break
		}
		if i > 100 {
			return 0, nil, errors.New("the answer has too many headers")
		}
		name, value, _ := strings.Cut(h, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "content-length":
			if length, err = strconv.ParseInt(value, 10, 64); err != nil || length < 0 {
				return 0, nil, fmt.Errorf("the answer has a length of %.20q", value)
			}
		case "transfer-encoding":
			if chunked = strings.EqualFold(value, "chunked"); !chunked {
				return 0, nil, fmt.Errorf("the answer is encoded as %.20q", value)
			}
		}
	}
	switch {
	case chunked:
		text, err = readChunks(r)
	case length > maxAnswer:
		err = fmt.Errorf("the answer has %d bytes", length)
	case length >= 0:
		text = make([]byte, length)
		_, err = io.ReadFull(r, text)
	case status != 204:
		err = errors.New("the answer has no length")
	}
	return status, text, err
}

func readChunks(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		size, err := readLine(r)
		if err != nil {
			return nil, err
		}
		size, _, _ = strings.Cut(size, ";")
		n, err := strconv.ParseUint(strings.TrimSpace(size), 16, 32)
		if err != nil || uint64(len(text))+n > maxAnswer {
			return nil, fmt.Errorf("a part of the answer has a size of %.20q", size)
		}
		if n == 0 {
			for { // trailers, of which the kernel sends none
				if h, err := readLine(r); err != nil || h == "" {
					return text, err
				}
			}
		}
		at := len(text)
		text = append(text, make([]byte, n)...)
		if _, err := io.ReadFull(r, text[at:]); err != nil {
			return nil, err
		}
		if end, err := readLine(r); err != nil || end != "" {
			return nil, errors.New("the answer is cut in the wrong place")
		}
	}
}
