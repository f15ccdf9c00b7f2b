package plexus

import (
	"context"
	"errors"
	"iter"
	"sync"
)

// Filter says which rows a watcher wants. The zero value wants all.
type Filter struct {
	// Session is the one whose rows are wanted, and with them the kernel's.
	Session string
}

func (f Filter) wants(row Row) bool {
	in := row.In()
	return f.Session == "" || in == f.Session || in == ""
}

// Watch yields the rows after a rev as they are committed, in order and without
// gaps: each time those of one [Tx], so that what was written together is seen
// together. It ends with an error: ctx's, [ErrClosed], that of reading, or
// [ErrTampered] as soon as that is known.
//
// A watcher that was away resumes after the last rev it has seen; after must
// be a rev it was given, or 0. Rows that it missed are read from the document,
// so a slow watcher loses nothing and holds nobody up.
func (s *Store) Watch(ctx context.Context, after Rev, filter Filter) iter.Seq2[[]Row, error] {
	return func(yield func([]Row, error) bool) {
		topics := []string{filter.Session}
		if filter.Session != "" {
			topics = append(topics, "")
		}
		w := s.watchers.join(topics)
		defer s.watchers.leave(w)
		for {
			// Before reading, so that what is committed meanwhile wakes.
			select {
			case <-w.wake:
			default:
			}
			rows, next, err := s.after(ctx, after)
			if err != nil {
				yield(nil, err)
				return
			}
			for len(rows) > 0 {
				end := 1
				tx := rows[0].Stamped().Tx
				for end < len(rows) && rows[end].Stamped().Tx == tx {
					end++
				}
				group := make([]Row, 0, end)
				for _, row := range rows[:end] {
					if filter.wants(row) {
						group = append(group, row)
					}
				}
				rows = rows[end:]
				if len(group) > 0 && !yield(group, nil) {
					return
				}
			}
			if next > after {
				after = next
				continue
			}
			select {
			case <-w.wake:
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			case <-s.trust.damaged:
				yield(nil, s.trust.err())
				return
			case <-s.closing:
				yield(nil, ErrClosed)
				return
			}
		}
	}
}

// A watcher reads whole transactions, and no more once it has so many rows or
// so many bytes.
const (
	page      = 1000
	pageBytes = 4 << 20
)

// after is the next page of rows, always whole transactions, and the rev it
// goes to.
func (s *Store) after(ctx context.Context, after Rev) ([]Row, Rev, error) {
	if rows, rev, ok := s.watchers.recently(after); ok {
		return rows, rev, nil
	}
	read := s.view
	if after < s.trust.opened.rev { // it was found there, and not written since
		read = s.found
	}
	var rows []Row
	err := read(ctx, func(v view) (err error) {
		rows, err = v.page(after, s.trust.opened.rev)
		return err
	})
	if len(rows) > 0 {
		after = rows[len(rows)-1].Stamped().Rev
	}
	return rows, after, err
}

// page reads the rows after a rev, from the last row before whose hash is
// remembered up to the first one after, or the end: what lies between follows from
// the one and leads to the other. Of a sealed file that is not read yet only what
// came after its end is known.
func (v view) page(after, opened Rev) (rows []Row, err error) {
	chained := v.knows() || after >= opened
	var last head
	if chained {
		from := v.known.from(after)
		last = head{rev: from.rev, hash: from.hash}
	} else {
		last.rev = after
	}
	bytes, full := 0, false
	err = v.each(last.rev, -1, func(row Row) error {
		st := row.Stamped()
		full = full || (len(rows) >= page || bytes >= pageBytes) && st.Tx == st.Rev
		if full && !chained {
			return errEnough
		}
		if chained {
			if full {
				if hash, ok := v.known.hash(last.rev); ok && hash == last.hash {
					return errEnough
				}
			}
			if last, err = last.next(row); err != nil {
				return err
			}
		}
		if !full && st.Rev > after {
			rows = append(rows, row)
			bytes += size(row)
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		return rows, nil
	case err == nil && chained && (last.rev != v.rev || last.hash != v.hash):
		return nil, &Damage{Rev: last.rev, What: otherHead}
	}
	return rows, err
}

var errEnough = errors.New("enough")

// hub knows who watches and the rows committed last.
type hub struct {
	mu     sync.Mutex
	rev    Rev                              // the last committed
	recent []Row                            // up to rev, without gaps
	bytes  int                              // of them
	topics map[string]map[*watcher]struct{} // by session; "" hears all or the kernel's
}

type watcher struct {
	topics []string
	all    bool
	wake   chan struct{}
}

// So many rows, and bytes of rows, are kept for watchers that keep up: half as
// many when there are more. Who is behind reads the document. What a row holds
// is for agents to say, so the bytes are what bounds the kernel's memory.
const (
	recentMost      = 8192
	recentMostBytes = 8 << 20
)

// size is about how many bytes of memory a row takes.
func size(row Row) int {
	const fixed = 256
	switch r := row.(type) {
	case Session:
		return fixed + len(r.Client) + len(r.Workspace) + len(r.Cwd) + len(r.Home) + len(r.Facts)
	case Job:
		return fixed + len(r.Name) + len(r.Arguments) + len(r.Facts)
	case Field:
		return fixed + len(r.Value)
	case Register:
		return fixed + len(r.Value)
	}
	return fixed
}

func (h *hub) join(topics []string) *watcher {
	w := &watcher{topics: topics, all: len(topics) == 1 && topics[0] == "", wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics == nil {
		h.topics = make(map[string]map[*watcher]struct{})
	}
	for _, topic := range topics {
		if h.topics[topic] == nil {
			h.topics[topic] = make(map[*watcher]struct{})
		}
		h.topics[topic][w] = struct{}{}
	}
	return w
}

func (h *hub) leave(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, topic := range w.topics {
		delete(h.topics[topic], w)
		if len(h.topics[topic]) == 0 {
			delete(h.topics, topic)
		}
	}
}

// tell keeps the committed rows and wakes who waits for them.
func (h *hub) tell(rows []Row) {
	if len(rows) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(rows)
	kernel := false
	last := ""
	for _, row := range rows {
		in := row.In()
		kernel = kernel || in == ""
		if in != "" && in != last {
			wake(h.topics[in], false)
			last = in
		}
	}
	wake(h.topics[""], !kernel)
}

// keep keeps the newest rows.
func (h *hub) keep(rows []Row) {
	if rows[0].Stamped().Rev != h.rev+1 {
		h.recent, h.bytes = nil, 0
	}
	h.recent = append(h.recent, rows...)
	for _, row := range rows {
		h.bytes += size(row)
	}
	h.rev = rows[len(rows)-1].Stamped().Rev
	if len(h.recent) <= recentMost && h.bytes <= recentMostBytes {
		return
	}
	from := 0
	for ; len(h.recent)-from > recentMost/2 || h.bytes > recentMostBytes/2; from++ {
		h.bytes -= size(h.recent[from])
	}
	h.recent = append([]Row(nil), h.recent[from:]...)
}

func wake(watchers map[*watcher]struct{}, onlyAll bool) {
	for w := range watchers {
		if onlyAll && !w.all {
			continue
		}
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// recently are the rows after a rev, when the last ones are enough.
func (h *hub) recently(after Rev) ([]Row, Rev, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.recent) == 0 || after < h.recent[0].Stamped().Rev-1 || after > h.rev {
		return nil, 0, false
	}
	from := int(after + 1 - h.recent[0].Stamped().Rev)
	return append([]Row(nil), h.recent[from:]...), h.rev, true
}

func (h *hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.recent, h.bytes = nil, 0
}
