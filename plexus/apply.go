package plexus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// request is a Tx on its way to the writer.
type request struct {
	tx   *Tx
	done chan struct{} // closed when the rest is set
	rev  Rev
	err  error
	rows []Row
}

// Apply writes a Tx, all of it or nothing, and returns the rev of its last
// row. On return it is durable. Writes that wait at the same time share one
// sync of the disk, but not their fate.
//
// ctx is looked at until the writer takes the Tx. From there Apply waits for
// what becomes of it, so an error says that nothing was written; the one
// exception is [ErrDisk]. A license, and the beginning of a body, wait until the
// document that was found is known to be whole; nothing is written to one that
// is not ([ErrTampered]).
func (s *Store) Apply(ctx context.Context, tx Tx) (Rev, error) {
	if err := tx.check(); err != nil {
		return 0, err
	}
	r := &request{tx: &tx, done: make(chan struct{})}
	select {
	case <-s.closing:
		return 0, ErrClosed
	default:
	}
	if tx.licenses() {
		if err := s.Trusted(ctx); err != nil {
			return 0, err
		}
	}
	select {
	case s.requests <- r:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-s.closing:
		return 0, ErrClosed
	}
	<-r.done
	return r.rev, r.err
}

// batchMax bounds the transaction that waiting writes share, and with it how
// long the first of them waits for the others.
const batchMax = 256

// run is the writer: it takes what waits, writes it in one transaction, then
// answers and wakes the watchers.
func (s *Store) run() {
	batch := make([]*request, 0, batchMax)
	for {
		batch = batch[:0]
		select {
		case r := <-s.requests:
			batch = append(batch, r)
		case chore := <-s.chores:
			chore()
			continue
		case <-s.closing:
			return
		}
		batch = s.drain(batch)
		s.commit(batch)
		var rows []Row
		for _, r := range batch {
			if r.err == nil {
				rows = append(rows, r.rows...)
			}
		}
		s.stored.wrote(rows)
		s.watchers.tell(rows)
		for i, r := range batch {
			close(r.done)
			batch[i] = nil
		}
	}
}

// between has the writer do something while nothing is written.
func (s *Store) between(f func() error) error {
	done := make(chan error, 1)
	select {
	case s.chores <- func() { done <- f() }:
		return <-done
	case <-s.closing:
		return ErrClosed
	}
}

// drain adds to the batch what waits. Those who were just answered, and write
// again at once, are let go first: else they would wait for two syncs, of which
// each has half of them.
func (s *Store) drain(batch []*request) []*request {
	for before := 0; before < len(batch); {
		before = len(batch)
		runtime.Gosched()
		for more := true; more && len(batch) < batchMax; {
			select {
			case r := <-s.requests:
				batch = append(batch, r)
			default:
				more = false
			}
		}
	}
	return batch
}

// head is where the document ends.
type head struct {
	rev, tx Rev
	hash    Hash
}

// writeConn is the one connection that writes.
type writeConn struct {
	conn   *sql.Conn
	head   head
	broken error

	version int64   // of the file, that moves when others commit to it
	sealed  *sealed // nil where the file is not known to be as it was

	begin, commitStmt, rollback   *sql.Stmt
	savepoint, release, undo      *sql.Stmt
	readHead, dataVersion         *sql.Stmt
	session, job, field, register *sql.Stmt
}

func newWriteConn(conn *sql.Conn, version int64) (*writeConn, error) {
	c := &writeConn{conn: conn, version: version}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&c.begin, `BEGIN IMMEDIATE`},
		{&c.commitStmt, `COMMIT`},
		{&c.rollback, `ROLLBACK`},
		{&c.savepoint, `SAVEPOINT one`},
		{&c.release, `RELEASE one`},
		{&c.undo, `ROLLBACK TO one`},
		{&c.readHead, `SELECT rev, tx, hash FROM head`},
		{&c.dataVersion, dataVersion},
		{&c.session, insertSession},
		{&c.job, insertJob},
		{&c.field, insertField},
		{&c.register, insertRegister},
	} {
		stmt, err := conn.PrepareContext(context.Background(), p.text)
		if err != nil {
			return nil, err
		}
		*p.stmt = stmt
	}
	return c, c.load()
}

// close ends the statements too: while one is left, the engine keeps its files
// open.
func (c *writeConn) close() error {
	var errs []error
	for _, stmt := range []*sql.Stmt{c.begin, c.commitStmt, c.rollback, c.savepoint, c.release, c.undo, c.readHead,
		c.dataVersion, c.session, c.job, c.field, c.register} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(append(errs, c.conn.Close())...)
}

const dataVersion = `PRAGMA data_version`

// otherCommits changes whenever another connection has committed to the file.
func (c *writeConn) otherCommits() (version int64, err error) {
	err = c.dataVersion.QueryRow().Scan(&version)
	return version, err
}

// checkpoints says whether the engine moves what is in its log into the file, by
// itself.
func (c *writeConn) checkpoints(on bool) error {
	pages := 0
	if on {
		pages = 1000 // the engine's own number
	}
	_, err := c.conn.ExecContext(context.Background(), fmt.Sprintf("PRAGMA wal_autocheckpoint=%d", pages))
	return err
}

func (c *writeConn) load() error {
	var hash []byte
	if err := c.readHead.QueryRow().Scan(&c.head.rev, &c.head.tx, &hash); err != nil {
		return err
	}
	if copy(c.head.hash[:], hash) != len(c.head.hash) {
		return fmt.Errorf("%w: no head", ErrSchema)
	}
	return nil
}

// commit writes the batch in one transaction and sets what became of each. A
// refused request leaves the others alone; an error of the disk is everybody's.
func (s *Store) commit(batch []*request) {
	err := s.conn.broken
	if err == nil {
		err = s.trust.err()
	}
	if err == nil {
		err = s.try(batch)
	}
	if err == nil {
		return
	}
	err, _ = translate(err)
	if errors.Is(err, ErrDisk) {
		s.conn.broken = err
	}
	for _, r := range batch {
		if r.err == nil {
			r.err = err
		}
		r.rev, r.rows = 0, nil
	}
}

// errTorn says that a request was refused after its first row.
var errTorn = errors.New("refused in the middle")

// try writes the batch. A request that is refused at its first row has left
// nothing, and nearly all that are refused are; only when one is refused later
// everything is done again, with a savepoint for each.
func (s *Store) try(batch []*request) error {
	at := s.now().UTC().Truncate(time.Microsecond)
	err := s.attempt(batch, at, false)
	if errors.Is(err, errTorn) {
		err = s.attempt(batch, at, true)
	}
	return err
}

func (s *Store) attempt(batch []*request, at time.Time, savepoints bool) (err error) {
	c := s.conn
	if _, err := c.begin.Exec(); err != nil {
		return err
	}
	start, committing := s.trust.last(), false
	reader := s.known.begin()
	defer func() {
		if err != nil {
			// The engine may have rolled back already; then this fails.
			_, _ = c.rollback.Exec()
			if why, _ := translate(err); committing && errors.Is(why, ErrDisk) {
				return // it may be there, and nothing else comes: both are known
			}
			s.known.undo(start.rev)
		}
		s.known.leave(reader)
	}()
	if err := s.others(); err != nil {
		return err
	}
	c.head = start
	wrote := false
	for _, r := range batch {
		before := c.head
		r.err = nil
		if savepoints {
			if _, err := c.savepoint.Exec(); err != nil {
				return err
			}
		}
		err := s.insert(reader, r, at)
		var refusal *Refusal
		switch {
		case err == nil:
			wrote = true
		case !errors.As(err, &refusal):
			return err
		case len(r.rows) > 0 && !savepoints && len(batch) > 1:
			return errTorn
		default:
			r.err, r.rows = err, nil
			c.head = before
			s.known.undo(before.rev)
		}
		if !savepoints {
			continue
		}
		if r.err != nil {
			if _, err := c.undo.Exec(); err != nil {
				return err
			}
		}
		if _, err := c.release.Exec(); err != nil {
			return err
		}
	}
	if !wrote {
		_, err := c.rollback.Exec()
		return err
	}
	s.trust.expect(c.head)
	committing = true
	if _, err = c.commitStmt.Exec(); err == nil {
		s.trust.committed(c.head)
	}
	return err
}

// insert inserts the rows of a request. A *Refusal says that the engine refused
// one of them. Its rules read what is in the document: so that is compared with
// what is known first, where something begins with it.
func (s *Store) insert(reader *reader, r *request, at time.Time) error {
	c := s.conn
	tx := c.head.rev + 1
	newer := make([]bool, len(r.tx.Writes))
	for i, write := range r.tx.Writes {
		newer[i] = s.known.stale(write, r.tx.Seen)
		if f, ok := write.(Field); ok && f.begins() {
			v := view{ctx: context.Background(), tx: c.conn, rev: c.head.rev, known: s.known, reader: reader}
			if err := v.same(f.Session, f.Job); err != nil {
				return s.distrusted(err)
			}
		}
	}
	r.rows = make([]Row, 0, len(r.tx.Writes))
	for i, write := range r.tx.Writes {
		switch w := write.(type) {
		case Field:
			w.Seen = r.tx.Seen
			write = w
		case Register:
			w.Seen = r.tx.Seen
			write = w
		}
		stamp := Stamp{Rev: c.head.rev + 1, Tx: tx, Writer: r.tx.Writer, At: at}
		stamp.Hash = link(c.head.hash, write.stamped(stamp))
		row := write.stamped(stamp)
		if err := c.insert(row); err != nil {
			why, refused := translate(err)
			if refused {
				return &Refusal{Row: row, Why: why}
			}
			return err
		}
		if newer[i] {
			return s.trust.lose(&Damage{Rev: stamp.Rev, What: fmt.Sprintf("%s: its rules do not see what came after rev %d", row, r.tx.Seen)})
		}
		s.known.write(row)
		c.head = head{rev: stamp.Rev, tx: tx, hash: stamp.Hash}
		r.rows = append(r.rows, row)
	}
	r.rev = c.head.rev
	return nil
}

const (
	insertSession = `INSERT INTO session(rev, tx, id, seat, client, workspace, cwd, home, parent, facts, writer, at, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertJob = `INSERT INTO job(rev, tx, session, id, parent, ord, kind, name, arguments, facts, writer, at, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertField = `INSERT INTO field(rev, tx, session, job, name, value, seen, writer, at, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertRegister = `INSERT INTO register(rev, tx, session, name, value, seen, writer, at, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

func (c *writeConn) insert(row Row) (err error) {
	s := row.Stamped()
	rev, tx, writer, at, hash := int64(s.Rev), int64(s.Tx), s.Writer.String(), s.At.UnixMicro(), s.Hash[:]
	switch r := row.(type) {
	case Session:
		_, err = c.session.Exec(rev, tx, r.ID, seatName(r.Seat), r.Client, r.Workspace, r.Cwd, r.Home, r.Parent, r.Facts, writer, at, hash)
	case Job:
		_, err = c.job.Exec(rev, tx, r.Session, r.ID, r.Parent, r.Ord, r.Kind, r.Name, r.Arguments, r.Facts, writer, at, hash)
	case Field:
		_, err = c.field.Exec(rev, tx, r.Session, r.Job, r.Name, r.Value, int64(r.Seen), writer, at, hash)
	case Register:
		_, err = c.register.Exec(rev, tx, r.Session, r.Name, r.Value, int64(r.Seen), writer, at, hash)
	}
	return err
}
