package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush drops what was typed and not read yet.
func flush(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
