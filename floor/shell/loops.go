package shell

import (
	"slices"
	"strconv"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"

	"mvdan.cc/sh/v3/syntax"
)

// frame is what leaving a loop or a function is about: the loops and functions
// around the present point, within one process.
type frame struct {
	loops   []*jumps
	returns []*world // where the function that runs returned
	calls   int      // functions that run
	within  bool     // there are loops around this process or function
	failing []*world // where an expansion may have failed, see fails
}

// jumps collects the courses that leave the body of one loop before its end.
type jumps struct {
	next   []*world // by continue: another pass may follow
	broken []*world // by break
}

func (j *jumps) again() []*world {
	ws := j.next
	j.next = nil
	return ws
}

// apart enters a process beside the present one and returns the frame to go
// back to: what leaves a loop or a function there does not leave it here.
func (r *reader) apart() frame {
	f := r.frame
	r.frame = frame{calls: f.calls, within: f.within || len(f.loops) > 0}
	return f
}

// loop runs a body that may run any number of times.
func (r *reader) loop(w *world, body func(*jumps, []*world) []*world) []*world {
	r.branch++
	j := r.enter()
	out := r.repeat(j, w, body)
	r.leaveLoop()
	r.branch--
	return ended(append(out, j.broken...))
}

func (r *reader) enter() *jumps {
	j := &jumps{}
	r.again++
	r.frame.loops = append(r.frame.loops, j)
	return j
}

func (r *reader) leaveLoop() {
	r.again--
	r.frame.loops = r.frame.loops[:len(r.frame.loops)-1]
}

// ended are the worlds behind a loop, whose status nobody knows.
func ended(ws []*world) []*world {
	for _, w := range ws {
		w.status = unknown
	}
	return collapse(ws)
}

// repeat runs a body until another pass would tell nothing new. What a pass
// changes is not known in the next one.
func (r *reader) repeat(j *jumps, w *world, body func(*jumps, []*world) []*world) []*world {
	state := w.fork()
	var first []*world
	for pass := 0; ; pass++ {
		after := body(j, state.fork().alone())
		after = collapse(append(after, j.again()...))
		if pass == 0 {
			first = after
		}
		changed := false
		for _, a := range after {
			changed = state.widen(a) || changed
		}
		if !changed {
			break
		}
		if pass == maxRounds {
			r.tooMuch()
			break
		}
	}
	return append(append([]*world{w}, first...), state)
}

func (r *reader) while(c *syntax.WhileClause, w *world) []*world {
	var left []*world // where the condition ended the loop
	ws := r.loop(w, func(_ *jumps, ws []*world) []*world {
		ws = r.stmts(c.Cond, ws)
		ends := failed
		if c.Until {
			ends = ok
		}
		var goes []*world
		for _, w := range ws {
			left = append(left, w.fork())
			if w.status != ends {
				goes = append(goes, w)
			}
		}
		if len(goes) == 0 { // it is told all the same
			goes = ws
		}
		return r.stmts(c.Do, goes)
	})
	return ended(append(ws, left...))
}

func (r *reader) forClause(c *syntax.ForClause, w *world) []*world {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		return r.forWords(c, l, w)
	case *syntax.CStyleLoop:
		if l.Init != nil {
			r.arithm(l.Init, w)
		}
		var left []*world
		ws := r.loop(w, func(j *jumps, ws []*world) []*world {
			for _, w := range ws {
				if l.Cond != nil {
					r.arithm(l.Cond, w)
					left = append(left, w.fork())
				}
			}
			ws = append(r.stmts(c.Do, ws), j.again()...)
			for _, w := range ws {
				if l.Post != nil {
					r.arithm(l.Post, w)
				}
			}
			return ws
		})
		return ended(append(ws, left...))
	default:
		r.opaque(r.spans.span(c), "a loop that is not followed")
		return w.alone()
	}
}

func (r *reader) forWords(c *syntax.ForClause, l *syntax.WordIter, w *world) []*world {
	var items []string
	switch {
	case l.InPos.IsValid():
		for _, it := range l.Items {
			items = append(items, r.items(it, w)...)
		}
	case w.argsLost:
		items = []string{commands.Words}
	default:
		items = w.args
	}
	if l.Name == nil || c.Select {
		return r.loop(w, func(_ *jumps, ws []*world) []*world {
			for _, w := range ws {
				if l.Name != nil {
					r.assignVar(w, l.Name.Value, commands.Unknown, r.spans.span(l.Name))
				}
				r.assignVar(w, "REPLY", commands.Unknown, r.spans.span(c))
			}
			return r.stmts(c.Do, ws)
		})
	}
	pass := func(value string) func(*jumps, []*world) []*world {
		return func(_ *jumps, ws []*world) []*world {
			for _, w := range ws {
				r.assignVar(w, l.Name.Value, value, r.spans.span(l.Name))
			}
			return r.stmts(c.Do, ws)
		}
	}
	if len(items) > maxRounds || slices.ContainsFunc(items, func(s string) bool { return strings.Contains(s, commands.Words) }) {
		value := commands.Unknown
		if counts(items) {
			value = commands.Number
		}
		return r.loop(w, pass(value))
	}
	// The list is known: pass after pass, in order.
	r.branch++
	j := r.enter()
	ws := []*world{w}
	for _, it := range items {
		body := pass(one(it))
		if commands.Known(it) {
			ws = body(j, ws)
		} else { // a pattern stands for any number of words
			var next []*world
			for _, w := range ws {
				next = append(next, r.repeat(j, w, body)...)
			}
			ws = next
		}
		ws = collapse(append(ws, j.again()...))
	}
	r.leaveLoop()
	r.branch--
	return ended(append(ws, j.broken...))
}

// jump follows break and continue: what comes after them in the body does not
// run.
func (r *reader) jump(ws []word, _ []string, w *world, ctx context) []*world {
	r.runBuiltin(ws, effect.Look, ctx)
	r.counted(ws)
	loops := r.frame.loops
	if len(loops) == 0 {
		// Outside of a loop they only complain; in a substitution within one
		// they end the substitution.
		r.aborts = r.aborts || r.frame.within
		return w.alone()
	}
	levels, exact := 1, len(ws) == 1
	if len(ws) == 2 && isNumber(ws[1].text) && !strings.HasPrefix(ws[1].text, "-") {
		levels, _ = strconv.Atoi(ws[1].text[:min(len(ws[1].text), 6)])
		exact = len(ws[1].text) < 6
	}
	if !exact || levels == 0 {
		for _, j := range loops {
			j.broken = collapse(append(j.broken, w.fork()))
			j.next = collapse(append(j.next, w.fork()))
		}
		return w.alone()
	}
	j := loops[max(0, len(loops)-levels)]
	if ws[0].text == "break" {
		j.broken = collapse(append(j.broken, w))
	} else {
		j.next = collapse(append(j.next, w))
	}
	return nil
}
