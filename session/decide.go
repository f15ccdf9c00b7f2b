package session

import (
	"strconv"
	"time"

	"assent/approval"
)

// draft is a save in the making, and the leaf as it will be.
type draft struct {
	leaf      approval.Leaf
	job       JobID
	fields    []Field
	registers []Register
	license   bool      // it depends on the view
	until     time.Time // it depends on what ends then; zero for on nothing that ends
	by        string    // who asked for the cancelled in it
}

func (d *draft) write(name, value string) {
	d.fields = append(d.fields, Field{Job: d.job, Name: name, Value: value})
}

// settle writes the outcome and completed, the last of the host's writes.
func (d *draft) settle(outcome string) {
	d.write(OutcomeJSON, outcome)
	d.write(Completed, "true")
}

// decide says what is to be written for a leaf now (law §7). Everything that
// is known goes into one transaction: an answer of the floor or the
// classifier together with the license that follows from it.
func (m *Machine) decide(n *node) draft {
	l := n.leaf
	d := draft{leaf: l.Leaf, job: n.id}
	switch {
	case l.Completed:
	case l.over() && l.body == runs:
		// It settles when the body has ended.
	case l.OutcomeJSON.Written:
		// Torn: the outcome stands, a refusal keeps its receipt (law ruling 3).
		d.write(Completed, "true")
	case l.Cancelled:
		d.settle(l.receiptCancelled())
	case l.outcome.Written:
		m.vote(&d, l)
		d.settle(l.outcome.Value)
	case l.OrchestrationResult == approval.Refused:
		// A torn deny (law ruling 3).
		d.settle(approval.ReceiptPolicy.String())
	case l.cancel:
		d.write(Cancelled, "true")
		d.by = n.canceller
		if l.body != runs {
			d.settle(l.receiptCancelled())
		}
	case l.OrchestrationResult == approval.Licensed:
		m.vote(&d, l)
	default:
		m.floorAnswer(&d, l)
		m.vote(&d, l)
		m.guard(&d, l)
	}
	return d
}

// floorAnswer writes what the floor said.
func (m *Machine) floorAnswer(d *draft, l *leaf) {
	if l.floor == nil || l.PolicyResult != approval.None {
		return
	}
	d.leaf = l.floor.with(d.leaf)
	result, err := l.floor.Result.MarshalJSON()
	if err != nil || l.floor.Result == approval.None { // FloorDone saw to it
		result = []byte(`"block"`)
	}
	d.write(PolicyResult, string(result))
	if l.floor.Message.Written {
		d.write(PolicyMessage, quote(l.floor.Message.Value))
	}
	if l.floor.Paths != nil {
		d.write(Paths, quoteAll(l.floor.Paths))
	}
	if l.floor.Explanation != "" {
		d.write(Explanation, l.floor.Explanation)
	}
}

// vote writes what the classifier said, also when it comes too late to decide
// anything (law ruling 5). An attempt that fails too late is none.
func (m *Machine) vote(d *draft, l *leaf) {
	if l.JudgeResult != approval.NoVote {
		return
	}
	switch {
	case l.vote != approval.NoVote:
		vote, err := l.vote.MarshalJSON()
		if err != nil {
			vote = []byte(`"deny"`)
		}
		d.leaf.JudgeResult = l.vote
		d.write(JudgeResult, string(vote))
		if l.judgement != "" {
			d.write(Judgement, l.judgement)
		}
	case l.fail.Written && !l.Orchestrated():
		d.leaf.JudgeFailMessage = l.fail
		d.write(JudgeFail+strconv.Itoa(l.attempts+1), quote(l.fail.Value))
	}
}

// guard returns, when a license exists (law §4, §7). A refusal's false, its
// receipt and completed are one transaction (law ruling 3); what a person's
// true lets the session read is stored with the true that follows from it
// (law §10).
func (m *Machine) guard(d *draft, l *leaf) {
	view := m.viewFor(l.cluster, d.leaf.Paths)
	leaf := obeyed(d.leaf)
	license, reason := approval.LicenseDecision(leaf, view)
	if license == approval.Wait {
		return
	}
	d.license = true
	if license == approval.DenySide {
		d.write(OrchestrationResult, "false")
		d.write(LicenseReason, quote(reason.Name()))
		d.settle(approval.ReceiptFor(reason).String())
		return
	}
	if reason == approval.GrantSkips {
		d.until = m.grantEnds(l.cluster)
	}
	d.write(OrchestrationResult, "true")
	d.write(LicenseReason, quote(reason.Name()))
	if remember := approval.MayRemember(leaf, view); len(remember) > 0 {
		list := append([]string(nil), m.view.ReadAllowlist...)
		for _, p := range remember {
			list = append(list, string(p))
		}
		d.registers = append(d.registers, Register{Name: ReadAllowlist, Value: quoteAll(list)})
	}
}

// wants says what should run for a leaf now, by committed rows and by what is
// known to come: nothing is asked twice, and nothing begins on a leaf that
// somebody wants cancelled (law ruling 4).
func (m *Machine) wants(n *node) (floor bool, attempt int, body bool) {
	l := n.leaf
	if l.cancel || l.over() {
		return false, 0, false
	}
	if l.Orchestrated() {
		return false, 0, l.OrchestrationResult == approval.Licensed && l.body == notBegun
	}
	view := m.viewFor(l.cluster, l.Paths)
	leaf := obeyed(l.Leaf)
	if l.PolicyResult == approval.None {
		license, _ := approval.LicenseDecision(leaf, view)
		return license == approval.Wait && l.floor == nil, 0, false
	}
	if l.vote == approval.NoVote && !l.fail.Written && approval.ClassifierRuns(leaf, view) {
		attempt = l.attempts + 1
	}
	return false, attempt, false
}
