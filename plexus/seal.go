package plexus

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// A seal says up to which row the document was known to be a chain when it was
// closed, and which file that was: where it lies on its disk, how large it is,
// and when its content and the file itself were last changed. The system keeps
// the last of these and lets nobody set it. So a file that is still the sealed
// one holds what it held, and need not be read whole before anything is
// licensed; it is read whole all the same, beside whatever else goes on.
//
// The seal has no key. It tells of damage, of other programs and of a restored
// copy, as the chain does; who forges rows with right hashes can forge a seal.
//
// Where there is none, where it does not fit, and where the system does not
// tell all of this, the whole chain is read first.
type seal struct {
	Version int       `json:"version"`
	Rev     Rev       `json:"rev"`
	Tx      Rev       `json:"tx"`
	Hash    string    `json:"hash"`
	File    fileState `json:"file"`
}

// fileState is which file it is, and since when it is as it is.
type fileState struct {
	Device  uint64 `json:"device"`
	Inode   uint64 `json:"inode"`
	Size    int64  `json:"size"`
	Written int64  `json:"written"` // the content, in nanoseconds of Unix time
	Changed int64  `json:"changed"` // the file itself
}

const sealVersion = 1

func sealFile(path string) string { return path + ".seal" }

// sealed is a file that is as it was sealed, and where it ends.
type sealed struct {
	end  head
	file fileState
}

// unseal takes the seal away and is what it says of the file; nil where that is not
// as it was sealed. It is asked when the document is open for
// writing: a file that is the sealed one then was not written to before, and
// whoever commits later shows (dataVersion). A seal serves once: while the
// document is open there is none, and a crash leaves none behind.
func unseal(h *held) *sealed {
	text, err := readSeal(h.path)
	if err != nil || os.Remove(sealFile(h.path)) != nil {
		return nil
	}
	var s seal
	if json.Unmarshal(text, &s, json.RejectUnknownMembers(true)) != nil || s.Version != sealVersion {
		return nil
	}
	end := head{rev: s.Rev, tx: s.Tx}
	if n, err := hex.Decode(end.hash[:], []byte(s.Hash)); err != nil || n != len(end.hash) {
		return nil
	}
	if !h.unchanged(s.File) {
		return nil
	}
	return &sealed{end, s.File}
}

// sealMost is more than any seal has.
const sealMost = 4 << 10

// readSeal reads what lies where the seal belongs. A pipe or a device would
// never end.
func readSeal(path string) ([]byte, error) {
	f, err := openSeal(sealFile(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > sealMost {
		return nil, errors.Join(err, errors.New("no seal"))
	}
	return io.ReadAll(io.LimitReader(f, sealMost))
}

// unchanged reports whether the file that is open is in this state, lies at the
// path, and nothing waits for it.
func (h *held) unchanged(want fileState) bool {
	open, ok := stateOfOpen(h.file)
	named, also := stateOf(h.path)
	return ok && also && open == want && named == want && nothingWaits(h.path)
}

// nothingWaits reports whether the log of the file holds nothing.
func nothingWaits(path string) bool {
	info, err := os.Lstat(logFile(path))
	return errors.Is(err, os.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// sealing is a document that is about to be closed.
type sealing struct {
	held *held
	head head
	file fileState
}

// sealable looks whether the document is known to be a chain up to its end, and
// moves what waits in the log into the file. The writer has ended.
func (s *Store) sealable() (sealing, bool) {
	select {
	case <-s.trust.read: // and not before: a seal stands for what was read
	default:
		return sealing{}, false
	}
	if s.still() != nil || s.trust.err() != nil || !keepsTimes(s.held.file) {
		return sealing{}, false
	}
	ctx := context.Background()
	var busy, log, moved int
	err := s.conn.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &moved)
	if err != nil || busy != 0 {
		return sealing{}, false
	}
	// Nobody writes from here until the state of the file was taken.
	if _, err := s.conn.conn.ExecContext(ctx, `BEGIN EXCLUSIVE`); err != nil {
		return sealing{}, false
	}
	defer s.conn.conn.ExecContext(ctx, `ROLLBACK`)
	version, err := s.conn.otherCommits()
	if err != nil || version != s.conn.version {
		return sealing{}, false
	}
	file, ok := stateOfOpen(s.held.file)
	return sealing{s.held, s.trust.last(), file}, ok
}

// ticks is how often the clock of the disk is asked whether it has gone on, and
// tick how long that may take each time.
const (
	ticks = 20
	tick  = 2 * time.Millisecond
)

// put keeps the seal, when the closed file is as it was. A change that comes
// later must show. So the clock of the disk has to have gone on since the last;
// and the disk has to have all of the file, because memory that somebody has
// mapped it into can be written again and again, and only the first time after
// that moves the times.
func (s sealing) put() {
	path := s.held.path
	text, err := json.Marshal(seal{sealVersion, s.head.rev, s.head.tx, hex.EncodeToString(s.head.hash[:]), s.file})
	if err != nil {
		return
	}
	temp := sealFile(path) + "." + strings.ToLower(rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	defer os.Remove(temp) // gone already where all went well
	defer f.Close()
	if !s.past(f, text) || s.held.file.Sync() != nil || !s.held.unchanged(s.file) || f.Sync() != nil {
		return
	}
	_ = os.Rename(temp, sealFile(path))
}

// past writes the text until the clock of the disk has gone on since the file
// was changed last.
func (s sealing) past(f *os.File, text []byte) bool {
	for range ticks {
		if _, err := f.WriteAt(text, 0); err != nil {
			return false
		}
		if mine, ok := stateOfOpen(f); !ok || mine.Device != s.file.Device {
			return false
		} else if mine.Changed > s.file.Changed {
			return true
		}
		time.Sleep(tick)
	}
	return false
}
