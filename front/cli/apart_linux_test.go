package cli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"assent/front/daemon"
	"assent/internal/place"
)

// A kernel that runs as another user serves the one it is for and nobody else,
// and keeps its things from both. The users are numbers that nobody has.
func TestKernelOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to start programs as other users")
	}
	const kernel, person, stranger = 61801, 61802, 61803
	socket := place.Shared(place.SharedRoot, person)
	if _, err := os.Lstat(filepath.Dir(socket)); err == nil {
		t.Skipf("%s is there already", filepath.Dir(socket))
	}
	_, rootErr := os.Lstat(place.SharedRoot)
	if err := place.MakeShared(socket, kernel, person); err != nil {
		t.Skipf("no folder for its socket can be made here: %v", err)
	}
	t.Cleanup(func() {
		os.RemoveAll(filepath.Dir(socket))
		if rootErr != nil {
			os.Remove(place.SharedRoot) // if it is empty
		}
	})
	dir, err := os.MkdirTemp("/tmp", "assent-apart-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "assent")
	self, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.Chmod(dir, 0o755), os.WriteFile(program, self, 0o755)); err != nil {
		t.Fatal(err)
	}
	home := func(uid int) string {
		h := filepath.Join(dir, strconv.Itoa(uid))
		if err := errors.Join(os.MkdirAll(h, 0o700), os.Chown(h, uid, uid)); err != nil {
			t.Fatal(err)
		}
		return h
	}
	env := func(uid int) []string { return []string{"HOME=" + home(uid), "PATH=/usr/bin:/bin"} }
	as := func(uid int, gid uint32) *syscall.Credential {
		return &syscall.Credential{Uid: uint32(uid), Gid: gid}
	}

	pid, err := daemon.Detach(t.Context(), daemon.Child{
		Path: program, Args: []string{"up", "--" + flagFor, strconv.Itoa(person), "--" + flagSocket, socket, "--" + flagReport},
		Env: env(kernel), As: as(kernel, kernel),
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := place.Of(place.Env{Home: home(kernel), Socket: socket})
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if _, err := daemon.Stop(t.Context(), p); err != nil {
			t.Error(err)
		}
		ended = true
	}
	defer func() {
		if !ended {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	run := func(cmd *exec.Cmd, uid int, gid uint32) string {
		cmd.Env = env(uid)
		cmd.Dir = "/"
		if cmd.SysProcAttr == nil {
			cmd.SysProcAttr = new(syscall.SysProcAttr)
		}
		cmd.SysProcAttr.Credential = as(uid, gid)
		out, err := cmd.CombinedOutput()
		if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
			t.Fatal(err)
		}
		return string(out)
	}
	expect := func(what, got string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: it says\n%s\nwant %q", what, got, w)
			}
		}
	}

	expect("without a terminal", run(exec.Command(program, "status"), person, person), "The kernel is running", "you are   agent")
	cmd := exec.Command(program, "status")
	if inTerminal(t, cmd) {
		expect("in a terminal", run(cmd, person, person), "The kernel is running", "you are   human", "document  "+p.StoreFile())
	}
	expect("starting it", run(exec.Command(program, "up"), person, person), "root has set up a kernel for you")
	expect("ending it", run(exec.Command(program, "down"), person, person), "whoever set it up has to end it")
	expect("the document", run(exec.Command("cat", p.StoreFile()), person, person), "Permission denied")
	expect("its memory", run(exec.Command("cat", "/proc/"+strconv.Itoa(pid)+"/mem"), person, person), "Permission denied")
	expect("the end of a process", run(exec.Command("kill", strconv.Itoa(pid)), person, person), "not permitted")
	// A stranger looks in places of their own; told of the socket, they do not
	// get there, and one who is of the right group is refused.
	expect("a stranger", run(exec.Command(program, "status"), stranger, stranger), "is not running")
	expect("a stranger at the socket", run(exec.Command(program, "queue", "--socket", socket), stranger, stranger), "permission denied")
	expect("a stranger of the group", run(exec.Command(program, "queue", "--socket", socket), stranger, person), "another user")
	end()
	expect("when it has ended", run(exec.Command(program, "queue"), person, person), "runs as another user: whoever set it up has to start it")
}

// inTerminal gives a command a terminal session of its own; false where there
// are no terminals.
func inTerminal(t *testing.T, cmd *exec.Cmd) bool {
	t.Helper()
	ptmx, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Logf("no terminals here: %v", err)
		return false
	}
	t.Cleanup(func() { ptmx.Close() })
	n, err := unix.IoctlGetInt(int(ptmx.Fd()), unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(int(ptmx.Fd()), unix.TIOCSPTLCK, 0)); err != nil {
		t.Logf("no terminals here: %v", err)
		return false
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Logf("no terminals here: %v", err)
		return false
	}
	t.Cleanup(func() { tty.Close() })
	go io.Copy(io.Discard, ptmx)
	cmd.Stdin = tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return true
}

func TestSeparate(t *testing.T) {
	root, ada, kern := account{name: "root"}, account{name: "ada", uid: 1000}, account{name: "kern", uid: 999}
	for why, c := range map[string]struct {
		kernel, person account
		fine           bool
	}{
		"apart":       {kern, ada, true},
		"as-root":     {root, ada, false},
		"for-root":    {kern, root, false},
		"the-same":    {ada, ada, false},
		"turned":      {ada, kern, true},
		"root-itself": {root, root, false},
	} {
		if err := separate(c.kernel, c.person); (err == nil) != c.fine {
			t.Errorf("%s: %v", why, err)
		}
	}
}
