package plexus

import (
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
func (s *Store) Job(ctx context.Context, session, id string) (JobSnapshot, error) {
	snap := JobSnapshot{Fields: make(map[string]Field)}
	err := s.found(ctx, func(v view) error {
		snap.Rev = v.rev
		jobs, err := collect[Job](v, `'j'`, `session = ? AND id = ?`, session, id)
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			sessions, err := collect[Session](v, `'s'`, `id = ?`, session)
			if err == nil && len(sessions) == 0 {
				return ErrNoSession
			}
			if err != nil {
				return err
			}
			return ErrNoJob
		}
		snap.Job = jobs[0]
		fields, err := collect[Field](v, `'f'`, `session = ? AND job = ?`, session, id)
		for _, f := range fields {
			snap.Fields[f.Name] = f
		}
		return err
	})
	if err != nil {
		return JobSnapshot{}, fmt.Errorf("job %s/%s: %w", session, id, err)
	}
	return snap, nil
}
