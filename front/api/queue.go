package api

import (
	"cmp"
	"crypto/rand"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"assent/front/api/wire"
	"assent/plexus"
)

// waiting are leaves of a session that need a person, in tree order.
type waiting struct {
	agent, session string
	made           plexus.Rev
	leaves         []string
}

// fair is the queue of all sessions. The agents take turns, so that one with
// thousands of asks pushes nobody else's off the first page, and so do the sessions
// of an agent; a session that is no agent's is like an agent. The older session is
// first, and within a session the order is the tree's (law §8).
func fair(all []waiting) []plexus.JobName {
	slices.SortFunc(all, func(a, b waiting) int { return cmp.Compare(a.made, b.made) })
	type turn struct{ agent, session string }
	var order []turn
	of := make(map[turn][][]plexus.JobName)
	for _, w := range all {
		t := turn{agent: w.agent}
		if t.agent == "" {
			t.session = w.session
		}
		if of[t] == nil {
			order = append(order, t)
		}
		places := make([]plexus.JobName, len(w.leaves))
		for i, leaf := range w.leaves {
			places[i] = plexus.JobName{Session: w.session, Job: leaf}
		}
		of[t] = append(of[t], places)
	}
	agents := make([][]plexus.JobName, len(order))
	for i, t := range order {
		agents[i] = alternate(of[t])
	}
	return alternate(agents)
}

// alternate takes the first of each list, then the second of each, and so on.
func alternate(lists [][]plexus.JobName) (all []plexus.JobName) {
	if len(lists) == 1 {
		return lists[0]
	}
	for i := 0; len(lists) > 0; i++ {
		lists = slices.DeleteFunc(lists, func(list []plexus.JobName) bool { return i >= len(list) })
		for _, list := range lists {
			all = append(all, list[i])
		}
	}
	return all
}

// pages are queues as they stood when somebody began to read one in pages. It goes
// on in that order, whatever was asked and answered since: so a reader gets to see
// all that waited, and nothing twice. Few are kept, the newest. Methods may be
// called at once.
type pages struct {
	mu   sync.Mutex
	kept []paged
}

type paged struct {
	id, scope string
	places    []plexus.JobName
}

// pagesKept is how many queues are kept: more than there are people who read one.
const pagesKept = 8

func (p *pages) keep(scope string, places []plexus.JobName) (id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) == pagesKept {
		p.kept = slices.Delete(p.kept, 0, 1)
	}
	id = rand.Text()
	p.kept = append(p.kept, paged{id, scope, places})
	return id
}

// find is the queue that a page named, and where it goes on.
func (p *pages) find(scope, next string) (places []plexus.JobName, id string, at int, ok bool) {
	id, text, _ := strings.Cut(next, ".")
	at, err := strconv.Atoi(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.kept, func(q paged) bool { return q.id == id && q.scope == scope })
	if i < 0 || err != nil || at < 0 || at > len(p.kept[i].places) {
		return nil, "", 0, false
	}
	return p.kept[i].places, id, at, true
}

// getQueue gives the leaves that need a person: of a session, or of all, and of
// those as many as are wanted.
func getQueue(s *Server, c *call) error {
	limit, err := number(c.query, "limit", listMost, listMost)
	if err != nil {
		return err
	}
	skip, err := number(c.query, "skip", 0, math.MaxInt32)
	if err != nil {
		return err
	}
	head, err := s.opts.Document.Head(c)
	if err != nil {
		return err
	}
	var places []plexus.JobName
	scope, kept, at := c.session()+" "+c.query.Get("under"), "", int(skip)
	if next := c.query.Get("after"); next != "" {
		var ok bool
		if places, kept, at, ok = s.pages.find(scope, next); !ok {
			return problem(wire.Stale, "these pages are not kept any more; begin with the first")
		}
		at += int(skip)
	} else if places, err = s.queue(c); err != nil {
		return err
	}
	out := wire.Queue{Rev: wire.Rev(head.Rev), Waiting: len(places), Queue: []wire.Job{}}
	at = min(at, len(places))
	end := min(at+int(limit), len(places))
	bytes, passed := 0, end-at
	err = s.opts.Document.Briefs(c, places[at:end], func(i int, snap plexus.JobSnapshot) bool {
		if bytes >= pageBytes {
			passed = i
			return false
		}
		if !answered(snap) {
			bytes += briefSize(snap)
			out.Queue = append(out.Queue, briefOf(snap, true))
		}
		return true
	})
	if err != nil {
		return err
	}
	at += passed
	if out.More = at < len(places); out.More {
		if kept == "" {
			kept = s.pages.keep(scope, places)
		}
		out.Next = kept + "." + strconv.Itoa(at)
	}
	out.Unawaited = s.awaiting.unawaited(out.Queue, s.opts.Now())
	c.answer = out
	return nil
}

// queue is that of the path's session, or of all, as it stands now.
func (s *Server) queue(c *call) ([]plexus.JobName, error) {
	ids := []string{c.session()}
	if ids[0] == "" {
		ids = ids[:0]
		for id := range s.opts.Kernel.Loads() {
			ids = append(ids, id)
		}
	}
	var all []waiting
	for _, id := range ids {
		w, err := s.opts.Kernel.Waiting(c, id, c.query.Get("under"))
		switch {
		case errors.Is(err, plexus.ErrNoSession) && c.session() == "":
			continue // somebody asked about one that there is not
		case err != nil:
			return nil, err
		}
		if len(w.Leaves) > 0 {
			all = append(all, waiting{w.Agent, id, w.Made, w.Leaves})
		}
	}
	return fair(all), nil
}

// answered says whether a leaf of a queue waits for nobody by now.
func answered(snap plexus.JobSnapshot) bool {
	for _, name := range []string{plexus.Approved, plexus.OrchestrationResult, plexus.Cancelled, plexus.Completed} {
		if _, ok := snap.Fields[name]; ok {
			return true
		}
	}
	return false
}
