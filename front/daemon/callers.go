package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os/user"
	"strconv"
	"sync"

	"assent/front/api"
	"assent/internal/peer"
	"assent/plexus"
)

// callers say for whom connections speak.
type callers struct {
	gate *peer.Gate
	// keep writes down the agents that are known, as long as there is room for what
	// agents do.
	keep func(context.Context) error
	room func() error
	// folder is where an agent was started, "" when nobody knows.
	folder func(peer.Body) string
	// paired says whether a token is, and under which name.
	paired func(token string) (name string, ok bool)
	log    *slog.Logger

	noting sync.WaitGroup // agents that are being written down

	mu    sync.Mutex
	names map[uint32]string
}

// errToken: what is presented is no token of this kernel, or not any more.
var errToken = errors.New("this token is not paired with the kernel")

// errHanded: the number of the process that connected is another's now, or
// nobody's.
var errHanded = errors.New("the connection is refused: the process that made it has ended")

// of is the role of a connection, looked at anew for every request: an agent
// may have become known since.
func (c *callers) of(conn net.Conn) api.Caller {
	return c.held(func(token peer.Token) peer.Caller { return c.gate.Caller(conn, token) })
}

// held is the role of whoever made a connection, for as long as that process
// is there. A connection that outlives it, because another process has it too,
// would speak for whoever gets its number next: on a system that does not pin
// the process to the socket, that could be made to be a person's.
func (c *callers) held(look func(peer.Token) peer.Caller) api.Caller {
	first := look(peer.NoToken).Facts.Process()
	return func(claim api.Claim) (plexus.Writer, error) {
		token, by := peer.NoToken, ""
		if claim.Token != "" {
			name, ok := c.paired(claim.Token)
			if !ok {
				return plexus.Writer{}, errToken
			}
			token, by = peer.Paired, name
		}
		who := look(token)
		if claim.Agent && who.Role == peer.Human {
			who.Role = peer.Agent
		}
		if peer.Supported && who.Role != peer.None && (first == peer.Process{} || who.Facts.Process() != first) {
			return plexus.Writer{}, errHanded
		}
		if who.Role == peer.Agent && (claim.Agent || who.Why == peer.Marks) {
			c.noted(who.Facts)
		}
		return c.writer(who, by)
	}
}

// noted makes known an agent that has not admitted anything yet, where it can
// be told by a terminal: what it starts there without its marks is its own.
func (c *callers) noted(f peer.Facts) {
	b, ok := c.gate.Agent(f)
	if !ok || b.Session == 0 {
		return
	}
	added, err := c.hook(f)
	if err == nil && !added {
		return
	}
	// Nobody waits for the disk who only asks something.
	c.noting.Go(func() {
		if err == nil {
			err = c.room()
		}
		if err == nil {
			err = c.keep(context.Background())
		}
		if err != nil {
			c.log.Error("an agent is known to this kernel alone", "error", err)
		}
	})
}

// hook makes an agent known to this kernel.
func (c *callers) hook(f peer.Facts) (added bool, err error) {
	b, added, err := c.gate.Hook(f)
	if added {
		c.log.Info("an agent is known", "agent", called(c.name(f.UID), b))
	}
	return added, err
}

// know makes an agent known to this kernel and to those after it.
func (c *callers) know(ctx context.Context, f peer.Facts) error {
	if _, err := c.hook(f); err != nil {
		return err
	}
	return c.keep(ctx)
}

// why says what the role of a connection follows from.
func (c *callers) why(conn net.Conn, claim api.Claim) string {
	token := peer.NoToken
	if _, ok := c.paired(claim.Token); ok {
		token = peer.Paired
	}
	who := c.gate.Caller(conn, token)
	if who.Role == peer.Human && claim.Agent {
		return "the process says so"
	}
	return who.Why.String()
}

// writer is who writes. Of a person who is known by a token alone the name says
// which.
func (c *callers) writer(who peer.Caller, token string) (plexus.Writer, error) {
	switch who.Role {
	case peer.Human:
		name := c.name(who.Facts.UID)
		if who.Why == peer.ByToken {
			name += "@" + token
		}
		return plexus.Writer{Role: plexus.Human, Name: name}, nil
	case peer.Agent:
		name, err := c.agent(who.Facts)
		if err != nil {
			return plexus.Writer{}, err
		}
		return plexus.Writer{Role: plexus.Agent, Name: name}, nil
	case peer.None:
	}
	return plexus.Writer{}, fmt.Errorf("the connection is refused: %v", who.Why)
}

// agent is what an agent is called: by its user and by the process that stays
// while its hooks come and go, so that it finds its own calls again and nobody
// else does.
func (c *callers) agent(f peer.Facts) (string, error) {
	name := c.name(f.UID)
	if !peer.Supported {
		return name, nil
	}
	b, ok := c.gate.Agent(f)
	if !ok {
		return "", errors.New("the connection is refused: who it belongs to has ended or cannot be told")
	}
	return called(name, b), nil
}

func called(user string, b peer.Body) string { return fmt.Sprintf("%s/%d.%d", user, b.PID, b.Start) }

// admits makes known the agent that is about to admit a call: from here on
// nobody beside it in its terminal is a person, also for the next kernel. It
// gives where the agent was started.
func (c *callers) admits(ctx context.Context, conn net.Conn) (folder string, err error) {
	if !peer.Supported {
		return "", nil
	}
	who := c.gate.Caller(conn, peer.NoToken)
	if _, err := c.hook(who.Facts); err != nil {
		return "", err
	}
	// Each process that gets away from its parents is another agent, and is written
	// down.
	if err := c.room(); err != nil {
		return "", err
	}
	if err := c.keep(ctx); err != nil {
		return "", err
	}
	b, _ := c.gate.Agent(who.Facts)
	return c.folder(b), nil
}

// agentOf is what the agent is called that a process is or belongs to, and makes
// it known. One that whoever asks descends from, or shares the terminal with, is
// none: the person would be an agent from then on.
func (c *callers) agentOf(ctx context.Context, conn net.Conn, pid int) (string, error) {
	f, err := c.gate.About(pid)
	if err != nil {
		return "", err
	}
	if b, ok := c.gate.Agent(f); ok {
		if err := aside(c.gate.Caller(conn, peer.NoToken).Facts, f, b); err != nil {
			return "", err
		}
	}
	if err := c.know(ctx, f); err != nil {
		return "", err
	}
	return c.agent(f)
}

// aside refuses an agent that is no other than whoever asks, or holds them.
func aside(asks, f peer.Facts, b peer.Body) error {
	root := peer.Process{PID: b.PID, Start: b.Start}
	switch p := f.Process(); {
	case p.PID == 1 || root.PID == 1:
		return errors.New("everything descends from process 1: everybody would be an agent")
	case asks.Descends([]peer.Process{p, root}), b.Session != 0 && len(asks.Lineage) > 0 && asks.Lineage[0].Session == b.Session:
		return fmt.Errorf("you descend from process %d, or share its terminal: you would be the agent; start the agent in a terminal of its own", p.PID)
	}
	return nil
}

// name is the name of a user.
func (c *callers) name(uid uint32) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if name, ok := c.names[uid]; ok {
		return name
	}
	id := strconv.FormatUint(uint64(uid), 10)
	name := id
	if u, err := user.LookupId(id); err == nil && u.Username != "" {
		name = u.Username
	}
	if c.names == nil {
		c.names = make(map[uint32]string)
	}
	c.names[uid] = name
	return name
}
