package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assent/approval"
)

// watched is a File whose states come one after the other.
type watched struct {
	*File
	t      *testing.T
	states chan State
}

func watch(t *testing.T, path string) watched {
	t.Helper()
	return watchFor(t, path, time.Millisecond)
}

// watchFor is watch where a broken file is told after so long.
func watchFor(t *testing.T, path string, settle time.Duration) watched {
	t.Helper()
	states := make(chan State, 100)
	f, err := open(path, func(s State) { states <- s }, settle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return watched{f, t, states}
}

// until waits for a state of which a thing holds.
func (w watched) until(what string, holds func(State) bool) State {
	w.t.Helper()
	for {
		select {
		case s := <-w.states:
			if holds(s) {
				return s
			}
		case <-w.t.Context().Done():
			w.t.Fatalf("never: %s; it is %+v", what, w.State())
		}
	}
}

func save(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// swap saves as most editors do.
func swap(t *testing.T, path, text string) {
	t.Helper()
	save(t, path+"~", text)
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

func isMode(m approval.Mode) func(State) bool {
	return func(s State) bool { return s.Config.DefaultPolicy == m && s.Err == nil }
}

func TestFileIsHot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	w := watch(t, path)
	if s := w.State(); s.Err != nil || s.Config.DefaultPolicy != approval.Manual || s.Config.AskThrottle != DefaultAskThrottle {
		t.Fatalf("without a file: %+v", s)
	}
	swap(t, path, `{"defaultPolicy": "auto"}`)
	w.until("the file is made", isMode(approval.Auto))
	swap(t, path, `{"defaultPolicy": "yolo"}`)
	w.until("the file is replaced", isMode(approval.Yolo))
	os.Remove(path)
	w.until("the file is gone, and so are its settings", isMode(approval.Manual))
}

func TestFileBroken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	save(t, path, `{"defaultPolicy": "auto", "autoAllow": {"bash": true}, "agentFolders": ["/"]}`)
	w := watch(t, path)
	if s := w.State(); !s.Good || len(s.Config.Warnings) != 1 {
		t.Errorf("at first: %+v, want one warning", s)
	}
	swap(t, path, `{"defaultPolicy": "yolo", "autoAllow": {"bash": true, "write": true}, "x": 1}`)
	s := w.until("it is broken", func(s State) bool { return s.Err != nil })
	if s.Config.DefaultPolicy != approval.Auto || s.Config.AutoAllow != (approval.Terms{Bash: approval.Endless}) {
		t.Errorf("a broken file: %+v, want what it said before", s)
	}
	if !s.Good || s.Config.Warnings != nil {
		t.Errorf("a broken file: %+v, want what is in force, and no warnings of a text that is gone", s)
	}
	if err := w.Set(DefaultPolicy, "manual"); err == nil {
		t.Error("a broken file was edited")
	}
	swap(t, path, `{}`)
	w.until("it is mended", isMode(approval.Manual))

	// At the start there is nothing good to keep.
	save(t, path, `{"defaultPolicy": "yolo", "x": 1}`)
	if s := watch(t, path).State(); s.Err == nil || s.Good || s.Config.DefaultPolicy != approval.Manual {
		t.Errorf("broken at the start: %+v", s)
	}
}

// A file that is saved in place is empty for a moment, and half there for another.
// Nobody is told of that; whoever asks is.
func TestFileSavedInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	save(t, path, `{"defaultPolicy": "auto"}`)
	w := watchFor(t, path, 24*time.Hour)
	for _, half := range []string{"", "{", `{"defaultPolicy": "yo`} {
		save(t, path, half)
	}
	save(t, path, `{"defaultPolicy": "yolo"}`)
	if s := w.until("it is saved", func(State) bool { return true }); s.Err != nil || s.Config.DefaultPolicy != approval.Yolo {
		t.Errorf("told of %+v before it was saved", s)
	}
	save(t, path, `{"defaultPolicy"`)
	if s := w.Reload(); s.Err == nil {
		t.Error("it is broken, and whoever asked was not told")
	}
}

func TestFileIsNoFile(t *testing.T) {
	dir := t.TempDir()
	for why, make := range map[string]func(path string) error{
		"a-folder":          func(p string) error { return os.Mkdir(p, 0o700) },
		"a-link-to-nothing": func(p string) error { return os.Symlink(filepath.Join(dir, "nothing"), p) },
		"anybody-s": func(p string) error {
			save(t, p, `{"defaultPolicy": "yolo"}`)
			return os.Chmod(p, 0o666)
		},
	} {
		path := filepath.Join(dir, why)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if s := watch(t, path).State(); s.Err == nil || s.Config.DefaultPolicy != approval.Manual {
			t.Errorf("%s: %+v", why, s)
		}
	}
}

func TestFileSet(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "mine", "c.json"), filepath.Join(dir, "config.json")
	if err := os.Mkdir(filepath.Dir(real), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(real, []byte("{\n  // mine\n  \"superKey\": \"f9\"\n}\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	w := watch(t, link)
	if err := w.Set(DefaultPolicy, "auto"); err != nil {
		t.Fatal(err)
	}
	if got := w.State().Config.DefaultPolicy; got != approval.Auto {
		t.Errorf("after Set it is %v", got)
	}
	text, err := os.ReadFile(real)
	if err != nil || !strings.Contains(string(text), "// mine") {
		t.Errorf("the file is %s, %v", text, err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if rest, _ := filepath.Glob(filepath.Join(dir, "*", ".*")); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
	// What a link leads to is looked after too.
	swap(t, real, `{"defaultPolicy": "yolo"}`)
	w.until("what the link leads to is replaced", isMode(approval.Yolo))
}

// A folder that comes later is noticed.
func TestFileInAFolderToCome(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "assent")
	w := watch(t, filepath.Join(dir, "config.json"))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	swap(t, filepath.Join(dir, "config.json"), `{"defaultPolicy": "auto"}`)
	w.until("folder and file are made", isMode(approval.Auto))
}
