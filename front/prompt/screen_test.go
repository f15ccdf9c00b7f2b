package prompt

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"assent/floor"
	"assent/front/api/wire"
	"assent/internal/drawn"
)

var update = flag.Bool("update", false, "write the golden files anew")

// example is a prompt with a call that waits, as README.md shows it.
func example(t testing.TB, width, height int) *world {
	w := &world{m: New(Settings{Throttle: 2 * time.Second}), now: time.Date(2026, 3, 14, 14, 2, 11, 0, time.UTC)}
	w.t, _ = t.(*testing.T)
	w.about.Session = &wire.Summary{Session: wire.Session{ID: "1Q7KVXM2", Seat: "attended", Client: "Claude Code", Workspace: "/home/you/shop", Cwd: "/home/you/shop"}, CurrentPolicy: "manual"}
	policy, err := floor.ParsePolicy("/home/you/.config/assent/policy.yaml", []byte("version: 1\nwrite:\n  allow: [logs/**]\n"))
	if err != nil {
		t.Fatal(err)
	}
	rules := floor.Floor{Operator: policy}
	add := func(number int64, command string) *wire.Job {
		quoted, _ := jsontext.AppendQuote(nil, command)
		arguments := jsontext.Value(`{"command":` + string(quoted) + `}`)
		v := rules.Judge(floor.Call{Name: "Bash", Arguments: arguments, Workspace: "/home/you/shop", Home: "/home/you"})
		result := v.Result.String()
		j := &wire.Job{Session: "1Q7KVXM2", ID: fmt.Sprint("j", number), Name: "Bash", Stamp: wire.Stamp{Rev: number, Writer: "agent:claude-4242", At: w.now.Add(-4 * time.Second)},
			Arguments: arguments,
			Leaf:      &wire.Leaf{Cluster: "bash", PolicyResult: &result, PolicyMessage: &v.Message, NeedsHuman: true, Explanation: jsontext.Value(v.Explained().JSON())}}
		w.jobs = append(w.jobs, j)
		return j
	}
	add(4, "make deploy >logs/deploy.txt 2>&1")
	add(9, "git push origin main")
	w.step(Size{width, height})
	w.step(Up{Name: "you"})
	w.pass(time.Second)
	return w
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: (-want +got)\n%s", name, diff)
	}
}

func TestScreens(t *testing.T) {
	for _, size := range []struct{ width, height int }{{40, 24}, {80, 26}, {120, 30}} {
		for _, row := range []struct {
			name string
			keys []string
		}{
			{"card", nil}, {"end", []string{"end"}}, {"comment", []string{"end", "c", "n", "o"}}, {"grant", []string{"end", "g"}},
			{"mode", []string{"end", "m"}}, {"cancel", []string{"end", "x"}}, {"help", []string{"?"}},
			{"queue", []string{"2"}}, {"history", []string{"end", "d", "3"}}, {"sessions", []string{"4"}},
		} {
			w := example(t, size.width, size.height)
			for _, key := range row.keys {
				w.run("press " + key)
				w.wrote = nil
			}
			w.pass(time.Second)
			golden(t, fmt.Sprintf("%s-%d", row.name, size.width), w.screen())
		}
	}
}

// README.md shows what the prompt shows; -update writes it anew.
func TestReadme(t *testing.T) {
	const page, begins = "../../README.md", "```\n[Card]"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begins)
	old, after, ends := strings.Cut(rest, "\n```")
	if !found || !ends {
		t.Fatalf("%s shows no card", page)
	}
	want := strings.TrimRight(example(t, 80, 21).screen(), "\n")
	if diff := cmp.Diff(want, "[Card]"+old); diff != "" && !*update {
		t.Errorf("%s shows something else (-prompt +page)\n%s", page, diff)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+"```\n"+want+"\n```"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// crowd is a prompt with so many calls in its queue.
func crowd(t testing.TB, n int) *world {
	w := example(t, 80, 24)
	q := w.waiting()
	for i := range n - len(q.Queue) {
		j := q.Queue[1]
		j.ID, j.Stamp.Rev = fmt.Sprint("k", i), int64(100+i)
		q.Queue = append(q.Queue, j)
	}
	q.Waiting = n
	w.m.Step(w.now, Queue{Queue: q})
	return w
}

// scrolled is what a key costs where so many calls wait: in the list of them, and
// on the card.
func scrolled(w *world) (key func(view string)) {
	i := 0
	return func(view string) {
		names := [...]string{"j", "k", "pgdown", "pgup", "end", "home"}
		w.now = w.now.Add(time.Second)
		w.m.Step(w.now, Key{Name: names[i%len(names)]})
		w.m.View()
		i++
	}
}

// What a key costs does not grow with the queue. Bytes say so on any machine.
func TestScrollingCostsTheSame(t *testing.T) {
	for _, view := range []string{"1", "2"} {
		cost := func(n int) float64 {
			w := crowd(t, n)
			w.m.Step(w.now.Add(time.Hour), Key{Name: view})
			w.now = w.now.Add(2 * time.Hour)
			key := scrolled(w)
			return testing.AllocsPerRun(600, func() { key(view) })
		}
		few, many := cost(30), cost(10_000)
		if many > 1.2*few {
			t.Errorf("in view %s a key makes %.0f values with 10,000 calls, and %.0f with 30", view, many, few)
		}
	}
}

func BenchmarkScroll(b *testing.B) {
	for _, view := range []string{"1", "2"} {
		for _, n := range []int{10, 10_000} {
			b.Run(fmt.Sprintf("view=%s/waiting=%d", view, n), func(b *testing.B) {
				w := crowd(b, n)
				w.m.Step(w.now.Add(time.Hour), Key{Name: view})
				w.now = w.now.Add(2 * time.Hour)
				key := scrolled(w)
				for b.Loop() {
					key(view)
				}
			})
		}
	}
}

// What stands in a column never runs into the next one.
func TestCellsAreApart(t *testing.T) {
	for _, text := range []string{"", "s", "1Q7KVXM2", "1Q7KVXM2ZP4TJWNA", "ääääääääääää", "日本語日本語"} {
		got := cellOf(text, 8)
		if !strings.HasSuffix(got, " ") || len(text) <= 8 && drawn.Columns(got) != 10 {
			t.Errorf("%q is %q", text, got)
		}
	}
}

// Whoever pages through a card has every line of it on the screen before a key can
// answer, its last ones too, whatever the lines below say and however many they are.
func TestEveryLineIsSeen(t *testing.T) {
	for _, size := range [][2]int{{12, 4}, {20, 8}, {30, 12}, {40, 20}, {40, 24}, {80, 24}, {120, 40}} {
		for lines := 1; lines < 60; lines++ {
			w := example(t, size[0], size[1])
			w.about.Session.CurrentPolicy = "auto"
			w.find("4").Leaf.Offer = "/a/folder/with/a/name/that/takes/several/lines/below/a/narrow/card"
			w.run(fmt.Sprintf("long 4 %d", lines))
			w.run("changed 4")
			s := w.m.shown
			on := make([]bool, len(s.lines))
			for range 20 * len(s.lines) {
				from, shown := s.top, w.m.View()
				for i := range w.m.room() {
					at := len(w.m.head()) + i
					if at < len(shown.Lines) && from+i < len(on) && shown.Lines[at].Text(false) == s.lines[from+i].Text(false) {
						on[from+i] = true
					}
				}
				if s.seen {
					break
				}
				w.run("press space")
			}
			if missed := slices.Index(on, false); missed >= 0 || !s.seen {
				t.Fatalf("%v, %d lines: line %d of %d was never there, and the card counts as seen: %v\n%s", size, lines, missed+1, len(on), s.seen, w.screen())
			}
			w.pass(time.Second)
			if end := s.lines[len(s.lines)-1].Text(false); !strings.Contains(w.screen(), end) {
				t.Fatalf("%v, %d lines: the end is not on the screen where keys count\n%s", size, lines, w.screen())
			}
		}
	}
}
