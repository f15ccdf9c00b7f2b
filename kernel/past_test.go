package kernel

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"assent/job"
	"assent/plexus"
)

// somebody writes to the file past the kernel.
func (w *world) somebody(text string) {
	w.Helper()
	db, err := sql.Open("sqlite", w.path)
	if err != nil {
		w.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(w.Context(), text); err != nil {
		w.Fatal(err)
	}
}

const (
	forgedYes = `INSERT INTO field SELECT rev + 1, rev + 1, 's', 'a', 'approved', 'true', 0, 'human:ada', 0, randomblob(32) FROM head`
	forgedRun = `INSERT INTO field SELECT rev + 1, rev + 1, 's', 'a', 'orchestrationResult', 'true', rev, 'host:kernel', 0, randomblob(32) FROM head`
	forgedAll = `INSERT INTO register SELECT rev + 1, rev + 1, 's', 'standingPolicy', '"yolo"', 0, 'human:ada', 0, randomblob(32) FROM head`
)

// What somebody writes past the kernel is not acted upon, whether it runs or
// not; nobody who asks waits for ever; and it is told.
func TestADocumentWrittenPastTheKernel(t *testing.T) {
	for _, test := range []struct{ why, text string }{
		{"an answer", forgedYes}, {"a license", forgedRun}, {"a mode", forgedAll},
	} {
		for _, down := range []bool{false, true} {
			t.Run(test.why+map[bool]string{false: " while it runs", true: " while it is down"}[down], func(t *testing.T) {
				var ran log
				w := newWorld(t, Options{Registry: registry(ran.done)})
				w.session("s", "manual")
				w.call("s", "a", "other")
				w.await("s", "a", plexus.PolicyResult)
				if down {
					w.stop()
					w.somebody(test.text)
					w.start()
				} else {
					w.somebody(test.text)
				}
				if err := w.doc.Trusted(t.Context()); down && !errors.Is(err, plexus.ErrTampered) {
					t.Error("trusted:", err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				for what, f := range map[string]func() error{
					"view":   func() error { _, err := w.View(ctx, "s"); return err },
					"queue":  func() error { _, err := w.Queue(ctx, "s", ""); return err },
					"mode":   func() error { _, err := w.Assign(ctx, "s", "auto", false, ada); return err },
					"cancel": func() error { return w.Cancel(ctx, "s", "a", ada) },
					"begin":  func() error { return w.Begin(ctx, "s", "a", host) },
					"admit": func() error {
						_, err := w.Admit(ctx, NewCall{Session: "s", Kind: job.SystemTool, Name: "Bash"}, host)
						return err
					},
					"answer": func() error {
						_, err := w.doc.Apply(ctx, plexus.Tx{Writer: ada, Writes: []plexus.Row{plexus.Field{Session: "s", Job: "a", Name: plexus.Approved, Value: plexus.True}}})
						return err
					},
				} {
					if err := f(); !errors.Is(err, plexus.ErrTampered) {
						t.Errorf("%s: got %v, want %v", what, err, plexus.ErrTampered)
					}
				}
				for presence := range w.doc.WatchPresence(ctx, "") {
					if strings.Contains(presence[DocumentError], "assent down") {
						break
					}
				}
				if ctx.Err() != nil {
					t.Error("nobody is told")
				}
				w.stop()
				if calls := ran.all(); len(calls) > 0 {
					t.Errorf("ran %v", calls)
				}
			})
		}
	}
}
