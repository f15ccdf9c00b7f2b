package kernel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"assent/approval"
	"assent/job"
	"assent/plexus"
	"assent/toolkit"
)

// speaking is a world whose agents speak with each other.
func speaking(t *testing.T) (w *world, ws string, said func(session string, kind job.Kind, tool, arguments string) string) {
	t.Helper()
	tools := new(job.Registry)
	var late lateAgents
	if _, err := toolkit.Register(tools, toolkit.Options{Agents: &late}); err != nil {
		t.Fatal(err)
	}
	w = newWorld(t, Options{Registry: tools})
	late.world = w
	dir, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	ws = filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	n := 0
	return w, ws, func(session string, kind job.Kind, tool, arguments string) string {
		t.Helper()
		n++
		id := fmt.Sprintf("j%d", n)
		w.admit(NewCall{Session: session, ID: id, Kind: kind, Name: tool, Arguments: []byte(arguments)}, host)
		out := w.outcome(session, id)
		if _, judged := w.fields(session, id)[plexus.PolicyResult]; judged {
			t.Errorf("%s: the floor was asked", tool)
		}
		return out
	}
}

// lateAgents is the kernel of a world, in whatever life.
type lateAgents struct{ *world }

func (l *lateAgents) Spawn(ctx context.Context, call job.Call, task string) (string, error) {
	return l.world.Spawn(ctx, call, task)
}

func (l *lateAgents) Say(ctx context.Context, call job.Call, to, kind, text string) error {
	return l.world.Say(ctx, call, to, kind, text)
}

func (l *lateAgents) Tell(ctx context.Context, call job.Call, kind, text string) error {
	return l.world.Tell(ctx, call, kind, text)
}

func (l *lateAgents) Describe(ctx context.Context, call job.Call, members map[string]string) error {
	return l.world.Describe(ctx, call, members)
}

// box are the messages in the registers of a session, in their order.
func (w *world) box(session, prefix string) (all []Message) {
	w.Helper()
	latest, err := w.doc.Latest(w.Context(), session)
	if err != nil {
		w.Fatal(err)
	}
	revs := make(map[plexus.Rev]Message)
	var most plexus.Rev
	for name, r := range latest {
		var m Message
		if strings.HasPrefix(name, prefix) && json.Unmarshal([]byte(r.Value), &m) == nil {
			revs[r.Rev] = m
			most = max(most, r.Rev)
		}
	}
	for rev := plexus.Rev(0); rev <= most; rev++ {
		if m, ok := revs[rev]; ok {
			all = append(all, m)
		}
	}
	return all
}

// An agent starts another, which has its seat and its mode and none of its grants,
// and both speak with each other and with nobody else.
func TestAgentsSpeakWithTheirKin(t *testing.T) {
	w, ws, said := speaking(t)
	for _, id := range []string{"s", "stranger"} {
		if _, err := w.CreateSession(t.Context(), NewSession{ID: id, Mode: "auto", Workspace: ws}, ada); err != nil {
			t.Fatal(err)
		}
	}
	grants := plexus.Register{Session: "s", Name: plexus.AutoAllow, Value: `{"bash":true}`}
	w.write(ada, grants)
	if err := w.Give(t.Context(), "s", hook.Name, ada); err != nil {
		t.Fatal(err)
	}
	var started struct {
		OK            bool
		Text, Session string
	}
	out := said("s", job.AgentCall, "agent_call", `{"task":"look for it"}`)
	if err := json.Unmarshal([]byte(out), &started, json.MatchCaseInsensitiveNames(true)); err != nil || !started.OK || started.Session == "" {
		t.Fatal(out, err)
	}
	child := started.Session
	view, err := w.View(t.Context(), child)
	if err != nil {
		t.Fatal(err)
	}
	if view.CurrentPolicy != approval.Auto || view.AutoAllow != (approval.Grants{}) || view.Workspace != ws || view.Seat != approval.Attended {
		t.Errorf("the child is %+v", view)
	}
	latest, err := w.doc.Latest(t.Context(), child)
	if err != nil || !strings.Contains(latest[Task].Value, `"look for it"`) || latest[Depth].Value != "1" || latest[plexus.SessionAgent].Value != plexus.Text(hook.Name) {
		t.Errorf("%v %v", latest, err)
	}
	w.admit(NewCall{Session: child, ID: "own", Name: "Bash", Arguments: bash("ask")}, hook) // meets the floor
	if got := w.await(child, "own", plexus.PolicyResult); got == "" {
		t.Error("no floor for a child's own tools")
	}
	for _, row := range []struct {
		session   string
		kind      job.Kind
		tool      string
		arguments string
		want      string
	}{
		{"s", job.AgentMessage, "agent_message", `{"to":"` + child + `","text":"faster"}`, `"ok":true`},
		{child, job.AgentMessage, "agent_message", `{"text":"why?"}`, `"ok":true`},
		{child, job.AgentMessage, "agent_message", `{"to":"s","text":"really"}`, `"ok":true`},
		{child, job.AgentNotify, "agent_notify", `{"text":"half done"}`, `"ok":true`},
		{child, job.ContextNeedTool, "context_need", `{"need":"the name"}`, `"ok":true`},
		{child, job.SystemTool, "context_need", `{"need":"the date"}`, `"ok":true`},
		{child, job.AgentCallback, "agent_callback", `{"text":"here: \u001b[2J"}`, `"ok":true`},
		{"s", job.SystemTool, "update_metadata", `{"title":"search","status":"busy"}`, `"ok":true`},
		{"s", job.SystemTool, "update_metadata", `{"status":""}`, `"ok":true`},

		{"s", job.AgentMessage, "agent_message", `{"to":"stranger","text":"x"}`, ErrNoKin.Error()},
		{"s", job.AgentMessage, "agent_message", `{"to":"s","text":"x"}`, ErrNoKin.Error()},
		{"s", job.AgentMessage, "agent_message", `{"to":"none","text":"x"}`, ErrNoKin.Error()},
		{"stranger", job.AgentMessage, "agent_message", `{"to":"` + child + `","text":"x"}`, ErrNoKin.Error()},
		{"s", job.AgentCallback, "agent_callback", `{"text":"x"}`, "no session started this one"},
		{"s", job.AgentCall, "agent_call", `{"task":" "}`, "task is empty"},
		{"s", job.AgentCall, "agent_call", `{"task":"x","mode":"yolo"}`, "unknown"},
		{"s", job.AgentNotify, "agent_notify", `{"text":"` + strings.Repeat("x", 65<<10) + `"}`, "are the most"},
		{"s", job.SystemTool, "update_metadata", `{}`, "nothing is said"},
		{"s", job.SystemTool, "update_metadata", `{"a b":"x"}`, "without blanks"},
		{"s", job.SystemTool, "update_metadata", `{"title":1}`, `"ok":false`},
	} {
		if got := said(row.session, row.kind, row.tool, row.arguments); !strings.Contains(got, row.want) {
			t.Errorf("%s %.80s: %s, want %s", row.tool, row.arguments, got, row.want)
		}
	}
	texts := func(all []Message) (text string) {
		for _, m := range all {
			text += m.Kind + " " + m.From + ": " + m.Text + "\n"
		}
		return strings.ReplaceAll(text, child, "child")
	}
	if got, want := texts(w.box("s", Inbox)), "message child: why?\nmessage child: really\nnotify child: half done\ncontext_need child: the name\ncontext_need child: the date\ncallback child: here: \x1b[2J\n"; got != want {
		t.Errorf("the parent got\n%swant\n%s", got, want)
	}
	if got, want := texts(w.box(child, Inbox)), "message s: faster\n"; got != want {
		t.Errorf("the child got\n%swant\n%s", got, want)
	}
	if got, want := texts(w.box(child, Notice)), "notify child: half done\ncontext_need child: the name\ncontext_need child: the date\n"; got != want {
		t.Errorf("who looks got\n%swant\n%s", got, want)
	}
	if got := w.box("stranger", Inbox); got != nil {
		t.Errorf("a stranger got %v", got)
	}
	if latest, err := w.doc.Latest(t.Context(), "s"); err != nil || latest[Metadata].Value != `{"title":"search"}` {
		t.Errorf("%v %v", latest[Metadata], err)
	}
}

// What a call says or starts is said and started once, also by a body that was begun
// in an earlier life.
func TestWhatAgentsSayIsSaidOnce(t *testing.T) {
	w, ws, _ := speaking(t)
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Mode: "manual", Workspace: ws}, ada); err != nil {
		t.Fatal(err)
	}
	call := job.Call{Session: "s", Job: "j", Workspace: ws, RealWorkspace: ws}
	first, err := w.Spawn(t.Context(), call, "x")
	if err != nil {
		t.Fatal(err)
	}
	w.restart()
	if second, err := w.Spawn(t.Context(), call, "x"); err != nil || second != first {
		t.Errorf("%s and %s %v", first, second, err)
	}
	for range 2 {
		if err := w.Say(t.Context(), call, first, "message", "x"); err != nil {
			t.Error(err)
		}
		if err := w.Tell(t.Context(), call, "notify", "x"); err != nil {
			t.Error(err)
		}
		w.restart()
	}
	if got := len(w.box(first, Inbox)) + len(w.box("s", Notice)); got != 2 {
		t.Errorf("said %d times", got)
	}
}

// Agents do not start agents without end, and none in a folder that is another by
// now.
func TestAgentsAreFew(t *testing.T) {
	w, ws, _ := speaking(t)
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Mode: "manual", Workspace: ws}, ada); err != nil {
		t.Fatal(err)
	}
	call := job.Call{Session: "s", Workspace: ws, RealWorkspace: ws}
	var err error
	for i := range maxDepth {
		call.Job = "j"
		if call.Session, err = w.Spawn(t.Context(), call, "x"); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := w.Spawn(t.Context(), call, "x"); err == nil || !strings.Contains(err.Error(), ErrTooMany.Error()) {
		t.Errorf("the deepest: %v", err)
	}
	call.Session = "s"
	started := 1
	for range maxChildren {
		call.Job += "k"
		if _, err = w.Spawn(t.Context(), call, "x"); err != nil {
			break
		}
		started++
	}
	if started != maxChildren || err == nil || !strings.Contains(err.Error(), ErrTooMany.Error()) {
		t.Errorf("%d children, then %v", started, err)
	}
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "t", Mode: "manual", Workspace: ws}, ada); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(ws); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", ws); err != nil {
		t.Fatal(err)
	}
	call.Session = "t"
	if id, err := w.Spawn(t.Context(), call, "x"); err == nil {
		t.Errorf("%s was started in a folder that is another now", id)
	}
}

// What a call started is cancelled with it: in the sessions of that call, and of all
// below it, and in no others.
func TestWhatACallStartedIsCancelledWithIt(t *testing.T) {
	for _, row := range []struct {
		why, session, what string
		by                 plexus.Writer
		cancelled          string
	}{
		{"the session", "s", "", ada, "a aa b c ca s"},
		{"the call that started it, which is settled", "s", "j1", ada, "a aa"},
		{"the sequence of the call that started it", "s", "turn", ada, "b"},
		{"another call", "s", "own", ada, "s"},
		{"the session that was started", "a", "", ada, "a aa"},
		{"the session that a client made", "c", "", ada, "c ca"},
		{"by an agent that minted another", "s", "j1", hook, ""},
		{"nobody", "s", "", plexus.Writer{}, ""},
	} {
		t.Run(row.why, func(t *testing.T) {
			w, ws, _ := speaking(t)
			for _, id := range []string{"s", "stranger"} {
				if _, err := w.CreateSession(t.Context(), NewSession{ID: id, Mode: "manual", Workspace: ws}, ada); err != nil {
					t.Fatal(err)
				}
			}
			w.write(host, plexus.Job{Session: "s", ID: "turn", Kind: plexus.SessionTurn})
			n := 0
			starts := func(session, parent string) string {
				n++
				id := fmt.Sprintf("j%d", n)
				w.admit(NewCall{Session: session, ID: id, Parent: parent, Kind: job.AgentCall, Name: "agent_call", Arguments: []byte(`{"task":"x"}`)}, host)
				var out struct {
					Session string `json:"session"`
				}
				if err := json.Unmarshal([]byte(w.outcome(session, id)), &out); err != nil || out.Session == "" {
					t.Fatal(out, err)
				}
				return out.Session
			}
			names := map[string]string{"s": "s", "stranger": "stranger"}
			names["a"] = starts("s", "")
			names["aa"] = starts(names["a"], "")
			names["b"] = starts("s", "turn")
			names["c"] = "made"
			if _, err := w.CreateSession(t.Context(), NewSession{ID: "made", Parent: "s", Workspace: ws}, ada); err != nil {
				t.Fatal(err)
			}
			names["ca"] = starts(names["c"], "")
			for _, id := range names {
				w.admit(NewCall{Session: id, ID: "own", Name: "Bash", Arguments: bash("ask")}, ada)
				w.await(id, "own", plexus.PolicyResult)
			}
			w.restart()
			err := w.Cancel(t.Context(), names[row.session], row.what, row.by)
			if (err == nil) != (row.cancelled != "") {
				t.Error(err)
			}
			var got []string
			for _, name := range []string{"a", "aa", "b", "c", "ca", "s", "stranger"} {
				if _, ok := w.fields(names[name], "own")[plexus.Cancelled]; ok {
					got = append(got, name)
				}
			}
			if strings.Join(got, " ") != row.cancelled {
				t.Errorf("cancelled: %v, want %s", got, row.cancelled)
			}
			for _, name := range got {
				if out := w.outcome(names[name], "own"); out != `{"ok":false,"text":"cancelled"}` {
					t.Error(out)
				}
			}
		})
	}
}

// Nothing is started by a call that is cancelled.
func TestACancelledCallStartsNothing(t *testing.T) {
	w, ws, _ := speaking(t)
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Mode: "manual", Workspace: ws}, ada); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if id, err := w.Spawn(ctx, job.Call{Session: "s", Job: "j", Workspace: ws, RealWorkspace: ws}, "x"); err == nil {
		t.Errorf("%s was started", id)
	}
}

// Where nothing goes through the turns of agents, a call for one says so, and leaves no
// session behind.
func TestNobodyToStart(t *testing.T) {
	w, ws, said := speaking(t)
	tools := new(job.Registry)
	if _, err := toolkit.Register(tools, toolkit.Options{Agents: &lateAgents{w}}); err != nil {
		t.Fatal(err)
	}
	w.opts.Registry = tools
	w.restart()
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Mode: "yolo", Workspace: ws}, ada); err != nil {
		t.Fatal(err)
	}
	got := said("s", job.AgentCall, "agent_call", `{"task":"look for it"}`)
	if want := `{"ok":false,"text":"no agent was started: nothing here goes through the turns of an agent"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if all, err := w.doc.Sessions(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%d sessions, %v", len(all), err)
	}
}

// Who cancels a call for an agent ends the turn of that agent, and what it asked for.
func TestCancelStartsFromTheCall(t *testing.T) {
	w, ws, said := speaking(t)
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Mode: "manual", Workspace: ws}, ada); err != nil {
		t.Fatal(err)
	}
	var started struct{ Session string }
	if err := json.Unmarshal([]byte(said("s", job.AgentCall, "agent_call", `{"task":"look for it"}`)), &started, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	child := started.Session
	w.admit(NewCall{Session: child, ID: "asked", Parent: firstTurn, Kind: job.SystemTool, Name: "bash", Arguments: bash("ask x")}, host)
	w.await(child, "asked", plexus.PolicyResult)
	if err := w.Cancel(t.Context(), "s", "j1", ada); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"asked", firstTurn} {
		if got, want := w.outcome(child, id), `{"ok":false,"text":"cancelled"}`; got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}
