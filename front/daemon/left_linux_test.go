package daemon

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"assent/internal/config"
	"assent/internal/place"
	"assent/job"
	"assent/kernel"
	"assent/plexus"
)

// What the kernel was started with is open in none of the programs that it starts.
func TestNothingInheritedIsHandedOn(t *testing.T) {
	for _, how := range []string{"at once", "listed"} {
		t.Run(how, func(t *testing.T) {
			secret, err := os.Create(filepath.Join(t.TempDir(), "a-secret"))
			if err != nil {
				t.Fatal(err)
			}
			defer secret.Close()
			cmd := exec.Command(os.Args[0])
			cmd.Env = []string{childPart + "=opened " + how}
			cmd.ExtraFiles = []*os.File{secret, secret, secret} // 5 is the last
			out, err := cmd.Output()
			if err != nil || !strings.Contains(string(out), "/fd") || strings.Contains(string(out), "a-secret") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

const left = "sleep 1000 & echo $! >pid; setsid sh -c 'echo $$ >pid2; echo >ready; exec sleep 1000' & cat ready; echo >over; wait; echo >late"

// runs is a kernel that begins a command and then is told nothing more.
func runs(home string) error {
	p, err := place.Of(place.Env{Home: home, UID: os.Geteuid()})
	if err != nil {
		return err
	}
	if _, err := Settle(); err != nil {
		return err
	}
	ctx := context.Background()
	var k *kernel.Kernel
	return Run(ctx, Options{Place: p, opened: func(_ *plexus.Store, made *kernel.Kernel, _ *config.File) { k = made }, Ready: func() {
		ada := plexus.Writer{Role: plexus.Human, Name: "ada"}
		_, err := k.CreateSession(ctx, kernel.NewSession{ID: "s", Mode: "yolo", Workspace: filepath.Join(home, "ws")}, ada)
		if err == nil {
			_, err = k.Admit(ctx, kernel.NewCall{Session: "s", ID: "c", Kind: job.SystemTool, Name: "bash", Arguments: []byte(`{"command":` + plexus.Text(left) + `}`)}, ada)
		}
		if err != nil {
			panic(err)
		}
	}})
}

// A kernel that was killed leaves no command running behind the back of whoever reads
// the receipt: the next one ends it first, and says so.
func TestACommandOfAKernelThatWasKilled(t *testing.T) {
	p := somewhere(t)
	home := strings.TrimSuffix(p.Config, "/.config/assent")
	ws := filepath.Join(home, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ready", "over"} {
		if err := syscall.Mkfifo(filepath.Join(ws, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{childPart + "=runs " + home, "HOME=" + home, "PATH=/usr/bin:/bin"}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(filepath.Join(ws, "over")); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	d := start(t, p)
	got := d.outcome("s", "c")
	if !strings.Contains(got, "was not run again") || !strings.Contains(got, "what still ran of it was ended") {
		t.Error(got)
	}
	ended(t, filepath.Join(ws, "pid"))
	ended(t, filepath.Join(ws, "pid2"))
	if _, err := os.Stat(filepath.Join(ws, "late")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the command went on: %v", err)
	}
	if files, err := os.ReadDir(p.Running()); err != nil || len(files) != 0 {
		t.Errorf("still written down: %v, %v", files, err)
	}
}

// A command starts in the folder that was judged, or not at all.
func TestACommandStartsWhereItWasJudged(t *testing.T) {
	for _, row := range []struct {
		why, cwd string
		swap     func(top string) error
		want     string // in the outcome
	}{
		{"nothing has changed", "/ws/sub", func(string) error { return nil }, `"ok":true`},
		{"through a link that leads there still", "/link", func(string) error { return nil }, `"ok":true`},
		{"the workspace is a link", "", func(top string) error {
			return errors.Join(os.Rename(top+"/ws", top+"/moved"), os.Symlink(top+"/other", top+"/ws"))
		}, "ws is a link by now"},
		{"its folder is a link", "/ws/sub", func(top string) error {
			return errors.Join(os.Rename(top+"/ws/sub", top+"/moved"), os.Symlink(top+"/other", top+"/ws/sub"))
		}, "sub is a link by now"},
		{"its folder is gone", "/ws/sub", func(top string) error { return os.Rename(top+"/ws/sub", top+"/moved") }, "no such file"},
	} {
		t.Run(row.why, func(t *testing.T) {
			d := start(t, somewhere(t))
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{"/ws/sub", "/other"} {
				if err := os.MkdirAll(top+dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{"/ws/precious", "/ws/sub/precious", "/other/precious"} {
				if err := os.WriteFile(top+file, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(top+"/ws/sub", top+"/link"); err != nil {
				t.Fatal(err)
			}
			ada := plexus.Writer{Role: plexus.Human, Name: "ada"}
			s := kernel.NewSession{ID: "s", Mode: "manual", Workspace: top + "/ws"}
			if row.cwd != "" {
				s.Cwd = top + row.cwd
			}
			if _, err := d.parts.Kernel.CreateSession(t.Context(), s, ada); err != nil {
				t.Fatal(err)
			}
			call, err := d.parts.Kernel.Admit(t.Context(), kernel.NewCall{Session: "s", Kind: job.SystemTool, Name: "bash", Arguments: []byte(`{"command":"rm precious"}`)}, ada)
			if err != nil {
				t.Fatal(err)
			}
			d.field("s", call.ID, plexus.PolicyResult)
			if err := row.swap(top); err != nil {
				t.Fatal(err)
			}
			yes := plexus.Field{Session: "s", Job: call.ID, Name: plexus.Approved, Value: plexus.True}
			if _, err := d.parts.Document.Apply(t.Context(), plexus.Tx{Writer: ada, Writes: []plexus.Row{yes}}); err != nil {
				t.Fatal(err)
			}
			if got := d.outcome("s", call.ID); !strings.Contains(got, row.want) {
				t.Errorf("%s, want %s", got, row.want)
			}
			if _, err := os.Stat(top + "/other/precious"); err != nil {
				t.Errorf("it ran elsewhere: %v", err)
			}
		})
	}
}
