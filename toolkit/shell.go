package toolkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"assent/internal/offspring"
	"assent/job"
)

// How much of a command's output is kept: its beginning and its end.
const (
	keepHead = 32 << 10 // bytes
	keepTail = 64 << 10
)

// graceful is the patience with a command that was told to end, until it is killed.
const graceful = 2 * time.Second

// progressEvery is how often those who look are told the end of the output.
const progressEvery = 200 * time.Millisecond

type bashArguments struct {
	Command string `json:"command"`
	// Timeout is in milliseconds: less than the host's limit, if that has one.
	Timeout int `json:"timeout,omitzero"`
}

type bashOutcome struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	// Exit is the exit code: absent where the command was ended by a signal.
	Exit   *int   `json:"exitCode,omitzero"`
	Signal string `json:"signal,omitzero"`
	// Omitted is how many bytes of the output were left out of the middle.
	Omitted int64 `json:"omitted,omitzero"`
}

// shell runs commands as the host's user.
type shell struct {
	program string   // absolute
	env     []string // all the variables a command gets
	book    *offspring.Book
}

// run is the body of the tool bash. The command gets a session of its own, nothing to
// read, and both its outputs kept in the order they came; all that it starts ends with
// it. It is not run again when it may have run before (law §7).
func (s *shell) run(ctx context.Context, call job.Call) (job.Outcome, error) {
	name := "command " + call.Session + " " + string(call.Job)
	if call.Resumed && call.Begun {
		return failed(fmt.Errorf("%w; %v", errResumed, s.book.Earlier(name)))
	}
	var a bashArguments
	if err := call.Decode(&a); err != nil {
		return failed(err)
	}
	if a.Timeout < 0 {
		return failed(errors.New("timeout is in milliseconds"))
	}
	dir, err := startingIn(call)
	if err != nil {
		return failed(fmt.Errorf("the command did not start: %w", err))
	}
	defer dir.close()
	out := newOutput(call.Progress)
	defer out.close()
	limit := time.Duration(a.Timeout) * time.Millisecond
	within := ctx
	if limit > 0 {
		var stop context.CancelFunc
		within, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	cmd := exec.CommandContext(within, s.program, "-c", a.Command)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir.path, s.env, out, out
	child := offspring.Of(cmd, offspring.Options{Grace: graceful, Book: s.book, Name: name})
	if err := child.Start(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return failed(fmt.Errorf("the command did not start: %w", dir.because(err)))
	}
	left, err := child.Wait()
	switch {
	case ctx.Err() != nil:
		// The receipt says that it was cut short. What it had done stays done.
		return nil, &job.Cut{Cause: context.Cause(ctx), Note: until(out, left)}
	case within.Err() != nil:
		return failed(fmt.Errorf("timed out after %dms\n%s", a.Timeout, also(out.text(), left)))
	case err != nil && cmd.ProcessState == nil:
		return failed(err)
	}
	result := bashOutcome{OK: cmd.ProcessState.Success(), Text: also(out.text(), left), Omitted: out.omitted()}
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		result.Exit = &code
	} else {
		result.Signal = strings.TrimPrefix(cmd.ProcessState.String(), "signal: ")
	}
	return job.JSON(result)
}

// until is what a command that was cut short had written, and what is left of it.
func until(out *output, left offspring.Left) string {
	text := out.text()
	if text != "" {
		text = "it wrote until then:\n" + text
	}
	return also(text, left)
}

// also is a text with what is left of a command, if anything is.
func also(text string, left offspring.Left) string {
	if !left.Any() {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + "[" + left.String() + "]"
}

// output keeps the beginning and the end of what is written to it, in bounded
// memory, and tells the end of it now and then.
type output struct {
	head, tail []byte
	at         int   // where the tail's ring goes on
	total      int64 // bytes written
	tell       func(string)
	told       time.Time
	now        func() time.Time
	closed     bool
	lock       chan struct{}
}

var _ io.Writer = (*output)(nil)

func newOutput(progress func(string)) *output {
	return &output{tell: progress, now: time.Now, lock: make(chan struct{}, 1)}
}

func (o *output) Write(p []byte) (int, error) {
	o.lock <- struct{}{}
	defer func() { <-o.lock }()
	n := len(p)
	o.total += int64(n)
	if room := keepHead - len(o.head); room > 0 {
		k := min(room, len(p))
		o.head, p = append(o.head, p[:k]...), p[k:]
	}
	if len(p) > keepTail {
		p = p[len(p)-keepTail:]
	}
	for len(p) > 0 {
		if len(o.tail) < keepTail {
			k := min(keepTail-len(o.tail), len(p))
			o.tail, p = append(o.tail, p[:k]...), p[k:]
			continue
		}
		k := copy(o.tail[o.at:], p)
		o.at, p = (o.at+k)%keepTail, p[k:]
	}
	if now := o.now(); o.tell != nil && !o.closed && now.Sub(o.told) >= progressEvery {
		o.told = now
		o.tell(lastLines(o.end(), 2000))
	}
	return n, nil
}

func (o *output) close() {
	o.lock <- struct{}{}
	o.closed = true
	<-o.lock
}

// last is the end of what was written, at most so many bytes.
func (o *output) last(most int) string {
	o.lock <- struct{}{}
	defer func() { <-o.lock }()
	return lastLines(o.end(), most)
}

// end is what is kept of the end.
func (o *output) end() string {
	if len(o.tail) == 0 {
		return string(o.head)
	}
	return string(o.tail[o.at:]) + string(o.tail[:o.at])
}

func (o *output) omitted() int64 {
	o.lock <- struct{}{}
	defer func() { <-o.lock }()
	return o.between()
}

// between is how much is kept neither of the beginning nor of the end.
func (o *output) between() int64 { return o.total - int64(len(o.head)) - int64(len(o.tail)) }

func (o *output) text() string {
	o.lock <- struct{}{}
	defer func() { <-o.lock }()
	if len(o.tail) == 0 {
		return valid(string(o.head))
	}
	if left := o.between(); left > 0 {
		return valid(string(o.head)) + fmt.Sprintf("\n[%d bytes left out]\n", left) + valid(o.end())
	}
	return valid(string(o.head) + o.end())
}

func valid(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }

// lastLines is the end of a text, from the beginning of a line if one begins
// there.
func lastLines(text string, most int) string {
	if len(text) > most {
		text = text[len(text)-most:]
		if i := strings.IndexByte(text, '\n'); i >= 0 && i+1 < len(text) {
			text = text[i+1:]
		}
	}
	return valid(text)
}
