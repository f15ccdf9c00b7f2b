package api

import (
	"encoding/hex"
	"errors"
	"math"
	"strings"

	"assent/approval"
	"assent/front/api/wire"
	"assent/plexus"
)

// getCalls tells how calls were decided, the newest first: as many as are
// wanted, as long as they are not too much for one answer.
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
	case "", "allow", "deny", "block", "cancelled", "wait", "ran":
	default:
		return problem(wire.BadRequest, "query parameter result: want allow, deny, block, cancelled, wait or ran")
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
	before, err := number(c.query, "before", int64(head.Rev)+1, math.MaxInt64)
	if err != nil {
		return err
	}
	out := wire.Calls{Rev: wire.Rev(head.Rev), Calls: []wire.Call{}}
	runs := runBook(nil)
	if result == "ran" {
		if runs, err = s.allRuns(c); err != nil {
			return err
		}
	}
	bytes := 0
	licenses := make(map[int]plexus.Field) // of calls that a grant let through
	wanted := func(job plexus.Job) bool {
		return !job.Sequence() && (tool == "" || strings.EqualFold(job.Name, tool)) &&
			(runs == nil || runs[plexus.JobName{Session: job.Session, Job: job.ID}] != nil) &&
			(since.IsZero() || !job.At.Before(since)) && (until.IsZero() || job.At.Before(until))
	}
	err = s.opts.Document.BriefsBefore(c, plexus.Rev(before), session, wanted, func(snap plexus.JobSnapshot) bool {
		call := callOf(shortened(snap))
		if result != "" && runs == nil && call.Result != result && (result != "deny" || call.Result != "block") {
			return true
		}
		if out.More = int64(len(out.Calls)) == limit || bytes >= pageBytes; out.More {
			return false
		}
		bytes += size(snap)
		if call.Reason == approval.GrantSkips.Name() {
			licenses[len(out.Calls)] = snap.Fields[plexus.OrchestrationResult]
		}
		out.Calls = append(out.Calls, call)
		return true
	})
	if err != nil {
		return err
	}
	if err := s.grantsOf(c, out.Calls, licenses); err != nil {
		return err
	}
	if runs == nil {
		sessions := make([]string, len(out.Calls))
		for i, call := range out.Calls {
			sessions[i] = call.Session
		}
		if runs, err = s.runsOf(c, sessions...); err != nil {
			return err
		}
	}
	for i := range out.Calls {
		out.Calls[i].Ran = runs[plexus.JobName{Session: out.Calls[i].Session, Job: out.Calls[i].Job}]
	}
	c.answer = out
	return nil
}

// grantsOf says of calls that a grant let through which one it was.
func (s *Server) grantsOf(c *call, calls []wire.Call, licenses map[int]plexus.Field) error {
	if len(licenses) == 0 {
		return nil
	}
	var sessions []string
	for i := range licenses {
		sessions = append(sessions, calls[i].Session)
	}
	book, err := s.grantBook(c, sessions...)
	if err != nil {
		return err
	}
	for i, license := range licenses {
		for _, cluster := range grantable {
			if cluster.String() == calls[i].Cluster {
				calls[i].Grant = book.through(calls[i].Session, cluster, license)
			}
		}
	}
	return nil
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
	bytes := 0
	for page := 0; ; page++ {
		rows, more, err := s.opts.Document.Page(c, plexus.Rev(out.Next), int(limit)-len(out.Rows), pageBytes-bytes)
		if err != nil {
			return err
		}
		for _, row := range rows {
			out.Next = wire.Rev(row.Stamped().Rev)
			if !c.query.Has("session") || row.In() == c.query.Get("session") {
				w := rowOf(row)
				bytes += sizeOf(w)
				out.Rows = append(out.Rows, w)
			}
		}
		out.More = more
		if !more || int64(len(out.Rows)) == limit || bytes >= pageBytes || page == pagesMost {
			break
		}
	}
	c.answer = out
	return nil
}

// sizeOf is about how many bytes a row has.
func sizeOf(w wire.Row) int {
	const fixed = 512
	switch {
	case w.Session != nil:
		return fixed + len(w.Session.Facts)
	case w.Job != nil:
		return fixed + len(w.Job.Arguments) + len(w.Job.Facts)
	case w.Field != nil:
		return fixed + len(w.Field.Value)
	case w.Register != nil:
		return fixed + len(w.Register.Value)
	}
	return fixed
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
		if kept[i].Rev = plexus.Rev(h.Rev); h.Rev < 1 {
			return at("/heads", problem(wire.Value, "head %d: its rev is %d: no row has one below 1", i, h.Rev))
		}
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
