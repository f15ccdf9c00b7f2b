package peer

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The test binary plays other processes, as this variable says.
const (
	part       = "ASSENT_TEST_PART"
	parentPart = "ASSENT_TEST_PARENT" // the number of the process that starts it
)

func TestMain(m *testing.M) {
	switch play, arg, _ := strings.Cut(os.Getenv(part), " "); play {
	case "":
		os.Exit(m.Run())
	case "connect": // connects and stays until the other end hangs up
		conn, err := net.Dial("unix", arg)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		io.Copy(io.Discard, conn)
	case "leave": // starts one that connects, and ends before it does
		orphan := exec.Command(os.Args[0])
		orphan.Env = append(os.Environ(), part+"=orphan "+arg, parentPart+"="+strconv.Itoa(os.Getpid()))
		hold, _ := orphan.StdinPipe()
		defer hold.Close()
		if err := orphan.Start(); err != nil {
			os.Exit(1)
		}
	case "orphan": // connects once its parent has ended
		io.Copy(io.Discard, os.Stdin)
		// Its files are closed before its children are given away.
		if parent, err := strconv.Atoi(os.Getenv(parentPart)); err == nil {
			if fd, err := unix.PidfdOpen(parent, 0); err == nil {
				for {
					if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); err != unix.EINTR {
						break
					}
				}
			}
		}
		conn, err := net.Dial("unix", arg)
		if err != nil {
			os.Exit(1)
		}
		io.Copy(io.Discard, conn)
	case "adopt": // adopts, starts "leave" and waits for the word to end
		if err := AdoptOrphans(); err != nil {
			os.Exit(1)
		}
		var children Children
		leave := exec.Command(os.Args[0])
		leave.Env = append(os.Environ(), part+"=leave "+arg)
		if err := children.Start(leave); err != nil {
			os.Exit(1)
		}
		if err := children.Wait(leave); err != nil {
			os.Exit(1)
		}
		io.Copy(io.Discard, os.Stdin)
		// The orphan was hung up on and ends: only then there is one to clear away.
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			os.Exit(1)
		}
		fmt.Println(children.Reap())
	}
	os.Exit(0)
}

type stage struct {
	t      *testing.T
	listen *net.UnixListener
}

func newStage(t *testing.T) stage {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return stage{t, l}
}

// start starts the test binary in a part; change arranges how.
func (s stage) start(play string, change func(*exec.Cmd)) *exec.Cmd {
	s.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), part+"="+play+" "+s.listen.Addr().String())
	if change != nil {
		change(cmd)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func (s stage) accept() (*net.UnixConn, Facts) {
	s.t.Helper()
	conn, err := s.listen.AcceptUnix()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	f, err := Of(conn)
	if err != nil {
		s.t.Fatal(err)
	}
	return conn, f
}

// elsewhere is a kernel that is no ancestor of anybody.
func (s stage) elsewhere() Process {
	cmd := s.start("orphan", func(c *exec.Cmd) { c.StdinPipe() })
	p, err := Find(cmd.Process.Pid)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// ownTerminal gives a command a session and a terminal, as a terminal window
// does.
func ownTerminalOf(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	ptmx, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { ptmx.Close() })
	if err := unix.IoctlSetPointerInt(int(ptmx.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(int(ptmx.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { tty.Close() })
	cmd.Stdin = tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
}

// unmarked leaves out of the facts what this test inherited itself, when an
// agent runs it.
func unmarked(f Facts) Facts {
	if f.Env == Marked && f.Mark != BodyMark {
		f.Env = Clean
	}
	return f
}

func TestOf(t *testing.T) {
	s := newStage(t)
	cmd := s.start("connect", nil)
	_, f := s.accept()
	want, err := Find(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	if f.Process() != want || !f.Whole || !f.Credentials || f.UID != uint32(os.Getuid()) {
		t.Errorf("got %+v, want process %v whole", f, want)
	}
	if len(f.Lineage) < 2 || f.Lineage[1].Process != self {
		t.Errorf("the parent is not this process: %+v", f.Lineage)
	}
	me := []uint32{uint32(os.Getuid())}
	if role, why := RoleOf(f, Known{Owners: me, Kernel: self}, Paired); role != Agent || why != OfKernel {
		t.Errorf("below the kernel: %v (%v)", role, why)
	}
	if role, why := RoleOf(f, Known{Owners: me, Kernel: s.elsewhere(), Bodies: []Body{{Process: self}}}, Paired); role != Agent || why != OfBody {
		t.Errorf("below an agent: %v (%v)", role, why)
	}
	if role, _ := RoleOf(f, Known{Owners: []uint32{me[0] + 1}, Kernel: s.elsewhere()}, Paired); role != None {
		t.Errorf("another user: %v", role)
	}
}

func TestOfATerminal(t *testing.T) {
	s := newStage(t)
	k := Known{Owners: []uint32{uint32(os.Getuid())}, Kernel: s.elsewhere()}
	s.start("connect", func(c *exec.Cmd) { ownTerminalOf(t, c) })
	_, f := s.accept()
	if role, why := RoleOf(unmarked(f), k, NoToken); role != Human || why != OwnTerminal {
		t.Errorf("in a terminal of its own: %v (%v)\n%+v", role, why, f)
	}
	s.start("connect", func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} })
	_, f = s.accept()
	if role, why := RoleOf(unmarked(f), k, NoToken); role != Agent || why != NoProof {
		t.Errorf("in a session without a terminal: %v (%v)\n%+v", role, why, f)
	}
	s.start("connect", func(c *exec.Cmd) {
		ownTerminalOf(t, c)
		c.Env = append(c.Env, BodyMark+"=1")
	})
	_, f = s.accept()
	if role, why := RoleOf(f, k, Paired); role != Agent || why != Marks {
		t.Errorf("with a mark: %v (%v)\n%+v", role, why, f)
	}
}

// A hook makes known the agent; what shares its terminal is no person any more.
func TestHookedByProcess(t *testing.T) {
	s := newStage(t)
	s.start("connect", func(c *exec.Cmd) { ownTerminalOf(t, c) })
	conn, f := s.accept()
	g := NewGate([]uint32{uint32(os.Getuid())}, false)
	g.known.Kernel = s.elsewhere()
	if _, _, err := g.Hook(f); err != nil {
		t.Fatal(err)
	}
	if c := g.Caller(conn, Paired); c.Role != Agent || c.Why != OfBody {
		t.Errorf("the agent itself: %v", c)
	}
}

// Whoever ended before it was looked at is known by nothing but its user.
func TestOfWhoIsGone(t *testing.T) {
	s := newStage(t)
	cmd := s.start("connect", nil)
	conn, err := s.listen.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cmd.Process.Kill()
	cmd.Wait()
	f, err := Of(conn)
	if err != nil || f.Whole {
		t.Errorf("got %+v, %v", f, err)
	}
	if role, why := RoleOf(f, Known{Owners: []uint32{f.UID}, Kernel: s.elsewhere()}, Paired); role != Agent || why != Unknown {
		t.Errorf("got %v (%v)", role, why)
	}
}

// What loses its parents does not get away from a kernel that adopts orphans.
func TestAdoptOrphans(t *testing.T) {
	s := newStage(t)
	var word io.WriteCloser
	var out io.ReadCloser
	kernel := s.start("adopt", func(c *exec.Cmd) { word, _ = c.StdinPipe(); out, _ = c.StdoutPipe() })
	conn, f := s.accept()
	p, err := Find(kernel.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Lineage) < 2 || f.Lineage[1].Process != p {
		t.Errorf("the orphan was not adopted: %+v", f.Lineage)
	}
	if role, why := RoleOf(f, Known{Owners: []uint32{f.UID}, Kernel: p}, Paired); role != Agent || why != OfKernel {
		t.Errorf("got %v (%v)", role, why)
	}
	word.Close()
	conn.Close()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "1\n" {
		t.Errorf("%q orphans were cleared away, want 1 (%v)", line, err)
	}
}

func TestRemains(t *testing.T) {
	s := newStage(t)
	cmd := s.start("connect", func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} })
	conn, f := s.accept()
	b := Body{Process: f.Process(), Session: f.Lineage[0].Session}
	if !remaining()(b) {
		t.Error("it runs")
	}
	conn.Close()
	cmd.Wait()
	if remaining()(b) {
		t.Error("it has ended and so has its session")
	}
	// A session of its own: that of this process may be led from another PID
	// namespace, and is then 0 here.
	s.start("connect", func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} })
	conn, other := s.accept()
	defer conn.Close()
	if !remaining()(Body{Process: b.Process, Session: other.Lineage[0].Session}) {
		t.Error("somebody is in the session")
	}
}

// Who is named by a number is looked at as one that connects.
func TestAbout(t *testing.T) {
	s := newStage(t)
	cmd := s.start("orphan", func(c *exec.Cmd) { c.StdinPipe() })
	g := NewGate([]uint32{uint32(os.Getuid())}, false)
	if _, err := g.About(cmd.Process.Pid); err == nil || !strings.Contains(err.Error(), "is the kernel's") {
		t.Errorf("below the kernel: %v", err)
	}
	g.known.Kernel = s.elsewhere()
	f, err := g.About(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := Find(cmd.Process.Pid); err != nil || f.Process() != want || f.UID != uint32(os.Getuid()) {
		t.Errorf("got %+v, want %v", f, want)
	}
	g.known.Owners = nil
	if _, err := g.About(cmd.Process.Pid); err == nil {
		t.Error("another user's was taken")
	}
	for _, pid := range []int{0, -1, 1 << 30} {
		if _, err := g.About(pid); err == nil {
			t.Errorf("process %d was taken", pid)
		}
	}
}

// Sessions that are made without end come from where whoever makes them is; another
// terminal is elsewhere, and so is what has none.
func TestOrigin(t *testing.T) {
	s := newStage(t)
	origins := new(Origins)
	from := func(change func(*exec.Cmd)) (terminal, session string) {
		s.start("connect", change)
		conn, _ := s.accept()
		return origins.Of(conn)
	}
	lineage, _ := climb(os.Getpid(), proc("/proc").glance)
	mine := origin(lineage)
	apart := func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
	one, first := from(apart)
	other, second := from(apart)
	if one != mine || other != mine || first == second || first == "" {
		t.Errorf("sessions without a terminal: %q %q, %q %q, want %q", one, first, other, second, mine)
	}
	if mine != noTerminal {
		t.Skip("all terminals are below this one")
	}
	a, _ := from(func(c *exec.Cmd) { ownTerminalOf(t, c) })
	b, _ := from(func(c *exec.Cmd) { ownTerminalOf(t, c) })
	if a == b || a == mine || b == mine {
		t.Errorf("terminals: %q %q, without one %q", a, b, mine)
	}
	gone := s.start("connect", apart)
	conn, err := s.listen.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	gone.Process.Kill()
	gone.Wait()
	if terminal, _ := origins.Of(conn); terminal != noTerminal {
		t.Errorf("of who has ended: %q", terminal)
	}
}

func BenchmarkOrigin(b *testing.B) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		b.Fatal(err)
	}
	file := os.NewFile(uintptr(ends[0]), "end")
	defer file.Close()
	defer unix.Close(ends[1])
	conn, err := net.FileConn(file)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	b.Run("again", func(b *testing.B) {
		origins := new(Origins)
		for b.Loop() {
			origins.Of(conn)
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			new(Origins).Of(conn)
		}
	})
	b.Run("gone", func(b *testing.B) {
		for b.Loop() {
			Gone(conn)
		}
	})
}

// Who has closed a connection is gone; who only says no more is not.
func TestGone(t *testing.T) {
	s := newStage(t)
	for _, c := range []struct {
		name string
		does func(*net.UnixConn) error
		want bool
	}{
		{"waits", func(*net.UnixConn) error { return nil }, false},
		{"has-asked", func(c *net.UnixConn) error { _, err := c.Write([]byte("x")); return err }, false},
		{"says-no-more", (*net.UnixConn).CloseWrite, false},
		{"closed", (*net.UnixConn).Close, true},
	} {
		theirs, err := net.DialUnix("unix", nil, s.listen.Addr().(*net.UnixAddr))
		if err != nil {
			t.Fatal(err)
		}
		defer theirs.Close()
		if err := c.does(theirs); err != nil {
			t.Fatal(err)
		}
		mine, err := s.listen.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		defer mine.Close()
		if got := Gone(mine); got != c.want {
			t.Errorf("%s: gone %v", c.name, got)
		}
	}
}
