package remainder

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"

	"assent/approval"
	"assent/scheme"
)

// Shipped is the program that ships.
//
//go:embed auto-mode-ask.scm
var Shipped string

// ShippedName is what the program that ships is called.
const ShippedName = "auto-mode-ask.scm"

// Program is a program of the classifier. Its value is allow, deny or a procedure
// of one argument, the question; such a procedure gives allow, deny, or what a model
// is to be asked (see auto-mode-ask.scm). It keeps nothing from one question to the
// next.
type Program struct {
	Name string
	Text string
	// Sum is a hash of the text.
	Sum string
	// Plain says that it is a vote and nothing else: it asks no model.
	Plain bool
}

// limits are those of one run: a program only puts texts together.
var limits = scheme.Limits{Steps: 5_000_000, Depth: 10_000, Memory: 32 << 20, Output: 1 << 10}

// Load takes a program after it has been seen to be one. A program that cannot be
// loaded is never replaced by another (law ruling 17).
func Load(ctx context.Context, name, text string) (*Program, error) {
	sum := sha256.Sum256([]byte(text))
	p := &Program{Name: name, Text: text, Sum: hex.EncodeToString(sum[:])}
	_, v, err := p.begin(ctx)
	if err != nil {
		return nil, err
	}
	p.Plain = voteOf(v) != approval.NoVote
	return p, nil
}

// begin runs the text. It gives the vote of a program that is nothing else.
func (p *Program) begin(ctx context.Context) (*scheme.Machine, scheme.Value, error) {
	m := scheme.New(limits)
	if _, err := m.Run(ctx, "prelude", prelude); err != nil {
		return nil, nil, fmt.Errorf("the classifier's program: %w", err)
	}
	v, err := m.Run(ctx, p.Name, p.Text)
	if err != nil {
		return nil, nil, fmt.Errorf("the classifier's program: %w", err)
	}
	if voteOf(v) == approval.NoVote && !callable(m, v) {
		return nil, nil, fmt.Errorf("the classifier's program %s: its value is %s, and must be allow, deny or a procedure", p.Name, brief(scheme.Write(v)))
	}
	return m, v, nil
}

// prelude are the two votes by their names.
const prelude = "(define allow 'allow) (define deny 'deny)"

// callable reports whether a value is a procedure.
func callable(m *scheme.Machine, v scheme.Value) bool {
	is, ok := m.Global("procedure?")
	if !ok {
		return false
	}
	yes, err := m.Call(context.Background(), is, v)
	return err == nil && yes == true
}

// voteOf is the vote that a value is.
func voteOf(v scheme.Value) approval.JudgeResult {
	if s, ok := v.(*scheme.Symbol); ok {
		switch s.String() {
		case "allow":
			return approval.JudgeAllow
		case "deny":
			return approval.JudgeDeny
		}
	}
	return approval.NoVote
}

// piece is a part of a prompt as a program gives it: words of the program's own, or
// a text of somebody else's with a label.
type piece struct {
	data, quarantined bool
	label, text       string
}

// asked is what a program makes of a question: a vote, or a prompt.
type asked struct {
	vote   approval.JudgeResult
	system string
	pieces []piece
}

// errNoPrompt is what a program gave that is no prompt.
var errNoPrompt = errors.New(`want allow, deny, or a list of an instruction and parts: a text, (data LABEL TEXT) or (quarantined LABEL TEXT)`)

// ask runs the program on a question with the evidence of a cut.
func (p *Program) ask(ctx context.Context, c Call, cut Scope, e Evidence) (asked, error) {
	m, v, err := p.begin(ctx)
	if err != nil {
		return asked{}, err
	}
	if vote := voteOf(v); vote != approval.NoVote {
		return asked{vote: vote}, nil
	}
	q, err := question(m, c, cut, e)
	if err != nil {
		return asked{}, err
	}
	if v, err = m.Call(ctx, v, q); err != nil {
		return asked{}, fmt.Errorf("the classifier's program: %w", err)
	}
	if vote := voteOf(v); vote != approval.NoVote {
		return asked{vote: vote}, nil
	}
	out, err := promptOf(v)
	if err != nil {
		return asked{}, fmt.Errorf("the classifier's program %s gave %s: %w", p.Name, brief(scheme.Write(v)), err)
	}
	return out, nil
}

// question is what a program is asked: an association list.
func question(m *scheme.Machine, c Call, cut Scope, e Evidence) (scheme.Value, error) {
	arguments, err := c.arguments()
	if err != nil {
		return nil, err
	}
	e = e.Within(cut).bounded()
	var members []scheme.Value
	put := func(name string, v scheme.Value) {
		members = append(members, &scheme.Pair{Car: m.Symbol(name), Cdr: v})
	}
	text := func(s string) scheme.Value {
		if s == "" {
			return false
		}
		return scheme.Text(s)
	}
	symbol := func(s string) scheme.Value {
		if s == "" {
			return false
		}
		return m.Symbol(s)
	}
	texts := func(all []string) scheme.Value {
		out := make([]scheme.Value, len(all))
		for i, s := range all {
			out[i] = scheme.Text(s)
		}
		return scheme.List(out...)
	}
	symbols := func(all []string) scheme.Value {
		out := make([]scheme.Value, len(all))
		for i, s := range all {
			out[i] = m.Symbol(s)
		}
		return scheme.List(out...)
	}
	put("cut", m.Symbol(cut.String()))
	put("wider", symbols(cut.Wider()))
	put("name", scheme.Text(clip(c.Name, 1024)))
	put("cluster", m.Symbol(c.Cluster.String()))
	put("arguments", scheme.Text(arguments))
	put("floor", m.Symbol(c.Floor.String()))
	put("message", text(clip(c.Message, maxValue)))
	put("effects", text(c.told()))
	put("kind", symbol(c.Kind))
	put("workspace", text(c.Workspace))
	put("cwd", text(c.Cwd))
	put("attended", !c.Unattended)
	put("user", texts(e.User))
	put("expression", text(e.Expression))
	put("response", text(e.Response))
	results := make([]scheme.Value, len(e.Results))
	for i, r := range e.Results {
		results[i] = &scheme.Pair{Car: scheme.Text(r.Tool), Cdr: scheme.Text(r.Text)}
	}
	put("results", scheme.List(results...))
	return scheme.List(members...), nil
}

// promptOf reads what a program gave.
func promptOf(v scheme.Value) (asked, error) {
	items, ok := scheme.Slice(v)
	if !ok || len(items) < 2 {
		return asked{}, errNoPrompt
	}
	system, ok := items[0].(*scheme.String)
	if !ok || system.String() == "" {
		return asked{}, errNoPrompt
	}
	out := asked{system: system.String()}
	for _, item := range items[1:] {
		if s, ok := item.(*scheme.String); ok {
			out.pieces = append(out.pieces, piece{text: s.String()})
			continue
		}
		part, ok := scheme.Slice(item)
		if !ok || len(part) != 3 {
			return asked{}, errNoPrompt
		}
		kind, isKind := part[0].(*scheme.Symbol)
		label, isLabel := part[1].(*scheme.String)
		text, isText := part[2].(*scheme.String)
		if !isKind || !isLabel || !isText || kind.String() != "data" && kind.String() != "quarantined" {
			return asked{}, errNoPrompt
		}
		out.pieces = append(out.pieces, piece{data: true, quarantined: kind.String() == "quarantined", label: label.String(), text: text.String()})
	}
	return out, nil
}

// brief is the beginning of a text, on one line, for a message.
func brief(text string) string {
	const most = 120
	text = clip(text, 2*most)
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
