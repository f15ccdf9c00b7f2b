// Assent-hook is what a client starts before and after each call of its agent:
// it asks the kernel, waits for the license, and answers as that client
// understands it (see package hook). It is small on purpose: it is started for
// every call.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"assent/front/hook"
	"assent/front/reach"
)

const usage = `usage: assent-hook [--deadline DURATION] [--socket PATH --config FOLDER --state FOLDER] claude|codex|gemini|opencode

A client starts it before and after each call of its agent, with its message on
standard input: "assent connect CLIENT" sets that up. Exit code 2, with the
reason on standard error, refuses the call; so does everything that goes wrong.
`

func main() {
	// A reader that is gone ends nothing: a client takes a hook that dies by a signal
	// for no objection. Not ignored: what is started here would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// Whatever happens, nothing but an answer that is whole lets a call run.
	defer func() {
		if r := recover(); r != nil {
			refuse(fmt.Sprintf("the hook failed: %v", r))
		}
	}()
	os.Exit(run(os.Args[1:]))
}

func refuse(reason string) {
	fmt.Fprintln(os.Stderr, "assent: "+reason)
	os.Exit(2)
}

func run(args []string) int {
	dialect, deadline, where, err := parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "assent: %v\n%s", err, usage)
		return 2
	}
	// Standard input that does not end, a file system that hangs: whatever it is.
	late := time.AfterFunc(deadline+3*hook.Parting, func() { refuse(hook.ErrDeadline.Error()) })
	ctx, catch := interrupted()
	ctx, cancel := hook.Within(ctx, deadline)
	defer cancel()
	host := hook.Host{Stdin: os.Stdin, Getenv: os.Getenv, ReadFile: os.ReadFile}
	at, starts, err := find(where)
	if err == nil {
		err = at.Trusted()
	}
	if err != nil {
		refuse(err.Error())
	}
	host.Connected = func(file string) bool { // as assent connect keeps it
		sum := sha256.Sum256([]byte(file))
		_, err := os.Stat(filepath.Join(at.State, "connect", hex.EncodeToString(sum[:])[:16]+".json"))
		return err == nil
	}
	host.Socket, host.Verify = at.Socket, at.Verify
	if !at.Shared {
		host.Start = func(ctx context.Context) error {
			if !starts {
				return reach.ErrElsewhere
			}
			catch() // what is started must not be born deaf
			return start(ctx)
		}
	}
	reply := hook.Run(ctx, dialect, host)
	if !late.Stop() {
		select {} // it is refusing
	}
	if reply.Stdout != "" {
		if _, err := os.Stdout.WriteString(reply.Stdout); err != nil {
			refuse("writing the answer: " + err.Error())
		}
	}
	if reply.Stderr != "" {
		fmt.Fprint(os.Stderr, reply.Stderr)
	}
	return reply.Exit
}

// brief is longer than a call takes that the floor decides.
const brief = 30 * time.Millisecond

// interrupted gives a context that ends with a signal that asks for the end: then
// the call is refused. To hear signals costs as much as the rest of the hook, so
// that for a moment they are ignored: nothing is lost but that moment, and ignored
// they let no call run either.
func interrupted() (ctx context.Context, catch func()) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	signal.Ignore(ends...)
	ctx, cancel := context.WithCancel(context.Background())
	catch = sync.OnceFunc(func() {
		came := make(chan os.Signal, 1)
		signal.Notify(came, ends...)
		go func() {
			<-came
			cancel()
		}()
	})
	time.AfterFunc(brief, catch)
	return ctx, catch
}

// find is the kernel at the place that was said, or this user's, and whether one that
// is started here is that one.
func find(where map[string]string) (at reach.Kernel, starts bool, err error) {
	if len(where) > 0 {
		return reach.At(where["--socket"], where["--config"], where["--state"], reach.Passwd)
	}
	return reach.Own(reach.Passwd)
}

func parse(args []string) (d *hook.Dialect, deadline time.Duration, where map[string]string, err error) {
	fail := func(format string, args ...any) (*hook.Dialect, time.Duration, map[string]string, error) {
		return nil, 0, nil, fmt.Errorf(format, args...)
	}
	where = make(map[string]string)
	for len(args) > 0 && strings.HasPrefix(args[0], "--") {
		name, value, is := strings.Cut(args[0], "=")
		args = args[1:]
		if !is {
			if len(args) == 0 {
				return fail("%s needs a value", name)
			}
			value, args = args[0], args[1:]
		}
		switch name {
		case "--deadline":
			if deadline, err = time.ParseDuration(value); err != nil || deadline <= 0 {
				return fail("--deadline %q is no time, such as 590s", value)
			}
		case "--socket", "--config", "--state":
			where[name] = value
		default:
			return fail("%q is no flag", name)
		}
	}
	if n := len(where); n != 0 && n != 3 {
		return fail("--socket, --config and --state go together")
	}
	if len(args) != 1 {
		return fail("name one client")
	}
	if d = hook.Dialects[args[0]]; d == nil {
		return fail("%q is no client that is known", args[0])
	}
	if deadline == 0 {
		deadline = d.Deadline
	}
	return d, deadline, where, nil
}

// patience is how long a kernel may take to start.
const patience = 30 * time.Second

// start gets a kernel to run by the program beside this one.
func start(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(self), "assent"), "up", "--detach")
	cmd.Env = reach.Env(os.Environ())
	out, err := cmd.CombinedOutput()
	if err != nil {
		text := strings.TrimSpace(string(out))
		if len(text) > 500 {
			text = text[:500]
		}
		return fmt.Errorf("assent up --detach: %w: %s", err, text)
	}
	return nil
}
