package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/job"
	"assent/plexus"
)

// What agents of the host say to each other is in the document and nowhere else:
// registers of the session that it is for, each written once. Whoever runs the turns
// of a session reads them there. No floor is asked about it (law §7), so none of it
// reaches beyond the agents of one tree: a session speaks with the one that started
// it and with those it started, and none of it is more than data to them.

// The registers of a session that its agents' communication stands in. A name that
// ends with "/" has an id behind it.
var (
	Task         = plexus.HostRegister("task")     // of a child: {"text", "job"}, what it was started for
	Depth        = plexus.HostRegister("depth")    // of a child: how many sessions are above it
	Metadata     = plexus.HostRegister("metadata") // {"title", ...}, what the agent says of its session
	Inbox        = plexus.HostRegister("inbox/")   // a [Message] to it
	Notice       = plexus.HostRegister("notice/")  // a [Message] of it to whoever looks
	startedChild = plexus.HostRegister("child/")   // the job that started a child, "" where a client made it
)

// Message is what one agent says to another.
type Message struct {
	// Kind is message, callback, notify or context_need.
	Kind string `json:"kind"`
	From string `json:"from"` // the session
	Job  string `json:"job"`  // the call by which it was said
	Text string `json:"text"`
}

// The limits of what agents may say: a person pays for what they start.
const (
	maxDepth    = 8   // sessions above a child
	maxChildren = 256 // of one session in its life: a client makes one for each of an agent's helpers
	maxInbox    = 500 // messages to one session, and notices of one
	maxMetadata = 16  // members
)

// Errors of what agents say.
var (
	// ErrNoKin: sessions of other trees do not speak with each other.
	ErrNoKin = errors.New("it is neither the session that started this one nor one that this one started")
	// ErrTooMany: one more than there may be.
	ErrTooMany = errors.New("too many")
	// ErrNoAgent: a session would be made in which nobody does anything.
	ErrNoAgent = errors.New("nothing here goes through the turns of an agent")
)

// firstTurn is the turn of a child that its task is.
const firstTurn = "task"

// mark is a name for one call, to be part of an id.
func mark(call job.Call) string {
	sum := sha256.Sum256([]byte(call.Session + "\x00" + string(call.Job)))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:15]))
}

// Spawn starts a session for a task, below that of the call: with its workspace as
// it really is, its seat and its mode of this moment, and without any of its grants
// (law §7). Its first turn begins, which has the task for a prompt: what goes through the
// turns of an agent is registered as [job.AgentTurn], and without it none is started. A
// call starts one session, however often it is asked.
func (k *Kernel) Spawn(ctx context.Context, call job.Call, task string) (id string, err error) {
	err = k.talk(ctx, call, func(mine map[string]plexus.Register) error {
		id = "agent-" + mark(call)
		if _, there := mine[startedChild+id]; there {
			return nil
		}
		if k.Registry.Sequence(job.SessionTurn, job.AgentTurn) == nil {
			return fmt.Errorf("no agent was started: %w", ErrNoAgent)
		}
		workspace := call.RealWorkspace
		if real(workspace) != workspace {
			return fmt.Errorf("the workspace %q leads to %q by now: %w", workspace, real(workspace), ErrBounds)
		}
		also := []plexus.Row{
			plexus.Register{Session: id, Name: Task, Value: plexus.Value(struct {
				Text string `json:"text"`
				Job  string `json:"job"`
			}{task, string(call.Job)})},
			plexus.Job{Session: id, ID: firstTurn, Kind: string(job.SessionTurn), Name: job.AgentTurn, Arguments: plexus.Value(struct {
				Prompt string `json:"prompt"`
			}{task})},
		}
		if r, ok := mine[plexus.SessionAgent]; ok { // nobody else can have it
			also = append(also, plexus.Register{Session: id, Name: plexus.SessionAgent, Value: r.Value})
		}
		_, err := k.makeSession(ctx, NewSession{
			ID: id, Parent: call.Session, Workspace: workspace, Home: call.Home, Client: "agent", started: string(call.Job), also: also,
		}, k.host)
		return err
	})
	return id, err
}

// cancelStarted cancels what is under way in the sessions that a call started, or any
// in a sequence, or in all below a session for "", those that a client made there
// too, and below those. It reports whether there are any.
func (k *Kernel) cancelStarted(ctx context.Context, id, what string) (there bool, err error) {
	// A call that starts one has written that down before the next is looked at.
	k.talking.Lock()
	mine, err := k.Document.Latest(ctx, id)
	k.talking.Unlock()
	if err != nil || count(mine, startedChild) == 0 {
		return false, err
	}
	for name, r := range mine {
		child, ok := strings.CutPrefix(name, startedChild)
		if !ok {
			continue
		}
		var by string
		if err := json.Unmarshal([]byte(r.Value), &by); err != nil {
			return there, err
		}
		for what != "" && by != what && by != "" { // the sequences it is in
			above, err := k.Document.Job(ctx, id, by)
			if err != nil {
				return there, err
			}
			by = above.Job.Parent
		}
		if what != "" && by != what {
			continue
		}
		there = true
		if _, err := k.cancel(ctx, child, "", k.host); err != nil {
			return there, fmt.Errorf("%s, which it started: %w", child, err)
		}
	}
	return there, nil
}

// Say has a message of a call reach another session: the parent's for "".
func (k *Kernel) Say(ctx context.Context, call job.Call, to, kind, text string) error {
	return k.talk(ctx, call, func(mine map[string]plexus.Register) error {
		snap, err := k.Document.Open(ctx, call.Session)
		if err != nil {
			return err
		}
		parent := snap.Session.Parent
		_, below := mine[startedChild+to]
		switch {
		case to == "" && parent == "":
			return errors.New("no session started this one")
		case to == "":
			to = parent
		case to != parent && !below:
			return fmt.Errorf("%s: %w", to, ErrNoKin)
		}
		theirs, err := k.Document.Latest(ctx, to)
		if err != nil {
			return err
		}
		return k.put(ctx, theirs, to, Inbox, call, kind, text)
	})
}

// Tell has those who look at the session of a call, and the session that started
// it, know something.
func (k *Kernel) Tell(ctx context.Context, call job.Call, kind, text string) error {
	err := k.talk(ctx, call, func(mine map[string]plexus.Register) error {
		return k.put(ctx, mine, call.Session, Notice, call, kind, text)
	})
	if err != nil {
		return err
	}
	snap, err := k.Document.Open(ctx, call.Session)
	if err != nil || snap.Session.Parent == "" {
		return err
	}
	return k.Say(ctx, call, "", kind, text)
}

// Describe changes what a session says of itself. An empty text takes a member away.
func (k *Kernel) Describe(ctx context.Context, call job.Call, members map[string]string) error {
	return k.talk(ctx, call, func(mine map[string]plexus.Register) error {
		all := make(map[string]string)
		if r, ok := mine[Metadata]; ok {
			if err := json.Unmarshal([]byte(r.Value), &all); err != nil {
				return err
			}
		}
		for name, text := range members {
			if text == "" {
				delete(all, name)
			} else {
				all[name] = text
			}
		}
		if len(all) > maxMetadata {
			return fmt.Errorf("%d members: %w, %d are the most", len(all), ErrTooMany, maxMetadata)
		}
		value := plexus.Value(all)
		if r, ok := mine[Metadata]; ok && r.Value == value {
			return nil
		}
		return k.register(ctx, plexus.Register{Session: call.Session, Name: Metadata, Value: value})
	})
}

// talk has f called with the registers of a call's session while nobody else writes
// any of these.
func (k *Kernel) talk(ctx context.Context, call job.Call, f func(mine map[string]plexus.Register) error) error {
	if !k.enter() {
		return ErrClosed
	}
	defer k.leave()
	k.talking.Lock()
	defer k.talking.Unlock()
	if ctx.Err() != nil { // cancelled: nothing is started any more
		return context.Cause(ctx)
	}
	mine, err := k.Document.Latest(ctx, call.Session)
	if err != nil {
		return err
	}
	return f(mine)
}

// put writes a message, once.
func (k *Kernel) put(ctx context.Context, there map[string]plexus.Register, session, box string, call job.Call, kind, text string) error {
	name := box + mark(call)
	if _, ok := there[name]; ok {
		return nil
	}
	if count(there, box) >= maxInbox {
		return fmt.Errorf("%d messages: %w", maxInbox, ErrTooMany)
	}
	value, err := json.Marshal(Message{Kind: kind, From: call.Session, Job: string(call.Job), Text: text}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	return k.register(ctx, plexus.Register{Session: session, Name: name, Value: string(value)})
}

func (k *Kernel) register(ctx context.Context, r plexus.Register) error {
	_, err := k.Document.Apply(ctx, plexus.Tx{Writer: k.host, Writes: []plexus.Row{r}})
	return err
}

func count(registers map[string]plexus.Register, prefix string) (n int) {
	for name := range registers {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}
