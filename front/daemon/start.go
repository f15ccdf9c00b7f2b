package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"assent/internal/place"
)

// Child is what a detached daemon needs to know to run, and how to say that it
// does.
type Child struct {
	// Path is the program, Args what follows its name.
	Path string
	Args []string
	// Env is its environment.
	Env []string
	// As, when set, is the user it runs as.
	As *syscall.Credential
}

// readyFD is where a child says what became of its start: the first of the
// extra files.
const readyFD = 3

// ready is what a child says when its socket answers.
const ready = "ready\n"

// Detach starts a daemon in a session of its own and returns when it answers.
// What kept it from starting is the error. A child that needs longer than ctx
// goes on.
func Detach(ctx context.Context, c Child) (pid int, err error) {
	// A lock that the shell here holds would stay held.
	if err := KeepInherited(); err != nil {
		return 0, fmt.Errorf("start the kernel: %w", err)
	}
	said, says, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer said.Close()
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = c.Env
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{says}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: c.As}
	err = cmd.Start()
	says.Close()
	if err != nil {
		return 0, fmt.Errorf("start the kernel: %w", err)
	}
	pid = cmd.Process.Pid
	defer context.AfterFunc(ctx, func() { _ = said.SetReadDeadline(time.Unix(1, 0)) })()
	text, err := io.ReadAll(io.LimitReader(said, 64<<10))
	switch {
	case string(text) == ready:
		return pid, cmd.Process.Release()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return pid, fmt.Errorf("the kernel (process %d) is still starting: %w", pid, ctx.Err())
	case err != nil:
		return pid, fmt.Errorf("start the kernel: %w", err)
	}
	// It ends by itself and at once; what it said is all there is.
	err = cmd.Wait()
	if why := strings.TrimSpace(string(text)); why != "" {
		return pid, errors.New(why)
	}
	return pid, fmt.Errorf("the kernel ended while it started: %w", err)
}

// Report is the way back to whoever called [Detach], for its child.
type Report struct{ file *os.File }

// NewReport takes the file a child was given.
func NewReport() (Report, error) {
	var stat syscall.Stat_t
	if err := syscall.Fstat(readyFD, &stat); err != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return Report{}, errors.New("this is for a kernel that is started detached")
	}
	syscall.CloseOnExec(readyFD)
	return Report{os.NewFile(readyFD, "ready")}, nil
}

// Ready says that the socket answers.
func (r Report) Ready() {
	_, _ = r.file.WriteString(ready) // nobody may wait any more
	r.file.Close()
}

// Failed says what kept it from starting. After Ready it says nothing.
func (r Report) Failed(err error) {
	_, _ = r.file.WriteString(err.Error())
	r.file.Close()
}

// Ensure gets a daemon to run, if none does, and returns when it answers. Of
// several that try at once one starts it and the others wait.
func Ensure(ctx context.Context, p place.Place, c Child) (err error) {
	// The one that has the lock may be ending, or fail to start; then it is
	// tried again, but not for ever.
	for range 3 {
		if answers(p.Socket) {
			return nil
		}
		var held bool
		if _, held, err = place.Held(p.LockFile()); err != nil {
			return err
		}
		if !held {
			if _, err = Detach(ctx, c); err == nil {
				return nil
			}
			// Somebody may have been faster.
			if _, held, e := place.Held(p.LockFile()); e != nil || !held {
				return err
			}
		}
		if err = Await(ctx, p); !errors.Is(err, errGivenUp) {
			return err
		}
	}
	return err
}

var errGivenUp = errors.New("the kernel that was there has ended")

func answers(socket string) bool {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// ErrElsewhere: the kernel that has the document listens on another socket than
// the one that follows from the environment here.
var ErrElsewhere = errors.New("it was started in another environment (XDG_RUNTIME_DIR)")

// Elsewhere says where the daemon that has the lock listens, if that is not where
// it is looked for.
func Elsewhere(p place.Place, pid int) error {
	if socket := place.Noted(p.LockFile()); socket != "" && socket != p.Socket {
		return fmt.Errorf("the kernel (process %d) listens on %s, and not on %s: %w; ask it with --socket %[2]s, or end it with \"assent down\"", pid, socket, p.Socket, ErrElsewhere)
	}
	return nil
}

// Await waits until a daemon that is there answers: it may be starting. One that
// has ended meanwhile, or does not answer while ctx lasts, is an error.
func Await(ctx context.Context, p place.Place) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		answered, silence := heard(ctx, p.Socket)
		if answered {
			return nil
		}
		if silent, ok := errors.AsType[*Silent](silence); ok && silent.Stopped {
			return silent
		}
		switch pid, held, err := place.Held(p.LockFile()); {
		case err != nil:
			return err
		case !held:
			return errGivenUp
		default:
			if err := Elsewhere(p, pid); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				if silence != nil {
					return silence
				}
				return plain{fmt.Sprintf("the kernel (process %d) does not answer on %s; it may be starting or ending", pid, p.Socket), ctx.Err()}
			case <-tick.C:
			}
		}
	}
}
