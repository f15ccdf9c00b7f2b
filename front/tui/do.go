package tui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/card"
	"assent/front/prompt"
	"assent/plexus"
)

// do does what was ordered, and tells what became of it.
func do(ctx context.Context, c *client.Client, o prompt.Order) prompt.Event {
	switch o := o.(type) {
	case prompt.GetQueue:
		q, err := c.QueuePage(ctx, "", 0, o.Limit)
		return prompt.Queue{Queue: q, Err: err}
	case prompt.GetCard:
		job, about, err := read(ctx, c, o.Call)
		return prompt.Card{Call: o.Call, Job: job, About: about, Err: err}
	case prompt.GetHistory:
		calls, err := c.Calls(ctx, client.CallFilter{Limit: o.Limit})
		return prompt.History{Calls: calls.Calls, Err: err}
	case prompt.GetSessions:
		list, err := c.Sessions(ctx, client.SessionFilter{Limit: mostSessions})
		return prompt.Sessions{Sessions: list.Sessions, Err: err}
	case prompt.Answer:
		_, err := c.Answer(ctx, o.Call.Session, o.Call.Job, o.Yes, o.Comment)
		return wrote(o, err)
	case prompt.Open:
		return wrote(o, again(func() error { return open(ctx, c, o) }))
	case prompt.Grant:
		return wrote(o, again(func() error { return grant(ctx, c, o) }))
	case prompt.Uncover:
		_, err := c.SetRegister(ctx, o.Call.Session, plexus.AutoCoverDeny, false, 0)
		return wrote(o, err)
	case prompt.Assign:
		_, err := c.Assign(ctx, o.Session, wire.Assign{Mode: o.Mode})
		return wrote(o, err)
	case prompt.Cancel:
		return wrote(o, c.Cancel(ctx, o.Call.Session, o.Call.Job))
	case prompt.Wake, prompt.Ring, prompt.Suspend, prompt.Quit:
	}
	return prompt.Tick{}
}

// mostSessions is how many sessions are listed.
const mostSessions = 200

// wrote says what an error means for what was to be written.
func wrote(o prompt.Order, err error) prompt.Wrote {
	w := prompt.Wrote{What: o, Err: err}
	if p, ok := errors.AsType[*wire.Problem](err); ok {
		w.Refused = p.Status < http.StatusInternalServerError
		w.Over = errors.Is(err, wire.Written) || errors.Is(err, wire.Completed) || errors.Is(err, wire.Cancelled)
	}
	return w
}

// again does something anew that was decided on what somebody has changed since.
func again(try func() error) (err error) {
	for range 3 {
		if err = try(); !errors.Is(err, wire.Stale) {
			return err
		}
	}
	return err
}

// deepest is how far up a call's turns and sessions are told.
const deepest = 8

// read is all of a call, and what belongs to it. What cannot be told beside it is
// left out.
func read(ctx context.Context, c *client.Client, call prompt.Call) (wire.Job, card.About, error) {
	about := card.About{Now: time.Now()}
	job, err := c.Job(ctx, call.Session, call.Job)
	if err != nil {
		return job, about, err
	}
	about.Session = session(ctx, c, call.Session)
	for s := about.Session; s != nil && s.Parent != "" && len(about.Parents) < deepest; {
		if s = session(ctx, c, s.Parent); s != nil {
			about.Parents = append(about.Parents, *s)
		}
	}
	if s := about.Session; s != nil && s.Parent != "" {
		if registers, err := c.Registers(ctx, call.Session); err == nil {
			about.Task = card.Task(registers)
		}
	}
	for parent := job.Parent; parent != "" && len(about.Under) < deepest; {
		under, err := c.Job(ctx, call.Session, parent)
		if err != nil {
			break
		}
		about.Under = append(about.Under, under)
		parent = under.Parent
	}
	return job, about, nil
}

// session is the session of an id, nil where it cannot be told.
func session(ctx context.Context, c *client.Client, id string) *wire.Summary {
	s, err := c.Summary(ctx, id) // by all of its id: agents choose ids that begin so
	if err != nil {
		return nil
	}
	return &s
}

// latest is the value of a register that holds, nil for none.
func latest(all wire.Registers, name string) jsontext.Value {
	for _, r := range slices.Backward(all.Registers) {
		if r.Name == name {
			return r.Value
		}
	}
	return nil
}

// yes is a person's yes as one of several writes.
func yes(job string) wire.Write {
	return wire.Write{Job: job, Name: plexus.Approved, Value: jsontext.Value(plexus.True)}
}

// open writes the folder and then the yes, in one transaction (law ruling 8).
func open(ctx context.Context, c *client.Client, o prompt.Open) error {
	all, err := c.Registers(ctx, o.Call.Session)
	if err != nil {
		return err
	}
	var keys []string
	if text := latest(all, plexus.ReadAllowlist); text != nil {
		if err := json.Unmarshal(text, &keys); err != nil {
			return fmt.Errorf("reading %s: %w", plexus.ReadAllowlist, err)
		}
	}
	writes := wire.Writes{Seen: all.Rev}
	if !slices.Contains(keys, o.Folder) {
		text, err := json.Marshal(append(keys, o.Folder))
		if err != nil {
			return fmt.Errorf("writing %s: %w", plexus.ReadAllowlist, err)
		}
		writes.Writes = append(writes.Writes, wire.Write{Name: plexus.ReadAllowlist, Value: text})
	}
	writes.Writes = append(writes.Writes, yes(o.Call.Job))
	_, err = c.Write(ctx, o.Call.Session, writes)
	return err
}

// grant writes the grant and a yes to the call: in one transaction where it is of
// the session. One of all sessions stands in another document: it comes first, and
// may let the call through by itself.
func grant(ctx context.Context, c *client.Client, o prompt.Grant) error {
	session, name := o.Call.Session, plexus.AutoAllow
	if o.Standing {
		session, name = "", plexus.StandingAutoAllow
	}
	all, err := c.Registers(ctx, session)
	if err != nil {
		return err
	}
	var terms approval.Terms
	if text := latest(all, name); text != nil {
		if err := json.Unmarshal(text, &terms, json.RejectUnknownMembers(true)); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
	}
	term := approval.Endless
	if !o.Until.IsZero() {
		term = approval.Until(o.Until)
	}
	switch o.Cluster { // one that holds longer is not cut short
	case approval.Write.String():
		terms.Write = max(terms.Write, term)
	case approval.Bash.String():
		terms.Bash = max(terms.Bash, term)
	case approval.MCP.String():
		terms.MCP = max(terms.MCP, term)
	default:
		return fmt.Errorf("calls of kind %s cannot be granted", o.Cluster)
	}
	if !o.Standing {
		text, err := json.Marshal(terms)
		if err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		_, err = c.Write(ctx, session, wire.Writes{Seen: all.Rev, Writes: []wire.Write{{Name: name, Value: text}, yes(o.Call.Job)}})
		return err
	}
	if _, err := c.SetRegister(ctx, "", name, terms, all.Rev); err != nil {
		return err
	}
	_, err = c.Answer(ctx, o.Call.Session, o.Call.Job, true, "")
	if errors.Is(err, wire.Completed) {
		return nil
	}
	return err
}
