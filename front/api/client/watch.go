package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"assent/front/api/wire"
)

// Event is what a watch tells: rows that were written together, or what is
// present now.
type Event struct {
	Rows     []wire.Row
	Presence *wire.PresenceOf
}

// The waits before a stream that broke is taken up again.
const (
	retryFirst = 100 * time.Millisecond
	retryMost  = 5 * time.Second
)

// maxEvent is longer than any event: an outcome of 16 MiB, written with
// escapes.
const maxEvent = 128 << 20

// Watch yields what is written after a rev, in order and without gaps, of one
// session or with "" of all, and what is present. A stream that breaks is taken
// up where it ended. It ends with an error: ctx's, or a problem that asking
// again does not solve; with no daemon it asks again, so that a daemon that is
// started anew is found. For as long as it watches it gives signs of life: who
// watches is said to look.
func (c *Client) Watch(ctx context.Context, session string, after wire.Rev) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		wait := retryFirst
		for first := true; ; first = false {
			before := after
			more, err := c.watchOnce(ctx, session, &after, yield)
			switch {
			case !more:
				return
			case ctx.Err() != nil:
				yield(Event{}, ctx.Err())
				return
			case first && errors.Is(err, ErrNoDaemon), final(err):
				yield(Event{}, err)
				return
			}
			if wait = min(2*wait, retryMost); after != before {
				wait = retryFirst
			}
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				yield(Event{}, ctx.Err())
				return
			}
		}
	}
}

// final reports whether asking again would say the same.
func final(err error) bool {
	if errors.Is(err, ErrForeign) {
		return true
	}
	p, ok := errors.AsType[*wire.Problem](err)
	return ok && p.Status < http.StatusInternalServerError && p.Code != wire.TooMany
}

// Stream is [Client.Watch] of one stream: when that breaks it ends, with why. It is
// for whoever shows whether there is a daemon.
func (c *Client) Stream(ctx context.Context, session string, after wire.Rev) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if more, err := c.watchOnce(ctx, session, &after, yield); more {
			yield(Event{}, cmp.Or(ctx.Err(), err))
		}
	}
}

// watchOnce watches until the stream breaks; more is false when nobody wants
// more.
func (c *Client) watchOnce(ctx context.Context, session string, after *wire.Rev, yield func(Event, error) bool) (more bool, err error) {
	p := path("watch")
	if session != "" {
		p = path("sessions", session, "watch")
	}
	resp, err := c.send(ctx, http.MethodGet, p, nil, http.Header{"Last-Event-Id": {strconv.FormatInt(*after, 10)}})
	if err != nil {
		return true, err
	}
	defer resp.Body.Close()
	ctx, cancel := context.WithCancel(ctx)
	var signs sync.WaitGroup
	defer signs.Wait()
	defer cancel()
	begun := false
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	var name string
	var data []byte
	id := *after
	for lines.Scan() {
		line := lines.Bytes()
		key, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0:
			if name == wire.EventWatching && !begun {
				begun = true
				w := wire.Watching{}
				if err := json.Unmarshal(data, &w); err != nil {
					return true, fmt.Errorf("%w: %w", ErrForeign, err)
				}
				signs.Go(func() { c.signs(ctx, w) })
			} else if data != nil {
				event, err := read(name, data)
				if err != nil {
					return true, err
				}
				// Resumed after what was handed over, and not before.
				if name == wire.EventRows {
					*after = id
				}
				known := event.Rows != nil || event.Presence != nil // or of a later daemon
				if known && !yield(event, nil) {
					return false, nil
				}
			}
			name, data = "", nil
		case string(key) == "id":
			if id, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return true, fmt.Errorf("%w: an event has the id %q", ErrForeign, value)
			}
		case string(key) == "event":
			name = string(value)
		case string(key) == "data":
			data = append(data, value...)
		}
	}
	if err := lines.Err(); err != nil {
		return true, err
	}
	return true, io.ErrUnexpectedEOF
}

// mostSigns is how often a sign of life is given at most.
const mostSigns = 5 * time.Millisecond

// signs gives the signs of life of a watch until ctx is done. One that does not
// come through is followed by the next.
func (c *Client) signs(ctx context.Context, w wire.Watching) {
	each := time.NewTicker(max(time.Duration(w.Within*float64(time.Second))/2, mostSigns))
	defer each.Stop()
	for {
		select {
		case <-each.C:
			_ = c.ask(ctx, http.MethodPost, path("watches", w.Watch), nil, new(wire.Watching))
		case <-ctx.Done():
			return
		}
	}
}

func read(name string, data []byte) (e Event, err error) {
	switch name {
	case wire.EventRows:
		err = json.Unmarshal(data, &e.Rows)
	case wire.EventPresence:
		e.Presence = new(wire.PresenceOf)
		err = json.Unmarshal(data, e.Presence)
	case wire.EventProblem:
		p := new(wire.Problem)
		if err = json.Unmarshal(data, p); err == nil {
			err = p
		}
	}
	if err != nil {
		if _, ok := errors.AsType[*wire.Problem](err); !ok {
			err = fmt.Errorf("%w: %w", ErrForeign, err)
		}
	}
	return e, err
}
