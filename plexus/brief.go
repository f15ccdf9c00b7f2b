package plexus

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
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
	`'r'`: brief(`'r'`, "value"),
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

// briefly takes in a row of a job as it was read, and gives it with the beginnings
// of its texts.
func (j *JobSnapshot) briefly(t *tally, row Row, long string) Row {
	var lengths []int
	short := func(name, text string) string {
		n := bytesOf(long, len(lengths))
		if lengths = append(lengths, n); n == 0 {
			return text
		}
		if j.Bytes == nil {
			j.Bytes = make(map[string]int)
		}
		j.Bytes[name] = n
		return begins(text)
	}
	switch r := row.(type) {
	case Job:
		r.Arguments = short("arguments", r.Arguments)
		r.Facts = short("facts", r.Facts)
		row = r
	case Field:
		r.Value = short(r.Name, r.Value)
		row = r
	}
	t.addCut(row, lengths)
	return row
}

// briefJob reads the fields of a job whose row was read, and compares both.
func (v view) briefJob(row Row, long string) (JobSnapshot, error) {
	t := v.tally(true)
	snap := JobSnapshot{Rev: v.rev, Fields: make(map[string]Field)}
	snap.Job = snap.briefly(t, row, long).(Job)
	err := v.scanLong(briefly[`'f'`]+" WHERE session = ? AND job = ?", func(row Row, long string) error {
		f := snap.briefly(t, row, long).(Field)
		snap.Fields[f.Name] = f
		return nil
	}, snap.Job.Session, snap.Job.ID)
	return snap, cmp.Or(err, t.compare(""))
}

// giveBrief hands a job over, and says when that was enough.
func (v view) giveBrief(row Row, long string, f func(JobSnapshot) bool) error {
	snap, err := v.briefJob(row, long)
	if err == nil && !f(snap) {
		err = errEnough
	}
	return err
}

// JobName names a job.
type JobName struct{ Session, Job string }

// Briefs gives jobs in the order in which they are named, each with its place in
// that, and with the beginnings of their texts, until f says no. Those that are not
// there are passed over.
func (s *Store) Briefs(ctx context.Context, names []JobName, f func(at int, snap JobSnapshot) bool) error {
	return s.told(ctx, func(v view) error {
		for i, name := range names {
			err := v.job(briefly, name.Session, name.Job, func(row Row, long string) error {
				return v.giveBrief(row, long, func(snap JobSnapshot) bool { return f(i, snap) })
			})
			switch {
			case errors.Is(err, errEnough):
				return nil
			case err != nil:
				return err
			}
		}
		return nil
	})
}

// BriefsBefore gives jobs before a rev, the newest first, of one session when it
// is named, with the beginnings of their texts, until f says no. The fields are
// read of those that are wanted.
func (s *Store) BriefsBefore(ctx context.Context, before Rev, session string, wanted func(Job) bool, f func(JobSnapshot) bool) error {
	return s.told(ctx, func(v view) error {
		err := v.scanLong(briefly[`'j'`]+" WHERE rev < ?1 AND (?2 = '' OR session = ?2) ORDER BY rev DESC", func(row Row, long string) error {
			if !wanted(row.(Job)) {
				return nil
			}
			return v.giveBrief(row, long, f)
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
	return s.told(ctx, func(v view) error {
		err := v.scanLong(briefly[`'s'`]+" WHERE true ORDER BY rev DESC", func(row Row, long string) error {
			session := row.(Session)
			facts := bytesOf(long, 0)
			session.Facts = begins(session.Facts)
			t := v.tally(true)
			t.addCut(session, []int{facts})
			err := t.compare("")
			if err == nil && !f(session, facts) {
				err = errEnough
			}
			return err
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
}

// BriefSnapshot is a session without its jobs, as it stood at Rev.
type BriefSnapshot struct {
	Rev     Rev
	Session Session
	// Registers are the revisions that hold, in the order of their names, with how
	// long the values are that are cut. MoreRegisters says that there are some more
	// than are told.
	Registers     []BriefRegister
	MoreRegisters bool
}

// BriefRegister is a register in a list; Bytes is how long its value is, 0 when it
// is whole.
type BriefRegister struct {
	Register
	Bytes int
}

// registersMost is how many bytes of registers are told with a session.
const registersMost = 1 << 20

// BriefSession gives a session with its jobs by Ord and Rev, those after a job of
// that rev, with the beginnings of their texts, until f says no. It fails with
// [ErrNoJob] when the session has no such job.
func (s *Store) BriefSession(ctx context.Context, id string, after Rev, f func(JobSnapshot) bool) (snap BriefSnapshot, err error) {
	err = s.told(ctx, func(v view) error {
		snap.Rev = v.rev
		sessions, err := collect[Session](v, `'s'`, `id = ?`, id)
		if err != nil {
			return err
		}
		if len(sessions) == 0 {
			return ErrNoSession
		}
		snap.Session = sessions[0]
		t := v.tally(true)
		t.add(snap.Session)
		bytes := 0
		err = v.scanLong(briefly[`'r'`]+" WHERE "+latestRegisters+" ORDER BY name", func(row Row, long string) error {
			if snap.MoreRegisters = bytes >= registersMost; snap.MoreRegisters {
				return errEnough
			}
			r := BriefRegister{Register: row.(Register), Bytes: bytesOf(long, 0)}
			r.Value = begins(r.Value)
			t.addCut(r.Register, []int{r.Bytes})
			bytes += size(r.Register)
			snap.Registers = append(snap.Registers, r)
			return nil
		}, id)
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		if err := t.compare(""); err != nil {
			return err
		}
		return v.briefJobs(id, after, f)
	})
	if err != nil {
		err = fmt.Errorf("session %s: %w", id, err)
	}
	return snap, err
}

// some is how many jobs are found at a time. To put them in their order takes as
// much memory as that many names, however many there are.
const some = 500

// briefJobs gives the jobs of a session in their order.
func (v view) briefJobs(session string, after Rev, f func(JobSnapshot) bool) error {
	ord := int64(math.MinInt64)
	if after > 0 {
		err := v.tx.QueryRowContext(v.ctx, `SELECT ord FROM job WHERE rev = ? AND session = ?`, int64(after), session).Scan(&ord)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("number %d: %w", after, ErrNoJob)
		}
		if err != nil {
			return err
		}
	}
	for {
		revs, err := v.jobsAfter(session, ord, after)
		if err != nil {
			return err
		}
		for _, rev := range revs {
			err := v.scanLong(briefly[`'j'`]+` WHERE rev = ?`, func(row Row, long string) error {
				ord, after = row.(Job).Ord, rev
				return v.giveBrief(row, long, f)
			}, int64(rev))
			switch {
			case errors.Is(err, errEnough):
				return nil
			case err != nil:
				return err
			}
		}
		if len(revs) < some {
			return nil
		}
	}
}

func (v view) jobsAfter(session string, ord int64, after Rev) (revs []Rev, err error) {
	rows, err := v.tx.QueryContext(v.ctx, `SELECT rev FROM job WHERE session = ? AND (ord, rev) > (?, ?) ORDER BY ord, rev LIMIT ?`,
		session, ord, int64(after), some)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var rev Rev
		if err := rows.Scan(&rev); err != nil {
			return nil, err
		}
		revs = append(revs, rev)
	}
	return revs, rows.Err()
}

// Revisions are those of one register of a session, "" for the kernel's, the oldest
// first.
func (s *Store) Revisions(ctx context.Context, session, name string) ([]Register, error) {
	return list[Register](ctx, s, `'r'`, `session = ? AND name = ? ORDER BY rev`, session, name)
}

// Registers are revisions of the registers of a session, "" for the kernel's, the
// oldest first, those after a rev: at most so many, and no more once they have so many
// bytes, but one at least. more says that it was not all.
func (s *Store) Registers(ctx context.Context, session string, after Rev, limit, bytes int) (found []Register, more bool, err error) {
	err = s.told(ctx, func(v view) error {
		have := 0
		err := v.scan(selects[`'r'`]+" WHERE session = ? AND rev > ? ORDER BY rev LIMIT ?", func(row Row) error {
			if more = len(found) == limit || len(found) > 0 && have+size(row) > bytes; more {
				return errEnough
			}
			found = append(found, row.(Register))
			have += size(row)
			return nil
		}, session, int64(after), limit+1)
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
	return found, more, err
}
