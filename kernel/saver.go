package kernel

import (
	"errors"
	"sync"
	"time"

	"assent/plexus"
)

// saver writes transactions, many at a time: the document shares one sync of
// the disk among those that wait. They are taken in the order they come.
type saver struct {
	k *Kernel

	mu      sync.Mutex
	queue   []saving
	writing int
}

type saving struct {
	tx    plexus.Tx
	until time.Time // it must be written before, zero for whenever
	done  func(plexus.Rev, error)
}

// savers is how many transactions wait for the document at a time: what it
// takes together at most.
const savers = 128

// errEnded: a license was not written before the grant ended that it follows from.
var errEnded = errors.New("the grant has ended")

// add writes tx and says what became of it. Its caller is counted as busy.
func (s *saver) add(tx plexus.Tx, until time.Time, done func(plexus.Rev, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, saving{tx, until, done})
	if s.writing < savers {
		s.writing++
		s.k.busy.Go(s.write)
	}
}

func (s *saver) write() {
	for {
		s.mu.Lock()
		if len(s.queue) == 0 {
			s.writing--
			s.mu.Unlock()
			return
		}
		next := s.queue[0]
		s.queue[0] = saving{}
		s.queue = s.queue[1:]
		s.mu.Unlock()
		// Not k.ctx: what is known is also written while the kernel closes.
		rev, err := plexus.Rev(0), errEnded
		if next.until.IsZero() || s.k.time().Before(next.until) {
			rev, err = s.k.Document.Apply(background, next.tx)
		}
		next.done(rev, err)
	}
}
