package program_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/approval"
	"assent/job"
	"assent/kernel"
	"assent/plexus"
	"assent/program"
	"assent/toolkit"
)

var (
	ada  = plexus.Writer{Role: plexus.Human, Name: "ada"}
	host = plexus.Writer{Role: plexus.Host, Name: "test"}
)

// world is a kernel with the host's tools and programs over them.
type world struct {
	*testing.T
	dir, ws string
	doc     *plexus.Store
	k       *kernel.Kernel
	kit     *toolkit.Kit
}

// late is the kernel of a life, which is made after what runs in it.
type late chan *kernel.Kernel

func (l late) get() *kernel.Kernel {
	k := <-l
	l <- k
	return k
}

func (l late) Inside(ctx context.Context, of job.Call, c job.Inside) (job.Settled, error) {
	return l.get().Inside(ctx, of, c)
}

func newWorld(t *testing.T) *world {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: dir, ws: filepath.Join(dir, "ws")}
	if err := os.Mkdir(w.ws, 0o700); err != nil {
		t.Fatal(err)
	}
	w.start()
	t.Cleanup(w.stop)
	if _, err := w.k.CreateSession(t.Context(), kernel.NewSession{ID: "s", Mode: "manual", Workspace: w.ws}, ada); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) start() {
	w.Helper()
	tools, life := new(job.Registry), make(late, 1)
	var err error
	if w.kit, err = toolkit.Register(tools, toolkit.Options{
		Env:   []string{"PATH=" + os.Getenv("PATH")},
		Opens: func(ctx context.Context, call job.Call, path string) error { return life.get().Opens(ctx, call, path) },
	}); err != nil {
		w.Fatal(err)
	}
	err = program.Register(tools, program.Options{Host: life, Tools: []job.Tool{
		{Kind: job.SystemTool, Name: "bash", Needs: []string{"command"}},
		{Kind: job.SystemTool, Name: "read", Needs: []string{"path"}},
		{Kind: job.FileMutateTool, Name: "write", Needs: []string{"path", "content"}},
		{Kind: job.SystemTool, Name: "grep", Needs: []string{"pattern"}},
	}})
	if err != nil {
		w.Fatal(err)
	}
	if w.doc, err = plexus.Open(filepath.Join(w.dir, "document"), plexus.Options{}); err != nil {
		w.Fatal(err)
	}
	if w.k, err = kernel.Open(context.Background(), kernel.Options{Document: w.doc, Registry: tools}); err != nil {
		w.Fatal(err)
	}
	life <- w.k
}

func (w *world) stop() {
	if err := errors.Join(w.k.Close(), w.doc.Close()); err != nil {
		w.Error(err)
	}
	w.kit.Close()
}

// run mints a program.
func (w *world) run(id, expr string) {
	w.Helper()
	_, err := w.k.Admit(w.Context(), kernel.NewCall{
		Session: "s", ID: id, Kind: job.ProgrammaticJob, Name: program.Name, Arguments: []byte(`{"expr":` + plexus.Text(expr) + `}`),
	}, host)
	if err != nil {
		w.Fatal(err)
	}
}

// await waits for a field of a job.
func (w *world) await(id, name string) string {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	for rows, err := range w.doc.Watch(ctx, 0, plexus.Filter{Session: "s"}) {
		if err != nil {
			w.Fatalf("waiting for %s of %s: %v", name, id, err)
		}
		for _, row := range rows {
			if f, ok := row.(plexus.Field); ok && f.Job == id && f.Name == name {
				return f.Value
			}
		}
	}
	return ""
}

func (w *world) answer(id string, yes bool) {
	w.Helper()
	w.await(id, plexus.PolicyResult)
	_, err := w.doc.Apply(w.Context(), plexus.Tx{Writer: ada, Writes: []plexus.Row{plexus.Field{Session: "s", Job: id, Name: plexus.Approved, Value: plexus.Bool(yes)}}})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) mode(mode approval.Mode) {
	w.Helper()
	_, err := w.doc.Apply(w.Context(), plexus.Tx{Writer: ada, Writes: []plexus.Row{plexus.Register{Session: "s", Name: plexus.StandingPolicy, Value: plexus.Text(mode.String())}}})
	if err != nil {
		w.Fatal(err)
	}
}

const errand = `(define names '("a" "b" "c"))
(for-each (lambda (name)
            (tool:write (string-append name ".txt") (string-append "this is " name "\n")))
          names)
(define found (grep "this is"))
(display found)
(bash "cat *.txt >>all; wc -l <all")`

// A program in the mode yolo does all that it says, with the real tools.
func TestAnErrand(t *testing.T) {
	w := newWorld(t)
	w.mode(approval.Yolo)
	w.run("p", errand)
	got := w.await("p", plexus.OutcomeJSON)
	want := `{"ok":true,"text":"3\n","output":"a.txt:1:this is a\nb.txt:1:this is b\nc.txt:1:this is c","calls":5}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("outcome (-want +got):\n", diff)
	}
}

// Whenever the kernel ends, a later one brings the program to the same end, and nothing
// that was done is done again.
func TestAnErrandInManyLives(t *testing.T) {
	w := newWorld(t)
	w.run("p", errand)
	for i := 1; i <= 5; i++ {
		id := fmt.Sprintf("p.%d", i)
		if i == 4 { // looking needs no answer
			w.await(id, plexus.Completed)
		} else {
			w.answer(id, true)
		}
		w.stop() // wherever it is
		w.start()
	}
	got := w.await("p", plexus.OutcomeJSON)
	if want := `{"ok":true,"text":"3\n","output":"a.txt:1:this is a\nb.txt:1:this is b\nc.txt:1:this is c","calls":5}`; got != want {
		// The last command may have been under way: then it says so, and is not run again.
		all, err := os.ReadFile(filepath.Join(w.ws, "all"))
		if err != nil || len(all) > len("this is a\n")*3 {
			t.Errorf("got %s\nwant %s\nand wrote %q, %v", got, want, all, err)
		}
	}
	jobs, err := w.doc.Jobs(t.Context(), "s")
	if err != nil || len(jobs) != 6 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

// A person's no ends a program at that line, and the rest of it is not done.
func TestARefusedErrand(t *testing.T) {
	w := newWorld(t)
	w.run("p", errand)
	w.answer("p.1", true)
	w.answer("p.2", false)
	if got, want := w.await("p", plexus.OutcomeJSON), `{"ok":false,"text":"scheme_repl:3:13: write: User refused this tool use","calls":2}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if entries, err := os.ReadDir(w.ws); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
