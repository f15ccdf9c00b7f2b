package session

import (
	"fmt"
	"testing"
)

// waiting is a machine with so many leaves that wait for a person.
func waiting(t testing.TB, n int) *Machine {
	t.Helper()
	rows := Rows{Upto: 1}
	for i := range n {
		id := JobID(fmt.Sprintf("j%06d", i))
		rows.Jobs = append(rows.Jobs, Job{ID: id, Ord: int64(i), Name: "Bash", Arguments: `{"command":"make"}`})
		rows.Fields = append(rows.Fields, Field{id, PolicyResult, `"ask"`}, Field{id, Explanation, `{"hatch":false}`})
	}
	m, _ := Open(Facts{Workspace: "/w"}, rows)
	if got := len(m.Queue("")); got != n {
		t.Fatalf("%d wait, want %d", got, n)
	}
	return m
}

// answer is a person's answer to a leaf, and the life of the leaf that follows.
func answer(t testing.TB, m *Machine, id JobID) {
	t.Helper()
	out := m.Step(Committed{Rows{Upto: m.Seen() + 1, Fields: []Field{{id, Approved, "true"}}}})
	if len(out.Save) != 1 {
		t.Fatalf("answered: %+v", out)
	}
	if out = m.Step(Saved{out.Save[0].ID, m.Seen() + 1}); len(out.Start) != 1 {
		t.Fatalf("licensed: %+v", out)
	}
	if out = m.Step(BodyDone{Job: id, Outcome: `{"ok":true}`}); len(out.Save) != 1 {
		t.Fatalf("ended: %+v", out)
	}
	m.Step(Saved{out.Save[0].ID, m.Seen() + 1})
}

// A leaf costs no more among ten thousand than among a few.
func TestALeafCostsTheSameInALargeSession(t *testing.T) {
	const lives = 500
	cost := func(n int) float64 {
		m, next := waiting(t, n), 0
		return testing.AllocsPerRun(lives, func() {
			answer(t, m, JobID(fmt.Sprintf("j%06d", n/2-lives/2+next)))
			next++
		})
	}
	few, many := cost(lives+10), cost(10_000)
	if many > few+2 {
		t.Errorf("%v allocations among 10,000 leaves, %v among %d", many, few, lives+10)
	}
}

func BenchmarkAnswerAmong(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m, next := waiting(b, n), 0
			for b.Loop() {
				if next == n {
					b.StopTimer()
					m, next = waiting(b, n), 0
					b.StartTimer()
				}
				answer(b, m, JobID(fmt.Sprintf("j%06d", next)))
				next++
			}
		})
	}
}

func BenchmarkOpen10000(b *testing.B) {
	for b.Loop() {
		waiting(b, 10_000)
	}
}

func BenchmarkModeAmong10000(b *testing.B) {
	m := waiting(b, 10_000)
	modes := []string{`"auto"`, `"manual"`}
	for i := 0; b.Loop(); i++ {
		rev := m.Seen() + 1
		m.Step(Committed{Rows{Upto: rev, Registers: []Register{{Name: StandingPolicy, Value: modes[i%2], Rev: rev}}}})
	}
}
