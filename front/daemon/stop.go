package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assent/internal/peer"
	"assent/internal/place"
)

// ErrNotRunning: no daemon has the place.
var ErrNotRunning = errors.New("the kernel is not running")

// Stop tells the daemon of a place to end and waits until it has: then its
// lock is free and everything is closed. It says which process that was.
func Stop(ctx context.Context, p place.Place) (pid int, err error) {
	pid, held, err := place.Held(p.LockFile())
	switch {
	case err != nil:
		return 0, err
	case !held:
		return 0, ErrNotRunning
	case pid == 0:
		return 0, errors.New("the kernel is just starting; try again")
	}
	h, err := hold(pid)
	if err != nil {
		return pid, fmt.Errorf("find process %d: %w", pid, err)
	}
	defer h.close()
	// The number may have become another process's before it was held.
	if now, held, err := place.Held(p.LockFile()); err != nil || !held || now != pid {
		return pid, err
	}
	if err := h.terminate(); err != nil {
		return pid, fmt.Errorf("end process %d: %w", pid, err)
	}
	for {
		// It may be stopped at any moment, and would end when somebody lets it go on.
		some, cancel := context.WithTimeout(ctx, look)
		err := h.wait(some)
		cancel()
		switch {
		case err == nil:
			return pid, nil
		case peer.Stopped(pid):
			return pid, &Silent{pid, true}
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return pid, plain{fmt.Sprintf("the kernel (process %d) was told to end and has not yet", pid), ctx.Err()}
		case ctx.Err() != nil, !errors.Is(err, context.DeadlineExceeded):
			return pid, fmt.Errorf("wait for the end of process %d: %w", pid, err)
		}
	}
}

// glance is how often is looked where nothing tells of an end.
const glance = 20 * time.Millisecond
