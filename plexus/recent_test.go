package plexus

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Rows of any size are kept up to so many bytes, the newest, without gaps; and
// what is said to be after a rev is all that is.
func TestRecentRowsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h hub
		rev := Rev(0)
		for range rapid.IntRange(1, 30).Draw(t, "batches") {
			if rapid.IntRange(0, 9).Draw(t, "gap") == 0 {
				rev += 3
			}
			long := rapid.SampledFrom([]int{0, 100, 1 << 20, 5 << 20, 20 << 20}).Draw(t, "long")
			var rows []Row
			for range rapid.IntRange(1, 5000).Draw(t, "rows") {
				rev++
				rows = append(rows, Field{Stamp: Stamp{Rev: rev}, Value: "x"})
			}
			rows[len(rows)-1] = Field{Stamp: Stamp{Rev: rev}, Value: strings.Repeat("x", long)}
			h.tell(rows)

			bytes := 0
			for i, row := range h.recent {
				bytes += size(row)
				if want := rev - Rev(len(h.recent)-1-i); row.Stamped().Rev != want {
					t.Fatalf("row %d is rev %d, want %d", i, row.Stamped().Rev, want)
				}
			}
			if bytes != h.bytes || bytes > recentMostBytes || len(h.recent) > recentMost {
				t.Fatalf("%d rows of %d bytes (counted %d) are kept", len(h.recent), bytes, h.bytes)
			}
			after := rev - Rev(rapid.IntRange(0, 6000).Draw(t, "behind"))
			if rows, upto, ok := h.recently(after); ok && (upto != rev || Rev(len(rows)) != rev-after) {
				t.Fatalf("after %d of %d: %d rows up to %d", after, rev, len(rows), upto)
			}
		}
	})
}

// A watcher that is behind, with rows that are too large to be kept, misses none
// and is never given many of them at once.
func TestAWatcherOfLargeRowsMissesNone(t *testing.T) {
	s := newStore(t)
	const many, long = 12, 2 << 20
	must(t, s, host, 0, Session{ID: "s"})
	for i := range many {
		must(t, s, host, 0, Job{Session: "s", ID: strconv.Itoa(i), Arguments: `{"x":"` + strings.Repeat("x", long) + `"}`})
	}
	if rows, _, err := s.after(t.Context(), 0); err != nil || len(rows) > 1+pageBytes/long+1 {
		t.Errorf("%d rows at once, %v", len(rows), err)
	}
	next := Rev(1)
	for rows, err := range s.Watch(t.Context(), 0, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row.Stamped().Rev != next {
				t.Fatalf("rev %d, want %d", row.Stamped().Rev, next)
			}
			next++
		}
		if next > many+1 {
			break
		}
	}
}
