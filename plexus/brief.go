package plexus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Lists tell of many jobs, and what one holds is for agents to say: an outcome
// may have megabytes. So for lists no more is read of a text than its beginning.

// BriefText is how many bytes of a text a list has at most.
const BriefText = 4 << 10

// briefly are the selects with the beginnings of texts that are longer than
// that, and how long they are.
var briefly = map[string]string{
	`'s'`: brief(`'s'`, "facts"),
	`'j'`: brief(`'j'`, "arguments", "facts"),
	`'f'`: brief(`'f'`, "value"),
}

func brief(table string, texts ...string) string {
	query := selects[table]
	lengths := "''"
	for _, text := range texts {
		query = strings.Replace(query, ", "+text+",", fmt.Sprintf(", CASE WHEN octet_length(%s) > %d THEN substr(%[1]s, 1, %[2]d) ELSE %[1]s END,", text, BriefText), 1)
		lengths += " || octet_length(" + text + ") || ','"
	}
	return strings.Replace(query, "'' FROM", lengths+" FROM", 1)
}

// bytesOf is how long the n-th of the texts is that may be cut, 0 when it is
// whole.
func bytesOf(long string, n int) int {
	for ; n > 0; n-- {
		_, long, _ = strings.Cut(long, ",")
	}
	text, _, _ := strings.Cut(long, ",")
	if bytes, err := strconv.Atoi(text); err == nil && bytes > BriefText {
		return bytes
	}
	return 0
}

// begins is how a text begins: so many bytes of it, and whole characters.
func begins(text string) string {
	if len(text) <= BriefText {
		return text
	}
	end := BriefText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// note notes how long a text is, when it is cut, and gives its beginning.
func (j *JobSnapshot) note(name, text, long string, n int) string {
	bytes := bytesOf(long, n)
	if bytes == 0 {
		return text
	}
	if j.Bytes == nil {
		j.Bytes = make(map[string]int)
	}
	j.Bytes[name] = bytes
	return begins(text)
}

func (j *JobSnapshot) brief(v view, where string, args ...any) error {
	return v.scanLong(briefly[`'j'`]+" WHERE "+where, func(row Row, long string) error {
		j.Job = row.(Job)
		j.Job.Arguments = j.note("arguments", j.Job.Arguments, long, 0)
		j.Job.Facts = j.note("facts", j.Job.Facts, long, 1)
		return nil
	}, args...)
}

func (j *JobSnapshot) briefFields(v view) error {
	j.Fields = make(map[string]Field)
	return v.scanLong(briefly[`'f'`]+" WHERE session = ? AND job = ?", func(row Row, long string) error {
		f := row.(Field)
		f.Value = j.note(f.Name, f.Value, long, 0)
		j.Fields[f.Name] = f
		return nil
	}, j.Job.Session, j.Job.ID)
}

// JobName names a job.
type JobName struct{ Session, Job string }

// Briefs gives jobs in the order in which they are named, each with its place in
// that, and with the beginnings of their texts, until f says no. Those that are not
// there are passed over.
func (s *Store) Briefs(ctx context.Context, names []JobName, f func(at int, snap JobSnapshot) bool) error {
	return s.found(ctx, func(v view) error {
		for i, name := range names {
			snap := JobSnapshot{Rev: v.rev}
			if err := snap.brief(v, `session = ? AND id = ?`, name.Session, name.Job); err != nil {
				return err
			}
			if snap.Job.ID == "" {
				continue
			}
			if err := snap.briefFields(v); err != nil {
				return err
			}
			if !f(i, snap) {
				return nil
			}
		}
		return nil
	})
}

// BriefsBefore gives jobs before a rev, the newest first, of one session when it
// is named, with the beginnings of their texts, until f says no. The fields are
// read of those that are wanted.
func (s *Store) BriefsBefore(ctx context.Context, before Rev, session string, wanted func(Job) bool, f func(JobSnapshot) bool) error {
	return s.found(ctx, func(v view) error {
		err := v.scanLong(briefly[`'j'`]+" WHERE rev < ?1 AND (?2 = '' OR session = ?2) ORDER BY rev DESC", func(row Row, long string) error {
			snap := JobSnapshot{Rev: v.rev, Job: row.(Job)}
			if !wanted(snap.Job) {
				return nil
			}
			snap.Job.Arguments = snap.note("arguments", snap.Job.Arguments, long, 0)
			snap.Job.Facts = snap.note("facts", snap.Job.Facts, long, 1)
			if err := snap.briefFields(v); err != nil {
				return err
			}
			if !f(snap) {
				return errEnough
			}
			return nil
		}, int64(before), session)
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
}

// BriefSessions gives all sessions, the newest first, with the beginnings of
// their facts and how long those are when they are cut, until f says no.
func (s *Store) BriefSessions(ctx context.Context, f func(session Session, facts int) bool) error {
	return s.found(ctx, func(v view) error {
		err := v.scanLong(briefly[`'s'`]+" WHERE true ORDER BY rev DESC", func(row Row, long string) error {
			session := row.(Session)
			facts := bytesOf(long, 0)
			if facts > 0 {
				session.Facts = begins(session.Facts)
			}
			if !f(session, facts) {
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
}

// BriefSession is [Store.Session] with the beginnings of the texts of its jobs,
// and how long those are that are cut, by job.
func (s *Store) BriefSession(ctx context.Context, id string) (snap Snapshot, bytes map[string]map[string]int, err error) {
	bytes = make(map[string]map[string]int)
	err = s.found(ctx, func(v view) error {
		snap = Snapshot{Rev: v.rev, Fields: make(map[string]map[string]Field)}
		sessions, err := collect[Session](v, `'s'`, `id = ?`, id)
		if err != nil {
			return err
		}
		if len(sessions) == 0 {
			return ErrNoSession
		}
		snap.Session = sessions[0]
		note := func(job, name, text, long string, n int) string {
			j := JobSnapshot{Bytes: bytes[job]}
			text = j.note(name, text, long, n)
			if j.Bytes != nil {
				bytes[job] = j.Bytes
			}
			return text
		}
		err = v.scanLong(briefly[`'j'`]+" WHERE session = ? ORDER BY ord, rev", func(row Row, long string) error {
			j := row.(Job)
			j.Arguments = note(j.ID, "arguments", j.Arguments, long, 0)
			j.Facts = note(j.ID, "facts", j.Facts, long, 1)
			snap.Jobs = append(snap.Jobs, j)
			return nil
		}, id)
		if err != nil {
			return err
		}
		err = v.scanLong(briefly[`'f'`]+" WHERE session = ?", func(row Row, long string) error {
			f := row.(Field)
			f.Value = note(f.Job, f.Name, f.Value, long, 0)
			if snap.Fields[f.Job] == nil {
				snap.Fields[f.Job] = make(map[string]Field)
			}
			snap.Fields[f.Job][f.Name] = f
			return nil
		}, id)
		if err != nil {
			return err
		}
		if snap.Registers, err = v.latest(id); err != nil {
			return err
		}
		snap.Kernel, err = v.latest("")
		return err
	})
	if err != nil {
		err = fmt.Errorf("session %s: %w", id, err)
	}
	return snap, bytes, err
}
