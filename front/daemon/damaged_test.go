package daemon

import (
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"assent/kernel"
	"assent/plexus"
)

// A document that somebody else wrote to while the kernel was down is no reason
// not to start: people are told by it what is wrong.
func TestADamagedDocument(t *testing.T) {
	p := somewhere(t)
	r := start(t, p)
	r.stop()
	db, err := sql.Open("sqlite", p.StoreFile())
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `INSERT INTO register SELECT rev + 1, rev + 1, '', 'defaultPolicy', '"yolo"', 0, 'human:ada', 0, randomblob(32) FROM head`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r = start(t, p)
		if err := r.parts.Document.Trusted(t.Context()); !errors.Is(err, plexus.ErrTampered) {
			t.Errorf("trusted: %v", err)
		}
		for presence := range r.parts.Document.WatchPresence(t.Context(), "") {
			if strings.Contains(presence[kernel.DocumentError], "its hash") {
				break
			}
		}
		r.stop()
	}
}

// Another file at the path of the document, while the kernel runs, ends all
// licenses, and people are told what it was.
func TestAReplacedDocument(t *testing.T) {
	p := somewhere(t)
	r := start(t, p)
	text, err := os.ReadFile(p.StoreFile())
	if err := errors.Join(err, os.WriteFile(p.StoreFile()+".new", text, 0o600), os.Rename(p.StoreFile()+".new", p.StoreFile())); err != nil {
		t.Fatal(err)
	}
	if _, err := r.parts.Document.Head(t.Context()); !errors.Is(err, plexus.ErrReplaced) {
		t.Errorf("got %v", err)
	}
	for presence := range r.parts.Document.WatchPresence(t.Context(), "") {
		if strings.Contains(presence[kernel.DocumentError], "put back the file") {
			break
		}
	}
	r.stop()
}
