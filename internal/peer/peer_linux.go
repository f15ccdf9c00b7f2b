package peer

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Of reads the facts about the process that connected. An error means that not
// even its user is known; whatever else could not be read is missing from the
// facts.
//
// The process is the one that called connect (or made the pair of sockets). A
// process that was handed the connection later is not seen: the one that connected
// answers for it.
func Of(conn *net.UnixConn) (Facts, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Facts{}, fmt.Errorf("who connected: %w", err)
	}
	var cred *unix.Ucred
	pidfd, pinned, gone := -1, false, false
	outer := raw.Control(func(fd uintptr) {
		if cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err != nil {
			return
		}
		n, e := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		switch {
		case e == nil:
			pidfd, pinned = n, true
		case !errors.Is(e, unix.ENOPROTOOPT):
			gone = true // there was a process and it is no more
		}
	})
	if err = errors.Join(outer, err); err != nil {
		return Facts{}, fmt.Errorf("who connected: %w", err)
	}
	f := Facts{Credentials: true, UID: cred.Uid, GID: cred.Gid, Pinned: pinned}
	pid := int(cred.Pid)
	if !pinned && !gone && pid > 0 {
		if pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
			gone = true
		}
	}
	if pidfd >= 0 {
		defer unix.Close(pidfd)
	}
	if gone || pid <= 0 { // 0: a process of another PID namespace, not visible here
		return f, nil
	}
	read(&f, proc("/proc"), pid)
	// The number meant this process all along only if the process is still there
	// now that everything was read by the number.
	if err := unix.PidfdSendSignal(pidfd, 0, nil, 0); err != nil && !errors.Is(err, unix.EPERM) { // another user's, and there
		f.Whole = false
	}
	return f, nil
}

// Folder is where an agent was started, the present folder of the process that
// it is: of a shell in whose terminal a person started it, or of the outermost
// program where there is no terminal. Whatever runs below that is the agent's to
// put wherever it likes. "" when the system does not tell.
func Folder(agent Body) string {
	p := proc("/proc")
	folder, err := os.Readlink(p.file(agent.PID, "cwd"))
	if s, ok := p.look(agent.PID); err != nil || !ok || s.ancestor.Process != agent.Process || !filepath.IsAbs(folder) {
		return ""
	}
	return folder
}

// User is the user of the process at the other end: of the one that listens,
// seen from one that connected.
func User(conn *net.UnixConn) (uint32, error) {
	cred, err := listener(conn)
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}

// Listener is the number of the process that listens, seen from one that
// connected; 0 when it is not known. It is for messages.
func Listener(conn *net.UnixConn) int {
	cred, err := listener(conn)
	if err != nil {
		return 0
	}
	return int(cred.Pid)
}

func listener(conn *net.UnixConn) (*unix.Ucred, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("who listens: %w", err)
	}
	var cred *unix.Ucred
	outer := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(outer, err); err != nil {
		return nil, fmt.Errorf("who listens: %w", err)
	}
	return cred, nil
}

// Stopped says whether a process is held by a signal or a debugger, and goes on
// only when somebody lets it. It is for messages.
func Stopped(pid int) bool {
	s, ok := proc("/proc").look(pid)
	return ok && (s.state == 'T' || s.state == 't')
}

// Origins say where connections come from, for who has to tell floods apart: at once,
// with a glance at each ancestor of the process that connected, and less for others
// of its session that connect within the second. They say nothing of a role. The zero
// value is ready; its methods may be called at once.
type Origins struct {
	mu    sync.Mutex
	since time.Time
	known map[int]string // terminals by session
}

// originsKept is more sessions than connect within a second without flooding.
const originsKept = 4096

// Of is the terminal that the process which connected descends from, and its session.
func (o *Origins) Of(conn net.Conn) (terminal, session string) {
	at, ok := conn.(*net.UnixConn)
	if !ok {
		return noTerminal, ""
	}
	raw, err := at.SyscallConn()
	if err != nil {
		return noTerminal, ""
	}
	var cred *unix.Ucred
	if outer := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); outer != nil || err != nil {
		return noTerminal, ""
	}
	number, err := unix.Getsid(int(cred.Pid))
	if err != nil || number <= 0 {
		return noTerminal, "" // it has ended, or is not seen
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := time.Now(); now.Sub(o.since) > time.Second || len(o.known) >= originsKept {
		o.since, o.known = now, make(map[int]string)
	}
	terminal, ok = o.known[number]
	if !ok {
		lineage, _ := climb(int(cred.Pid), proc("/proc").glance)
		terminal = origin(lineage)
		o.known[number] = terminal
	}
	return terminal, strconv.Itoa(number)
}

// Gone says whether whoever made a connection has closed it.
func Gone(conn net.Conn) (gone bool) {
	at, ok := conn.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := at.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) {
		state := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(state, 0)
		gone = err == nil && n == 1 && state[0].Revents&unix.POLLHUP != 0
	})
	return gone
}

// Self is the calling process.
func Self() (Process, error) {
	s, ok := proc("/proc").look(os.Getpid())
	if !ok {
		return Process{}, errors.New("the process cannot see itself in /proc")
	}
	return s.ancestor.Process, nil
}

// about is what is known of the process that has a number now.
func about(pid int) (f Facts) {
	if pid <= 0 {
		return f
	}
	if read(&f, proc("/proc"), pid); len(f.Lineage) > 0 {
		f.UID = f.Lineage[0].UID
	}
	return f
}

// starter is what is known of the process that started the calling one.
func starter() (Facts, error) {
	self, ok := proc("/proc").look(os.Getpid())
	if !ok {
		return Facts{}, errors.New("the process cannot see itself in /proc")
	}
	f := Facts{Credentials: true, UID: self.ancestor.UID}
	if self.parent > 0 {
		read(&f, proc("/proc"), self.parent)
	}
	return f, nil
}

// Boot names the run of the system that process numbers belong to.
func Boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// Find is the process that has a number now, for a body that was just started
// by the caller and not yet waited for: until then the number stays its own.
func Find(pid int) (Process, error) {
	s, ok := proc("/proc").look(pid)
	if !ok {
		return Process{}, fmt.Errorf("process %d: %w", pid, os.ErrNotExist)
	}
	return s.ancestor.Process, nil
}

// proc is where the system shows its processes.
type proc string

func (p proc) file(pid int, name string) string {
	return filepath.Join(string(p), strconv.Itoa(pid), name)
}

// glance reads of one process where it stands among the others.
func (p proc) glance(pid int) (stat, bool) {
	text, err := os.ReadFile(p.file(pid, "stat"))
	if err != nil {
		return stat{}, false
	}
	s, err := parseStat(string(text))
	return s, err == nil
}

// look reads one process, but for what only the peer itself is asked.
func (p proc) look(pid int) (stat, bool) {
	s, ok := p.glance(pid)
	if !ok {
		return stat{}, false
	}
	status, err := os.ReadFile(p.file(pid, "status"))
	if err != nil {
		return stat{}, false
	}
	if s.ancestor.UID, _, err = parseStatus(string(status)); err != nil {
		return stat{}, false
	}
	if cgroup, err := os.ReadFile(p.file(pid, "cgroup")); err == nil {
		s.ancestor.Cgroup = parseCgroup(string(cgroup))
	}
	return s, true
}

// read fills in what is known of a process by its number.
func read(f *Facts, p proc, pid int) {
	f.Lineage, f.Whole = walk(pid, p.look)
	status, err := os.ReadFile(p.file(pid, "status"))
	if err == nil {
		_, f.Traced, err = parseStatus(string(status))
	}
	if err != nil {
		f.Whole = false
	}
	if text, err := os.ReadFile(p.file(pid, "sessionid")); err == nil {
		const unset = 1<<32 - 1
		if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32); err == nil && n != unset {
			f.Login = uint32(n)
		}
	}
	f.Env, f.Mark = p.marks(f.Lineage)
}

// marks looks for a mark in the environment of the peer and of its ancestors.
// Those of other users than the kernel's cannot be read, and need not: only the
// peer's own must have been read to call it clean.
func (p proc) marks(lineage []Ancestor) (Env, string) {
	found := Unread
	for i, a := range lineage {
		environ, err := p.environ(a.PID)
		if mark := markIn(environ); mark != "" {
			return Marked, mark
		}
		if i > 0 {
			continue
		}
		switch {
		case err == nil:
			found = Clean
		case errors.Is(err, os.ErrPermission):
			found = Hidden
		}
	}
	return found, ""
}

// environ reads an environment. One of more than 4 MiB is an error: the system
// itself passes on a quarter of the stack at most, 2 MiB where nobody raised it.
func (p proc) environ(pid int) ([]byte, error) {
	const limit = 4 << 20
	file, err := os.Open(p.file(pid, "environ"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && len(text) > limit {
		err = errors.New("environment too large")
	}
	return text, err
}
