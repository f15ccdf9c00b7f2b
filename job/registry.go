package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
)

// Why an executor is refused.
var (
	// ErrSequence: a sequence is never approved and has no body (law §8).
	ErrSequence = errors.New("a sequence has no body")
	// ErrLeaf: what runs without a license has no effect but calls of its own.
	ErrLeaf = errors.New("only a sequence runs without a license")
	// ErrKind: no job is of this kind.
	ErrKind = errors.New("no such kind of job")
	// ErrTwice: one body runs a call, and never two.
	ErrTwice = errors.New("registered already")
	// ErrNoBody: an executor without a body.
	ErrNoBody = errors.New("no body")
	// ErrUnheard: communication passes without a guard (law ruling 1), and one
	// that is never heard would be a promise not kept.
	ErrUnheard = errors.New("communication has no guard of its own")
)

// Registry says which body runs a call. The zero value knows none. It may be
// used from several goroutines.
type Registry struct {
	mu        sync.RWMutex
	executors map[tool]Executor
	foreign   map[string]Preview
	sequences map[tool]Body
}

// Executor is the two functions of a kind or of one tool, and what shows a call
// beforehand. Guard and Preview may be nil.
type Executor struct {
	Guard   Guard
	Body    Body
	Preview Preview
}

type tool struct {
	kind Kind
	name string // "" for all of the kind
}

// RegisterExecutor says how leaves of a kind are run, but for those tools that
// have an executor of their own. guard may be nil: the law alone decides.
func (r *Registry) RegisterExecutor(kind Kind, guard Guard, execute Body) error {
	return r.register(tool{kind: kind}, guard, execute)
}

// RegisterTool says how one tool of a kind is run. Names are compared exactly.
func (r *Registry) RegisterTool(kind Kind, name string, guard Guard, execute Body) error {
	if name == "" {
		return fmt.Errorf("a tool of kind %q without a name: %w", kind, ErrKind)
	}
	return r.register(tool{kind, name}, guard, execute)
}

func (r *Registry) register(t tool, guard Guard, execute Body) error {
	var err error
	switch {
	case t.kind.Sequence():
		err = ErrSequence
	case !known(t.kind):
		err = ErrKind
	case execute == nil:
		err = ErrNoBody
	case guard != nil && Communication(t.kind, t.name):
		err = ErrUnheard
	}
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.executors == nil {
			r.executors = make(map[tool]Executor)
		}
		if _, ok := r.executors[t]; ok {
			err = ErrTwice
		} else {
			r.executors[t] = Executor{Guard: guard, Body: execute}
		}
	}
	if err != nil {
		return fmt.Errorf("executor of %q %s: %w", t.kind, t.name, err)
	}
	return nil
}

// RegisterSequence says what goes through a sequence of a kind and a name: it makes
// calls inside of it, each of which is judged and licensed by itself (law §8), and
// gives the outcome of the sequence. It runs without a license, and so must have no
// effect but those calls. It is begun anew after a restart (Call.Resumed).
func (r *Registry) RegisterSequence(kind Kind, name string, run Body) error {
	err := error(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	at := tool{kind, name}
	switch {
	case !kind.Sequence():
		err = ErrLeaf
	case run == nil:
		err = ErrNoBody
	case r.sequences[at] != nil:
		err = ErrTwice
	}
	if err != nil {
		return fmt.Errorf("what runs %q %s: %w", kind, name, err)
	}
	if r.sequences == nil {
		r.sequences = make(map[tool]Body)
	}
	r.sequences[at] = run
	return nil
}

// Sequence is what goes through a sequence, nil where whoever minted it does.
func (r *Registry) Sequence(kind Kind, name string) Body {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.sequences[tool{kind, name}]
}

// Sequences reports whether any sequence runs here.
func (r *Registry) Sequences() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.sequences) > 0
}

// runs is what runs a call or goes through a sequence, nil for nothing.
func (r *Registry) runs(kind Kind, name string) Body {
	if kind.Sequence() {
		return r.Sequence(kind, name)
	}
	e, _ := r.Lookup(kind, name)
	return e.Body
}

// RegisterPreview says how a call of a tool is shown to a person beforehand.
// The tool, or its kind when name is empty, has an executor already; one of a
// client's own has none, and keeps none.
func (r *Registry) RegisterPreview(kind Kind, name string, preview Preview) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := tool{kind, name}
	e, ok := r.executors[at]
	if kind == Foreign {
		e, ok = Executor{Preview: r.foreign[name]}, name != ""
	}
	switch {
	case !ok:
		return fmt.Errorf("preview of %q %s: %w", kind, name, ErrNoBody)
	case e.Preview != nil:
		return fmt.Errorf("preview of %q %s: %w", kind, name, ErrTwice)
	}
	if kind == Foreign {
		if r.foreign == nil {
			r.foreign = make(map[string]Preview)
		}
		r.foreign[name] = preview
		return nil
	}
	e.Preview = preview
	r.executors[at] = e
	return nil
}

// Lookup is the executor of a call: that of its tool, else that of its kind.
// A call without one is external.
func (r *Registry) Lookup(kind Kind, name string) (Executor, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if e, ok := r.executors[tool{kind, name}]; ok {
		return e, true
	}
	e, ok := r.executors[tool{kind: kind}]
	return e, ok
}

// Shows is what shows a call beforehand. That of a client's own has nothing else.
func (r *Registry) Shows(kind Kind, name string) Executor {
	if kind != Foreign {
		e, _ := r.Lookup(kind, name)
		return e
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return Executor{Preview: r.foreign[name]}
}

// Show is what a person is shown of a call: nothing where there is no preview.
// One that fails is no reason to refuse a call: that it failed is shown, with the
// image of what it looked at where it got so far.
func (e Executor) Show(ctx context.Context, call Call) (shown Shown) {
	if e.Preview == nil {
		return Shown{}
	}
	defer func() {
		if p := recover(); p != nil {
			shown = Shown{Text: fmt.Sprintf("what it would change cannot be shown: %v", p), Image: Unseen}
		}
	}()
	shown, err := e.Preview(ctx, call)
	if err != nil {
		return Shown{Text: "what it would change cannot be shown: " + err.Error(), Image: cmp.Or(shown.Image, Unseen)}
	}
	return shown
}

// Ask hears the guard of a call. True where there is none. An error, also one
// that a panic became, and a guard that ends its goroutine instead of
// returning, are always false.
func (e Executor) Ask(ctx context.Context, call Call) (bool, error) {
	if e.Guard == nil {
		return true, nil
	}
	ok, err := false, errExit
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				ok, err = false, fmt.Errorf("it panicked: %v", p)
			}
		}()
		ok, err = e.Guard(ctx, call)
	}()
	<-done
	if err != nil {
		return false, fmt.Errorf("the guard of %s: %w", call.Name, err)
	}
	return ok, nil
}

// errExit is the end of a function that called runtime.Goexit.
var errExit = errors.New("it ended without an answer")
