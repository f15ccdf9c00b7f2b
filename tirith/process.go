package tirith

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"assent/internal/offspring"
)

// maxWord is the longest word that a program can be given on Linux, with the
// NUL that ends it (MAX_ARG_STRLEN, 32 pages).
const maxWord = 32 * 4096

// Environ is the environment of the scanner's processes: where its files are,
// and nothing that could have it look away (TIRITH=0) or fetch something.
func Environ(lookup func(string) string) []string {
	env := []string{"TIRITH_OFFLINE=1", "TIRITH_LOG=0", "NO_COLOR=1"}
	for _, name := range []string{"HOME", "PATH", "TMPDIR", "LANG", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"} {
		if v := lookup(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// byProcess asks a process, once the program has shown that it finds something.
func (t *Tirith) byProcess(ctx context.Context, program, command, cwd string) (Report, error) {
	if len(command) >= maxWord {
		return Report{}, errors.New("the command is too long for it")
	}
	key, err := installed(program)
	if err != nil {
		return Report{}, err
	}
	err = t.process.show(key, func() (Report, error) { return t.check(ctx, program, known, "/") })
	if err != nil {
		return Report{}, err
	}
	return t.check(ctx, program, command, cwd)
}

// Installed is the program that is there.
func (t *Tirith) Installed() (program string, err error) {
	program = t.Where()
	_, err = installed(program)
	return program, err
}

// installed says whether a program is there, and which: another version in its
// place is another.
func installed(program string) (which string, err error) {
	if !filepath.IsAbs(program) {
		return "", ErrNotInstalled
	}
	info, err := os.Stat(program)
	if err != nil {
		return "", err
	}
	id, _, ok := identity(info)
	if !ok || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return "", fmt.Errorf("%s is no program", program)
	}
	return id, nil
}

// check runs the program on one command. It does not ask the daemon itself:
// that has been asked, or is not believed.
func (t *Tirith) check(ctx context.Context, program, command, cwd string) (Report, error) {
	out, exit, err := t.run(ctx, program, cwd, "check", "--json", "--non-interactive", "--offline", "--no-daemon", "--", command)
	if err != nil {
		return Report{}, err
	}
	a, err := parse(out)
	if err != nil {
		return Report{}, fmt.Errorf("%w (it ended with %d)", err, exit)
	}
	if a.Schema == nil || *a.Schema != schema {
		return Report{}, fmt.Errorf("its answers are of another version than %d, the one that is known", schema)
	}
	r, err := a.report(exit)
	r.By = ByProcess
	return r, err
}

// Version is what the program says it is.
func (t *Tirith) Version(ctx context.Context) (string, error) {
	program, err := t.Installed()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, t.limit())
	defer cancel()
	out, exit, err := t.run(ctx, program, "/", "--version")
	if err != nil {
		return "", late(ctx, err)
	}
	_, version, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
	if exit != 0 || !ok {
		return "", errors.New("it does not say its version")
	}
	return line(version, 60), nil
}

// run runs the program to its end: what it says and its exit code. When the time
// is up all that it started ends with it. One that was killed has said nothing.
func (t *Tirith) run(ctx context.Context, program, cwd string, words ...string) (out []byte, exit int, err error) {
	running, end := context.WithCancel(ctx)
	defer end()
	cmd := exec.CommandContext(running, program, words...)
	cmd.Env = t.Env
	cmd.Dir = "/"
	if info, err := os.Stat(cwd); err == nil && info.IsDir() && filepath.IsAbs(cwd) {
		cmd.Dir = cwd
	}
	stdout, stderr := &kept{most: maxAnswer, over: end}, &kept{most: 4096, over: func() {}}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	child := offspring.Of(cmd, offspring.Options{Brief: true})
	if err := child.Start(); err != nil {
		return nil, 0, err
	}
	_, err = child.Wait()
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	if stdout.full {
		return nil, 0, errors.New("its answer is too long")
	}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return nil, 0, err
	}
	if cmd.ProcessState == nil {
		return nil, 0, err
	}
	if !cmd.ProcessState.Exited() {
		return nil, 0, fmt.Errorf("it was ended (%v)", cmd.ProcessState)
	}
	exit = cmd.ProcessState.ExitCode()
	if said := line(stderr.text.String(), 200); stdout.text.Len() == 0 && said != "" {
		return nil, exit, fmt.Errorf("it says: %s", said)
	}
	return stdout.text.Bytes(), exit, nil
}

// kept is the beginning of an output; over is called when there is more. The
// buffer is not embedded: its ReadFrom would read without end.
type kept struct {
	text bytes.Buffer
	most int
	over func()
	full bool
}

func (k *kept) Write(p []byte) (int, error) {
	n := min(len(p), k.most-k.text.Len())
	k.text.Write(p[:n])
	if n < len(p) && !k.full {
		k.full = true
		k.over()
	}
	return len(p), nil
}
