package job_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"assent/job"

	"github.com/google/go-cmp/cmp"
)

// The ten kinds of leaves and the two sequences, as law §8 names them.
var (
	leaves = []job.Kind{"SystemToolJob", "FileMutateToolJob", "MCPToolJob", "WebSearchToolJob", "WebExtractToolJob",
		"AgentCallJob", "AgentCallbackJob", "AgentNotifyJob", "AgentMessageJob", "ContextNeedToolJob"}
	sequences     = []job.Kind{"SessionTurn", "ProgrammaticJob"}
	communication = []job.Kind{"AgentCallJob", "AgentCallbackJob", "AgentNotifyJob", "AgentMessageJob", "ContextNeedToolJob"}
)

func yes(context.Context, job.Call) (bool, error)          { return true, nil }
func done(context.Context, job.Call) (job.Outcome, error)  { return job.Text("done"), nil }
func other(context.Context, job.Call) (job.Outcome, error) { return job.Text("other"), nil }

func TestKinds(t *testing.T) {
	if diff := cmp.Diff(leaves, job.Leaves()); diff != "" {
		t.Errorf("the kinds of leaves (-law +job):\n%s", diff)
	}
	var r job.Registry
	for _, kind := range append([]job.Kind{job.Foreign}, leaves...) {
		if kind.Sequence() {
			t.Errorf("%s is a sequence", kind)
		}
		if got := job.Kind(kind.Leaf().String()); got != kind {
			t.Errorf("%s is %s in the law's eyes", kind, got)
		}
		if err := r.RegisterExecutor(kind, nil, done); err != nil {
			t.Error(err)
		}
		if _, ok := r.Lookup(kind, "anything"); !ok {
			t.Errorf("%q has no executor", kind)
		}
	}
	for _, kind := range sequences {
		if !kind.Sequence() {
			t.Errorf("%s is no sequence", kind)
		}
		if err := r.RegisterExecutor(kind, nil, done); !errors.Is(err, job.ErrSequence) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, kind := range append(leaves, sequences...) {
		want := false
		for _, c := range communication {
			want = want || c == kind
		}
		if got := job.Communication(kind, "anything"); got != want {
			t.Errorf("%s is communication: %v", kind, got)
		}
	}
}

// A name makes nothing communication, but for the host's own two (law §7).
func TestCommunication(t *testing.T) {
	for _, test := range []struct {
		why  string
		kind job.Kind
		name string
		want bool
	}{
		{"the host's own", job.SystemTool, "update_metadata", true},
		{"the host's own", job.SystemTool, "context_need", true},
		{"another of the host's", job.SystemTool, "Bash", false},
		{"a client's of that name", job.Foreign, "update_metadata", false},
		{"a client's of that name", job.Foreign, "AgentCallJob", false},
		{"a server's of that name", job.MCPTool, "context_need", false},
		{"a kind nobody knows", "AgentTalkJob", "agent_call", false},
	} {
		if got := job.Communication(test.kind, test.name); got != test.want {
			t.Errorf("%s: %q %s: %v", test.why, test.kind, test.name, got)
		}
	}
}

func TestRefusedExecutors(t *testing.T) {
	var r job.Registry
	if err := errors.Join(r.RegisterExecutor(job.MCPTool, yes, done), r.RegisterTool(job.SystemTool, "greet", yes, done)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		why  string
		got  error
		want error
	}{
		{"a turn", r.RegisterExecutor(job.SessionTurn, nil, done), job.ErrSequence},
		{"a tool of a program", r.RegisterTool(job.ProgrammaticJob, "x", nil, done), job.ErrSequence},
		{"a kind nobody knows", r.RegisterExecutor("SystemTool", nil, done), job.ErrKind},
		{"a kind in another case", r.RegisterExecutor("systemtooljob", nil, done), job.ErrKind},
		{"a tool without a name", r.RegisterTool(job.SystemTool, "", nil, done), job.ErrKind},
		{"no body", r.RegisterExecutor(job.WebSearchTool, yes, nil), job.ErrNoBody},
		{"twice", r.RegisterExecutor(job.MCPTool, yes, other), job.ErrTwice},
		{"a tool twice", r.RegisterTool(job.SystemTool, "greet", nil, other), job.ErrTwice},
		{"a guard nobody would hear", r.RegisterExecutor(job.AgentMessage, yes, done), job.ErrUnheard},
		{"a guard of the host's own nobody would hear", r.RegisterTool(job.SystemTool, "update_metadata", yes, done), job.ErrUnheard},
	} {
		if !errors.Is(test.got, test.want) {
			t.Errorf("%s: got %v, want %v", test.why, test.got, test.want)
		}
	}
	for _, kind := range []job.Kind{job.WebSearchTool, job.AgentMessage} {
		if _, ok := r.Lookup(kind, "x"); ok {
			t.Errorf("%s was refused, and is there", kind)
		}
	}
	if e, _ := r.Lookup(job.MCPTool, "x"); says(t, e) != "done" {
		t.Error("the second one took the place of the first")
	}
}

// A tool's own executor goes before that of its kind; names are compared as
// they stand.
func TestLookup(t *testing.T) {
	var r job.Registry
	if _, ok := r.Lookup(job.SystemTool, "greet"); ok {
		t.Error("the empty registry runs something")
	}
	if err := errors.Join(r.RegisterExecutor(job.SystemTool, nil, done), r.RegisterTool(job.SystemTool, "greet", nil, other)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		kind job.Kind
		name string
		want string
	}{
		{job.SystemTool, "greet", "other"},
		{job.SystemTool, "Greet", "done"},
		{job.SystemTool, "greet ", "done"},
		{job.SystemTool, "", "done"},
		{job.Foreign, "greet", ""},
		{job.MCPTool, "greet", ""},
	} {
		e, ok := r.Lookup(test.kind, test.name)
		if got := says(t, e); got != test.want || ok != (test.want != "") {
			t.Errorf("%q %q: %q runs it, want %q", test.kind, test.name, got, test.want)
		}
	}
}

func says(t *testing.T, e job.Executor) string {
	t.Helper()
	if e.Body == nil {
		return ""
	}
	outcome, err := e.Body(t.Context(), job.Call{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(outcome), `{"ok":true,"text":"`), `"}`)
}

func TestAsk(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "seen")
	oops := errors.New("oops")
	for _, test := range []struct {
		why   string
		guard job.Guard
		ok    bool
		err   string
	}{
		{"none", nil, true, ""},
		{"true", yes, true, ""},
		{"false", func(context.Context, job.Call) (bool, error) { return false, nil }, false, ""},
		{"an error", func(context.Context, job.Call) (bool, error) { return false, oops }, false, "the guard of greet: oops"},
		{"an error beside true", func(context.Context, job.Call) (bool, error) { return true, oops }, false, "the guard of greet: oops"},
		{"a panic", func(context.Context, job.Call) (bool, error) { panic("help") }, false, "the guard of greet: it panicked: help"},
		{"a panic with nil", func(context.Context, job.Call) (bool, error) { panic(nil) }, false, "panicked"},
		{"it leaves", func(context.Context, job.Call) (bool, error) { runtime.Goexit(); return true, nil }, false, "without an answer"},
		{"it sees the call", func(ctx context.Context, call job.Call) (bool, error) {
			return ctx.Value(key{}) == "seen" && call.Job == "j", nil
		}, true, ""},
		{"it waits for the end", func(ctx context.Context, _ job.Call) (bool, error) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			<-ctx.Done()
			return true, ctx.Err()
		}, false, "context canceled"},
	} {
		t.Run(test.why, func(t *testing.T) {
			ok, err := job.Executor{Guard: test.guard, Body: done}.Ask(ctx, job.Call{Job: "j", Name: "greet"})
			if ok != test.ok || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %v, %v, want %v, %q", ok, err, test.ok, test.err)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	for _, test := range []struct {
		why, arguments, want string
		fails                bool
	}{
		{"an argument", `{"name":"x"}`, "x", false},
		{"none", ``, "", false},
		{"none of them", `{}`, "", false},
		{"a member nobody knows", `{"name":"x","also":1}`, "", true},
		{"a member twice", `{"name":"x","name":"y"}`, "", true},
		{"another case", `{"Name":"x"}`, "", true},
		{"another type", `{"name":1}`, "", true},
		{"something behind it", `{"name":"x"} {}`, "", true},
		{"not UTF-8", "{\"name\":\"\xff\"}", "", true},
	} {
		t.Run(test.why, func(t *testing.T) {
			var got struct {
				Name string `json:"name"`
			}
			call := job.Call{Name: "greet", Arguments: []byte(test.arguments)}
			if err := call.Decode(&got); (err != nil) != test.fails || err == nil && got.Name != test.want {
				t.Errorf("%s: got %q, %v", test.arguments, got.Name, err)
			}
		})
	}
}

func TestCheckArguments(t *testing.T) {
	for _, test := range []struct {
		why, arguments string
		fine           bool
	}{
		{"an object", `{"a":[1,{"b":null}]}`, true},
		{"none", ``, true},
		{"null", `null`, false},
		{"an array", `[]`, false},
		{"a text", `"x"`, false},
		{"a member twice", `{"a":1,"a":1}`, false},
		{"a member twice, deep down", `{"x":[{"a":1,"a":1}]}`, false},
		{"something behind it", `{}{}`, false},
		{"not UTF-8", "{\"a\":\"\xff\"}", false},
		{"cut off", `{"a":`, false},
		{"as long as may be", `{"a":"` + strings.Repeat("x", job.MaxArguments-8) + `"}`, true},
		{"one byte more", `{"a":"` + strings.Repeat("x", job.MaxArguments-7) + `"}`, false},
		{"nested without end", `{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, false},
	} {
		t.Run(test.why, func(t *testing.T) {
			if err := job.CheckArguments([]byte(test.arguments)); (err == nil) != test.fine || err != nil && !errors.Is(err, job.ErrArguments) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOutcomes(t *testing.T) {
	if got := string(job.Text("a \"b\" <c> \xff")); got != `{"ok":true,"text":"a \"b\" <c> `+"\ufffd"+`"}` {
		t.Errorf("text: %s", got)
	}
	if got, err := job.JSON(map[string]any{"ok": true}); err != nil || string(got) != `{"ok":true}` {
		t.Errorf("JSON: %s, %v", got, err)
	}
	if got, err := job.JSON(func() {}); err == nil {
		t.Errorf("a function is %s", got)
	}
}

func TestWhatGoesThroughSequences(t *testing.T) {
	var r job.Registry
	if r.Sequences() {
		t.Error("an empty registry knows one")
	}
	for _, test := range []struct {
		why  string
		kind job.Kind
		run  job.Body
		want error
	}{
		{"a leaf needs a license", job.SystemTool, done, job.ErrLeaf},
		{"a call of a client's own does", job.Foreign, done, job.ErrLeaf},
		{"nothing", job.ProgrammaticJob, nil, job.ErrNoBody},
		{"a program", job.ProgrammaticJob, done, nil},
		{"it once more", job.ProgrammaticJob, done, job.ErrTwice},
		{"a turn", job.SessionTurn, done, nil},
	} {
		if err := r.RegisterSequence(test.kind, "x", test.run); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.why, err, test.want)
		}
	}
	if r.Sequence(job.ProgrammaticJob, "x") == nil || r.Sequence(job.ProgrammaticJob, "y") != nil {
		t.Error("a sequence is found by its kind and its name")
	}
	if _, ok := r.Lookup(job.ProgrammaticJob, "x"); ok {
		t.Error("a sequence has a body, as if it were licensed")
	}
}
