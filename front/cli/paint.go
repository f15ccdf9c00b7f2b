package cli

import (
	"io"
	"os"

	"assent/internal/drawn"
)

// paint says whether output is coloured. Colour only ever repeats what the
// words say.
type paint bool

// paintFor decides for an output: colour only on a terminal, and not where the
// environment says no (NO_COLOR, TERM=dumb).
func paintFor(w io.Writer) paint {
	f, ok := fileOf(w)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	return paint(terminal(f))
}

// fileOf is the file that an output goes to.
func fileOf(w io.Writer) (*os.File, bool) {
	if c, ok := w.(*counted); ok {
		w = c.Writer
	}
	f, ok := w.(*os.File)
	return f, ok
}

// counted is an output that remembers that writing to it has failed, for what
// is written without asking.
type counted struct {
	io.Writer
	err error
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

// terminal reports whether a file is a terminal.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// ink is a colour, named for what it says.
type ink drawn.Ink

const (
	inkNone  = ink(drawn.None)
	inkFaint = ink(drawn.Faint)
	inkBold  = ink(drawn.Bold)
	inkAllow = ink(drawn.Allow)
	inkAsk   = ink(drawn.Ask)
	inkDeny  = ink(drawn.Deny)
	inkBlock = ink(drawn.Block)
)

func (i ink) of(p paint, s string) string { return drawn.Ink(i).Of(bool(p), s) }

func (p paint) faint(s string) string { return inkFaint.of(p, s) }
