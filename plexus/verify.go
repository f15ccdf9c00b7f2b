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
	return s.verify(ctx, known, nil)
}

// verify is Verify; it tells each of the rows that follow.
func (s *Store) verify(ctx context.Context, known map[Rev]Hash, each func(Row)) (Head, error) {
	var last head
	err := s.raw(ctx, func(v view) (err error) {
		if last, err = v.follow(head{}, known, each); err != nil {
			return err
		}
		end, err := v.end()
		switch {
		case err != nil:
			return err
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
	return Head{last.rev, last.hash}, err
}

// follow reads the rows after a head and is the last of them. The error is a
// [*Damage] that names the first which does not follow. Those that do are told.
func (v view) follow(last head, known map[Rev]Hash, each func(Row)) (head, error) {
	damage := func(rev Rev, row Row, what string) error { return &Damage{Rev: rev, Row: row, What: what} }
	err := v.each(last.rev, -1, func(row Row) error {
		stamp := row.Stamped()
		next := last.rev + 1
		switch {
		case stamp.Rev > next:
			return damage(next, nil, missing)
		case stamp.Rev < next:
			return damage(stamp.Rev, row, "two rows have this rev")
		case stamp.Tx != stamp.Rev && stamp.Tx != last.tx:
			return damage(stamp.Rev, row, "it belongs to no transaction")
		case link(last.hash, row) != stamp.Hash:
			return damage(stamp.Rev, row, "its hash is not that of its content after the row before")
		}
		if want, ok := known[stamp.Rev]; ok && want != stamp.Hash {
			return damage(stamp.Rev, row, "it is not the row that was kept")
		}
		last = head{rev: stamp.Rev, tx: stamp.Tx, hash: stamp.Hash}
		if each != nil {
			each(row)
		}
		return nil
	})
	return last, err
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
