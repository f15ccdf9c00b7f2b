package daemon

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// handle is a process and no other, whatever becomes of its number.
type handle struct{ fd int }

func hold(pid int) (handle, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	return handle{fd}, err
}

func (h handle) close() { _ = unix.Close(h.fd) } // nothing was written to it

func (h handle) terminate() error {
	return unix.PidfdSendSignal(h.fd, unix.SIGTERM, nil, 0)
}

// wait waits until the process has ended.
func (h handle) wait(ctx context.Context) error {
	for {
		// A bounded wait, so that ctx is looked at now and then.
		timeout := 200
		if end, ok := ctx.Deadline(); ok {
			timeout = min(timeout, max(1, int(time.Until(end)/time.Millisecond)))
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}, timeout)
		switch {
		case err != nil && !errors.Is(err, unix.EINTR):
			return err
		case n > 0:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}
