package api

import (
	_ "embed"
	"errors"
	"math"
	"net"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/front/api/wire"
	"assent/kernel"
	"assent/plexus"
)

//go:embed openapi.yaml
var openAPI []byte

func getOpenAPI(s *Server, c *call) error {
	s.write(c.w, http.StatusOK, "application/yaml", openAPI)
	return nil
}

func getStatus(s *Server, c *call) error {
	st, err := s.status(c)
	c.answer = st
	return err
}

func getTools(s *Server, c *call) error { return s.servers(c, false) }

// postTools has the servers asked, and started for that.
func postTools(s *Server, c *call) error { return s.servers(c, true) }

func (s *Server) servers(c *call, ask bool) error {
	all := wire.Servers{Servers: []wire.ServerTools{}}
	if s.opts.Servers != nil {
		all.Servers = append(all.Servers, s.opts.Servers(c, ask)...)
	}
	c.answer = all
	return c.Err()
}

// The bounds of lists.
const (
	listDefault = 100
	listMost    = 10_000
)

func getSessions(s *Server, c *call) error {
	limit, err := number(c.query, "limit", listDefault, listMost)
	if err != nil {
		return err
	}
	open, err := truth(c.query, "open")
	if err != nil {
		return err
	}
	head, err := s.opts.Document.Head(c)
	if err != nil {
		return err
	}
	before, err := number(c.query, "before", int64(head.Rev)+1, math.MaxInt64)
	if err != nil {
		return err
	}
	loads := s.opts.Kernel.Loads()
	out := wire.Sessions{Rev: wire.Rev(head.Rev), Sessions: []wire.Summary{}}
	bytes := 0
	err = s.opts.Document.BriefSessions(c, func(session plexus.Session, facts int) bool {
		load := loads[session.ID]
		if int64(session.Rev) >= before || open && load.Unsettled == 0 || !strings.HasPrefix(session.ID, c.query.Get("begins")) {
			return true
		}
		if out.More = int64(len(out.Sessions)) == limit || bytes >= pageBytes; out.More {
			return false
		}
		var cut map[string]int
		if facts > 0 {
			cut = map[string]int{"facts": facts}
			session.Facts = string(shorten(session.Facts, facts))
		}
		bytes += len(session.Facts) + len(session.Workspace) + len(session.Client)
		out.Sessions = append(out.Sessions, wire.Summary{
			Session: sessionOf(session), Stamp: stampOf(session.Stamp), Unsettled: load.Unsettled, Asking: load.Asking, Cut: cut,
		})
		return true
	})
	if err != nil {
		return err
	}
	for i := range out.Sessions {
		view, err := s.opts.Kernel.View(c, out.Sessions[i].ID)
		if err != nil {
			return err
		}
		out.Sessions[i].CurrentPolicy = view.CurrentPolicy.String()
	}
	c.answer = out
	return nil
}

func postSession(s *Server, c *call) error {
	var in wire.NewSession
	if err := c.in(&in); err != nil {
		return err
	}
	seat := approval.Attended
	switch in.Seat {
	case "", wire.Attended:
	case wire.Unattended:
		seat = approval.Unattended
	default:
		return at("/seat", problem(wire.Value, "want attended or unattended"))
	}
	folder, err := s.admitting(c)
	if err != nil {
		return err
	}
	agent := ""
	if in.Process != 0 { // first, so that no session is made that nobody gets
		if c.by.Role != plexus.Human {
			return at("/process", problem(wire.Role, "whose a session is, a person says"))
		}
		if agent, err = s.agentOf(c, in.Process); err != nil {
			return err
		}
	}
	row, err := s.opts.Kernel.CreateSession(c, kernel.NewSession{
		ID: in.ID, Seat: seat, Mode: in.Mode, Client: in.Client, Workspace: in.Workspace, Cwd: in.Cwd, Home: in.Home,
		Parent: in.Parent, Facts: string(in.Facts), Folder: folder,
	}, c.by)
	if err != nil {
		return err
	}
	if agent != "" {
		if err := s.opts.Kernel.Give(c, row.ID, agent, c.by); err != nil {
			return err
		}
	}
	c.answer = sessionOf(row)
	return nil
}

// agentOf is the name of the agent that a process is or belongs to.
func (s *Server) agentOf(c *call, process int) (string, error) {
	if s.opts.AgentOf == nil {
		return "", problem(wire.NotFound, "processes cannot be told apart here")
	}
	conn, _ := c.Value(connKey{}).(net.Conn)
	name, err := s.opts.AgentOf(c, conn, process)
	if err != nil {
		return "", at("/process", problem(wire.Value, "%v", err))
	}
	return name, nil
}

// admitting tells of an agent before anything of it is taken, and gives where it
// was started.
func (s *Server) admitting(c *call) (folder string, err error) {
	conn, ok := c.Value(connKey{}).(net.Conn)
	if c.by.Role != plexus.Agent || s.opts.Agents == nil || !ok {
		return "", nil
	}
	if folder, err = s.opts.Agents(c, conn); errors.Is(err, kernel.ErrReserve) {
		return "", err
	} else if err != nil {
		return "", problem(wire.Role, "%v", err)
	}
	return folder, nil
}

// at says where in the body something is wrong.
func at(pointer string, p *wire.Problem) *wire.Problem {
	p.At = pointer
	return p
}

// queueTold is how much of its queue is told with a session; all of it has a path of
// its own.
const queueTold = 1000

// getSession gives a session with its jobs, a page at a time.
func getSession(s *Server, c *call) error {
	id := c.session()
	after, err := number(c.query, "after", 0, math.MaxInt64)
	if err != nil {
		return err
	}
	limit, err := number(c.query, "limit", listMost, listMost)
	if err != nil {
		return err
	}
	queue, err := s.opts.Kernel.Queue(c, id, "")
	if err != nil {
		return err
	}
	view, err := s.opts.Kernel.View(c, id)
	if err != nil {
		return err
	}
	asked := make(map[string]bool, len(queue))
	for _, id := range queue {
		asked[id] = true
	}
	doc := wire.Document{View: viewOf(view), Waiting: len(queue), ApprovalQueue: []string{}, Jobs: []wire.Job{}, Presence: s.presence(id)}
	doc.ApprovalQueue = append(doc.ApprovalQueue, queue[:min(len(queue), queueTold)]...)
	bytes := 0
	snap, err := s.opts.Document.BriefSession(c, id, plexus.Rev(after), func(snap plexus.JobSnapshot) bool {
		if doc.More = int64(len(doc.Jobs)) == limit || bytes >= pageBytes; doc.More {
			return false
		}
		bytes += briefSize(snap)
		doc.Jobs = append(doc.Jobs, briefOf(snap, asked[snap.Job.ID]))
		return true
	})
	if err != nil {
		return err
	}
	doc.Rev, doc.Session, doc.Stamp = wire.Rev(snap.Rev), sessionOf(snap.Session), stampOf(snap.Session.Stamp)
	doc.Registers, doc.MoreRegisters = briefRegistersOf(snap.Registers), snap.MoreRegisters
	c.answer = doc
	return nil
}

func putMode(s *Server, c *call) error {
	var in wire.Assign
	if err := c.in(&in); err != nil {
		return err
	}
	var followed kernel.Followed
	assign := func() (err error) {
		followed, err = s.opts.Kernel.Assign(c, c.session(), in.Mode, in.Remember, c.by)
		return err
	}
	err := error(nil)
	if mode, e := approval.ParseMode(in.Mode); in.Remember && e == nil {
		err = s.keep(Standing{DefaultPolicy: &mode}, assign)
	} else {
		err = assign() // which says what is wrong with the mode
	}
	if err != nil {
		return err
	}
	view, err := s.opts.Kernel.View(c, c.session())
	own := append([]string{}, followed.Own[:min(len(followed.Own), ownMost)]...)
	c.answer = wire.Assigned{View: viewOf(view), Followed: followed.Sessions, Own: own}
	return err
}

// ownMost is how many sessions are named that keep their mode: more than anybody reads.
const ownMost = 100

// putAgent gives a session to the agent that a process is or belongs to.
func putAgent(s *Server, c *call) error {
	var in wire.Give
	if err := c.in(&in); err != nil {
		return err
	}
	if _, err := s.opts.Kernel.View(c, c.session()); err != nil { // no such session
		return err
	}
	name, err := s.agentOf(c, in.Process)
	if err != nil {
		return err
	}
	if err := s.opts.Kernel.Give(c, c.session(), name, c.by); err != nil {
		return err
	}
	c.answer = wire.Given{Agent: name}
	return nil
}

// keep writes something for the whole kernel, where it is kept too.
func (s *Server) keep(set Standing, write func() error) error {
	if s.opts.Standing == nil || set == (Standing{}) {
		return write()
	}
	return s.opts.Standing(set, write)
}

func postCancelSession(s *Server, c *call) error {
	if err := s.opts.Kernel.Cancel(c, c.session(), "", c.by); err != nil {
		return err
	}
	return s.wrote(c)
}

// wrote answers with where the document ends.
func (s *Server) wrote(c *call) error {
	head, err := s.opts.Document.Head(c)
	c.answer = wire.Wrote{Rev: wire.Rev(head.Rev)}
	return err
}

// getRegisters gives revisions of registers, whole and a page at a time.
func getRegisters(s *Server, c *call) error {
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
	if id := c.session(); id != "" {
		if _, err := s.opts.Kernel.View(c, id); err != nil { // no such session
			return err
		}
	}
	head, err := s.opts.Document.Head(c) // before reading: what is newer refuses a write that has seen this
	if err != nil {
		return err
	}
	some, more, err := s.opts.Document.Registers(c, c.session(), plexus.Rev(after), int(limit), pageBytes)
	if err != nil {
		return err
	}
	out := wire.Registers{Rev: wire.Rev(head.Rev), More: more, Registers: make([]wire.RegisterLine, len(some))}
	for i, r := range some {
		out.Registers[i] = registerOf(r)
	}
	c.answer = out
	return nil
}

// stored is a value in the form the engine compares: without blanks, and texts
// in their one spelling.
func stored(v jsontext.Value) (string, error) {
	v = v.Clone()
	if err := v.Canonicalize(); err != nil {
		return "", problemOfBody(err)
	}
	return string(v), nil
}

func putRegister(s *Server, c *call) error {
	seen, err := number(c.query, "seen", 0, math.MaxInt64)
	if err != nil {
		return err
	}
	v, err := c.raw()
	if err != nil {
		return err
	}
	value, err := stored(v)
	if err != nil {
		return err
	}
	r := plexus.Register{Session: c.session(), Name: c.r.PathValue("name"), Value: value}
	if err := s.notFuture(c, wire.Rev(seen)); err != nil {
		return err
	}
	var rev plexus.Rev
	err = s.keep(standingOf(r), func() (err error) {
		rev, err = s.opts.Document.Apply(c, plexus.Tx{Writer: c.by, Seen: plexus.Rev(seen), Writes: []plexus.Row{r}})
		return err
	})
	if err != nil {
		return err
	}
	c.answer = wire.Wrote{Rev: wire.Rev(rev)}
	return nil
}

// standingOf is what a register sets for the whole kernel.
func standingOf(r plexus.Register) (set Standing) {
	if r.Session != "" {
		return set
	}
	switch r.Name {
	case plexus.DefaultPolicy:
		mode := new(approval.Mode)
		if r.Value != `""` && json.Unmarshal([]byte(r.Value), mode) == nil {
			set.DefaultPolicy = mode
		}
	case plexus.StandingAutoAllow:
		grants := new(approval.Terms)
		if json.Unmarshal([]byte(r.Value), grants) == nil {
			set.StandingAutoAllow = grants
		}
	case plexus.AutoCoverDeny:
		cover := approval.CoverDenyOf(r.Value == plexus.True)
		set.AutoCoverDeny = &cover
	case plexus.JudgeConnection:
		set.JudgeConnection = textOf(r.Value)
	case plexus.JudgeModel:
		set.JudgeModel = textOf(r.Value)
	}
	return set
}

// textOf is the text that a value is, nil for none.
func textOf(value string) *string {
	text := new(string)
	if json.Unmarshal([]byte(value), text) != nil {
		return nil
	}
	return text
}

func postWrites(s *Server, c *call) error {
	var in wire.Writes
	if err := c.in(&in); err != nil {
		return err
	}
	if in.Seen < 0 {
		return problem(wire.BadRequest, "seen is %d: it is a rev, from 0 on", in.Seen)
	}
	if err := s.notFuture(c, in.Seen); err != nil {
		return err
	}
	tx := plexus.Tx{Writer: c.by, Seen: plexus.Rev(in.Seen)}
	for _, w := range in.Writes {
		value, err := stored(w.Value)
		if err != nil {
			return err
		}
		var row plexus.Row = plexus.Register{Session: c.session(), Name: w.Name, Value: value}
		if w.Job != "" {
			row = plexus.Field{Session: c.session(), Job: w.Job, Name: w.Name, Value: value}
		}
		tx.Writes = append(tx.Writes, row)
	}
	rev, err := s.opts.Document.Apply(c, tx)
	c.answer = wire.Wrote{Rev: wire.Rev(rev)}
	return err
}

func getPresence(s *Server, c *call) error {
	if id := c.session(); id != "" {
		if _, err := s.opts.Kernel.View(c, id); err != nil { // no such session
			return err
		}
	}
	c.answer = wire.PresenceOf{Session: c.session(), Presence: s.presence(c.session())}
	return nil
}
