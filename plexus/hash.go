package plexus

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"assent/approval"
)

// The hash of a row is SHA-256 over the hash of the row before (32 zeros
// before the first), then the row in this form: its table's letter; rev, tx,
// at, ord and seen as unsigned or zigzag varints; every text by its length as
// an unsigned varint and its bytes. The order of columns is that of the code
// below and part of the format.

// link is the hash of a row that follows prev.
func link(prev Hash, row Row) Hash { return hashOf(prev, row) }

// buffers are kept for what is hashed, unless they became so large.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const bufferMost = 64 << 10

// hashOf is the hash over what comes first, a row, and numbers after it.
func hashOf(first Hash, row Row, after ...int) Hash {
	kept := buffers.Get().(*[]byte)
	buf := encode(append((*kept)[:0], first[:]...), row)
	for _, n := range after {
		buf = binary.AppendUvarint(buf, uint64(n))
	}
	hash := sha256.Sum256(buf)
	if cap(buf) <= bufferMost {
		*kept = buf
		buffers.Put(kept)
	}
	return hash
}

// encode puts a row after what is in buf.
func encode(buf []byte, row Row) []byte {
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
	return buf
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
