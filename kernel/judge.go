package kernel

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"assent/approval"
	"assent/floor"
	"assent/floor/effect"
	"assent/internal/place"
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
	call, really := o.asked(leaf)
	var once sync.Once
	answer := func(ev session.Event) { once.Do(func() { o.later(func() { o.step(ev) }) }) }
	fail := func(why string) { answer(session.FloorFailed{Job: a.Job, Policy: a.Policy, Message: why}) }
	k.slots.add(o, &evaluation{job: a.Job, none: fail, run: func() {
		ctx, cancel := context.WithCancel(k.ctx)
		defer cancel()
		var done session.FloorDone
		var layers Layers
		var err error
		inTime := k.within(k.JudgeLimit, cancel, func() {
			if done, layers, err = k.verdict(ctx, call, really); err == nil {
				err = k.guard(ctx, asked)
			}
		}, func() { fail(fmt.Sprintf("judging this call took longer than %v", k.JudgeLimit)) })
		if !inTime {
			return
		}
		o.later(func() { o.policyError(layers) })
		if err != nil {
			fail(err.Error())
			return
		}
		done.Job, done.Policy = a.Job, a.Policy
		asked.Paths = done.Paths
		k.shown(ctx, cancel, func(ctx context.Context) preview {
			return k.show(ctx, asked, call, really, done.Result)
		}, func(p preview) {
			once.Do(func() {
				done.Explanation = withShown(done.Explanation, p.shown)
				o.later(func() {
					o.shown[a.Job] = p.image
					o.step(done)
				})
			})
		})
	}})
}

// asked is a leaf as the floor judges it, and where its folders were when it came.
func (o *owner) asked(leaf approval.Leaf) (floor.Call, lies) {
	c := o.call(leaf)
	return floor.Call{
		Name: leaf.Name, Client: o.facts.Client, Arguments: leaf.Arguments,
		Workspace: c.Workspace, Cwd: c.Cwd, Home: c.Home, Vars: o.k.Vars,
	}, lies{c.RealWorkspace, c.RealCwd}
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

// evaluate judges a call by the policies in force. A panic is an error. Where
// the workspace is another folder than it really was when its session was made,
// because a link leads elsewhere now, nothing lies in it; where the folder that
// commands start in is another, nothing is allowed by itself.
func (k *Kernel) evaluate(ctx context.Context, call floor.Call, really lies) (v floor.Verdict, layers Layers, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("judging this call failed: %v", r)
		}
	}()
	layers = k.Policies.Layers(call.Workspace)
	moved := ""
	if now := real(call.Workspace); now != really.workspace {
		moved = fmt.Sprintf(" The workspace %s is %s now, and was %s when the session was made.", call.Workspace, now, really.workspace)
		call.Workspace = ""
	}
	elsewhere := false
	if call.Cwd != "" && call.Workspace != "" && call.Cwd != call.Workspace {
		if now := real(call.Cwd); now != really.cwd {
			elsewhere = true
			moved = fmt.Sprintf(" The folder %s is %s now, and was %s when the session was made.", call.Cwd, now, really.cwd)
			call.Cwd = really.cwd // where the host's own commands would start
		}
	}
	f := &layers.Floor
	// By whatever name a call reaches them now. A project's own policy is there by
	// its name already, where there is one.
	own := append(f.Own[:len(f.Own):len(f.Own)], k.own()...)
	f.OwnLinks = place.Links(own)
	f.Own = place.Trails(own)
	if call.Workspace != "" {
		f.Own = append(f.Own, place.Trail(place.ProjectPolicy(call.Workspace))[1:]...)
	}
	f.Processes = k.Processes
	if k.ScannerFiles != nil {
		f.ScannerFiles = k.ScannerFiles()
	}
	prepared := k.Prepare(ctx, f, call)
	v = f.Judge(prepared)
	if before := layers.Before; before != nil {
		before.Own, before.Processes, before.ScannerFiles = f.Own, f.Processes, f.ScannerFiles
		if was := before.Judge(prepared); was.Result.Stricter(v.Result) {
			was.Message = strings.TrimSpace(was.Message + " A policy is being saved: what it said before holds for a moment longer.")
			v = was
		}
	}
	if elsewhere {
		v.Result = v.Result.Join(approval.Ask)
		v.Ruled = true
	}
	if moved != "" && v.Result != approval.Allow {
		v.Message = strings.TrimSpace(v.Message + moved)
	}
	if layers.Unknown {
		v.Result = v.Result.Join(approval.Ask)
		v.Ruled = true
		v.Message = strings.TrimSpace(v.Message + " Nothing is allowed while a policy is broken, because what it denies is not known.")
	}
	return v, layers, nil
}

// verdict is what the floor says to a call, as the document keeps it. A panic on
// the way there is an error, too: it would be the kernel's end, and that of the
// next one, which would judge the call again.
func (k *Kernel) verdict(ctx context.Context, call floor.Call, really lies) (done session.FloorDone, layers Layers, err error) {
	v, layers, err := k.evaluate(ctx, call, really)
	if err != nil {
		return done, layers, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("keeping what was judged failed: %v", r)
		}
	}()
	return session.FloorDone{Result: v.Result, Message: messageOf(v), Paths: pathsOf(v), Explanation: withReading(explain(v), v)}, layers, nil
}

func messageOf(v floor.Verdict) approval.Text {
	if v.Message == "" {
		return approval.Text{}
	}
	return approval.Written(v.Message)
}

// pathsOf are the prepared paths of a call (approval.Leaf.Paths): what it
// reads, writes or deletes, and "" for whatever cannot be told. So is a path that
// is no UTF-8: the document would have it like others that differ in just these
// bytes, and a person's yes to one would count for all.
func pathsOf(v floor.Verdict) []approval.Path {
	paths, _ := pathsAndNames(v)
	return paths
}

// pathsAndNames are the paths of a call, and those of them of which it looks at
// names and attributes alone.
func pathsAndNames(v floor.Verdict) (paths, names []approval.Path) {
	seen := make(map[approval.Path]bool)
	content := make(map[approval.Path]bool)
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
			if !utf8.ValidString(string(p)) {
				p = ""
			}
		case effect.Opaque:
		case effect.Run, effect.Net, effect.Env, effect.MCP:
			continue
		}
		content[p] = content[p] || e.Kind != effect.Read || !e.Meta
		if !seen[p] {
			seen[p] = true
			paths = append(paths, p)
		}
	}
	for _, p := range paths {
		if p != "" && !content[p] {
			names = append(names, p)
		}
	}
	return paths, names
}

// What an explanation holds at most: it is written with every call and kept
// for ever.
const (
	maxEffects = 200
	maxTarget  = 4096
)

// explain is a verdict as the document keeps it.
func explain(v floor.Verdict) string {
	return string(v.Explained().Cut(maxEffects, maxTarget).JSON())
}
