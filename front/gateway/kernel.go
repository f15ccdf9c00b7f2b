package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"assent/front/api/client"
	"assent/front/api/wire"
)

// kernel is the kernel that a proxy asks. A proxy may outlive it, and starts another
// when it has something to ask; to look on, none is started.
type kernel struct {
	dial func(start bool) (*client.Client, error)

	mu           sync.Mutex
	starts, idle *client.Client
}

func (k *kernel) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range []*client.Client{k.starts, k.idle} {
		if c != nil {
			c.Close()
		}
	}
}

// client is the one that asks. One that found no kernel is not used again: a client
// starts one once.
func (k *kernel) client(start bool, gone *client.Client) (*client.Client, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := &k.idle
	if start {
		at = &k.starts
	}
	if *at != nil && *at != gone {
		return *at, nil
	}
	c, err := k.dial(start)
	if err != nil {
		return nil, err
	}
	if *at != nil {
		(*at).Close()
	}
	*at = c
	return c, nil
}

// ask asks the kernel, and one that is started where none runs.
func (k *kernel) ask(do func(c *client.Client) error) error {
	c, err := k.client(true, nil)
	if err != nil {
		return err
	}
	if err = do(c); !errors.Is(err, client.ErrNoDaemon) {
		return err
	}
	if c, err = k.client(true, c); err != nil {
		return err
	}
	return do(c)
}

// moment is how long the kernel may take for what nobody waits for.
const moment = 5 * time.Second

// settle tells the kernel of a call, whoever gave up waiting for it.
func (k *kernel) settle(do func(ctx context.Context, c *client.Client) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), moment)
	defer cancel()
	return k.ask(func(c *client.Client) error { return do(ctx, c) })
}

// cancelledBy waits until somebody cancels a call that runs, and says who; false when
// it is settled otherwise, or ctx is done.
func (k *kernel) cancelledBy(ctx context.Context, session, leaf string) (by string, yes bool) {
	for ctx.Err() == nil {
		c, err := k.client(false, nil)
		if err == nil {
			var r wire.Receipt
			r, err = c.Receipt(ctx, session, leaf, client.Settled)
			switch {
			case err == nil && r.Cancelled != nil && *r.Cancelled:
				if r.CancelledBy != nil {
					by = *r.CancelledBy
				}
				return by, true
			case err == nil:
				return "", false
			}
		}
		select { // the kernel is down for a while
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return "", false
}

// problem says what the kernel has against a call.
func problem(err error) string {
	var p *wire.Problem
	if !errors.As(err, &p) {
		return err.Error()
	}
	text := "the kernel does not take the call: " + p.Error()
	if errors.Is(err, wire.Bounds) {
		text += "; the folder is set by --workspace"
	}
	return text
}

// open makes the session of the proxy where it has none; one that the kernel does not
// know is made anew.
func (g *gateway) open(ctx context.Context, unknown string) (string, error) {
	g.opening.Lock()
	defer g.opening.Unlock()
	if g.session != "" && g.session != unknown {
		return g.session, nil
	}
	var made wire.Session
	err := g.kernel.ask(func(c *client.Client) (err error) {
		made, err = c.CreateSession(ctx, wire.NewSession{Client: g.label(), Workspace: g.Workspace})
		return err
	})
	if err != nil {
		return "", fmt.Errorf("a session for this server: %w", err)
	}
	g.session, g.left = made.ID, nil
	return made.ID, nil
}
