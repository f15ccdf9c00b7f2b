//go:build !linux

package daemon

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

type handle struct{ pid int }

func hold(pid int) (handle, error) { return handle{pid}, unix.Kill(pid, 0) }

func (handle) close() {}

func (h handle) terminate() error { return unix.Kill(h.pid, unix.SIGTERM) }

func (h handle) wait(ctx context.Context) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		if err := unix.Kill(h.pid, 0); errors.Is(err, unix.ESRCH) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
