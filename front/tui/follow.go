package tui

import (
	"context"
	"time"

	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/prompt"
)

// The waits before the kernel is asked again.
const (
	againFirst = 100 * time.Millisecond
	againMost  = 2 * time.Second
)

// follow tells what is written for as long as the kernel answers, and whether it
// does, until ctx is done.
func follow(ctx context.Context, c *client.Client, tell func(prompt.Event)) {
	wait := againFirst
	for {
		err := stream(ctx, c, func(e prompt.Event) {
			wait = againFirst
			tell(e)
		})
		if ctx.Err() != nil {
			return
		}
		tell(prompt.Down{Err: err})
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		wait = min(2*wait, againMost)
	}
}

// stream follows one stream to its end.
func stream(ctx context.Context, c *client.Client, tell func(prompt.Event)) error {
	asking, cancel := context.WithTimeout(ctx, patience)
	status, err := c.Status(asking)
	cancel()
	if err != nil {
		return err
	}
	if status.Kernel == nil {
		return &wire.Problem{Code: wire.Role, Detail: "this is a person's to ask, and this connection is an agent's"}
	}
	tell(prompt.Up{Name: status.You.Name})
	for e, err := range c.Stream(ctx, "", status.Kernel.Rev) {
		if err != nil {
			return err
		}
		if len(e.Rows) > 0 {
			tell(prompt.Changed{Rows: e.Rows})
		}
	}
	return nil
}
