package hook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"assent/floor"
	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/hook"
	"assent/kernel"
	"assent/plexus"
)

var (
	ada   = plexus.Writer{Role: plexus.Human, Name: "ada"}
	agent = plexus.Writer{Role: plexus.Agent, Name: "agent"}
)

type rules struct{ operator *floor.Policy }

func (r rules) Layers(string) kernel.Layers {
	return kernel.Layers{Floor: floor.Floor{Operator: r.operator}}
}
func (rules) Notify(string, func()) (end func()) { return func() {} }

// world is a kernel behind a socket, a person who may answer, and the folder in
// which an agent works.
type world struct {
	testing.TB
	socket, ws string
	doc        *plexus.Store
	kernel     *kernel.Kernel
	person     *client.Client
	stop       func()
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "hook") // short: sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	// The socket is where a program looks for it that has the folder for its own.
	w := &world{TB: t, socket: filepath.Join(dir, "assent", "assent.sock"), ws: filepath.Join(dir, "ws")}
	for _, folder := range []string{w.ws, filepath.Dir(w.socket)} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	policy, err := floor.ParsePolicy("/policy.yaml", []byte("version: 1\nrun:\n  allow: [let *]\n  deny: [no *]\n  block: [{match: never *, message: Not here.}]\nmcp:\n  allow: [desk/*]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if w.doc, err = plexus.Open(filepath.Join(dir, "document"), plexus.Options{}); err != nil {
		t.Fatal(err)
	}
	if w.kernel, err = kernel.Open(t.Context(), kernel.Options{
		Document: w.doc, Policies: rules{policy},
		Prepare: func(_ context.Context, _ *floor.Floor, call floor.Call) floor.Call { return call },
	}); err != nil {
		t.Fatal(err)
	}
	tokens, err := api.OpenTokens(t.Context(), w.doc)
	if err != nil {
		t.Fatal(err)
	}
	server := api.New(api.Options{Kernel: w.kernel, Document: w.doc, Tokens: tokens, Role: func(net.Conn) api.Caller {
		return func(claim api.Claim) (plexus.Writer, error) {
			if claim.Agent {
				return agent, nil
			}
			return ada, nil
		}
	}})
	l, err := net.Listen("unix", w.socket)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	w.person = client.New(w.socket, client.Options{})
	w.stop = sync.OnceFunc(func() {
		w.person.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		<-served
		w.kernel.Close()
		w.doc.Close()
	})
	t.Cleanup(func() {
		w.stop()
		os.RemoveAll(dir)
	})
	return w
}

func (w *world) host(payload string) hook.Host {
	return hook.Host{
		Stdin: strings.NewReader(payload), Getenv: func(string) string { return "" }, Socket: w.socket,
		Verify: func(uint32) error { return nil }, ReadFile: os.ReadFile,
	}
}

func (w *world) run(client, payload string) hook.Reply {
	w.Helper()
	ctx, cancel := hook.Within(w.Context(), time.Minute)
	defer cancel()
	return hook.Run(ctx, hook.Dialects[client], w.host(payload))
}

// payload is one of Claude Code.
func (w *world) payload(event, call, command, more string) string {
	return `{"hook_event_name":"` + event + `","session_id":"s1","cwd":"` + w.ws + `","tool_name":"Bash","tool_input":{"command":"` + command + `"},"tool_use_id":"` + call + `","effort":{"level":"high"}` + more + `}`
}

// waits gives the call that waits for a person.
func (w *world) waits() wire.Job {
	w.Helper()
	for rows, err := range w.doc.Watch(w.Context(), 0, plexus.Filter{}) {
		if err != nil {
			w.Fatal(err)
		}
		_ = rows
		q, err := w.person.Queue(w.Context(), "")
		if err != nil {
			w.Fatal(err)
		}
		if len(q.Queue) > 0 {
			return q.Queue[0]
		}
	}
	w.Fatal("nothing waits")
	return wire.Job{}
}

func (w *world) answer(call wire.Job, yes bool, comment string) {
	w.Helper()
	if comment != "" {
		if _, err := w.person.Field(w.Context(), call.Session, call.ID, "approvalComment", comment); err != nil {
			w.Fatal(err)
		}
	}
	if _, err := w.person.Field(w.Context(), call.Session, call.ID, "approved", yes); err != nil {
		w.Fatal(err)
	}
}

func (w *world) receipt(session, call string) wire.Receipt {
	w.Helper()
	r, err := w.person.Receipt(w.Context(), session, call, client.Now)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

func TestAClientIsAnswered(t *testing.T) {
	for _, row := range []struct {
		why, client, command string
		want                 hook.Reply
	}{
		{"allowed", "claude", "let it", hook.Reply{Stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"assent: allowed"}}` + "\n"}},
		{"blocked", "claude", "never it", hook.Reply{Exit: 2,
			Stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"assent: Policy prohibits this tool use. Do not try to bypass it; if this is crucial, ask user to do it (Not here)"}}` + "\n",
			Stderr: "assent: Policy prohibits this tool use. Do not try to bypass it; if this is crucial, ask user to do it (Not here)\n"}},
		{"allowed", "codex", "let it", hook.Reply{}},
		{"blocked", "codex", "never it", hook.Reply{Exit: 2, Stderr: "assent: Policy prohibits this tool use. Do not try to bypass it; if this is crucial, ask user to do it (Not here)\n"}},
	} {
		t.Run(row.client+" "+row.why, func(t *testing.T) {
			w := newWorld(t)
			if got := w.run(row.client, w.payload("PreToolUse", "t1", row.command, "")); got != row.want {
				t.Errorf("got %+v\nwant %+v", got, row.want)
			}
		})
	}
	t.Run("gemini", func(t *testing.T) {
		w := newWorld(t)
		say := func(command string) hook.Reply {
			return w.run("gemini", `{"hook_event_name":"BeforeTool","session_id":"g","cwd":"`+w.ws+`","timestamp":"x","tool_name":"run_shell_command","tool_input":{"command":"`+command+`"}}`)
		}
		if got := say("let it"); got != (hook.Reply{}) {
			t.Errorf("got %+v", got)
		}
		if got := say("never it"); got.Exit != 2 || !strings.HasPrefix(got.Stdout, `{"decision":"deny","reason":"assent: Policy`) || got.Stderr == "" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("opencode", func(t *testing.T) {
		w := newWorld(t)
		say := func(command string) hook.Reply {
			return w.run("opencode", `{"event":"tool.execute.before","directory":"`+w.ws+`","input":{"tool":"bash","sessionID":"ses_1","callID":"c"},"output":{"args":{"command":"`+command+`"}}}`)
		}
		if got := say("let it"); got != (hook.Reply{Stdout: `{"decision":"allow"}` + "\n"}) {
			t.Errorf("got %+v", got)
		}
		if got := say("never it"); got.Exit != 2 || got.Stdout != "" || got.Stderr == "" {
			t.Errorf("got %+v", got)
		}
	})
}

// A call is held until a person has answered, and what they say reaches the agent.
func TestACallIsHeld(t *testing.T) {
	for _, row := range []struct {
		why  string
		yes  bool
		want string
		exit int
	}{
		{"yes", true, `"allow","permissionDecisionReason":"assent: allowed. The person says: mind the gap"`, 0},
		{"no", false, `"deny","permissionDecisionReason":"assent: User refused this tool use. The person says: mind the gap"`, 2},
	} {
		t.Run(row.why, func(t *testing.T) {
			w := newWorld(t)
			done := make(chan hook.Reply)
			go func() { done <- w.run("claude", w.payload("PreToolUse", "t1", "other", "")) }()
			call := w.waits()
			if call.Session != "claude-s1" || call.ID != "t1" || call.Name != "Bash" {
				t.Errorf("call %s of session %s", call.ID, call.Session)
			}
			w.answer(call, row.yes, "mind the gap")
			got := <-done
			if got.Exit != row.exit || !strings.Contains(got.Stdout, row.want) || !strings.Contains(got.Stdout, "mind the gap") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A call whose time is over is refused with a ticket: made again, it gets the
// answer that came since, once, and only where it is the very same.
func TestATicket(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan hook.Reply)
	go func() {
		done <- hook.Run(ctx, hook.Dialects["claude"], w.host(w.payload("PreToolUse", "t1", "other", "")))
	}()
	call := w.waits()
	cancel(hook.ErrDeadline)
	if got := <-done; got.Exit != 2 || !strings.Contains(got.Stderr, "still waits for a person") || !strings.Contains(got.Stdout, `"deny"`) {
		t.Fatalf("got %+v", got)
	}
	w.answer(call, true, "")
	w.await(call, wireOrchestrated)
	if got := w.run("claude", w.payload("PreToolUse", "t2", "other", "")); got.Exit != 0 || !strings.Contains(got.Stdout, `"allow"`) {
		t.Errorf("made again: %+v", got)
	}
	if r := w.receipt(call.Session, "t1"); r.BodyStarted == nil {
		t.Error("the call that was answered was not claimed")
	}
	// What runs settles it, though the client calls it otherwise now.
	w.run("claude", w.payload("PostToolUse", "t2", "other", `,"tool_response":{"stdout":"done"}`))
	if r := w.receipt(call.Session, "t1"); r.Completed == nil || string(r.OutcomeJSON) != `{"ok":true,"text":"{\"stdout\":\"done\"}"}` {
		t.Errorf("the outcome is %s", r.OutcomeJSON)
	}
	// A third time is a new call, which waits anew.
	for _, command := range []string{"other", "other "} {
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			done <- hook.Run(ctx, hook.Dialects["claude"], w.host(w.payload("PreToolUse", "t3"+strings.TrimLeft(command, "other"), command, "")))
		}()
		next := w.waits()
		if next.ID == "t1" {
			t.Errorf("%q: the answer is used a second time", command)
		}
		w.answer(next, false, "")
		cancel(nil)
		<-done
	}
}

// given up by its hook, as where its time is over
func (w *world) gaveUp(id, command string) wire.Job {
	w.Helper()
	ctx, cancel := context.WithCancelCause(w.Context())
	done := make(chan hook.Reply)
	go func() {
		done <- hook.Run(ctx, hook.Dialects["claude"], w.host(w.payload("PreToolUse", id, command, "")))
	}()
	call := w.waits()
	cancel(hook.ErrDeadline)
	if got := <-done; got.Exit != 2 || !strings.Contains(got.Stderr, "within 24 hours") {
		w.Fatalf("got %+v", got)
	}
	return call
}

// A no that comes late, and its comment, reaches the agent once.
func TestALateNo(t *testing.T) {
	w := newWorld(t)
	call := w.gaveUp("t1", "other")
	w.answer(call, false, "mind the gap")
	w.await(call, "completed")
	if got := w.run("claude", w.payload("PreToolUse", "t2", "other", "")); got.Exit != 2 || !strings.Contains(got.Stderr, "User refused this tool use. The person says: mind the gap") {
		t.Errorf("made again: %+v", got)
	}
	if next := w.gaveUp("t3", "other"); next.ID != "t3" {
		t.Errorf("a third time: %s waits", next.ID)
	}
}

// A license that no person gave ends with the hook that waited for it.
func TestALicenseNobodyTook(t *testing.T) {
	w := newWorld(t)
	call := w.gaveUp("t1", "other")
	for _, mode := range []string{"yolo", "manual"} {
		if _, err := w.kernel.Assign(t.Context(), call.Session, mode, false, ada); err != nil {
			t.Fatal(err)
		}
		w.await(call, wireOrchestrated)
	}
	if next := w.gaveUp("t2", "other"); next.ID != "t2" {
		t.Errorf("%s waits", next.ID)
	}
}

// A call whose client ends its hook is cancelled: nobody hears an answer.
func TestAStoppedHookCancels(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan hook.Reply)
	go func() {
		done <- hook.Run(ctx, hook.Dialects["claude"], w.host(w.payload("PreToolUse", "t1", "other", "")))
	}()
	call := w.waits()
	cancel()
	if got := <-done; got.Exit != 2 || !strings.Contains(got.Stderr, "cancelled") {
		t.Errorf("got %+v", got)
	}
	w.await(call, "cancelled")
	if next := w.gaveUp("t2", "other"); next.ID != "t2" {
		t.Errorf("%s waits", next.ID)
	}
}

// A kernel that takes the connection and says nothing has asked nobody.
func TestAKernelThatIsSilent(t *testing.T) {
	w := newWorld(t)
	socket := filepath.Join(filepath.Dir(w.socket), "silent")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		if conn, err := l.Accept(); err == nil {
			defer conn.Close()
			_, _ = conn.Read(make([]byte, 1))
			cancel(hook.ErrDeadline)
			<-t.Context().Done()
		}
	}()
	host := w.host(w.payload("PreToolUse", "t1", "other", ""))
	host.Socket = socket
	if got := hook.Run(ctx, hook.Dialects["claude"], host); got.Exit != 2 || strings.Contains(got.Stderr, "waits for a person") || !strings.Contains(got.Stderr, "has not answered in time") {
		t.Errorf("got %+v", got)
	}
}

const wireOrchestrated = "orchestrationResult"

// await waits until a field of a call is written.
func (w *world) await(call wire.Job, name string) {
	w.Helper()
	for rows, err := range w.doc.Watch(w.Context(), 0, plexus.Filter{Session: call.Session}) {
		if err != nil {
			w.Fatal(err)
		}
		for _, row := range rows {
			if f, ok := row.(plexus.Field); ok && f.Job == call.ID && f.Name == name {
				return
			}
		}
	}
}

// A yes is for a call where it started: the same words do another thing elsewhere.
func TestATicketIsOfAFolder(t *testing.T) {
	w := newWorld(t)
	other := filepath.Join(w.ws, "sub")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan hook.Reply)
	go func() {
		done <- hook.Run(ctx, hook.Dialects["claude"], w.host(w.payload("PreToolUse", "t1", "other", "")))
	}()
	call := w.waits()
	cancel(hook.ErrDeadline)
	<-done
	w.answer(call, true, "")
	w.await(call, wireOrchestrated)
	go func() {
		done <- w.run("claude", strings.Replace(w.payload("PreToolUse", "t2", "other", ""), `"cwd":"`+w.ws, `"cwd":"`+other, 1))
	}()
	next := w.waits()
	if next.ID != "t2" {
		t.Errorf("call %s waits", next.ID)
	}
	w.answer(next, false, "")
	if got := <-done; got.Exit != 2 {
		t.Errorf("elsewhere: %+v", got)
	}
}

// Two that have the same yes: one goes on.
func TestOneYesIsForOne(t *testing.T) {
	w := newWorld(t)
	done := make(chan hook.Reply, 2)
	go func() { done <- w.run("claude", w.payload("PreToolUse", "", "other", "")) }()
	first := w.waits()
	go func() { done <- w.run("claude", w.payload("PreToolUse", "", "other", "")) }()
	w.answer(first, true, "")
	if got := <-done; got.Exit != 0 {
		t.Fatalf("the first: %+v", got)
	}
	second := w.waits()
	if second.ID == first.ID {
		t.Fatal("the same call waits twice")
	}
	w.answer(second, false, "")
	if got := <-done; got.Exit != 2 {
		t.Errorf("the second: %+v", got)
	}
}

func TestWhatRanOtherwiseIsFlagged(t *testing.T) {
	w := newWorld(t)
	if got := w.run("claude", w.payload("PreToolUse", "t1", "let it", "")); got.Exit != 0 {
		t.Fatalf("got %+v", got)
	}
	w.run("claude", w.payload("PostToolUse", "t1", "let it be", `,"tool_response":"fine"`))
	r := w.receipt("claude-s1", "t1")
	if want := `{"ok":true,"text":"fine","otherwise":true,"arguments":{"command":"let it be"}}`; string(r.OutcomeJSON) != want {
		t.Errorf("got %s, want %s", r.OutcomeJSON, want)
	}
}

// A call that ran without a license is written down, and none waits for an answer any
// more.
func TestWhatRanUnlicensedIsFlagged(t *testing.T) {
	w := newWorld(t)
	post := func(call, command, more string) {
		t.Helper()
		if got := w.run("claude", w.payload("PostToolUse", call, command, `,"tool_response":"RAN"`+more)); got.Exit != 0 {
			t.Fatalf("%s: %+v", call, got)
		}
	}
	w.run("claude", w.payload("PreToolUse", "refused", "never", ""))
	w.gaveUp("waits", "other")
	post("refused", "never", "")
	post("waits", "another", "")
	post("unasked", "let it", "")
	post("elsewhere", "let it", `,"agent_id":"a7"`)
	w.run("claude", strings.ReplaceAll(w.payload("PostToolUseFailure", "anew", "other", `,"error":"Exit code 3"`), `"s1"`, `"s2"`))
	got := make(map[string]string)
	calls, err := w.person.Calls(t.Context(), client.CallFilter{Result: "ran"})
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range calls.Calls {
		got[call.Session+" "+call.Job] = fmt.Sprint(call.Ran.How, " ", call.Ran.OK, " ", string(call.Ran.Arguments), " ", call.Ran.Text)
		if call.Completed == nil {
			t.Errorf("%s is not settled", call.Job)
		}
	}
	want := map[string]string{
		"claude-s1 refused": "refused true  RAN", "claude-s1 waits": `waiting true {"command":"another"} RAN`, "claude-s1 unasked": "unasked true  RAN",
		"claude-s1.a7 elsewhere": "unasked true  RAN", "claude-s2 anew": "unasked false  Exit code 3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestASubAgentIsAChild(t *testing.T) {
	w := newWorld(t)
	if got := w.run("claude", w.payload("PreToolUse", "t1", "let it", `,"agent_id":"a7","agent_type":"general-purpose"`)); got.Exit != 0 {
		t.Fatalf("got %+v", got)
	}
	s, err := w.doc.Open(t.Context(), "claude-s1.a7")
	if err != nil || s.Session.Parent != "claude-s1" {
		t.Errorf("got %+v, %v", s, err)
	}
}

// Codex asks its person beside: about a tool of a server that is the question which
// was answered, once a license; about a command it is another one.
func TestTheClientsOwnQuestion(t *testing.T) {
	w := newWorld(t)
	say := func(event, tool, arguments string) hook.Reply {
		return w.run("codex", `{"hook_event_name":"`+event+`","session_id":"s1","cwd":"`+w.ws+`","tool_name":"`+tool+`","tool_input":`+arguments+`}`)
	}
	const allow = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}` + "\n"
	for _, row := range []struct{ why, event, tool, arguments, want string }{
		{"before it was licensed", "PermissionRequest", "mcp__desk__get_mark", `{"description":"its own"}`, ""},
		{"licensed", "PreToolUse", "mcp__desk__get_mark", `{"description":"its own"}`, ""},
		{"another call", "PermissionRequest", "mcp__desk__get_mark", `{"description":"else"}`, ""},
		{"the question", "PermissionRequest", "mcp__desk__get_mark", `{"description":"its own"}`, allow},
		{"a second question", "PermissionRequest", "mcp__desk__get_mark", `{"description":"its own"}`, ""},
		{"a command is licensed", "PreToolUse", "Bash", `{"command":"let it"}`, ""},
		{"it is to leave the sandbox", "PermissionRequest", "Bash", `{"command":"let it","description":"need it"}`, ""},
		{"it asks the same", "PermissionRequest", "Bash", `{"command":"let it"}`, ""},
	} {
		if got := say(row.event, row.tool, row.arguments); got != (hook.Reply{Stdout: row.want}) {
			t.Errorf("%s: %+v", row.why, got)
		}
	}
}

// What an allow would switch off of Claude Code's own, it does not.
func TestAnAllowSpeaksOfNothingElse(t *testing.T) {
	w := newWorld(t)
	if _, err := w.kernel.CreateSession(t.Context(), kernel.NewSession{ID: "claude-s1", Mode: "yolo", Workspace: w.ws}, ada); err != nil {
		t.Fatal(err)
	}
	plan := w.payload("PreToolUse", "", "let it", `,"permission_mode":"plan"`)
	for why, payload := range map[string]string{
		"it plans":      plan,
		"the plan":      strings.Replace(w.payload("PreToolUse", "", "x", ""), `"Bash"`, `"ExitPlanMode"`, 1),
		"its question":  strings.Replace(w.payload("PreToolUse", "", "x", ""), `"Bash"`, `"AskUserQuestion"`, 1),
		"a known event": `{"hook_event_name":"SessionStart","session_id":"s1","cwd":"/"}`,
	} {
		if got := w.run("claude", payload); got != (hook.Reply{}) {
			t.Errorf("%s: %+v", why, got)
		}
	}
	if got := w.run("claude", strings.Replace(plan, "let it", "never it", 1)); got.Exit != 2 {
		t.Errorf("blocked while it plans: %+v", got)
	}
}

// A message about a tool that is not understood is none that lets it run.
func TestAnEventThatIsNotKnown(t *testing.T) {
	w := newWorld(t)
	for client, event := range map[string]string{"claude": "BeforeTool", "codex": "preToolUse", "gemini": "PreToolUse"} {
		if got := w.run(client, w.payload(event, "t1", "let it", "")); got.Exit != 2 || got.Stderr == "" {
			t.Errorf("%s, %s: %+v", client, event, got)
		}
	}
}

func TestSettingsThatSwitchHooksOff(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(w.ws, "settings.json")
	for _, row := range []struct {
		text string
		exit int
	}{
		{`{"theme":"dark"}`, 0}, {`{"disableAllHooks":true}`, 2}, {`{"disableAllHooks":false}`, 0}, {`{"\u0064isableAllHooks":true}`, 2}, {`{"disableAllHooks":false,"disableAllHooks":true}`, 2},
		{`{"disableAllHooks":"true"}`, 2}, {`{"disable`, 2}, {`[]`, 2}, {"", 0},
	} {
		if row.text == "" {
			os.Remove(file)
		} else if err := os.WriteFile(file, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := w.run("claude", `{"hook_event_name":"ConfigChange","session_id":"s1","cwd":"`+w.ws+`","source":"local_settings","file_path":"`+file+`"}`); got.Exit != row.exit {
			t.Errorf("%s: got %+v", row.text, got)
		}
	}
}

// A change that takes the hook out of the file it was put into is refused.
func TestSettingsThatLoseTheHook(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(w.ws, "settings.json")
	const ours = `{"hooks":{"PreToolUse":[{"matcher":"M","hooks":[{"type":"command","command":"/b/assent-hook","args":["--deadline","1h","claude"]}]}]}}`
	for _, row := range []struct {
		why, text string
		exit      int
	}{
		{"as it was", strings.Replace(ours, "M", "*", 1), 0}, {"for one tool", strings.Replace(ours, "M", "Nope", 1), 2}, {"gone", "", 2}, {"empty", `{}`, 2},
		{"no hooks", `{"hooks":{}}`, 2}, {"no hook before", `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[]}]}}`, 2}, {"another client's", strings.NewReplacer("M", "*", `"claude"`, `"codex"`).Replace(ours), 2},
	} {
		if row.text == "" {
			os.Remove(file)
		} else if err := os.WriteFile(file, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, connected := range []bool{true, false} {
			host := w.host(`{"hook_event_name":"ConfigChange","session_id":"s1","cwd":"` + w.ws + `","source":"user_settings","file_path":"` + file + `"}`)
			host.Connected = func(f string) bool { return connected && f == file }
			want := 0
			if connected {
				want = row.exit
			}
			if got := hook.Run(t.Context(), hook.Dialects["claude"], host); got.Exit != want {
				t.Errorf("%s, connected %v: %+v", row.why, connected, got)
			}
		}
	}
	if got := w.run("claude", `{"hook_event_name":"ConfigChange","session_id":"s1","cwd":"`+w.ws+`","source":"user_settings"}`); got.Exit != 2 {
		t.Errorf("no file: %+v", got)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { panic("the pipe is on fire") }

// Whatever goes wrong is a refusal, in the form that every client obeys.
func TestWhatGoesWrongRefuses(t *testing.T) {
	w := newWorld(t)
	good := w.payload("PreToolUse", "t1", "let it", "")
	for _, row := range []struct {
		why  string
		host func() hook.Host
		want string
	}{
		{"no payload", func() hook.Host { return w.host("") }, "cannot be read"},
		{"half a payload", func() hook.Host { return w.host(good[:40]) }, "cannot be read"},
		{"two payloads", func() hook.Host { return w.host(good + good) }, "cannot be read"},
		{"a member twice", func() hook.Host { return w.host(strings.Replace(good, "{", `{"tool_name":"Read",`, 1)) }, "duplicate"},
		{"no event", func() hook.Host { return w.host(`{"session_id":"s"}`) }, "no hook_event_name"},
		{"no session", func() hook.Host { return w.host(strings.Replace(good, `"s1"`, `""`, 1)) }, "names no session"},
		{"no tool", func() hook.Host { return w.host(strings.Replace(good, `"Bash"`, `""`, 1)) }, "names no tool"},
		{"no folder", func() hook.Host { return w.host(strings.Replace(good, w.ws, "", 1)) }, "in which folder"},
		{"arguments that are none", func() hook.Host { return w.host(strings.Replace(good, `{"command":"let it"}`, `["let it"]`, 1)) }, "no object"},
		{"a folder that is none", func() hook.Host { return w.host(strings.Replace(good, w.ws, w.ws+"/none", 1)) }, "the kernel does not take the call"},
		{"a panic", func() hook.Host { h := w.host(""); h.Stdin = brokenReader{}; return h }, "on fire"},
		{"no kernel", func() hook.Host { h := w.host(good); h.Socket += "none"; return h }, "not running"},
		{"no kernel, and none can be started", func() hook.Host {
			h := w.host(good)
			h.Socket += "none"
			h.Start = func(context.Context) error { return errors.New("no program") }
			return h
		}, "cannot be started: no program"},
		{"another listens", func() hook.Host {
			h := w.host(good)
			h.Verify = func(uint32) error { return errors.New("user 7 listens") }
			return h
		}, "user 7 listens"},
	} {
		t.Run(row.why, func(t *testing.T) {
			got := hook.Run(t.Context(), hook.Dialects["claude"], row.host())
			if got.Exit != 2 || got.Stdout != "" || !strings.Contains(got.Stderr, row.want) {
				t.Errorf("got %+v, want %q", got, row.want)
			}
		})
	}
}

// What answers on the socket and is no kernel, or dies, lets nothing through.
func TestWhatIsNoKernelRefuses(t *testing.T) {
	w := newWorld(t)
	for why, answer := range map[string]string{
		"nothing":                  "",
		"no HTTP":                  "SSH-2.0-hello\r\n",
		"half a head":              "HTTP/1.1 200 OK\r\nContent-",
		"no length":                "HTTP/1.1 200 OK\r\n\r\n{}",
		"half a body":              "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
		"a length of a lie":        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{",
		"no JSON":                  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno",
		"an error without a cause": "HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\n{}",
		"chunks that are none":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"a yes to everything":      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
	} {
		t.Run(why, func(t *testing.T) {
			socket := filepath.Join(filepath.Dir(w.socket), "l")
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					go func() {
						io.ReadAtLeast(c, make([]byte, 1<<10), 1)
						io.WriteString(c, answer)
						c.Close()
					}()
				}
			}()
			h := w.host(w.payload("PreToolUse", "t1", "let it", ""))
			h.Socket = socket
			ctx, cancel := hook.Within(t.Context(), 2*time.Second)
			defer cancel()
			if got := hook.Run(ctx, hook.Dialects["claude"], h); got.Exit != 2 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// Every payload that was recorded of a real client is read, and those before a
// call are held to the floor.
func TestRecordedPayloads(t *testing.T) {
	for _, name := range []string{"claude", "codex", "gemini", "opencode"} {
		files, _ := filepath.Glob("../../../shared/clients/" + name + "/*.json")
		if len(files) == 0 {
			t.Skip("no recorded payloads are at hand in ../shared/clients")
		}
		before := 0
		for _, file := range files {
			base := filepath.Base(file)
			if !strings.HasPrefix(base, "PreToolUse") && !strings.HasPrefix(base, "PostToolUse") && !strings.HasPrefix(base, "BeforeTool.") && !strings.HasPrefix(base, "AfterTool.") &&
				!strings.HasPrefix(base, "PermissionRequest") && !strings.HasPrefix(base, "tool.execute") && base != "ConfigChange.json" && !strings.HasPrefix(base, "Session") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(base, "PostToolBatch") {
				continue
			}
			payload := string(text)
			if name == "opencode" {
				event := "tool.execute.before"
				if strings.HasPrefix(base, "tool.execute.after") {
					event = "tool.execute.after"
				}
				payload = strings.Replace(payload, "{", `{"event":"`+event+`","directory":"/workspace",`, 1)
			}
			p, err := hook.Dialects[name].Read([]byte(payload))
			if err != nil {
				t.Errorf("%s/%s: %v", name, base, err)
				continue
			}
			if p.Moment == hook.Before {
				before++
				if p.Tool == "" || p.Session == "" || !jsontext.Value(p.Arguments).IsValid() || name != "gemini" && p.Call == "" {
					t.Errorf("%s/%s: %+v", name, base, p)
				}
			}
		}
		if before < 5 {
			t.Errorf("%s: only %d payloads before a call", name, before)
		}
	}
}

// A session that is taken up again by another agent is a new one beside it, with
// nothing of what was granted there.
func TestASessionIsTakenUpByAnotherAgent(t *testing.T) {
	w := newWorld(t)
	spy := plexus.Writer{Role: plexus.Agent, Name: "gone"}
	if _, err := w.kernel.CreateSession(t.Context(), kernel.NewSession{ID: "claude-s1", Workspace: w.ws}, spy); err != nil {
		t.Fatal(err)
	}
	if _, err := w.kernel.Assign(t.Context(), "claude-s1", "yolo", false, ada); err != nil {
		t.Fatal(err)
	}
	for _, payload := range []string{w.payload("PreToolUse", "t1", "let it", ""), w.payload("PostToolUse", "t1", "let it", `,"tool_response":"fine"`)} {
		if got := w.run("claude", payload); got.Exit != 0 {
			t.Fatalf("got %+v", got)
		}
	}
	if r := w.receipt("claude-s1-again-2", "t1"); r.Completed == nil {
		t.Errorf("got %+v", r)
	}
	if got := w.run("claude", w.payload("PreToolUse", "t2", "let it", `,"agent_id":"a7"`)); got.Exit != 0 {
		t.Errorf("a sub-agent: %+v", got)
	}
	if call := w.gaveUp("t3", "other"); call.Session != "claude-s1-again-2" {
		t.Errorf("%s waits in %s", call.ID, call.Session)
	}
}

// No two sub-agents, and no agent and a sub-agent, share a session.
func TestSessionsOfAgentsAreApart(t *testing.T) {
	w := newWorld(t)
	for _, row := range []struct{ session, agent string }{{"a", ""}, {"a", "b.c"}, {"a.b", "c"}, {"a.b.c", ""}, {"a.b", ""}, {"a", "b"}, {"a b", ""}, {"é", "b"}} {
		before, err := w.person.Sessions(t.Context(), client.SessionFilter{})
		if err != nil {
			t.Fatal(err)
		}
		payload := strings.Replace(w.payload("PreToolUse", "", "let it", `,"agent_id":"`+row.agent+`"`), `"s1"`, `"`+row.session+`"`, 1)
		if got := w.run("claude", payload); got.Exit != 0 {
			t.Errorf("%v: %+v", row, got)
		}
		after, err := w.person.Sessions(t.Context(), client.SessionFilter{})
		if err != nil {
			t.Fatal(err)
		}
		known := make(map[string]bool)
		for _, s := range before.Sessions {
			known[s.ID] = true
		}
		fresh := 0
		for _, s := range after.Sessions {
			if !known[s.ID] {
				fresh++
			}
		}
		if parent := row.session == "a.b" && row.agent == ""; fresh == 0 && !parent { // that one was made for its sub-agent
			t.Errorf("%v is in a session of another", row)
		}
	}
}
