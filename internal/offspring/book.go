//go:build unix

package offspring

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"assent/internal/peer"
)

// Book is a folder in which stands what runs, a file each, for a later life. It need
// not outlive the system: with that, processes end too. A nil book keeps nothing.
type Book struct {
	dir     string
	earlier map[string]Fate
}

// Fate is what became of a child of an earlier life.
type Fate uint8

// The fates. The zero value is the doubtful one.
const (
	Unknown Fate = iota // nothing was written down of it, or it cannot be told
	Gone                // nothing of it was found
	Ended               // it still ran, and was ended
	Stays               // it still runs: it could not be ended
)

func (f Fate) String() string {
	switch f {
	case Gone:
		return "nothing of it was found running"
	case Ended:
		return "what still ran of it was ended"
	case Stays:
		return "it still runs, and could not be ended"
	}
	return "it may still run"
}

// record is a file of the book.
type record struct {
	Name string `json:"name"`
	// Boot is the run of the system that the numbers belong to.
	Boot string `json:"boot"`
	Mark string `json:"mark"`
	// PID and Start are the program, which leads the session; 0 while it is not known.
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// Open opens a book, and ends what an earlier life left running. Only one process has
// it at a time.
func Open(dir string) (*Book, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("what runs: %w", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("what runs: %w", err)
	}
	b := &Book{dir: dir, earlier: make(map[string]Fate)}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		r, err := read(path)
		fate := Unknown
		if err == nil {
			fate = r.end()
			b.earlier[r.Name] = fate
		}
		if fate == Gone || fate == Ended || err != nil {
			if err := os.Remove(path); err != nil {
				return nil, fmt.Errorf("what runs: %w", err)
			}
		}
	}
	return b, nil
}

// Earlier is what became of a child of that name in an earlier life.
func (b *Book) Earlier(name string) Fate {
	if b == nil {
		return Unknown
	}
	return b.earlier[name]
}

// maxRecord is more than any record has.
const maxRecord = 64 << 10

func read(path string) (r record, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return r, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord {
		return r, errors.New("no record")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	err = json.Unmarshal(text, &r, json.RejectUnknownMembers(true))
	if err == nil && (r.Mark == "" || r.PID < 0 || r.PID == 1) {
		err = errors.New("no record")
	}
	return r, err
}

// end ends what is there of a child of an earlier life.
func (r record) end() Fate {
	boot := peer.Boot()
	switch {
	case boot == "" || r.Boot == "":
		return Unknown
	case boot != r.Boot:
		return Gone
	}
	c := &Child{mark: r.Mark, lead: peer.Process{PID: r.PID, Start: r.Start}, seen: make(map[peer.Process]bool), earlier: true}
	left, found := c.clear()
	switch {
	case len(left.Processes) > 0:
		return Stays
	case left.Any():
		return Unknown
	case found > 0:
		return Ended
	}
	return Gone
}

func (b *Book) path(c *Child) string {
	sum := sha256.Sum256([]byte(c.mark))
	return filepath.Join(b.dir, hex.EncodeToString(sum[:16])+".json")
}

// note writes down what is known of a child. A part of a record never stands there.
func (b *Book) note(c *Child) error {
	if b == nil {
		return nil
	}
	text, err := json.Marshal(record{Name: c.name, Boot: peer.Boot(), Mark: c.mark, PID: c.lead.PID, Start: c.lead.Start})
	if err != nil {
		return err
	}
	path := b.path(c)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return fmt.Errorf("writing down that it runs: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("writing down that it runs: %w", err)
	}
	return nil
}

// strike takes out a child of which nothing is left, and gives err back.
func (b *Book) strike(c *Child, err error) error {
	if b == nil {
		return err
	}
	if e := os.Remove(b.path(c)); e != nil && !errors.Is(e, fs.ErrNotExist) && err == nil {
		return fmt.Errorf("what ran: %w", e)
	}
	return err
}
