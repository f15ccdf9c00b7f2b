package toolkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"assent/job"
)

// Agents are where the communication of a host's agents goes. Each of these is done
// once for a call, however often it is asked, so that a body may simply be run again
// after a restart.
type Agents interface {
	// Spawn starts a session for a task, below that of the call.
	Spawn(ctx context.Context, call job.Call, task string) (session string, err error)
	// Say has a message reach another session of the tree: the parent for "".
	Say(ctx context.Context, call job.Call, to, kind, text string) error
	// Tell has those who look at the call's session, and its parent, know something.
	Tell(ctx context.Context, call job.Call, kind, text string) error
	// Describe changes what the call's session says of itself.
	Describe(ctx context.Context, call job.Call, members map[string]string) error
}

// maxSaid is how much is said at once, in bytes. No floor looks at it.
const maxSaid = 64 << 10

// Words of messages.
const (
	saidMessage  = "message"
	saidCallback = "callback"
	saidNotify   = "notify"
	saidNeed     = "context_need"
)

// talk is the bodies of communication: they pass without the floor (law §7), so what
// they do is bounded here and by [Agents], and nothing of it is read as anything but
// text.
type talk struct{ agents Agents }

type spawnOutcome struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	// Session is that of the agent that was started.
	Session string `json:"session"`
}

// call is the body of an agent call: another agent is started for a task. Its answer
// comes later, as a callback.
func (t talk) call(ctx context.Context, call job.Call) (job.Outcome, error) {
	var a struct {
		Task string `json:"task"`
	}
	err := t.read(ctx, call, &a, func() string { return a.Task }, "task")
	if err != nil {
		return said(ctx, "", err)
	}
	session, err := t.agents.Spawn(ctx, call, a.Task)
	if err != nil {
		return said(ctx, "", err)
	}
	return job.JSON(spawnOutcome{true, "started; what it finds comes as a callback", session})
}

// message is the body of a message to the agent that started this one, or to one
// that this one started.
func (t talk) message(ctx context.Context, call job.Call) (job.Outcome, error) {
	var a struct {
		To   string `json:"to,omitzero"` // the session; the parent when empty
		Text string `json:"text"`
	}
	err := t.read(ctx, call, &a, func() string { return a.Text }, "text")
	if err == nil {
		err = t.agents.Say(ctx, call, a.To, saidMessage, a.Text)
	}
	return said(ctx, "said", err)
}

// callback is the body that gives the agent that started this one the answer.
func (t talk) callback(ctx context.Context, call job.Call) (job.Outcome, error) {
	var a struct {
		Text string `json:"text"`
	}
	err := t.read(ctx, call, &a, func() string { return a.Text }, "text")
	if err == nil {
		err = t.agents.Say(ctx, call, "", saidCallback, a.Text)
	}
	return said(ctx, "said", err)
}

// notify is the body of a note to whoever looks.
func (t talk) notify(ctx context.Context, call job.Call) (job.Outcome, error) {
	var a struct {
		Text string `json:"text"`
	}
	err := t.read(ctx, call, &a, func() string { return a.Text }, "text")
	if err == nil {
		err = t.agents.Tell(ctx, call, saidNotify, a.Text)
	}
	return said(ctx, "told", err)
}

// need is the body by which an agent says what it does not know.
func (t talk) need(ctx context.Context, call job.Call) (job.Outcome, error) {
	var a struct {
		Need string `json:"need"`
	}
	err := t.read(ctx, call, &a, func() string { return a.Need }, "need")
	if err == nil {
		err = t.agents.Tell(ctx, call, saidNeed, a.Need)
	}
	return said(ctx, "told; an answer comes as a message", err)
}

// maxMember is how long a text about a session may be, in bytes.
const maxMember = 4 << 10

// describe is the body of update_metadata: what the session says of itself.
func (t talk) describe(ctx context.Context, call job.Call) (job.Outcome, error) {
	a := make(map[string]string)
	if err := call.Decode(&a); err != nil {
		return failed(err)
	}
	var err error
	for name, text := range a {
		if !plainName(name) || len(name) > 64 || len(text) > maxMember {
			err = fmt.Errorf("the names have at most 64 bytes without blanks, the texts %d", maxMember)
		}
	}
	switch {
	case err != nil:
	case len(a) == 0:
		err = errors.New("nothing is said")
	case t.agents == nil:
		err = errNoAgents
	default:
		err = t.agents.Describe(ctx, call, a)
	}
	return said(ctx, "noted", err)
}

// plainName reports whether people can read a name as it is.
func plainName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }) < 0
}

var errNoAgents = errors.New("this host has no agents to speak with")

func (t talk) read(ctx context.Context, call job.Call, into any, text func() string, what string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := call.Decode(into); err != nil {
		return err
	}
	switch said := text(); {
	case strings.TrimSpace(said) == "":
		return fmt.Errorf("%s is empty", what)
	case len(said) > maxSaid:
		return fmt.Errorf("%s has %d bytes, %d are the most", what, len(said), maxSaid)
	case t.agents == nil:
		return errNoAgents
	}
	return nil
}

// said is the outcome of something that was said, or could not be.
func said(ctx context.Context, text string, err error) (job.Outcome, error) {
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return failed(err)
	}
	return job.Text(text), nil
}
