package plexus

import (
	"cmp"
	"fmt"
	"slices"
)

// tally is what a reader has read, to be compared with what is known.
type tally struct {
	v     view
	brief bool // the beginnings of texts, and registers one by one
	rows  map[point]*tallied
}

// tallied are the rows at a point.
type tallied struct {
	sum     uint64
	what    Row // the first of them
	settled bool
}

func (v view) tally(brief bool) *tally {
	return &tally{v: v, brief: brief, rows: make(map[point]*tallied)}
}

func (t *tally) at(at point, row Row) *tallied {
	if t.rows[at] == nil {
		t.rows[at] = &tallied{what: row}
	}
	return t.rows[at]
}

// add takes in a row as it was read.
func (t *tally) add(row Row, bytes ...int) {
	if !t.v.knows() {
		return
	}
	k := t.v.known
	var at point
	switch r := row.(type) {
	case Session:
		at = k.point(r.ID, "")
	case Job:
		at = k.point(r.Session, r.ID)
	case Field:
		at = k.point(r.Session, r.Job)
	case Register:
		if at = k.point(r.Session, "") ^ registers; t.brief {
			at = k.register(r.Session, r.Name)
		}
	}
	of := t.at(at, row)
	of.sum += k.mark(row, bytes...)
	if f, ok := row.(Field); ok && f.Name == Completed {
		of.settled = true
	}
}

// addCut is add, of a row with the beginnings of its texts: lengths is how long
// those are that are cut. What is known of a register is its whole value.
func (t *tally) addCut(row Row, lengths []int) {
	cut := slices.ContainsFunc(lengths, func(n int) bool { return n > 0 })
	_, register := row.(Register)
	switch {
	case !cut:
		t.add(row)
	case !register:
		t.add(row, lengths...)
	}
}

// expect says that a job, a session for "", or the registers of one were looked
// for: also where nothing was found.
func (t *tally) expect(what Row) {
	if t.v.knows() {
		switch r := what.(type) {
		case Session:
			t.at(t.v.known.point(r.ID, ""), r)
		case Job:
			t.at(t.v.known.point(r.Session, r.ID), r)
		case Register:
			t.at(t.v.known.point(r.Session, "")^registers, r)
		}
	}
}

// compare is the damage when something is not as it is known. Of the session that
// is named all jobs were looked for that are not settled.
func (t *tally) compare(session string) error {
	if !t.v.knows() {
		return nil
	}
	k := t.v.known
	of := k.point(session, "")
	var wrong *Damage
	k.at(t.v.reader, t.v.rev, func(sum func(point) uint64) {
		var jobs uint64
		for at, got := range t.rows {
			want := sum(at)
			if t.brief {
				want = cmp.Or(sum(at^inBrief), want)
			}
			if got.sum != want {
				wrong = &Damage{Rev: max(1, got.what.Stamped().Rev), What: fmt.Sprintf("%s: %s", got.what, notAsKnown)}
			}
			if _, ok := got.what.(Register); ok {
				continue
			}
			if at != of && (!got.settled || sum(at^sequence) != 0) {
				jobs += uint64(at)
			}
		}
		if session != "" && wrong == nil && jobs != sum(of^unsettled) {
			wrong = &Damage{Rev: t.v.rev, What: fmt.Sprintf("session %s: what is not settled there is not what it was", session)}
		}
	})
	if wrong != nil {
		return wrong
	}
	return nil
}

const notAsKnown = "it is not as it was written, or read before"
