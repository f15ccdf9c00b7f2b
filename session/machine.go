package session

import (
	"slices"
	"strings"
	"time"

	"assent/approval"
)

// Machine is the state of one session. It is not safe for concurrent use.
type Machine struct {
	registers
	seen   Rev
	root   *node
	jobs   map[JobID]*node
	minted int64
	policy int

	queue    queue
	saves    map[SaveID]outstanding
	lastSave SaveID
	register SaveID  // the outstanding save that writes registers; one at a time
	until    Rev     // licenses wait for rows up to this: registers of ours are among them
	newer    []*node // that wait for rows
	turn     []*node // that wait to write a register
	retries  []*node // that wait for Retry

	touched []*node
	revised bool // the view is to be computed anew
	out     Ready
}

type outstanding struct {
	Save
	node *node
	seen Rev // what had been seen
}

// Open is the machine of a session whose rows are these: every register, every
// sequence, and every leaf that is not completed, with its fields. Leaves that
// are completed may be left out. What Ready starts is recovery (law §7,
// ruling 3).
func Open(facts Facts, rows Rows) (*Machine, Ready) {
	m := &Machine{
		registers: newRegisters(facts),
		root:      &node{kind: SessionTurn},
		jobs:      make(map[JobID]*node),
		saves:     make(map[SaveID]outstanding),
	}
	m.commit(rows)
	return m, m.ready()
}

// Step takes one event and says what follows from it.
func (m *Machine) Step(ev Event) Ready {
	switch ev := ev.(type) {
	case Committed:
		m.commit(ev.Rows)
	case FloorDone:
		m.floorDone(ev)
	case FloorFailed:
		m.floorDone(FloorDone{Job: ev.Job, Policy: ev.Policy, Result: approval.Block, Message: approval.Written(ev.Message)})
	case PolicyReloaded:
		m.reload()
	case ClassifierDone:
		if n := m.leaf(ev.Job); n != nil {
			m.voted(n, ev)
		}
	case ClassifierFailed:
		// A run that was stopped, or that is not the one of now, says nothing.
		if n := m.leaf(ev.Job); n != nil && n.leaf.classifies != 0 && n.leaf.classifies == ev.Attempt {
			n.leaf.classifies = 0
			n.leaf.fail = approval.Written(ev.Message)
			m.touch(n)
		}
	case BodyDone:
		m.bodyDone(ev.Job, ev.Outcome, ev.Note)
	case BodyTimeout:
		receipt := approval.ReceiptTimeout(ev.Limit)
		receipt.Note = ev.Note
		m.bodyDone(ev.Job, receipt.String(), ev.Note)
	case CancelAsked:
		m.cancel(ev.Job, ev.By)
	case Saved:
		m.saved(ev)
	case Refused:
		m.refused(ev)
	case Time:
		if m.pass(ev.Now) {
			m.revised = true
			m.review()
		}
	case Retry:
		for _, n := range m.retries {
			m.wake(n)
			if m.jobs[n.id] == n { // it may be settled, by a save that was said to fail
				m.tell(Unstuck, n, "")
			}
		}
		m.retries = nil
	}
	return m.ready()
}

// Seen is the rev that the machine has all rows up to.
func (m *Machine) Seen() Rev { return m.seen }

// Ends is when the first grant ends that holds now, zero for never. A host says
// then what the time is.
func (m *Machine) Ends() time.Time { return m.ends() }

// View is what the law reads of the session now.
func (m *Machine) View() approval.Session {
	view := m.view
	view.ReadAllowlist = slices.Clone(view.ReadAllowlist)
	return view
}

// Register is the value of a register that holds, of the kernel or of the session,
// as JSON; "" for none.
func (m *Machine) Register(kernel bool, name string) string { return m.value(kernel, name) }

// Leaf is a leaf that is not settled, as committed.
func (m *Machine) Leaf(job JobID) (approval.Leaf, bool) {
	if n := m.leaf(job); n != nil {
		return n.leaf.Leaf, true
	}
	return approval.Leaf{}, false
}

// Pending reports whether a job is there and not settled.
func (m *Machine) Pending(job JobID) bool {
	n := m.jobs[job]
	return n != nil && (n.leaf != nil || !n.completed)
}

// Unsettled counts the leaves that are not settled.
func (m *Machine) Unsettled() int { return m.root.open }

// Idle reports whether nothing is left to do until a person, a register or a
// new job comes: nothing runs, nothing is to be saved, no leaf is unsettled.
func (m *Machine) Idle() bool { return m.root.open == 0 && len(m.saves) == 0 && len(m.retries) == 0 }

// Queue is approvalQueue of a sequence, or of the session for "": the leaves
// under it that need a person, in tree order (law §8).
func (m *Machine) Queue(under JobID) []JobID {
	top := m.sequence(under)
	if top == nil {
		return nil
	}
	jobs := make([]JobID, 0, len(m.queue))
	for _, n := range m.queue {
		if n.under(top) {
			jobs = append(jobs, n.id)
		}
	}
	return jobs
}

// Head is approvalQueueHead: the first of [Machine.Queue].
func (m *Machine) Head(under JobID) (JobID, bool) {
	top := m.sequence(under)
	if top == nil {
		return "", false
	}
	// What lies under a sequence stands together, behind it.
	i, _ := slices.BinarySearchFunc(m.queue, top, before)
	if i < len(m.queue) && m.queue[i].under(top) {
		return m.queue[i].id, true
	}
	return "", false
}

// NeedsHuman reports whether a person is asked about the leaf (law §4).
func (m *Machine) NeedsHuman(job JobID) bool {
	n := m.leaf(job)
	return n != nil && n.leaf.asked
}

// Opens is what a person's yes to the leaf opens for reading (law §10), nothing
// where no person is asked.
func (m *Machine) Opens(job JobID) []approval.Opened {
	n := m.leaf(job)
	if n == nil || !n.leaf.asked {
		return nil
	}
	return approval.Opens(n.leaf.Leaf, m.view)
}

// Offer is the folder that the prompt of a leaf may offer to open for reading
// (law §10), nothing where no person is asked.
func (m *Machine) Offer(job JobID) (approval.Path, bool) {
	n := m.leaf(job)
	if n == nil || !n.leaf.asked {
		return "", false
	}
	var waiting []approval.Leaf
	for _, n := range m.queue {
		waiting = append(waiting, n.leaf.Leaf)
	}
	return approval.Offer(n.leaf.Leaf, waiting, m.view)
}

func (m *Machine) sequence(job JobID) *node {
	if job == "" {
		return m.root
	}
	if n := m.jobs[job]; n != nil && n.leaf == nil {
		return n
	}
	return nil
}

func (m *Machine) leaf(job JobID) *node {
	if n := m.jobs[job]; n != nil && n.leaf != nil {
		return n
	}
	return nil
}

// commit takes rows of the document.
func (m *Machine) commit(rows Rows) {
	if rows.Upto <= m.seen {
		return
	}
	m.seen = rows.Upto
	for _, job := range rows.Jobs {
		m.mint(job)
	}
	for _, f := range rows.Fields {
		m.apply(f)
	}
	m.revise(rows.Registers)
	m.review()
	m.newer = m.wakeIf(m.newer, func(n *node) bool { return n.restRev < m.seen })
}

func (m *Machine) mint(job Job) {
	if m.jobs[job.ID] != nil || job.ID == "" {
		return
	}
	parent := m.sequence(job.Parent)
	if parent == nil {
		parent = m.root // the document refuses it; it is judged all the same
	}
	m.minted++
	n := &node{id: job.ID, ord: job.Ord, n: m.minted, kind: job.Kind}
	if !job.Kind.Sequence() {
		n.leaf = newLeaf(job)
	}
	n.attach(parent)
	m.jobs[job.ID] = n
	if n.leaf != nil {
		n.leaf.cancel = n.overCancelled()
		m.touch(n)
		return
	}
	n.cancel = n.overCancelled()
	if n.cancel {
		m.touch(n)
	}
	if job.Kind == SessionTurn && parent == m.root {
		i, _ := slices.BinarySearchFunc(m.turns, n, before)
		m.turns = slices.Insert(m.turns, i, n)
		m.revised = true
	}
}

// apply takes a committed field.
func (m *Machine) apply(f Field) {
	n := m.jobs[f.Job]
	if n == nil {
		return // settled, or not of this session
	}
	if o, ok := m.saves[n.save]; ok && slices.Contains(o.Fields, f) {
		// Its rows came before the word that it is saved.
		m.answered(o)
		m.wrote(o)
	}
	m.touch(n)
	if n.leaf != nil {
		n.leaf.apply(f.Name, f.Value)
		return
	}
	switch f.Name {
	case Cancelled:
		n.cancelled = true
		m.cancelUnder(n, n.canceller)
	case OutcomeJSON:
		n.outcome = true
	case Completed:
		n.completed = true
	}
}

// revise takes revisions of registers.
func (m *Machine) revise(registers []Register) {
	for _, reg := range registers {
		m.revised = m.registers.apply(reg) || m.revised
	}
}

// review computes the view anew where registers or the live head changed, and
// looks again at the leaves whose license may change by it. A change of the mode or a grant may answer
// any leaf (law §6). A key that comes may answer the reads under it; one that
// goes, any read.
func (m *Machine) review() {
	if !m.revised {
		return
	}
	m.revised = false
	old, oldKeys := m.view, m.keys
	m.read()
	if !same(old, m.view) {
		m.root.walk(func(n *node) {
			if n.leaf != nil && n.leaf.Open() {
				m.touch(n)
			}
		})
		return
	}
	var added []string
	for k := range m.keys {
		if !oldKeys[k] {
			added = append(added, k)
		}
	}
	removed := len(m.keys)-len(added) < len(oldKeys)
	if !removed && len(added) == 0 {
		return
	}
	m.root.walk(func(n *node) {
		if n.leaf == nil || n.leaf.cluster != approval.Read || !n.leaf.Open() {
			return
		}
		if removed || slices.ContainsFunc(n.leaf.Paths, func(p approval.Path) bool {
			return slices.ContainsFunc(added, func(k string) bool {
				return string(p) == k || strings.HasPrefix(string(p), k) && strings.HasPrefix(string(p[len(k):]), "/")
			})
		}) {
			m.touch(n)
		}
	})
}

func (m *Machine) floorDone(ev FloorDone) {
	n := m.leaf(ev.Job)
	if n == nil || !n.leaf.judging || ev.Policy != n.leaf.policy {
		return // stopped, or asked of policies that are no more
	}
	n.leaf.judging = false
	switch ev.Result {
	case approval.Allow, approval.Ask, approval.Deny, approval.Block:
	default:
		// The floor always answers; no answer is an error, and an error is a
		// block (law ruling 7).
		ev = FloorDone{Job: ev.Job, Policy: ev.Policy, Result: approval.Block, Message: approval.Written("the floor gave no answer")}
	}
	ev = ev.kept()
	n.leaf.floor = &ev
	m.touch(n)
}

// reload lets the floor begin anew where its answer is not on its way into
// the document.
func (m *Machine) reload() {
	m.policy++
	m.root.walk(func(n *node) {
		if n.leaf == nil || n.leaf.PolicyResult != approval.None {
			return
		}
		if n.leaf.judging {
			m.stop(Action{Do: Floor, Job: n.id, Policy: n.leaf.policy})
			n.leaf.judging = false
		}
		if n.save == 0 {
			n.leaf.floor = nil
		}
		m.touch(n)
	})
}

func (m *Machine) voted(n *node, ev ClassifierDone) {
	l := n.leaf
	if !l.tried || ev.Vote != approval.JudgeAllow && ev.Vote != approval.JudgeDeny || l.vote != approval.NoVote || l.JudgeResult != approval.NoVote {
		return
	}
	late := ev.Stopped || l.classifies == 0
	if late && m.waits(l) {
		return
	}
	l.vote, l.late, l.judgement = ev.Vote, late, keptObject(ev.Judgement)
	if !late {
		l.fail = approval.Text{}
		l.classifies = 0
	}
	m.touch(n)
}

// waits reports whether nothing has decided about a leaf yet, by committed rows.
func (m *Machine) waits(l *leaf) bool {
	license, _ := approval.LicenseDecision(obeyed(l.Leaf), m.viewFor(l.cluster, l.Paths))
	return !l.Orchestrated() && license == approval.Wait
}

// unvote forgets a vote that is not written yet where it would decide, and its attempt
// should not run: somebody changed the mode, a grant or a setting before the vote came.
func (m *Machine) unvote(n *node) {
	l := n.leaf
	if l.vote == approval.NoVote || n.save != 0 || l.JudgeResult != approval.NoVote || !m.waits(l) {
		return
	}
	if l.late || !approval.ClassifierRuns(obeyed(l.Leaf), m.viewFor(l.cluster, l.Paths)) {
		l.vote, l.judgement, l.late = approval.NoVote, "", false
	}
}

func (m *Machine) bodyDone(job JobID, outcome, note string) {
	n := m.leaf(job)
	if n == nil || n.leaf.body != runs {
		return
	}
	l := n.leaf
	l.body, l.note = ended, note
	if !l.cancel {
		// Whoever asks to cancel from now on comes too late.
		l.outcome = approval.Written(kept(outcome))
	}
	m.touch(n)
}

// cancel marks what is to be cancelled. A sequence is marked itself, so that a
// crash does not lose half of it and nothing begins under it afterwards.
func (m *Machine) cancel(job JobID, by string) {
	if job == "" {
		for _, child := range m.root.children {
			// A turn with nothing under way is history, unless it is the live
			// head.
			if child.leaf == nil && child.open == 0 && (len(m.turns) == 0 || child != m.turns[len(m.turns)-1]) {
				continue
			}
			m.cancelUnder(child, by)
		}
		return
	}
	if n := m.jobs[job]; n != nil {
		m.cancelUnder(n, by)
	}
}

func (m *Machine) cancelUnder(top *node, by string) {
	top.walk(func(n *node) {
		switch {
		case n.leaf == nil && (n.cancel || n.completed):
		case n.leaf == nil:
			n.cancel, n.canceller = true, by
		case n.leaf.outcome.Written || n.leaf.Completed:
			return // it has ended
		case n.leaf.cancel: // somebody asked before
		default:
			n.leaf.cancel, n.canceller = true, by
		}
		m.touch(n)
	})
}
