package plexus

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
)

// ErrLinked: the file has a second name. Through that one somebody could write
// to it, or open it as another document, beside the lock of this one.
var ErrLinked = errors.New("the file of the document has another name")

// ErrReplaced is a [Damage]: the file that was opened does not lie at its path
// any more. What is written to it goes with it.
var ErrReplaced = errors.New("it was moved away, removed or replaced by another file while it was open")

// held is the file of an open document. A path is only a name: another file can
// be put there while this one is open. So one descriptor is kept from before
// the engine opens the path until after it has closed it, and says which file
// that was. It must not be closed before: with it would go the engine's locks
// (POSIX locks belong to the process and the file, not to a descriptor).
type held struct {
	path string
	file *os.File
	is   fileID
	log  fileID // the engine's log beside it; zero where there is none
}

// fileID is which file it is, zero for none that is regular.
type fileID struct{ device, inode uint64 }

// hold opens the file, makes it when there is none, and locks it for this
// process under whatever name.
func hold(path string) (_ *held, err error) {
	// It exists before the engine sees it, so that only its owner reads it.
	f, err := openFile(path)
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	id, names, err := idOfOpen(f)
	if err != nil {
		return nil, err
	}
	if names > 1 {
		return nil, fmt.Errorf("%w: it has %d hard links, and must have one; a copy has (cp %s NEW && mv NEW %[3]s)", ErrLinked, names, path)
	}
	if err := lockFile(f); err != nil {
		return nil, err
	}
	return &held{path: path, file: f, is: id}, nil
}

// withLog remembers which log the engine has opened.
func (h *held) withLog() (err error) {
	h.log, err = idOf(logFile(h.path))
	return err
}

func logFile(path string) string { return path + "-wal" }

// still looks whether what lies at the path is the file that was opened, and
// its log. An [ErrReplaced] says that it is not; other errors say nothing.
func (h *held) still() error {
	if id, err := idOf(h.path); err != nil {
		return err
	} else if id != h.is {
		return ErrReplaced
	}
	if h.log == (fileID{}) {
		return nil
	}
	if id, err := idOf(logFile(h.path)); err != nil {
		return err
	} else if id != h.log {
		return ErrReplaced
	}
	return nil
}

func (h *held) close() error { return h.file.Close() }

// still is that of the file, as damage of the document.
func (s *Store) still() error {
	return s.replaced(s.held.still())
}

// replaced makes damage of an error that says that the file is another.
func (s *Store) replaced(err error) error {
	if errors.Is(err, ErrReplaced) && !errors.Is(err, ErrTampered) {
		return s.trust.lose(&Damage{Rev: s.trust.last().rev, What: ErrReplaced.Error()})
	}
	return err
}

// connector opens connections of the engine, of which each opens the path
// anew, and takes none of another file.
type connector struct {
	driver driver.Driver
	name   string
	held   *held
}

func (c connector) Driver() driver.Driver { return c.driver }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.driver.Open(c.name)
	if err != nil {
		return nil, err
	}
	if err := c.held.still(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
