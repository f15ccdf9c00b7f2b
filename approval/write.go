package approval

import (
	"errors"
	"fmt"
)

// The document's rules for writing votes, as functions of values: each gives
// the leaf after the write, or the leaf as it was and why the write is refused
// (law §2). A store enforces the same by itself; these say what it enforces.

// Why a write is refused.
var (
	// ErrWritten: the field has its value; votes never change (law §2).
	ErrWritten = errors.New("already written")
	// ErrCompleted: completed is the host's last write (law §2).
	ErrCompleted = errors.New("the leaf is completed")
	// ErrCancelled: a guard that was cancelled returns nothing (law ruling 4).
	ErrCancelled = errors.New("the leaf is cancelled")
	// ErrEmpty: null is not a vote and cannot be written.
	ErrEmpty = errors.New("nothing to write")
	// ErrFloorFirst: a person's true waits for the floor (law ruling 2).
	ErrFloorFirst = errors.New("the floor has not answered yet")
	// ErrBlocked: a person's true never lifts a block (law ruling 2).
	ErrBlocked = errors.New("the floor blocks it")
)

// WritePolicy writes policyResult and its message, once, by the host.
func (l Leaf) WritePolicy(result PolicyResult, message Text) (Leaf, error) {
	if err := l.hostWrites("policyResult", result != None, l.PolicyResult != None); err != nil {
		return l, err
	}
	l.PolicyResult, l.PolicyMessage = result, message
	return l, nil
}

// WriteJudge writes the vote of a finished classifier, once, by the host. A
// vote that comes after the license was decided is kept and decides nothing
// (law ruling 5).
func (l Leaf) WriteJudge(vote JudgeResult) (Leaf, error) {
	if err := l.hostWrites("judgeResult", vote != NoVote, l.JudgeResult != NoVote); err != nil {
		return l, err
	}
	l.JudgeResult = vote
	return l, nil
}

// WriteJudgeFail writes the message of a failed attempt, by the host. It is
// the one field that a later attempt replaces, while there is no vote (law
// §2).
func (l Leaf) WriteJudgeFail(message string) (Leaf, error) {
	if err := l.hostWrites("judgeFailMessage", true, l.JudgeResult != NoVote); err != nil {
		return l, err
	}
	l.JudgeFailMessage = Written(message)
	return l, nil
}

// WriteApproved writes a person's answer, once, by a person and nobody else.
// False is accepted at any time, true only when the floor has answered and
// does not block (law ruling 2). No answer clears a vote.
func (l Leaf) WriteApproved(approved bool) (Leaf, error) {
	switch {
	case l.Approved != Unanswered:
		return l, refuse("approved", ErrWritten)
	case !approved:
		l.Approved = No
		return l, nil
	case l.PolicyResult == None:
		return l, refuse("approved", ErrFloorFirst)
	case l.PolicyResult == Block:
		return l, refuse("approved", ErrBlocked)
	}
	l.Approved = Yes
	return l, nil
}

// WriteComment writes a person's comment, once; it needs no answer and gives
// none (law §2).
func (l Leaf) WriteComment(comment string) (Leaf, error) {
	if l.ApprovalComment.Written {
		return l, refuse("approvalComment", ErrWritten)
	}
	l.ApprovalComment = Written(comment)
	return l, nil
}

// WriteOrchestration writes what the guard returned, once, by the host. A
// cancelled leaf's guard returns nothing (law ruling 4).
func (l Leaf) WriteOrchestration(licensed bool) (Leaf, error) {
	if err := l.hostWrites("orchestrationResult", true, l.Orchestrated()); err != nil {
		return l, err
	}
	if l.Cancelled {
		return l, refuse("orchestrationResult", ErrCancelled)
	}
	l.OrchestrationResult = Refused
	if licensed {
		l.OrchestrationResult = Licensed
	}
	return l, nil
}

// WriteCancelled marks the leaf as cancelled, once, by the host. It answers
// nothing: neither approved nor orchestrationResult is written (law §2).
func (l Leaf) WriteCancelled() (Leaf, error) {
	if err := l.hostWrites("cancelled", true, l.Cancelled); err != nil {
		return l, err
	}
	l.Cancelled = true
	return l, nil
}

// WriteCompleted settles the leaf with its outcome, by the host; it is always
// the last of the host's writes (law §2).
func (l Leaf) WriteCompleted(outcome string) (Leaf, error) {
	if err := l.hostWrites("completed", true, false); err != nil {
		return l, err
	}
	l.Completed, l.OutcomeJSON = true, Written(outcome)
	return l, nil
}

func (l *Leaf) hostWrites(field string, holds, written bool) error {
	switch {
	case !holds:
		return refuse(field, ErrEmpty)
	case l.Completed:
		return refuse(field, ErrCompleted)
	case written:
		return refuse(field, ErrWritten)
	}
	return nil
}

func refuse(field string, why error) error { return fmt.Errorf("%s: %w", field, why) }
