package program

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"assent/job"
	"assent/scheme"
)

var tools = []job.Tool{
	{Kind: job.SystemTool, Name: "bash", Needs: []string{"command"}},
	{Kind: job.SystemTool, Name: "read", Needs: []string{"path"}},
	{Kind: job.FileMutateTool, Name: "edit", Needs: []string{"path", "edits"}},
}

// answers is a host that answers each call by its arguments.
type answers struct {
	of    map[string]job.Settled
	calls []string
	err   error
}

func (a *answers) Inside(ctx context.Context, of job.Call, c job.Inside) (job.Settled, error) {
	a.calls = append(a.calls, fmt.Sprintf("%d %d:%d %s %s %s", c.Place, c.Line, c.Column, c.Kind, c.Name, c.Arguments))
	if ctx.Err() != nil {
		return job.Settled{}, ctx.Err()
	}
	if settled, ok := a.of[string(c.Arguments)]; ok {
		return settled, a.err
	}
	return job.Settled{Outcome: []byte(`{"ok":true,"text":"done","exitCode":0}`)}, a.err
}

// play runs a program and gives its outcome.
func play(t *testing.T, host *answers, expr string, change ...func(*Options)) (outcome, error) {
	t.Helper()
	o := Options{Host: host, Tools: tools, Limits: DefaultLimits, Calls: DefaultCalls}
	for _, f := range change {
		f(&o)
	}
	arguments, err := json.Marshal(map[string]string{"expr": expr})
	if err != nil {
		t.Fatal(err)
	}
	out, err := o.run(t.Context(), job.Call{Session: "s", Job: "p", Kind: job.ProgrammaticJob, Name: Name, Arguments: arguments})
	var got outcome
	if err == nil {
		if err := json.Unmarshal(out, &got, json.RejectUnknownMembers(true)); err != nil {
			t.Fatal(string(out), err)
		}
	}
	return got, err
}

var no = job.Settled{Outcome: []byte(`{"ok":false,"text":"User refused this tool use"}`), Refused: true, Comment: "use trash"}

func TestPrograms(t *testing.T) {
	host := map[string]job.Settled{
		`{"command":"rm x"}`:   no,
		`{"command":"quiet"}`:  {Outcome: []byte(`{"ok":false,"text":"Policy prohibits this","code":"policy_denied"}`), Refused: true},
		`{"command":"false"}`:  {Outcome: []byte(`{"ok":false,"text":"oh","exitCode":1}`)},
		`{"command":"stop"}`:   {Outcome: []byte(`{"ok":false,"text":"cancelled"}`), Cancelled: true},
		`{"command":"number"}`: {Outcome: []byte(`7`)},
		`{"command":"much"}`:   {Outcome: []byte(`{"n":[1,2.5,-3,123456789012345678901,true,false,null,"x",{}]}`)},
		`{"path":"a.txt"}`:     {Outcome: []byte(`{"ok":true,"text":"alpha\nbeta\n","first":1,"lines":2}`)},
	}
	for _, test := range []struct {
		why, expr string
		want      outcome
		calls     []string
	}{
		{"it only computes", `(+ 1 2)`, outcome{OK: true, Text: "3"}, nil},
		{"a text is the outcome as it is", `(string-append "a" "\n")`, outcome{OK: true, Text: "a\n"}, nil},
		{"nothing is the outcome of nothing", `(if #f #f)`, outcome{OK: true}, nil},
		{"what is displayed stands beside it", `(display "seen") (newline) 'value`, outcome{OK: true, Text: "value", Output: "seen\n"}, nil},
		{"a call gives what it says", `(bash "ls")`, outcome{OK: true, Text: "done", Calls: 1}, []string{`1 1:1 SystemToolJob bash {"command":"ls"}`}},
		{"arguments behind their names", "\n (bash \"ls\" 'timeout 500)", outcome{OK: true, Text: "done", Calls: 1},
			[]string{`1 2:2 SystemToolJob bash {"command":"ls","timeout":500}`}},
		{"all of them behind their names", `(bash 'command "ls")`, outcome{OK: true, Text: "done", Calls: 1}, []string{`1 1:1 SystemToolJob bash {"command":"ls"}`}},
		{"the language's own names stay", `(list (tool:read "a.txt") (read (open-input-string "word")))`, outcome{OK: true, Text: `("alpha\nbeta\n" word)`, Calls: 1},
			[]string{`1 1:7 SystemToolJob read {"path":"a.txt"}`}},
		{"lists and association lists", `(edit "f" (list '((oldText . "a") (newText . "b"))))`, outcome{OK: true, Text: "done", Calls: 1},
			[]string{`1 1:1 FileMutateToolJob edit {"path":"f","edits":[{"oldText":"a","newText":"b"}]}`}},
		{"every kind of value", `(bash 'a #(1 2.5 1/2 #t null) 'b '() 'c '(x "y") 'd 123456789012345678901)`, outcome{OK: true, Text: "done", Calls: 1},
			[]string{`1 1:1 SystemToolJob bash {"a":[1,2.5,0.5,true,null],"b":[],"c":["x","y"],"d":123456789012345678901}`}},
		{"a tool of a server", `(mcp__git__log 'n 2)`, outcome{OK: true, Text: "done", Calls: 1}, []string{`1 1:1 MCPToolJob mcp__git__log {"n":2}`}},
		{"a call by the name of its tool gives all of its outcome", `(cdr (assq 'exitCode (call-tool 'bash '((command . "ls")))))`, outcome{OK: true, Text: "0", Calls: 1},
			[]string{`1 1:22 SystemToolJob bash {"command":"ls"}`}},
		{"by a name that it made", `(call-tool (string-append "mcp__" "x__y"))`, outcome{OK: true, Text: `((ok . #t) (text . "done") (exitCode . 0))`, Calls: 1},
			[]string{`1 1:1 MCPToolJob mcp__x__y {}`}},
		{"an outcome of another form", `(bash "number")`, outcome{OK: true, Text: "7", Calls: 1}, []string{`1 1:1 SystemToolJob bash {"command":"number"}`}},
		{"JSON as values", `(cdar (bash "much"))`, outcome{OK: true, Text: `#(1 2.5 -3 123456789012345678901 #t #f null "x" ())`, Calls: 1},
			[]string{`1 1:7 SystemToolJob bash {"command":"much"}`}},
		{"a loop", "(for-each (lambda (f)\n  (bash f)) '(\"a\" \"b\"))", outcome{OK: true, Calls: 2},
			[]string{`1 2:3 SystemToolJob bash {"command":"a"}`, `2 2:3 SystemToolJob bash {"command":"b"}`}},

		{"a refusal ends it", "(bash \"ls\")\n(bash \"rm x\")\n(bash \"ls\")", outcome{Text: "scheme_repl:2:1: bash: User refused this tool use", Calls: 2},
			[]string{`1 1:1 SystemToolJob bash {"command":"ls"}`, `2 2:1 SystemToolJob bash {"command":"rm x"}`}},
		{"a refusal that it handles, with the comment", `(guard (e ((eq? (car (error-object-irritants e)) 'refused) (cadr (error-object-irritants e)))) (bash "rm x"))`,
			outcome{OK: true, Text: "use trash", Calls: 1}, []string{`1 1:96 SystemToolJob bash {"command":"rm x"}`}},
		{"a refusal without a comment", `(guard (e (#t (list (error-object-message e) (error-object-irritants e)))) (bash "quiet"))`,
			outcome{OK: true, Text: `("bash: Policy prohibits this" (refused))`, Calls: 1}, []string{`1 1:76 SystemToolJob bash {"command":"quiet"}`}},
		{"a failure, with all of the outcome", `(guard (e (#t (error-object-irritants e))) (bash "false"))`,
			outcome{OK: true, Text: `(failed ((ok . #f) (text . "oh") (exitCode . 1)))`, Calls: 1}, []string{`1 1:44 SystemToolJob bash {"command":"false"}`}},
		{"a call that was cancelled", `(guard (e (#t (error-object-irritants e))) (bash "stop"))`, outcome{OK: true, Text: `(cancelled)`, Calls: 1},
			[]string{`1 1:44 SystemToolJob bash {"command":"stop"}`}},
		{"an error of its own after a refusal", `(guard (e (#t (error "gave up" 1))) (bash "rm x"))`, outcome{Text: "scheme_repl:1:15: gave up 1", Calls: 1},
			[]string{`1 1:37 SystemToolJob bash {"command":"rm x"}`}},

		{"no program", `(`, outcome{Text: "scheme_repl:1:1: the list that begins here has no end"}, nil},
		{"no such tool", `(nothing "x")`, outcome{Text: "scheme_repl:1:1: nothing is not defined"}, nil},
		{"no such tool, by its name", `(call-tool 'rm)`, outcome{Text: "scheme_repl:1:1: call-tool: there is no tool rm here"}, nil},
		{"more than the tool needs", `(bash "a" "b")`, outcome{Text: "scheme_repl:1:1: bash: argument 2 needs its name before it, as in 'name value"}, nil},
		{"a name without a value", `(bash "a" 'timeout)`, outcome{Text: "scheme_repl:1:1: bash: behind the first arguments stand names, each with its value"}, nil},
		{"an argument twice", `(bash "a" 'command "b")`, outcome{Text: "scheme_repl:1:1: bash: command is given twice"}, nil},
		{"a procedure is no argument", `(bash car)`, outcome{Text: "scheme_repl:1:1: bash: #<procedure car> is nothing that a tool takes"}, nil},
		{"what holds itself", `(define v (vector 1 2)) (vector-set! v 0 v) (bash v)`, outcome{Text: "scheme_repl:1:45: bash: what is given is nested more than 100 deep"}, nil},
		{"no number of JSON", `(bash +inf.0)`, outcome{Text: "scheme_repl:1:1: bash: +Inf is no number of JSON"}, nil},
		{"arguments of another form", `(call-tool 'bash "ls")`, outcome{Text: "scheme_repl:1:1: call-tool: the arguments are no association list with symbols"}, nil},
		{"a limit is not caught", `(guard (e (#t 1)) (let loop () (loop)))`, outcome{Text: "scheme_repl:1:32: the program took too many steps"}, nil},
		{"it leaves", `(display "x") (exit) (bash "ls")`, outcome{OK: true, Output: "x"}, nil},
		{"it leaves with an error", `(exit #f)`, outcome{Text: "the program left with #f"}, nil},
	} {
		t.Run(test.why, func(t *testing.T) {
			a := &answers{of: host}
			got, err := play(t, a, test.expr)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s\noutcome (-want +got):\n%s", test.expr, diff)
			}
			if diff := cmp.Diff(test.calls, a.calls); diff != "" {
				t.Errorf("%s\ncalls (-want +got):\n%s", test.expr, diff)
			}
		})
	}
}

func TestArgumentsOfAProgram(t *testing.T) {
	for _, arguments := range []string{`{"expr":"1","also":2}`, `{"expr":1}`, `{"expr":"1","expr":"2"}`} {
		out, err := (Options{Host: &answers{}}).run(t.Context(), job.Call{Name: Name, Arguments: []byte(arguments)})
		if err != nil || !strings.HasPrefix(string(out), `{"ok":false,"text":"reading the arguments of scheme_repl: `) {
			t.Errorf("%s: got %s, %v", arguments, out, err)
		}
	}
}

// What is handed back is bounded, whatever a program makes.
func TestWhatIsKeptOfAProgram(t *testing.T) {
	got, err := play(t, &answers{}, `(display (make-string 100000 #\é)) (make-string 100000 #\é)`)
	if err != nil || len(got.Output) > mostText || got.Omitted != 200000-len(got.Output) || len(got.Text) > mostText+40 || !strings.HasSuffix(got.Text, "bytes left out]") {
		t.Errorf("%d bytes of output, %d omitted, %d of the value: %v", len(got.Output), got.Omitted, len(got.Text), err)
	}
	got, err = play(t, &answers{}, `(let loop () (display (make-string 1000 #\a)) (loop))`)
	if err != nil || got.OK || !strings.HasSuffix(got.Text, scheme.ErrOutput.Error()) || len(got.Output) != mostText {
		t.Errorf("got %s with %d bytes, %v", got.Text, len(got.Output), err)
	}
}

func TestCallsAreCounted(t *testing.T) {
	a := &answers{of: map[string]job.Settled{}}
	got, err := play(t, a, `(let loop () (guard (e (#t #f)) (bash "ls")) (loop))`, func(o *Options) { o.Calls = 3 })
	if err != nil || got.OK || !strings.HasSuffix(got.Text, "a program makes at most 3 calls") || len(a.calls) != 3 {
		t.Errorf("got %s after %d calls, %v", got.Text, len(a.calls), err)
	}
}

// Work in the procedures of the host counts as the program's.
func TestWorkForCallsIsCounted(t *testing.T) {
	for _, program := range []string{
		`(define l (make-list 100000 1)) (let loop () (guard (e (#t #f)) (bash l car)) (loop))`,
		`(define l (make-list 100000 (cons 1 2))) (let loop () (guard (e (#t #f)) (call-tool 'bash l)) (loop))`,
		`(define s (make-string 1000000 #\a)) (define l (make-list 100 s)) (let loop () (guard (e (#t #f)) (bash 'a l)) (loop))`,
		`(define v (vector 1)) (let loop ((i 0)) (when (< i 90) (set! v (vector v v)) (loop (+ i 1)))) (let loop () (guard (e (#t #f)) (bash v)) (loop))`,
	} {
		a := &answers{}
		got, err := play(t, a, program, func(o *Options) { o.Limits.Steps = 3_000_000 })
		if err != nil || !strings.HasSuffix(got.Text, scheme.ErrSteps.Error()) {
			t.Errorf("%s\ngot %s, %v", program, clipTo(got.Text, 200), err)
		}
		for _, call := range a.calls {
			if len(call) > job.MaxArguments+100 {
				t.Errorf("a call of %d bytes", len(call))
			}
		}
	}
}

// An error of the host is no answer: the program cannot go on from it.
func TestErrorsOfTheHost(t *testing.T) {
	bad := errors.New("the kernel is closed")
	a := &answers{err: bad}
	if _, err := play(t, a, `(guard (e (#t 1)) (bash "ls"))`); !errors.Is(err, bad) || len(a.calls) != 1 {
		t.Errorf("got %v after %d calls", err, len(a.calls))
	}
}

// Who cancels a program ends it, also while it computes.
func TestCancelAProgram(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	host := inside(func() { cancel(stopped) })
	o := Options{Host: host, Tools: tools, Limits: scheme.Limits{Steps: 1 << 60}, Calls: 10}
	_, err := o.run(ctx, job.Call{Name: Name, Arguments: []byte(`{"expr":"(bash \"x\") (let loop () (loop))"}`)})
	if !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
}

type inside func()

func (f inside) Inside(context.Context, job.Call, job.Inside) (job.Settled, error) {
	f()
	return job.Settled{Outcome: []byte(`{"ok":true,"text":""}`)}, nil
}
