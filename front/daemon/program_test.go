package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is in the file of the classifier's program holds as soon as it is saved, and
// while it cannot be had, nothing else is taken for it.
func TestTheFileOfTheProgram(t *testing.T) {
	home, folder := t.TempDir(), t.TempDir()
	changed := make(chan struct{}, 100)
	p, err := openProgram(home, folder, func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := p.read(""); got.Name != "" || got.Err != nil || len(got.Files) != 0 {
		t.Errorf("none: %+v", got)
	}
	put := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	await := func(named, want string) {
		t.Helper()
		for {
			if got := p.read(named); got.Err == nil && got.Text == want {
				return
			}
			<-changed // the test's time limit ends it
		}
	}
	own := filepath.Join(home, "judge.scm")
	if got := p.read(own); got.Err == nil || !slices.Equal(got.Files, []string{own}) {
		t.Errorf("missing: %+v", got)
	}
	put(own, "deny", 0o600)
	await(own, "deny")
	await("~/judge.scm", "deny")
	put(own, "allow", 0o600)
	await("~/judge.scm", "allow")
	put(filepath.Join(folder, "near.scm"), "deny", 0o644)
	if got := p.read("near.scm"); got.Err != nil || got.Text != "deny" {
		t.Errorf("beside config.json: %+v", got)
	}
	link := filepath.Join(folder, "link.scm")
	if err := os.Symlink(own, link); err != nil {
		t.Fatal(err)
	}
	await(link, "allow")
	put(own, "deny", 0o600)
	await(link, "deny")

	for why, test := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"others may write it": {"allow", 0o666, "others may write it"},
		"its group may":       {"allow", 0o660, "others may write it"},
		"nothing in it":       {" \n", 0o600, "is empty"},
		"too large":           {strings.Repeat(";", 2<<20), 0o600, "that is no program"},
	} {
		put(own, test.text, test.mode)
		if got := p.read(own); got.Err == nil || !strings.Contains(got.Err.Error(), test.want) {
			t.Errorf("%s: %v", why, got.Err)
		}
	}
	if got := p.read(link); !slices.Equal(got.Files, []string{link, own}) {
		t.Errorf("a link: %q", got.Files)
	}
	if got := p.read(folder); got.Err == nil || len(got.Files) != 0 {
		t.Errorf("a folder is a program: %+v", got)
	}
}
