package kernel

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"assent/floor"
	"assent/job"
	"assent/plexus"
)

var (
	ada  = plexus.Writer{Role: plexus.Human, Name: "ada"}
	hook = plexus.Writer{Role: plexus.Agent, Name: "hook"}
	host = plexus.Writer{Role: plexus.Host, Name: "test"}
)

// registry runs every system tool by one function.
func registry(body job.Body) *job.Registry {
	r := new(job.Registry)
	if err := r.RegisterExecutor(job.SystemTool, nil, body); err != nil {
		panic(err)
	}
	return r
}

func ok(context.Context, job.Call) (job.Outcome, error) { return job.Outcome(`{"ok":true}`), nil }

// rules is a floor whose answers follow from the command: "allow x", "ask x".
type rules struct{ operator *floor.Policy }

const ruled = `version: 1
run:
  allow: [let *]
  deny: [no *]
  block: [never *]
`

func rulesOf(t testing.TB) rules {
	t.Helper()
	p, err := floor.ParsePolicy("/policy.yaml", []byte(ruled))
	if err != nil {
		t.Fatal(err)
	}
	return rules{p}
}

func (r rules) Layers(string) Layers             { return Layers{Floor: floor.Floor{Operator: r.operator}} }
func (rules) Notify(string, func()) (end func()) { return func() {} }

// world is a kernel over a document in a scratch folder.
type world struct {
	testing.TB
	path string
	dir  string
	doc  *plexus.Store
	*Kernel
	opts     Options
	policies *turning                     // where they turn
	over     func(*plexus.Store) Document // what the kernel sees of the document
}

func newWorld(t testing.TB, opts Options) *world {
	t.Helper()
	return newWorldOver(t, opts, func(doc *plexus.Store) Document { return doc })
}

// newWorldOver is a world whose kernel sees the document through another.
func newWorldOver(t testing.TB, opts Options, over func(*plexus.Store) Document) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{TB: t, path: filepath.Join(dir, "document"), dir: dir, opts: opts, over: over}
	if w.opts.Policies == nil {
		w.opts.Policies = rulesOf(t)
	}
	if w.opts.Prepare == nil {
		w.opts.Prepare = func(_ context.Context, _ *floor.Floor, call floor.Call) floor.Call { return call }
	}
	if w.opts.Registry == nil {
		w.opts.Registry = new(job.Registry)
	}
	_ = w.opts.Registry.RegisterSequence(job.SessionTurn, job.AgentTurn, idle) // a test may have its own
	w.start()
	t.Cleanup(w.stop)
	return w
}

// idle is an agent that does nothing.
func idle(ctx context.Context, _ job.Call) (job.Outcome, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (w *world) start() {
	w.Helper()
	doc, err := plexus.Open(w.path, plexus.Options{})
	if err != nil {
		w.Fatal(err)
	}
	w.doc = doc
	opts := w.opts
	opts.Document = w.over(doc)
	if w.Kernel, err = Open(context.Background(), opts); err != nil {
		doc.Close()
		w.Fatal(err)
	}
}

func (w *world) stop() {
	if w.Kernel == nil {
		return
	}
	if err := errors.Join(w.Kernel.Close(), w.doc.Close()); err != nil {
		w.Error(err)
	}
	w.Kernel = nil
}

func (w *world) restart() {
	w.Helper()
	w.stop()
	w.start()
}

func (w *world) session(id, mode string) {
	w.Helper()
	if _, err := w.CreateSession(w.Context(), NewSession{ID: id, Mode: mode, Workspace: w.dir}, ada); err != nil {
		w.Fatal(err)
	}
}

// call admits a bash call of the host's own.
func (w *world) call(session, id, command string) {
	w.Helper()
	w.admit(NewCall{Session: session, ID: id, Kind: job.SystemTool, Name: "Bash", Arguments: bash(command)}, host)
}

func bash(command string) []byte { return fmt.Appendf(nil, `{"command":%s}`, plexus.Text(command)) }

func (w *world) admit(c NewCall, by plexus.Writer) {
	w.Helper()
	if _, err := w.Admit(w.Context(), c, by); err != nil {
		w.Fatal(err)
	}
}

func (w *world) write(by plexus.Writer, rows ...plexus.Row) {
	w.Helper()
	if _, err := w.doc.Apply(w.Context(), plexus.Tx{Writer: by, Writes: rows}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) answer(session, leaf string, yes bool) {
	w.Helper()
	w.write(ada, plexus.Field{Session: session, Job: leaf, Name: plexus.Approved, Value: plexus.Bool(yes)})
}

// await waits until a field is written and gives its value.
func (w *world) await(session, leaf, name string) string {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for rows, err := range w.doc.Watch(ctx, 0, plexus.Filter{Session: session}) {
		if err != nil {
			w.Fatalf("waiting for %s of %s: %v\n%s", name, leaf, err, w.story(session))
		}
		for _, row := range rows {
			if f, ok := row.(plexus.Field); ok && f.Job == leaf && f.Name == name {
				return f.Value
			}
		}
	}
	return ""
}

// awaitAll waits until so many jobs have a field.
func (w *world) awaitAll(session, name string, n int) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for rows, err := range w.doc.Watch(ctx, 0, plexus.Filter{Session: session}) {
		if err != nil {
			w.Fatalf("waiting for %s: %d are missing: %v", name, n, err)
		}
		for _, row := range rows {
			if f, ok := row.(plexus.Field); ok && f.Name == name {
				n--
			}
		}
		if n <= 0 {
			return
		}
	}
}

// outcome waits until the leaf is settled.
func (w *world) outcome(session, leaf string) string {
	w.Helper()
	w.await(session, leaf, plexus.Completed)
	return w.fields(session, leaf)[plexus.OutcomeJSON]
}

func (w *world) fields(session, leaf string) map[string]string {
	w.Helper()
	fields, err := w.doc.Fields(context.Background(), session, leaf)
	if err != nil {
		w.Fatal(err)
	}
	found := make(map[string]string)
	for _, f := range fields {
		found[f.Name] = f.Value
	}
	return found
}

// story is what the document holds of a session.
func (w *world) story(session string) (text string) {
	rows, _ := w.doc.Since(context.Background(), 0, 0)
	for _, row := range rows {
		if row.In() == session {
			text += fmt.Sprintf("%d %s", row.Stamped().Rev, row)
			if f, ok := row.(plexus.Field); ok {
				text += " = " + f.Value
			}
			text += "\n"
		}
	}
	return text
}

// log is what bodies did.
type log struct {
	mu    sync.Mutex
	calls []job.Call
}

// done is a body that is noted and does nothing else.
func (l *log) done(_ context.Context, call job.Call) (job.Outcome, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, call)
	return job.Text("done"), nil
}

func (l *log) all() []job.Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[:len(l.calls):len(l.calls)]
}
