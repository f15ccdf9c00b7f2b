package program

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"assent/job"
	"assent/scheme"
)

// Name is the name of programs among the sequences, and of the tool by which a model
// writes one.
const Name = "scheme_repl"

// Host makes the calls of a program.
type Host interface {
	// Inside makes a call in the sequence, once for each place, and waits until it is
	// settled. An error ends the program: it is not an answer to the call.
	Inside(ctx context.Context, of job.Call, c job.Inside) (job.Settled, error)
}

// Options are what programs are run with.
type Options struct {
	Host Host
	// Tools are those of the host, beside the tools of its servers: these are called by
	// their names, mcp__SERVER__TOOL.
	Tools []job.Tool
	// Limits are those of each program, [DefaultLimits] where they are zero.
	Limits scheme.Limits
	// Calls is how many calls one may make, [DefaultCalls] when 0.
	Calls int64
}

// DefaultLimits are those of a program. Many may wait for people at a time, and each
// holds its memory meanwhile.
var DefaultLimits = scheme.Limits{Steps: 20_000_000, Depth: 20_000, Memory: 32 << 20, Output: 1 << 20}

// DefaultCalls is how many calls a program may make: far more than a person answers.
const DefaultCalls = 1000

// Register says that programs are run here.
func Register(r *job.Registry, o Options) error {
	if o.Limits == (scheme.Limits{}) {
		o.Limits = DefaultLimits
	}
	if o.Calls <= 0 {
		o.Calls = DefaultCalls
	}
	return r.RegisterSequence(job.ProgrammaticJob, Name, o.run)
}

// outcome is what the model reads of a program.
type outcome struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"` // the value of the last expression, or what went wrong
	// Output is what it displayed, Omitted how many bytes of that were left out.
	Output  string `json:"output,omitzero"`
	Omitted int    `json:"omitted,omitzero"`
	Calls   int64  `json:"calls"`
}

// mostText is how much of a value or of the output is kept, in bytes.
const mostText = 64 << 10

// mostOutcome is how long an outcome may be that a program reads, in bytes: as values it
// takes many times that.
const mostOutcome = 1 << 20

// run is one program on its way.
type run struct {
	Options
	of     job.Call
	m      *scheme.Machine
	output kept
	calls  int64
	raised map[*scheme.Condition]bool // what calls raised
	host   error                      // what went wrong that is no answer
}

func (o Options) run(ctx context.Context, of job.Call) (job.Outcome, error) {
	var a struct {
		Expr string `json:"expr"`
	}
	if err := of.Decode(&a); err != nil {
		return job.JSON(outcome{Text: err.Error()})
	}
	r := &run{Options: o, of: of, m: scheme.New(o.Limits), raised: make(map[*scheme.Condition]bool)}
	r.m.Output = &r.output
	r.define(a.Expr)
	v, err := r.m.Run(ctx, Name, a.Expr)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case r.host != nil:
		return nil, r.host
	}
	out := outcome{OK: err == nil, Output: r.output.String(), Omitted: r.output.omitted, Calls: r.calls}
	switch exit, left := errors.AsType[*scheme.Exit](err); {
	case left:
		out.OK = exit.Value == nil || exit.Value == true || exit.Value == int64(0)
		if !out.OK {
			out.Text = "the program left with " + scheme.Write(exit.Value)
		}
	case err != nil:
		out.Text = r.wrong(err)
	default:
		out.Text = text(v)
	}
	out.Text = clip(out.Text)
	return job.JSON(out)
}

// text is a value for whoever reads the outcome: a text as it is.
func text(v scheme.Value) string {
	switch v := v.(type) {
	case *scheme.String:
		return v.String()
	case nil:
		return ""
	}
	if v == scheme.Unspecified {
		return ""
	}
	return scheme.Write(v)
}

// wrong is why a program did not end well. What a person said to a call is for the
// program: it reaches the model as a note of its own (law §7).
func (r *run) wrong(err error) string {
	e, ok := errors.AsType[*scheme.Error](err)
	if !ok {
		return err.Error()
	}
	if c, ok := e.Raised.(*scheme.Condition); ok && r.raised[c] {
		return fmt.Sprintf("%s:%s: %s", e.Name, e.Pos, c.Message)
	}
	return e.Error()
}

// ofServers finds the names of tools of servers in a text. Which of them there are is
// known when they are called, and may be otherwise after a restart: so what a program
// can name does not depend on it.
var ofServers = regexp.MustCompile(`mcp__[A-Za-z0-9_.\-]+`)

// define gives the program its tools: each as tool:NAME, and by its bare name where the
// language has none of its own.
func (r *run) define(text string) {
	tools := make(map[string]job.Tool, len(r.Tools))
	for _, t := range r.Tools {
		tools[t.Name] = t
	}
	for _, name := range ofServers.FindAllString(text, -1) {
		tools[name] = job.Tool{Kind: job.MCPTool, Name: name}
	}
	for name, t := range tools {
		call := func(ctx context.Context, args []scheme.Value) (scheme.Value, error) {
			arguments, err := argumentsOf(r.m, t, args)
			if err != nil {
				return nil, err
			}
			_, said, err := r.call(ctx, t, arguments)
			return said, err
		}
		if !r.m.Knows(name) {
			r.m.Define(name, 0, -1, call)
		}
		r.m.Define("tool:"+name, 0, -1, call)
	}
	r.m.Define("call-tool", 1, 2, func(ctx context.Context, args []scheme.Value) (scheme.Value, error) {
		name := nameOf(args[0])
		t, ok := tools[name]
		if strings.HasPrefix(name, "mcp__") {
			t, ok = job.Tool{Kind: job.MCPTool, Name: name}, true
		}
		if !ok {
			return nil, fmt.Errorf("call-tool: there is no tool %s here", scheme.Brief(args[0]))
		}
		arguments := []byte("{}")
		if len(args) > 1 && args[1] != scheme.Empty {
			var err error
			if arguments, err = object(r.m, args[1]); err != nil {
				return nil, fmt.Errorf("call-tool: %w", err)
			}
		}
		all, _, err := r.call(ctx, t, arguments)
		return all, err
	})
}

// nameOf is the name that a symbol or a text is.
func nameOf(v scheme.Value) string {
	switch v := v.(type) {
	case *scheme.Symbol:
		return v.String()
	case *scheme.String:
		return v.String()
	}
	return ""
}

// call makes a call and waits for it. It gives the whole outcome, and what that says.
func (r *run) call(ctx context.Context, t job.Tool, arguments []byte) (all, said scheme.Value, err error) {
	if len(arguments) > job.MaxArguments {
		return nil, nil, fmt.Errorf("%s: the arguments are longer than %d bytes", t.Name, job.MaxArguments)
	}
	if r.calls >= r.Calls {
		return nil, nil, scheme.Fatal(fmt.Errorf("a program makes at most %d calls", r.Calls))
	}
	r.calls++
	at := r.m.At()
	if r.of.Progress != nil {
		r.of.Progress(fmt.Sprintf("line %d: %s", at.Line, t.Name))
	}
	settled, err := r.Host.Inside(ctx, r.of, job.Inside{
		Place: r.calls, Kind: t.Kind, Name: t.Name, Arguments: arguments, Line: at.Line, Column: at.Col,
	})
	if err != nil {
		r.host = err
		return nil, nil, scheme.Fatal(err)
	}
	if len(settled.Outcome) > mostOutcome {
		return nil, nil, fmt.Errorf("%s: its outcome has %d bytes, %d are the most that a program reads", t.Name, len(settled.Outcome), mostOutcome)
	}
	if all, err = value(r.m, settled.Outcome); err != nil {
		return nil, nil, err
	}
	var says struct {
		OK   *bool   `json:"ok"`
		Text *string `json:"text"`
	}
	if json.Unmarshal(settled.Outcome, &says) != nil || says.Text == nil {
		said = all
	} else {
		said = scheme.Text(*says.Text)
	}
	irritants := []scheme.Value(nil)
	switch {
	case settled.Refused:
		irritants = []scheme.Value{r.m.Symbol("refused")}
		if settled.Comment != "" {
			irritants = append(irritants, scheme.Text(settled.Comment))
		}
	case settled.Cancelled:
		irritants = []scheme.Value{r.m.Symbol("cancelled")}
	case says.OK == nil || *says.OK:
		return all, said, nil
	default:
		irritants = []scheme.Value{r.m.Symbol("failed"), all}
	}
	c := &scheme.Condition{Message: t.Name + ": " + clip(text(said)), Irritants: irritants}
	r.raised[c] = true
	return nil, nil, scheme.Raise(c)
}

// kept is the beginning of what is written to it.
type kept struct {
	b       strings.Builder
	omitted int
}

func (k *kept) String() string { return k.b.String() }

func (k *kept) Write(p []byte) (int, error) {
	room := min(max(mostText-k.b.Len(), 0), len(p))
	for room > 0 && room < len(p) && !utf8.RuneStart(p[room]) {
		room--
	}
	if k.omitted > 0 {
		room = 0
	}
	k.b.Write(p[:room])
	k.omitted += len(p) - room
	return len(p), nil
}

func clip(text string) string { return clipTo(text, mostText) }

func clipTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s\n[%d bytes left out]", text[:end], len(text)-end)
}
