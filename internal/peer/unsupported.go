//go:build !linux

package peer

import (
	"errors"
	"net"
	"os/exec"
)

// Supported says whether a person can be told from an agent on this system.
const Supported = false

var errUnsupported = errors.New("processes are told apart on Linux only: everybody is an agent")

// Origins are not known here: all are one.
type Origins struct{}

// Of is nothing.
func (*Origins) Of(net.Conn) (terminal, session string) { return "", "" }

// Gone is not known here.
func Gone(net.Conn) bool { return false }

// Listener is not known here.
func Listener(*net.UnixConn) int { return 0 }

// Stopped is not known here.
func Stopped(int) bool { return false }

// Self is not supported here. The zero Process it gives makes everybody an
// agent.
func Self() (Process, error) { return Process{}, errUnsupported }

// Find is not supported here.
func Find(int) (Process, error) { return Process{}, errUnsupported }

// Folder is not known here.
func Folder(Body) string { return "" }

func about(int) Facts { return Facts{} }

func starter() (Facts, error) { return Facts{}, errUnsupported }

// Boot is not known here.
func Boot() string { return "" }

// AdoptOrphans is not supported here.
func AdoptOrphans() error { return errUnsupported }

// Children starts processes; there are no orphans to adopt here.
type Children struct{}

// Start starts a command.
func (*Children) Start(cmd *exec.Cmd) error { return cmd.Start() }

// Wait waits for a command.
func (*Children) Wait(cmd *exec.Cmd) error { return cmd.Wait() }

// Reap has nothing to do here.
func (*Children) Reap() int { return 0 }

// remains is not known here: nothing is forgotten.
func remaining() func(Body) bool { return func(Body) bool { return true } }
