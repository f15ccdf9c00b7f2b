package plexus

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"assent/approval"
)

// Snapshot is a session as it stood at Rev.
type Snapshot struct {
	Rev     Rev // the end of the document when it was read
	Session Session
	Jobs    []Job // by Ord, then Rev; parents before their children in time
	// Fields are those of each job, by name.
	Fields map[string]map[string]Field
	// Registers are the latest revisions by name, Kernel those of the kernel.
	Registers map[string]Register
	Kernel    map[string]Register
}

// Session is the session with everything in it, of one moment. It fails with
// [ErrNoSession].
func (s *Store) Session(ctx context.Context, id string) (Snapshot, error) {
	return s.snapshot(ctx, id, "")
}

// snapshot reads a session with those of its jobs whose ids a query selects, with
// all of them when there is none. ?1 in it is the session.
func (s *Store) snapshot(ctx context.Context, id, which string) (snap Snapshot, err error) {
	jobs, fields := `session = ?1`, `session = ?1`
	if which != "" {
		jobs += ` AND id IN ` + which
		fields += ` AND job IN ` + which
	}
	err = s.found(ctx, func(v view) error {
		snap = Snapshot{Rev: v.rev, Fields: make(map[string]map[string]Field)}
		t := v.tally(false)
		t.expect(Session{ID: id})
		sessions, err := collect[Session](v, `'s'`, `id = ?`, id)
		if err != nil {
			return err
		}
		if len(sessions) == 0 {
			return cmp.Or(t.compare(""), ErrNoSession)
		}
		snap.Session = sessions[0]
		t.add(snap.Session)
		err = v.scan(selects[`'j'`]+" WHERE "+jobs+` ORDER BY ord, rev`, func(row Row) error {
			t.add(row)
			snap.Jobs = append(snap.Jobs, row.(Job))
			return nil
		}, id)
		if err != nil {
			return err
		}
		err = v.scan(selects[`'f'`]+" WHERE "+fields, func(row Row) error {
			t.add(row)
			f := row.(Field)
			if snap.Fields[f.Job] == nil {
				snap.Fields[f.Job] = make(map[string]Field)
			}
			snap.Fields[f.Job][f.Name] = f
			return nil
		}, id)
		if err != nil {
			return err
		}
		if err := t.compare(id); err != nil {
			return err
		}
		if snap.Registers, err = v.latest(id); err != nil {
			return err
		}
		snap.Kernel, err = v.latest("")
		return err
	})
	if err != nil {
		return Snapshot{}, fmt.Errorf("session %s: %w", id, err)
	}
	return snap, nil
}

// Sessions are all sessions, the oldest first.
func (s *Store) Sessions(ctx context.Context) (found []Session, err error) {
	err = s.found(ctx, func(v view) error {
		if found, err = collect[Session](v, `'s'`, `true ORDER BY rev`); err != nil {
			return err
		}
		t := v.tally(false)
		for _, session := range found {
			t.add(session)
		}
		return t.compare("")
	})
	return found, err
}

// Jobs are the jobs of a session by Ord, then Rev.
func (s *Store) Jobs(ctx context.Context, session string) ([]Job, error) {
	return list[Job](ctx, s, `'j'`, `session = ? ORDER BY ord, rev`, session)
}

// Fields are the fields of a job in the order they were written.
func (s *Store) Fields(ctx context.Context, session, job string) ([]Field, error) {
	return list[Field](ctx, s, `'f'`, `session = ? AND job = ? ORDER BY rev`, session, job)
}

// Head is the rev and the hash of the last row. Kept elsewhere, it lets
// [Store.Verify] tell a document that was cut or written anew. With
// [ErrTampered] it is the last row that is the store's.
func (s *Store) Head(ctx context.Context) (Head, error) {
	var h Head
	err := s.view(ctx, func(v view) error {
		h = Head{v.rev, v.hash}
		return nil
	})
	if errors.Is(err, ErrTampered) {
		good := s.trust.last()
		h = Head{good.rev, good.hash}
	}
	return h, err
}

// Head names a row.
type Head struct {
	Rev  Rev
	Hash Hash
}

// Since are rows after a rev, in order, at most limit of them (0: all). They are
// told as they stand there, also those of a damaged document.
func (s *Store) Since(ctx context.Context, after Rev, limit int) (rows []Row, err error) {
	err = s.raw(ctx, func(v view) error {
		rows, err = v.since(after, limit)
		return err
	})
	return rows, err
}

// Page are rows as Since gives them: no more once they have so many bytes, and
// one at least. more says that it was not all.
func (s *Store) Page(ctx context.Context, after Rev, limit, bytes int) (rows []Row, more bool, err error) {
	err = s.raw(ctx, func(v view) error {
		have := 0
		err := v.each(after, limit+1, func(row Row) error {
			if more = len(rows) == limit || len(rows) > 0 && have+size(row) > bytes; more {
				return errEnough
			}
			rows = append(rows, row)
			have += size(row)
			return nil
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
	return rows, more, err
}

// view is a reading transaction.
type view struct {
	ctx    context.Context
	tx     queryer
	rev    Rev // the end of the document, where it is the store's
	hash   Hash
	known  *known
	reader *reader // nil for who reads what stands there, whoever wrote it
}

// queryer is a transaction, or the connection of the writer.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// knows reports whether what is read is compared with what is known.
func (v view) knows() bool { return v.reader != nil && v.reader.ready }

// raw reads what stands there, whoever wrote it.
func (s *Store) raw(ctx context.Context, f func(view) error) error {
	select {
	case <-s.closing:
		return ErrClosed
	default:
	}
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err == nil {
		err = errors.Join(f(view{ctx: ctx, tx: tx}), tx.Rollback())
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		err, _ = translate(err)
	}
	return s.replaced(err)
}

// view reads a document that ends with a head of the store's own.
func (s *Store) view(ctx context.Context, f func(view) error) error {
	if err := s.trust.err(); err != nil {
		return err
	}
	reader := s.known.enter()
	defer s.known.leave(reader)
	err := s.raw(ctx, func(v view) error {
		if err := s.still(); err != nil {
			return err
		}
		end, err := v.end()
		if err != nil {
			return err
		}
		if !s.trust.ours(end.rev, end.hash) {
			return s.trust.lose(v.foreign(s.trust.last()))
		}
		v.rev, v.hash, v.known, v.reader = end.rev, end.hash, s.known, reader
		return f(v)
	})
	return s.distrusted(err)
}

// found is view, of a document whose chain is known to be whole. f is called
// again when a sealed file was touched meanwhile: then the chain is read first.
func (s *Store) found(ctx context.Context, f func(view) error) error {
	for {
		if err := s.told(ctx, f); err != nil || !s.touched() {
			return err
		}
	}
}

// told is found, of what is handed over as it is read.
func (s *Store) told(ctx context.Context, f func(view) error) error {
	if err := s.Trusted(ctx); err != nil {
		return err
	}
	return s.view(ctx, f)
}

// end is what stands in the document as its end.
func (v view) end() (h head, err error) {
	var hash []byte
	err = v.tx.QueryRowContext(v.ctx, `SELECT rev, tx, hash FROM head`).Scan(&h.rev, &h.tx, &hash)
	if errors.Is(err, sql.ErrNoRows) || err == nil && copy(h.hash[:], hash) != len(h.hash) {
		err = &Damage{What: "there is no head"}
	}
	return h, err
}

const latestRegisters = `rev IN (SELECT max(rev) FROM register WHERE session = ? GROUP BY name)`

func (v view) latest(session string) (map[string]Register, error) {
	registers, err := collect[Register](v, `'r'`, latestRegisters, session)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]Register, len(registers))
	for _, r := range registers {
		byName[r.Name] = r
	}
	return byName, v.standing(session, byName)
}

// standing compares the registers that hold with what is known.
func (v view) standing(session string, latest map[string]Register) error {
	t := v.tally(false)
	t.expect(Register{Session: session})
	for _, r := range latest {
		t.add(r)
	}
	return t.compare("")
}

// The four tables in one form: table, rev, tx, writer, at, hash, number, eight
// texts, and how long those are that may be long, where they are cut.
var selects = map[string]string{
	`'s'`: `SELECT 's', rev, tx, writer, at, hash, 0, id, seat, client, workspace, cwd, home, parent, facts, '' FROM session`,
	`'j'`: `SELECT 'j', rev, tx, writer, at, hash, ord, session, id, parent, kind, name, arguments, facts, '', '' FROM job`,
	`'f'`: `SELECT 'f', rev, tx, writer, at, hash, seen, session, job, name, value, '', '', '', '', '' FROM field`,
	`'r'`: `SELECT 'r', rev, tx, writer, at, hash, seen, session, name, value, '', '', '', '', '', '' FROM register`,
}

// since merges the tables by rev.
func (v view) since(after Rev, limit int) ([]Row, error) {
	var rows []Row
	if limit <= 0 {
		limit = -1
	}
	err := v.each(after, limit, func(row Row) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

func (v view) each(after Rev, limit int, f func(Row) error) error {
	return v.scan(sinceQuery(), f, int64(after), limit)
}

func sinceQuery() (query string) {
	for _, table := range [...]string{`'s'`, `'j'`, `'f'`, `'r'`} {
		if query != "" {
			query += " UNION ALL "
		}
		query += selects[table] + " WHERE rev > ?1"
	}
	return query + " ORDER BY 2 LIMIT ?2"
}

func (v view) scan(query string, f func(Row) error, args ...any) error {
	return v.scanLong(query, func(row Row, _ string) error { return f(row) }, args...)
}

// scanLong is scan, of rows with how long their texts are (brief.go).
func (v view) scanLong(query string, f func(row Row, long string) error, args ...any) error {
	rows, err := v.tx.QueryContext(v.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var (
		table, writer string
		stamp         Stamp
		at, number    int64
		hash          sql.RawBytes
		t             [8]string
		long          string
	)
	for rows.Next() {
		err := rows.Scan(&table, &stamp.Rev, &stamp.Tx, &writer, &at, &hash, &number, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7], &long)
		if err != nil {
			return err
		}
		stamp.At = time.UnixMicro(at).UTC()
		if stamp.Writer, err = ParseWriter(writer); err != nil {
			return &Damage{Rev: stamp.Rev, What: err.Error()}
		}
		stamp.Hash = Hash{}
		if copy(stamp.Hash[:], hash); len(hash) != len(stamp.Hash) {
			return &Damage{Rev: stamp.Rev, What: "its hash has another length"}
		}
		if err := f(rowOf(table, stamp, number, t), long); err != nil {
			return err
		}
	}
	return rows.Err()
}

func rowOf(table string, stamp Stamp, number int64, t [8]string) Row {
	switch table {
	case "s":
		return Session{stamp, t[0], approval.SeatOf(t[1] == attended), t[2], t[3], t[4], t[5], t[6], t[7]}
	case "j":
		return Job{stamp, t[0], t[1], t[2], number, t[3], t[4], t[5], t[6]}
	case "f":
		return Field{stamp, t[0], t[1], t[2], t[3], Rev(number)}
	}
	return Register{stamp, t[0], t[1], t[2], Rev(number)}
}

func collect[T Row](v view, table, where string, args ...any) (found []T, err error) {
	err = v.scan(selects[table]+" WHERE "+where, func(row Row) error {
		found = append(found, row.(T))
		return nil
	}, args...)
	return slices.Clip(found), err
}

func list[T Row](ctx context.Context, s *Store, table, where string, args ...any) (found []T, err error) {
	err = s.found(ctx, func(v view) error {
		found, err = collect[T](v, table, where, args...)
		return err
	})
	return found, err
}
