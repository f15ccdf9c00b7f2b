package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/plexus"
)

// Nothing here stops a call: its client has run it. What a client says of a run is held
// against what it was licensed to run, and where that is not the same it is written
// down for good, and people are told.

// Ran is the register of a session whose revisions are its runs that were not licensed
// so, a [Run] each, the newest of all.
var Ran = plexus.HostRegister("ran")

// Unlicensed says how a run was not licensed; "" is one that was.
type Unlicensed string

// The ways. What is written stays, so that words may be added and none changed.
const (
	RanOtherwise Unlicensed = "otherwise" // the call was licensed, and not with these arguments
	RanRefused   Unlicensed = "refused"   // the call was refused
	RanCancelled Unlicensed = "cancelled" // the call was cancelled before it began
	RanWaiting   Unlicensed = "waiting"   // nobody had decided yet
	RanUnclaimed Unlicensed = "unclaimed" // it was allowed, and nobody had claimed that
	RanUnasked   Unlicensed = "unasked"   // nothing was asked about it
)

// Report is what a client says of a call that it ran.
type Report struct {
	ID        string // of the call, where the client has ids
	Name      string // the tool
	Arguments []byte // that it ran with: an object, or empty
	Facts     string // as of a [NewCall]
	OK        bool   // it went well
	Text      string // what came of it
	// Unasked has a run of which nothing is known kept as one that nobody was asked
	// about. Without it that is [plexus.ErrNoJob]: another session may know it.
	Unasked bool
}

// Run is a run that was not licensed so, as it is kept.
type Run struct {
	Job string `json:"job"`
	// Number is of its row; 0 where that is the first of those written with this.
	Number int64      `json:"number,omitzero"`
	How    Unlicensed `json:"how"`
	Tool   string     `json:"tool"`
	OK     bool       `json:"ok"`
	// Arguments are those it ran with, where they are not the call's own. What is too
	// long is left out, and Cut says how long it was.
	Arguments jsontext.Value `json:"arguments,omitzero"`
	Cut       int            `json:"cut,omitzero"`
	Text      string         `json:"text"` // how what came of it begins
}

// What is kept of a run beside its call, in bytes: enough to know it again.
const (
	maxRanArguments = 16 << 10
	maxRanText      = 2 << 10
)

// unlicensedRun is the key of presence that tells people of the last one.
const UnlicensedRun = "unlicensedRun"

// RanSo takes a client's word that a call ran: the call that was licensed so is
// settled by it, and a run that was not licensed is kept and told. A call that waits,
// or whose license nobody took, and that has run is over: an answer would be about
// nothing.
func (k *Kernel) RanSo(ctx context.Context, id string, r Report, by plexus.Writer) (how Unlicensed, err error) {
	if !k.enter() {
		return "", ErrClosed
	}
	defer k.leave()
	same, err := k.Same(ctx, id, r.Name, r.Arguments, "", by)
	if err != nil {
		return "", err
	}
	same = slices.DeleteFunc(same, func(c SameCall) bool { return !c.Begun })
	snap, known, err := k.ranBy(ctx, id, r, by)
	if err != nil {
		return "", err
	}
	if i := slices.IndexFunc(same, func(c SameCall) bool { return c.ID == r.ID }); i >= 0 {
		same[0] = same[i]
	} else if r.ID != "" && known && begun(snap) && !completed(snap) { // it is this one, and not another that is as it ran
		same = nil
	}
	if len(same) > 0 {
		err := k.Report(ctx, id, same[0].ID, r.outcome(false), by)
		if errors.Is(err, ErrNotLicensed) { // settled meanwhile
			err = nil
		}
		return "", err
	}
	run := Run{Tool: r.Name, OK: r.OK}
	run.Text = begins(r.Text, maxRanText)
	switch so := known && r.is(snap.Job); {
	case !known:
		if !r.Unasked {
			return "", plexus.ErrNoJob
		}
		return RanUnasked, k.ranUnasked(ctx, id, r, run, by)
	case begun(snap) && so: // and is settled: it was told before
		return "", nil
	case begun(snap):
		run.How = RanOtherwise
	case decidedAs(snap, plexus.False):
		run.How = RanRefused
	case snap.Fields[plexus.Cancelled].Value == plexus.True:
		run.How = RanCancelled
	case decidedAs(snap, plexus.True):
		run.How = RanUnclaimed
	default:
		run.How = RanWaiting
	}
	run.Job, run.Number = snap.Job.ID, int64(snap.Job.Rev)
	if !r.is(snap.Job) {
		if run.Arguments = jsontext.Value(compact(r.Arguments)); len(run.Arguments) > maxRanArguments {
			run.Arguments, run.Cut = nil, len(run.Arguments)
		}
	}
	if err := k.keepRun(ctx, id, run, by); err != nil {
		return "", err
	}
	switch {
	case completed(snap):
	case begun(snap):
		err = k.Report(ctx, id, snap.Job.ID, r.outcome(true), by)
	default:
		_, err = k.cancel(ctx, id, snap.Job.ID, by)
	}
	if errors.Is(err, ErrNotLicensed) || errors.Is(err, plexus.ErrRole) { // settled meanwhile
		err = nil
	}
	return run.How, err
}

func begun(snap plexus.JobSnapshot) bool     { _, ok := snap.Fields[plexus.BodyStarted]; return ok }
func completed(snap plexus.JobSnapshot) bool { _, ok := snap.Fields[plexus.Completed]; return ok }

func decidedAs(snap plexus.JobSnapshot, answer string) bool {
	return snap.Fields[plexus.OrchestrationResult].Value == answer
}

// is says whether the run is of a call as it was asked for.
func (r Report) is(j plexus.Job) bool {
	return j.Name == r.Name && bytes.Equal(compact([]byte(j.Arguments)), compact(r.Arguments))
}

// outcome is what came of it, in the form of an outcome.
func (r Report) outcome(otherwise bool) string {
	out := struct {
		OK        bool           `json:"ok"`
		Text      string         `json:"text"`
		Otherwise bool           `json:"otherwise,omitzero"`
		Arguments jsontext.Value `json:"arguments,omitzero"`
	}{OK: r.OK, Text: r.Text, Otherwise: otherwise}
	if otherwise {
		out.Arguments = jsontext.Value(compact(r.Arguments))
	}
	text, err := json.Marshal(out, jsontext.AllowInvalidUTF8(true))
	if err != nil { // arguments that are no JSON were refused before
		return approval.ReceiptAborted(err.Error()).String()
	}
	return string(text)
}

func begins(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// mostLookedThrough is how many of the last calls of a session are looked through for one
// that its client has no id for.
const mostLookedThrough = 1000

// ranBy is the call of whoever asks that a run is of: by its id or, where its client
// has none, the last one like it that was not settled as begun.
func (k *Kernel) ranBy(ctx context.Context, id string, r Report, by plexus.Writer) (snap plexus.JobSnapshot, known bool, err error) {
	job := r.ID
	if job == "" {
		head, err := k.Document.Head(ctx)
		if err != nil {
			return snap, false, err
		}
		looked := 0
		err = k.Document.BriefsBefore(ctx, head.Rev+1, id, func(j plexus.Job) bool {
			looked++
			return looked > mostLookedThrough || !j.Sequence() && j.Writer == by && j.Name == r.Name
		}, func(brief plexus.JobSnapshot) bool {
			switch {
			case looked > mostLookedThrough:
				return false
			case begun(brief) && completed(brief): // that was told
			case brief.Bytes["arguments"] > 0 || r.is(brief.Job): // the beginning of long ones is not compared
				job = brief.Job.ID
			}
			return job == ""
		})
		if err != nil || job == "" {
			return snap, false, err
		}
	}
	snap, err = k.Document.Job(ctx, id, job)
	switch {
	case errors.Is(err, plexus.ErrNoJob):
		return snap, false, nil
	case err != nil:
		return snap, false, err
	}
	known = (snap.Job.Writer == by || snap.Job.Writer == k.host.For(by)) && !snap.Job.Sequence() && (r.ID != "" || r.is(snap.Job))
	return snap, known, nil
}

// keepRun writes a run down, once a call, and tells of it. It is small, and there is one
// a call at most: what an agent may have is no reason not to keep it.
func (k *Kernel) keepRun(ctx context.Context, id string, run Run, by plexus.Writer, also ...plexus.Row) error {
	k.runs.Lock()
	defer k.runs.Unlock()
	kept, err := k.Document.Revisions(ctx, id, Ran)
	if err != nil {
		return err
	}
	for _, r := range kept {
		var was Run
		if json.Unmarshal([]byte(r.Value), &was) == nil && was.Job == run.Job {
			return nil
		}
	}
	value, err := json.Marshal(run, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	rows := append(also, plexus.Register{Session: id, Name: Ran, Value: string(value)})
	if _, err := k.Document.Apply(ctx, plexus.Tx{Writer: k.host.For(by), Writes: rows}); err != nil {
		return err
	}
	k.Document.SetPresence("", UnlicensedRun, fmt.Sprintf("%s ran in session %s on %s (%s); see: assent log --result ran",
		run.Tool, id, k.time().Format("2006-01-02 at 15:04:05"), run.How))
	return nil
}

// ranUnasked keeps a run of which nothing is known: a call that is over when it comes.
// Nothing of it is judged any more.
func (k *Kernel) ranUnasked(ctx context.Context, id string, r Report, run Run, by plexus.Writer) error {
	call := NewCall{Session: id, ID: r.ID, Name: r.Name, Arguments: r.Arguments, Facts: r.Facts}
	if call.ID == "" {
		call.ID = k.NewID()
	} else if _, err := k.Document.Job(ctx, id, call.ID); err == nil { // another agent's
		call.ID = k.NewID()
	}
	if err := checkCall(call); err != nil {
		return err
	}
	job := plexus.Job{Session: id, ID: call.ID, Name: call.Name, Arguments: string(call.Arguments), Facts: call.Facts}
	done, err := k.allot(by, plexus.Stored{Bytes: plexus.Bytes(job)})
	if err != nil {
		return err
	}
	defer done()
	if err := k.admits(ctx, id, by); err != nil {
		return err
	}
	field := func(name, value string) plexus.Row {
		return plexus.Field{Session: id, Job: job.ID, Name: name, Value: value}
	}
	run.How, run.Job = RanUnasked, job.ID
	return k.having(id, by, func() error {
		return k.keepRun(ctx, id, run, by, job, field(plexus.Cancelled, plexus.True),
			field(plexus.OutcomeJSON, approval.ReceiptCancelled.String()), field(plexus.Completed, plexus.True))
	})
}
