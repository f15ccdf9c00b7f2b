package peer

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// Of reads the user at the other end and nothing else. Telling a person from an
// agent is not supported here: everybody is an agent.
func Of(conn *net.UnixConn) (Facts, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Facts{}, fmt.Errorf("who connected: %w", err)
	}
	var cred *unix.Xucred
	outer := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	})
	if err = errors.Join(outer, err); err != nil {
		return Facts{}, fmt.Errorf("who connected: %w", err)
	}
	f := Facts{Credentials: true, UID: cred.Uid}
	if cred.Ngroups > 0 {
		f.GID = cred.Groups[0]
	}
	return f, nil
}

// User is the user of the process at the other end.
func User(conn *net.UnixConn) (uint32, error) {
	f, err := Of(conn)
	return f.UID, err
}
