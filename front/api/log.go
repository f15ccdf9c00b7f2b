package api

import (
	"encoding/hex"
	"errors"
	"math"
	"strings"

	"assent/front/api/wire"
	"assent/plexus"
)

// getCalls tells how calls were decided, the newest first.
func getCalls(s *Server, c *call) error {
	limit, err := number(c.query, "limit", listDefault, listMost)
	if err != nil {
		return err
	}
	since, err := moment(c.query, "since")
	if err != nil {
		return err
	}
	until, err := moment(c.query, "until")
	if err != nil {
		return err
	}
	result, tool := c.query.Get("result"), c.query.Get("tool")
	switch result {
	case "", "allow", "deny", "block", "cancelled", "wait":
	default:
		return problem(wire.BadRequest, "query parameter result: want allow, deny, block, cancelled or wait")
	}
	head, err := s.opts.Document.Head(c)
	if err != nil {
		return err
	}
	session := c.query.Get("session")
	if c.query.Has("session") {
		if _, err := s.opts.Kernel.View(c, session); err != nil { // no such session
			return err
		}
	}
	out := wire.Calls{Rev: wire.Rev(head.Rev), Calls: []wire.Call{}}
	for before := head.Rev + 1; !out.More; {
		jobs, err := s.opts.Document.JobsBefore(c, before, session, jobsPage)
		if err != nil {
			return err
		}
		for _, job := range jobs {
			before = job.Rev
			if job.Sequence() || tool != "" && !strings.EqualFold(job.Name, tool) ||
				!since.IsZero() && job.At.Before(since) || !until.IsZero() && !job.At.Before(until) {
				continue
			}
			fields, err := s.opts.Document.Fields(c, job.Session, job.ID)
			if err != nil {
				return err
			}
			call := callOf(job, byName(fields))
			if result != "" && call.Result != result && (result != "deny" || call.Result != "block") {
				continue
			}
			if int64(len(out.Calls)) == limit {
				out.More = true
				break
			}
			out.Calls = append(out.Calls, call)
		}
		if len(jobs) < jobsPage {
			break
		}
	}
	c.answer = out
	return nil
}

// jobsPage is how many jobs are looked through at a time.
const jobsPage = 1000

func byName(fields []plexus.Field) map[string]plexus.Field {
	named := make(map[string]plexus.Field, len(fields))
	for _, f := range fields {
		named[f.Name] = f
	}
	return named
}

// Pages of rows.
const (
	rowsDefault = 1000
	rowsMost    = 10_000
	pagesMost   = 20 // that are looked through for one answer
)

// getRows gives rows of the document in order, a page at a time.
func getRows(s *Server, c *call) error {
	after, err := number(c.query, "after", 0, math.MaxInt64)
	if err != nil {
		return err
	}
	limit, err := number(c.query, "limit", rowsDefault, rowsMost)
	if err != nil {
		return err
	}
	if limit == 0 {
		return problem(wire.BadRequest, "query parameter limit: want at least 1")
	}
	if err := s.notFuture(c, after); err != nil {
		return err
	}
	out := wire.Rows{Rows: []wire.Row{}, Next: after}
	for page := 0; ; page++ {
		rows, err := s.opts.Document.Since(c, plexus.Rev(out.Next), int(limit))
		if err != nil {
			return err
		}
		for _, row := range rows {
			if int64(len(out.Rows)) == limit {
				out.More = true
				break
			}
			out.Next = wire.Rev(row.Stamped().Rev)
			if !c.query.Has("session") || row.In() == c.query.Get("session") {
				out.Rows = append(out.Rows, rowOf(row))
			}
		}
		if int64(len(rows)) < limit {
			break
		}
		if out.More = true; int64(len(out.Rows)) == limit || page == pagesMost {
			break
		}
	}
	c.answer = out
	return nil
}

// notFuture refuses a rev that is not in the document: who has seen it has
// seen another one.
func (s *Server) notFuture(c *call, after wire.Rev) error {
	head, err := s.opts.Document.Head(c)
	if errors.Is(err, plexus.ErrTampered) {
		return nil // who reads on is told
	}
	if err == nil && after > wire.Rev(head.Rev) {
		err = problem(wire.Future, "rev %d is not there; the document ends at %d", after, head.Rev)
	}
	return err
}

func postVerify(s *Server, c *call) error {
	var in wire.Verify
	if err := c.in(&in); err != nil {
		return err
	}
	kept := make([]plexus.Head, len(in.Heads))
	for i, h := range in.Heads {
		kept[i].Rev = plexus.Rev(h.Rev)
		if n, err := hex.Decode(kept[i].Hash[:], []byte(h.Hash[:min(len(h.Hash), 2*len(kept[i].Hash))])); err != nil ||
			n != len(kept[i].Hash) || len(h.Hash) != 2*n {
			return at("/heads", problem(wire.Value, "head %d: a hash is 64 digits and letters a to f", i))
		}
	}
	head, err := s.opts.Document.Verify(c, kept...)
	out := wire.Verified{OK: err == nil, Head: wire.Head{Rev: wire.Rev(head.Rev), Hash: head.Hash.String()}}
	if damage, ok := errors.AsType[*plexus.Damage](err); ok {
		out.Damage = &wire.Damage{Rev: wire.Rev(damage.Rev), What: damage.What}
		if damage.Row != nil {
			out.Damage.Row = damage.Row.String()
		}
		err = nil
	}
	c.answer = out
	return err
}
