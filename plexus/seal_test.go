//go:build unix

package plexus

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// relied reports whether the document was taken for a sealed one when it was
// opened.
func relied(s *Store) bool { return s.trust.sealed != nil }

// needsSeals skips a test where no document is ever sealed.
func needsSeals(t *testing.T) {
	t.Helper()
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if !keepsTimes(dir) {
		t.Skip("no document is sealed on this file system")
	}
}

// closedDocument is one that was opened, written and closed.
func closedDocument(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "document")
	s := states(t, path)
	<-s.trust.read
	if err := s.Trusted(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// outside runs SQL on a closed document, with its rules taken out and put back,
// and leaves nothing in the log.
func outside(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	past(t, conn, text)
	if err := errors.Join(conn.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestADocumentThatIsAsItWasClosedIsReliedOnAtOnce(t *testing.T) {
	needsSeals(t)
	path := closedDocument(t)
	for range 3 { // also when it was only looked at
		s := openAt(t, path)
		if !relied(s) {
			t.Fatal("it is not taken for the one that was closed")
		}
		if _, err := os.Lstat(sealFile(path)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("an open document has a seal: %v", err)
		}
		<-s.trust.read
		mustVerify(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADocumentThatIsNotTheSealedOneIsReadFirst(t *testing.T) {
	needsSeals(t)
	for _, test := range []struct {
		why     string
		change  func(t *testing.T, path string)
		damaged bool
	}{
		{"a row of a live session was changed", func(t *testing.T, path string) {
			outside(t, path, "UPDATE field SET value = 'true' WHERE name = 'approved' AND job = 'no'")
		}, true},
		{"a row of one that has ended was changed", func(t *testing.T, path string) {
			outside(t, path, `UPDATE field SET value = '{"ok":false}' WHERE name = 'outcomeJson' AND job = 'done'`)
		}, true},
		{"the last row is gone", func(t *testing.T, path string) {
			outside(t, path, "DELETE FROM field WHERE rev = (SELECT rev FROM head)")
		}, true},
		{"all rows are there and the head says none", func(t *testing.T, path string) {
			outside(t, path, "UPDATE head SET rev = 0, tx = 0, hash = zeroblob(32)")
		}, true},
		{"a row was changed, and the file's times set back", func(t *testing.T, path string) {
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			outside(t, path, "UPDATE field SET writer = 'ada' WHERE name = 'approved'")
			if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"a change waits in the log", func(t *testing.T, path string) {
			past(t, openDoor(t, path, 0), "UPDATE field SET writer = 'ada' WHERE name = 'approved'")
		}, true},
		{"a damaged block", func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text = bytes.Replace(text, []byte(`"no connection"`), []byte(`"no c0nnection"`), 1)
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteAt(text, 0)
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"a copy that was put in its place", func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			if err == nil {
				err = errors.Join(os.WriteFile(path+".copy", text, 0o600), os.Rename(path+".copy", path))
			}
			if err != nil {
				t.Fatal(err)
			}
		}, false},
		{"the seal is gone", func(t *testing.T, path string) {
			if err := os.Remove(sealFile(path)); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"the seal cannot be read", func(t *testing.T, path string) {
			if err := os.WriteFile(sealFile(path), []byte(`{"version":1,"rev":1}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"the seal of another document", func(t *testing.T, path string) {
			if err := os.Rename(sealFile(closedDocument(t)), sealFile(path)); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"an older seal", func(t *testing.T, path string) {
			old, err := os.ReadFile(sealFile(path))
			if err != nil {
				t.Fatal(err)
			}
			s := openAt(t, path)
			must(t, s, human, 0, Session{ID: "later"})
			if err := errors.Join(s.Close(), os.WriteFile(sealFile(path), old, 0o600)); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(test.why, func(t *testing.T) {
			path := closedDocument(t)
			test.change(t, path)
			s := openAt(t, path)
			if relied(s) {
				t.Error("it is taken for the one that was closed")
			}
			if err := s.Trusted(t.Context()); errors.Is(err, ErrTampered) != test.damaged || err != nil && !test.damaged {
				t.Errorf("trusted: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(sealFile(path)); test.damaged != errors.Is(err, os.ErrNotExist) {
				t.Errorf("damaged %v, and the seal: %v", test.damaged, err)
			}
		})
	}
}

// What nobody had read whole, and no seal stood for, gets no seal.
func TestNoSealForWhatIsNotKnown(t *testing.T) {
	needsSeals(t)
	path := closedDocument(t)
	if err := os.Remove(sealFile(path)); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, path)
	<-s.trust.read
	s.trust.read = make(chan struct{}) // as if it was still read
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(sealFile(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is sealed: %v", err)
	}
}

// What others committed while it was open, and nobody has looked at, neither.
func TestNoSealOverWhatOthersWrote(t *testing.T) {
	path := closedDocument(t)
	s := openAt(t, path)
	<-s.trust.read
	past(t, openDoor(t, path, 0), "UPDATE field SET writer = 'ada' WHERE name = 'approved'")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(sealFile(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is sealed: %v", err)
	}
}

// A seal stands for what was read whole: one that was relied on is not put there
// again for what nobody has read.
func TestNoSealIsRenewedUnread(t *testing.T) {
	needsSeals(t)
	path := closedDocument(t)
	s := openAt(t, path)
	if !relied(s) {
		t.Fatal("it is not taken for the one that was closed")
	}
	<-s.trust.read
	s.trust.read = make(chan struct{}) // as if it was still read
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(sealFile(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is sealed: %v", err)
	}
}

// Memory that the file is mapped into can be written without its times: a page
// that was written before. The disk has all of it before the seal is put there.
func TestNoChangeThroughMemoryUnderASeal(t *testing.T) {
	needsSeals(t)
	path := closedDocument(t)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pages, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Skip("files are not mapped here:", err)
	}
	defer unix.Munmap(pages)
	touch := func() { copy(pages, bytes.Clone(pages[:1])) }
	before, _ := stateOf(path)
	s := openAt(t, path)
	<-s.trust.read
	touch()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(sealFile(path)); errors.Is(err, os.ErrNotExist) {
		return // it was noticed before: that is as well
	}
	sealed, _ := stateOf(path)
	touch()
	now, _ := stateOf(path)
	if now == sealed {
		t.Errorf("a write through memory moves nothing (before %v, now %v)", before, now)
	}
}

// What lies where the seal belongs may be anything.
func TestWhatIsNoSealIsNotWaitedFor(t *testing.T) {
	for why, put := range map[string]func(path string) error{
		"a pipe":         func(path string) error { return unix.Mkfifo(path, 0o600) },
		"an endless one": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a huge file": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40))
		},
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(why, func(t *testing.T) {
			path := closedDocument(t)
			os.Remove(sealFile(path))
			if err := put(sealFile(path)); err != nil {
				t.Skip(err)
			}
			if s := openAt(t, path); relied(s) {
				t.Error("it is relied on")
			}
		})
	}
}
