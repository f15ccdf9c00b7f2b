package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assent/job"
	"assent/plexus"
)

// stored makes a document of sessions with so many leaves each that wait for
// a person.
func stored(b *testing.B, dir string, sessions, leaves int) {
	b.Helper()
	doc, err := plexus.Open(filepath.Join(dir, "document"), plexus.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer doc.Close()
	write := func(rows []plexus.Row) {
		if _, err := doc.Apply(b.Context(), plexus.Tx{Writer: host, Writes: rows}); err != nil {
			b.Fatal(err)
		}
	}
	var rows []plexus.Row
	for s := range sessions {
		id := "s" + strconv.Itoa(s)
		rows = append(rows, plexus.Session{ID: id, Workspace: dir, Cwd: dir})
		for l := range leaves {
			leaf := strconv.Itoa(l)
			f := func(name, value string) plexus.Field {
				return plexus.Field{Session: id, Job: leaf, Name: name, Value: value}
			}
			rows = append(rows, plexus.Job{Session: id, ID: leaf, Kind: string(job.SystemTool), Name: "Bash", Arguments: string(bash("make " + leaf))},
				f(plexus.PolicyResult, `"ask"`), f(plexus.PolicyMessage, `"Asks first: no rule names this command."`), f(plexus.Paths, `[]`),
				f(plexus.Explanation, `{"result":"ask","cluster":"bash","hatch":false}`))
			if len(rows) > 4000 {
				write(rows)
				rows = nil
			}
		}
	}
	if len(rows) > 0 {
		write(rows)
	}
}

// opening is what a process tells of itself that opens a document with a
// kernel.
type opening struct {
	Open, Queue time.Duration // until every queue can be read; one queue
	Resident    float64       // MB, and
	Judged      float64       // when a call was judged by the floor that ships
	Goroutines  int
}

// open is the child of [BenchmarkProcess].
func open(dir string) error {
	start := time.Now()
	doc, err := plexus.Open(filepath.Join(dir, "document"), plexus.Options{})
	if err != nil {
		return err
	}
	ctx := context.Background()
	k, err := Open(ctx, Options{Document: doc, Registry: registry(ok)})
	if err != nil {
		return err
	}
	sessions, err := doc.Sessions(ctx)
	if err != nil {
		return err
	}
	var o opening
	for _, s := range sessions {
		before := time.Now()
		if _, err := k.Queue(ctx, s.ID, ""); err != nil {
			return err
		}
		o.Queue = time.Since(before)
	}
	o.Open, o.Resident, o.Goroutines = time.Since(start), resident(), runtime.NumGoroutine()
	before := time.Now()
	if _, err := k.Queue(ctx, sessions[0].ID, ""); err != nil {
		return err
	}
	o.Queue = time.Since(before)
	head, err := doc.Head(ctx)
	if err != nil {
		return err
	}
	leaf, err := k.Admit(ctx, NewCall{Session: sessions[0].ID, Kind: job.Foreign, Name: "Bash", Arguments: bash("git status")}, hook)
	if err != nil {
		return err
	}
	if err := written(ctx, doc, head.Rev, sessions[0].ID, leaf.ID, plexus.PolicyResult); err != nil {
		return err
	}
	o.Judged = resident()
	line(os.Stdout, o)
	return errors.Join(k.Close(), doc.Close())
}

// written waits until a field is written after a rev.
func written(ctx context.Context, doc *plexus.Store, after plexus.Rev, session, leaf, name string) error {
	for rows, err := range doc.Watch(ctx, after, plexus.Filter{Session: session}) {
		if err != nil {
			return err
		}
		for _, row := range rows {
			if f, ok := row.(plexus.Field); ok && f.Job == leaf && f.Name == name {
				return nil
			}
		}
	}
	return nil
}

// resident is the memory of this process that is in RAM, in MB; 0 where the
// system does not tell.
func resident() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(l, "VmRSS:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kb) / 1024
		}
	}
	return 0
}

// BenchmarkProcess starts a process with a kernel over documents: 10,000 leaves
// that wait in one session, one in each of 1,000, and 600,000 fields of which
// nothing waits (goals: 1 s, 1 s, 0.3 s and 60 MB).
func BenchmarkProcess(b *testing.B) {
	for _, test := range []struct {
		why              string
		sessions, leaves int
		settle           bool
	}{
		{"waiting=10000", 1, 10000, false},
		{"sessions=1000", 1000, 1, false},
		{"fields=600000", 150, 572, true},
	} {
		b.Run(test.why, func(b *testing.B) {
			dir := b.TempDir()
			stored(b, dir, test.sessions, test.leaves)
			if test.settle {
				settle(b, dir, test.sessions, test.leaves)
			}
			var opens []time.Duration
			var last opening
			for b.Loop() {
				cmd := again(b, dir, lifeOpen+"=1")
				cmd.Stderr = os.Stderr
				out, err := cmd.Output()
				if err != nil {
					b.Fatal(err)
				}
				if err := json.Unmarshal(bytes.TrimSpace(out), &last); err != nil {
					b.Fatalf("%q: %v", out, err)
				}
				opens = append(opens, last.Open)
			}
			slices.Sort(opens)
			b.ReportMetric(milliseconds(opens[len(opens)/2]), "ms/start")
			b.ReportMetric(milliseconds(last.Queue), "ms/queue")
			b.ReportMetric(last.Resident, "MB-resident")
			b.ReportMetric(last.Judged, "MB-after-a-call")
			b.ReportMetric(float64(last.Goroutines), "goroutines")
		})
	}
}

// settle cancels all that [stored] made: 7 fields a leaf are stored then.
func settle(b *testing.B, dir string, sessions, leaves int) {
	b.Helper()
	doc, err := plexus.Open(filepath.Join(dir, "document"), plexus.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer doc.Close()
	for s := range sessions {
		var rows []plexus.Row
		for l := range leaves {
			for _, f := range [][2]string{{plexus.Cancelled, plexus.True}, {plexus.OutcomeJSON, `{"ok":false,"text":"cancelled"}`}, {plexus.Completed, plexus.True}} {
				rows = append(rows, plexus.Field{Session: "s" + strconv.Itoa(s), Job: strconv.Itoa(l), Name: f[0], Value: f[1]})
			}
		}
		if _, err := doc.Apply(b.Context(), plexus.Tx{Writer: host, Writes: rows}); err != nil {
			b.Fatal(err)
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
