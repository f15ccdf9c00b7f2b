//go:build unix

package plexus

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// copyTo is a copy of a file, with what waits in its log.
func copyTo(t *testing.T, from, to string) {
	t.Helper()
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(from + end)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := errors.Join(err, os.WriteFile(to+end, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// A document is the file that was opened. When another one lies at its path, or
// none, nothing is licensed, told or sealed.
func TestADocumentIsTheFileThatWasOpened(t *testing.T) {
	for _, test := range []struct {
		why    string
		change func(t *testing.T, path string)
	}{
		{"a copy is put in its place", func(t *testing.T, path string) {
			copyTo(t, path, path+".copy")
			rename(t, path+".copy", path)
		}},
		{"a copy with a changed row, and the same head", func(t *testing.T, path string) {
			copyTo(t, path, path+".copy")
			outside(t, path+".copy", "UPDATE field SET value = 'true' WHERE name = 'approved' AND job = 'no'")
			rename(t, path+".copy", path)
		}},
		{"it is removed", func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path), os.Remove(path+"-wal")); err != nil {
				t.Fatal(err)
			}
		}},
		{"it is moved away", func(t *testing.T, path string) { rename(t, path, path+".away") }},
		{"it is moved away and linked to", func(t *testing.T, path string) {
			rename(t, path, path+".away")
			if err := os.Symlink(path+".away", path); err != nil {
				t.Fatal(err)
			}
		}},
		{"its folder is moved away", func(t *testing.T, path string) {
			dir := filepath.Dir(path)
			rename(t, dir, dir+".away")
			t.Cleanup(func() { os.Rename(dir+".away", dir) })
		}},
		{"something else is there", func(t *testing.T, path string) {
			rename(t, path, path+".away")
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{"its log is removed", func(t *testing.T, path string) {
			if err := os.Remove(path + "-wal"); err != nil {
				t.Fatal(err)
			}
		}},
		{"its log is replaced", func(t *testing.T, path string) {
			copyTo(t, path, path+".copy")
			rename(t, path+".copy-wal", path+"-wal")
		}},
	} {
		for _, first := range []struct {
			what string
			look func(*Store) error
		}{
			{"a write", func(s *Store) error {
				_, err := s.Apply(t.Context(), Tx{Writer: host, Writes: []Row{Session{ID: "new"}}})
				return err
			}},
			{"a reader", func(s *Store) error { _, err := s.Open(t.Context(), "s"); return err }},
			{"whoever checks it", func(s *Store) error { _, err := s.Verify(t.Context()); return err }},
		} {
			t.Run(test.why+"/"+first.what, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "document")
				s := states(t, path)
				<-s.trust.read
				test.change(t, path)
				err := first.look(s)
				var damage *Damage
				if !errors.As(err, &damage) || !errors.Is(err, ErrTampered) || !errors.Is(err, ErrReplaced) {
					t.Errorf("got %v", err)
				}
				mustDistrust(t, s)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if _, err := os.Lstat(sealFile(path)); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("it is sealed: %v", err)
				}
			})
		}
	}
}

// Connections that are opened later open the path anew.
func TestNoConnectionToAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	s := states(t, path)
	<-s.trust.read
	copyTo(t, path, path+".copy")
	rename(t, path+".copy", path)
	if conn, err := s.read.Driver().Open(path); err != nil {
		t.Fatal(err)
	} else {
		conn.Close()
	}
	if _, err := (connector{s.read.Driver(), path, s.held}).Connect(t.Context()); !errors.Is(err, ErrReplaced) {
		t.Errorf("got %v", err)
	}
}

// What nobody looked at while it was open is not sealed either.
func TestNoSealForAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document")
	s := states(t, path)
	<-s.trust.read
	copyTo(t, path, path+".copy")
	outside(t, path+".copy", "UPDATE field SET writer = 'ada' WHERE name = 'approved'")
	rename(t, path+".copy", path)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(sealFile(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is sealed: %v", err)
	}
}

func TestAFileWithAnotherName(t *testing.T) {
	path := closedDocument(t)
	other := path + ".other"
	if err := os.Link(path, other); err != nil {
		t.Skip("no hard links here:", err)
	}
	for _, name := range []string{path, other} {
		if _, err := Open(name, Options{}); !errors.Is(err, ErrLinked) || !strings.Contains(err.Error(), "2 hard links") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	openAt(t, path)
}

// The lock is the file's, whatever it is called.
func TestAFileIsOpenOnce(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the lock of the file itself is Linux's")
	}
	path := closedDocument(t)
	openAt(t, path)
	other := path + ".other"
	rename(t, path, other)
	if _, err := Open(other, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v", err)
	}
	rename(t, other, path)
}
