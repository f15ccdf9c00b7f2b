//go:build unix && !linux

package offspring

import "syscall"

// Adopt is not possible here.
func Adopt() (stop func(), err error) { return func() {}, nil }

func (c *Child) start() error { return c.cmd.Start() }

// Wait waits for the end of it, and ends its process group.
func (c *Child) Wait() (Left, error) {
	err := c.cmd.Wait()
	c.settled()
	c.signal(syscall.SIGKILL)
	return Left{}, c.book.strike(c, err)
}

// signal needs mu, or nobody else to be there.
func (c *Child) signal(s syscall.Signal) {
	if pid := c.cmd.Process.Pid; pid > 1 {
		_ = syscall.Kill(-pid, s)
	}
}

func (c *Child) clear() (left Left, found int) { return Left{Unseen: true}, 0 }
