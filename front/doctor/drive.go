package doctor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"assent/front/connect"
)

// command is the hook's command as its client starts it: in a terminal session
// of its own, with the program itself or through the shell that the client uses.
func (x *examination) command(ctx context.Context, h connect.Hook, env []string, dir string) *exec.Cmd {
	var cmd *exec.Cmd
	switch {
	case h.Args != nil:
		cmd = exec.CommandContext(ctx, h.Command, h.Args...)
	case x.Client.Name == "codex":
		cmd = exec.CommandContext(ctx, x.shell("/bin/sh"), "-lc", h.Command)
	case x.Client.Name == "gemini":
		cmd = exec.CommandContext(ctx, onPath("bash", "/bin/sh"), "-c", h.Command)
	default:
		cmd = exec.CommandContext(ctx, x.shell("/bin/sh"), "-c", h.Command)
	}
	cmd.Env, cmd.Dir = env, dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

func (x *examination) shell(otherwise string) string {
	if shell := x.Getenv("SHELL"); filepath.IsAbs(shell) {
		return shell
	}
	return otherwise
}

func onPath(name, otherwise string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return otherwise
}

// run runs a hook for one message.
func (x *examination) run(ctx context.Context, h connect.Hook, env []string, dir, message string, limit time.Duration) outcome {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := x.command(ctx, h, env, dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(message), &most{&stdout}, &most{&stderr}
	err := cmd.Run()
	return ended(ctx, cmd, err, stdout.String(), stderr.String())
}

// ended tells how a hook has ended.
func ended(ctx context.Context, cmd *exec.Cmd, err error, stdout, stderr string) outcome {
	o := outcome{stdout: stdout, stderr: stderr}
	switch state := cmd.ProcessState; {
	case state == nil:
		o.failed = err
	case ctx.Err() != nil:
		o.late = true
	default:
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			o.signal = status.Signal().String()
		}
		o.exit = state.ExitCode()
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
			o.failed = err
		}
	}
	return o
}

// most keeps as much as anybody reads.
type most struct{ *bytes.Buffer }

const mostKept = 1 << 20

func (m *most) Write(p []byte) (int, error) {
	if room := mostKept - m.Len(); room > 0 {
		m.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// killed starts a hook with a message, waits until it asks the kernel, and sends
// it a signal.
func (x *examination) killed(ctx context.Context, h connect.Hook, env []string, dir, message string, sig syscall.Signal) (outcome, bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := x.command(ctx, h, env, dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(message), &most{&stdout}, &most{&stderr}
	if err := cmd.Start(); err != nil {
		return outcome{failed: err}, true
	}
	program, _ := h.Program()
	hit := false
	if pid := asking(ctx, cmd.Process.Pid, program); pid > 0 {
		hit = syscall.Kill(pid, sig) == nil
	}
	if !hit {
		cancel()
	}
	err := cmd.Wait()
	return ended(ctx, cmd, err, stdout.String(), stderr.String()), hit
}

// output runs a program and gives what it writes.
func output(ctx context.Context, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, &most{&out}, io.Discard
	err := cmd.Run()
	return out.String(), err
}
