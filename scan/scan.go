package scan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"assent/approval"
	"assent/floor"
	"assent/internal/peer"
	"assent/tirith"
)

// Scanner is the scanner of one machine and what is known of it. Its methods
// may be called at once.
type Scanner struct {
	// Tirith is how it is asked.
	Tirith *tirith.Tirith
	// Found is the file that says where it was found once, "" to remember it in
	// memory alone.
	Found string
	// Keep has it written down; without it what is written is only read.
	Keep bool

	mu    sync.Mutex
	found *Place // in this life
}

// Machine is the scanner of the machine that an environment tells of, if one is
// there: its daemon's socket is in the state folder, its program on the path.
// That a daemon is there is looked for anew with every call.
//
// A program that was found before, in this life or as the file found says, stays the
// one that is asked while it is there: another could be put before it on the path.
// Where none is there, one is looked for anew with every call.
func Machine(lookup func(string) string, home, found string) *tirith.Tirith {
	env := func(name string) string {
		if name == "HOME" {
			return home
		}
		return lookup(name)
	}
	t := &tirith.Tirith{Env: tirith.Environ(env), User: uint32(os.Geteuid()), Peer: peer.User, Find: finder(lookup("PATH"), home, found)}
	state := lookup("XDG_STATE_HOME")
	if !filepath.IsAbs(state) && filepath.IsAbs(home) {
		state = filepath.Join(home, ".local/state")
	}
	if filepath.IsAbs(state) {
		t.Socket = filepath.Join(state, "tirith", "daemon.sock")
	}
	return t
}

// finder finds the program, and the same one again while it is there.
func finder(path, home, found string) func() string {
	var mu sync.Mutex
	last := ""
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		if is(last) {
			return last
		}
		if found != "" {
			if was, err := written(found); err == nil && was != nil && is(was.Program) {
				last = was.Program
				return last
			}
		}
		if name := program(path, home); name != "" {
			last = name
		}
		return last
	}
}

// program is the first program of that name: in the folders of the path, then
// where its installers put it. "" where there is none.
func program(path, home string) string {
	folders := filepath.SplitList(path)
	if filepath.IsAbs(home) {
		folders = append(folders, filepath.Join(home, ".local/bin"), filepath.Join(home, ".cargo/bin"))
	}
	folders = append(folders, "/usr/local/bin", "/usr/bin")
	for _, dir := range folders {
		if !filepath.IsAbs(dir) {
			continue // the folder of whoever asks may be anybody's
		}
		name := filepath.Join(dir, "tirith")
		if is(name) {
			return name
		}
	}
	return ""
}

// is says whether a name is that of a program.
func is(name string) bool {
	if !filepath.IsAbs(name) {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// Files are the files that decide what the scanner says ([floor.Floor]'s
// ScannerFiles): its program and the folder of its daemon's socket. Its settings lie
// in folders that the floor knows.
func (s *Scanner) Files() (files []string) {
	if name := s.Tirith.Where(); name != "" {
		files = append(files, name)
		real, err := filepath.EvalSymlinks(name)
		if err == nil && real != name {
			files = append(files, real)
		}
		// A package that starts the program of another package.
		if at := strings.LastIndex(real, "/node_modules/"); at >= 0 {
			all := real[:at+len("/node_modules/")]
			files = append(files, all+"tirith", all+"@sheeki03")
		}
	}
	if s.Tirith.Socket != "" {
		files = append(files, filepath.Dir(s.Tirith.Socket))
	}
	return files
}

// The limits of one call.
const (
	maxCommands = 64
	atOnce      = 4 // processes beside each other
)

// Add gives a call that the floor will judge what the scanner says to each of
// its commands. A call without any stays as it is.
func (s *Scanner) Add(ctx context.Context, f *floor.Floor, call floor.Call) floor.Call {
	if f.Setting() == floor.ScannerOff {
		return call
	}
	commands := floor.Commands(call)
	if len(commands) == 0 {
		return call
	}
	call.Scan = s.scan(ctx, commands, call.Cwd, call.Workspace)
	return call
}

func (s *Scanner) scan(ctx context.Context, commands []string, cwd, workspace string) floor.Scan {
	there, err := s.there()
	switch {
	case err != nil:
		return failed(err)
	case !there:
		return floor.Scan{}
	case len(commands) > maxCommands:
		return failed(fmt.Errorf("%d commands in one call are too many for it", len(commands)))
	}
	if cwd == "" {
		cwd = workspace
	}
	reports, errs := make([]tirith.Report, len(commands)), make([]error, len(commands))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i, command := range commands {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			if reports[i], errs[i] = s.ask(ctx, command, cwd); errs[i] != nil {
				cancel() // it is a block whatever the others say
			}
		})
	}
	running.Wait()
	done := floor.Scan{State: floor.ScanDone}
	for i := range commands {
		if err := first(errs); err != nil {
			return failed(err)
		}
		for _, f := range reports[i].Findings {
			done.Findings = append(done.Findings, finding(f))
		}
	}
	return done
}

// ask asks about one command. A panic is an error: what runs in a goroutine of
// its own would end the kernel.
func (s *Scanner) ask(ctx context.Context, command, cwd string) (r tirith.Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("asking it failed: %v", p)
		}
	}()
	return s.Tirith.Scan(ctx, command, cwd)
}

// first is the first error that is not only the end of the others.
func first(errs []error) (found error) {
	for _, err := range errs {
		if err != nil && (found == nil || errors.Is(found, context.Canceled)) {
			found = err
		}
	}
	return found
}

func failed(err error) floor.Scan {
	return floor.Scan{State: floor.ScanFailed, Why: strings.TrimSpace(err.Error())}
}

// finding is a finding as the floor wants it.
func finding(f tirith.Finding) floor.ScanFinding {
	out := floor.ScanFinding{Rule: f.Rule, Message: f.Title}
	if f.Kind != tirith.Concrete {
		out.Cause = floor.ScanNested
	}
	if f.Result == approval.Ask {
		out.Action = floor.ScanWarn
	}
	return out
}
