package hook

import "golang.org/x/sys/unix"

// listener is the user at the other end of a socket.
func listener(fd int) (uid uint32, err error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}
