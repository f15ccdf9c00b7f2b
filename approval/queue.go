package approval

import "iter"

// Job is a node of a session's tree: a [Leaf] or a [Sequence].
type Job interface{ job() }

func (*Leaf) job()     {}
func (*Sequence) job() {}

// Sequence is a job that holds others: a SessionTurn or a ProgrammaticJob. It
// is never approvable and has no votes (law §8).
type Sequence struct {
	ID       string
	Children []Job // in tree order
}

// Leaves yields every leaf under the sequence in tree order, those of nested
// sequences included.
func (q *Sequence) Leaves() iter.Seq[*Leaf] {
	return func(yield func(*Leaf) bool) { q.walk(yield) }
}

func (q *Sequence) walk(yield func(*Leaf) bool) bool {
	for _, child := range q.Children {
		switch job := child.(type) {
		case *Leaf:
			if !yield(job) {
				return false
			}
		case *Sequence:
			if !job.walk(yield) {
				return false
			}
		}
	}
	return true
}

// ApprovalQueue is the leaves under the sequence that need a person, in tree
// order (law §8).
func (q *Sequence) ApprovalQueue(session Session) []*Leaf {
	var queue []*Leaf
	for leaf := range q.Leaves() {
		if NeedsHuman(*leaf, session) {
			queue = append(queue, leaf)
		}
	}
	return queue
}

// ApprovalQueueHead is the first leaf of the queue, the one a prompt shows,
// and nil when nobody is asked (law §8).
func (q *Sequence) ApprovalQueueHead(session Session) *Leaf {
	for leaf := range q.Leaves() {
		if NeedsHuman(*leaf, session) {
			return leaf
		}
	}
	return nil
}
