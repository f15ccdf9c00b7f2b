package turn

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/job"
	"assent/model"
	"assent/session"
)

// Do is what is to be done for a turn: an [Ask], a [Mint], an [Await], an [End] or a
// [Rest].
type Do interface{ do() }

// Ask asks the model, and gives what it said to [State.Take].
type Ask struct {
	Round    int // from 1
	Messages []model.Message
	Notes    []Note // those that are among the messages for the first time
}

// Mint makes jobs of the turn. What the model said with them is in their facts.
type Mint struct {
	Jobs []session.Job
	Said string
}

// Await waits for rows.
type Await struct{}

// End settles the turn.
type End struct{ Outcome Outcome }

// Rest does nothing: the turn is over, or cancelled.
type Rest struct{}

func (Ask) do()   {}
func (Mint) do()  {}
func (Await) do() {}
func (End) do()   {}
func (Rest) do()  {}

// Outcome is the outcome of a turn.
type Outcome struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"` // what was said last, or why it failed
	Code string `json:"code,omitzero"`
}

// The codes of a turn that failed.
const (
	CodeRounds = "rounds" // it had as many as it may have
	CodeModel  = "model"  // the model gave no answer
)

// Tool is a tool of the host as the model is told of it.
type Tool struct {
	model.Tool
	Kind session.Kind
	// Changes: it may do something that another call of the same round sees.
	Changes bool
}

// Offered are the tools of a turn.
func (s *State) Offered(tools []Tool) []Tool {
	if !s.settings.Plan {
		return tools
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool { return t.Changes || t.Kind == job.AgentCall })
}

// Next says what follows from the rows.
func (s *State) Next() Do {
	if s.over() {
		return Rest{}
	}
	rounds := s.rounds[s.id]
	n := len(rounds)
	notes := s.untold()
	if n > 0 {
		last := rounds[n-1]
		if mint := s.mint(last); len(mint.Jobs) > 0 {
			return mint
		}
		if slices.ContainsFunc(last.Calls, func(c Call) bool { return !s.settled(c) }) {
			return Await{}
		}
		// What another agent said meanwhile would never be heard.
		heard := !slices.ContainsFunc(notes, func(n Note) bool { return strings.HasPrefix(n.Of, inboxRegister) })
		if len(last.Calls) == 0 && heard {
			return End{Outcome{OK: true, Text: last.Said}}
		}
	}
	limit := s.settings.Rounds
	if limit <= 0 {
		limit = DefaultRounds
	}
	if n >= limit {
		return End{Outcome{Text: fmt.Sprintf("stopped after %d rounds", n), Code: CodeRounds}}
	}
	return Ask{Round: n + 1, Messages: s.messages(notes), Notes: notes}
}

// mint are the calls of a round that wait for nothing and are no jobs yet.
func (s *State) mint(r Round) Mint {
	m := Mint{Said: r.Said}
	round := len(s.rounds[s.id])
	for i, c := range r.Calls {
		if c.Job == "" || s.jobs[c.Job] != nil {
			continue
		}
		if slices.ContainsFunc(r.Calls[:i], func(before Call) bool { return !apart(before, c) && !s.settled(before) }) {
			continue
		}
		m.Jobs = append(m.Jobs, session.Job{
			ID: session.JobID(c.Job), Parent: session.JobID(s.id), Ord: int64(round)*1000 + int64(i), Kind: c.Kind, Name: c.Name, Arguments: c.Arguments,
		})
	}
	return m
}

// apart reports whether two calls may run at once: neither sees what the other does.
// Who said two things said one after the other.
func apart(a, b Call) bool {
	if talks(a) || talks(b) {
		return a.Name != b.Name || a.Kind == job.AgentCall
	}
	if !a.Changes && !b.Changes {
		return true
	}
	if a.Kind != job.FileMutateTool || b.Kind != job.FileMutateTool {
		return false
	}
	x, y := fileOf(a), fileOf(b)
	return x != "" && y != "" && x != y
}

func talks(c Call) bool { return job.Communication(c.Kind, c.Name) }

func fileOf(c Call) string {
	var a struct {
		Path string `json:"path"`
	}
	if json.Unmarshal([]byte(c.Arguments), &a) != nil || a.Path == "" {
		return ""
	}
	return path.Clean(a.Path)
}

// Said is what a model said, whole.
type Said struct {
	Text  string
	Calls []model.Call
	Ended model.Ended
}

// Take is the round that is written down when a question was answered, as the register
// [RoundName]. tools are those that were offered.
func (s *State) Take(ask Ask, said Said, tools []Tool) Round {
	r := Round{Notes: ask.Notes, Said: said.Text, Model: said.Ended.Model, In: said.Ended.InTokens, Out: said.Ended.OutTokens}
	for i, c := range said.Calls {
		call := Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments}
		at := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == c.Name })
		arguments := jsontext.Value(c.Arguments)
		switch err := job.CheckArguments(arguments); {
		case at < 0:
			call.Error = fmt.Sprintf("there is no tool %q here", c.Name)
			if s.settings.Plan {
				call.Error += "; this turn makes a plan and changes nothing"
			}
		case err != nil:
			call.Error = err.Error()
		default:
			if arguments.Compact() == nil {
				call.Arguments = string(arguments)
			}
			call.Job, call.Kind, call.Changes = jobID(s.id, ask.Round, i+1), tools[at].Kind, tools[at].Changes
		}
		r.Calls = append(r.Calls, call)
	}
	return r
}
