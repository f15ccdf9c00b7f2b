package plexus

import (
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"

	"assent/internal/place"
)

//go:embed schema/sqlite.sql
var schema string

const (
	// application marks the file as a document ("asnt"), version its schema:
	// a schema that changes gets the next number (TestSchemaHasItsVersion).
	application = 0x61736e74
	version     = 4
)

// earlier are the versions that are taken over: their rules were these but for some,
// here by name with the SHA-256 of their text, and what those let in, the ones of now
// let in too. 1 is what schemas had before they were numbered, all the same one: some
// had the rules of version 2.
var earlier = map[int]map[string]string{
	1: {"trigger register_law": registerLaw2, "trigger field_law": fieldLaw3},
	2: {"trigger register_law": registerLaw2, "trigger field_law": fieldLaw3},
	3: {"trigger field_law": fieldLaw3},
}

const (
	registerLaw2 = "0210bfbee0b77adc0c7dae20a5c102ec585a0d480182adbdc7a1be3b11258c5d"
	fieldLaw3    = "beb5551e53dee36492e5fe428ca36d584dd12246fd1e6435b0a2359b573468ef"
)

// Options of a store. The zero value is fine.
type Options struct {
	// Now is the clock of the stamps, [time.Now] when nil. The order of rows
	// does not depend on it.
	Now func() time.Time
}

// Store is an open document. Its methods may be called at once.
type Store struct {
	now      func() time.Time
	path     string
	lock     *place.Lock
	held     *held
	write    *sql.DB // one connection, held by the writer
	read     *sql.DB
	requests chan *request
	closing  chan struct{} // closed by Close: no more requests
	writer   sync.WaitGroup
	close    func() error
	watchers hub
	presence presence
	trust    *trust
	stored   *stored
	known    *known
	chores   chan func() // for the writer, between its transactions

	conn *writeConn // the writer's alone, once it runs
}

// Open opens the document at path, and makes it when nothing is there. It
// fails with [ErrLocked] when it is open already, here or in another process,
// with [ErrLinked] when the file has a second name, and with [ErrSchema] when the file holds something else or its rules are not
// the ones of this version.
func Open(path string, opts Options) (*Store, error) {
	s, err := open(path, opts)
	if err != nil {
		return nil, fmt.Errorf("open document %s: %w", path, err)
	}
	return s, nil
}

func open(path string, opts Options) (_ *Store, err error) {
	path, err = resolve(path)
	if err != nil {
		return nil, err
	}
	s := &Store{
		now:      opts.Now,
		path:     path,
		requests: make(chan *request),
		chores:   make(chan func()),
		closing:  make(chan struct{}),
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.lock, err = acquire(path + ".lock"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release(), s.letGo())
		}
	}()
	// A fdatasync is as durable and does not write the file's times. It is a
	// switch of the whole process; where there is none, fsync stays.
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return nil, err
	}
	if err := s.openWrite(path); err != nil {
		return nil, err
	}
	if s.read, err = connect(s.held, "query_only(1)"); err != nil {
		return nil, err
	}
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	s.watchers.rev = s.conn.head.rev
	s.trust = newTrust(s.conn.head)
	s.stored = newStored(s.conn.head.rev)
	s.known = newKnown(s.conn.head)
	if sealed := s.conn.sealed; sealed != nil && sealed.end == s.conn.head {
		// What is read of the file must be what was sealed until it was read whole:
		// nothing is moved there before.
		if err := s.conn.checkpoints(false); err != nil {
			return nil, err
		}
		s.trust.sealed = &sealed.file
		close(s.trust.checked)
	}
	reading, stop := context.WithCancel(context.Background())
	s.close = sync.OnceValue(func() error {
		close(s.closing)
		stop()
		s.writer.Wait()
		s.watchers.end()
		seal, whole := s.sealable()
		err := s.release()
		if whole && err == nil {
			seal.put()
		}
		return errors.Join(err, s.letGo())
	})
	s.writer.Go(s.run)
	s.writer.Go(func() { s.checkFound(reading) })
	return s, nil
}

// readers is how many reads run at once; each connection keeps a page cache.
const readers = 4

// resolve is the one name of the file, so that two names have one lock.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	switch real, err := filepath.EvalSymlinks(path); {
	case err == nil:
		return real, nil
	case !errors.Is(err, os.ErrNotExist):
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// connect is a pool of connections to the file.
func connect(h *held, pragmas ...string) (*sql.DB, error) {
	query := url.Values{"_pragma": append([]string{"busy_timeout(5000)", "trusted_schema(0)"}, pragmas...)}
	slash := filepath.ToSlash(h.path)
	if !strings.HasPrefix(slash, "/") { // a drive
		slash = "/" + slash
	}
	name := (&url.URL{Scheme: "file", Path: slash, RawQuery: query.Encode()}).String()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	defer db.Close() // it is only asked for its driver
	return sql.OpenDB(connector{db.Driver(), name, h}), nil
}

func (s *Store) openWrite(path string) (err error) {
	if s.held, err = hold(path); err != nil {
		return err
	}
	// journal_mode before synchronous; with FULL in WAL mode each commit syncs.
	if s.write, err = connect(s.held, "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(1)", "checkpoint_fullfsync(1)", "recursive_triggers(1)", "temp_store(2)"); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	conn, err := s.write.Conn(context.Background())
	if err != nil {
		err, _ = translate(err)
		return err
	}
	// Before all else is read: what others commit from here on shows.
	var version int64
	if err := conn.QueryRowContext(context.Background(), dataVersion).Scan(&version); err != nil {
		conn.Close()
		err, _ = translate(err)
		return err
	}
	sealed := unseal(s.held)
	if err := prepareSchema(conn); err != nil {
		conn.Close()
		return err
	}
	s.conn, err = newWriteConn(conn, version)
	if err != nil {
		conn.Close()
		err, _ = translate(err)
		return err
	}
	s.conn.sealed = sealed
	return s.held.withLog()
}

// prepareSchema makes the schema in an empty file, and compares that of any
// other with what this version would have made.
func prepareSchema(conn *sql.Conn) error {
	ctx := context.Background()
	var app, ver, objects int
	err := conn.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_schema)`).Scan(&app, &ver, &objects)
	if err != nil {
		err, _ = translate(err)
		return err
	}
	switch {
	case app == 0 && ver == 0 && objects == 0:
		_, err := conn.ExecContext(ctx, fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT", schema, application, version))
		if err != nil {
			err, _ = translate(err)
		}
		return err
	case app != application:
		return fmt.Errorf("%w: another program's file", ErrSchema)
	case earlier[ver] != nil:
		if err := takeOver(ctx, conn, ver); err != nil {
			return err
		}
	case ver != version:
		return otherVersion(ver)
	}
	return compareSchema(ctx, conn)
}

// takeOver gives a document of an earlier version the rules of this one. Rows stay
// as they are.
func takeOver(ctx context.Context, conn *sql.Conn, ver int) error {
	got, err := objects(ctx, conn)
	if err != nil {
		return err
	}
	want, err := wanted(ctx)
	if err != nil {
		return err
	}
	there := maps.Clone(got)
	var change strings.Builder
	for _, rule := range slices.Sorted(maps.Keys(earlier[ver])) {
		sum := sha256.Sum256([]byte(got[rule]))
		if hex.EncodeToString(sum[:]) != earlier[ver][rule] {
			return otherVersion(ver)
		}
		there[rule] = want[rule]
		fmt.Fprintf(&change, "DROP %s; %s; ", rule, want[rule])
	}
	if !maps.Equal(there, want) {
		return otherVersion(ver)
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA user_version=%d; COMMIT", change.String(), version))
	if err != nil {
		err, _ = translate(err)
	}
	return err
}

// wanted are the rules that this version makes.
func wanted(ctx context.Context) (map[string]string, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	memory, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer memory.Close()
	if _, err := memory.ExecContext(ctx, schema); err != nil {
		return nil, err
	}
	return objects(ctx, memory)
}

// otherVersion refuses a document of another version. Its rows are not taken
// over: they were written by other rules.
func otherVersion(ver int) error {
	hint := "move it away, and a new one begins"
	if ver > version {
		hint = "a newer program made it: use that, or " + hint
	}
	return fmt.Errorf("%w: its version is %d, this program's %d; %s", ErrSchema, ver, version, hint)
}

// compareSchema names the rules that are not what this version makes, in their
// order.
func compareSchema(ctx context.Context, conn *sql.Conn) error {
	got, err := objects(ctx, conn)
	if err != nil {
		return err
	}
	want, err := wanted(ctx)
	if err != nil {
		return err
	}
	var wrong []string
	for name, text := range want {
		switch {
		case got[name] == "":
			wrong = append(wrong, name+" is missing")
		case got[name] != text:
			wrong = append(wrong, name+" is another")
		}
	}
	for name := range got {
		if want[name] == "" {
			wrong = append(wrong, name+" does not belong there")
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	if more := len(wrong) - wrongMost; more > 0 {
		wrong = append(wrong[:wrongMost], fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%w: %s; another program changed it, so it is not relied on: move it away to keep it as evidence, and a new one begins", ErrSchema, strings.Join(wrong, ", "))
}

// wrongMost is how many rules are named that are not what they should be.
const wrongMost = 8

// objects are the statements of a schema by the name of what they make.
func objects(ctx context.Context, conn *sql.Conn) (map[string]string, error) {
	rows, err := conn.QueryContext(ctx, `SELECT type || ' ' || name, coalesce(sql, 'automatic') FROM sqlite_schema`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make(map[string]string)
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, err
		}
		found[name] = text
	}
	return found, rows.Err()
}

// Close ends the store: waiting writes fail with [ErrClosed], watchers end,
// and the file may be opened again.
func (s *Store) Close() error { return s.close() }

// release ends everything but the lock.
func (s *Store) release() error {
	var errs []error
	if s.conn != nil {
		errs = append(errs, s.conn.close())
	}
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	if s.write != nil {
		errs = append(errs, s.write.Close())
	}
	return errors.Join(errs...)
}

// letGo gives up the file and the lock, once the engine has ended.
func (s *Store) letGo() error {
	var err error
	if s.held != nil {
		err = s.held.close()
	}
	return errors.Join(err, s.lock.Release())
}
