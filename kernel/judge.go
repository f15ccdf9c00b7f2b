package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"assent/approval"
	"assent/floor"
	"assent/floor/effect"
	"assent/job"
	"assent/session"
)

// judge queues the floor's evaluation of a leaf.
func (o *owner) judge(a session.Action) {
	leaf, ok := o.m.Leaf(a.Job)
	if !ok {
		return
	}
	k := o.k
	asked := o.call(leaf)
	call := floor.Call{
		Name: leaf.Name, Arguments: leaf.Arguments,
		Workspace: asked.Workspace, Cwd: asked.Cwd, Home: asked.Home, Vars: k.Vars,
	}
	var once sync.Once
	answer := func(ev session.Event) { once.Do(func() { o.later(func() { o.step(ev) }) }) }
	fail := func(why string) { answer(session.FloorFailed{Job: a.Job, Policy: a.Policy, Message: why}) }
	k.slots.add(o, &evaluation{job: a.Job, none: fail, run: func() {
		ctx, cancel := context.WithCancel(k.ctx)
		defer cancel()
		var mu sync.Mutex
		late, ended := false, false
		limit := k.after(k.JudgeLimit, func() {
			mu.Lock()
			defer mu.Unlock()
			if ended {
				return
			}
			late = true
			k.slots.late(1)
			fail(fmt.Sprintf("judging this call took longer than %v", k.JudgeLimit))
			// Only now: who is stopped may still answer, and that is no answer.
			cancel()
		})
		defer func() {
			limit.cancel()
			mu.Lock()
			defer mu.Unlock()
			ended = true
			if late {
				k.slots.late(-1)
			}
		}()
		v, layers, err := k.evaluate(ctx, call)
		if err == nil {
			err = k.guard(ctx, asked)
		}
		o.later(func() { o.policyErrors(layers.Errors) })
		if err != nil {
			fail(err.Error())
			return
		}
		answer(session.FloorDone{
			Job: a.Job, Policy: a.Policy,
			Result: v.Result, Message: messageOf(v), Paths: pathsOf(v), Explanation: explain(v),
		})
	}})
}

// guard hears the guard of whoever runs the call here. What it says no to is a
// block, as is one that fails.
func (k *Kernel) guard(ctx context.Context, call job.Call) error {
	executor, ok := k.Registry.Lookup(call.Kind, call.Name)
	if !ok {
		return nil
	}
	ok, err := executor.Ask(ctx, call)
	if err == nil && !ok {
		err = fmt.Errorf("the guard of %s refuses this call", call.Name)
	}
	return err
}

// evaluate judges a call by the policies in force. A panic is an error.
func (k *Kernel) evaluate(ctx context.Context, call floor.Call) (v floor.Verdict, layers Layers, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("judging this call failed: %v", r)
		}
	}()
	layers = k.Policies.Layers(call.Workspace)
	layers.Floor.Own = append(layers.Floor.Own[:len(layers.Floor.Own):len(layers.Floor.Own)], k.Own...)
	v = layers.Floor.Judge(k.Prepare(ctx, call))
	if layers.Unknown {
		v.Result = v.Result.Join(approval.Ask)
		v.Message = strings.TrimSpace(v.Message + " Nothing is allowed while a policy cannot be read.")
	}
	return v, layers, nil
}

func messageOf(v floor.Verdict) approval.Text {
	if v.Message == "" {
		return approval.Text{}
	}
	return approval.Written(v.Message)
}

// pathsOf are the prepared paths of a call (approval.Leaf.Paths): what it
// reads, writes or deletes, and "" for whatever cannot be told.
func pathsOf(v floor.Verdict) []approval.Path {
	var paths []approval.Path
	seen := make(map[approval.Path]bool)
	for i := range v.Effects {
		e := &v.Effects[i]
		var p approval.Path
		switch e.Kind {
		case effect.Read, effect.Write, effect.Delete:
			switch {
			case e.Path.Glob: // a set of paths is none of them
			case e.Path.Inside():
				p = approval.Path(e.Path.Rel)
			default:
				p = approval.Path(e.Path.Abs)
			}
		case effect.Opaque:
		case effect.Run, effect.Net, effect.Env, effect.MCP:
			continue
		}
		if !seen[p] {
			seen[p] = true
			paths = append(paths, p)
		}
	}
	return paths
}

// The explanation of a verdict as the document keeps it: what the floor told,
// and by which rule.
type explanation struct {
	Result  approval.PolicyResult `json:"result"`
	Cluster approval.Cluster      `json:"cluster"`
	Hatch   bool                  `json:"hatch"`
	Message string                `json:"message,omitempty"`
	Effects []explained           `json:"effects"`
	// More counts the effects that are left out.
	More int `json:"more,omitempty"`
}

type explained struct {
	Kind    effect.Kind           `json:"kind"`
	Target  string                `json:"target"`
	Result  approval.PolicyResult `json:"result"`
	Rule    string                `json:"rule,omitempty"` // its place: "file:line", "shipped:ID" or "default"
	Message string                `json:"message,omitempty"`
	Span    *[2]int               `json:"span,omitempty"` // bytes of the command
	Arg     string                `json:"arg,omitempty"`
	Maybe   bool                  `json:"maybe,omitempty"`
}

// What an explanation holds at most: it is written with every call and kept
// for ever.
const (
	maxEffects = 200
	maxTarget  = 4096
)

func explain(v floor.Verdict) string {
	e := explanation{Result: v.Result, Cluster: v.Cluster, Hatch: v.Hatch, Message: cut(v.Message), Effects: []explained{}}
	for i := range v.Effects {
		if i == maxEffects {
			e.More = len(v.Effects) - i
			break
		}
		j := &v.Effects[i]
		x := explained{Kind: j.Kind, Target: cut(j.Target), Result: j.Result, Message: cut(j.Message), Arg: cut(j.Arg), Maybe: j.Certainty == effect.Maybe}
		if j.Rule != nil {
			x.Rule = j.Rule.Place()
		}
		if !j.Span.Empty() {
			x.Span = &[2]int{j.Span.Start, j.Span.End}
		}
		e.Effects = append(e.Effects, x)
	}
	text, err := json.Marshal(e)
	if err != nil { // nothing in it has no JSON
		return ""
	}
	return string(text)
}

func cut(text string) string {
	if len(text) <= maxTarget {
		return text
	}
	return strings.ToValidUTF8(text[:maxTarget], "") + "…"
}
