package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"assent/agent"
	"assent/approval"
	"assent/floor"
	"assent/job"
	"assent/kernel"
	"assent/model"
	"assent/model/scripted"
	"assent/plexus"
	"assent/remainder"
	"assent/toolkit"
	"assent/turn"
)

var ada = plexus.Writer{Role: plexus.Human, Name: "ada"}

// rules is a floor whose answers follow from the command.
type rules struct{ operator *floor.Policy }

const ruled = `version: 1
run:
  allow: [cat, echo *, sleep *]
  deny: [no *]
  block: [never *]
`

func rulesOf() rules {
	p, err := floor.ParsePolicy("/policy.yaml", []byte(ruled))
	if err != nil {
		panic(err)
	}
	return rules{p}
}

func (r rules) Layers(string) kernel.Layers {
	return kernel.Layers{Floor: floor.Floor{Operator: r.operator}}
}
func (rules) Notify(string, func()) (end func()) { return func() {} }

// votes is a classifier that answers always the same.
type votes approval.JudgeResult

func (v votes) Vote(context.Context, kernel.Question) (remainder.Vote, error) {
	return remainder.Vote{Result: approval.JudgeResult(v)}, nil
}

// talk is where the communication of agents goes: to a kernel that is made later.
type talk struct {
	l    *life
	made chan struct{}
}

func (t talk) Spawn(ctx context.Context, call job.Call, task string) (string, error) {
	<-t.made
	return t.l.kernel.Spawn(ctx, call, task)
}

func (t talk) Say(ctx context.Context, call job.Call, to, kind, text string) error {
	<-t.made
	return t.l.kernel.Say(ctx, call, to, kind, text)
}

func (t talk) Tell(ctx context.Context, call job.Call, kind, text string) error {
	<-t.made
	return t.l.kernel.Tell(ctx, call, kind, text)
}

func (t talk) Describe(ctx context.Context, call job.Call, members map[string]string) error {
	<-t.made
	return t.l.kernel.Describe(ctx, call, members)
}

// life is a kernel with agents over the document of a folder.
type life struct {
	doc    *plexus.Store
	kernel *kernel.Kernel
	kit    *toolkit.Kit
	bodies job.Body // instead of those of the tool bash, where it is set
}

// store is a document through which all is written, that tells of each write.
type store struct {
	*plexus.Store
	point func(string)
}

func (s *store) Apply(ctx context.Context, tx plexus.Tx) (plexus.Rev, error) {
	s.point("before")
	rev, err := s.Store.Apply(ctx, tx)
	s.point("after")
	return rev, err
}

func (s *store) SetPresence(session, key, value string) {
	s.Store.SetPresence(session, key, value)
	if strings.HasPrefix(key, agent.Saying) && value != "" {
		s.point("said")
	}
}

func (s *store) Watch(ctx context.Context, rev plexus.Rev, f plexus.Filter) iter.Seq2[[]plexus.Row, error] {
	return s.Store.Watch(ctx, rev, f)
}

// begin begins a life. point is told of each write; models are asked at an address.
func begin(dir, url string, api model.API, point func(string), body job.Body) (*life, error) {
	doc, err := plexus.Open(filepath.Join(dir, "document"), plexus.Options{})
	if err != nil {
		return nil, err
	}
	l := &life{doc: doc}
	through := &store{doc, point}
	registry := new(job.Registry)
	made := make(chan struct{})
	if l.kit, err = toolkit.Register(registry, toolkit.Options{Env: []string{"PATH=" + os.Getenv("PATH")}, Agents: talk{l, made}}); err != nil {
		return nil, err
	}
	if body != nil {
		if err := registry.RegisterTool(job.SystemTool, "work", nil, body); err != nil {
			return nil, err
		}
	}
	models := model.New(model.Keys{})
	if api == model.OpenAI {
		url += "/v1"
	}
	models.Set(map[string]model.Connection{"local": {API: api, URL: url, Model: "small"}})
	a := &agent.Agent{
		Document: through, Models: models,
		Kernel: func(ctx context.Context) (agent.Admitter, error) {
			select {
			case <-made:
				return l.kernel, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		},
		Tools: func(context.Context) []turn.Tool {
			return append(turn.Tools(), turn.Tool{Tool: model.Tool{Name: "work", Parameters: map[string]any{"type": "object"}}, Kind: job.SystemTool})
		},
		After: func(_ time.Duration, f func()) func() bool { return time.AfterFunc(0, f).Stop },
	}
	if err := registry.RegisterSequence(job.SessionTurn, turn.Name, a.Run); err != nil {
		return nil, err
	}
	l.kernel, err = kernel.Open(context.Background(), kernel.Options{
		Document: through, Registry: registry, Policies: rulesOf(), Classifier: votes(approval.JudgeAllow),
		Prepare: func(_ context.Context, _ *floor.Floor, call floor.Call) floor.Call { return call },
	})
	close(made)
	return l, err
}

func (l *life) end() error {
	err := l.kernel.Close()
	l.kit.Close()
	return errors.Join(err, l.doc.Close())
}

// world is a life with a model server, in a workspace.
type world struct {
	testing.TB
	*life
	dir    string
	work   string
	api    model.API
	server *scripted.Server
}

func newWorld(t testing.TB, api model.API, script func(n int, a scripted.Ask) scripted.Reply) *world {
	t.Helper()
	w := &world{TB: t, dir: t.TempDir(), api: api, server: scripted.Start(t, script)}
	w.work = filepath.Join(w.dir, "work")
	if err := os.Mkdir(w.work, 0o700); err != nil {
		t.Fatal(err)
	}
	w.start()
	t.Cleanup(func() {
		if w.life != nil {
			w.stop()
		}
	})
	return w
}

func (w *world) start() {
	w.Helper()
	l, err := begin(w.dir, w.server.URL, w.api, func(string) {}, nil)
	if err != nil {
		w.Fatal(err)
	}
	w.life = l
}

func (w *world) stop() {
	w.Helper()
	if err := w.life.end(); err != nil {
		w.Error(err)
	}
	w.life = nil
}

func (w *world) session(id, mode string) {
	w.Helper()
	if _, err := w.kernel.CreateSession(w.Context(), kernel.NewSession{ID: id, Mode: mode, Workspace: w.work}, ada); err != nil {
		w.Fatal(err)
	}
}

// turn mints a turn, as a person does.
func (w *world) turn(session, id, tail, prompt string, settings turn.Settings) {
	w.Helper()
	words, err := json.Marshal(turn.Words{Prompt: prompt, Tail: tail})
	if err != nil {
		w.Fatal(err)
	}
	facts, err := json.Marshal(settings)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := w.kernel.Admit(w.Context(), kernel.NewCall{Session: session, ID: id, Kind: job.SessionTurn, Name: turn.Name, Arguments: words, Facts: string(facts)}, ada); err != nil {
		w.Fatal(err)
	}
}

func (w *world) write(rows ...plexus.Row) {
	w.Helper()
	if _, err := w.doc.Apply(w.Context(), plexus.Tx{Writer: ada, Writes: rows}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) answer(session, leaf string, yes bool, comment string) {
	w.Helper()
	var rows []plexus.Row
	if comment != "" {
		rows = append(rows, plexus.Field{Session: session, Job: leaf, Name: plexus.ApprovalComment, Value: plexus.Text(comment)})
	}
	w.write(append(rows, plexus.Field{Session: session, Job: leaf, Name: plexus.Approved, Value: plexus.Bool(yes)})...)
}

// await waits until a field of a job is written, and gives its value.
func (w *world) await(session, id, name string) string {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	value, err := awaited(ctx, w.doc, session, id, name)
	if err != nil {
		w.Fatalf("waiting for %s of %s: %v\n%s", name, id, err, w.story(session))
	}
	return value
}

func awaited(ctx context.Context, doc *plexus.Store, session, id, name string) (string, error) {
	for rows, err := range doc.Watch(ctx, 0, plexus.Filter{Session: session}) {
		if err != nil {
			return "", err
		}
		for _, row := range rows {
			if f, ok := row.(plexus.Field); ok && f.Job == id && f.Name == name {
				return f.Value, nil
			}
		}
	}
	return "", ctx.Err()
}

// asked waits until a person is asked about a leaf.
func (w *world) asked(session, id string) {
	w.Helper()
	w.await(session, id, plexus.PolicyResult)
	if needs, err := w.kernel.NeedsHuman(w.Context(), session, id); err != nil || !needs {
		w.Fatalf("%s asks nobody: %v\n%s", id, err, w.story(session))
	}
}

func (w *world) outcome(session, id string) string {
	w.Helper()
	outcome := w.await(session, id, plexus.OutcomeJSON)
	w.await(session, id, plexus.Completed)
	return outcome
}

func (w *world) story(session string) (text string) {
	rows, _ := w.doc.Since(context.Background(), 0, 0)
	for _, row := range rows {
		if row.In() == session {
			text += fmt.Sprintf("%d %s", row.Stamped().Rev, row)
			switch r := row.(type) {
			case plexus.Field:
				text += " = " + r.Value
			case plexus.Register:
				text += " = " + r.Value
			}
			text += "\n"
		}
	}
	return text
}

func (w *world) file(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.work, name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *world) read(name string) string {
	text, err := os.ReadFile(filepath.Join(w.work, name))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// rounds is a script: the n-th reply to whoever has heard n-1 of them already.
func rounds(replies ...scripted.Reply) func(int, scripted.Ask) scripted.Reply {
	return func(_ int, a scripted.Ask) scripted.Reply {
		said := 0
		for _, m := range a.Messages {
			if m.Role == "assistant" {
				said++
			}
		}
		if said >= len(replies) {
			return scripted.Reply{Text: "There is nothing more."}
		}
		return replies[said]
	}
}

func call(id, name, arguments string) scripted.Call {
	return scripted.Call{ID: id, Name: name, Arguments: arguments}
}

// told is what was asked last, without what differs from one API to the other.
func (w *world) told() []string { return tellMessages(w.server.Asked()) }

func tellMessages(asks []scripted.Ask) (lines []string) {
	if len(asks) == 0 {
		return nil
	}
	for _, m := range asks[len(asks)-1].Messages {
		for _, p := range m.Parts {
			lines = append(lines, strings.TrimSpace(m.Role+" "+m.Of)+": "+p)
		}
		for _, c := range m.Calls {
			lines = append(lines, fmt.Sprintf("call %s: %s %s", c.ID, c.Name, c.Arguments))
		}
	}
	return lines
}

var apis = []model.API{model.Anthropic, model.OpenAI}

func has(lines []string, text string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, text) })
}
