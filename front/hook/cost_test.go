package hook_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkCost tells what the hook costs as a whole process, beside a program
// that does nothing: processor time of its own, which does not depend on how fast
// a disk is, alone and with fifty at once. They take turns, so that a machine that
// is busy is so for both.
func BenchmarkCost(b *testing.B) {
	w := newWorld(b)
	dir := b.TempDir()
	for name, text := range map[string]string{"go.mod": "module bare\n\ngo 1.26\n", "bare.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	build := func(in, name, pkg string) string {
		program := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-o", program, pkg)
		cmd.Dir = in
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("go build %s: %v\n%s", pkg, err, out)
		}
		return program
	}
	bare, ours := build(dir, "bare", "."), build("../..", "assent-hook", "./cmd/assent-hook")
	env := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + filepath.Dir(filepath.Dir(w.socket))}
	var calls atomic.Int64
	start := func(program string) (cmd *exec.Cmd, said *bytes.Buffer) {
		cmd, said = exec.Command(program, "claude"), new(bytes.Buffer)
		cmd.Env, cmd.Stdout, cmd.Stderr = env, said, said
		call := fmt.Sprintf("toolu_%d", calls.Add(1))
		cmd.Stdin = bytes.NewReader([]byte(w.payload("PreToolUse", call, "let it", "")))
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		return cmd, said
	}
	// spent runs some of a program at once and gives their processor time.
	spent := func(program string, n int) (total time.Duration) {
		cmds, said := make([]*exec.Cmd, n), make([]*bytes.Buffer, n)
		for i := range cmds {
			cmds[i], said[i] = start(program)
		}
		for i, cmd := range cmds {
			if err := cmd.Wait(); err != nil || program == ours && !bytes.Contains(said[i].Bytes(), []byte(`"allow"`)) {
				b.Fatalf("%s: %v: %s", program, err, said[i])
			}
			total += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		return total
	}
	spent(ours, 1)
	for _, n := range []int{1, 50} {
		b.Run(fmt.Sprintf("%d-at-once", n), func(b *testing.B) {
			var hooks, bares, waits time.Duration
			for b.Loop() {
				began := time.Now()
				hooks += spent(ours, n)
				waits += time.Since(began)
				bares += spent(bare, n)
			}
			each := float64(b.N * n)
			b.ReportMetric(float64(hooks)/float64(bares), "ratio")
			b.ReportMetric(hooks.Seconds()*1e3/each, "ms-cpu/hook")
			b.ReportMetric(bares.Seconds()*1e3/each, "ms-cpu/bare")
			b.ReportMetric(waits.Seconds()*1e3/float64(b.N), "ms-until-all-answered")
			b.ReportMetric(0, "ns/op")
		})
	}
}
