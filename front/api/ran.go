package api

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/wire"
	"assent/job"
	"assent/kernel"
	"assent/plexus"
)

// postRan takes a client's word that a call ran, whatever was decided about it.
func postRan(s *Server, c *call) error {
	var in wire.Report
	if err := c.in(&in); err != nil {
		return err
	}
	if err := job.CheckArguments(in.Arguments); err != nil {
		return err
	}
	how, err := s.opts.Kernel.RanSo(c, c.session(), kernel.Report{
		ID: in.ID, Name: in.Name, Arguments: in.Arguments, Facts: string(in.Facts), OK: in.OK, Text: in.Text, Unasked: in.Unasked,
	}, c.by)
	c.answer = wire.Reported{How: string(how)}
	return err
}

// runBook is which calls ran in another way than they were licensed.
type runBook map[plexus.JobName]*wire.Run

func (b runBook) add(r plexus.Register) {
	var run kernel.Run
	if json.Unmarshal([]byte(r.Value), &run) != nil {
		return
	}
	b[plexus.JobName{Session: r.Session, Job: run.Job}] = &wire.Run{
		How: string(run.How), At: r.At, OK: run.OK, Arguments: jsontext.Value(run.Arguments), Cut: run.Cut, Text: run.Text,
	}
}

// runsOf are those of some sessions.
func (s *Server) runsOf(c *call, sessions ...string) (runBook, error) {
	b, done := make(runBook), make(map[string]bool)
	for _, session := range sessions {
		if done[session] {
			continue
		}
		done[session] = true
		all, err := s.opts.Document.Revisions(c, session, kernel.Ran)
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			b.add(r)
		}
	}
	return b, nil
}

// allRuns are those of all sessions.
func (s *Server) allRuns(c *call) (runBook, error) {
	b := make(runBook)
	return b, s.opts.Document.EachRegister(c, b.add, kernel.Ran)
}
