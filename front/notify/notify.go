// Package notify tells a person outside of the terminal that something waits: by a
// notification of the desktop, and by a command of theirs.
//
// Everything runs in the process of whoever watches, never in the kernel, and
// nothing of what is run is believed: its output is thrown away and its exit code
// says only whether it could be told. Text of a call goes to no shell, stands in no
// option, and cannot be markup.
package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"assent/internal/drawn"
	"assent/internal/peer"
)

// How long what is run may take.
const (
	desktopLimit = 5 * time.Second
	hookLimit    = 30 * time.Second
)

// The lengths that every desktop shows, in columns.
const (
	maxTitle = 80
	maxBody  = 240
)

// ErrNone: there is no program here that shows notifications.
var ErrNone = errors.New("no notification program is here (notify-send, osascript)")

// Notifier runs what tells. The zero value is for this machine.
type Notifier struct {
	// System is runtime.GOOS, Look finds programs: exec.LookPath when nil.
	System string
	Look   func(string) (string, error)
	// Env is the environment of what is run.
	Env []string
}

// Desktop shows a notification.
func (n Notifier) Desktop(ctx context.Context, title, body string) error {
	words, err := n.words(title, body)
	if err != nil {
		return err
	}
	return n.run(ctx, words, nil, desktopLimit)
}

// words are a program that shows a notification, and its arguments: fixed ones, and
// two texts behind them.
func (n Notifier) words(title, body string) ([]string, error) {
	system, look := n.System, n.Look
	if system == "" {
		system = runtime.GOOS
	}
	if look == nil {
		look = exec.LookPath
	}
	title, body = drawn.OneLine(title, maxTitle), drawn.OneLine(body, maxBody)
	var words []string
	switch system {
	case "linux", "freebsd", "netbsd", "openbsd", "dragonfly":
		words = []string{"notify-send", "--app-name=assent", "--", title, markup.Replace(body)}
	case "darwin":
		words = []string{"osascript",
			"-e", "on run texts", "-e", "display notification (item 2 of texts) with title (item 1 of texts)", "-e", "end run", "--", title, body}
	default:
		return nil, ErrNone
	}
	program, err := look(words[0])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	words[0] = program
	return words, nil
}

// markup takes what servers of notifications read in a body.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Hook runs a command of a person's with a card on its standard input. It is in a
// session of its own, has the mark of a body and no token: it is told, and cannot
// answer.
func (n Notifier) Hook(ctx context.Context, words []string, card []byte) error {
	if len(words) == 0 {
		return nil
	}
	return n.run(ctx, words, card, hookLimit)
}

// run runs a program to its end, or to the end of its time with all that it started.
func (n Notifier) run(ctx context.Context, words []string, in []byte, limit time.Duration) error {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(without(n.Env), peer.BodyMark+"=1")
	cmd.Dir = "/"
	cmd.Stdin = bytes.NewReader(in)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("it took longer than %v", limit)
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", drawn.OneLine(words[0], maxTitle), err)
	}
	return nil
}

// without leaves out what would make whoever has it a person, or another mark.
func without(environ []string) []string {
	var env []string
	for _, v := range environ {
		if !strings.HasPrefix(v, "ASSENT_") {
			env = append(env, v)
		}
	}
	return env
}
