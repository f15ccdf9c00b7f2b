package api

import (
	"cmp"
	"math"
	"slices"

	"assent/front/api/wire"
	"assent/plexus"
)

// waiting are leaves of a session that need a person.
type waiting struct {
	session string
	made    plexus.Rev
	leaves  []string
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
	ids := []string{c.session()}
	if ids[0] == "" {
		ids = ids[:0]
		for id := range s.opts.Kernel.Loads() {
			ids = append(ids, id)
		}
	}
	var all []waiting
	out := wire.Queue{Rev: wire.Rev(head.Rev), Queue: []wire.Job{}}
	for _, id := range ids {
		w, err := s.opts.Kernel.Waiting(c, id, c.query.Get("under"))
		if err != nil {
			return err
		}
		if len(w.Leaves) > 0 {
			out.Waiting += len(w.Leaves)
			all = append(all, waiting{id, w.Made, w.Leaves})
		}
	}
	slices.SortFunc(all, func(a, b waiting) int { return cmp.Compare(a.made, b.made) })
	bytes, full := 0, false
	for _, w := range page(all, int(skip), int(limit)) {
		err := s.opts.Document.Briefs(c, w.session, w.leaves, func(snap plexus.JobSnapshot) bool {
			if full = bytes >= pageBytes; full {
				return false
			}
			if _, done := snap.Fields[plexus.Completed]; !done { // meanwhile: it waits for nobody
				bytes += size(snap)
				out.Queue = append(out.Queue, briefOf(snap, true))
			}
			return true
		})
		if err != nil {
			return err
		}
		if full {
			break
		}
	}
	out.Unawaited = s.awaiting.unawaited(out.Queue, s.opts.Now())
	out.More = full || int(skip)+int(limit) < out.Waiting
	c.answer = out
	return nil
}

// page cuts so many leaves out of all, after so many.
func page(all []waiting, skip, limit int) (some []waiting) {
	for _, w := range all {
		passed := min(skip, len(w.leaves))
		skip -= passed
		w.leaves = w.leaves[passed:]
		w.leaves = w.leaves[:min(limit, len(w.leaves))]
		limit -= len(w.leaves)
		if len(w.leaves) > 0 {
			some = append(some, w)
		}
	}
	return some
}
