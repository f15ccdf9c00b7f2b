package kernel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"assent/approval"
	"assent/remainder"
	"assent/session"
)

// voting is an attempt of the classifier that waits or runs.
type voting struct {
	attempt int
	timer   *timer
	due     time.Time // when it begins
	began   time.Time // zero while it has not
	stop    context.CancelCauseFunc
	asks    asks // what it asks by
	// unasked begins it, where there is nothing to ask yet; else nil.
	unasked func()
}

func (v *voting) end() {
	if v.timer != nil {
		v.timer.cancel()
	}
	if v.stop != nil {
		v.stop(errCancelled)
	}
}

// classify begins an attempt once its time has come. Where there is no connection,
// the first attempt has failed and a person is asked; one more would be a row like
// that one, and every five minutes another: it waits until something was chosen.
func (o *owner) classify(a session.Action) {
	v := &voting{attempt: a.Attempt}
	o.voting[a.Job] = v
	v.due = o.k.time().Add(max(a.After, 0))
	var begin func()
	wait := func() {
		v.unasked = nil
		after := v.due.Sub(o.k.time())
		if after <= 0 {
			o.later(begin)
			return
		}
		v.timer = o.k.after(after, func() { o.later(begin) })
	}
	rests := func() bool {
		if a.Attempt > 1 && o.k.judge != nil && o.k.judge.unasked(o.chosen(), o.program()) {
			v.unasked = wait
			return true
		}
		return false
	}
	begin = func() {
		if o.voting[a.Job] == v && v.began.IsZero() && !rests() {
			o.vote(a, v)
		}
	}
	if !rests() {
		wait()
	}
}

// asks is what a vote depends on beside the call: by whom and by which program it is
// given.
type asks struct {
	choices                remainder.Choices
	program                string // of the session, or for all
	name, text, unreadable string // of the settings
}

func (o *owner) asks() asks {
	a := asks{choices: o.chosen(), program: o.program()}
	if o.k.judge != nil {
		of := o.k.judge.settings().Program
		if a.name, a.text = of.Name, of.Text; of.Err != nil {
			a.unreadable = of.Err.Error()
		}
	}
	return a
}

// errChosen is why an attempt begins anew.
var errChosen = errors.New("another classifier was chosen meanwhile")

// rechosen begins the attempts that had nothing to ask, and those anew that ask by
// what was chosen before.
func (o *owner) rechosen() {
	now := o.asks()
	for _, v := range o.voting {
		switch {
		case v.unasked != nil:
			v.unasked()
		case !v.began.IsZero() && v.asks != now:
			v.stop(errChosen)
		}
	}
}

// rechosen is that of all sessions.
func (k *Kernel) rechosen() {
	if !k.enter() {
		return
	}
	defer k.leave()
	k.mu.Lock()
	ids := slices.Collect(maps.Keys(k.owners))
	k.mu.Unlock()
	for _, id := range ids {
		k.post(id, false, (*owner).rechosen)
	}
}

func (o *owner) vote(a session.Action, v *voting) {
	leaf, ok := o.m.Leaf(a.Job)
	if !ok {
		delete(o.voting, a.Job)
		return
	}
	end := func(vote remainder.Vote, err error) {
		if o.voting[a.Job] == v && v.asks != o.asks() {
			o.vote(a, v) // what was chosen since holds for every vote that is not given
			return
		}
		if o.voting[a.Job] != v { // it was stopped: another may run
			if err == nil {
				o.step(session.ClassifierDone{Job: a.Job, Vote: vote.Result, Stopped: true, Judgement: vote.JSON()})
			}
			return
		}
		delete(o.voting, a.Job)
		if err != nil {
			o.step(session.ClassifierFailed{Job: a.Job, Attempt: a.Attempt, Message: err.Error()})
			return
		}
		o.step(session.ClassifierDone{Job: a.Job, Vote: vote.Result, Judgement: vote.JSON()})
	}
	question := Question{
		Session: o.id, Leaf: leaf, View: o.m.View(), Attempt: a.Attempt, Cwd: o.call(leaf).Cwd,
		facts: o.facts, choices: o.chosen(), program: o.program(),
	}
	v.began, v.asks = o.k.time(), o.asks()
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
func (k *Kernel) ask(ctx context.Context, q Question) (remainder.Vote, error) {
	type answer struct {
		vote remainder.Vote
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
	return remainder.Vote{}, context.Cause(ctx)
}

// attempt asks once. A panic and an answer that is none are failed attempts.
func attempt(ctx context.Context, c Classifier, q Question) (vote remainder.Vote, err error) {
	defer func() {
		if r := recover(); r != nil {
			vote, err = remainder.Vote{}, fmt.Errorf("the classifier failed: %v", r)
		}
	}()
	vote, err = c.Vote(ctx, q)
	if err == nil && vote.Result != approval.JudgeAllow && vote.Result != approval.JudgeDeny {
		err = errors.New("the classifier gave no vote")
	}
	return vote, err
}
