package plexus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A disk's sync takes what it takes; what the document costs is told beside a
// bare one of the same run.

// BenchmarkDurableField writes a field, then 300 bytes with a bare fsync, in
// turns, and reports the medians and their ratio (goal: 1.5).
func BenchmarkDurableField(b *testing.B) {
	s := newStore(b)
	must(b, s, host, 0, Session{ID: "s"})
	f, err := os.Create(filepath.Join(b.TempDir(), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	bytes := make([]byte, 300)
	var field, bare []time.Duration
	n := 0
	for b.Loop() {
		b.StopTimer()
		id := strconv.Itoa(n)
		n++
		must(b, s, host, 0, Job{Session: "s", ID: id, Name: "Bash"})
		start := time.Now()
		if _, err := f.Write(bytes); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		bare = append(bare, time.Since(start))
		b.StartTimer()
		start = time.Now()
		must(b, s, host, 0, Field{Session: "s", Job: id, Name: PolicyResult, Value: `"ask"`})
		field = append(field, time.Since(start))
	}
	mid := func(d []time.Duration) time.Duration {
		slices.Sort(d)
		return d[len(d)/2]
	}
	b.ReportMetric(float64(mid(field).Microseconds()), "µs-p50")
	b.ReportMetric(float64(mid(bare).Microseconds()), "µs-bare-fsync-p50")
	b.ReportMetric(float64(mid(field))/float64(mid(bare)), "x-fsync")
}

// BenchmarkTransactions writes four fields in a transaction from many writers
// at once and reports transactions a second (goal: 4,000 at 16 writers).
func BenchmarkTransactions(b *testing.B) {
	for _, writers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			var commits atomic.Int64 // each asks for the time once
			s, err := Open(filepath.Join(b.TempDir(), "document"), Options{Now: func() time.Time { commits.Add(1); return time.Now() }})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			must(b, s, host, 0, Session{ID: "s"})
			jobs := make([]Row, 0, b.N)
			for i := range b.N {
				jobs = append(jobs, Job{Session: "s", ID: strconv.Itoa(i), Name: "Bash"})
			}
			for chunk := range slices.Chunk(jobs, 1000) {
				must(b, s, host, 0, chunk...)
			}
			var next atomic.Int64
			var group sync.WaitGroup
			commits.Store(0)
			b.ResetTimer()
			for range writers {
				group.Go(func() {
					for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
						f := func(name, value string) Field {
							return Field{Session: "s", Job: strconv.Itoa(i), Name: name, Value: value}
						}
						_, err := s.Apply(context.Background(), Tx{Writer: host, Writes: []Row{
							f(PolicyResult, `"ask"`), f(PolicyMessage, `"runs a command"`), f(Paths, `["a"]`), f(Effects, `[{"run":"ls"}]`)}})
						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tx/s")
			b.ReportMetric(float64(b.N)/float64(commits.Load()), "tx/sync")
		})
	}
}

// fill writes a document of a session with leaves of four fields each.
func fill(t testing.TB, s *Store, session string, leaves int) {
	t.Helper()
	must(t, s, host, 0, Session{ID: session})
	for from := 0; from < leaves; from += 2000 {
		var rows []Row
		for i := from; i < min(from+2000, leaves); i++ {
			id := strconv.Itoa(i)
			f := func(name, value string) Field { return Field{Session: session, Job: id, Name: name, Value: value} }
			rows = append(rows, Job{Session: session, ID: id, Name: "Bash", Arguments: `{"command":"make test"}`},
				f(PolicyResult, `"ask"`), f(PolicyMessage, `"no rule applies"`), f(Paths, `["a"]`), f(Effects, `[{"run":"make"}]`))
		}
		must(t, s, host, 0, rows...)
	}
}

// BenchmarkOpen opens a document of 600,000 fields (goal: 0.3 s, and less than
// 60 MB resident). Until its chain is read whole, beside whatever else goes on,
// nothing is licensed.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "document")
	s, err := Open(path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 150 {
		fill(b, s, "s"+strconv.Itoa(i), 1000)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	var trusted time.Duration
	for b.Loop() {
		start := time.Now()
		s, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := s.Unsettled(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Trusted(b.Context()); err != nil {
			b.Fatal(err)
		}
		trusted += time.Since(start)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(trusted.Seconds()/float64(b.N)*1000, "ms/trusted")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1000, "ms/open")
	b.ReportMetric(residentOfOpening(b, path), "MB-resident")
}

// BenchmarkQueue reads a session of 10,000 waiting leaves, as a kernel does
// that starts.
func BenchmarkQueue(b *testing.B) {
	s := newStore(b)
	fill(b, s, "s", 10000)
	for b.Loop() {
		snap, err := s.Session(b.Context(), "s")
		if err != nil {
			b.Fatal(err)
		}
		for _, job := range snap.Jobs {
			if _, err := snap.Leaf(job); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1000, "ms/session")
}

// BenchmarkVerify reads the chain of 50,000 rows.
func BenchmarkVerify(b *testing.B) {
	s := newStore(b)
	fill(b, s, "s", 10000)
	for b.Loop() {
		if _, err := s.Verify(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1000, "ms/verify")
}

// resident is the memory of this process that is in RAM, in MB; 0 where the
// system does not tell.
func resident() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				return 0
			}
			return float64(kb) / 1024
		}
	}
	return 0
}
