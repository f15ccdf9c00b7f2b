package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assent/approval"
)

// life is a host for one machine over a document. It does what the package
// comment asks of a host, one thing at a time, and says what it sees broken.
type life struct {
	facts Facts // and what time the machine was told
	clock time.Time
	doc   *document
	m     *Machine

	delivered Rev
	saves     []Save            // handed out, not applied
	handed    map[SaveID]Rev    // what the machine had seen when it was
	acks      []Saved           // applied, the word not given
	running   map[string]Action // by do and job
	bodies    map[JobID]int     // started in this life
	everRan   map[JobID]int     // started in any life
	licensed  map[JobID]bool    // by a save of this life
	misheard  map[JobID]bool    // a save of this life was said to fail, and stands

	// lenient reports whether a save that a rule refuses counts as stale.
	lenient func() bool
	wrong   func(format string, args ...any)
}

func (l *life) open() Ready {
	l.handed = make(map[SaveID]Rev)
	l.saves, l.acks, l.running, l.bodies = nil, nil, make(map[string]Action), make(map[JobID]int)
	l.licensed, l.misheard = make(map[JobID]bool), make(map[JobID]bool)
	if l.everRan == nil {
		l.everRan = make(map[JobID]int)
	}
	l.delivered = l.doc.rev
	l.facts.Now = l.clock
	m, out := Open(l.facts, l.doc.unsettled())
	l.m = m
	l.take(out)
	return out
}

func (l *life) step(ev Event) Ready {
	var out Ready
	if l.clock.After(l.facts.Now) { // told before every other event
		l.facts.Now = l.clock
		out = l.m.Step(Time{l.clock})
		l.take(out)
	}
	next := l.m.Step(ev)
	l.take(next)
	out.Stop, out.Save = append(out.Stop, next.Stop...), append(out.Save, next.Save...)
	out.Start, out.Publish = append(out.Start, next.Start...), append(out.Publish, next.Publish...)
	return out
}

func running(a Action) string { return a.Do.String() + " " + string(a.Job) }

// take does the book-keeping of a host and checks the law of Ready.
func (l *life) take(out Ready) {
	for _, a := range out.Stop {
		was, ok := l.running[running(a)]
		if !ok || was.Policy != a.Policy || was.Attempt != a.Attempt {
			l.wrong("stopped %v, which does not run", a)
		}
		if a.Do != Body { // a body runs until it says that it ended
			delete(l.running, running(a))
		}
	}
	for _, s := range out.Save {
		for _, other := range l.saves {
			for _, f := range other.Fields {
				// One that was written once already is refused.
				if f.Job == s.Fields[0].Job && !l.misheard[f.Job] {
					l.wrong("two saves for %s are outstanding", f.Job)
				}
			}
		}
		l.saves = append(l.saves, s)
		l.handed[s.ID] = l.m.Seen()
	}
	for _, a := range out.Start {
		if _, ok := l.running[running(a)]; ok {
			l.wrong("started %v, which runs", a)
		}
		over := l.seen
		if a.Do == Body {
			over = l.doc.has
		}
		if over(a.Job, Cancelled) || over(a.Job, OutcomeJSON) || over(a.Job, Completed) {
			l.wrong("started %v on a leaf that is over", a)
		}
		l.running[running(a)] = a
		switch a.Do {
		case Floor:
			if l.seen(a.Job, PolicyResult) {
				l.wrong("the floor runs twice for %s", a.Job)
			}
		case Body:
			l.bodies[a.Job]++
			l.everRan[a.Job]++
			if !l.doc.is(a.Job, OrchestrationResult, "true") {
				l.wrong("body of %s without a durable true", a.Job)
			}
			if l.bodies[a.Job] > 1 {
				l.wrong("body of %s twice in one life", a.Job)
			}
			if a.Resumed == l.licensed[a.Job] && !l.misheard[a.Job] {
				l.wrong("body of %s told resumed=%v", a.Job, a.Resumed)
			}
		}
	}
}

// seen reports whether a field was handed over.
func (l *life) seen(job JobID, name string) bool {
	i, ok := l.doc.at[docKey{job, name}]
	return ok && l.doc.fields[i].rev <= l.delivered
}

// deliver hands over what was committed.
func (l *life) deliver(upto Rev) Ready {
	rows := l.doc.between(l.delivered, upto)
	l.delivered = max(l.delivered, upto)
	return l.step(Committed{rows})
}

// word is what the machine hears of a save that was written.
type word uint8

const (
	atOnce word = iota
	late        // when ack is called
	wrong       // that it failed, though it stands
)

// apply writes an outstanding save.
func (l *life) apply(id SaveID, heard word) (Ready, error) {
	i := slices.IndexFunc(l.saves, func(s Save) bool { return s.ID == id })
	if i < 0 {
		return Ready{}, fmt.Errorf("no save %d", id)
	}
	s := l.saves[i]
	l.saves = slices.Delete(l.saves, i, i+1)
	if !s.Until.IsZero() && !l.clock.Before(s.Until) {
		return l.step(Refused{Save: id, Why: Ended}), errEnded
	}
	if err := l.doc.save(s); err != nil {
		// What a rule refuses is one or the other, by how much a host can tell.
		why := Failed
		if errors.Is(err, errStale) || !errors.Is(err, errFull) && l.lenient() {
			why = Stale
		}
		if !errors.Is(err, errStale) && !errors.Is(err, errFull) && !l.racing(s) {
			l.wrong("the document refused %+v: %v", s, err)
		}
		return l.step(Refused{Save: s.ID, Why: why, Message: err.Error()}), err
	}
	if heard == wrong {
		l.misheard[s.Fields[0].Job] = true
		return l.step(Refused{Save: s.ID, Why: Failed, Message: "the disk failed"}), nil
	}
	for _, f := range s.Fields {
		l.licensed[f.Job] = l.licensed[f.Job] || f.Name == OrchestrationResult
	}
	l.acks = append(l.acks, Saved{s.ID, l.doc.rev})
	if heard == late {
		return Ready{}, nil
	}
	return l.ack(), nil
}

// racing reports whether a row that the machine had not seen may stand against
// a save, other than by making its view stale.
func (l *life) racing(s Save) bool { return l.handed[s.ID] < l.doc.rev }

func (l *life) ack() Ready {
	ack := l.acks[0]
	l.acks = l.acks[1:]
	return l.step(ack)
}

// done notes that something that ran has ended.
func (l *life) done(do Do, job JobID) (Action, bool) {
	a, ok := l.running[running(Action{Do: do, Job: job})]
	delete(l.running, running(Action{Do: do, Job: job}))
	return a, ok
}

// twin is what a leaf should do by its committed votes, told in the words of
// the law and with no memory: slow and obviously right.
func twin(leaf approval.Leaf, attempts int, view approval.Session) string {
	license, _ := approval.LicenseDecision(leaf, view)
	switch {
	case leaf.Completed:
		return "settled"
	case leaf.Cancelled, leaf.OutcomeJSON.Written:
		return "save"
	case leaf.OrchestrationResult == approval.Refused:
		return "save"
	case leaf.OrchestrationResult == approval.Licensed:
		return "body"
	case license != approval.Wait:
		return "save"
	case leaf.PolicyResult == approval.None:
		return "floor"
	}
	does := "wait"
	if approval.ClassifierRuns(leaf, view) {
		does = fmt.Sprintf("classify %d", attempts+1)
	}
	if approval.NeedsHuman(leaf, view) {
		does += ", asked"
	}
	return does
}

// does is the same of a machine.
func does(m *Machine, n *node) string {
	l := n.leaf
	switch {
	case n.save != 0:
		return "save"
	case l.judging:
		return "floor"
	case l.body != notBegun:
		return "body"
	}
	does := "wait"
	if l.classifies != 0 {
		does = fmt.Sprintf("classify %d", l.classifies)
	}
	if l.asked {
		does += ", asked"
	}
	return does
}

// remembers reports whether the machine knows something about a leaf that is
// not in the document, so that a fresh one may well do something else.
func remembers(n *node) bool {
	l := n.leaf
	return n.save != 0 || n.rest != ready || l.floor != nil || l.vote != approval.NoVote || l.fail.Written || l.outcome.Written ||
		l.cancel || l.body == ended || l.body == runs && l.over()
}

// compare sets the machine beside a fresh one and beside the twin, both on the
// committed rows only.
func (l *life) compare() {
	if l.delivered != l.doc.rev || len(l.acks) > 0 {
		return // it has not seen all that a fresh one sees
	}
	fresh, _ := Open(l.facts, l.doc.unsettled())
	if len(fresh.jobs) != len(l.m.jobs) {
		l.wrong("%d jobs, a fresh machine has %d", len(l.m.jobs), len(fresh.jobs))
		return
	}
	for id, n := range l.m.jobs {
		f := fresh.jobs[id]
		if n.leaf == nil || remembers(n) {
			continue
		}
		if got, want := does(l.m, n), does(fresh, f); got != want {
			l.wrong("%s does %q, on a fresh machine %q", id, got, want)
		}
		if got, want := does(l.m, n), twin(l.doc.leaf(id), n.leaf.attempts, l.doc.view(l.facts)); got != want {
			l.wrong("%s does %q, the law says %q", id, got, want)
		}
	}
	l.compareQueues()
	open := 0
	for _, n := range l.m.jobs {
		if n.leaf != nil {
			open++
		}
	}
	if open != l.m.Unsettled() {
		l.wrong("%d leaves, counted %d", open, l.m.Unsettled())
	}
}

// compareQueues sets every queue beside that of the law, which is told of the
// whole tree.
func (l *life) compareQueues() {
	view := l.doc.view(l.facts)
	tops := []JobID{""}
	for _, j := range l.doc.jobs {
		if j.Kind.Sequence() {
			tops = append(tops, j.ID)
		}
	}
	for _, top := range tops {
		var want []JobID
		tree := l.doc.tree(top)
		for _, leaf := range tree.ApprovalQueue(view) {
			// Somebody wants it cancelled, and the document does not say so yet.
			if n := l.m.jobs[JobID(leaf.ID)]; n == nil || !n.leaf.cancel {
				want = append(want, JobID(leaf.ID))
			}
		}
		got := l.m.Queue(top)
		if !slices.Equal(got, want) {
			l.wrong("the queue of %q is %v, the law says %v", top, got, want)
		}
		head, some := l.m.Head(top)
		if some != (len(want) > 0) || some && head != want[0] {
			l.wrong("the head of %q is %q, the law says %v", top, head, want)
		}
	}
}

// tree is what lies under a sequence, in tree order.
func (d *document) tree(top JobID) *approval.Sequence {
	tree := &approval.Sequence{ID: string(top)}
	var children []Job
	for _, j := range d.jobs {
		if j.Parent == top && j.ID != top {
			children = append(children, j)
		}
	}
	slices.SortStableFunc(children, func(a, b Job) int { return cmp.Compare(a.Ord, b.Ord) })
	for _, j := range children {
		if j.Kind.Sequence() {
			tree.Children = append(tree.Children, d.tree(j.ID))
			continue
		}
		leaf := d.leaf(j.ID)
		tree.Children = append(tree.Children, &leaf)
	}
	return tree
}

// leaf reads a leaf from the document, with the law's own writers.
func (d *document) leaf(id JobID) approval.Leaf {
	j, _ := d.job(id)
	leaf := approval.Leaf{ID: string(id), Kind: j.Kind.Leaf(), Name: j.Name, Arguments: []byte(j.Arguments)}
	read := func(name string, v interface{ UnmarshalJSON([]byte) error }) {
		if value, ok := d.value(id, name); ok {
			if err := v.UnmarshalJSON([]byte(value)); err != nil {
				panic(err)
			}
		}
	}
	read(PolicyResult, &leaf.PolicyResult)
	read(JudgeResult, &leaf.JudgeResult)
	read(Approved, &leaf.Approved)
	read(OrchestrationResult, &leaf.OrchestrationResult)
	leaf.Cancelled, leaf.Completed = d.has(id, Cancelled), d.has(id, Completed)
	leaf.OutcomeJSON.Written = d.has(id, OutcomeJSON)
	leaf.JudgeFailMessage.Written = d.has(id, JudgeFail+"1")
	leaf.ApprovalComment.Written = d.has(id, ApprovalComment)
	if value, ok := d.value(id, Paths); ok {
		leaf.Paths = readPaths([]byte(value))
	}
	if value, ok := d.value(id, Explanation); ok {
		leaf.RunsHatch = strings.Contains(value, `"hatch":true`)
		leaf.Ruled = !strings.Contains(value, `"ruled":false`)
	} else {
		leaf.RunsHatch, leaf.Ruled = true, true
	}
	return leaf
}

// view reads the session from the document.
func (d *document) view(facts Facts) approval.Session {
	r := newRegisters(facts)
	for _, reg := range d.registers {
		r.apply(reg)
	}
	for _, j := range d.jobs {
		if j.Kind == SessionTurn && j.Parent == "" {
			r.turns = append(r.turns, &node{id: j.ID, ord: j.Ord})
		}
	}
	slices.SortStableFunc(r.turns, func(a, b *node) int { return cmp.Compare(a.ord, b.ord) })
	r.read()
	return r.view
}
