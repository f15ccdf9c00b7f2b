package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"assent/floor/effect"
)

// Stdin is what every script finds on its standard input.
const Stdin = "1\ntool from stdin\nthird line\n"

// call is one line of the recorder's log.
type call struct {
	Name string   `json:"name"`
	Args []string `json:"args"`
	Cwd  string   `json:"cwd"`
	Env  []string `json:"env"`
	Pid  int      `json:"pid"`
}

// Record is what a shell did with one script.
type Record struct {
	Facts []Fact
	// Env holds the variables that programs were given and that were not there
	// at the start or had another value, as NAME=value.
	Env []string
	// Traced tells that strace watched; without it there are no reads.
	Traced         bool
	Output, Errors string
}

// Environ is the environment a script starts with.
func (w *World) Environ() []string {
	return []string{"HOME=" + w.Home, "PATH=" + filepath.Join(w.Root, "bin"), "TMPDIR=" + w.Temp, "LC_ALL=C.UTF-8"}
}

// Run makes the tree anew, runs text by real bash in the workspace and tells
// what happened. An error means that the oracle itself failed or that ctx
// ended, never that the script did.
func (w *World) Run(ctx context.Context, text string) (Record, error) {
	return w.RunBy(ctx, "bash", text)
}

// RunBy is Run by another shell; [Kit.Has] says which there are.
func (w *World) RunBy(ctx context.Context, shell, text string) (Record, error) {
	start, has := w.kit.shells[shell]
	if !has {
		return Record{}, fmt.Errorf("there is no %s here", shell)
	}
	if strings.ContainsRune(text, 0) {
		return Record{}, errors.New("a NUL cannot be passed to a shell")
	}
	if err := w.reset(); err != nil {
		return Record{}, fmt.Errorf("reset the world: %w", err)
	}
	before := w.state
	w.state = nil // until the script has ended well, nobody knows the tree
	args := append(slices.Clone(start), "-c", text, shell)
	trace := filepath.Join(w.Root, "trace")
	if w.kit.strace != "" {
		args = append([]string{w.kit.strace, "-f", "-y", "-qq", "--seccomp-bpf", "-s", "1000000", "-o", trace, "-e", "trace=" + traced}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = w.Work, w.Environ()
	if shell == "zsh" { // which else climbs to the root to find out where it is
		cmd.Env = append(cmd.Env, "PWD="+w.Work)
	}
	cmd.Stdin = strings.NewReader(Stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	// Scripts leave children behind; all of them go with the group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if ctx.Err() != nil {
		return Record{}, fmt.Errorf("the script did not end: %w\nstdout: %.500s\nstderr: %.500s", ctx.Err(), out.String(), errs.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Record{}, fmt.Errorf("start %s: %w", shell, err)
	}
	rec := Record{Output: out.String(), Errors: errs.String(), Traced: w.kit.strace != ""}
	if strings.Contains(rec.Errors, "recorder:") {
		return Record{}, fmt.Errorf("the recorder failed: %s", rec.Errors)
	}
	calls, err := w.calls()
	if err != nil {
		return Record{}, err
	}
	rec.Env = w.changed(calls)
	after, err := w.snapshot()
	if err != nil {
		return Record{}, err
	}
	changes := compare(before, after)
	if len(changes) == 0 {
		w.state = after
	}
	if !rec.Traced {
		for _, f := range changes {
			f.Anywhere = true
			rec.Facts = append(rec.Facts, f)
		}
		for _, c := range calls {
			rec.Facts = append(rec.Facts, Fact{Kind: effect.Run, Path: filepath.Join(w.Root, "bin", c.Name), Args: c.Args, Anywhere: true})
		}
		return rec, nil
	}
	log, err := os.ReadFile(trace)
	if err != nil {
		return Record{}, err
	}
	if rec.Facts, err = readTrace(w, string(log), calls); err != nil {
		return Record{}, err
	}
	rec.Facts = slices.DeleteFunc(rec.Facts, Fact.startsShell)
	return rec, rec.crosscheck(calls, changes)
}

// startsShell reports what is no work of the script: zsh reads the settings of
// the system whatever it is told.
func (f Fact) startsShell() bool {
	return f.Kind == effect.Read && len(f.By) == 0 && strings.HasPrefix(f.Path, "/etc/zsh/")
}

// crosscheck compares the two layers: what the recorder and the tree show must
// be in the trace too, or the trace is not to be trusted.
func (r *Record) crosscheck(calls []call, changes []Fact) error {
	runs := map[string]int{}
	for _, f := range r.Facts {
		if f.Kind == effect.Run {
			runs[f.Program()]++
		}
	}
	for _, c := range calls {
		if runs[c.Name]--; runs[c.Name] < 0 {
			return fmt.Errorf("the recorder saw %q run and the trace did not", c.Args)
		}
	}
	for _, change := range changes {
		found := false
		for _, f := range r.Facts {
			if f.Path == change.Path && (f.Kind == change.Kind || f.Kind == effect.Write && change.Kind == effect.Delete) {
				found = true
			}
		}
		if !found {
			return fmt.Errorf("the tree shows %s of %s and the trace does not", change.Kind, change.Path)
		}
	}
	return nil
}

func (w *World) calls() ([]call, error) {
	data, err := os.ReadFile(filepath.Join(w.Root, "calls.jsonl"))
	if err != nil {
		return nil, err
	}
	var calls []call
	for text := range bytes.Lines(data) {
		var c call
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, fmt.Errorf("recorder's log: %w: %s", err, text)
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// changed lists the variables that some program found different from the start
// and that bash does not keep by itself.
func (w *World) changed(calls []call) []string {
	start := map[string]bool{}
	for _, v := range w.Environ() {
		start[v] = true
	}
	seen := map[string]bool{}
	var diff []string
	for _, c := range calls {
		for _, v := range c.Env {
			name, _, _ := strings.Cut(v, "=")
			switch name {
			case "_", "PWD", "OLDPWD", "SHLVL":
				continue
			}
			if strings.Contains(v, "libstdbuf") {
				continue // how stdbuf works
			}
			if !start[v] && !seen[v] {
				seen[v] = true
				diff = append(diff, v)
			}
		}
	}
	return diff
}

// snapshot tells the state of every file of the tree. The time of the last
// change shows a write that wrote what was there before.
func (w *World) snapshot() (map[string]string, error) {
	state := map[string]string{}
	err := filepath.WalkDir(filepath.Join(w.Root, "tree"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			state[path] = "folder"
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			state[path] = "->" + to
		default:
			state[path] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return state, err
}

func compare(before, after map[string]string) []Fact {
	var facts []Fact
	for path, state := range after {
		if before[path] != state {
			facts = append(facts, Fact{Kind: effect.Write, Path: path, Named: path, Folder: state == "folder"})
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			facts = append(facts, Fact{Kind: effect.Delete, Path: path, Named: path})
		}
	}
	return facts
}
