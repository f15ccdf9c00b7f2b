//go:build !linux

package toolkit

import "os/exec"

// endsWithHost: elsewhere a program is told by the end of its input alone.
func endsWithHost(*exec.Cmd) {}
