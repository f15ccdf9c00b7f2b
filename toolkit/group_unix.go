//go:build unix

package toolkit

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// group is the process group of a command: whatever it starts is in it, but
// for what leaves it on purpose.
type group struct {
	cmd  *exec.Cmd
	mu   sync.Mutex
	kill *time.Timer
	over bool
}

// grouped gives the command a group of its own. When its context ends, the
// whole group is asked to end, and killed a little later.
func grouped(cmd *exec.Cmd) *group {
	g := &group{cmd: cmd}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.over {
			return os.ErrProcessDone
		}
		g.kill = time.AfterFunc(graceful, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			if !g.over {
				g.signal(syscall.SIGKILL)
			}
		})
		return g.signal(syscall.SIGTERM)
	}
	return g
}

func (g *group) signal(s syscall.Signal) error {
	err := syscall.Kill(-g.cmd.Process.Pid, s)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// end kills what is left of the group: what a command leaves behind has no leaf
// that stands for it.
func (g *group) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	if g.kill != nil {
		g.kill.Stop()
	}
	_ = g.signal(syscall.SIGKILL)
}
