package tirith

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"time"

	"github.com/go-json-experiment/json"
)

// The limits of what is read. The longest answer repeats the command a few
// times; the daemon closes a connection whose question is longer than a MiB.
const (
	maxQuestion = 1<<20 - 1
	maxAnswer   = 8 << 20
)

// question is a line that the daemon reads. It answers with a line and closes.
type question struct {
	Command     string `json:"command"`
	Input       string `json:"input"`
	Context     string `json:"context"`
	Cwd         string `json:"cwd"`
	Shell       string `json:"shell"`
	Interactive bool   `json:"interactive"`
	Bypass      bool   `json:"bypass_requested"`
	Offline     bool   `json:"offline"`
}

// byDaemon asks the daemon, once it has shown that it finds something.
func (t *Tirith) byDaemon(ctx context.Context, command, cwd string) (Report, error) {
	key, err := t.Listening()
	if err != nil {
		return Report{}, err
	}
	err = t.daemon.show(key, func() (Report, error) { return t.exchange(ctx, known, "/") })
	if err != nil {
		return Report{}, err
	}
	return t.exchange(ctx, command, cwd)
}

// Listening says whether a socket of the user is there, and which: whatever is
// made in its place is another. That somebody listens is not said.
func (t *Tirith) Listening() (which string, err error) {
	if t.Socket == "" {
		return "", ErrNotInstalled
	}
	info, err := os.Lstat(t.Socket)
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNotInstalled
	}
	if err != nil {
		return "", err
	}
	id, owner, ok := identity(info)
	switch {
	case info.Mode()&fs.ModeSocket == 0:
		return "", fmt.Errorf("%s is no socket", t.Socket)
	case !ok || owner != t.User:
		return "", fmt.Errorf("%s belongs to another user", t.Socket)
	}
	return id, nil
}

// exchange is one question and its answer.
func (t *Tirith) exchange(ctx context.Context, command, cwd string) (Report, error) {
	if cwd == "" {
		cwd = "/"
	}
	text, err := json.Marshal(question{Command: "check", Input: command, Context: "exec", Cwd: cwd, Shell: "posix", Offline: true})
	if err != nil {
		return Report{}, err
	}
	if len(text) > maxQuestion {
		return Report{}, errors.New("the command is too long for it")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", t.Socket)
	if err != nil {
		return Report{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := t.ours(conn); err != nil {
		return Report{}, err
	}
	if _, err := conn.Write(append(text, '\n')); err != nil {
		return Report{}, err
	}
	text, err = io.ReadAll(io.LimitReader(conn, maxAnswer+1))
	switch {
	case err != nil:
		return Report{}, err
	case len(text) > maxAnswer:
		return Report{}, errors.New("its answer is too long")
	case len(text) == 0 || text[len(text)-1] != '\n':
		return Report{}, errors.New("its answer is cut off")
	}
	a, err := parse(text)
	if err != nil {
		return Report{}, err
	}
	if a.Exit == nil {
		return Report{}, errors.New("its answer has no exit code")
	}
	r, err := a.report(*a.Exit)
	r.By = ByDaemon
	return r, err
}

// ours says whether a process of the user listens: before anything is said.
func (t *Tirith) ours(conn net.Conn) error {
	unix, ok := conn.(*net.UnixConn)
	if !ok || t.Peer == nil {
		return errors.New("nobody can tell whose it is")
	}
	user, err := t.Peer(unix)
	switch {
	case err != nil:
		return fmt.Errorf("whose it is cannot be told: %w", err)
	case user != t.User:
		return errors.New("it is a process of another user")
	}
	return nil
}
