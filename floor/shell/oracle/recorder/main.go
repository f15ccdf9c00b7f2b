// Recorder stands in for every program a script of the oracle can find. It
// notes how it was called and, where the program is one that does no harm, goes
// on as the real one; any other program it replaces by silence.
//
// It is found by hard links, one a program name, so it knows its name and its
// world from where it lies and needs nothing from the environment, which the
// script may have emptied.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// The first thread must be the one that goes on as the real program: strace
// loses a process that becomes another from a side thread.
func init() { runtime.LockOSThread() }

// call is one line of the log; package oracle reads it.
type call struct {
	Name string   `json:"name"`
	Args []string `json:"args"`
	Cwd  string   `json:"cwd"`
	Env  []string `json:"env"`
	Pid  int      `json:"pid"`
}

func main() {
	exe, err := os.Executable()
	if err != nil {
		fail(err)
	}
	name := filepath.Base(exe)
	root, err := world(filepath.Dir(exe))
	if err != nil {
		fail(err)
	}
	cwd, _ := os.Getwd()
	line, err := json.Marshal(call{Name: name, Args: os.Args, Cwd: cwd, Env: os.Environ(), Pid: os.Getpid()})
	if err != nil {
		fail(err)
	}
	// One write of one line to a file opened for appending: lines of programs
	// that run at the same time do not mix.
	log, err := os.OpenFile(filepath.Join(root, "calls.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		fail(err)
	}
	if _, err := log.Write(append(line, '\n')); err != nil {
		fail(err)
	}
	log.Close()

	target := filepath.Join(root, "real", name)
	if _, err := os.Lstat(target); err == nil {
		fail(syscall.Exec(target, os.Args, os.Environ()))
	}
	if name == "fails" {
		os.Exit(1)
	}
}

// world climbs from dir to the folder that holds the log.
func world(dir string) (string, error) {
	for {
		if _, err := os.Lstat(filepath.Join(dir, "calls.jsonl")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no world above %s", dir)
		}
		dir = up
	}
}

// fail ends with a status that package oracle takes for a broken layer.
func fail(err error) {
	fmt.Fprintln(os.Stderr, "recorder:", err)
	os.Exit(199)
}
