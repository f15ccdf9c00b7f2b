package api

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"assent/front/api/wire"
	"assent/plexus"
)

// looking are the people who look: those with a watch of a session, or of all.
// It is presence and nothing else (law §2, §3): nothing of it is written, no
// answer follows from it, and that a session is attended or unattended is a fact
// of that session, whoever looks. It begins with the watch. It ends with the
// connection, and for a connection that stands and says nothing after the lease:
// who cannot be heard is not said to be there.
//
// Time comes in with each call. Methods may be called at once.
type looking struct {
	lease   time.Duration
	publish func(session, key, value string)

	mu      sync.Mutex
	watches map[string]*watching
}

// watching is one watch.
type watching struct {
	by      plexus.Writer
	session string    // "" for all
	since   time.Time // it looks without a break
	heard   time.Time // last
	away    bool      // not heard for the lease
}

// comes has somebody look; the id is the watch's, for its signs of life. Only a
// person looks.
func (l *looking) comes(by plexus.Writer, session string, now time.Time) (id string) {
	if by.Role != plexus.Human || by.Name == "" {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watches == nil {
		l.watches = make(map[string]*watching)
	}
	id = rand.Text()
	l.watches[id] = &watching{by: by, session: session, since: now, heard: now}
	l.tell(session, by.Name)
	return id
}

// hears takes a sign of life: of a watch that there is, by whose it is. One that
// was away looks again, from now.
func (l *looking) hears(id string, by plexus.Writer, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.watches[id]
	if w == nil || w.by != by {
		return false
	}
	if now.Before(w.heard) {
		now = w.heard
	}
	if w.away = w.away || l.late(w, now); w.away {
		w.away, w.since = false, now
	}
	w.heard = now
	l.tell(w.session, by.Name)
	return true
}

// passes has time pass: who was not heard for the lease is away.
func (l *looking) passes(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.watches {
		if !w.away && l.late(w, now) {
			w.away = true
			l.tell(w.session, w.by.Name)
		}
	}
}

// pass has time pass until ctx is done, also while nothing is taken of what is
// sent.
func (l *looking) pass(ctx context.Context, each time.Duration) {
	beat := time.NewTicker(each)
	defer beat.Stop()
	for {
		select {
		case now := <-beat.C:
			l.passes(now)
		case <-ctx.Done():
			return
		}
	}
}

func (l *looking) late(w *watching, now time.Time) bool { return now.Sub(w.heard) >= l.lease }

// goes ends a watch.
func (l *looking) goes(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.watches[id]; w != nil {
		delete(l.watches, id)
		l.tell(w.session, w.by.Name)
	}
}

// tell publishes since when a person looks at a session. It needs mu.
func (l *looking) tell(session, name string) {
	value := ""
	if since := l.since(session, name); !since.IsZero() {
		value = since.UTC().Format(time.RFC3339Nano)
	}
	l.publish(session, wire.Looking+name, value)
}

// since is from when on a person looks at a session, through whichever watch;
// zero when they do not. It needs mu.
func (l *looking) since(session, name string) (since time.Time) {
	for _, w := range l.watches {
		if w.session == session && w.by.Name == name && !w.away && (since.IsZero() || w.since.Before(since)) {
			since = w.since
		}
	}
	return since
}

// all are who looks at what, the longest first.
func (l *looking) all() []wire.Looker {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := make(map[wire.Looker]bool)
	out := []wire.Looker{}
	for _, w := range l.watches {
		who := wire.Looker{Name: w.by.Name, Session: w.session}
		if since := l.since(w.session, w.by.Name); !seen[who] && !since.IsZero() {
			seen[who] = true
			who.Since = since.UTC()
			out = append(out, who)
		}
	}
	slices.SortFunc(out, func(a, b wire.Looker) int {
		if c := a.Since.Compare(b.Since); c != 0 {
			return c
		}
		return strings.Compare(a.Name+" "+a.Session, b.Name+" "+b.Session)
	})
	return out
}

// presence is what is present in a session, "" for the kernel. Who looks at all
// sessions looks at each.
func (s *Server) presence(session string) wire.Presence {
	p := s.opts.Document.Presence(session)
	if session == "" {
		return p
	}
	for key, value := range s.opts.Document.Presence("") {
		if !strings.HasPrefix(key, wire.Looking) {
			continue
		}
		if mine, ok := p[key]; !ok || earlier(value, mine) {
			p[key] = value
		}
	}
	return p
}

// earlier compares two times as presence has them.
func earlier(a, b string) bool {
	at, errA := time.Parse(time.RFC3339Nano, a)
	bt, errB := time.Parse(time.RFC3339Nano, b)
	return errA == nil && errB == nil && at.Before(bt)
}

// postWatch takes the sign of life of a watch.
func postWatch(s *Server, c *call) error {
	id := c.r.PathValue("watch")
	if !s.looking.hears(id, c.by, time.Now()) {
		return problem(wire.NoName, "there is no watch of that name and yours")
	}
	c.answer = s.watchingOf(id)
	return nil
}

// watchingOf is what whoever watches is told of the watch.
func (s *Server) watchingOf(id string) wire.Watching {
	return wire.Watching{Watch: id, Within: s.opts.Limits.Heartbeat.Seconds()}
}

// leases is after how many of the spans in which a sign of life has to come
// nobody is said to look.
const leases = 3
