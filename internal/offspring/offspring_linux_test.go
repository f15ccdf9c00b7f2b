package offspring

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"assent/internal/peer"
)

// The test binary plays a kernel that adopts orphans, as this variable says: it runs a
// command, and tells what was left of it.
const part = "OFFSPRING_TEST_PART"

func TestMain(m *testing.M) {
	command, ok := os.LookupEnv(part)
	if !ok {
		os.Exit(m.Run())
	}
	if _, err := Adopt(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	book, err := Open("running")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", command)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	c := Of(cmd, Options{Grace: time.Minute, Book: book, Name: "it"})
	if err := c.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	left, err := c.Wait()
	fmt.Println(left, err)
	os.Exit(0)
}

// there says whether a process is there, by a file that holds its number.
func there(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		t.Fatalf("%q is no process", text)
	}
	all, _, err := peer.Every()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.PID == pid && !p.Ended {
			return true
		}
	}
	return false
}

// ways are how a command gets away from the group it is started in. Each writes the
// number of what stays to pid, and then ends.
var ways = []struct{ why, command string }{
	{"in the background", "sleep 1000 & echo $! >pid"},
	{"a time limit of its own", "timeout 1000 sh -c 'echo $$ >pid; echo >ready; exec sleep 1000' & cat ready"},
	{"a group of its own", "set -m; sleep 1000 & echo $! >pid"},
	{"deaf to signals", `trap "" TERM HUP INT; sleep 1000 & echo $! >pid`},
	{"a session of its own", "setsid sh -c 'echo $$ >pid; echo >ready; exec sleep 1000' & cat ready"},
	{"a daemon", "(setsid sh -c 'sleep 1000 & echo $! >pid; echo >ready' &) ; cat ready"},
	{"its outputs closed", "setsid sh -c 'echo $$ >pid; echo >ready; exec sleep 1000' >/dev/null 2>&1 & cat ready"},
}

func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "ready"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func made(ctx context.Context, dir, command string, o Options) (*Child, *exec.Cmd) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin"}
	return Of(cmd, o), cmd
}

// When a program ends by itself, nothing is left of it.
func TestNothingIsLeft(t *testing.T) {
	for _, row := range ways {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			c, cmd := made(t.Context(), dir, row.command, Options{Grace: time.Minute})
			var out strings.Builder // held open by all that is left
			cmd.Stdout = &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if left, err := c.Wait(); left.Any() || err != nil {
				t.Errorf("left %v, %v", left, err)
			}
			if there(t, filepath.Join(dir, "pid")) {
				t.Error("it is there")
			}
		})
	}
}

// When its context ends, too: at once, whoever holds its outputs.
func TestNothingIsLeftOfWhatIsCancelled(t *testing.T) {
	for _, row := range ways {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			if err := syscall.Mkfifo(filepath.Join(dir, "over"), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			c, cmd := made(ctx, dir, row.command+"; trap - TERM; echo >over; while :; do sleep 1000; done", Options{Grace: time.Minute})
			var out strings.Builder
			cmd.Stdout = &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.ReadFile(filepath.Join(dir, "over")); err != nil {
				t.Fatal(err)
			}
			cancel()
			// The grace of a minute is not used, or this would time out.
			if left, err := c.Wait(); left.Any() || err == nil {
				t.Errorf("left %v, %v", left, err)
			}
			if there(t, filepath.Join(dir, "pid")) {
				t.Error("it is there")
			}
		})
	}
}

// Where the kernel adopts orphans, whoever leaves everything is found there.
func TestNothingIsLeftOfWhatClearsItsEnvironment(t *testing.T) {
	dir := folder(t)
	for _, row := range append(ways, struct{ why, command string }{"no mark and no parent",
		"(env -i PATH=/usr/bin:/bin setsid sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >pid; echo >ready' &); cat ready"}) {
		cmd := exec.Command(os.Args[0])
		cmd.Dir, cmd.Env = dir, []string{part + "=" + row.command}
		out, err := cmd.Output()
		if err != nil || strings.TrimSpace(string(out)) != "<nil>" {
			t.Errorf("%s: it said %q, %v", row.why, out, err)
		}
		if there(t, filepath.Join(dir, "pid")) {
			t.Errorf("%s: it is there", row.why)
		}
	}
}

// It has no terminal of whoever started the kernel.
func TestAChildLeadsASession(t *testing.T) {
	dir := folder(t)
	c, cmd := made(t.Context(), dir, "cat ready", Options{})
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if sid, err := unix.Getsid(cmd.Process.Pid); err != nil || sid != cmd.Process.Pid {
		t.Errorf("it is in the session %d, %v", sid, err)
	}
	if m, ok := peer.MarkOf(cmd.Process.Pid); !ok || m != c.mark {
		t.Errorf("its mark is %q", m)
	}
	if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// What a kernel that was killed left running, the next one ends, and no other.
func TestTheBookEndsWhatAnEarlierLifeLeft(t *testing.T) {
	for _, row := range ways[:6] {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			if err := syscall.Mkfifo(filepath.Join(dir, "over"), 0o600); err != nil {
				t.Fatal(err)
			}
			kernel := exec.Command(os.Args[0])
			kernel.Dir, kernel.Env = dir, []string{part + "=" + row.command + "; echo >over; while :; do sleep 1000; done"}
			if err := kernel.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.ReadFile(filepath.Join(dir, "over")); err != nil {
				t.Fatal(err)
			}
			if err := kernel.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = kernel.Wait() // killed
			if !there(t, filepath.Join(dir, "pid")) {
				t.Fatal("it went with the kernel: there is nothing to show")
			}
			other, _ := made(t.Context(), dir, "cat ready", Options{})
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			book, err := Open(filepath.Join(dir, "running"))
			if err != nil {
				t.Fatal(err)
			}
			if there(t, filepath.Join(dir, "pid")) {
				t.Error("it is there")
			}
			if got := book.Earlier("it"); got != Ended {
				t.Errorf("it says: %v", got)
			}
			if got := book.Earlier("another"); got != Unknown {
				t.Errorf("of another: %v", got)
			}
			if again, err := Open(filepath.Join(dir, "running")); err != nil || again.Earlier("it") != Unknown {
				t.Errorf("a second time: %v, %v", again.Earlier("it"), err)
			}
			if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := other.Wait(); err != nil {
				t.Errorf("of the other: %v", err)
			}
		})
	}
}

func TestRecordsThatEndNobody(t *testing.T) {
	c, cmd := made(t.Context(), t.TempDir(), "echo; exec cat", Options{})
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		why  string
		r    record
		want Fate
	}{
		{"another run of the system", record{Boot: "before", Mark: c.mark, PID: c.lead.PID, Start: c.lead.Start}, Gone},
		{"a run nobody knows", record{Mark: c.mark, PID: c.lead.PID, Start: c.lead.Start}, Unknown},
		{"a number that was given out again", record{Boot: peer.Boot(), Mark: "x", PID: c.lead.PID, Start: c.lead.Start - 1}, Gone},
		{"it had not begun", record{Boot: peer.Boot(), Mark: "x"}, Gone},
	} {
		if got := row.r.end(); got != row.want {
			t.Errorf("%s: %v, want %v", row.why, got, row.want)
		}
	}
	in.Close()
	if _, err := c.Wait(); err != nil {
		t.Errorf("it was ended: %v", err)
	}
}

// A child that is nowhere written down does not start.
func TestWhatCannotBeWrittenDownIsNotStarted(t *testing.T) {
	dir := t.TempDir()
	book, err := Open(filepath.Join(dir, "running"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(book.dir); err != nil {
		t.Fatal(err)
	}
	c, _ := made(t.Context(), dir, "echo >ran", Options{Book: book})
	if err := c.Start(); err == nil {
		t.Error("it started")
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); !errors.Is(err, os.ErrNotExist) {
		t.Error("it ran")
	}
}

func TestTheBookIsEmptyAfterwards(t *testing.T) {
	dir := t.TempDir()
	book, err := Open(filepath.Join(dir, "running"))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := made(t.Context(), dir, "ls running | wc -l >many", Options{Book: book, Name: "it"})
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if many, err := os.ReadFile(filepath.Join(dir, "many")); err != nil || strings.TrimSpace(string(many)) == "0" {
		t.Errorf("while it ran: %q, %v", many, err)
	}
	if files, err := os.ReadDir(book.dir); err != nil || len(files) != 0 {
		t.Errorf("left: %v, %v", files, err)
	}
}

// Who was killed and does not end keeps nobody.
func TestWhatDoesNotEndIsTold(t *testing.T) {
	c, cmd := made(t.Context(), t.TempDir(), "exec cat", Options{})
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	close(c.lost) // as if it had been killed long ago
	left, err := c.Wait()
	if err == nil || len(left.Processes) != 1 || !strings.Contains(left.String(), "could not be ended") {
		t.Errorf("%v, %v", left, err)
	}
	in.Close()
	<-c.exited
}

func BenchmarkChild(b *testing.B) {
	for b.Loop() {
		c := Of(exec.CommandContext(b.Context(), "/bin/true"), Options{})
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAlone(b *testing.B) {
	for b.Loop() {
		if err := exec.CommandContext(b.Context(), "/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
