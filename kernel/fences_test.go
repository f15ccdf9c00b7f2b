package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"assent/job"
	"assent/plexus"
)

// A home that is a link is a fence where it really is: a person who lets one
// read list it has not opened what lies under it (law §10, ruling 8).
func TestARealHomeIsAFence(t *testing.T) {
	w := newWorld(t, Options{Registry: registry(ok)})
	root, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, name) }
	for _, folder := range []string{"w", "disk/ada", "disk/other"} {
		if err := os.MkdirAll(at(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("disk/ada", at("home")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Mode: "manual", Workspace: at("w"), Home: at("home")}, ada); err != nil {
		t.Fatal(err)
	}
	read := func(id, path string) {
		t.Helper()
		w.admit(NewCall{Session: "s", ID: id, Kind: job.SystemTool, Name: "Read", Arguments: fmt.Appendf(nil, `{"file_path":%s}`, plexus.Text(path))}, host)
		w.await("s", id, plexus.PolicyResult)
	}
	for _, folder := range []string{"disk/ada", "disk/other"} {
		read(folder, at(folder))
		w.answer("s", folder, true)
		w.outcome("s", folder)
	}
	read("under-home", at("disk/ada/notes"))
	read("under-other", at("disk/other/notes"))
	if got := w.outcome("s", "under-other"); got != `{"ok":true}` {
		t.Error("a folder that was opened is closed:", got)
	}
	if queue, err := w.Queue(t.Context(), "s", ""); err != nil || len(queue) != 1 || queue[0] != "under-home" {
		t.Errorf("queue %v, %v", queue, err)
	}
}
