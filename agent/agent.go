package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"assent/approval"
	"assent/job"
	"assent/kernel"
	"assent/model"
	"assent/plexus"
	"assent/remainder"
	"assent/session"
	"assent/turn"
)

// Document is the part of [plexus.Store] that turns use.
type Document interface {
	Session(context.Context, string) (plexus.Snapshot, error)
	Open(context.Context, string) (plexus.Snapshot, error)
	Apply(context.Context, plexus.Tx) (plexus.Rev, error)
	Watch(context.Context, plexus.Rev, plexus.Filter) iter.Seq2[[]plexus.Row, error]
	SetPresence(session, key, value string)
}

// Admitter mints calls: the kernel.
type Admitter interface {
	Admit(context.Context, kernel.NewCall, plexus.Writer) (plexus.Job, error)
}

// Models are the connections to models that there are.
type Models interface {
	Chat(ctx context.Context, connection, model string) (model.Chat, error)
	Names() []string
}

// Agent goes through turns, many at a time.
type Agent struct {
	Document Document
	// Kernel waits until there is one.
	Kernel func(context.Context) (Admitter, error)
	Models Models
	// Tools are those that there are now.
	Tools func(context.Context) []turn.Tool
	// After has f called when d has passed, until stop was called: [time.AfterFunc]
	// when nil.
	After func(d time.Duration, f func()) (stop func() bool)
}

// writer is who writes for a turn.
var writer = plexus.Writer{Role: plexus.Host, Name: "agent"}

// maxTokens bounds what a model says at once. The smallest of those that are in use take
// no more.
const maxTokens = 8192

// Run goes through a turn to its end, as a [job.Body]: its outcome is that of the turn.
func (a *Agent) Run(ctx context.Context, call job.Call) (job.Outcome, error) {
	r := &run{Agent: a, id: string(call.Job), session: call.Session}
	end, err := r.begin(ctx)
	if err == nil && end == nil {
		end, err = r.through(ctx)
	}
	r.say(0, "") // nothing is said any more
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	}
	return job.JSON(end)
}

// run is a turn that is gone through.
type run struct {
	*Agent
	id, session string

	kernel   Admitter
	facts    plexus.Session
	settings turn.Settings
	state    *turn.State
	chat     model.Chat
	tools    []turn.Tool

	from plexus.Rev        // the state was opened on all rows up to it
	rows chan []plexus.Row // those after
	lost chan error
}

// begin reads the turn. One that cannot be gone through ends at once.
func (r *run) begin(ctx context.Context) (end *turn.Outcome, err error) {
	if r.kernel, err = r.Kernel(ctx); err != nil {
		return nil, err
	}
	var snap plexus.Snapshot
	err = r.persist(ctx, func() (err error) {
		snap, err = r.Document.Session(ctx, r.session)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.facts, r.from = snap.Session, snap.Rev
	at := slices.IndexFunc(snap.Jobs, func(j plexus.Job) bool { return j.ID == r.id })
	if at < 0 {
		return nil, plexus.ErrNoJob
	}
	if facts := snap.Jobs[at].Facts; facts != "" {
		if err := json.Unmarshal([]byte(facts), &r.settings, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("the facts of the turn: %w", err)
		}
	}
	if r.state, err = turn.Open(r.id, r.settings, rowsOf(snap)); err != nil {
		return nil, err
	}
	if r.chat, err = r.connect(ctx); err != nil {
		return &turn.Outcome{Text: err.Error(), Code: turn.CodeModel}, nil
	}
	r.tools = r.state.Offered(r.Tools(ctx))
	return nil, nil
}

// connect chooses the model: the turn's own, else that of its session or of the one
// that started it, else the only connection that there is.
func (r *run) connect(ctx context.Context) (model.Chat, error) {
	connection, name := r.settings.Connection, r.settings.Model
	for at := r.facts; connection == ""; {
		var chat struct {
			Connection string `json:"chatConnection"`
			Model      string `json:"chatModel"`
		}
		if json.Unmarshal([]byte(at.Facts), &chat) == nil && chat.Connection != "" {
			connection, name = chat.Connection, cmp.Or(name, chat.Model)
		}
		if at.Parent == "" {
			break
		}
		above, err := r.Document.Open(ctx, at.Parent)
		if err != nil {
			return nil, err
		}
		at = above.Session
	}
	if names := r.Models.Names(); connection == "" && len(names) == 1 {
		connection = names[0]
	} else if connection == "" && len(names) > 1 {
		return nil, fmt.Errorf("no connection is named; config.json has %s", strings.Join(names, ", "))
	}
	return r.Models.Chat(ctx, connection, name)
}

// through does what follows, until the turn ends.
func (r *run) through(ctx context.Context) (*turn.Outcome, error) {
	ctx, stop := context.WithCancel(ctx)
	r.rows, r.lost = make(chan []plexus.Row), make(chan error, 1)
	var watching sync.WaitGroup
	watching.Go(func() { r.watch(ctx, r.from) })
	defer watching.Wait()
	defer stop()
	for {
		switch do := r.state.Next().(type) {
		case turn.Ask:
			end, err := r.ask(ctx, do)
			if err != nil || end != nil {
				return end, err
			}
		case turn.Mint:
			if err := r.mint(ctx, do); err != nil {
				return nil, err
			}
		case turn.Await:
			if err := r.await(ctx); err != nil {
				return nil, err
			}
		case turn.End:
			return &do.Outcome, nil
		case turn.Rest: // it is cancelled; who did that has it settled
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
	}
}

// watch hands over what is committed.
func (r *run) watch(ctx context.Context, after plexus.Rev) {
	for rows, err := range r.Document.Watch(ctx, after, plexus.Filter{Session: r.session}) {
		if err != nil {
			r.lost <- err
			return
		}
		select {
		case r.rows <- rows:
		case <-ctx.Done():
			return
		}
	}
}

// await takes the rows that come next.
func (r *run) await(ctx context.Context) error {
	select {
	case rows := <-r.rows:
		r.state.Apply(committed(rows))
		return nil
	case err := <-r.lost:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// until waits for rows by which something is so.
func (r *run) until(ctx context.Context, so func() bool) error {
	for !so() {
		if err := r.await(ctx); err != nil {
			return err
		}
	}
	return nil
}

// mint makes calls. One that is there already was made in an earlier life.
func (r *run) mint(ctx context.Context, m turn.Mint) error {
	facts, err := json.Marshal(struct {
		Said string `json:"said,omitzero"`
	}{begins(m.Said, longestSaid)})
	if err != nil {
		return err
	}
	for _, j := range m.Jobs {
		call := kernel.NewCall{
			Session: r.session, ID: string(j.ID), Parent: string(j.Parent), Ord: j.Ord, Kind: j.Kind, Name: j.Name,
			Arguments: []byte(j.Arguments), Facts: string(facts),
		}
		err := r.persist(ctx, func() error {
			_, err := r.kernel.Admit(ctx, call, writer)
			return err
		})
		if errors.Is(err, plexus.ErrCancelled) || errors.Is(err, plexus.ErrCompleted) {
			<-ctx.Done() // the turn is cancelled, and so is this soon
			return context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, plexus.ErrWritten) {
			return err
		}
		if err := r.until(ctx, func() bool { return r.state.Has(call.ID) }); err != nil {
			return err
		}
	}
	return nil
}

// longestSaid is how much of what a model said stands with each of its calls.
const longestSaid = 64 << 10

func begins(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// ask has a round: what the model said is durable when it returns. A model that gives
// no answer ends the turn.
func (r *run) ask(ctx context.Context, ask turn.Ask) (*turn.Outcome, error) {
	talk := model.Talk{System: r.state.System(r.facts.Workspace, r.facts.Parent != ""), Messages: ask.Messages, MaxTokens: maxTokens}
	for _, t := range r.tools {
		talk.Tools = append(talk.Tools, t.Tool)
	}
	said, err := r.listen(ctx, ask.Round, talk)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return &turn.Outcome{Text: err.Error(), Code: turn.CodeModel}, nil
	}
	value, err := json.Marshal(r.state.Take(ask, said, r.tools))
	if err != nil {
		return nil, err
	}
	err = r.persist(ctx, func() error {
		_, err := r.Document.Apply(ctx, plexus.Tx{Writer: writer, Writes: []plexus.Row{
			plexus.Register{Session: r.session, Name: turn.RoundName(r.id, ask.Round), Value: string(value)},
		}})
		return err
	})
	if err == nil {
		err = r.until(ctx, func() bool { return len(r.state.Rounds()) >= ask.Round })
	}
	r.say(ask.Round, "")
	return nil, err
}

// attempts is how often a model is asked the same that gives no answer for a reason that
// passes.
const attempts = 5

// listen asks until there is an answer.
func (r *run) listen(ctx context.Context, round int, talk model.Talk) (turn.Said, error) {
	for n := 1; ; n++ {
		said, err := r.hear(ctx, round, talk)
		if err == nil || ctx.Err() != nil || n == attempts || !passes(err) {
			return said, err
		}
		r.say(round, "")
		r.Document.SetPresence(r.session, kernel.Progress+r.id, "asked again soon: "+err.Error())
		r.pause(ctx, approval.RetryAfter(n))
		r.Document.SetPresence(r.session, kernel.Progress+r.id, "")
	}
}

// passes reports whether asking again may help.
func passes(err error) bool {
	f, ok := errors.AsType[*remainder.Failure](err)
	if !ok {
		return false
	}
	switch f.Cause {
	case remainder.Unreachable, remainder.Overloaded, remainder.Slow, remainder.Cut:
		return true
	case remainder.Status:
		return f.Code == 0 || f.Code >= 500
	case remainder.Broken, remainder.Unconnected, remainder.Refused, remainder.Truncated, remainder.Declined, remainder.Unreadable:
	}
	return false
}

// hear asks once, and tells what is said while it is said.
func (r *run) hear(ctx context.Context, round int, talk model.Talk) (said turn.Said, err error) {
	var text strings.Builder
	for event, err := range r.chat.Stream(ctx, talk) {
		if err != nil {
			return turn.Said{}, err
		}
		switch e := event.(type) {
		case model.Said:
			text.WriteString(e.Text)
			r.say(round, text.String())
		case model.Called:
			said.Calls = append(said.Calls, e.Call)
		case model.Ended:
			said.Ended = e
		}
	}
	said.Text = text.String()
	return said, ctx.Err()
}

// Saying is the key of presence, with the turn behind it, under which stands what its
// model says just now: a [Spoken].
const Saying = "saying/"

// Spoken is the end of what was said so far in a round.
type Spoken struct {
	Round int    `json:"round"`
	From  int    `json:"from"` // where the text begins, in bytes
	Text  string `json:"text"`
}

// window is how much of it is told. Whoever misses more reads the round when it is
// written down.
const window = 8 << 10

func (r *run) say(round int, text string) {
	value := ""
	if text != "" {
		from := max(0, len(text)-window)
		for from > 0 && from < len(text) && text[from]&0xc0 == 0x80 { // within a character
			from++
		}
		value = plexus.Value(Spoken{round, from, text[from:]})
	}
	r.Document.SetPresence(r.session, Saying+r.id, value)
}

// The waits before the document is tried again.
const (
	retryFirst = time.Second
	retryMost  = time.Minute
)

// persist writes until that can be done: a full disk is a reason to wait. What is
// refused stays so.
func (r *run) persist(ctx context.Context, write func() error) error {
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		err := write()
		var refusal *plexus.Refusal
		switch {
		case err == nil, ctx.Err() != nil, errors.As(err, &refusal), errors.Is(err, plexus.ErrClosed), errors.Is(err, plexus.ErrTampered), errors.Is(err, kernel.ErrClosed),
			errors.Is(err, plexus.ErrWritten), errors.Is(err, plexus.ErrValue), errors.Is(err, kernel.ErrTooLarge), errors.Is(err, job.ErrArguments):
			return err
		}
		r.pause(ctx, wait)
	}
}

// pause waits until d has passed, or ctx is done.
func (a *Agent) pause(ctx context.Context, d time.Duration) {
	after := a.After
	if after == nil {
		after = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	passed := make(chan struct{})
	stop := after(d, func() { close(passed) })
	select {
	case <-passed:
	case <-ctx.Done():
		stop()
	}
}

// rowsOf are the rows of a session, each kind in the order in which it was committed.
func rowsOf(snap plexus.Snapshot) session.Rows {
	var rows []plexus.Row
	for _, j := range snap.Jobs {
		rows = append(rows, j)
	}
	for _, of := range snap.Fields {
		for _, f := range of {
			rows = append(rows, f)
		}
	}
	for _, r := range snap.Registers {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(x, y plexus.Row) int { return cmp.Compare(x.Stamped().Rev, y.Stamped().Rev) })
	return committed(rows)
}

func committed(rows []plexus.Row) (out session.Rows) {
	for _, row := range rows {
		switch r := row.(type) {
		case plexus.Session:
		case plexus.Job:
			out.Jobs = append(out.Jobs, session.Job{ID: session.JobID(r.ID), Parent: session.JobID(r.Parent), Ord: r.Ord, Kind: session.Kind(r.Kind), Name: r.Name, Arguments: r.Arguments})
		case plexus.Field:
			out.Fields = append(out.Fields, session.Field{Job: session.JobID(r.Job), Name: r.Name, Value: r.Value})
		case plexus.Register:
			out.Registers = append(out.Registers, session.Register{Kernel: r.Session == "", Name: r.Name, Value: r.Value})
		}
	}
	return out
}
