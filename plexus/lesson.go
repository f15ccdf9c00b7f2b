package plexus

import (
	"context"
	"sync"
)

// lesson is what there is to know of a row (known.learn). A row may be long.
type lesson struct {
	rev         Rev
	hash        Hash
	size        int
	at, session point
	mark, short uint64 // of the row, and of its beginning
	cut         bool
	kind        lessonKind
}

type lessonKind uint8

const (
	aRow lessonKind = iota
	aLeaf
	aSequence
	aWord // of a person, or that it was cancelled
	anEnd // completed
	aRegister
)

// lesson is that of a row. It asks for nothing but the key.
func (k *known) lesson(row Row) lesson {
	st := row.Stamped()
	l := lesson{rev: st.Rev, hash: st.Hash, size: size(row), mark: k.mark(row), session: k.point(row.In(), "")}
	switch r := row.(type) {
	case Session:
		l.at = l.session
	case Job:
		l.at, l.kind = k.point(r.Session, r.ID), aLeaf
		if r.Sequence() {
			l.kind = aSequence
		}
	case Field:
		l.at = k.point(r.Session, r.Job)
		switch r.Name {
		case Approved, ApprovalComment, Cancelled:
			l.kind = aWord
		case Completed:
			l.kind = anEnd
		}
	case Register:
		l.at, l.kind = k.register(r.Session, r.Name), aRegister
	}
	if beginning, bytes := cut(row); bytes != nil {
		l.short, l.cut = k.mark(beginning, bytes...), true
	}
	return l
}

// stretch is how many rows are read at a time by one of those that read all of the
// document together, and readTogether how many those are.
const (
	stretch      = 2048
	readTogether = 2
)

// stretched are the lessons of rows that follow from each other.
type stretched struct {
	before  Hash // of the row before, as that stands there
	lessons []lesson
	last    head
	err     error
}

// learnAll reads all rows up to an end, some at once: that each follows from the
// one before can be seen in every stretch by itself. It is the last that follows.
func (s *Store) learnAll(ctx context.Context, v view, end head, found *known) (last head, err error) {
	ctx, stop := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer stop()
	type task struct {
		from, to Rev
		read     chan stretched
	}
	tasks := make(chan task)
	inOrder := make(chan task, readTogether) // as many stretches are read ahead
	reading.Go(func() {
		defer close(inOrder)
		defer close(tasks)
		for from := Rev(0); from < end.rev; from += stretch {
			t := task{from, min(from+stretch, end.rev), make(chan stretched, 1)}
			for _, to := range []chan task{inOrder, tasks} {
				select {
				case to <- t:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	for range readTogether {
		reading.Go(func() {
			for t := range tasks {
				var read stretched
				err := s.raw(ctx, func(v view) error {
					read = s.stretch(v, t.from, t.to, found)
					return read.err
				})
				read.err = err
				t.read <- read
			}
		})
	}
	for t := range inOrder {
		var read stretched
		select {
		case read = <-t.read:
		case <-ctx.Done():
			return last, ctx.Err()
		}
		if read.err == nil && read.before != last.hash {
			read.err = &Damage{Rev: last.rev, What: otherHead}
		}
		if read.err != nil {
			return last, read.err
		}
		for _, l := range read.lessons {
			found.take(l)
		}
		last = read.last
	}
	if ctx.Err() != nil {
		return last, ctx.Err()
	}
	return v.follow(last, nil, nil) // there is no more
}

// stretch reads the rows after one up to another.
func (s *Store) stretch(v view, from, to Rev, found *known) (read stretched) {
	read.lessons = make([]lesson, 0, to-from)
	read.err = v.each(max(from-1, 0), int(to-max(from-1, 0)), func(row Row) (err error) {
		st := row.Stamped()
		if read.last.rev == 0 && from > 0 && st.Rev == from {
			read.before = st.Hash
			read.last = head{st.Rev, st.Tx, st.Hash}
			return nil
		}
		if read.last, err = read.last.next(row); err == nil {
			s.stored.found(row)
			read.lessons = append(read.lessons, found.lesson(row))
		}
		return err
	})
	if read.err == nil && read.last.rev < to {
		read.err = &Damage{Rev: read.last.rev + 1, What: missing}
	}
	return read
}
