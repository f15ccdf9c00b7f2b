package kernel

import (
	"slices"
	"sync"
	"time"

	"assent/session"
)

// slots are the places for evaluations of the floor (law §7): at most so many
// run at a time, the agents take turns, so that one with many sessions keeps no other
// one's calls waiting, and so do the sessions of an agent; a session that is no
// agent's is like an agent. Within a session the order is that of the machine.
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
	turns   []*party // those with something in queues, in turn
	parties map[whose]*party
	queues  map[*owner]*queue
}

// party is who takes turns: an agent, or a session that is none's.
type party struct {
	whose
	sessions []*owner // those with something in queues, in turn
}

type whose struct{ agent, session string }

// queue is what waits of a session.
type queue struct {
	of          *party // whose session it was when the first of it came
	evaluations []*evaluation
}

// evaluation is one call on its way through the floor.
type evaluation struct {
	job session.JobID
	// run judges; late and none are called instead of or before its end.
	run  func()
	none func(why string)
}

func newSlots(k *Kernel) *slots {
	s := &slots{k: k, parties: make(map[whose]*party), queues: make(map[*owner]*queue)}
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
	q := s.queues[o]
	if q == nil {
		q = &queue{of: s.party(o)}
		s.queues[o] = q
		q.of.sessions = append(q.of.sessions, o)
	}
	q.evaluations = append(q.evaluations, e)
	s.fill()
}

// party is that of a session, which has something in queues now.
func (s *slots) party(o *owner) *party {
	name := whose{session: o.id}
	if agent, ok := s.k.belongs.Load(o.id); ok {
		name = whose{agent: agent.(string)}
	}
	p := s.parties[name]
	if p == nil {
		p = &party{whose: name}
		s.parties[name] = p
		s.turns = append(s.turns, p)
	}
	return p
}

// remove takes back what waits for a slot.
func (s *slots) remove(o *owner, job session.JobID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[o]
	if q == nil {
		return
	}
	i := slices.IndexFunc(q.evaluations, func(e *evaluation) bool { return e.job == job })
	if i < 0 {
		return
	}
	if q.evaluations = slices.Delete(q.evaluations, i, i+1); len(q.evaluations) > 0 {
		return
	}
	delete(s.queues, o)
	q.of.sessions = slices.DeleteFunc(q.of.sessions, func(other *owner) bool { return other == o })
	if len(q.of.sessions) == 0 {
		delete(s.parties, q.of.whose)
		s.turns = slices.DeleteFunc(s.turns, func(other *party) bool { return other == q.of })
	}
}

// next takes the first evaluation of the session whose turn it is.
func (s *slots) next() *evaluation {
	p := s.turns[0]
	s.turns = s.turns[1:]
	o := p.sessions[0]
	p.sessions = p.sessions[1:]
	q := s.queues[o]
	e := q.evaluations[0]
	if q.evaluations = q.evaluations[1:]; len(q.evaluations) > 0 {
		p.sessions = append(p.sessions, o)
	} else {
		delete(s.queues, o)
	}
	if len(p.sessions) > 0 {
		s.turns = append(s.turns, p)
	} else {
		delete(s.parties, p.whose)
	}
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
	clear(s.parties)
	s.turns = nil
	for s.busy > s.overrun {
		s.idle.Wait()
	}
}

func (s *slots) status(st *Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Slots, st.Judging = s.size, s.busy
	for _, q := range s.queues {
		st.Queued += len(q.evaluations)
	}
}
