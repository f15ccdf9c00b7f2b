package plexus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ErrTampered is wrapped by every [Damage].
var ErrTampered = errors.New("the document was tampered with or damaged")

// Damage is the first row that does not follow from the rows before it.
type Damage struct {
	Rev  Rev
	Row  Row // nil when it is not there or cannot be read
	What string
}

func (d *Damage) Error() string {
	if d.Row == nil {
		return fmt.Sprintf("rev %d: %s: %v", d.Rev, d.What, ErrTampered)
	}
	return fmt.Sprintf("rev %d (%s): %s: %v", d.Rev, d.Row, d.What, ErrTampered)
}

// Is reports whether it is an [ErrReplaced].
func (d *Damage) Is(target error) bool {
	return target == ErrReplaced && d.What == ErrReplaced.Error()
}

// Unwrap is [ErrTampered].
func (d *Damage) Unwrap() error { return ErrTampered }

// What is wrong with a row.
const (
	missing   = "the row is missing"
	otherHead = "the head is another"
)

// Verify reads the whole document and returns its head. The error is a
// [*Damage] that names the first row that was changed, put in or taken out.
//
// The chain shows what was changed by somebody who did not make it anew from
// there on. Who writes the file can do that; heads that were kept elsewhere
// tell, and are looked for on the way. The store has kept one itself, since it
// was opened.
func (s *Store) Verify(ctx context.Context, kept ...Head) (Head, error) {
	known := make(map[Rev]Hash, len(kept))
	for _, h := range kept {
		known[h.Rev] = h.Hash
	}
	last, err := s.verify(ctx, known, func(v view, _ head) (head, error) { return v.follow(head{}, known, nil) })
	return Head{last.rev, last.hash}, err
}

// verify has the whole document read by follow, which is told its end and says which
// is the last row that follows. Heads that were kept must be there.
func (s *Store) verify(ctx context.Context, known map[Rev]Hash, follow func(view, head) (head, error)) (last head, err error) {
	err = s.raw(ctx, func(v view) (err error) {
		end, err := v.end()
		if err != nil {
			return err
		}
		if last, err = follow(v, end); err != nil {
			return err
		}
		switch {
		case end.rev > last.rev:
			return &Damage{Rev: last.rev + 1, What: missing}
		case end != last:
			return &Damage{Rev: last.rev, What: otherHead}
		}
		for rev := range known {
			if rev > last.rev {
				return &Damage{Rev: rev, What: missing + ", and was kept"}
			}
		}
		if err := v.verifyUnsettled(); err != nil {
			return err
		}
		if !s.trust.ours(end.rev, end.hash) {
			return v.foreign(s.trust.last())
		}
		return s.still()
	})
	if errors.Is(err, ErrTampered) && len(known) == 0 {
		err = s.trust.lose(err)
	}
	return last, err
}

// follow reads the rows after a head, hands them over, and is the last of them.
// The error is a [*Damage] that names the first which does not follow.
func (v view) follow(last head, known map[Rev]Hash, learn func(Row)) (head, error) {
	err := v.each(last.rev, -1, func(row Row) error {
		next, err := last.next(row)
		if err != nil {
			return err
		}
		if want, ok := known[next.rev]; ok && want != next.hash {
			return &Damage{Rev: next.rev, Row: row, What: "it is not the row that was kept"}
		}
		last = next
		if learn != nil {
			learn(row)
		}
		return nil
	})
	return last, err
}

// next is the head with one more row, when that follows. tx is 0 where it is not
// known.
func (h head) next(row Row) (head, error) {
	stamp := row.Stamped()
	damage := func(rev Rev, row Row, what string) (head, error) {
		return h, &Damage{Rev: rev, Row: row, What: what}
	}
	switch next := h.rev + 1; {
	case stamp.Rev > next:
		return damage(next, nil, missing)
	case stamp.Rev < next:
		return damage(stamp.Rev, row, "two rows have this rev")
	case stamp.Tx != stamp.Rev && stamp.Tx != h.tx && (h.tx != 0 || h.rev == 0):
		return damage(stamp.Rev, row, "it belongs to no transaction")
	case link(h.hash, row) != stamp.Hash:
		return damage(stamp.Rev, row, "its hash is not that of its content after the row before")
	}
	return head{rev: stamp.Rev, tx: stamp.Tx, hash: stamp.Hash}, nil
}

// verifyUnsettled compares the list of what is unsettled with the rows it
// follows from, both ways.
func (v view) verifyUnsettled() error {
	const follows = `SELECT session, id AS job FROM job WHERE (kind NOT IN ('SessionTurn', 'ProgrammaticJob')
			OR EXISTS (SELECT 1 FROM field WHERE field.session = job.session AND field.job = job.id AND name = 'cancelled'))
		AND NOT EXISTS (SELECT 1 FROM field WHERE field.session = job.session AND field.job = job.id AND name = 'completed')`
	for _, check := range []struct{ what, query string }{
		{"it is not settled and not in the list of those", follows + ` EXCEPT SELECT session, job FROM unsettled`},
		{"it is in the list of what is not settled and does not belong there", `SELECT session, job FROM unsettled EXCEPT ` + follows},
	} {
		var id, job string
		var rev Rev
		err := v.tx.QueryRowContext(v.ctx, `SELECT wrong.session, wrong.job, coalesce(job.rev, 0) FROM (`+check.query+`) AS wrong
			LEFT JOIN job ON job.session = wrong.session AND job.id = wrong.job ORDER BY 3 LIMIT 1`).Scan(&id, &job, &rev)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		default:
			return &Damage{Rev: rev, What: fmt.Sprintf("job %s/%s: %s", id, job, check.what)}
		}
	}
	return nil
}
