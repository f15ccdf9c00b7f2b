//go:build unix

package toolkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"assent/job"

	"github.com/go-json-experiment/json"
)

func bash(t *testing.T, ctx context.Context, call job.Call) (bashOutcome, error) {
	t.Helper()
	s := shell{program: "/bin/sh", env: []string{"PATH=/usr/bin:/bin", "MARK=here"}}
	text, err := s.run(ctx, call)
	var out bashOutcome
	if err == nil {
		must(t, json.Unmarshal(text, &out))
	}
	return out, err
}

func command(dir, text string) job.Call {
	arguments, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		panic(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	return job.Call{Kind: job.SystemTool, Name: "bash", Arguments: arguments, Workspace: dir, RealWorkspace: real}
}

func TestBash(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	for _, row := range []struct {
		name, command string
		ok            bool
		exit          int
		want          string
	}{
		{"both outputs in their order", "echo a; echo b >&2; echo c", true, 0, "a\nb\nc\n"},
		{"an exit code", "echo no; exit 7", false, 7, "no\n"},
		{"nothing to read", "cat; echo end", true, 0, "end\n"},
		{"only the variables it is given", "echo $MARK$HOME", true, 0, "here\n"},
		{"the workspace", "pwd", true, 0, dir + "\n"},
		{"no text", `printf '\377'`, true, 0, "\uFFFD"},
		{"no shell text", "if", false, 2, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			out, err := bash(t, t.Context(), command(dir, row.command))
			must(t, err)
			if out.OK != row.ok || out.Exit == nil || *out.Exit != row.exit || !strings.Contains(out.Text, row.want) {
				t.Errorf("%+v", out)
			}
		})
	}
	t.Run("its own folder", func(t *testing.T) {
		call := command(dir, "pwd")
		call.Cwd = filepath.Join(dir, "sub")
		call.RealCwd = call.Cwd
		if out, err := bash(t, t.Context(), call); err != nil || out.Text != dir+"/sub\n" {
			t.Errorf("%+v %v", out, err)
		}
	})
	t.Run("a signal", func(t *testing.T) {
		out, err := bash(t, t.Context(), command(dir, "kill -9 $$"))
		if err != nil || out.OK || out.Exit != nil || out.Signal != "killed" {
			t.Errorf("%+v %v", out, err)
		}
	})
	t.Run("a folder that is gone", func(t *testing.T) {
		if out, err := bash(t, t.Context(), command(filepath.Join(dir, "none"), "true")); err != nil || out.OK || !strings.Contains(out.Text, "did not start") {
			t.Errorf("%+v %v", out, err)
		}
	})
}

// Whoever cancels ends all of the command's group: also what was started in the
// background, and what does not listen to a polite signal.
func TestCancelEndsTheWholeGroup(t *testing.T) {
	for _, row := range []struct{ name, command string }{
		{"a command", "echo $$ >pid; echo ready >ready; sleep 1000"},
		{"one in the background", "sleep 1000 & echo $! >pid; echo ready >ready; wait"},
		{"one that does not listen", `trap "" TERM; echo $$ >pid; echo ready >ready; while :; do sleep 1; done`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, syscall.Mkfifo(filepath.Join(dir, "ready"), 0o600))
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("a person said so")
			done := make(chan error)
			go func() {
				_, err := bash(t, ctx, command(dir, row.command))
				done <- err
			}()
			_, err := os.ReadFile(filepath.Join(dir, "ready")) // waits for the command
			must(t, err)
			cancel(why)
			if err := <-done; !errors.Is(err, why) {
				t.Errorf("ended with %v", err)
			}
			gone(t, dir)
		})
	}
}

// What a command leaves in the background has no leaf that stands for it.
func TestWhatACommandLeavesRunningEndsWithIt(t *testing.T) {
	dir := t.TempDir()
	out, err := bash(t, t.Context(), command(dir, "sleep 1000 & echo $! >pid; echo done"))
	if err != nil || out.Text != "done\n" || !out.OK {
		t.Errorf("%+v %v", out, err)
	}
	gone(t, dir)
}

// gone waits until the process whose number the file pid holds has ended.
func gone(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	must(t, err)
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; runtime.Gosched() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if runtime.GOOS != "linux" {
			err = syscall.Kill(pid, 0)
		}
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d is still there: %s", pid, stat)
		}
	}
}

func TestATimeLimitOfTheCallIsTold(t *testing.T) {
	call := command(t.TempDir(), "echo begun; sleep 1000")
	call.Arguments = []byte(`{"command":"echo begun; sleep 1000","timeout":100}`)
	out, err := bash(t, t.Context(), call)
	if err != nil || out.OK || !strings.HasPrefix(out.Text, "timed out after 100ms\n") {
		t.Errorf("%+v %v", out, err)
	}
}

func TestACommandIsNotRunTwice(t *testing.T) {
	dir := t.TempDir()
	call := command(dir, "touch ran")
	call.Resumed, call.Begun = true, true
	if out, err := bash(t, t.Context(), call); err != nil || out.OK || !strings.Contains(out.Text, "may have had its effect") {
		t.Errorf("%+v %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran")
	}
	call.Begun = false // nothing of it had happened
	if out, err := bash(t, t.Context(), call); err != nil || !out.OK {
		t.Errorf("%+v %v", out, err)
	}
}

func TestOutputKeepsItsBeginningAndEnd(t *testing.T) {
	var told []string
	o := newOutput(func(s string) { told = append(told, s) })
	now := time.Unix(0, 0)
	o.now = func() time.Time { return now }
	var whole strings.Builder
	for i := range 200_000 {
		line := fmt.Sprintf("line %d\n", i)
		whole.WriteString(line)
		now = now.Add(time.Millisecond)
		n, err := o.Write([]byte(line))
		if n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	text := o.text()
	if !strings.HasPrefix(text, whole.String()[:keepHead]) || !strings.HasSuffix(text, whole.String()[whole.Len()-keepTail:]) {
		t.Error("the ends are not those that were written")
	}
	if left := int64(whole.Len() - keepHead - keepTail); o.omitted() != left || !strings.Contains(text, fmt.Sprintf("[%d bytes left out]", left)) {
		t.Errorf("%d left out, want %d", o.omitted(), left)
	}
	if len(told) != 1000 || !strings.HasPrefix(told[999], "line ") || len(told[999]) > 2000 {
		t.Errorf("told %d times, at the end %q", len(told), told[len(told)-1])
	}
}

// A command that writes without end does not fill the memory.
func TestMuchOutputDoesNotGrowMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("short: a command that writes 1 GB")
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	out, err := bash(t, t.Context(), command(t.TempDir(), "head -c 1000000000 /dev/zero | tr '\\0' x"))
	runtime.ReadMemStats(&after)
	if err != nil || !out.OK || out.Omitted != 1_000_000_000-keepHead-keepTail {
		t.Errorf("omitted %d, %v", out.Omitted, err)
	}
	if grown := int64(after.Sys) - int64(before.Sys); grown > 32<<20 {
		t.Errorf("%d bytes more are taken from the system", grown)
	}
}
