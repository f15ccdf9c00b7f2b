package kernel

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"assent/approval"
	"assent/plexus"
	"assent/remainder"
	"assent/session"
)

// What the classifier may know of a session is in the document (law §9). A turn
// has its words in its arguments: {"prompt": TEXT, "tail": TURN}, where tail is the
// turn it goes on from, and a program has {"expr": TEXT}. Agents mint neither, so a
// prompt is the user's, but for that of a session which an agent started: its task
// is that agent's to word. What the agent said with a call is in the call's facts
// where the host minted it, or in those of the program it is in: {"said": TEXT}; what it said at the end of a turn is
// the text of the turn's outcome.

// The most that is walked and read, more than a session has that can be judged.
const (
	mostTurns   = 1000
	mostResults = 100
	mostLooked  = 2000 // leaves that are looked at for those
)

// scene is a leaf with what is above and before it.
type scene struct {
	k       *Kernel
	session string
	child   bool // an agent started the session
	alone   bool // nobody looks on
	leaf    plexus.JobSnapshot
	bag     plexus.Job   // the nearest program that it is in
	turns   []plexus.Job // its own and those before, the newest first
	tail    string       // of its own turn
	turnOf  map[string]string
}

// sceneOf reads what surrounds a leaf.
func (k *Kernel) sceneOf(ctx context.Context, facts plexus.Session, leaf string) (*scene, error) {
	s := &scene{k: k, session: facts.ID, child: facts.Parent != "", alone: facts.Seat == approval.Unattended, turnOf: make(map[string]string)}
	var err error
	if s.leaf, err = k.Document.Job(ctx, s.session, leaf); err != nil {
		return nil, err
	}
	turn := ""
	for id := s.leaf.Job.Parent; id != ""; {
		above, err := k.Document.Job(ctx, s.session, id)
		if err != nil {
			return nil, err
		}
		if above.Job.Kind == plexus.ProgrammaticJob && s.bag.ID == "" {
			s.bag = above.Job
		}
		if above.Job.Kind == plexus.SessionTurn {
			turn = id
			break
		}
		id = above.Job.Parent
	}
	for id := turn; id != "" && len(s.turns) < mostTurns; {
		t, err := k.Document.Job(ctx, s.session, id)
		if errors.Is(err, plexus.ErrNoJob) {
			break
		}
		if err != nil {
			return nil, err
		}
		if t.Job.Kind != plexus.SessionTurn || slices.ContainsFunc(s.turns, func(j plexus.Job) bool { return j.ID == id }) {
			break
		}
		s.turns = append(s.turns, t.Job)
		id = words(t.Job).Tail
		if len(s.turns) == 1 {
			s.tail = id
		}
	}
	return s, nil
}

// spoken are the arguments of a sequence.
type spoken struct {
	Prompt string `json:"prompt"`
	Tail   string `json:"tail"`
	Expr   string `json:"expr"`
}

func words(j plexus.Job) (w spoken) {
	if json.Unmarshal([]byte(j.Arguments), &w) != nil {
		return spoken{}
	}
	return w
}

// evidence is what belongs to a cut.
func (s *scene) evidence(ctx context.Context, cut remainder.Scope) (e remainder.Evidence, err error) {
	tasks := []remainder.Result(nil)
	for _, t := range slices.Backward(s.turns) {
		switch prompt := words(t).Prompt; {
		case prompt == "":
		case t.Writer.Role == plexus.Human, !s.child && t.Writer.Role == plexus.Host:
			e.User = append(e.User, prompt)
		default:
			tasks = append(tasks, remainder.Result{Tool: "the agent that started this session", Text: prompt})
		}
	}
	if s.alone && len(e.User) == 0 {
		e.Expression = words(s.bag).Expr
	}
	if cut >= remainder.PriorTurn {
		if e.Response, err = s.response(ctx); err != nil {
			return e, err
		}
	}
	if cut >= remainder.Quarantined {
		results, err := s.results(ctx)
		if err != nil {
			return e, err
		}
		e.Results = append(tasks, results...)
	}
	return e, nil
}

// response is what the agent said last.
func (s *scene) response(ctx context.Context) (string, error) {
	for _, of := range []plexus.Job{s.leaf.Job, s.bag} { // a call in a program was said with that
		var facts struct {
			Said string `json:"said"`
		}
		if of.Writer.Role == plexus.Host && json.Unmarshal([]byte(of.Facts), &facts) == nil && facts.Said != "" {
			return facts.Said, nil
		}
	}
	if s.tail == "" {
		return "", nil
	}
	before, err := s.k.Document.Job(ctx, s.session, s.tail)
	if errors.Is(err, plexus.ErrNoJob) {
		return "", nil
	}
	return outcomeText(before.Fields[plexus.OutcomeJSON].Value), err
}

// outcomeText is what an outcome says, or all of it where it says more.
func outcomeText(outcome string) string {
	var said struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal([]byte(outcome), &said) == nil && said.Text != nil {
		return *said.Text
	}
	return outcome
}

// results are the outcomes of the calls before this one in the same turns, or, where
// there are no turns, in the session outside of any: the oldest first.
func (s *scene) results(ctx context.Context) ([]remainder.Result, error) {
	var found []plexus.JobSnapshot
	looked := 0
	err := s.k.Document.BriefsBefore(ctx, s.leaf.Job.Rev, s.session, func(j plexus.Job) bool { return !j.Sequence() }, func(snap plexus.JobSnapshot) bool {
		looked++
		if _, ok := snap.Fields[plexus.OutcomeJSON]; ok {
			found = append(found, snap)
		}
		return looked < mostLooked
	})
	if err != nil {
		return nil, err
	}
	var results []remainder.Result
	for _, snap := range found {
		turn, err := s.turn(ctx, snap.Job.Parent)
		if err != nil {
			return nil, err
		}
		if turn == "" && len(s.turns) > 0 || turn != "" && !slices.ContainsFunc(s.turns, func(j plexus.Job) bool { return j.ID == turn }) {
			continue
		}
		text := outcomeText(snap.Fields[plexus.OutcomeJSON].Value)
		results = append(results, remainder.Result{Tool: snap.Job.Name, Text: text})
		if len(results) == mostResults {
			break
		}
	}
	slices.Reverse(results)
	return results, nil
}

// turn is the turn that a job or one above it is, "" for none.
func (s *scene) turn(ctx context.Context, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	if turn, ok := s.turnOf[id]; ok {
		return turn, nil
	}
	above, err := s.k.Document.Job(ctx, s.session, id)
	if err != nil {
		return "", err
	}
	turn := id
	if above.Job.Kind != plexus.SessionTurn {
		if turn, err = s.turn(ctx, above.Job.Parent); err != nil {
			return "", err
		}
	}
	s.turnOf[id] = turn
	return turn, nil
}

// steering is the rule of the shipped floor about files that decide what builds run.
const steering = "shipped:build-steering"

// kindOf tells more about a call, by what the floor said to it and by the machine
// (law §11, ruling 16).
func kindOf(leaf approval.Leaf, explanation, workspace string) string {
	var said struct {
		Incomplete bool `json:"incomplete"`
		Effects    []struct {
			Kind string `json:"kind"`
			Rule string `json:"rule"`
		} `json:"effects"`
	}
	_ = json.Unmarshal([]byte(explanation), &said) // then there is nothing to tell
	if said.Incomplete {
		return "incomplete"
	}
	if leaf.Cluster() != approval.Write {
		return ""
	}
	deletes := false
	for _, e := range said.Effects {
		if e.Kind == "write" && e.Rule == steering {
			return "build-steering"
		}
		deletes = deletes || e.Kind == "delete"
	}
	if deletes {
		return "delete"
	}
	kind := ""
	for _, p := range leaf.Paths {
		path := string(p)
		if !p.Known() {
			return ""
		}
		if !p.Outside() {
			if workspace == "" {
				return ""
			}
			path = filepath.Join(workspace, path)
		}
		if _, err := os.Lstat(path); err == nil {
			kind = "change"
		} else if errors.Is(err, os.ErrNotExist) && kind == "" {
			kind = "create"
		}
	}
	return kind
}

// chat is the connection and the model of the session itself, as whoever made it
// said. What an agent says of its own session chooses nothing.
func (o *owner) chat() remainder.Choice {
	if o.m.Register(false, plexus.SessionAgent) != "" {
		return remainder.Choice{}
	}
	var chat struct {
		Connection string `json:"chatConnection"`
		Model      string `json:"chatModel"`
	}
	if json.Unmarshal([]byte(o.facts.Facts), &chat) != nil {
		return remainder.Choice{}
	}
	return remainder.Choice{Connection: chat.Connection, Model: chat.Model}
}

// chosen are the registers by which the classifier of a session is chosen.
func (o *owner) chosen() remainder.Choices {
	read := func(kernel bool, name string) (text string) {
		if json.Unmarshal([]byte(o.m.Register(kernel, name)), &text) != nil {
			return ""
		}
		return strings.TrimSpace(text)
	}
	return remainder.Choices{
		Session: remainder.Choice{Connection: read(false, plexus.JudgeConnection), Model: read(false, plexus.JudgeModel)},
		Kernel:  remainder.Choice{Connection: read(true, plexus.JudgeConnection), Model: read(true, plexus.JudgeModel)},
		Chat:    o.chat(),
	}
}

// program is the text that a person wrote for this session, or for all, "" for none.
func (o *owner) program() (text string) {
	for _, kernel := range []bool{false, true} {
		if json.Unmarshal([]byte(o.m.Register(kernel, plexus.JudgeAskProgram)), &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// judging reports whether a register chooses the classifier.
func judging(r session.Register) bool {
	return r.Name == plexus.JudgeConnection || r.Name == plexus.JudgeModel || r.Name == plexus.JudgeAskProgram
}

// explanation is what the floor said to the leaf.
func (s *scene) explanation() string { return s.leaf.Fields[plexus.Explanation].Value }
