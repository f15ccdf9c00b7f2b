package api_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"assent/front/api"
	"assent/plexus"
)

// A long queue comes in pages, in the order of all of it, with how many there
// are.
func TestQueueInPages(t *testing.T) {
	w := newWorld(t, api.Options{})
	var want []string
	for _, session := range []string{"one", "two", "three"} {
		w.session(session, "manual")
	}
	// Those of an older session come first, whichever asks first.
	for _, session := range []string{"two", "one"} {
		for i := range 3 {
			id := fmt.Sprint(session, i)
			w.admit(session, id, "other")
			w.until(session, id, plexus.PolicyResult)
		}
	}
	for _, session := range []string{"one", "two"} {
		for i := range 3 {
			want = append(want, fmt.Sprint(session, i))
		}
	}
	for _, c := range []struct {
		session     string
		skip, limit int
		want        []string
		waiting     int
	}{
		{"", 0, 0, want, 6},
		{"", 0, 2, want[:2], 6},
		{"", 2, 2, want[2:4], 6},
		{"", 4, 2, want[4:], 6},
		{"", 5, 7, want[5:], 6},
		{"", 6, 1, nil, 6},
		{"two", 1, 1, want[4:5], 3},
		{"three", 0, 0, nil, 0},
	} {
		q, err := w.client.QueuePage(t.Context(), c.session, c.skip, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, job := range q.Queue {
			got = append(got, job.ID)
		}
		more := c.limit > 0 && c.skip+c.limit < c.waiting
		if !slices.Equal(got, c.want) || q.Waiting != c.waiting || q.More != more {
			t.Errorf("%q %d %d: got %v of %d, more %v; want %v of %d, more %v", c.session, c.skip, c.limit, got, q.Waiting, q.More, c.want, c.waiting, more)
		}
	}
}

// However a queue is cut into pages, they are all of it, once and in order.
func TestPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []api.Waiting
		var want []string
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, 5), 0, 6).Draw(t, "sizes") {
			w := api.Waiting{}
			for j := range n {
				w.Leaves = append(w.Leaves, fmt.Sprint(i, "/", j))
			}
			want = append(want, w.Leaves...)
			all = append(all, w)
		}
		size := rapid.IntRange(1, 7).Draw(t, "page")
		var got []string
		for skip := 0; skip < len(want); skip += size {
			n := 0
			for _, leaves := range api.Page(all, skip, size) {
				got, n = append(got, leaves...), n+len(leaves)
			}
			if n > size {
				t.Fatalf("a page of %d has %d", size, n)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
