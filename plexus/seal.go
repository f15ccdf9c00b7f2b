package plexus

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
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

// unseal takes the seal away and is the head up to which the file is as it was
// sealed; nil where that is not known. It is asked when the document is open for
// writing: a file that is the sealed one then was not written to before, and
// whoever commits later shows (dataVersion). A seal serves once: while the
// document is open there is none, and a crash leaves none behind.
func unseal(path string) *head {
	text, err := os.ReadFile(sealFile(path))
	if err != nil || os.Remove(sealFile(path)) != nil {
		return nil
	}
	var s seal
	if json.Unmarshal(text, &s, json.RejectUnknownMembers(true)) != nil || s.Version != sealVersion {
		return nil
	}
	h := head{rev: s.Rev, tx: s.Tx}
	if n, err := hex.Decode(h.hash[:], []byte(s.Hash)); err != nil || n != len(h.hash) {
		return nil
	}
	if now, ok := stateOf(path); !ok || now != s.File || !nothingWaits(path) {
		return nil
	}
	return &h
}

// nothingWaits reports whether the log of the file holds nothing.
func nothingWaits(path string) bool {
	info, err := os.Lstat(path + "-wal")
	return errors.Is(err, os.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// sealing is a document that is about to be closed.
type sealing struct {
	path string
	head head
	file fileState
}

// sealable looks whether the document is known to be a chain up to its end, and
// moves what waits in the log into the file. The writer has ended.
func (s *Store) sealable() (sealing, bool) {
	select {
	case <-s.trust.checked:
	default:
		return sealing{}, false
	}
	if s.trust.err() != nil {
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
	file, ok := stateOf(s.path)
	return sealing{s.path, s.trust.last(), file}, ok && nothingWaits(s.path)
}

// ticks is how often the clock of the disk is asked whether it has gone on, and
// tick how long that may take each time.
const (
	ticks = 20
	tick  = 2 * time.Millisecond
)

// put keeps the seal, when the closed file is as it was. A change that comes
// later must show: so the clock of the disk has to have gone on since the last.
func (s sealing) put() {
	if now, ok := stateOf(s.path); !ok || now != s.file || !nothingWaits(s.path) {
		return
	}
	text, err := json.Marshal(seal{sealVersion, s.head.rev, s.head.tx, hex.EncodeToString(s.head.hash[:]), s.file})
	if err != nil {
		return
	}
	temp := sealFile(s.path) + "." + strings.ToLower(rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	defer os.Remove(temp) // gone already where all went well
	defer f.Close()
	for range ticks {
		if _, err := f.WriteAt(text, 0); err != nil {
			return
		}
		if mine, ok := stateOf(temp); !ok {
			return
		} else if mine.Changed > s.file.Changed && mine.Device == s.file.Device {
			if f.Sync() == nil {
				_ = os.Rename(temp, sealFile(s.path))
			}
			return
		}
		time.Sleep(tick)
	}
}
