package plexus

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"assent/approval"
)

// The hash of a row is SHA-256 over the hash of the row before (32 zeros
// before the first), then the row in this form: its table's letter; rev, tx,
// at, ord and seen as unsigned or zigzag varints; every text by its length as
// an unsigned varint and its bytes. The order of columns is that of the code
// below and part of the format.

// link is the hash of a row that follows prev.
func link(prev Hash, row Row) Hash {
	buf := make([]byte, 0, 512)
	buf = append(buf, prev[:]...)
	s := row.Stamped()
	stamp := func(table byte) {
		buf = append(buf, table)
		buf = binary.AppendUvarint(buf, uint64(s.Rev))
		buf = binary.AppendUvarint(buf, uint64(s.Tx))
		buf = binary.AppendVarint(buf, s.At.UnixMicro())
	}
	texts := func(texts ...string) {
		for _, text := range texts {
			buf = binary.AppendUvarint(buf, uint64(len(text)))
			buf = append(buf, text...)
		}
	}
	writer := s.Writer.String()
	switch r := row.(type) {
	case Session:
		stamp('s')
		texts(writer, r.ID, seatName(r.Seat), r.Client, r.Workspace, r.Cwd, r.Home, r.Parent, r.Facts)
	case Job:
		stamp('j')
		buf = binary.AppendVarint(buf, r.Ord)
		texts(writer, r.Session, r.ID, r.Parent, r.Kind, r.Name, r.Arguments, r.Facts)
	case Field:
		stamp('f')
		buf = binary.AppendUvarint(buf, uint64(r.Seen))
		texts(writer, r.Session, r.Job, r.Name, r.Value)
	case Register:
		stamp('r')
		buf = binary.AppendUvarint(buf, uint64(r.Seen))
		texts(writer, r.Session, r.Name, r.Value)
	default:
		panic(fmt.Sprintf("plexus: a row of type %T", row))
	}
	return sha256.Sum256(buf)
}

const (
	attended   = "attended"
	unattended = "unattended"
)

func seatName(seat approval.Seat) string {
	if seat == approval.Unattended {
		return unattended
	}
	return attended
}
