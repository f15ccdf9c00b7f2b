package api

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"assent/front/api/wire"
	"assent/internal/oneline"
	"assent/plexus"
)

// watch sends the rows after a rev as they are committed, those of one
// transaction in one event whose id is the rev to resume after; between them
// what is present, and a sign of life. Of long values it has the beginnings. Rows that were missed are read from the
// document; whoever does not take what is sent is dropped and resumes. Whoever
// watches looks (looking.go).
func watch(s *Server, c *call) error {
	after, err := resumeAfter(c)
	if err != nil {
		return err
	}
	if session := c.session(); session != "" {
		if _, err := s.opts.Kernel.View(c, session); err != nil { // no such session
			return err
		}
	}
	if err := s.notFuture(c, after); err != nil {
		return err
	}
	free, ok := take(s.watchers)
	if !ok {
		return problem(wire.TooMany, "%d watches are open already", cap(s.watchers))
	}
	defer free()

	ctx, cancel := context.WithCancel(c)
	var senders sync.WaitGroup
	defer senders.Wait()
	defer cancel()
	id := s.looking.comes(c.by, c.session(), time.Now())
	defer s.looking.goes(id)
	type event struct {
		rows []plexus.Row // nil when what is present may have changed
		err  error
	}
	events := make(chan event)
	send := func(e event) bool {
		select {
		case events <- e:
			return true
		case <-ctx.Done():
			return false
		}
	}
	senders.Go(func() {
		for rows, err := range s.opts.Document.Watch(ctx, plexus.Rev(after), plexus.Filter{Session: c.session()}) {
			if !send(event{rows: rows, err: err}) {
				return
			}
		}
	})
	of := []string{c.session()}
	if c.session() != "" {
		of = append(of, "") // of which a session has who looks at all
	}
	for _, session := range of {
		senders.Go(func() {
			for range s.opts.Document.WatchPresence(ctx, session) {
				if !send(event{}) {
					return
				}
			}
		})
	}
	senders.Go(func() { s.looking.pass(ctx, s.opts.Limits.Heartbeat) })

	out := stream{w: c.w, limit: s.opts.Limits.Write}
	c.w.Header().Set("Content-Type", wire.EventStream)
	c.w.WriteHeader(http.StatusOK)
	out.event(wire.EventWatching, -1, s.watchingOf(id))
	var told wire.Presence // nil for nothing yet
	beat := time.NewTicker(s.opts.Limits.Heartbeat)
	defer beat.Stop()
	asked := time.Now()
	for out.err == nil {
		select {
		case e := <-events:
			if time.Since(asked) >= askAgain {
				if err := c.still(); err != nil {
					out.event(wire.EventProblem, -1, problemOf(err, c.by))
					return nil
				}
				asked = time.Now()
			}
			switch {
			case e.err != nil:
				out.event(wire.EventProblem, -1, problemOf(e.err, c.by))
				return nil
			case e.rows != nil:
				out.event(wire.EventRows, wire.Rev(e.rows[len(e.rows)-1].Stamped().Rev), briefRowsOf(e.rows))
			default:
				if now := s.presence(c.session()); told == nil || !maps.Equal(told, now) {
					told = now
					out.event(wire.EventPresence, -1, wire.PresenceOf{Session: c.session(), Presence: now})
				}
			}
		case <-beat.C:
			if err := c.still(); err != nil {
				out.event(wire.EventProblem, -1, problemOf(err, c.by))
				return nil
			}
			out.put([]byte(":\n\n"))
		case <-ctx.Done():
			return nil
		}
	}
	return nil // whoever watched is gone
}

// askAgain is how long a watch goes on for somebody who has become known for an
// agent.
const askAgain = time.Second

// resumeAfter is the rev a watcher has seen last, by header or parameter.
func resumeAfter(c *call) (wire.Rev, error) {
	id := c.r.Header.Get("Last-Event-Id")
	if id == "" {
		return number(c.query, "after", 0, 1<<62)
	}
	after, err := number(url.Values{"after": {id}}, "after", 0, 1<<62)
	if err != nil {
		return 0, problem(wire.BadRequest, "Last-Event-ID: want a rev")
	}
	return after, nil
}

// stream is a body of server-sent events.
type stream struct {
	w     http.ResponseWriter
	limit time.Duration
	err   error
}

// event sends one event; an id below 0 is none.
func (s *stream) event(name string, id wire.Rev, data any) {
	body, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		s.err = err
		return
	}
	var b bytes.Buffer
	if id >= 0 {
		fmt.Fprintf(&b, "id: %d\n", id)
	}
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", name, oneline.JSON(body)) // JSON without blanks has no line feeds
	s.put(b.Bytes())
}

func (s *stream) put(b []byte) {
	if s.err != nil {
		return
	}
	rc := http.NewResponseController(s.w)
	_ = rc.SetWriteDeadline(time.Now().Add(s.limit)) // a pipe of a test has none
	if _, s.err = s.w.Write(b); s.err == nil {
		s.err = rc.Flush()
	}
}
