package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assent/front/daemon"
	"assent/internal/peer"
	"assent/internal/place"
)

// kernelAt is where the kernel of whoever calls is, or would be.
type kernelAt struct {
	place.Place
	// user runs the kernel: whoever calls, or who root set up.
	user uint32
	// shared says that root set it up to run as another user: then nobody else
	// can start or end it.
	shared bool
}

// findKernel follows from the environment, and from what root set up for this
// user.
func findKernel() (kernelAt, error) {
	uid := os.Getuid()
	env := place.EnvOf(os.Getenv, uid)
	env.Home = homeFolder(env.Home, user.Current)
	at := kernelAt{user: uint32(uid)}
	shared := place.Shared(place.SharedRoot, uid)
	switch runs, ok, err := place.SharedKernel(shared); {
	case err != nil:
		return kernelAt{}, fmt.Errorf("looking for the kernel: %w", err)
	case ok:
		env.Socket, at.user, at.shared = shared, uint32(runs), true
	}
	var err error
	if at.Place, err = place.Of(env); err != nil {
		return kernelAt{}, fmt.Errorf("looking for the kernel: %w", err)
	}
	return at, nil
}

// kernelProcesses is the process of the kernel, if one runs and is in sight.
func kernelProcesses() []int {
	at, err := findKernel()
	if err != nil || at.shared {
		return nil
	}
	pid, held, err := place.Held(at.LockFile())
	if err != nil || !held || pid == 0 {
		return nil
	}
	return []int{pid}
}

// trusted says whether the folder of the socket is what it should be: whoever
// can put a socket there can be told what was meant for the kernel.
func (at kernelAt) trusted() error {
	if at.shared { // root made it; findKernel has looked
		return nil
	}
	err := place.Check(at.Runtime, int(at.user), place.Private)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder of the kernel's socket: %w", err)
	}
	return nil
}

// verify looks at who listens before anything is said: the user that runs the
// kernel, and nobody who put a socket in its place.
func (at kernelAt) verify(conn net.Conn) error {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("the kernel is on no other socket than a unix socket")
	}
	uid, err := peer.User(c)
	if err != nil {
		return err
	}
	if uid != at.user && uid != 0 {
		return fmt.Errorf("user %d listens on %s, and not the kernel of user %d", uid, at.Socket, at.user)
	}
	return nil
}

// patience is how long a kernel may take to start: recovery of a large
// document is part of it.
const patience = time.Minute

// start gets a kernel to run, if none does, and returns when it answers. It is
// what commands call that need one.
func (at kernelAt) start(ctx context.Context) error {
	if at.shared {
		return errors.New("the kernel is not running, and runs as another user: whoever set it up has to start it (assent up --user, as root)")
	}
	child, err := detached()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := daemon.Ensure(ctx, at.Place, child); err != nil {
		if _, none := os.Lstat(at.LogFile()); none != nil {
			return err // it did not come so far
		}
		return fmt.Errorf("%w (its log is %s)", err, at.LogFile())
	}
	return nil
}

// detached is this program as a detached kernel.
func detached(args ...string) (daemon.Child, error) {
	self, err := os.Executable()
	if err != nil {
		return daemon.Child{}, fmt.Errorf("finding this program: %w", err)
	}
	return daemon.Child{Path: self, Args: append([]string{"up", "--" + flagReport}, args...), Env: kernelEnv(os.Environ())}, nil
}

// kept are the variables that a kernel takes over. What else is set where it
// happens to be started first, often by an agent, is not its business: marks
// of an agent, search paths of libraries, switches of the runtime, secrets.
var kept = []string{
	"HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
}

func kernelEnv(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return !slices.Contains(kept, name) && !strings.HasPrefix(name, "LC_")
	})
}

// tilde shortens a path in the home folder, for people.
func tilde(path string) string {
	home := homeFolder(os.Getenv("HOME"), user.Current)
	if rel, err := filepath.Rel(home, path); home != "" && err == nil && filepath.IsLocal(rel) && rel != "." {
		return "~/" + rel
	}
	return path
}
