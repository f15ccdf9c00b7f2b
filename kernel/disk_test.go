package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assent/job"
	"assent/plexus"
)

// faulty is a document whose writes fail while fault is set.
type faulty struct {
	*plexus.Store
	fault atomic.Pointer[error]
}

func (f *faulty) Apply(ctx context.Context, tx plexus.Tx) (plexus.Rev, error) {
	if err := f.fault.Load(); err != nil {
		return 0, *err
	}
	return f.Store.Apply(ctx, tx)
}

// A document that cannot be written refuses calls and allows nothing; when it
// can be written again, what waits goes on.
func TestADiskThatFails(t *testing.T) {
	for _, fault := range []error{plexus.ErrFull, plexus.ErrReadOnly, plexus.ErrBusy} {
		t.Run(fault.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var f faulty
				var ran log
				w := newWorldOver(t, Options{Registry: registry(ran.done)}, func(doc *plexus.Store) Document {
					f.Store = doc
					return &f
				})
				w.session("s", "manual")
				w.call("s", "waits", "other")
				still()

				f.fault.Store(&fault)
				if _, err := w.Admit(t.Context(), NewCall{Session: "s", Name: "Bash"}, host); !errors.Is(err, fault) {
					t.Error("admit:", err)
				}
				// Whoever still can write answers; the kernel cannot follow.
				w.answer("s", "waits", true)
				time.Sleep(10 * time.Minute)
				still()
				if calls := ran.all(); len(calls) > 0 {
					t.Errorf("ran %v", calls)
				}
				for _, session := range []string{"", "s"} {
					if got := w.doc.Presence(session)[DocumentError]; !strings.Contains(got, fault.Error()) {
						t.Errorf("session %q says %q", session, got)
					}
				}

				f.fault.Store(nil)
				time.Sleep(2 * retryMost)
				still()
				if got := w.fields("s", "waits")[plexus.OutcomeJSON]; got != `{"ok":true,"text":"done"}` {
					t.Error("outcome", got)
				}
				if calls := ran.all(); len(calls) != 1 || calls[0].Resumed {
					t.Errorf("ran %v", calls)
				}
				for _, session := range []string{"", "s"} {
					if got := w.doc.Presence(session)[DocumentError]; got != "" {
						t.Errorf("session %q still says %q", session, got)
					}
				}
			})
		})
	}
}

// Between the true and the body, the word that it begins cannot be written:
// the body waits for it, and can be cancelled.
func TestNoBodyBeforeItsWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f wordless
		f.off.Store(true)
		var ran log
		w := newWorldOver(t, Options{Registry: registry(ran.done)}, func(doc *plexus.Store) Document {
			f.Store = doc
			return &f
		})
		w.session("s", "manual")
		w.call("s", "a", "let it")
		w.call("s", "b", "let it")
		time.Sleep(time.Minute)
		still()
		if w.fields("s", "a")[plexus.OrchestrationResult] != plexus.True || len(ran.all()) > 0 {
			t.Error("not licensed, or run:", ran.all())
		}
		if err := w.Cancel(t.Context(), "s", "a", ada); err != nil {
			t.Error(err)
		}
		still()
		if got := w.fields("s", "a")[plexus.OutcomeJSON]; got != cancelReceipt {
			t.Error("outcome", got)
		}
		f.off.Store(false)
		time.Sleep(2 * retryMost)
		still()
		if calls := ran.all(); len(calls) != 1 || calls[0].Job != "b" {
			t.Errorf("ran %v", calls)
		}
	})
}

// wordless is a document that cannot take bodyStarted.
type wordless struct {
	*plexus.Store
	off atomic.Bool
}

func (f *wordless) Apply(ctx context.Context, tx plexus.Tx) (plexus.Rev, error) {
	for _, row := range tx.Writes {
		if field, ok := row.(plexus.Field); ok && field.Name == plexus.BodyStarted && f.off.Load() {
			return 0, fmt.Errorf("no room: %w", plexus.ErrFull)
		}
	}
	return f.Store.Apply(ctx, tx)
}

// A document that cannot be read at first is read later.
func TestASessionThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f unread
		f.left.Store(5)
		w := newWorldOver(t, Options{Registry: registry(ok)}, func(doc *plexus.Store) Document {
			f.Store = doc
			return &f
		})
		w.session("s", "manual")
		w.call("s", "a", "let it")
		still()
		if got := w.doc.Presence("s")[DocumentError]; got == "" {
			t.Error("nothing is said")
		}
		time.Sleep(10 * time.Minute)
		still()
		if got := w.fields("s", "a")[plexus.OutcomeJSON]; got != `{"ok":true}` {
			t.Error("outcome", got)
		}
	})
}

type unread struct {
	*plexus.Store
	left atomic.Int64
}

func (f *unread) Open(ctx context.Context, id string) (plexus.Snapshot, error) {
	if f.left.Add(-1) >= 0 {
		return plexus.Snapshot{}, errors.New("read error")
	}
	return f.Store.Open(ctx, id)
}

// After Close there is nothing left: no goroutine, no open file.
func TestCloseLeavesNothing(t *testing.T) {
	m := newMachine(t)
	m.put(m.Operator, "version: 1\nrun: {allow: [let *]}\n")
	m.Files.Close()
	files := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("open files are not listed here")
		}
		return len(entries)
	}
	round := func() {
		m.open()
		block := make(chan struct{})
		w := newWorld(t, Options{Policies: m.Files, Registry: registry(func(ctx context.Context, call job.Call) (job.Outcome, error) {
			if strings.Contains(string(call.Arguments), "hold") {
				close(block)
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return job.Text("done"), nil
		})})
		for _, id := range []string{"a", "b"} {
			w.session(id, "auto")
			w.call(id, "waits", "other")
			w.call(id, "runs", "let it")
			w.admit(NewCall{Session: id, ID: "outside", Name: "Bash", Arguments: bash("let it")}, hook)
			w.outcome(id, "runs")
			w.await(id, "waits", plexus.JudgeFail(1))
		}
		w.call("a", "holds", "let hold")
		<-block
		w.stop()
		m.Files.Close()
	}
	round()
	goroutines, open := runtime.NumGoroutine(), files()
	for range 5 {
		round()
	}
	// database/sql ends its goroutine after Close returned.
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines, there were %d\n%s", n, goroutines, stacks[:runtime.Stack(stacks, true)])
	}
	if n := files(); n > open {
		t.Errorf("%d open files, there were %d", n, open)
	}
}

// A session that waits costs no goroutine, one with nothing open costs nothing.
func TestWhatWaitsCostsNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Registry: registry(ok)})
		still()
		before := runtime.NumGoroutine()
		for i := range 20 {
			id := fmt.Sprint("s", i)
			w.session(id, "manual")
			for range 20 {
				w.admit(NewCall{Session: id, Name: "Bash", Kind: job.SystemTool, Arguments: bash("other")}, host)
			}
			w.session("idle"+id, "manual")
			w.call("idle"+id, "j", "let it")
		}
		still()
		if n := runtime.NumGoroutine(); n > before+2 {
			t.Errorf("%d goroutines more", n-before)
		}
		if got := w.Status(); got.Sessions != 20 || got.Unsettled != 400 || got.Asking != 400 {
			t.Errorf("status %+v", got)
		}
	})
}
