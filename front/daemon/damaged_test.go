package daemon

import (
	"database/sql"
	"errors"
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
