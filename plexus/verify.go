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

// Unwrap is [ErrTampered].
func (d *Damage) Unwrap() error { return ErrTampered }

// Verify reads the whole document and returns its head. The error is a
// [*Damage] that names the first row that was changed, put in or taken out.
//
// The chain shows what was changed by somebody who did not make it anew from
// there on. Who writes the file can do that; heads that were kept elsewhere
// tell, and are looked for on the way.
func (s *Store) Verify(ctx context.Context, kept ...Head) (last Head, err error) {
	known := make(map[Rev]Hash, len(kept))
	for _, h := range kept {
		known[h.Rev] = h.Hash
	}
	err = s.view(ctx, func(v view) error {
		var tx Rev
		damage := func(rev Rev, row Row, what string) error { return &Damage{Rev: rev, Row: row, What: what} }
		err := v.each(0, -1, func(row Row) error {
			stamp := row.Stamped()
			next := last.Rev + 1
			switch {
			case stamp.Rev > next:
				return damage(next, nil, "the row is missing")
			case stamp.Rev < next:
				return damage(stamp.Rev, row, "two rows have this rev")
			case stamp.Tx != stamp.Rev && stamp.Tx != tx:
				return damage(stamp.Rev, row, "it belongs to no transaction")
			case link(last.Hash, row) != stamp.Hash:
				return damage(stamp.Rev, row, "its hash is not that of its content after the row before")
			}
			if want, ok := known[stamp.Rev]; ok && want != stamp.Hash {
				return damage(stamp.Rev, row, "it is not the row that was kept")
			}
			last, tx = Head{Rev: stamp.Rev, Hash: stamp.Hash}, stamp.Tx
			return nil
		})
		if err != nil {
			return err
		}
		var end Head
		var hash []byte
		if err := v.tx.QueryRowContext(v.ctx, `SELECT rev, hash FROM head`).Scan(&end.Rev, &hash); err != nil {
			return err
		}
		copy(end.Hash[:], hash)
		switch {
		case end.Rev > last.Rev:
			return damage(last.Rev+1, nil, "the row is missing")
		case end != last:
			return damage(last.Rev, nil, "the head is another")
		}
		for rev := range known {
			if rev > last.Rev {
				return damage(rev, nil, "the row is missing, and was kept")
			}
		}
		return v.verifyUnsettled()
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
