package cli

import (
	"io"
	"os"
)

// paint says whether output is coloured. Colour only ever repeats what the
// words say.
type paint bool

// paintFor decides for an output: colour only on a terminal, and not where the
// environment says no (NO_COLOR, TERM=dumb).
func paintFor(w io.Writer) paint {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	return paint(terminal(f))
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
type ink string

const (
	inkNone  ink = ""
	inkFaint ink = "2"
	inkBold  ink = "1"
	inkAllow ink = "32"
	inkAsk   ink = "33"
	inkDeny  ink = "31"
	inkBlock ink = "1;31"
)

func (i ink) of(p paint, s string) string {
	if !p || i == inkNone || s == "" {
		return s
	}
	return "\x1b[" + string(i) + "m" + s + "\x1b[0m"
}

func (p paint) faint(s string) string { return inkFaint.of(p, s) }
