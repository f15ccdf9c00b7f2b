package kernel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"assent/floor"
	"assent/job"
	"assent/plexus"
)

// A life is a kernel over the document of a scratch folder, with bodies that
// write down what they do and people who answer by a fixed rule. It may end at
// any moment; the next life goes on in the same folder.
//
// What a call does is in its command: "let" is allowed and "never" blocked by
// the floor; "yes", "no" and "cancel" are what a person does about it; "hold"
// is a body that runs until it is cancelled.
type life struct {
	dir  string
	doc  *plexus.Store
	from plexus.Rev // where the document ended when it was opened
	k    *Kernel
	*witness

	mu    sync.Mutex
	calls map[string]plexus.Job    // by session and id
	open  map[string]bool          // not completed
	wait  map[string]chan struct{} // closed when completed
	acts  sync.WaitGroup
}

// witness is the document as a life uses it. It writes down what was
// acknowledged, and calls point before and after every write.
type witness struct {
	*plexus.Store
	acks  *os.File
	point func(string)
}

func (w *witness) Apply(ctx context.Context, tx plexus.Tx) (plexus.Rev, error) {
	w.point("before")
	rev, err := w.Store.Apply(ctx, tx)
	if err == nil {
		var b bytes.Buffer
		for _, row := range tx.Writes {
			if f, ok := row.(plexus.Field); ok {
				line(&b, ack{f.Session, f.Job, f.Name, f.Value})
			}
			if j, ok := row.(plexus.Job); ok {
				line(&b, ack{j.Session, j.ID, "", ""})
			}
		}
		if _, err := w.acks.Write(b.Bytes()); err != nil {
			panic(err)
		}
	}
	w.point("after")
	return rev, err
}

// ack is a write that was acknowledged; of a job when it has no name.
type ack struct{ Session, Job, Name, Value string }

// ran is what a body wrote when it began.
type ran struct {
	Session, Job      string
	Resumed, Begun    bool
	Licensed, Written bool // what the document said: the true, and that it begins
}

func line(w io.Writer, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	_, err = w.Write(append(b, '\n'))
	if err != nil {
		panic(err)
	}
}

func appendTo(path string) *os.File {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString("\n") // ends what an earlier life left torn
	}
	if err != nil {
		panic(err)
	}
	return f
}

// begin starts a life in a folder.
func begin(dir string, point func(string)) (*life, error) {
	doc, err := plexus.Open(filepath.Join(dir, "document"), plexus.Options{})
	if err != nil {
		return nil, err
	}
	l := &life{
		dir: dir, doc: doc,
		witness: &witness{Store: doc, acks: appendTo(filepath.Join(dir, "acks")), point: point},
		calls:   make(map[string]plexus.Job), open: make(map[string]bool), wait: make(map[string]chan struct{}),
	}
	head, err := doc.Head(context.Background())
	if err != nil {
		return nil, err
	}
	l.from = head.Rev
	log := appendTo(filepath.Join(dir, "ran"))
	body := func(ctx context.Context, call job.Call) (job.Outcome, error) {
		fields, err := doc.Fields(context.Background(), call.Session, string(call.Job))
		if err != nil {
			return nil, err
		}
		r := ran{Session: call.Session, Job: string(call.Job), Resumed: call.Resumed, Begun: call.Begun}
		for _, f := range fields {
			r.Licensed = r.Licensed || f.Name == plexus.OrchestrationResult && f.Value == plexus.True
			r.Written = r.Written || f.Name == plexus.BodyStarted
		}
		line(log, r)
		if strings.Contains(string(call.Arguments), "hold") {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return job.Text("done"), nil
	}
	p, err := floor.ParsePolicy("/policy.yaml", []byte(ruled))
	if err != nil {
		return nil, err
	}
	l.k, err = Open(context.Background(), Options{
		Document: l.witness, Policies: rules{p}, Registry: registry(body),
		Prepare: func(_ context.Context, _ *floor.Floor, c floor.Call) floor.Call { return c },
	})
	return l, err
}

// end ends a life in peace.
func (l *life) end() error { return errors.Join(l.k.Close(), l.doc.Close(), l.acks.Close()) }

// people answer what waits and what comes, until done says so. They see all
// that came since the life began, some of it twice, so it does not matter when
// they start.
func (l *life) people(ctx context.Context, done func() bool) error {
	ids, _, err := l.doc.Unsettled(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		snap, err := l.doc.Open(ctx, id)
		if err != nil {
			return err
		}
		var rows []plexus.Row
		for _, j := range snap.Jobs {
			rows = append(rows, j)
		}
		for _, fields := range snap.Fields {
			for f := range maps.Values(fields) {
				rows = append(rows, f)
			}
		}
		slices.SortFunc(rows, func(a, b plexus.Row) int { return int(a.Stamped().Rev - b.Stamped().Rev) })
		l.see(ctx, rows)
	}
	defer l.acts.Wait()
	if done() {
		return nil
	}
	for rows, err := range l.doc.Watch(ctx, l.from, plexus.Filter{}) {
		if err != nil {
			return err
		}
		l.see(ctx, rows)
		if done() {
			return nil
		}
	}
	return nil
}

func key(session, id string) string { return session + "/" + id }

// see takes rows in their order.
func (l *life) see(ctx context.Context, rows []plexus.Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range rows {
		switch r := row.(type) {
		case plexus.Job:
			if !r.Sequence() {
				l.calls[key(r.Session, r.ID)] = r
				l.open[key(r.Session, r.ID)] = true
			}
		case plexus.Field:
			at := key(r.Session, r.Job)
			call, known := l.calls[at]
			if !known {
				continue
			}
			if r.Name == plexus.Completed {
				delete(l.open, at)
				if l.wait[at] != nil {
					close(l.wait[at])
					delete(l.wait, at)
				}
				continue
			}
			l.acts.Go(func() { l.act(ctx, call, r) })
		}
	}
}

// act is what a person or a client does about a row.
func (l *life) act(ctx context.Context, call plexus.Job, f plexus.Field) {
	does := func(word string) bool { return strings.Contains(call.Arguments, word) }
	switch {
	case f.Name == plexus.PolicyResult && (does("yes") || does("no ")):
		_, _ = l.Apply(ctx, plexus.Tx{Writer: ada, Writes: []plexus.Row{
			plexus.Field{Session: call.Session, Job: call.ID, Name: plexus.Approved, Value: plexus.Bool(does("yes"))},
		}})
	case f.Name == plexus.PolicyResult && does("cancel"), f.Name == plexus.BodyStarted && does("hold"):
		_ = l.k.Cancel(ctx, call.Session, call.ID, ada)
	case f.Name == plexus.OrchestrationResult && f.Value == plexus.True && call.Kind != string(job.SystemTool):
		_ = l.k.Report(ctx, call.Session, call.ID, `{"ok":true,"text":"reported"}`, call.Writer)
	}
}

// admit mints a call and gives what is closed when it is settled.
func (l *life) admit(ctx context.Context, c NewCall, by plexus.Writer) (<-chan struct{}, error) {
	at := key(c.Session, c.ID)
	settled := make(chan struct{})
	l.mu.Lock()
	l.wait[at] = settled
	l.mu.Unlock()
	_, err := l.k.Admit(ctx, c, by)
	return settled, err
}

func (l *life) unsettled() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

type fate struct {
	id, command string
	kind        job.Kind
}

// call is a call of that fate, and who mints it.
func (f fate) call(session, id string) (NewCall, plexus.Writer) {
	c := NewCall{Session: session, ID: id, Kind: f.kind, Name: "Bash", Arguments: bash(f.command)}
	switch f.kind {
	case job.Foreign:
		return c, hook
	case job.AgentMessage:
		c.Name, c.Arguments = "agent_message", nil
	}
	return c, host
}

// script is one call of every kind of fate.
var script = []fate{
	{"allowed", "let it", job.SystemTool},
	{"asked-yes", "other yes", job.SystemTool},
	{"denied-yes", "no way yes", job.SystemTool},
	{"asked-no", "other no ", job.SystemTool},
	{"blocked", "never ever", job.SystemTool},
	{"cancelled", "other cancel", job.SystemTool},
	{"held", "let hold", job.SystemTool},
	{"outside", "let it", job.Foreign},
	{"outside-yes", "other yes", job.Foreign},
	{"comm", "", job.AgentMessage},
}

// play admits the script, as far as it is not, and lives until all is settled.
func (l *life) play(ctx context.Context) error {
	_, err := l.k.CreateSession(ctx, NewSession{ID: "s", Workspace: l.dir}, ada)
	if err != nil && !errors.Is(err, plexus.ErrWritten) {
		return err
	}
	for _, c := range script {
		call, by := c.call("s", c.id)
		if _, err := l.k.Admit(ctx, call, by); err != nil && !errors.Is(err, plexus.ErrWritten) {
			return err
		}
	}
	return l.people(ctx, func() bool { return l.unsettled() == 0 })
}

// check says what is wrong with all that happened in a folder.
func check(t testing.TB, dir string) {
	t.Helper()
	doc, err := plexus.Open(filepath.Join(dir, "document"), plexus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer doc.Close()
	if _, err := doc.Verify(context.Background()); err != nil {
		t.Error("verify:", err)
	}
	rows, err := doc.Since(context.Background(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	fields := make(map[ack]bool)
	settled := make(map[string]bool)
	value := make(map[string]string)
	var leaves []string
	for _, row := range rows {
		switch r := row.(type) {
		case plexus.Job:
			fields[ack{r.Session, r.ID, "", ""}] = true
			if !r.Sequence() {
				leaves = append(leaves, key(r.Session, r.ID))
			}
		case plexus.Field:
			fields[ack{r.Session, r.Job, r.Name, r.Value}] = true
			value[key(r.Session, r.Job)+" "+r.Name] = r.Value
			if r.Name == plexus.Completed {
				settled[key(r.Session, r.Job)] = true
			}
		}
	}
	acks := 0
	each(t, filepath.Join(dir, "acks"), func(a ack) {
		acks++
		if !fields[a] {
			t.Errorf("acknowledged and lost, or changed: %+v", a)
		}
	})
	for _, leaf := range leaves {
		if !settled[leaf] {
			t.Errorf("%s is stuck", leaf)
		}
	}
	before := make(map[string]int)
	each(t, filepath.Join(dir, "ran"), func(r ran) {
		at := key(r.Session, r.Job)
		switch {
		case !r.Licensed || value[at+" "+plexus.OrchestrationResult] != plexus.True:
			t.Errorf("%s ran without a durable true", at)
		case !r.Written:
			t.Errorf("%s ran before it was written that it begins", at)
		case before[at] > 0 && !r.Resumed:
			t.Errorf("%s ran again and was not told", at)
		case before[at] > 0 && !r.Begun:
			t.Errorf("%s ran again and was told that it had not begun", at)
		}
		before[at]++
	})
	if acks == 0 || len(leaves) == 0 {
		t.Errorf("nothing happened: %d writes, %d leaves", acks, len(leaves))
	}
}

// each reads the lines of a file. The last of a life may be torn.
func each[T any](t testing.TB, path string, f func(T)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		return // no body has run
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Logf("torn: %q", lines.Text())
			continue
		}
		f(v)
	}
	if err := lines.Err(); err != nil {
		t.Error(fmt.Errorf("%s: %w", path, err))
	}
}
