package scan

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assent/floor"
)

// What the scanner costs beside the floor, by its daemon and by a process: the
// metric x-floor is how many times as long as judging the call without it.
func BenchmarkBesideTheFloor(b *testing.B) {
	bin, err := filepath.Abs("../tools/node_modules/@sheeki03/tirith-linux-x64/bin")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "tirith")); err != nil {
		b.Skipf("the scanner is not installed here (make tools): %v", err)
	}
	home, err := os.MkdirTemp("", "t")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(home)
	s := &Scanner{Tirith: Machine(func(name string) string { return map[string]string{"PATH": bin + ":" + os.Getenv("PATH")}[name] }, home, "")}
	call, f := bash("git status && go test ./..."), new(floor.Floor)
	judge := func(b *testing.B) {
		f.Judge(call) // what is read once is read
		s.Add(b.Context(), f, call)
		var alone time.Duration
		for b.Loop() {
			start := time.Now()
			f.Judge(call)
			alone += time.Since(start)
			if scan := s.Add(b.Context(), f, call).Scan; scan.State != floor.ScanDone {
				b.Fatal(scan)
			}
		}
		b.ReportMetric(float64(b.Elapsed()-alone)/float64(alone), "x-floor")
	}
	b.Run("process", judge)
	cmd := exec.Command(s.Tirith.Program, "daemon", "start")
	cmd.Env = s.Tirith.Env
	out, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.Contains(lines.Text(), "listening"); {
	}
	b.Run("daemon", judge)
}
