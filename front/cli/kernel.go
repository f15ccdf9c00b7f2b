package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"assent/front/daemon"
	"assent/front/reach"
	"assent/internal/peer"
	"assent/internal/place"
)

// kernelAt is the kernel of whoever calls, with what only this program does with
// it.
type kernelAt struct{ reach.Kernel }

func findKernel() (kernelAt, error) {
	at, err := reach.Find(homeOfUser)
	return kernelAt{at}, err
}

// verify looks at who listens, before anything is said.
func (at kernelAt) verify(conn net.Conn) error {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("the kernel is on no other socket than a unix socket")
	}
	uid, err := peer.User(c)
	if err != nil {
		return err
	}
	return at.Verify(uid)
}

// homeOfUser is the home folder that the user database has.
func homeOfUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.HomeDir
}

// kernelProcesses is the process of the kernel, if one runs and is in sight.
func kernelProcesses() []int {
	at, err := findKernel()
	if err != nil || at.Shared {
		return nil
	}
	pid, held, err := place.Held(at.LockFile())
	if err != nil || !held || pid == 0 {
		return nil
	}
	return []int{pid}
}

// patience is how long a kernel may take to start: recovery of a large
// document is part of it.
const patience = time.Minute

// start gets a kernel to run, if none does, and returns when it answers. It is
// what commands call that need one.
func (at kernelAt) start(ctx context.Context) error {
	if at.Shared {
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
	return daemon.Child{Path: self, Args: append([]string{"up", "--" + flagReport}, args...), Env: reach.Env(os.Environ())}, nil
}

// tilde shortens a path in the home folder, for people.
func tilde(path string) string {
	home := reach.Home(os.Getenv("HOME"), homeOfUser)
	if rel, err := filepath.Rel(home, path); home != "" && err == nil && filepath.IsLocal(rel) && rel != "." {
		return "~/" + rel
	}
	return path
}
