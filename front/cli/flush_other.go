//go:build !linux

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush drops what was typed and not read yet.
func flush(f *os.File) {
	const read = 1 // FREAD of sys/file.h
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read)
}
