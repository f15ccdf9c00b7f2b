package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal runs this program on a terminal of its own, and gives the program and the
// other side of the terminal.
func onTerminal(t *testing.T, env []string, args ...string) (*exec.Cmd, *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	t.Cleanup(func() { ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{
		Path: self, Args: append([]string{"assent"}, args...), Env: env,
		Stdin: theirs, Stdout: theirs, Stderr: theirs,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, ours
}

// until reads what is shown up to a text, and gives it.
func until(t *testing.T, terminal *os.File, text string) string {
	t.Helper()
	var got bytes.Buffer
	b := make([]byte, 4096)
	for !strings.Contains(got.String(), text) {
		n, err := terminal.Read(b)
		got.Write(b[:n])
		if err != nil {
			t.Fatalf("%q is not shown (%v):\n%s", text, err, got.String())
		}
	}
	return got.String()
}

// On a terminal whoever is there answers, and Ctrl-C takes everything away.
func TestTryOnATerminal(t *testing.T) {
	tmp, home := t.TempDir(), t.TempDir()
	env := []string{"HOME=" + home, "TMPDIR=" + tmp, "PATH=" + os.Getenv("PATH"), "TERM=xterm"}
	nothing := func() {
		t.Helper()
		for _, dir := range []string{tmp, home} {
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left in %s: %v, %v", dir, left, err)
			}
		}
	}
	cmd, terminal := onTerminal(t, env, "try")
	for _, step := range []struct{ shown, answer string }{
		{"q ends. Enter: allow", "y cocoa comes next\n"},
		{"q ends. Enter: deny", "maybe\n"},
		{"That is none of them.", "n\n"},
		{"q ends. Enter: grant bash", "g\n"},
	} {
		until(t, terminal, step.shown)
		if _, err := terminal.WriteString(step.answer); err != nil {
			t.Fatal(err)
		}
	}
	if shown := until(t, terminal, "taken away now"); !strings.Contains(shown, "checked: tea coffee") {
		t.Errorf("the grant did nothing:\n%s", shown)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	nothing()

	cmd, terminal = onTerminal(t, env, "try")
	until(t, terminal, "> ")
	if found, err := filepath.Glob(filepath.Join(tmp, "assent-try-*")); err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if _, err := terminal.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	until(t, terminal, "ended; the scratch folder is gone")
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitFailed {
		t.Error("it ended with", cmd.ProcessState)
	}
	nothing()

	cmd, terminal = onTerminal(t, env, "try", "--scripted")
	until(t, terminal, "taken away now")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	nothing()
}
