package toolkit

import (
	"errors"

	"golang.org/x/sys/unix"
)

// wait is the end of the command and of its group. The group is ended before
// the command is collected: until then its number cannot be another's.
func (g *group) wait() error {
	for errors.Is(unix.Waitid(unix.P_PID, g.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	g.end()
	return g.cmd.Wait()
}
