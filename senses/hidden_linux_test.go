package senses

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"assent/approval"
	"assent/floor"
)

// another is a user that owns nothing.
const another = 65534

// withRights looks as a user who has no more rights than others: the administrator
// gives its own up for that.
func withRights(t *testing.T, look func()) {
	t.Helper()
	if os.Getuid() != 0 {
		look()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Setfsuid(another); err != nil {
		t.Fatal(err)
	}
	defer unix.Setfsuid(0)
	look()
}

// A folder that cannot be looked into is not one without links.
func TestHiddenFolders(t *testing.T) {
	root := world(t, map[string]string{
		"w/plain/x": "", "w/shut/x": "-> nowhere", "w/shut/in/y": "", "w/deep/shut/z": "", "home/.ssh/id_rsa": "",
		"repo/.git/HEAD": "ref: refs/heads/main", "repo/.git/objects/x": "", "repo/.git/refs/x": "", "repo/.git/config": "[core]\n", "repo/f": "",
		"whole/.git/HEAD": "ref: refs/heads/main", "whole/.git/objects/x": "", "whole/.git/refs/x": "", "whole/.git/config": "[core]\n",
	})
	for d := root; d != "/" && os.Getuid() == 0; d = filepath.Dir(d) { // so that others come this far
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if d == os.TempDir() {
			break
		}
	}
	shut := func(name string) {
		p := filepath.Join(root, name)
		if err := os.Chmod(p, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.Chmod(p, 0o755); err != nil && !os.IsNotExist(err) {
				t.Error(err)
			}
		})
	}
	open := map[string]approval.PolicyResult{}
	lets := operator(t, "version: 1\nwrite: {allow: [.]}\nread: {allow: [.]}\nrun: {allow: [git status, chmod]}\n")
	check := func(where, tool, argument, text string) approval.PolicyResult {
		arguments, err := json.Marshal(map[string]string{argument: text})
		if err != nil {
			t.Fatal(err)
		}
		var got approval.PolicyResult
		withRights(t, func() {
			call := floor.Call{Name: tool, Arguments: arguments, Workspace: filepath.Join(root, where), Home: filepath.Join(root, "home")}
			got = lets.Judge(CompleteFor(lets, call)).Result
		})
		return got
	}
	tests := []struct {
		why, where, tool, argument, text string
		asks                             bool
	}{
		{"a file in it", "w", "Bash", "command", "cat shut/x", true},
		{"a file below it", "w", "Bash", "command", "cat shut/in/y", true},
		{"a file of another folder", "w", "Bash", "command", "cat plain/x", false},
		{"what is not there", "w", "Bash", "command", "cat plain/none", false},
		{"by a pattern", "w", "Bash", "command", "cat shut/*", true},
		{"opened by the same call", "w", "Bash", "command", "chmod 700 shut && cat shut/x", true},
		{"written to", "w", "Bash", "command", "echo x >shut/new", true},
		{"by a file tool", "w", "Read", "file_path", filepath.Join(root, "w/shut/x"), true},
		{"in a deeper one", "w", "Bash", "command", "cat -- deep/shut/z", true},
		{"in a tree that is searched", "w", "Bash", "command", "grep -r x deep", true},
		{"its name alone", "w", "Bash", "command", "ls shut", false},
		{"git's settings", "repo", "Bash", "command", "git status", true},
		{"all of git's", "whole", "Bash", "command", "git status", true},
	}
	for _, test := range tests {
		open[test.why] = check(test.where, test.tool, test.argument, test.text)
	}
	for _, name := range []string{"w/shut", "w/deep/shut", "repo/.git/config", "whole/.git"} {
		shut(name)
	}
	for _, test := range tests {
		got := check(test.where, test.tool, test.argument, test.text)
		if open[test.why] != approval.Allow && test.why != "opened by the same call" && test.why != "by a pattern" || (got != approval.Allow) != test.asks {
			t.Errorf("%s: %s: open %v, shut %v", test.why, test.text, open[test.why], got)
		}
	}
	var err error
	withRights(t, func() { _, err = os.ReadDir(filepath.Join(root, "w/shut")) })
	if !unseen(err) || unseen(fs.ErrNotExist) {
		t.Errorf("the folder is not shut: %v", err)
	}
}
