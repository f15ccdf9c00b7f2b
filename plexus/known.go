package plexus

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sort"
	"sync"
)

// Whoever can write to the file can change its bytes without the engine, which
// shows in no commit and no head. So the store remembers enough of every row it
// wrote, or read in the chain, to tell whether what it reads again is that, and
// whether something is left out: sums of marks of rows, under a key that is made
// anew with every opening and is nowhere but in memory. What is read by the order
// of commits follows the chain, between hashes that are remembered.
//
// What is looked at, and when:
//   - a session that is loaded, and the registers that hold (Open, Latest): the
//     row of the session, every job with all its fields, that none is missing
//     which is not settled, and the newest revision of every register;
//   - a job, and the beginnings of jobs (Job, Briefs): the job with all its fields;
//   - rows by their order (Watch): the chain from one remembered hash to the next;
//   - before a license, a beginning of a body and a person's yes are written, the
//     rows of that leaf, because the engine's rules read them; and that what the
//     rules say of newer rows is what the store has seen itself.
//
// It takes some 30 bytes a job, and as much for each register.
type known struct {
	key Hash // of the marks

	mu      sync.Mutex
	ready   bool // the rest is known, of the end of the document
	sums    map[point]uint64
	log     []change // what readers of earlier moments need
	dropped int      // from the log, so far
	readers map[*reader]struct{}
	writer  *reader // while it writes: what it has learned is not there for others yet
	anchors []anchor
	since   int // bytes since the last anchor
}

// point is where a sum stands: that of a job, a session or a register, under the
// key. What else is kept of it is beside it.
type point uint64

// Beside a point (by exclusive or).
const (
	inBrief   point = iota + 1 // of a job: its rows cut to their beginnings, where they are
	spokenOn                   // of a job: the last rev of a person's field or of cancelled
	sequence                   // of a job: it is one
	unsettled                  // of a session: the places of its jobs that Open reads
	registers                  // of a session: the newest revision of every register
	lastSaid                   // of a session: the rev of the last of them
)

// change is what stood at a point before a rev.
type change struct {
	rev    Rev
	at     point
	before uint64
}

// reader is a reading transaction that began when the log had so many entries.
type reader struct {
	from  int
	ready bool
}

// anchor is a row whose hash is remembered.
type anchor struct {
	rev  Rev
	hash Hash
}

// An anchor stands after so many rows or bytes. Who reads by the order reads so
// much more at either end.
const (
	anchorRows  = 1024
	anchorBytes = 1 << 20
)

func newKnown(opened head) *known {
	k := &known{sums: make(map[point]uint64), readers: make(map[*reader]struct{})}
	rand.Read(k.key[:])
	k.anchors = []anchor{{}}
	if opened.rev > 0 {
		k.anchors = append(k.anchors, anchor{opened.rev, opened.hash})
	}
	return k
}

// point is that of a job, or of a session for "".
func (k *known) point(session, job string) point {
	buf := make([]byte, 0, 256)
	buf = append(buf, k.key[:]...)
	buf = binary.AppendUvarint(buf, uint64(len(session)))
	buf = append(buf, session...)
	buf = append(buf, job...)
	sum := sha256.Sum256(buf)
	return point(binary.LittleEndian.Uint64(sum[:]))
}

// register is the point of a register. No job has such an id.
func (k *known) register(session, name string) point { return k.point(session, "\x00"+name) }

// mark is what a row adds to a sum. bytes are the lengths of those of its texts
// that are cut.
func (k *known) mark(row Row, bytes ...int) uint64 {
	hash := hashOf(k.key, row, bytes...)
	return binary.LittleEndian.Uint64(hash[:])
}

// set puts a sum there, and what was there into the log when somebody may ask.
func (k *known) set(rev Rev, at point, sum uint64) {
	before := k.sums[at]
	if before == sum {
		return
	}
	if len(k.readers) > 0 {
		k.log = append(k.log, change{rev, at, before})
	}
	if sum == 0 {
		delete(k.sums, at)
	} else {
		k.sums[at] = sum
	}
}

// learn takes in a row of the chain: the next one.
func (k *known) learn(row Row) { k.take(k.lesson(row)) }

func (k *known) take(l lesson) {
	switch l.kind {
	case aRow:
		k.joins(l)
	case aLeaf, aSequence:
		k.joins(l)
		k.set(l.rev, l.session^unsettled, k.sums[l.session^unsettled]+uint64(l.at))
		if l.kind == aSequence {
			k.set(l.rev, l.at^sequence, 1)
		}
	case aWord:
		k.joins(l)
		k.set(l.rev, l.at^spokenOn, uint64(l.rev))
	case anEnd: // nothing begins there any more
		k.joins(l)
		k.set(l.rev, l.at^spokenOn, 0)
		if k.sums[l.at^sequence] == 0 {
			k.set(l.rev, l.session^unsettled, k.sums[l.session^unsettled]-uint64(l.at))
		}
	case aRegister:
		k.set(l.rev, l.session^registers, k.sums[l.session^registers]+l.mark-k.sums[l.at])
		k.set(l.rev, l.at, l.mark)
		k.set(l.rev, l.session^lastSaid, uint64(l.rev))
	}
	k.since += l.size
	if last := k.anchors[len(k.anchors)-1].rev; l.rev >= last+anchorRows || k.since >= anchorBytes {
		k.anchors = append(k.anchors, anchor{l.rev, l.hash})
		k.since = 0
	}
}

// joins adds a row to those at a point, and to their beginnings where one is
// cut.
func (k *known) joins(l lesson) {
	whole, short := k.sums[l.at], k.sums[l.at^inBrief]
	if l.cut && short == 0 {
		short = whole
	}
	if l.cut || short != 0 {
		add := l.mark
		if l.cut {
			add = l.short
		}
		k.set(l.rev, l.at^inBrief, short+add)
	}
	k.set(l.rev, l.at, whole+l.mark)
}

// adopt takes over what was learned of all rows.
func (k *known) adopt(found *known) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sums, k.anchors, k.since = found.sums, found.anchors, found.since
	k.ready = true
}

// write takes in a row that is about to be committed.
func (k *known) write(row Row) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ready {
		k.learn(row)
	}
}

// undo forgets what was written after a rev and not committed. The writer is a
// reader meanwhile: so the log has all of it.
func (k *known) undo(to Rev) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for n := len(k.log); n > 0 && k.log[n-1].rev > to; n-- {
		c := k.log[n-1]
		k.log = k.log[:n-1]
		if c.before == 0 {
			delete(k.sums, c.at)
		} else {
			k.sums[c.at] = c.before
		}
	}
	for n := len(k.anchors); n > 0 && k.anchors[n-1].rev > to; n-- {
		k.anchors = k.anchors[:n-1]
	}
}

// enter is asked before the transaction begins: from here on what changes is
// logged.
func (k *known) enter() *reader {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := &reader{from: k.dropped + len(k.log), ready: k.ready}
	if k.writer != nil {
		r.from = k.writer.from
	}
	k.readers[r] = struct{}{}
	return r
}

// begin is enter for the writer.
func (k *known) begin() *reader {
	r := k.enter()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.writer = r
	return r
}

// logKept is how many entries the log keeps without reason rather than be copied.
const logKept = 1024

func (k *known) leave(r *reader) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.readers, r)
	if k.writer == r {
		k.writer = nil
	}
	from := k.dropped + len(k.log)
	for other := range k.readers {
		from = min(from, other.from)
	}
	if n := from - k.dropped; n == len(k.log) || n > logKept {
		k.log = append([]change(nil), k.log[n:]...)
		k.dropped = from
	}
}

// stale reports whether a write that was decided on a view would come after
// something newer, as far as that is known.
func (k *known) stale(row Row, seen Rev) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ready || seen == 0 {
		return false
	}
	newer := func(at point) bool { return k.sums[at] > uint64(seen) }
	switch r := row.(type) {
	case Session, Job:
		return false
	case Field:
		if newer(k.point(r.Session, r.Job) ^ spokenOn) {
			return true
		}
	}
	return newer(k.point(row.In(), "")^lastSaid) || newer(k.point("", "")^lastSaid)
}

// at calls f with how the sums stood at a rev that the reader sees, when they are
// known.
func (k *known) at(r *reader, rev Rev, f func(func(point) uint64)) {
	if !r.ready {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	then := make(map[point]uint64)
	for i := len(k.log) - 1; i >= r.from-k.dropped && k.log[i].rev > rev; i-- {
		then[k.log[i].at] = k.log[i].before
	}
	f(func(at point) uint64 {
		if sum, ok := then[at]; ok {
			return sum
		}
		return k.sums[at]
	})
}

// from is the last remembered row that is not after a rev.
func (k *known) from(after Rev) anchor {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := sort.Search(len(k.anchors), func(i int) bool { return k.anchors[i].rev > after })
	return k.anchors[n-1]
}

// hash is that of a row, when it is remembered.
func (k *known) hash(rev Rev) (Hash, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, ok := slices.BinarySearchFunc(k.anchors, rev, func(a anchor, rev Rev) int { return int(a.rev - rev) })
	if !ok {
		return Hash{}, false
	}
	return k.anchors[n].hash, true
}

// cut is a row as lists have it, and how long its texts are of which that has
// the beginnings (0 for a whole one); nil when it is whole.
func cut(row Row) (Row, []int) {
	short := func(text string) (string, int) {
		if len(text) <= BriefText {
			return text, 0
		}
		return begins(text), len(text)
	}
	switch r := row.(type) {
	case Session:
		var n int
		if r.Facts, n = short(r.Facts); n > 0 {
			return r, []int{n}
		}
	case Job:
		var arguments, facts int
		r.Arguments, arguments = short(r.Arguments)
		if r.Facts, facts = short(r.Facts); arguments+facts > 0 {
			return r, []int{arguments, facts}
		}
	case Field:
		var n int
		if r.Value, n = short(r.Value); n > 0 {
			return r, []int{n}
		}
	}
	return row, nil
}
