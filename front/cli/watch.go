package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"assent/approval"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/card"
	"assent/front/notify"
	"assent/internal/config"
)

// newWatch is `assent watch`: what happens to calls, a line of JSON each.
func newWatch() *cobra.Command {
	d, session := &dialer{}, ""
	var (
		from      int64
		told      bool
		bell      bool
		untilNone bool
	)
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Say what happens to calls as it happens, as lines of JSON",
		Long: `Watch writes a line of JSON for each thing that happens to a call:

  asked      it waits for a person, or did when the watch began; one that a person
             answers at once is told too, before the answer
  answered   a person said yes or no (approved, by)
  commented  a person wrote a comment (comment, by)
  decided    it may run, or may not (allowed, reason)
  cancelled  it was cancelled (by)
  settled    it has its outcome (outcome)
  ran        its client says that it ran, and it was not licensed so (how: refused, waiting,
             cancelled, unclaimed, otherwise or unasked; tool, arguments)

Each has session and job, and the number of the call where it waited while the
watch looked on; rev is its place in the document. --from takes up an earlier
watch behind that place: what has happened since is told, and what waits now is
told as asked again.

--notify shows a notification of the desktop for calls that begin to wait, and for those
that ran unlicensed (notify-send, or osascript on macOS). For what waits it runs the
command of onAsk in config.json with the line on its standard input, too; --bell rings the
terminal. That command is told and cannot answer: it has no terminal and is an agent to
the kernel. What it writes goes nowhere.

Watch ends with Ctrl-C. A kernel that ends is waited for.`,
		Example: `  assent watch
  assent watch --notify >/dev/null
  assent watch --from 1042 --session 7GKQ`,
		Args: noArguments,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			if from < 0 {
				return usagef("--from %d: want the rev of a line, from 0 on", from)
			}
			id, err := findSession(cmd.Context(), c, session)
			if err != nil {
				return err
			}
			d.heard.Store(true)
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			w := &watching{c: c, session: id, out: cmd.OutOrStdout(), known: make(map[callName]int64), told: make(map[callName]bool), until: untilNone}
			if bell {
				w.bell = cmd.ErrOrStderr()
			}
			if told {
				teller := newTeller(cmd.ErrOrStderr())
				defer teller.close()
				w.tell = teller.tell
			}
			if !cmd.Flags().Changed("from") {
				from = -1
			}
			err = w.run(ctx, from)
			if ctx.Err() != nil && cmd.Context().Err() == nil {
				return nil // asked to end
			}
			return err
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	d.flags(cmd)
	_ = cmd.Flags().MarkHidden("json") // it is JSON anyway
	sessionFlag(cmd, &session, "only of this session")
	f := cmd.Flags()
	f.Int64Var(&from, "from", 0, "tell what has happened since this `rev` too")
	f.BoolVar(&told, "notify", false, "show notifications, and run onAsk of config.json")
	f.BoolVar(&bell, "bell", false, "ring the bell of the terminal for a call that begins to wait")
	f.BoolVar(&untilNone, "until-none", false, "end when nothing waits")
	return cmd
}

// happened is a line of watch.
type happened struct {
	Rev     wire.Rev `json:"rev"`
	At      string   `json:"at,omitzero"`
	Event   string   `json:"event"`
	Session string   `json:"session"`
	Job     string   `json:"job"`
	Number  int64    `json:"number,omitzero"`

	// Of one that waits.
	Tool         string  `json:"tool,omitzero"`
	What         string  `json:"what,omitzero"`
	PolicyResult *string `json:"policyResult,omitzero"`
	Message      *string `json:"message,omitzero"`

	// Of what happened.
	By       string         `json:"by,omitzero"`
	Approved jsontext.Value `json:"approved,omitzero"`
	Comment  jsontext.Value `json:"comment,omitzero"`
	Allowed  jsontext.Value `json:"allowed,omitzero"`
	Reason   jsontext.Value `json:"reason,omitzero"`
	Outcome  jsontext.Value `json:"outcome,omitzero"`

	// Of a run that was not licensed; Arguments where they are not the call's.
	How       string         `json:"how,omitzero"`
	Arguments jsontext.Value `json:"arguments,omitzero"`
}

// watching is one run of watch.
type watching struct {
	c       *client.Client
	session string
	out     io.Writer
	bell    io.Writer
	tell    func(happened)
	until   bool

	known map[callName]int64 // what waits, with its number
	told  map[callName]bool  // what was told as asked, and is not settled
	begun bool
}

// often is how often the queue is read at most while much happens.
const often = 200 * time.Millisecond

func (w *watching) run(ctx context.Context, from wire.Rev) error {
	rev, err := w.queue(ctx)
	if err != nil {
		return err
	}
	if from < 0 {
		from = rev
	}
	w.begun = true
	if w.until && len(w.known) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, ended := make(chan client.Event), make(chan error, 1)
	go func() {
		for e, err := range w.c.Watch(ctx, w.session, from) {
			if err != nil {
				ended <- err
				return
			}
			select {
			case events <- e:
			case <-ctx.Done():
			}
		}
	}()
	look := time.NewTimer(often)
	look.Stop()
	waiting := false
	for {
		select {
		case e := <-events:
			reasons := make(map[callName]jsontext.Value)
			for _, r := range e.Rows {
				if f := r.Field; f != nil && f.Name == "licenseReason" {
					reasons[callName{f.Session, f.Job}] = f.Value
				}
			}
			for _, r := range e.Rows {
				if err := w.look(ctx, r); err != nil {
					return err
				}
				if err := w.row(r, reasons); err != nil {
					return err
				}
			}
			if len(e.Rows) > 0 && !waiting {
				waiting = true
				look.Reset(often)
			}
		case <-look.C:
			waiting = false
			_, err := w.queue(ctx)
			switch {
			case errors.Is(err, client.ErrNoDaemon), errors.Is(err, wire.Closed), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
				waiting = true
				look.Reset(time.Second) // it comes back, and so does the watch
			case err != nil:
				return err
			case w.until && len(w.known) == 0:
				return nil
			}
		case err := <-ended:
			return err
		}
	}
}

// row says what a row of the document is to a call.
func (w *watching) row(r wire.Row, reasons map[callName]jsontext.Value) error {
	if g := r.Register; g != nil && g.Name == wire.RunsRegister {
		return w.ran(r)
	}
	f := r.Field
	if f == nil {
		return nil
	}
	call := callName{f.Session, f.Job}
	h := happened{Rev: r.Rev, At: r.At.Format(time.RFC3339Nano), Session: f.Session, Job: f.Job, Number: w.known[call], By: r.Writer}
	switch f.Name {
	case "approved":
		h.Event, h.Approved = "answered", f.Value
	case "approvalComment":
		h.Event, h.Comment = "commented", f.Value
	case "orchestrationResult":
		h.Event, h.Allowed, h.Reason, h.By = "decided", f.Value, reasons[call], ""
	case "cancelled":
		h.Event = "cancelled"
	case "completed":
		delete(w.told, call)
		return nil
	case "outcomeJson":
		h.Event, h.Outcome, h.By = "settled", f.Value, ""
	default:
		return nil
	}
	return w.write(h)
}

// ran says that a call ran that was not licensed so.
func (w *watching) ran(r wire.Row) error {
	var run struct {
		Job       string         `json:"job"`
		Number    wire.Rev       `json:"number"`
		How       string         `json:"how"`
		Tool      string         `json:"tool"`
		Arguments jsontext.Value `json:"arguments"`
	}
	if err := json.Unmarshal(r.Register.Value, &run); err != nil {
		return fmt.Errorf("row %d: %w", r.Rev, err)
	}
	h := happened{Rev: r.Rev, At: r.At.Format(time.RFC3339Nano), Event: "ran", Session: r.Register.Session, Job: run.Job,
		Number: cmp.Or(run.Number, r.Tx), Tool: run.Tool, How: run.How, Arguments: run.Arguments}
	if err := w.write(h); err != nil {
		return err
	}
	if w.bell != nil {
		fmt.Fprint(w.bell, "\a")
	}
	if w.tell != nil {
		w.tell(h)
	}
	return nil
}

// queue says what begins to wait, and forgets what does not any more.
func (w *watching) queue(ctx context.Context) (wire.Rev, error) {
	now := make(map[callName]int64)
	var jobs []wire.Job
	page, err := w.c.QueuePage(ctx, w.session, 0, 1000)
	for {
		if err != nil {
			return 0, err
		}
		jobs = append(jobs, page.Queue...)
		if page.Next == "" || len(page.Queue) == 0 {
			break
		}
		page, err = w.c.QueueNext(ctx, w.session, page.Next, 1000)
	}
	for _, job := range jobs {
		call := callName{job.Session, job.ID}
		now[call] = job.Number
		if _, there := w.known[call]; there {
			continue
		}
		w.known[call] = job.Number
		if err := w.asked(job, page.Rev, true); err != nil {
			return 0, err
		}
	}
	w.known = now
	return page.Rev, nil
}

// asked says that a call waits, or did.
func (w *watching) asked(job wire.Job, rev wire.Rev, waits bool) error {
	h := happened{Rev: rev, At: job.Stamp.At.Format(time.RFC3339Nano), Event: "asked", Session: job.Session, Job: job.ID, Number: job.Number,
		Tool: job.Name, What: whatOf(job.Arguments)}
	if job.Leaf != nil {
		h.PolicyResult, h.Message = job.Leaf.PolicyResult, job.Leaf.PolicyMessage
	}
	w.told[callName{job.Session, job.ID}] = true
	if err := w.write(h); err != nil || !waits {
		return err
	}
	if w.bell != nil {
		fmt.Fprint(w.bell, "\a")
	}
	if w.tell != nil {
		w.tell(h)
	}
	return nil
}

// look looks at a call that by a row may have begun to wait, and once more when a
// person answers it: the queue is read a few times a second, and a call may be answered
// before, also before the kernel says that it waits.
func (w *watching) look(ctx context.Context, r wire.Row) error {
	f := r.Field
	switch {
	case f == nil, w.told[callName{f.Session, f.Job}]:
		return nil
	case f.Name == "policyResult" && (string(f.Value) == `"ask"` || string(f.Value) == `"deny"`), strings.HasPrefix(f.Name, "judgeFail/"), f.Name == "approved":
	default:
		return nil
	}
	job, err := w.c.Job(ctx, f.Session, f.Job)
	if err != nil || job.Leaf == nil {
		return nil // the queue says it, when it can be read again
	}
	if job.Leaf.NeedsHuman {
		w.known[callName{job.Session, job.ID}] = job.Number
		return w.asked(job, r.Rev, f.Name != "approved")
	}
	judged, ok := job.Leaf.Written["policyResult"]
	if f.Name != "approved" || !ok || judged.Rev > r.Rev {
		return nil // it may yet wait, or was answered before it could
	}
	first, failed := job.Leaf.Written["judgeFail/1"]
	document, err := w.c.SessionPage(ctx, f.Session, 0, 1)
	if err != nil || !neededHuman(job, document, failed && first.Rev < r.Rev) {
		return nil
	}
	return w.asked(job, r.Rev, false)
}

// neededHuman reports whether a call that a person has answered waited for one before
// (law §4), in the session as it is.
func neededHuman(job wire.Job, d wire.Document, failed bool) bool {
	if job.Leaf.PolicyResult == nil {
		return false
	}
	result, err := approval.ParsePolicyResult(*job.Leaf.PolicyResult)
	if err != nil {
		return false
	}
	mode, err := approval.ParseMode(d.View.CurrentPolicy)
	leaf := approval.Leaf{Kind: approval.KindOf(job.Name), Name: job.Name, Arguments: job.Arguments, PolicyResult: result}
	leaf.JudgeFailMessage.Written = failed
	return err == nil && approval.NeedsHuman(leaf, approval.Session{
		CurrentPolicy: mode, AutoAllow: approval.Grants(d.View.AutoAllow), StandingAutoAllow: approval.Grants(d.View.StandingAutoAllow),
		AutoCoverDeny: approval.CoverDenyOf(d.View.AutoCoverDeny), Seat: approval.SeatOf(d.Session.Seat == wire.Attended),
	})
}

func (w *watching) write(h happened) error { return writeJSON(w.out, h) }

// teller tells a person outside of the terminal, one thing after the other, without
// keeping the watch waiting.
type teller struct {
	say    io.Writer
	file   *config.File // nil where it cannot be read
	ctx    context.Context
	cancel context.CancelFunc
	one    func(h happened, more int)
	done   sync.WaitGroup
	missed bool // a program for notifications is not here

	mu     sync.Mutex
	queue  []happened
	left   int           // were too many to be kept
	more   chan struct{} // holds one when there is something to tell
	closed bool
}

// mostUntold is how many calls may wait to be told of: some 20 MB, where each has much
// to say. How many come beyond is all that is told of them.
const mostUntold = 10_000

func newTeller(say io.Writer) *teller {
	t := &teller{say: say}
	if at, err := findKernel(); err == nil {
		if t.file, err = config.Open(at.ConfigFile(), func(config.State) {}); err != nil {
			t.file = nil
		}
	}
	t.start(t.notify)
	return t
}

// start tells one call after the other.
func (t *teller) start(one func(h happened, more int)) {
	t.one, t.more = one, make(chan struct{}, 1)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.done.Go(func() {
		for {
			h, more, left, ok := t.next()
			if left > 0 {
				fmt.Fprint(t.say, paragraph(fmt.Sprintf("assent: %d more began to wait than can be told one by one; see: assent queue", left)))
			}
			switch {
			case ok:
				t.one(h, more)
			case t.ctx.Err() != nil:
				return
			default:
				select {
				case <-t.more:
				case <-t.ctx.Done():
				}
			}
		}
	})
}

// next is what is to be told, and how many were left out when all is told.
func (t *teller) next() (h happened, more, left int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		left, t.left = t.left, 0
		return h, 0, left, false
	}
	h, t.queue = t.queue[0], t.queue[1:]
	return h, len(t.queue), 0, true
}

func (t *teller) tell(h happened) {
	t.mu.Lock()
	switch {
	case t.closed:
	case len(t.queue) >= mostUntold:
		t.left++
	default:
		t.queue = append(t.queue, h)
	}
	t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default: // somebody is on the way
	}
}

func (t *teller) notify(h happened, more int) {
	n := notify.Notifier{Env: os.Environ()}
	title := "A call waits: " + h.Tool
	if more > 0 {
		title += " (and " + strconv.Itoa(more) + " more)"
	}
	what := h.What
	if h.Message != nil && *h.Message != "" {
		what += "\n" + *h.Message
	}
	if h.Event == "ran" {
		title, what = "A call ran unlicensed: "+h.Tool, "Call "+strconv.FormatInt(h.Number, 10)+" ran "+card.Ran(h.How)+". See: assent log --result ran"
	}
	err := n.Desktop(t.ctx, title, what)
	if errors.Is(err, notify.ErrNone) {
		if !t.missed {
			t.missed = true
			fmt.Fprint(t.say, paragraph("assent: "+err.Error()))
		}
	} else if err != nil && t.ctx.Err() == nil {
		fmt.Fprint(t.say, paragraph("assent: "+err.Error()))
	}
	if t.file == nil || h.Event != "asked" {
		return
	}
	words := t.file.State().Config.OnAsk
	if len(words) == 0 {
		return
	}
	line, err := json.Marshal(h)
	if err == nil {
		err = n.Hook(t.ctx, words, append(line, '\n'))
	}
	if err != nil && t.ctx.Err() == nil {
		fmt.Fprint(t.say, paragraph("assent: onAsk: "+err.Error()))
	}
}

func (t *teller) close() {
	t.mu.Lock()
	t.closed, t.left, t.queue = true, t.left+len(t.queue), nil
	t.mu.Unlock()
	t.cancel()
	t.done.Wait()
	if t.file != nil {
		t.file.Close()
	}
}
