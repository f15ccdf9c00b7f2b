package kernel

import (
	"slices"
	"sync"
	"time"

	"assent/session"
)

// slots are the places for evaluations of the floor (law §7): at most so many
// run at a time, the sessions take turns, and within a session the order is
// that of the machine.
//
// An evaluation that overran its time is answered as a block; it cannot be
// stopped and keeps its place until it ends. Were every place taken by such,
// nothing would ever be judged again: then what waits is answered as a block
// at once.
type slots struct {
	k *Kernel

	mu      sync.Mutex
	idle    sync.Cond
	size    int
	busy    int
	overrun int // of busy
	closed  bool
	turns   []*owner // those with something in queues, in turn
	queues  map[*owner][]*evaluation
}

// evaluation is one call on its way through the floor.
type evaluation struct {
	job session.JobID
	// run judges; late and none are called instead of or before its end.
	run  func()
	none func(why string)
}

func newSlots(k *Kernel) *slots {
	s := &slots{k: k, queues: make(map[*owner][]*evaluation)}
	s.idle.L = &s.mu
	return s
}

// resize sets how many evaluations run at a time.
func (s *slots) resize(size int) {
	if size < 1 {
		size = defaultSlots
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = size
	s.fill()
}

// add queues an evaluation; one of the same leaf that waits is replaced.
func (s *slots) add(o *owner, e *evaluation) {
	s.remove(o, e.job)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if len(s.queues[o]) == 0 {
		s.turns = append(s.turns, o)
	}
	s.queues[o] = append(s.queues[o], e)
	s.fill()
}

// remove takes back what waits for a slot.
func (s *slots) remove(o *owner, job session.JobID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue, ok := s.queues[o]
	if !ok {
		return
	}
	i := slices.IndexFunc(queue, func(e *evaluation) bool { return e.job == job })
	if i < 0 {
		return
	}
	if queue = slices.Delete(queue, i, i+1); len(queue) > 0 {
		s.queues[o] = queue
		return
	}
	delete(s.queues, o)
	s.turns = slices.DeleteFunc(s.turns, func(other *owner) bool { return other == o })
}

// next takes the first evaluation of the session whose turn it is.
func (s *slots) next() *evaluation {
	o := s.turns[0]
	s.turns = s.turns[1:]
	queue := s.queues[o]
	e := queue[0]
	if len(queue) == 1 {
		delete(s.queues, o)
		return e
	}
	s.queues[o] = queue[1:]
	s.turns = append(s.turns, o)
	return e
}

// fill gives free slots to what waits. It is called with the lock held.
func (s *slots) fill() {
	for len(s.turns) > 0 {
		switch {
		case s.overrun >= s.size:
			s.next().none("the floor is overrun: earlier calls are still being judged, long after their time")
			continue
		case s.busy >= s.size:
			return
		}
		e := s.next()
		s.busy++
		go func() {
			e.run()
			s.mu.Lock()
			defer s.mu.Unlock()
			s.busy--
			s.fill()
			s.idle.Broadcast()
		}()
	}
}

// within does work in a slot, and reports whether it ended in time and the kernel
// goes on: what is stopped with the kernel is left to the next life. Work that
// takes longer is told to be late, then stopped; until it has ended it keeps the
// slot.
func (k *Kernel) within(limit time.Duration, cancel, work, late func()) bool {
	var mu sync.Mutex
	over, ended := false, false
	stop := k.After(limit, func() {
		mu.Lock()
		defer mu.Unlock()
		if ended {
			return
		}
		over = true
		if k.enter() {
			late()
			k.leave()
		}
		// Only now: who is stopped may still answer, and that is no answer.
		cancel()
		k.slots.late(1)
	})
	work()
	stop()
	mu.Lock()
	ended = true
	mu.Unlock()
	if over {
		k.slots.late(-1)
		return false
	}
	return !k.ending()
}

// late counts an evaluation that overran its time, until it ends.
func (s *slots) late(d int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overrun += d
	s.fill()
	s.idle.Broadcast()
}

// close drops what waits and waits for what runs, but not for what overran its
// time: that says nothing any more, whenever it ends.
func (s *slots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	clear(s.queues)
	s.turns = nil
	for s.busy > s.overrun {
		s.idle.Wait()
	}
}

func (s *slots) status(st *Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Slots, st.Judging = s.size, s.busy
	for _, queue := range s.queues {
		st.Queued += len(queue)
	}
}
