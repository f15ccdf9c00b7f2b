package plexus

import (
	"context"
	"iter"
	"maps"
	"sync"
)

// Presence is what is true now and never stored: who is looking, policyError,
// floor slots in use (law §7). It is keyed values of a session, "" for the
// kernel; an empty value is none.
type presence struct {
	mu       sync.Mutex
	sessions map[string]map[string]string
	changed  map[string]chan struct{}
}

// SetPresence sets a value of a session, or takes it away when value is empty.
func (s *Store) SetPresence(session, key, value string) {
	p := &s.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	values := p.sessions[session]
	if values[key] == value {
		return
	}
	if values == nil {
		if p.sessions == nil {
			p.sessions = make(map[string]map[string]string)
		}
		values = make(map[string]string)
		p.sessions[session] = values
	}
	if values[key] = value; value == "" {
		delete(values, key)
	}
	if len(values) == 0 {
		delete(p.sessions, session)
	}
	if changed := p.changed[session]; changed != nil {
		close(changed)
		delete(p.changed, session)
	}
}

// Presence is what is set for the session now.
func (s *Store) Presence(session string) map[string]string {
	p := &s.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	return clone(p.sessions[session])
}

// WatchPresence yields what is set for the session, at once and after every
// change; of changes in quick succession only the last may be seen. It ends
// with ctx or the store.
func (s *Store) WatchPresence(ctx context.Context, session string) iter.Seq[map[string]string] {
	return func(yield func(map[string]string) bool) {
		p := &s.presence
		for {
			p.mu.Lock()
			values := clone(p.sessions[session])
			changed := p.changed[session]
			if changed == nil {
				if p.changed == nil {
					p.changed = make(map[string]chan struct{})
				}
				changed = make(chan struct{})
				p.changed[session] = changed
			}
			p.mu.Unlock()
			if !yield(values) {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			case <-s.closing:
				return
			}
		}
	}
}

func clone(values map[string]string) map[string]string {
	if values == nil {
		return map[string]string{}
	}
	return maps.Clone(values)
}
