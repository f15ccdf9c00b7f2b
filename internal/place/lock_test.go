package place

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const lockVar = "ASSENT_TEST_LOCK"

// As a child, the test binary takes the lock, says so, and holds it until its
// standard input ends.
func TestMain(m *testing.M) {
	if path := os.Getenv(lockVar); path != "" {
		if _, err := Take(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("taken")
		bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernel.lock")
	if pid, held, err := Held(path); pid != 0 || held || err != nil {
		t.Fatalf("before anybody: %d %v %v", pid, held, err)
	}
	lock, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	if pid, held, err := Held(path); pid != os.Getpid() || !held || err != nil {
		t.Errorf("held: %d %v %v, want %d true", pid, held, err, os.Getpid())
	}
	var taken *TakenError
	if _, err := Take(path); !errors.Is(err, ErrTaken) || !errors.As(err, &taken) || taken.PID != os.Getpid() {
		t.Errorf("a second time in one process: %v, want %v by %d", err, ErrTaken, os.Getpid())
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if _, held, err := Held(path); held || err != nil {
		t.Errorf("after the release: held %v, %v", held, err)
	}
	if lock, err = Take(path); err != nil {
		t.Fatalf("after the release: %v", err)
	}
	lock.Release()
}

// The lock goes with its process, however that ends.
func TestLockOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernel.lock")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), lockVar+"="+path)
	if _, err := child.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "taken\n" {
		t.Fatalf("child says %q, %v", line, err)
	}
	if pid, held, err := Held(path); pid != child.Process.Pid || !held || err != nil {
		t.Errorf("got %d %v %v, want %d true", pid, held, err, child.Process.Pid)
	}
	var taken *TakenError
	if _, err := Take(path); !errors.As(err, &taken) || taken.PID != child.Process.Pid {
		t.Errorf("got %v, want it taken by %d", err, child.Process.Pid)
	}
	child.Process.Kill()
	child.Wait()
	lock, err := Take(path)
	if err != nil {
		t.Fatalf("after kill: %v", err)
	}
	lock.Release()
}

func TestLockRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "link"))
	for _, path := range []string{filepath.Join(dir, "link"), dir, filepath.Join(dir, "no", "folder")} {
		if lock, err := Take(path); err == nil {
			lock.Release()
			t.Errorf("took %s", path)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); err == nil {
		t.Error("the lock was made where a link led")
	}
}

// Where the holder listens is written down beside its number.
func TestLockNote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if got := Noted(path); got != "" {
		t.Errorf("before it is noted: %q", got)
	}
	l.Note("/run/user/1000/assent/assent.sock")
	if got := Noted(path); got != "/run/user/1000/assent/assent.sock" {
		t.Errorf("noted: %q", got)
	}
	if pid, held, err := Held(path); err != nil || !held || pid != os.Getpid() {
		t.Errorf("held: %d %v %v", pid, held, err)
	}
	for why, text := range map[string]string{"cut-off": "12\n/run/x", "relative": "12\nx\n", "more": "12\n/x\ny\n", "no-number": "x\n/x\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Noted(path); got != "" {
			t.Errorf("%s: %q", why, got)
		}
	}
}
