package offspring

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"assent/internal/peer"
)

// patience is how long is tried to end what a child leaves. What is killed is gone
// within milliseconds, unless the system holds it.
const patience = 2 * time.Second

// How often is looked again where a process had no environment to tell by, and how long
// between two looks.
const (
	mostLooks = 10
	between   = 5 * time.Millisecond
)

// threads is the parent of the system's own threads, which have no environment.
const threads = 2

// adopting says whether the process adopts orphans.
var adopting atomic.Bool

// Adopt has the process adopt what its children leave ([peer.AdoptOrphans]), and clear
// away those that end, until stop is called. All that it starts has to be a Child.
func Adopt() (stop func(), err error) {
	if err := peer.AdoptOrphans(); err != nil {
		return nil, err
	}
	adopting.Store(true)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ended:
			case <-over:
				return
			}
			// A look at all processes costs milliseconds, and they end in swarms.
			select {
			case <-time.After(time.Second):
			case <-over:
				return
			}
			children.Reap()
		}
	}()
	return func() { signal.Stop(ended); close(over); <-done }, nil
}

// start starts it from a thread that is there as long as it: the system takes the
// thread for its parent, and kills it when that ends. So the program itself does not
// outlive a kernel that is killed; what it started is the book's.
func (c *Child) start() error {
	c.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := children.Start(c.cmd)
		started <- err
		if err == nil {
			exited(c.cmd.Process.Pid)
			close(c.exited)
		}
	}()
	return <-started
}

// exited returns when a child has ended, and leaves it to be collected: until then
// its number, and that of its session, cannot be another's.
func exited(pid int) {
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
}

// Wait waits for the end of it and of everything that it started.
func (c *Child) Wait() (Left, error) {
	select {
	case <-c.exited:
	case <-c.lost:
		select {
		case <-c.exited:
		default:
			go func() {
				<-c.exited
				_, _ = c.collect()
			}()
			return Left{Processes: []peer.Ancestor{{Process: c.lead, Name: c.cmd.Path}}}, errors.New("it was killed and has not ended")
		}
	}
	return c.collect()
}

func (c *Child) collect() (Left, error) {
	var left Left
	if cut := c.settled(); cut || !c.brief {
		left, _ = c.clear()
	} else {
		c.group(unix.SIGKILL)
	}
	err := children.Wait(c.cmd)
	if !left.Any() {
		return left, c.book.strike(c, err)
	}
	return left, err
}

// signal sends a signal to all that is there of it. It needs mu.
func (c *Child) signal(s syscall.Signal) {
	c.group(s)
	found, _, err := c.look()
	if err != nil {
		return
	}
	for _, p := range found {
		if p.Group != c.lead.PID {
			_ = p.Signal(s)
		}
	}
}

// group sends a signal to its first group, which has its number until it is collected:
// all at once, so that no fork gets away. 0 and 1 would be others'.
func (c *Child) group(s syscall.Signal) {
	if !c.earlier && c.lead.PID > 1 {
		_ = unix.Kill(-c.lead.PID, s)
	}
}

// clear ends what the child left, and says how many were found and what is left.
func (c *Child) clear() (left Left, found int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.group(unix.SIGKILL)
	looks := 0
	for end := time.Now().Add(patience); ; {
		there, restless, err := c.look()
		if err != nil {
			return Left{Unseen: true}, found
		}
		if len(there) == 0 && !restless {
			// One that is just about to run another program has no mark for a moment.
			if looks++; !c.unsure || looks > mostLooks {
				return Left{}, found
			}
			time.Sleep(between)
			continue
		}
		found += len(there)
		var dying []peer.Seen // the others are those of another user
		for _, p := range there {
			if err := p.Signal(unix.SIGKILL); !errors.Is(err, unix.EPERM) {
				dying = append(dying, p)
			}
		}
		if len(dying) == 0 && !restless || time.Now().After(end) {
			left.Unseen = restless
			for _, p := range there {
				left.Processes = append(left.Processes, p.Ancestor)
			}
			return left, found
		}
		for _, p := range dying {
			p.Await(time.Until(end))
		}
		if adopting.Load() {
			children.Reap()
		}
	}
}

// look finds what is there of the child, but for the program itself while it is
// waited for. Restless: somebody who may be its own has ended just now, and may have
// started another that was not seen. It needs mu.
func (c *Child) look() (found []peer.Seen, restless bool, err error) {
	all, missed, err := peer.Every()
	if err != nil {
		return nil, false, err
	}
	c.unsure = missed
	self := os.Getpid()
	by := make(map[int]peer.Seen, len(all))
	for _, p := range all {
		by[p.PID] = p
	}
	own := make(map[int]bool) // by their numbers: this is one moment
	marked := make(map[int]bool)
	session := !c.earlier
	for _, p := range all {
		if p.PID == self || p.Start < c.lead.Start || p.Ended {
			continue
		}
		if m, ok := peer.MarkOf(p.PID); ok && m == c.mark {
			marked[p.PID] = true
		} else if !ok && p.Parent != threads && peer.Nameless(p.PID) {
			c.unsure = true
		}
		// The number of a session is nobody else's while somebody is in it. That it is
		// still the one of an earlier life, its leader shows, or the mark.
		session = session || p.Process == c.lead || marked[p.PID] && p.Session == c.lead.PID
	}
	for _, p := range all {
		switch {
		case p.PID == self || p.Start < c.lead.Start:
		case p.PID == c.lead.PID && p.Process != c.lead && c.earlier: // another, with its number
		case p.PID == c.lead.PID:
			own[p.PID] = true
		case p.Ended:
			restless = restless || c.strays(p, self, by) && (p.Session == c.lead.PID || !children.Own(p.Session))
		case marked[p.PID], c.seen[p.Process], session && c.lead.PID != 0 && p.Session == c.lead.PID, c.strays(p, self, by):
			own[p.PID] = true
		}
	}
	for more := true; more; {
		more = false
		for _, p := range all {
			if own[p.PID] || p.Ended || p.PID == self || p.Start < c.lead.Start || children.Own(p.PID) {
				continue
			}
			if leader, ok := by[p.Session]; own[p.Parent] || ok && own[p.Session] && p.Start >= leader.Start {
				own[p.PID], more = true, true
			}
		}
	}
	for _, p := range all {
		if own[p.PID] && !p.Ended && (c.earlier || p.PID != c.lead.PID) {
			c.seen[p.Process] = true
			found = append(found, p)
		}
	}
	return found, restless, nil
}

// strays says whether a process was left to the kernel, and nothing says by which of
// its children: without their sessions and their marks. It goes with the first that
// ends and is older.
func (c *Child) strays(p peer.Seen, self int, by map[int]peer.Seen) bool {
	if c.earlier || !adopting.Load() || p.Parent != self || children.Own(p.PID) || p.Session == by[self].Session {
		return false
	}
	if p.Session != c.lead.PID && children.Own(p.Session) {
		return false
	}
	for _, pid := range []int{p.PID, p.Session} {
		if m, ok := peer.MarkOf(pid); ok && m != c.mark {
			return false
		}
	}
	return true
}
