//go:build !linux && !darwin

package peer

import (
	"errors"
	"net"
)

// Of is not supported here: nobody is known, so nobody may connect.
func Of(*net.UnixConn) (Facts, error) {
	return Facts{}, errors.New("who connected: not supported on this system")
}

// User is not supported here.
func User(*net.UnixConn) (uint32, error) {
	return 0, errors.New("who listens: not supported on this system")
}
