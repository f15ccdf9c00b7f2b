package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
)

// lines is a log for people: the time, what happened, and with what. Text of
// others cannot steer the terminal.
type lines struct {
	out    *locked
	stamp  string // of the time
	before string // attributes of a logger made from this one
}

type locked struct {
	mu sync.Mutex
	io.Writer
}

// The stamps: on a terminal the day is known.
const (
	stampShort = "15:04:05"
	stampLong  = "2006-01-02T15:04:05.000Z07:00"
)

func newLines(w io.Writer, stamp string) *slog.Logger {
	return slog.New(lines{out: &locked{Writer: w}, stamp: stamp})
}

func (lines) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (l lines) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Time.Format(l.stamp))
	switch {
	case r.Level >= slog.LevelError:
		b.WriteString(" ERROR")
	case r.Level >= slog.LevelWarn:
		b.WriteString(" WARNING")
	}
	b.WriteString(" " + oneLine(r.Message, maxLogged) + l.before)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(attr(a))
		return true
	})
	b.WriteByte('\n')
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	_, err := io.WriteString(l.out, b.String())
	return err
}

// maxLogged bounds one value in a line.
const maxLogged = 2000

func attr(a slog.Attr) string {
	text := oneLine(fmt.Sprint(a.Value.Resolve().Any()), maxLogged)
	if text == "" || strings.ContainsAny(text, ` "=`) {
		text = strconv.Quote(text)
	}
	return " " + a.Key + "=" + text
}

func (l lines) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		l.before += attr(a)
	}
	return l
}

func (l lines) WithGroup(string) slog.Handler { return l }
