package peer

import (
	"bytes"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Seen is a process and where it stands among the others. What costs a further look
// (its user, its control group) is not read.
type Seen struct {
	Ancestor
	Parent int
	// Ended: it is no more than what its parent has not asked about yet.
	Ended bool
}

// Every is a look at all processes. They come and go meanwhile: where one was gone
// by the time it was looked at, what it started may be missed too, and that is said.
func Every() (all []Seen, missed bool, err error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, false, err
	}
	all = make([]Seen, 0, len(names))
	line := make([]byte, 4096) // more than a line has: numbers, and a name of at most 64 bytes
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		// A program's end waits for this: no more calls than it takes.
		fd, err := unix.Open("/proc/"+name+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			missed = true
			continue
		}
		n, err := unix.Read(fd, line)
		unix.Close(fd)
		if err != nil {
			missed = true
			continue
		}
		if s, err := parseStat(string(line[:n])); err == nil {
			all = append(all, Seen{Ancestor: s.ancestor, Parent: s.parent, Ended: !s.alive()})
		}
	}
	return all, missed, nil
}

// Nameless says whether nothing can be told of the environment of a process for now: it
// is about to run another program, or has just ended. Threads of the system and programs
// without any environment are so for good.
func Nameless(pid int) bool {
	environ, err := proc("/proc").environ(pid)
	return err == nil && len(environ) == 0 || errors.Is(err, unix.ESRCH) || errors.Is(err, unix.ENOENT)
}

// MarkOf is the value of the mark in the environment that a process was started with.
// False where it has none, or that cannot be read.
func MarkOf(pid int) (value string, ok bool) {
	environ, err := proc("/proc").environ(pid)
	if err != nil {
		return "", false
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(BodyMark+"=")); ok {
			return string(value), true
		}
	}
	return "", false
}

// Signal sends a signal to a process and to no other that has its number by now. One
// that is gone is no error.
func (p Process) Signal(s unix.Signal) error {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil { // gone, or a system that cannot pin it
		fd = -1
	} else {
		defer unix.Close(fd)
	}
	if now, ok := proc("/proc").glance(p.PID); !ok || now.ancestor.Process != p {
		return nil
	}
	if fd < 0 {
		err = unix.Kill(p.PID, s)
	} else {
		err = unix.PidfdSendSignal(fd, s, nil, 0)
	}
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// Await returns when a process has ended, or after a limit.
func (p Process) Await(limit time.Duration) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if s, ok := proc("/proc").glance(p.PID); !ok || s.ancestor.Process != p {
		return
	}
	for end := time.Now().Add(limit); ; {
		left := time.Until(end)
		if left <= 0 {
			return
		}
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left/time.Millisecond)+1)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
