package plexus

import (
	"cmp"
	"context"
	"fmt"
)

// JobSnapshot is a job as it stood at Rev.
type JobSnapshot struct {
	Rev    Rev // the end of the document when it was read
	Job    Job
	Fields map[string]Field // by name
	// Bytes is how long the texts are of which only the beginning was read
	// ([Store.Briefs]): "arguments", "facts", or the name of a field.
	Bytes map[string]int
}

// Job is one job with its fields, of one moment. It fails with [ErrNoSession]
// or [ErrNoJob].
func (s *Store) Job(ctx context.Context, session, id string) (snap JobSnapshot, err error) {
	err = s.found(ctx, func(v view) (err error) {
		if snap, err = v.whole(session, id); err != nil || snap.Job.ID != "" {
			return err
		}
		t := v.tally(false)
		sessions, err := collect[Session](v, `'s'`, `id = ?`, session)
		if err == nil && len(sessions) == 0 {
			t.expect(Session{ID: session})
			return cmp.Or(t.compare(""), ErrNoSession)
		}
		return cmp.Or(err, ErrNoJob)
	})
	if err != nil {
		return JobSnapshot{}, fmt.Errorf("job %s/%s: %w", session, id, err)
	}
	return snap, nil
}

// whole is a job with its fields; without a Job when there is none.
func (v view) whole(session, id string) (JobSnapshot, error) {
	snap := JobSnapshot{Rev: v.rev, Fields: make(map[string]Field)}
	err := v.job(selects, session, id, func(row Row, _ string) error {
		t := v.tally(false)
		snap.Job = row.(Job)
		t.add(row)
		err := v.scan(selects[`'f'`]+` WHERE session = ? AND job = ?`, func(row Row) error {
			f := row.(Field)
			t.add(f)
			snap.Fields[f.Name] = f
			return nil
		}, session, id)
		return cmp.Or(err, t.compare(""))
	})
	return snap, err
}

// same is the damage when a job and its fields are not what is known of them.
func (v view) same(session, id string) error {
	if !v.knows() {
		return nil
	}
	_, err := v.whole(session, id)
	return err
}

// job calls f with the row of a job, if there is one; it is damage when one is
// missing.
func (v view) job(query map[string]string, session, id string, f func(row Row, long string) error) error {
	there := false
	err := v.scanLong(query[`'j'`]+` WHERE session = ? AND id = ?`, func(row Row, long string) error {
		there = true
		return f(row, long)
	}, session, id)
	if err != nil || there {
		return err
	}
	t := v.tally(false)
	t.expect(Job{Session: session, ID: id})
	return t.compare("")
}
