//go:build unix

package toolkit

import "syscall"

// nonblock keeps the opening of a pipe from waiting for its other end, where
// one was put in the place of a file.
const nonblock = syscall.O_NONBLOCK
