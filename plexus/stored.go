package plexus

import (
	"sync"

	"github.com/go-json-experiment/json"
)

// Stored is how much there is of an agent in the document.
type Stored struct {
	Bytes    int64 // about, of all that stands in its sessions
	Sessions int
	Empty    int // of them, those in which nothing was ever asked
	Open     int // of the calls it minted, those that are not settled
	Waiting  int // of those, the ones whose guard has not returned
}

// Plus is both together.
func (a Stored) Plus(b Stored) Stored {
	return Stored{a.Bytes + b.Bytes, a.Sessions + b.Sessions, a.Empty + b.Empty, a.Open + b.Open, a.Waiting + b.Waiting}
}

// stored counts rows as they are written, and those that were found as they are
// read whole, which is done anyway (checkFound). So both come mixed, and what is
// told of a job may come before the job. Methods may be called at once.
type stored struct {
	opened Rev // what stands up to here was found

	mu       sync.Mutex
	whole    bool // all that was found is counted
	sessions map[string]*account
	agents   map[string]*Stored
	open     map[jobID]openCall
	early    map[jobID]openCall // of what was found and is not counted yet
}

type jobID struct{ session, job string }

// account is a session.
type account struct {
	agent string
	since Rev // of the register that says so
	bytes int64
	jobs  int
}

// openCall is a call of an agent that is not settled.
type openCall struct {
	agent            string
	decided, settled bool
}

func newStored(opened Rev) *stored {
	return &stored{
		opened: opened, whole: opened == 0, sessions: make(map[string]*account), agents: make(map[string]*Stored),
		open: make(map[jobID]openCall), early: make(map[jobID]openCall),
	}
}

// found counts a row that is read from what was there.
func (s *stored) found(row Row) {
	if row.Stamped().Rev <= s.opened {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.count(row)
	}
}

// foundAll says that there are no more of those.
func (s *stored) foundAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole, s.early = true, nil
}

// wrote counts rows that were written.
func (s *stored) wrote(rows []Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		s.count(row)
	}
}

// count needs mu.
func (s *stored) count(row Row) {
	if row.In() == "" {
		return
	}
	a := s.sessions[row.In()]
	if a == nil {
		a = new(account)
		s.sessions[row.In()] = a
	}
	bytes := Bytes(row)
	a.bytes += bytes
	if a.agent != "" {
		s.of(a.agent).Bytes += bytes
	}
	switch r := row.(type) {
	case Session:
	case Register:
		if r.Name == SessionAgent && r.Rev > a.since {
			var agent string
			_ = json.Unmarshal([]byte(r.Value), &agent) // nobody's then
			s.move(a, agent)
			a.since = r.Rev
		}
	case Job:
		if a.jobs++; a.jobs == 1 && a.agent != "" {
			s.of(a.agent).Empty--
		}
		id := jobID{r.Session, r.ID}
		known := s.early[id]
		delete(s.early, id)
		if r.Writer.Role == Agent && !r.Sequence() && !known.settled {
			known.agent = r.Writer.Name
			s.open[id] = known
			s.of(known.agent).Open++
			if !known.decided {
				s.of(known.agent).Waiting++
			}
		}
	case Field:
		if r.Name == OrchestrationResult || r.Name == Completed {
			s.goesOn(jobID{r.Session, r.Job}, r.Name == Completed)
		}
	}
}

// goesOn counts that a call was decided, or settled.
func (s *stored) goesOn(id jobID, settled bool) {
	call, open := s.open[id]
	if !open {
		if !s.whole {
			known := s.early[id]
			known.decided, known.settled = true, known.settled || settled
			s.early[id] = known
		}
		return
	}
	if !call.decided {
		s.of(call.agent).Waiting--
	}
	if call.decided = true; !settled {
		s.open[id] = call
		return
	}
	s.of(call.agent).Open--
	delete(s.open, id)
}

// move gives a session to an agent.
func (s *stored) move(a *account, agent string) {
	empty := 0
	if a.jobs == 0 {
		empty = 1
	}
	if a.agent != "" {
		*s.of(a.agent) = s.of(a.agent).Plus(Stored{Bytes: -a.bytes, Sessions: -1, Empty: -empty})
	}
	if a.agent = agent; agent != "" {
		*s.of(agent) = s.of(agent).Plus(Stored{Bytes: a.bytes, Sessions: 1, Empty: empty})
	}
}

func (s *stored) of(agent string) *Stored {
	if s.agents[agent] == nil {
		s.agents[agent] = new(Stored)
	}
	return s.agents[agent]
}

// Bytes is about how many bytes of the file a row takes, with its part of the
// indexes.
func Bytes(row Row) int64 {
	n := size(row) + 2*len(row.In())
	switch r := row.(type) {
	case Session:
		n += len(r.Parent)
	case Job:
		n += 2*len(r.ID) + len(r.Parent)
	case Field:
		n += 2 * len(r.Job)
	case Register:
		n += 2 * len(r.Name)
	}
	return int64(n)
}

// Stored is how much there is of an agent. whole says that all that was found
// when the document was opened is counted; before, it is some of it.
func (s *Store) Stored(agent string) (st Stored, whole bool) {
	s.stored.mu.Lock()
	defer s.stored.mu.Unlock()
	if a := s.stored.agents[agent]; a != nil {
		st = *a
	}
	return st, s.stored.whole
}

// StoredOfAll is that of every agent.
func (s *Store) StoredOfAll() map[string]Stored {
	s.stored.mu.Lock()
	defer s.stored.mu.Unlock()
	all := make(map[string]Stored, len(s.stored.agents))
	for agent, st := range s.stored.agents {
		all[agent] = *st
	}
	return all
}
