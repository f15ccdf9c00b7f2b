package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"assent/agent"
	"assent/model"
	"assent/model/scripted"
	"assent/plexus"
	"assent/turn"
)

var mending = rounds(
	scripted.Reply{Text: "I look first.", Calls: []scripted.Call{call("a", "read", `{"path":"x"}`), call("b", "bash", `{"command":"echo two"}`)}},
	scripted.Reply{Text: "I mend it.", Calls: []scripted.Call{call("c", "write", `{"path":"x","content":"mended"}`), call("d", "bash", `{"command":"touch z"}`)}},
	scripted.Reply{Text: "It is mended."},
)

// The same prompt over one script has the same transcript in every mode, where people
// and the classifier say yes to what a mode leaves to them: what was asked for in
// between is no part of it. The three modes run the same floor.
func TestModes(t *testing.T) {
	for _, api := range apis {
		var first []string
		for _, mode := range []string{"manual", "auto", "yolo"} {
			w := newWorld(t, api, mending)
			w.file("x", "broken")
			w.session("s", mode)
			w.turn("s", "t", "", "mend x", turn.Settings{})
			if mode != "yolo" { // a write has no grant
				w.asked("s", "t.2.1")
				w.answer("s", "t.2.1", true, "")
			}
			if mode == "manual" {
				w.asked("s", "t.2.2")
				w.answer("s", "t.2.2", true, "")
			}
			if got := w.outcome("s", "t"); got != `{"ok":true,"text":"It is mended."}` {
				t.Errorf("%s %s: %s", api, mode, got)
			}
			if text := w.read("x"); text != "mended" {
				t.Errorf("%s %s: the file is %q", api, mode, text)
			}
			told := w.told()
			if first == nil {
				first = told
			}
			if diff := cmp.Diff(first, told); diff != "" {
				t.Errorf("%s %s (-manual +%s):\n%s", api, mode, mode, diff)
			}
			w.stop()
		}
		if len(first) != 11 || first[0] != "user: mend x" || !strings.HasPrefix(first[4], "tool a: ") || !strings.HasPrefix(first[5], "tool b: ") {
			t.Errorf("%s: %s", api, strings.Join(first, "\n"))
		}
	}
}

// A no with a comment is the receipt of the law, and the comment a note of its own
// behind all results. A block is refused in every mode, and the turn goes on.
func TestRefused(t *testing.T) {
	for _, api := range apis {
		w := newWorld(t, api, rounds(
			scripted.Reply{Calls: []scripted.Call{call("a", "write", `{"path":"x","content":"1"}`), call("b", "bash", `{"command":"never do"}`), call("c", "launch", `{}`)}},
			scripted.Reply{Text: "I could not."},
		))
		w.session("s", "manual")
		w.turn("s", "t", "", "write x", turn.Settings{})
		w.asked("s", "t.1.1")
		w.answer("s", "t.1.1", false, "use y")
		w.outcome("s", "t")
		told := w.told()
		want := []string{
			"user: write x",
			`call a: write {"path":"x","content":"1"}`, `call b: bash {"command":"never do"}`, `call c: launch {}`,
			`tool a: {"ok":false,"text":"User refused this tool use"}`,
			`tool b: {"ok":false,"text":"Policy prohibits this tool use. Do not try to bypass it; if this is crucial, ask user to do it","code":"policy_denied"}`,
			`tool c: {"ok":false,"text":"there is no tool \"launch\" here"}`,
			"user: The user's comment on the call of write (a):\nuse y",
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("%s (-want +got):\n%s", api, diff)
		}
		if text := w.read("x"); !strings.Contains(text, "no such file") {
			t.Errorf("the file is %q", text)
		}
		w.stop()
	}
}

// A turn that goes on has an empty prompt and everything that was said before; one with
// a prompt says it behind that. Each may have another mode of its own.
func TestGoesOn(t *testing.T) {
	w := newWorld(t, model.OpenAI, func(n int, a scripted.Ask) scripted.Reply {
		if n == 2 && strings.Join(a.Tools, " ") != "read list glob grep web_extract web_search context_need update_metadata agent_message agent_callback agent_notify work" {
			t.Errorf("a plan is offered %v", a.Tools)
		}
		if n == 2 && !strings.Contains(a.System, "makes a plan") || n != 2 && strings.Contains(a.System, "makes a plan") {
			t.Errorf("question %d: %s", n, a.System)
		}
		return scripted.Reply{Text: fmt.Sprint("answer ", n)}
	})
	w.session("s", "manual")
	w.turn("s", "t", "", "one", turn.Settings{})
	w.outcome("s", "t")
	w.turn("s", "u", "t", "", turn.Settings{Plan: true})
	w.outcome("s", "u")
	w.turn("s", "v", "u", "three", turn.Settings{})
	w.outcome("s", "v")
	if diff := cmp.Diff([]string{"user: one", "assistant: answer 1", "user: Go on.", "assistant: answer 2", "user: three"}, w.told()); diff != "" {
		t.Error(diff)
	}
}

// Cancelled while the model speaks, while a person is asked, or while a body runs: the
// question ends, nothing is made any more, and nothing runs.
func TestCancel(t *testing.T) {
	for _, api := range apis {
		gone := make(chan struct{})
		w := newWorld(t, api, func(n int, a scripted.Ask) scripted.Reply {
			if strings.Contains(a.Text(), "hang") {
				if n > 1 {
					return scripted.Reply{Text: "I am here."}
				}
				close(gone)
				return scripted.Reply{Text: "some words", Stall: true}
			}
			return rounds(scripted.Reply{Calls: []scripted.Call{call("a", "write", `{"path":"x","content":"1"}`), call("b", "bash", `{"command":"echo no > y"}`)}})(n, a)
		})
		w.session("s", "manual")
		w.turn("s", "t", "", "hang", turn.Settings{})
		<-gone
		cancel := func(id string) {
			t.Helper()
			if err := w.kernel.Cancel(t.Context(), "s", id, ada); err != nil {
				t.Error(err)
			}
			if got := w.outcome("s", id); got != `{"ok":false,"text":"cancelled"}` {
				t.Errorf("%s: %s", id, got)
			}
		}
		cancel("t")
		w.turn("s", "u", "", "ask", turn.Settings{})
		w.asked("s", "u.1.1")
		cancel("u")
		for _, name := range []string{"x", "y"} {
			if text := w.read(name); !strings.Contains(text, "no such file") {
				t.Errorf("%s: the file %s is %q", api, name, text)
			}
		}
		if _, err := w.doc.Job(t.Context(), "s", "u.1.2"); !errors.Is(err, plexus.ErrNoJob) {
			t.Errorf("what waited was made: %v", err)
		}
		asked := len(w.server.Asked())
		w.turn("s", "v", "t", "", turn.Settings{})
		w.outcome("s", "v")
		if n := len(w.server.Asked()); n != asked+1 {
			t.Errorf("%d questions after %d", n, asked)
		}
		w.stop()
	}
}

// A model that gives no answer is asked again where that may help, and then the turn
// has failed and says why. The answer of a try that broke is no part of anything.
func TestNoAnswer(t *testing.T) {
	for _, api := range apis {
		for _, test := range []struct {
			why, says string
			script    func(n int) scripted.Reply
			asked     int
		}{
			{"it passes", `{"ok":true,"text":"Here I am."}`, func(n int) scripted.Reply {
				return []scripted.Reply{{Text: "half an", Cut: true}, {Status: 529, Body: "{}"}, {Text: "Here I am."}}[n-1]
			}, 3},
			{"it stays", `"code":"model"`, func(int) scripted.Reply { return scripted.Reply{Status: 503, Body: "{}"} }, 5},
			{"the key", "the key is not accepted", func(int) scripted.Reply { return scripted.Reply{Status: 401, Body: "{}"} }, 1},
			{"no stream", "no stream of events", func(int) scripted.Reply { return scripted.Reply{Body: "{}"} }, 1},
		} {
			w := newWorld(t, api, func(n int, _ scripted.Ask) scripted.Reply { return test.script(n) })
			w.session("s", "manual")
			w.turn("s", "t", "", "go", turn.Settings{})
			if got := w.outcome("s", "t"); !strings.Contains(got, test.says) || len(w.server.Asked()) != test.asked {
				t.Errorf("%s, %s: %s after %d", api, test.why, got, len(w.server.Asked()))
			}
			w.stop()
		}
	}
}

// What cannot be gone through ends at once, and says why.
func TestNoTurn(t *testing.T) {
	w := newWorld(t, model.OpenAI, rounds(scripted.Reply{Text: "yes"}))
	w.session("s", "manual")
	w.turn("s", "t", "nobody", "go", turn.Settings{})
	w.turn("s", "u", "", "go", turn.Settings{Connection: "elsewhere"})
	w.turn("s", "v", "", "go", turn.Settings{Rounds: 1})
	for id, says := range map[string]string{"t": "no turn to go on from", "u": "it has local", "v": `"text":"yes"`} {
		if got := w.outcome("s", id); !strings.Contains(got, says) {
			t.Errorf("%s: %s", id, got)
		}
	}
	if _, err := w.kernel.Admit(t.Context(), newTurn("w", `{"colour":"red"}`), ada); err != nil {
		t.Fatal(err)
	}
	if got := w.outcome("s", "w"); !strings.Contains(got, "colour") || !strings.Contains(got, `"ok":false`) {
		t.Error(got)
	}
}

// While a model speaks, those who look see it: pieces of what it says, the last of them
// to its end.
func TestSaying(t *testing.T) {
	text := strings.Repeat("größer und größer ", 2000)
	w := newWorld(t, model.Anthropic, rounds(scripted.Reply{Text: text, Stall: true}))
	w.session("s", "manual")
	w.turn("s", "t", "", "go", turn.Settings{})
	for values := range w.doc.WatchPresence(t.Context(), "s") {
		var spoken agent.Spoken
		value, ok := values[agent.Saying+"t"]
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(value), &spoken); err != nil || spoken.Round != 1 || !strings.HasPrefix(text[spoken.From:], spoken.Text) || len(spoken.Text) > 8<<10 {
			t.Fatalf("%v, %d at %d", err, len(spoken.Text), spoken.From)
		}
		if spoken.From+len(spoken.Text) == len(text) {
			break
		}
	}
	if err := w.kernel.Cancel(t.Context(), "s", "t", ada); err != nil {
		t.Fatal(err)
	}
	for values := range w.doc.WatchPresence(t.Context(), "s") {
		if len(values) == 0 {
			break
		}
	}
}

// A kernel that ends and begins anew goes on: the model is not asked again what it
// answered, no settled call is made twice, and a person's answer is still good.
func TestRestart(t *testing.T) {
	for _, api := range apis {
		w := newWorld(t, api, rounds(
			scripted.Reply{Text: "I do both.", Calls: []scripted.Call{call("a", "bash", `{"command":"echo once >> x"}`), call("b", "write", `{"path":"y","content":"2"}`)}},
			scripted.Reply{Text: "Done."},
		))
		w.session("s", "manual")
		w.turn("s", "t", "", "go", turn.Settings{})
		w.asked("s", "t.1.1")
		w.answer("s", "t.1.1", true, "")
		w.asked("s", "t.1.2")
		w.stop()
		w.start()
		w.answer("s", "t.1.2", true, "")
		if got := w.outcome("s", "t"); got != `{"ok":true,"text":"Done."}` || len(w.server.Asked()) != 2 {
			t.Errorf("%s: %s after %d questions", api, got, len(w.server.Asked()))
		}
		if x, y := w.read("x"), w.read("y"); x != "once\n" || y != "2" {
			t.Errorf("%s: %q, %q", api, x, y)
		}
		w.stop()
		w.start()
		if n := len(w.server.Asked()); n != 2 {
			t.Errorf("%s: a turn that was over asks", api)
		}
		w.stop()
	}
}

// Fifty sessions at once, with three rounds each, do not get in each other's way.
func TestManySessions(t *testing.T) {
	w := newWorld(t, model.OpenAI, func(n int, a scripted.Ask) scripted.Reply {
		name := strings.TrimPrefix(a.Messages[0].Parts[0], "I am ")
		return rounds(
			scripted.Reply{Text: "One, " + name, Calls: []scripted.Call{call("a", "bash", `{"command":"echo `+name+` > `+name+`"}`), call("b", "read", `{"path":"`+name+`"}`)}},
			scripted.Reply{Calls: []scripted.Call{call("c", "read", `{"path":"`+name+`"}`)}},
			scripted.Reply{Text: "Done, " + name},
		)(n, a)
	})
	const sessions = 50
	for i := range sessions {
		w.session(fmt.Sprint("s", i), "yolo")
	}
	var all sync.WaitGroup
	for i := range sessions {
		all.Go(func() { w.turn(fmt.Sprint("s", i), "t", "", fmt.Sprint("I am ", i), turn.Settings{}) })
	}
	all.Wait()
	for i := range sessions {
		if got := w.outcome(fmt.Sprint("s", i), "t"); got != fmt.Sprintf(`{"ok":true,"text":"Done, %d"}`, i) {
			t.Errorf("%d: %s", i, got)
		}
	}
	if n := len(w.server.Asked()); n != 3*sessions {
		t.Errorf("%d questions", n)
	}
}

// An agent starts another one, whose turn is its task, in the mode of the first and on
// its connection. What that finds is a note of the first round that begins then.
func TestChild(t *testing.T) {
	w := newWorld(t, model.OpenAI, func(n int, a scripted.Ask) scripted.Reply {
		if a.Messages[0].Parts[0] == "count them" {
			if !strings.Contains(a.System, "agent_callback") {
				t.Errorf("the child is told: %s", a.System)
			}
			return rounds(
				scripted.Reply{Calls: []scripted.Call{call("a", "bash", `{"command":"echo 3"}`)}},
				scripted.Reply{Calls: []scripted.Call{call("b", "agent_callback", `{"text":"it is 3"}`)}},
				scripted.Reply{Text: "Told."},
			)(n, a)
		}
		return rounds(
			scripted.Reply{Calls: []scripted.Call{call("a", "agent_call", `{"task":"count them"}`)}},
			scripted.Reply{Text: "I have somebody count."},
		)(n, a)
	})
	w.session("s", "yolo")
	w.turn("s", "t", "", "how many?", turn.Settings{})
	var started struct{ Session string }
	if err := json.Unmarshal([]byte(w.outcome("s", "t.1.1")), &started, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	if got := w.outcome(started.Session, "task"); got != `{"ok":true,"text":"Told."}` {
		t.Errorf("the child: %s", got)
	}
	w.outcome("s", "t")
	w.turn("s", "u", "t", "and?", turn.Settings{})
	w.outcome("s", "u")
	notes := 0
	for _, line := range w.told() {
		if strings.Contains(line, "it is 3") && strings.HasPrefix(line, "user: Another agent says") {
			notes++
		}
	}
	if notes != 1 {
		t.Errorf("it was told %d times:\n%s", notes, strings.Join(w.told(), "\n"))
	}
}
