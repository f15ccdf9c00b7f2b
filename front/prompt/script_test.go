package prompt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/wire"
	"assent/front/card"
)

// world is a kernel and a clock as a script has them: what is asked for is answered
// at once, unless the script says that it comes late.
type world struct {
	alone bool // whoever asked has ended
	t     *testing.T
	m     *Machine
	now   time.Time
	jobs  []*wire.Job
	about card.About
	wakes []time.Time
	wrote []Order // what was ordered to be written, and not looked at yet
	late  bool    // nothing is answered
	fails *Wrote  // what becomes of the next write
	more  []Event // to come, while it is late
	said  string
	where string
}

func newWorld(t *testing.T) *world {
	return &world{t: t, m: New(Settings{Throttle: 2 * time.Second}), now: time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC),
		about: card.About{Session: &wire.Summary{Session: wire.Session{ID: "s", Seat: "attended", Client: "Claude Code", Workspace: "/work"}, CurrentPolicy: "manual"}}}
}

func (w *world) waiting() (q wire.Queue) {
	for _, j := range w.jobs {
		if j.Leaf.NeedsHuman {
			q.Waiting++
			q.Queue = append(q.Queue, *j)
			if w.alone {
				q.Unawaited = append(q.Unawaited, j.Stamp.Rev)
			}
		}
	}
	return q
}

func (w *world) find(number string) *wire.Job {
	i := slices.IndexFunc(w.jobs, func(j *wire.Job) bool { return strconv.FormatInt(j.Stamp.Rev, 10) == number })
	if i < 0 {
		w.t.Fatalf("%s: there is no call %s", w.where, number)
	}
	return w.jobs[i]
}

func (w *world) step(e Event) {
	for _, o := range w.m.Step(w.now, e) {
		w.take(o)
	}
	w.said += w.m.Said()
	if screen := w.m.View(); len(screen.Lines) > w.m.height {
		w.t.Fatalf("%s: %d lines on a screen of %d", w.where, len(screen.Lines), w.m.height)
	}
	for _, l := range w.m.View().Lines {
		if n := l.Columns(); n > w.m.width {
			w.t.Fatalf("%s: %d columns on a screen of %d: %q", w.where, n, w.m.width, l.Text(false))
		}
	}
}

// take does what was ordered.
func (w *world) take(o Order) {
	var answer Event
	switch o := o.(type) {
	case Wake:
		w.wakes = append(w.wakes, o.At)
		return
	case GetQueue:
		answer = Queue{Queue: w.waiting()}
	case GetCard:
		about := w.about
		about.Now = w.now
		answer = Card{Call: o.Call, Job: *w.find(strconv.FormatInt(o.Call.Number, 10)), About: about}
	case GetHistory:
		var calls []wire.Call
		for _, j := range w.jobs {
			c := wire.Call{Session: j.Session, Job: j.ID, Stamp: j.Stamp, Name: j.Name, Arguments: j.Arguments, Result: "deny", By: "human:bob"}
			if j.Leaf.NeedsHuman {
				c.Result, c.By = "wait", ""
			}
			c.Ran = j.Leaf.Ran
			calls = append(calls, c)
		}
		answer = History{Calls: calls}
	case GetSessions:
		answer = Sessions{Sessions: []wire.Summary{*w.about.Session}}
	case Quit, Suspend, Ring:
		w.wrote = append(w.wrote, o)
		return
	default:
		w.wrote = append(w.wrote, o)
		wrote := Wrote{What: o}
		if w.fails != nil {
			wrote, w.fails = *w.fails, nil
			wrote.What = o
		} else {
			w.apply(o)
		}
		answer = wrote
	}
	if w.late {
		w.more = append(w.more, answer)
		return
	}
	w.step(answer)
}

func (w *world) apply(o Order) {
	settle := func(c Call, yes bool) {
		j := w.find(strconv.FormatInt(c.Number, 10))
		j.Leaf.NeedsHuman, j.Leaf.Approved = false, &yes
		j.Leaf.Written = map[string]wire.Stamp{"approved": {Writer: "human:ada", At: w.now}}
	}
	switch o := o.(type) {
	case Answer:
		settle(o.Call, o.Yes)
	case Open:
		settle(o.Call, true)
	case Grant:
		settle(o.Call, true)
	case Cancel:
		j := w.find(strconv.FormatInt(o.Call.Number, 10))
		j.Leaf.NeedsHuman, j.Leaf.Cancelled = false, new(true)
	case Assign:
		w.about.Session.CurrentPolicy = o.Mode
	}
}

// pass has time pass.
func (w *world) pass(d time.Duration) {
	end := w.now.Add(d)
	for {
		slices.SortFunc(w.wakes, time.Time.Compare)
		if len(w.wakes) == 0 || w.wakes[0].After(end) {
			break
		}
		at := w.wakes[0]
		w.wakes = w.wakes[1:]
		if at.After(w.now) {
			w.now = at
		}
		w.step(Tick{})
	}
	w.now = end
}

func (w *world) screen() string {
	var b strings.Builder
	for _, l := range w.m.View().Lines {
		b.WriteString(strings.TrimRight(l.Text(false), " ") + "\n")
	}
	return b.String()
}

func keyOf(name string) Key {
	k := Key{Name: name}
	if len(name) == 1 {
		k.Text = name
	}
	if name == "space" {
		k.Text = " "
	}
	return k
}

// orderText is an order as scripts write it.
func orderText(o Order) string {
	switch o := o.(type) {
	case Answer:
		text := fmt.Sprintf("answer %d %v", o.Call.Number, o.Yes)
		if o.Comment != "" {
			text += " " + o.Comment
		}
		return text
	case Open:
		return fmt.Sprintf("open %d %s", o.Call.Number, o.Folder)
	case Grant:
		text := fmt.Sprintf("grant %d %s", o.Call.Number, o.Cluster)
		if o.Standing {
			text += " standing"
		}
		if !o.Until.IsZero() {
			text += " until " + o.Until.Format(time.TimeOnly)
		}
		return text
	case Uncover:
		return fmt.Sprintf("uncover %d", o.Call.Number)
	case Assign:
		return "assign " + o.Session + " " + o.Mode
	case Cancel:
		return fmt.Sprintf("cancel %d", o.Call.Number)
	}
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", o), "prompt."))
}

// run does one line of a script.
func (w *world) run(line string) {
	word, rest, _ := strings.Cut(line, " ")
	args := strings.Fields(rest)
	if word != ">" && len(w.wrote) > 0 {
		w.t.Fatalf("%s: nobody expected %q", w.where, orderText(w.wrote[0]))
	}
	switch word {
	case ">":
		if len(w.wrote) == 0 {
			w.t.Fatalf("%s: nothing was ordered; the screen is\n%s", w.where, w.screen())
		}
		if got := orderText(w.wrote[0]); got != rest {
			w.t.Fatalf("%s: got %q", w.where, got)
		}
		w.wrote = w.wrote[1:]
	case "size":
		width, _ := strconv.Atoi(args[0])
		height, _ := strconv.Atoi(args[1])
		w.step(Size{width, height})
	case "set": // super KEY | throttle TIME | plain | bell
		switch args[0] {
		case "bell":
			w.m.set.Bell = true
		case "super":
			w.m.set.SuperKey = args[1]
		case "throttle":
			d, _ := time.ParseDuration(args[1])
			w.m.set.Throttle = d
		case "plain":
			w.m.set.Plain = true
		}
	case "mode":
		w.about.Session.CurrentPolicy = args[0]
	case "up":
		w.step(Up{Name: "ada"})
	case "down":
		w.step(Down{errors.New(rest)})
	case "call": // NUMBER TOOL CLUSTER RESULT ARGUMENTS
		number, _ := strconv.ParseInt(args[0], 10, 64)
		w.jobs = append(w.jobs, &wire.Job{Session: "s", ID: "j" + args[0], Name: args[1], Stamp: wire.Stamp{Rev: number, Writer: "agent:hook", At: w.now},
			Arguments: jsontext.Value(strings.Join(args[4:], " ")),
			Leaf:      &wire.Leaf{Cluster: args[2], PolicyResult: &args[3], NeedsHuman: true, Explanation: jsontext.Value(`{}`)}})
		w.step(Changed{[]wire.Row{{Rev: number, Job: &wire.JobRow{Session: "s", ID: "j" + args[0]}}}})
	case "long": // NUMBER LINES: so many lines in the call's command
		n, _ := strconv.Atoi(args[1])
		quoted, _ := jsontext.AppendQuote(nil, strings.Repeat("echo\n", n-1)+"last")
		w.find(args[0]).Arguments = jsontext.Value(`{"command":` + string(quoted) + `}`)
	case "explained":
		w.find(args[0]).Leaf.Explanation = jsontext.Value(strings.Join(args[1:], " "))
	case "cut":
		w.find(args[0]).Cut = map[string]int{"arguments": 70000}
	case "offer":
		w.find(args[0]).Leaf.Offer = args[1]
	case "fails": // NUMBER MESSAGE: an attempt of the classifier
		j := w.find(args[0])
		j.Leaf.JudgeFails++
		text := strings.Join(args[1:], " ")
		j.Leaf.JudgeFailMessage = &text
		w.step(Changed{[]wire.Row{{Field: &wire.Field{Session: "s", Job: j.ID, Name: "judgeFail/1"}}}})
	case "answered", "cancelled", "ruled": // NUMBER yes|no WHO | NUMBER | NUMBER REASON: by somebody else
		j := w.find(args[0])
		j.Leaf.NeedsHuman = false
		yes := true
		switch word {
		case "answered":
			yes = args[1] == "yes"
			j.Leaf.Approved, j.Leaf.Written = &yes, map[string]wire.Stamp{"approved": {Writer: "human:" + args[2], At: w.now}}
		case "cancelled":
			j.Leaf.Cancelled = &yes
		default:
			j.Leaf.OrchestrationResult, j.Leaf.LicenseReason = &yes, &args[1]
		}
		if len(args) < 4 { // with "silently" nobody is told
			w.step(Changed{[]wire.Row{{Field: &wire.Field{Session: "s", Job: j.ID, Name: "approved"}}}})
		}
	case "ran": // NUMBER HOW: it was not licensed so
		w.find(args[0]).Leaf.Ran = &wire.Run{How: args[1], OK: true, At: w.now}
		w.step(Changed{[]wire.Row{{Register: &wire.Register{Session: "s", Name: wire.RunsRegister, Value: jsontext.Value(`{"job":"j` + args[0] + `","number":` + args[0] + `,"how":"` + args[1] + `","tool":"Bash"}`)}}}})
	case "unawaited": // nobody waits for any answer
		w.alone = true
	case "old": // a queue comes that still has the call
		q := w.waiting()
		q.Waiting++
		q.Queue = append(q.Queue, *w.find(args[0]))
		w.step(Queue{Queue: q})
	case "asked", "unasked": // another mode does, and does not, ask a person
		j := w.find(args[0])
		j.Leaf.NeedsHuman = word == "asked"
		w.step(Changed{[]wire.Row{{Register: &wire.Register{Session: "s", Name: "standingPolicy"}}}})
	case "changed":
		w.step(Changed{[]wire.Row{{Field: &wire.Field{Session: "s", Job: w.find(args[0]).ID, Name: "explanation"}}}})
	case "wait":
		d, err := time.ParseDuration(args[0])
		if err != nil {
			w.t.Fatalf("%s: %v", w.where, err)
		}
		w.pass(d)
	case "key": // as fast as they come
		for _, name := range args {
			w.step(keyOf(name))
		}
	case "press": // by a person, who looks first
		for _, name := range args {
			w.pass(time.Second)
			w.step(keyOf(name))
			w.pass(100 * time.Millisecond)
		}
	case "held": // NAME: the key repeats
		w.step(Key{Name: args[0], Text: args[0], Repeat: true})
	case "type":
		for _, r := range rest {
			w.pass(80 * time.Millisecond)
			name := string(r)
			if r == ' ' {
				name = "space"
			}
			w.step(Key{Name: name, Text: string(r)})
		}
	case "paste":
		text, err := strconv.Unquote(rest)
		if err != nil {
			w.t.Fatalf("%s: %v", w.where, err)
		}
		w.step(Paste{text})
	case "late":
		w.late = true
	case "comes": // what was late
		w.late = false
		more := w.more
		w.more = nil
		for _, e := range more {
			w.step(e)
		}
	case "refused", "over", "lost": // TEXT: what becomes of the next write
		w.fails = &Wrote{Err: errors.New(rest), Refused: word != "lost", Over: word == "over"}
	case "see":
		if !strings.Contains(strings.Join(strings.Fields(w.screen()), " "), rest) {
			w.t.Fatalf("%s: not on the screen\n%s", w.where, w.screen())
		}
	case "not":
		if strings.Contains(strings.Join(strings.Fields(w.screen()), " "), rest) {
			w.t.Fatalf("%s: on the screen\n%s", w.where, w.screen())
		}
	case "hear":
		if !strings.Contains(w.said, strings.ReplaceAll(rest, `\n`, "\n")) {
			w.t.Fatalf("%s: was not said in\n%s", w.where, w.said)
		}
		w.said = ""
	case "screen":
		w.t.Logf("%s\n%s", w.where, w.screen())
	default:
		w.t.Fatalf("%s: what is %q?", w.where, word)
	}
}

// The scripts say what the prompt does, as a person and a kernel would have it:
// nothing sleeps, time is one of the things that happen.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		for i, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
			title, body, _ := strings.Cut(part, "\n")
			t.Run(name+"/"+strings.ReplaceAll(title, " ", "-"), func(t *testing.T) {
				w := newWorld(t)
				w.run("size 80 24")
				for k, line := range strings.Split(body, "\n") {
					line = strings.TrimSpace(line)
					if line == "" || strings.HasPrefix(line, "#") {
						continue
					}
					w.where = fmt.Sprintf("%s part %d line %d %q", file, i+1, k+1, line)
					w.run(line)
				}
				if len(w.wrote) > 0 {
					t.Errorf("at the end nobody expected %q", orderText(w.wrote[0]))
				}
			})
		}
	}
}

// What is chosen in a list stays chosen when rows come above it.
func TestRowsAreKept(t *testing.T) {
	w := newWorld(t)
	session := func(id string) wire.Summary {
		return wire.Summary{Session: wire.Session{ID: id, Client: "c", Workspace: "/w"}, CurrentPolicy: "manual"}
	}
	call := func(id string) wire.Call { return wire.Call{Session: "s", Job: id, Name: "Bash", Result: "deny"} }
	w.step(Up{})
	w.m.view, w.m.at[viewSessions], w.m.at[viewHistory] = viewSessions, 1, 1
	w.step(Sessions{Sessions: []wire.Summary{session("a"), session("b")}})
	w.m.at[viewSessions] = 1
	w.step(Sessions{Sessions: []wire.Summary{session("new"), session("newer"), session("a"), session("b")}})
	w.run("press m")
	w.run("see The mode of session b")
	w.m.history, w.m.at[viewHistory] = []wire.Call{call("a"), call("b")}, 1
	w.step(History{Calls: []wire.Call{call("new"), call("a"), call("b")}})
	if w.m.at[viewHistory] != 2 {
		t.Errorf("row %d of the history", w.m.at[viewHistory])
	}
	w.step(History{Calls: []wire.Call{call("new")}})
	if w.m.at[viewHistory] != 0 {
		t.Errorf("row %d of one", w.m.at[viewHistory])
	}
}

// A list that changes while it is read is read again, and no more than once.
func TestAListThatChangesWhileItIsRead(t *testing.T) {
	w := newWorld(t)
	ask := func(e Event) (lists int) {
		for _, o := range w.m.Step(w.now, e) {
			if _, ok := o.(GetHistory); ok {
				lists++
			}
		}
		return lists
	}
	w.step(Up{})
	w.m.view = viewHistory
	changed := func() int {
		return ask(Changed{Rows: []wire.Row{{Field: &wire.Field{Session: "s", Job: "1", Name: "approved"}}}}) + ask(Queue{})
	}
	ask(Queue{})
	if n := changed(); n != 1 {
		t.Fatalf("a change: read %d times", n)
	}
	if n := changed() + changed(); n != 0 {
		t.Errorf("while it is read: read %d times", n)
	}
	if n := ask(History{}); n != 1 {
		t.Errorf("afterwards: read %d times", n)
	}
	if n := ask(History{}); n != 0 {
		t.Errorf("nothing has changed since: read %d times", n)
	}
}
