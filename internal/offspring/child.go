//go:build unix

package offspring

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"assent/internal/peer"
)

// drain is how long is waited for the output of what could not be ended.
const drain = time.Second

// Child is a program that was started, with everything that it starts.
type Child struct {
	cmd   *exec.Cmd
	grace time.Duration
	brief bool
	mark  string
	book  *Book
	name  string
	// exited is closed when the program itself has ended, lost when it was killed and
	// has not.
	exited, lost chan struct{}

	mu   sync.Mutex
	lead peer.Process
	seen map[peer.Process]bool // its own, as was seen before
	// unsure: at the last look a process could not be told by its environment.
	unsure bool
	late   []*time.Timer
	over   bool

	// earlier: it is of another life of the kernel, which has ended.
	earlier bool
}

// Options of a child.
type Options struct {
	// Grace is how long it may take to end by itself when its context ends; 0 kills it
	// at once.
	Grace time.Duration
	// Book is where it is written down while it runs, under Name; nil for nowhere.
	Book *Book
	Name string
	// Brief: it starts nothing that could stay. Where it ends by itself, only its first
	// group is ended, without a look at all processes.
	Brief bool
}

// children are those of the process: to adopt orphans is of a process as a whole.
var children peer.Children

// Of prepares a command that was made with a context. Its Cancel, WaitDelay,
// SysProcAttr and mark are set here.
func Of(cmd *exec.Cmd, o Options) *Child {
	c := &Child{cmd: cmd, grace: o.Grace, brief: o.Brief, mark: rand.Text(), book: o.Book, name: o.Name,
		exited: make(chan struct{}), lost: make(chan struct{}), seen: make(map[peer.Process]bool)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], peer.BodyMark+"="+c.mark)
	cmd.WaitDelay = o.Grace + drain
	cmd.Cancel = c.cancel
	return c
}

// Start starts it. What cannot be written down is not started.
func (c *Child) Start() error {
	if err := c.book.note(c); err != nil {
		return err
	}
	c.mu.Lock() // who cancels at once must know whom
	defer c.mu.Unlock()
	if err := c.start(); err != nil {
		return fmt.Errorf("%w", c.book.strike(c, err))
	}
	if lead, err := peer.Find(c.cmd.Process.Pid); err == nil {
		c.lead = lead
	} else {
		c.lead.PID = c.cmd.Process.Pid
	}
	_ = c.book.note(c) // the mark is there
	return nil
}

// cancel has it end.
func (c *Child) cancel() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return os.ErrProcessDone
	}
	s := syscall.SIGTERM
	if c.grace == 0 {
		s = syscall.SIGKILL
	}
	c.late = append(c.late, time.AfterFunc(c.grace+drain, func() { close(c.lost) }))
	if c.grace > 0 {
		c.late = append(c.late, time.AfterFunc(c.grace, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if !c.over {
				c.signal(syscall.SIGKILL)
			}
		}))
	}
	c.signal(s)
	return nil
}

// settled: nobody signals it any more by its number. It says whether it was told to end.
func (c *Child) settled() (cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, t := range c.late {
		t.Stop()
	}
	return len(c.late) > 0
}

// Left is what could not be ended. The zero value is nothing.
type Left struct {
	// Processes are those that are there.
	Processes []peer.Ancestor
	// Unseen: there may be others.
	Unseen bool
}

// Any says whether anything may be left.
func (l Left) Any() bool { return l.Unseen || len(l.Processes) > 0 }

// String says what is left, for a receipt; "" for nothing.
func (l Left) String() string {
	const most = 5
	var names []string
	for i, p := range l.Processes {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(l.Processes)-most))
			break
		}
		names = append(names, fmt.Sprintf("%d (%s)", p.PID, strings.ToValidUTF8(p.Name, "?")))
	}
	switch {
	case len(names) > 0:
		return "it left processes running that could not be ended: " + strings.Join(names, ", ")
	case l.Unseen:
		return "some of what it started may still run: it could not be found and ended"
	}
	return ""
}
