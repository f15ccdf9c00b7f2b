package session

import (
	"slices"

	"assent/approval"
)

// touch notes that something about the node changed.
func (m *Machine) touch(n *node) {
	if !n.touched {
		n.touched = true
		m.touched = append(m.touched, n)
	}
}

// ready looks at all that was touched, in tree order, and hands over what
// follows.
func (m *Machine) ready() Ready {
	for len(m.touched) > 0 || m.nextTurn() {
		nodes := m.touched
		m.touched = nil
		if len(nodes) > 1 {
			slices.SortFunc(nodes, before)
		}
		for _, n := range nodes {
			n.touched = false
			if n.leaf != nil {
				m.attend(n)
			} else {
				m.attendSequence(n)
			}
		}
	}
	out := m.out
	m.out = Ready{}
	return out
}

// attend does for a leaf what is to be done.
func (m *Machine) attend(n *node) {
	l := n.leaf
	if m.jobs[n.id] != n {
		return
	}
	m.unvote(n)
	if n.save == 0 && n.rest == ready {
		if d := m.decide(n); len(d.fields) > 0 {
			m.save(n, d)
		}
	}
	m.run(n)

	asked := !l.cancel && approval.NeedsHuman(l.Leaf, m.viewFor(l.cluster, l.Paths))
	if asked != l.asked {
		l.asked = asked
		if asked {
			m.queue.add(n)
			m.tell(Asked, n, "")
		} else {
			m.queue.remove(n)
			m.tell(Unasked, n, "")
		}
	}
	if l.Completed {
		m.settled(n)
	}
}

// run starts and stops what should run.
func (m *Machine) run(n *node) {
	l := n.leaf
	floor, attempt, body := m.wants(n)
	if l.judging && !floor {
		l.judging = false
		m.stop(Action{Do: Floor, Job: n.id, Policy: l.policy})
	}
	if l.classifies != 0 && l.classifies != attempt {
		m.stop(Action{Do: Classify, Job: n.id, Attempt: l.classifies})
		l.classifies = 0
	}
	if l.body == runs && !l.stopped && (l.cancel || l.over()) {
		l.stopped = true
		m.stop(Action{Do: Body, Job: n.id})
	}
	if floor && !l.judging {
		l.judging, l.policy = true, m.policy
		m.start(Action{Do: Floor, Job: n.id, Policy: m.policy})
	}
	if attempt != 0 && l.classifies == 0 {
		l.classifies, l.tried = attempt, true
		m.start(Action{Do: Classify, Job: n.id, Attempt: attempt, After: approval.RetryAfter(l.attempts)})
	}
	if body {
		l.body = runs
		m.start(Action{Do: Body, Job: n.id, Resumed: !l.ours})
	}
}

// settled forgets a leaf. A cancelled sequence is settled with its last leaf.
func (m *Machine) settled(n *node) {
	m.tell(Settled, n, "")
	delete(m.jobs, n.id)
	n.detach()
	for p := n.parent; p != m.root; p = p.parent {
		if p.open == 0 && (p.cancel || p.cancelled) {
			m.touch(p)
		}
	}
}

// attendSequence cancels a sequence and settles one that was cancelled, when
// nothing runs in it any more (law §2: cancelled, then completed). Any other
// is settled by whoever runs it.
func (m *Machine) attendSequence(n *node) {
	if n.completed || n.save != 0 || n.rest != ready || m.jobs[n.id] != n {
		return
	}
	d := draft{job: n.id}
	if n.cancel && !n.cancelled && !n.outcome {
		d.write(Cancelled, "true")
		d.by = n.canceller
	}
	switch {
	case n.open > 0 || !n.cancel && !n.cancelled:
	case n.outcome:
		d.write(Completed, "true") // torn
	default:
		d.settle(approval.ReceiptCancelled.String())
	}
	if len(d.fields) > 0 {
		m.save(n, d)
	}
}

// save hands out a save, or lets it wait where it would be stale for certain.
func (m *Machine) save(n *node, d draft) {
	if d.license && m.seen < m.until {
		m.wait(n, newer, m.until-1)
		return
	}
	if len(d.registers) > 0 && m.register != 0 {
		m.wait(n, turn, 0)
		return
	}
	m.lastSave++
	s := Save{ID: m.lastSave, Until: d.until, Fields: d.fields, Registers: d.registers, For: d.by}
	if d.license {
		s.Seen = m.seen
	}
	if len(d.registers) > 0 {
		m.register = s.ID
	}
	n.save = s.ID
	m.saves[s.ID] = outstanding{s, n, m.seen}
	m.out.Save = append(m.out.Save, s)
}

// saved takes the word that a save is durable. Its rows come once more with
// the others of the document, before or after.
func (m *Machine) saved(ev Saved) {
	o, ok := m.saves[ev.Save]
	if !ok {
		return
	}
	m.answered(o)
	m.wrote(o)
	for _, f := range o.Fields {
		m.apply(f)
	}
	if len(o.Registers) > 0 {
		// What others wrote before it may not have been seen yet: licenses
		// wait until it was.
		m.until = max(m.until, ev.Rev)
		revised := slices.Clone(o.Registers)
		for i := range revised {
			revised[i].Rev = ev.Rev
		}
		m.revise(revised)
		m.review()
	}
}

func (m *Machine) refused(ev Refused) {
	o, ok := m.saves[ev.Save]
	if !ok {
		return
	}
	m.answered(o)
	if l := o.node.leaf; l != nil && l.floor != nil && l.floor.Policy != m.policy {
		l.floor = nil // the policies changed while it was on its way
	}
	switch ev.Why {
	case Stale:
		// What stands against it is newer than what was seen then.
		m.wait(o.node, newer, o.seen)
		return
	case Ended:
		return // it is decided anew, by the time of now
	case Failed:
	}
	m.wait(o.node, retries, 0)
	m.tell(Stuck, o.node, ev.Message)
}

// answered ends a save.
func (m *Machine) answered(o outstanding) {
	delete(m.saves, o.ID)
	if m.register == o.ID {
		m.register = 0
	}
	o.node.save = 0
	m.touch(o.node)
}

// wrote notes what a save of this life has written: a license that is not
// among it came from another one, and its body may have run.
func (m *Machine) wrote(o outstanding) {
	if l := o.node.leaf; l != nil {
		l.ours = l.ours || slices.ContainsFunc(o.Fields, func(f Field) bool { return f.Name == OrchestrationResult })
	}
}

func (m *Machine) wait(n *node, why rest, rev Rev) {
	if why == newer && rev < m.seen {
		m.touch(n)
		return
	}
	n.rest, n.restRev = why, rev
	switch why {
	case newer:
		m.newer = append(m.newer, n)
	case turn:
		m.turn = append(m.turn, n)
	case retries:
		m.retries = append(m.retries, n)
	case ready:
	}
}

func (m *Machine) wake(n *node) {
	n.rest = ready
	m.touch(n)
}

// wakeIf wakes those that no longer wait and keeps the others.
func (m *Machine) wakeIf(nodes []*node, over func(*node) bool) []*node {
	kept := nodes[:0]
	for _, n := range nodes {
		if over(n) {
			m.wake(n)
		} else {
			kept = append(kept, n)
		}
	}
	clear(nodes[len(kept):])
	return kept
}

// nextTurn wakes the next of those that wait to write a register, when it may.
func (m *Machine) nextTurn() bool {
	if len(m.turn) == 0 || m.register != 0 {
		return false
	}
	n := m.turn[0]
	m.turn[0] = nil
	m.turn = m.turn[1:]
	m.wake(n)
	return true
}

func (m *Machine) stop(a Action)  { m.out.Stop = append(m.out.Stop, a) }
func (m *Machine) start(a Action) { m.out.Start = append(m.out.Start, a) }

func (m *Machine) tell(news News, n *node, message string) {
	m.out.Publish = append(m.out.Publish, Notice{News: news, Job: n.id, Message: message})
}
