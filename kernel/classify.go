package kernel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assent/approval"
	"assent/session"
)

// errNoClassifier is why the first attempt fails in a kernel that has none: a
// person is asked (law §9). There is no second one: nothing would be different,
// and each would be a row for ever. A life that has a classifier goes on with
// the schedule.
var errNoClassifier = errors.New("no classifier is configured")

// voting is an attempt of the classifier that waits or runs.
type voting struct {
	timer *timer
	due   time.Time // when it begins
	stop  context.CancelCauseFunc
}

func (v *voting) end() {
	if v.timer != nil {
		v.timer.cancel()
	}
	if v.stop != nil {
		v.stop(errCancelled)
	}
}

// classify begins an attempt once its time has come.
func (o *owner) classify(a session.Action) {
	v := &voting{}
	o.voting[a.Job] = v
	begin := func() {
		if o.voting[a.Job] == v {
			o.vote(a, v)
		}
	}
	switch {
	case o.k.Classifier == nil && a.Attempt > 1:
		return // until it is stopped
	case a.After <= 0:
		o.later(begin)
		return
	}
	v.due = time.Now().Add(a.After)
	v.timer = o.k.after(a.After, func() { o.later(begin) })
}

func (o *owner) vote(a session.Action, v *voting) {
	leaf, ok := o.m.Leaf(a.Job)
	if !ok {
		delete(o.voting, a.Job)
		return
	}
	end := func(vote approval.JudgeResult, err error) {
		if o.voting[a.Job] == v {
			delete(o.voting, a.Job)
		}
		if err != nil {
			o.step(session.ClassifierFailed{Job: a.Job, Attempt: a.Attempt, Message: err.Error()})
			return
		}
		o.step(session.ClassifierDone{Job: a.Job, Vote: vote})
	}
	if o.k.Classifier == nil {
		end(approval.NoVote, errNoClassifier)
		return
	}
	question := Question{Session: o.id, Leaf: leaf, View: o.m.View(), Attempt: a.Attempt}
	ctx, stop := context.WithCancelCause(o.k.ctx)
	v.stop = stop
	v.timer = o.k.after(o.k.ClassifierLimit, func() { stop(errSlow) })
	o.k.busy.Go(func() {
		vote, err := o.k.ask(ctx, question)
		stop(nil)
		v.timer.cancel()
		if o.k.ending() && err != nil {
			return // the next life asks again
		}
		o.later(func() { end(vote, err) })
	})
}

// errSlow is why an attempt fails that took too long: nobody may wait for an
// answer that never comes.
var errSlow = errors.New("the classifier took too long")

// stopping is how long an attempt that was stopped may take to end. What it
// says after that is not heard.
const stopping = 2 * time.Second

// ask is one attempt, which ends soon after ctx does.
func (k *Kernel) ask(ctx context.Context, q Question) (approval.JudgeResult, error) {
	type answer struct {
		vote approval.JudgeResult
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		vote, err := attempt(ctx, k.Classifier, q)
		answers <- answer{vote, err}
	}()
	select {
	case a := <-answers:
		return a.vote, a.err
	case <-ctx.Done():
	}
	over := make(chan struct{})
	stop := k.After(stopping, func() { close(over) })
	defer stop()
	select {
	case a := <-answers:
		if a.err == nil {
			return a.vote, nil
		}
	case <-over:
	}
	return approval.NoVote, context.Cause(ctx)
}

// attempt asks once. A panic and an answer that is none are failed attempts.
func attempt(ctx context.Context, c Classifier, q Question) (vote approval.JudgeResult, err error) {
	defer func() {
		if r := recover(); r != nil {
			vote, err = approval.NoVote, fmt.Errorf("the classifier failed: %v", r)
		}
	}()
	vote, err = c.Vote(ctx, q)
	if err == nil && vote != approval.JudgeAllow && vote != approval.JudgeDeny {
		err = errors.New("the classifier gave no vote")
	}
	return vote, err
}
