package plexus

import "context"

// Finding what is not settled costs what is not settled, however much is: the
// engine keeps a list of it (table unsettled, which says what belongs in it).

const unsettledSessions = `SELECT id FROM session WHERE id IN (SELECT DISTINCT session FROM unsettled) ORDER BY rev`

// Unsettled are the sessions in which something is not settled, the oldest
// first, and the rev that this was told of.
func (s *Store) Unsettled(ctx context.Context) (ids []string, rev Rev, err error) {
	err = s.view(ctx, func(v view) error {
		rev = v.rev
		rows, err := v.tx.QueryContext(v.ctx, unsettledSessions)
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

// openJobs are the jobs that [Store.Open] reads: what is unsettled, and every
// sequence, for its place in the tree.
const openJobs = `(SELECT job FROM unsettled WHERE session = ?1
	UNION SELECT id FROM job WHERE session = ?1 AND kind IN ('SessionTurn', 'ProgrammaticJob'))`

// Open is the session as [Store.Session] gives it, without the leaves that are
// completed: what is left to do in it.
func (s *Store) Open(ctx context.Context, id string) (Snapshot, error) {
	return s.snapshot(ctx, id, openJobs)
}

// Latest are the registers of a session that hold, by name; of the kernel for
// "".
func (s *Store) Latest(ctx context.Context, session string) (latest map[string]Register, err error) {
	err = s.found(ctx, func(v view) error {
		latest, err = v.latest(session)
		return err
	})
	return latest, err
}

// openSequences are found by the index of sequences, each with a look for its end.
const openSequences = `SELECT session, id FROM job INDEXED BY job_sequence WHERE kind IN ('SessionTurn', 'ProgrammaticJob')
	AND NOT EXISTS (SELECT 1 FROM field WHERE field.session = job.session AND field.job = job.id AND field.name = 'completed') ORDER BY rev`

// OpenSequences are the sequences that are not completed, the oldest first. Whoever
// goes on with one reads it with [Store.Job].
func (s *Store) OpenSequences(ctx context.Context) (open []JobName, err error) {
	err = s.view(ctx, func(v view) error {
		rows, err := v.tx.QueryContext(v.ctx, openSequences)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name JobName
			if err := rows.Scan(&name.Session, &name.Job); err != nil {
				return err
			}
			open = append(open, name)
		}
		return rows.Err()
	})
	return open, err
}
