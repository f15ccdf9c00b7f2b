package peer

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Supported says whether a person can be told from an agent on this system.
const Supported = true

// AdoptOrphans makes the calling process the one that orphans below it are given
// to, instead of the system's first process. Whatever a body leaves behind, by
// however many forks, then still descends from the kernel, and no body can undo
// that. The adopter has to clear away the orphans that end: see [Children].
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphans: %w", err)
	}
	return nil
}

// Children starts the processes of a program that adopts orphans, and clears
// the orphans away without taking from Wait what is its own. Every process of the
// program must be started and waited for through one Children. The zero value
// is ready.
type Children struct {
	mu   sync.RWMutex // held shared while one is started, so that Reap never sees an unlisted one
	list sync.Map     // the process numbers that Wait will collect
}

// Start starts a command as cmd.Start does.
func (c *Children) Start(cmd *exec.Cmd) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	c.list.Store(cmd.Process.Pid, cmd)
	return nil
}

// Wait waits for a command as cmd.Wait does.
func (c *Children) Wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	// Its number may be another child's by now.
	c.list.CompareAndDelete(cmd.Process.Pid, cmd)
	return err
}

// Own says whether a process is one that Wait will collect.
func (c *Children) Own(pid int) bool {
	_, own := c.list.Load(pid)
	return own
}

// Reap clears away the adopted orphans that have ended and says how many. Call
// it when a child ends (SIGCHLD) and now and then.
func (c *Children) Reap() (reaped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	self := os.Getpid()
	dir, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		text, err := os.ReadFile(proc("/proc").file(pid, "stat"))
		if err != nil {
			continue
		}
		s, err := parseStat(string(text))
		if err != nil || s.parent != self || s.state != 'Z' {
			continue
		}
		if _, mine := c.list.Load(pid); mine {
			continue
		}
		if got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); err == nil && got == pid {
			reaped++
		}
	}
	return reaped
}
