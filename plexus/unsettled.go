package plexus

import "context"

// What is not settled: leaves that are not completed, and sequences that were
// cancelled and are not.
const (
	unsettledLeaf = `job.kind NOT IN ('SessionTurn', 'ProgrammaticJob')
		AND NOT EXISTS (SELECT 1 FROM field AS done WHERE done.session = job.session AND done.job = job.id AND done.name = 'completed')`
	unsettledSequence = `job.kind IN ('SessionTurn', 'ProgrammaticJob')
		AND EXISTS (SELECT 1 FROM field AS off WHERE off.session = job.session AND off.job = job.id AND off.name = 'cancelled')
		AND NOT EXISTS (SELECT 1 FROM field AS done WHERE done.session = job.session AND done.job = job.id AND done.name = 'completed')`
)

// Unsettled are the sessions in which something is not settled, the oldest
// first, and the rev that this was told of.
func (s *Store) Unsettled(ctx context.Context) (ids []string, rev Rev, err error) {
	err = s.view(ctx, func(v view) error {
		var err error
		if rev, err = v.head(); err != nil {
			return err
		}
		rows, err := v.tx.QueryContext(v.ctx, `SELECT id FROM session WHERE EXISTS (SELECT 1 FROM job WHERE job.session = session.id AND (`+
			unsettledLeaf+` OR `+unsettledSequence+`)) ORDER BY rev`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return rows.Err()
	})
	return ids, rev, err
}

// Open is the session as [Store.Session] gives it, without the leaves that are
// completed: what is left to do in it.
func (s *Store) Open(ctx context.Context, id string) (Snapshot, error) {
	return s.snapshot(ctx, id, `(job.kind IN ('SessionTurn', 'ProgrammaticJob') OR `+unsettledLeaf+`)`)
}

// Latest are the registers of a session that hold, by name; of the kernel for
// "".
func (s *Store) Latest(ctx context.Context, session string) (latest map[string]Register, err error) {
	err = s.view(ctx, func(v view) error {
		latest, err = v.latest(session)
		return err
	})
	return latest, err
}
