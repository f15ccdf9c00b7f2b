package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assent/approval"
)

// document is the shared document in memory, with the rules that its engine
// has for what a host and a person write into one session. TestScripts plays
// every write on the real one as well and compares the answers.
type document struct {
	facts     Facts
	rev       Rev
	jobs      []Job
	minted    map[JobID]Rev
	fields    []docField
	at        map[docKey]int // in fields
	registers []Register
	ends      []Rev // of the transactions, in order
	full      bool
	real      *realDocument // beside it, nil for none
}

type docField struct {
	Field
	rev, tx Rev
}

type docKey struct {
	job  JobID
	name string
}

// bodyStarted is a field of the host that the machine does not know.
const bodyStarted = "bodyStarted"

// Why the document refuses.
var (
	errStale   = errors.New("stale")
	errEnded   = errors.New("ended")
	errFull    = errors.New("the disk is full")
	errRule    = errors.New("against the rules")
	errWritten = errors.New("already written")
)

// newDocument holds the session itself, which is its first row.
func newDocument(facts Facts) *document {
	return &document{rev: 1, facts: facts, minted: make(map[JobID]Rev), at: make(map[docKey]int)}
}

func (d *document) job(id JobID) (Job, bool) {
	for _, j := range d.jobs {
		if j.ID == id {
			return j, true
		}
	}
	return Job{}, false
}

func (d *document) value(job JobID, name string) (string, bool) {
	i, ok := d.at[docKey{job, name}]
	if !ok {
		return "", false
	}
	return d.fields[i].Value, true
}

func (d *document) has(job JobID, name string) bool {
	_, ok := d.value(job, name)
	return ok
}

func (d *document) is(job JobID, name, value string) bool {
	v, ok := d.value(job, name)
	return ok && v == value
}

// mint is the agent's, or the host's.
func (d *document) mint(j Job) error {
	return d.write(func(Rev) error {
		_, known := d.minted[j.ID]
		parent, ok := d.job(j.Parent)
		switch {
		case known:
			return fmt.Errorf("%s: %w", j.ID, errWritten)
		case j.Parent != "" && (!ok || !parent.Kind.Sequence()):
			return fmt.Errorf("%s: no sequence: %w", j.Parent, errRule)
		case d.has(j.Parent, Completed), d.has(j.Parent, Cancelled):
			return fmt.Errorf("%s is over: %w", j.Parent, errRule)
		}
		d.rev++
		d.jobs = append(d.jobs, j)
		d.minted[j.ID] = d.rev
		return nil
	}, func(r *realDocument) error { return r.mint(j) })
}

// person writes what a person writes, all at once: registers first, as a
// prompt does that opens a folder (law ruling 8).
func (d *document) person(registers []Register, fields ...Field) error {
	return d.write(func(tx Rev) error { return d.rows(registers, fields, 0, tx) },
		func(r *realDocument) error { return r.apply(aPerson, 0, rowsOf(registers, fields)...) })
}

// host writes what the host writes without asking the machine.
func (d *document) host(registers []Register, fields ...Field) error {
	return d.write(func(tx Rev) error { return d.rows(registers, fields, 0, tx) },
		func(r *realDocument) error { return r.apply(aHost, 0, rowsOf(registers, fields)...) })
}

// save applies a save of the machine.
func (d *document) save(s Save) error {
	return d.write(func(tx Rev) error { return d.rows(s.Registers, s.Fields, s.Seen, tx) },
		func(r *realDocument) error { return r.apply(aHost, s.Seen, rowsOf(s.Registers, s.Fields)...) })
}

func (d *document) rows(registers []Register, fields []Field, seen, tx Rev) error {
	for _, r := range registers {
		if err := d.register(r, seen, tx); err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	for _, f := range fields {
		if err := d.field(f, seen, tx); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) register(r Register, seen, tx Rev) error {
	turn, overlay := strings.CutPrefix(r.Name, Overlay)
	if overlay || r.Name == StandingPolicy {
		if !slices.Contains([]string{`"manual"`, `"auto"`, `"yolo"`}, r.Value) {
			return errRule
		}
		if d.facts.Seat == approval.Unattended && (overlay || r.Value == `"manual"` ||
			slices.ContainsFunc(d.registers, func(old Register) bool { return old.Name == StandingPolicy })) {
			return errRule
		}
	}
	if job, ok := d.job(JobID(turn)); overlay && (!ok || job.Kind != SessionTurn) {
		return errRule
	}
	if seen > 0 && d.registersAfter(seen, tx) {
		return errStale
	}
	d.rev++
	r.Rev = d.rev
	d.registers = append(d.registers, r)
	return nil
}

// write is one transaction: all or nothing.
func (d *document) write(apply func(tx Rev) error, same func(*realDocument) error) error {
	rev, jobs, fields, registers := d.rev, len(d.jobs), len(d.fields), len(d.registers)
	err := error(nil)
	if d.full {
		err = errFull
	} else {
		err = apply(rev + 1)
	}
	if err != nil {
		for _, j := range d.jobs[jobs:] {
			delete(d.minted, j.ID)
		}
		for _, f := range d.fields[fields:] {
			delete(d.at, docKey{f.Job, f.Name})
		}
		d.rev, d.jobs, d.fields, d.registers = rev, d.jobs[:jobs], d.fields[:fields], d.registers[:registers]
	} else {
		d.ends = append(d.ends, d.rev)
	}
	if d.real != nil && !d.full {
		d.real.agree(same(d.real), err, d.rev)
	}
	return err
}

func (d *document) registersAfter(seen, tx Rev) bool {
	return slices.ContainsFunc(d.registers, func(r Register) bool { return r.Rev > seen && r.Rev < tx })
}

// field writes one field, by the rules of the engine.
func (d *document) field(f Field, seen, tx Rev) error {
	job, known := d.job(f.Job)
	person := f.Name == Approved || f.Name == ApprovalComment
	together := func(name string) bool {
		i, ok := d.at[docKey{f.Job, name}]
		return ok && d.fields[i].tx == tx
	}
	refuse := func(why error) error { return fmt.Errorf("%s %s: %w", f.Job, f.Name, why) }
	switch {
	case !known:
		return refuse(errRule)
	case job.Kind.Sequence() && f.Name != Cancelled && f.Name != OutcomeJSON && f.Name != Completed:
		return refuse(errRule)
	case !person && d.has(f.Job, Completed):
		return refuse(errRule)
	case d.has(f.Job, f.Name):
		return refuse(errWritten)
	case !person && f.Name != Completed && d.has(f.Job, OutcomeJSON):
		return refuse(errRule)
	case f.Name == Completed && !d.has(f.Job, OutcomeJSON):
		return refuse(errRule)
	case (f.Name == PolicyMessage || f.Name == Paths || f.Name == Explanation) && !together(PolicyResult):
		return refuse(errRule)
	case f.Name == Approved && f.Value == "true" && (!d.has(f.Job, PolicyResult) || d.is(f.Job, PolicyResult, `"block"`)):
		return refuse(errRule)
	case f.Name == OrchestrationResult && d.has(f.Job, Cancelled):
		return refuse(errRule)
	case f.Name == OrchestrationResult && seen == 0:
		return refuse(errStale)
	case f.Name == bodyStarted && (d.has(f.Job, Cancelled) || !d.is(f.Job, OrchestrationResult, "true")):
		return refuse(errRule)
	}
	if number, ok := strings.CutPrefix(f.Name, JudgeFail); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || d.has(f.Job, JudgeResult) || n > 1 && !d.has(f.Job, JudgeFail+strconv.Itoa(n-1)) {
			return refuse(errRule)
		}
	}
	if seen > 0 {
		for _, name := range []string{Approved, ApprovalComment, Cancelled} {
			if i, ok := d.at[docKey{f.Job, name}]; ok && d.fields[i].rev > seen && d.fields[i].tx != tx {
				return refuse(errStale)
			}
		}
		if d.registersAfter(seen, tx) {
			return refuse(errStale)
		}
	}
	if !d.licensed(f, job) || f.Name == LicenseReason && !together(OrchestrationResult) {
		return refuse(errRule)
	}
	if f.Name == OutcomeJSON && !job.Kind.Sequence() && !d.has(f.Job, OrchestrationResult) && !d.has(f.Job, Cancelled) {
		return refuse(errRule)
	}
	d.rev++
	d.at[docKey{f.Job, f.Name}] = len(d.fields)
	d.fields = append(d.fields, docField{f, d.rev, tx})
	return nil
}

// licensed reports whether the votes allow what the guard returned.
func (d *document) licensed(f Field, job Job) bool {
	leaf := newLeaf(job)
	switch {
	case f.Name != OrchestrationResult:
		return true
	case leaf.cluster.String() == "comm":
		return f.Value == "true"
	case f.Value == "true":
		return !d.is(f.Job, Approved, "false") && d.has(f.Job, PolicyResult) && !d.is(f.Job, PolicyResult, `"block"`)
	}
	return d.is(f.Job, Approved, "false") || d.is(f.Job, PolicyResult, `"block"`) || d.is(f.Job, JudgeResult, `"deny"`)
}

// unsettled are the rows that a machine is opened on.
func (d *document) unsettled() Rows {
	rows := d.between(0, d.rev)
	settled := func(id JobID) bool { return d.has(id, Completed) }
	rows.Jobs = slices.DeleteFunc(rows.Jobs, func(j Job) bool { return !j.Kind.Sequence() && settled(j.ID) })
	rows.Fields = slices.DeleteFunc(rows.Fields, func(f Field) bool {
		j, _ := d.job(f.Job)
		return !j.Kind.Sequence() && settled(f.Job)
	})
	return rows
}

// between are the rows newer than from, up to a rev.
func (d *document) between(from, upto Rev) Rows {
	rows := Rows{Upto: upto}
	in := func(rev Rev) bool { return rev > from && rev <= upto }
	for _, j := range d.jobs {
		if in(d.minted[j.ID]) {
			rows.Jobs = append(rows.Jobs, j)
		}
	}
	for _, f := range d.fields {
		if in(f.rev) {
			rows.Fields = append(rows.Fields, f.Field)
		}
	}
	for _, r := range d.registers {
		if in(r.Rev) {
			rows.Registers = append(rows.Registers, r)
		}
	}
	return rows
}

// tear writes half of what is only written whole. The engine's own rules leave
// room for it; the store does not.
func (d *document) tear(f Field) error {
	d.real = nil
	return d.write(func(tx Rev) error { return d.field(f, 0, tx) }, nil)
}
