package kernel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"assent/floor"
	"assent/job"
	"assent/plexus"
)

// The sizes that a kernel has to bear (issue 3).
const (
	manyLeaves   = 10_000 // waiting, in one session
	manySessions = 1_000  // with one waiting leaf each
)

// waiting writes a document in which so many leaves wait for a person.
func waiting(b *testing.B) (path string) {
	b.Helper()
	dir := b.TempDir()
	path = filepath.Join(dir, "document")
	doc, err := plexus.Open(path, plexus.Options{})
	if err != nil {
		b.Fatal(err)
	}
	write := func(rows ...plexus.Row) {
		if _, err := doc.Apply(b.Context(), plexus.Tx{Writer: host, Writes: rows}); err != nil {
			b.Fatal(err)
		}
	}
	leaf := func(session, id string) []plexus.Row {
		return []plexus.Row{
			plexus.Job{Session: session, ID: id, Kind: string(job.SystemTool), Name: "Bash", Arguments: string(bash("other " + id))},
			plexus.Field{Session: session, Job: id, Name: plexus.PolicyResult, Value: `"ask"`},
		}
	}
	open := func(id string) []plexus.Row {
		return []plexus.Row{
			plexus.Session{ID: id, Workspace: dir, Cwd: dir},
			plexus.Register{Session: id, Name: plexus.StandingPolicy, Value: `"manual"`},
		}
	}
	var rows []plexus.Row
	rows = append(rows, open("big")...)
	for i := range manyLeaves {
		rows = append(rows, leaf("big", fmt.Sprint("j", i))...)
	}
	write(rows...)
	rows = nil
	for i := range manySessions {
		id := fmt.Sprint("s", i)
		rows = append(append(rows, open(id)...), leaf(id, "j")...)
	}
	write(rows...)
	if err := doc.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// benchLife opens the document and a kernel over it.
func benchLife(b *testing.B, path string, body job.Body) (*plexus.Store, *Kernel) {
	b.Helper()
	doc, err := plexus.Open(path, plexus.Options{})
	if err != nil {
		b.Fatal(err)
	}
	k, err := Open(b.Context(), Options{
		Document: doc, Policies: rulesOf(b), Registry: registry(body),
		Prepare: func(_ context.Context, _ *floor.Floor, c floor.Call) floor.Call { return c },
	})
	if err != nil {
		b.Fatal(err)
	}
	return doc, k
}

// upAndRunning waits until every leaf is known to need a person.
func upAndRunning(b *testing.B, k *Kernel) {
	b.Helper()
	asking := 0
	for i := range manySessions + 1 {
		id := "big"
		if i > 0 {
			id = fmt.Sprint("s", i-1)
		}
		queue, err := k.Queue(b.Context(), id, "")
		if err != nil {
			b.Fatal(err)
		}
		asking += len(queue)
	}
	if asking != manyLeaves+manySessions {
		b.Fatal(asking, "ask")
	}
}

// A start with much that waits, until every leaf is known to need a person.
func BenchmarkStart(b *testing.B) {
	path := waiting(b)
	for b.Loop() {
		doc, k := benchLife(b, path, ok)
		upAndRunning(b, k)
		b.StopTimer()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MB")
		b.ReportMetric(float64(runtime.NumGoroutine()), "goroutines")
		k.Close()
		doc.Close()
		b.StartTimer()
	}
}

// The queue of a session in which ten thousand leaves wait.
func BenchmarkQueue(b *testing.B) {
	doc, k := benchLife(b, waiting(b), ok)
	defer doc.Close()
	defer k.Close()
	upAndRunning(b, k)
	for b.Loop() {
		queue, err := k.Queue(b.Context(), "big", "")
		if err != nil || len(queue) != manyLeaves {
			b.Fatal(len(queue), err)
		}
	}
}

// From a person's answer to the start of the body, beside all that waits. Three
// writes of the disk lie between: the answer, the true, the word that it begins.
func BenchmarkAnswerToBody(b *testing.B) {
	began := make(chan time.Time, 1)
	doc, k := benchLife(b, waiting(b), func(context.Context, job.Call) (job.Outcome, error) {
		began <- time.Now()
		return job.Text("done"), nil
	})
	defer doc.Close()
	defer k.Close()
	upAndRunning(b, k)
	var took []time.Duration
	n := 0
	for b.Loop() {
		b.StopTimer()
		if n == manyLeaves {
			b.Fatal("every leaf is answered")
		}
		id := fmt.Sprint("j", n)
		n++
		b.StartTimer()
		begin := time.Now()
		if _, err := doc.Apply(b.Context(), plexus.Tx{Writer: ada, Writes: []plexus.Row{
			plexus.Field{Session: "big", Job: id, Name: plexus.Approved, Value: plexus.True},
		}}); err != nil {
			b.Fatal(err)
		}
		took = append(took, (<-began).Sub(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "us-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "us-p99")
	b.ReportMetric(float64(took[len(took)/2])/float64(fsync(b)), "fsyncs-p50")
}

// Whole lives of calls that the floor allows, from being admitted to being
// settled, sixteen at a time, beside the fsyncs that the disk makes.
func BenchmarkCalls(b *testing.B) {
	path := filepath.Join(b.TempDir(), "document")
	doc, k := benchLife(b, path, ok)
	defer doc.Close()
	defer k.Close()
	dir := b.TempDir()
	if _, err := k.CreateSession(b.Context(), NewSession{ID: "s", Workspace: dir}, ada); err != nil {
		b.Fatal(err)
	}
	more := make(chan struct{}, 16)
	watching, stop := context.WithCancel(b.Context())
	defer stop()
	go func() {
		for rows := range doc.Watch(watching, 0, plexus.Filter{Session: "s"}) {
			for _, row := range rows {
				if f, ok := row.(plexus.Field); ok && f.Name == plexus.Completed {
					<-more
				}
			}
		}
	}()
	n := 0
	for b.Loop() {
		more <- struct{}{}
		n++
		if _, err := k.Admit(b.Context(), NewCall{Session: "s", Kind: job.SystemTool, Name: "Bash", Arguments: bash("let it")}, host); err != nil {
			b.Fatal(err)
		}
	}
	for range cap(more) { // the last are settled when all places are free
		more <- struct{}{}
	}
	rate := float64(n) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "calls/s")
	b.ReportMetric(rate*fsync(b).Seconds(), "calls/fsync")
}

// fsync is how long the disk takes to keep 300 bytes, at the median.
func fsync(b *testing.B) time.Duration {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var took []time.Duration
	for range 200 {
		begin := time.Now()
		if _, err := f.Write(make([]byte, 300)); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took[len(took)/2]
}
