package remainder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assent/approval"
)

// maxTokens bounds an answer: it is a small object, and a model may think first.
// answerLimit is how long one may take: three of them (law ruling 17) are within the
// time of an attempt.
const (
	maxTokens   = 2048
	answerLimit = 35 * time.Second
)

// Question is a call and where to find what a session holds about it.
type Question struct {
	Call
	// Gather gives the evidence; nil for none.
	Gather Gather
	// Salt is something that nobody knows who writes evidence; it marks what is data
	// in the prompt.
	Salt string
}

// Record is what an attempt did, for whoever wants to see it.
type Record struct {
	Program string
	Rounds  []Round
	// Judgement is the last of the model's, where one could be read; nil where the
	// program voted by itself.
	Judgement *Judgement
}

// Round is one question to a model.
type Round struct {
	Cut     Scope
	Request Request
	Answer  Answer
}

// Connect gives the model that a question goes to. It is called when there is
// something to ask, and not before: a program that votes by itself needs none.
type Connect func(context.Context) (Model, error)

// Ask is one attempt (law §9): it has the program vote or ask, gives more evidence
// where the answer wants it, and reads the answer. An error is a failed attempt. A
// vote is allow or deny.
func Ask(ctx context.Context, p *Program, q Question, connect Connect) (vote approval.JudgeResult, record Record, err error) {
	record.Program = p.Name
	var model Model
	for cut := Privileged; ; {
		var e Evidence
		if q.Gather != nil {
			if e, err = q.Gather(ctx, cut); err != nil {
				return approval.NoVote, record, fmt.Errorf("gathering the evidence: %w", err)
			}
		}
		a, err := p.ask(ctx, q.Call, cut, e)
		if err != nil {
			return approval.NoVote, record, err
		}
		if a.vote != approval.NoVote {
			return a.vote, record, nil
		}
		if model == nil {
			if model, err = connect(ctx); err != nil {
				return approval.NoVote, record, err
			}
		}
		round := Round{Cut: cut, Request: a.rendered(q.Salt)}
		record.Rounds = append(record.Rounds, round)
		last := &record.Rounds[len(record.Rounds)-1]
		if last.Answer, err = model.Complete(ctx, round.Request); err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return approval.NoVote, record, err
		}
		j, err := Read(last.Answer.Text, cut)
		record.Judgement = &j
		switch {
		case err != nil:
			return approval.NoVote, record, err
		case j.Decision != approval.NoVote:
			return j.Decision, record, nil
		case j.Retrieve <= cut: // Read has seen to it
			return approval.NoVote, record, errors.New("the answer asks for no more evidence than it has")
		}
		cut = j.Retrieve
	}
}
