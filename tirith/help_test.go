package tirith

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func command(t *testing.T, name string, words ...string) *exec.Cmd {
	return exec.CommandContext(t.Context(), name, words...)
}

// gone waits until a process has ended. A zombie that nobody waits for has.
func gone(t *testing.T, pid int) {
	t.Helper()
	for {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return
		}
		if _, state, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(state, "Z") {
			return
		}
		if t.Context().Err() != nil {
			t.Fatalf("process %d is still there", pid)
		}
	}
}
