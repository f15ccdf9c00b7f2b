package hook

import "golang.org/x/sys/unix"

// listener is the user at the other end of a socket.
func listener(fd int) (uid uint32, err error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}
