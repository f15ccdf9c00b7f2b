package api_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/plexus"
)

// A long queue comes in pages, in the order of all of it, with how many there
// are.
func TestQueueInPages(t *testing.T) {
	w := newWorld(t, api.Options{})
	for _, session := range []string{"one", "two", "three", "four"} {
		w.session(session, "manual")
	}
	as := func(by string) *client.Client {
		c := client.New(w.socket, client.Options{Token: by})
		t.Cleanup(c.Close)
		return c
	}
	ask := func(by, session string, n int) {
		t.Helper()
		c := as(by)
		for i := range n {
			id := fmt.Sprint(session, i)
			if _, err := c.Admit(t.Context(), session, wire.NewJob{ID: id, Name: "Bash", Arguments: bash("other")}); err != nil {
				t.Fatal(err)
			}
			w.until(session, id, plexus.PolicyResult)
		}
	}
	ask("hook", "two", 3)
	ask("hook", "one", 4)
	ask("spy", "four", 1)
	ask("ada", "three", 2)
	// In turn: that of hook, whose older session is the oldest of all and takes turns with
	// its other, then nobody's, then spy's.
	want := []string{"one0", "three0", "four0", "two0", "three1", "one1", "two1", "one2", "two2", "one3"}
	for _, c := range []struct {
		session     string
		skip, limit int
		want        []string
		waiting     int
	}{
		{"", 0, 0, want, 10},
		{"", 0, 2, want[:2], 10},
		{"", 2, 2, want[2:4], 10},
		{"", 8, 2, want[8:], 10},
		{"", 9, 7, want[9:], 10},
		{"", 10, 1, nil, 10},
		{"", 11, 1, nil, 10},
		{"two", 1, 1, []string{"two1"}, 3},
		{"four", 1, 1, nil, 1},
	} {
		q, err := w.client.QueuePage(t.Context(), c.session, c.skip, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		more := c.limit > 0 && c.skip+c.limit < c.waiting
		if got := idsOf(q); !slices.Equal(got, c.want) || q.Waiting != c.waiting || q.More != more || (q.Next != "") != more {
			t.Errorf("%q %d %d: got %v of %d, more %v, next %q; want %v of %d, more %v", c.session, c.skip, c.limit, got, q.Waiting, q.More, q.Next, c.want, c.waiting, more)
		}
	}

	// Whoever reads on sees the rest of what was there, whatever is answered and asked
	// meanwhile.
	first, err := w.client.QueuePage(t.Context(), "", 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one/one0", "two/two0", "four/four0"} {
		session, job, _ := strings.Cut(name, "/")
		if _, err := w.client.Answer(t.Context(), session, job, false, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := as("spy").Admit(t.Context(), "four", wire.NewJob{ID: "four1", Name: "Bash", Arguments: bash("other")}); err != nil {
		t.Fatal(err)
	}
	w.until("four", "four1", plexus.PolicyResult)
	got := idsOf(first)
	for next := first.Next; next != ""; {
		page, err := w.client.QueueNext(t.Context(), "", next, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Queue) > 2 || page.Waiting != 10 {
			t.Errorf("a page: %v of %d", idsOf(page), page.Waiting)
		}
		got, next = append(got, idsOf(page)...), page.Next
	}
	if rest := slices.DeleteFunc(slices.Clone(want), func(id string) bool { return id == "two0" }); !slices.Equal(got, rest) {
		t.Errorf("read on: %v, want %v", got, rest)
	}

	kept, _, _ := strings.Cut(first.Next, ".")
	for _, c := range []struct{ why, session, next string }{
		{"unknown", "", "none.0"},
		{"no-place", "", kept},
		{"beyond", "", kept + ".11"},
		{"before-the-first", "", kept + ".-1"},
		{"of-all-for-a-session", "one", first.Next},
	} {
		if _, err := w.client.QueueNext(t.Context(), c.session, c.next, 1); !errors.Is(err, wire.Stale) {
			t.Errorf("%s: %v", c.why, err)
		}
	}
	for range 8 {
		if _, err := w.client.QueuePage(t.Context(), "", 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.client.QueueNext(t.Context(), "", first.Next, 1); !errors.Is(err, wire.Stale) {
		t.Errorf("kept for ever: %v", err)
	}
}

func idsOf(q wire.Queue) (ids []string) {
	for _, job := range q.Queue {
		ids = append(ids, job.ID)
	}
	return ids
}

// The queue has every leaf once, those of a session in their order, and no agent
// comes again before all others that have any left; nor a session of an agent
// before its others.
func TestQueueIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []api.Waiting
		left, agentOf := make(map[string][]string), make(map[string]string)
		leftOf := make(map[string]int) // of an agent
		for i, n := range rapid.SliceOfN(rapid.IntRange(1, 6), 0, 8).Draw(t, "sizes") {
			id := fmt.Sprint("s", i)
			w := api.Waiting{Agent: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "agent"), Session: id, Made: plexus.Rev(rapid.IntRange(0, 1000).Draw(t, "made")*8 + i)}
			for j := range n {
				w.Leaves = append(w.Leaves, fmt.Sprint(id, "/", j))
			}
			agentOf[id], left[id] = w.Agent, w.Leaves
			if w.Agent == "" {
				agentOf[id] = id
			}
			leftOf[agentOf[id]] += n
			all = append(all, w)
		}
		taken, takenOf := make(map[string]int), make(map[string]int)
		for _, p := range api.Fair(all) {
			agent := agentOf[p.Session]
			if len(left[p.Session]) == 0 || left[p.Session][0] != p.Job {
				t.Fatalf("%v is not the next of its session", p)
			}
			for other, n := range leftOf {
				if n > 0 && takenOf[other] < takenOf[agent] {
					t.Fatalf("%v comes before one of %s", p, other)
				}
			}
			for other, leaves := range left {
				if len(leaves) > 0 && agentOf[other] == agent && taken[other] < taken[p.Session] {
					t.Fatalf("%v comes before one of session %s", p, other)
				}
			}
			left[p.Session] = left[p.Session][1:]
			taken[p.Session]++
			takenOf[agent]++
			leftOf[agent]--
		}
		for session, leaves := range left {
			if len(leaves) > 0 {
				t.Fatalf("%s has %v left", session, leaves)
			}
		}
	})
}
