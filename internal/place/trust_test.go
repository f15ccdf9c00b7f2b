package place

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mkdir makes a folder with exactly that mode, whatever the umask.
func mkdir(t *testing.T, dir string, mode fs.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCheck(t *testing.T) {
	me := os.Getuid()
	for why, c := range map[string]struct {
		make    func(t *testing.T, root string) string
		privacy Privacy
		want    string // "" is trusted
	}{
		"private":        {make: func(t *testing.T, r string) string { return mkdir(t, r+"/a", 0o700) }},
		"private-listed": {make: func(t *testing.T, r string) string { return mkdir(t, r+"/a", 0o711) }, want: "chmod 700"},
		"private-group":  {make: func(t *testing.T, r string) string { return mkdir(t, r+"/a", 0o750) }, want: "chmod 700"},
		"private-world":  {make: func(t *testing.T, r string) string { return mkdir(t, r+"/a", 0o777) }, want: "chmod 700"},
		"shown-read":     {privacy: Shown, make: func(t *testing.T, r string) string { return mkdir(t, r+"/a", 0o755) }},
		"shown-written":  {privacy: Shown, make: func(t *testing.T, r string) string { return mkdir(t, r+"/a", 0o757) }, want: "chmod go-w"},
		"above-written":  {make: func(t *testing.T, r string) string { mkdir(t, r+"/a", 0o777); return mkdir(t, r+"/a/b", 0o700) }, want: "others may write"},
		"above-sticky": {make: func(t *testing.T, r string) string {
			mkdir(t, r+"/a", 0o777|fs.ModeSticky)
			return mkdir(t, r+"/a/b", 0o700)
		}},
		"missing":               {make: func(t *testing.T, r string) string { return r + "/a" }, want: "no such file"},
		"a-file":                {make: func(t *testing.T, r string) string { os.WriteFile(r+"/a", nil, 0o600); return r + "/a" }, want: "not a folder"},
		"private-link":          {make: func(t *testing.T, r string) string { mkdir(t, r+"/b", 0o700); os.Symlink("b", r+"/a"); return r + "/a" }, want: "symlink"},
		"shown-link":            {privacy: Shown, make: func(t *testing.T, r string) string { mkdir(t, r+"/b", 0o755); os.Symlink("b", r+"/a"); return r + "/a" }},
		"shown-link-to-written": {privacy: Shown, make: func(t *testing.T, r string) string { mkdir(t, r+"/b", 0o777); os.Symlink("b", r+"/a"); return r + "/a" }, want: "chmod go-w"},
		"link-leads-below-written": {privacy: Shown, make: func(t *testing.T, r string) string {
			mkdir(t, r+"/open", 0o777)
			mkdir(t, r+"/open/b", 0o700)
			os.Symlink("open/b", r+"/a")
			return r + "/a"
		}, want: "others may write"},
	} {
		t.Run(why, func(t *testing.T) {
			dir := c.make(t, t.TempDir())
			err := Check(dir, me, c.privacy)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v, want trust", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

// stat is a folder of anybody, without needing to be root to make it.
type stat struct {
	mode     fs.FileMode
	uid, gid uint32
}

func (s stat) Name() string       { return "x" }
func (s stat) Size() int64        { return 0 }
func (s stat) Mode() fs.FileMode  { return s.mode | fs.ModeDir }
func (s stat) ModTime() time.Time { return time.Time{} }
func (s stat) IsDir() bool        { return true }
func (s stat) Sys() any           { return &syscall.Stat_t{Uid: s.uid, Gid: s.gid} }

func TestOwners(t *testing.T) {
	for why, c := range map[string]struct {
		check func() error
		fine  bool
	}{
		"mine":                 {func() error { return folder("/x", stat{0o700, 7, 7}, 7, Private) }, true},
		"another's":            {func() error { return folder("/x", stat{0o700, 8, 7}, 7, Private) }, false},
		"root's-is-not-mine":   {func() error { return folder("/x", stat{0o700, 0, 0}, 7, Private) }, false},
		"config-of-root":       {func() error { return folder("/x", stat{0o755, 0, 0}, 7, Shown) }, true},
		"config-of-another":    {func() error { return folder("/x", stat{0o755, 8, 8}, 7, Shown) }, false},
		"config-of-my-group":   {func() error { return folder("/x", stat{0o775, 7, 7}, 7, Shown) }, true},
		"config-of-a-group":    {func() error { return folder("/x", stat{0o775, 7, 100}, 7, Shown) }, false},
		"above-mine":           {func() error { return above("/x", stat{0o755, 7, 7}, 7) }, true},
		"above-root":           {func() error { return above("/x", stat{0o755, 0, 0}, 7) }, true},
		"above-another":        {func() error { return above("/x", stat{0o755, 8, 8}, 7) }, false},
		"above-my-group":       {func() error { return above("/x", stat{0o775, 7, 7}, 7) }, true},
		"above-a-group":        {func() error { return above("/x", stat{0o775, 7, 100}, 7) }, false},
		"above-group-root":     {func() error { return above("/x", stat{0o775, 0, 0}, 7) }, true},
		"sticky-of-another":    {func() error { return above("/x", stat{0o777 | fs.ModeSticky, 8, 8}, 7) }, false},
		"sticky-of-root":       {func() error { return above("/x", stat{0o777 | fs.ModeSticky, 0, 0}, 7) }, true},
		"written-by-all":       {func() error { return above("/x", stat{0o777, 0, 0}, 7) }, false},
		"group-can-write-mine": {func() error { return folder("/x", stat{0o770, 7, 7}, 7, Private) }, false},
	} {
		t.Run(why, func(t *testing.T) {
			err := c.check()
			if (err == nil) != c.fine || err != nil && !errors.Is(err, ErrUntrusted) {
				t.Errorf("got %v, want trust %v", err, c.fine)
			}
		})
	}
}

func TestPrepare(t *testing.T) {
	root := t.TempDir()
	p, err := Of(Env{Home: root, RuntimeDir: filepath.Join(root, "run"), Short: root})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time everything is there
		if err := Prepare(p, os.Getuid()); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{p.Config, p.State, p.Runtime} {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v, %v; want 0700", dir, info.Mode(), err)
		}
	}
	if err := os.Chmod(p.State, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(p, os.Getuid()); !errors.Is(err, ErrUntrusted) {
		t.Errorf("a state folder others can read: got %v, want %v", err, ErrUntrusted)
	}
	if info, _ := os.Stat(p.State); info.Mode().Perm() != 0o755 {
		t.Errorf("mode became %v: what is refused is left as it was", info.Mode())
	}
	if err := Prepare(p, os.Getuid()+1); !errors.Is(err, ErrUntrusted) {
		t.Errorf("folders of another user: got %v, want %v", err, ErrUntrusted)
	}
}

func TestSharedKernel(t *testing.T) {
	root := t.TempDir()
	socket := Shared(root, 7)
	if want := filepath.Join(root, "7", "assent.sock"); socket != want {
		t.Errorf("the socket is %s, want %s", socket, want)
	}
	if uid, ok, err := SharedKernel(socket); uid != 0 || ok || err != nil {
		t.Errorf("nothing was set up: %d %v %v", uid, ok, err)
	}
	if err := os.Chmod(root, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := SharedKernel(socket); ok || !errors.Is(err, ErrUntrusted) {
		t.Errorf("anybody could have made it: %v %v", ok, err)
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		if _, ok, err := SharedKernel(socket); ok || !errors.Is(err, ErrUntrusted) {
			t.Errorf("somebody who is not root made it: %v %v", ok, err)
		}
		t.Log("not root: that root sets one up is not tried")
		return
	}
	if err := MakeShared(socket, 61801, 61802); err != nil {
		t.Fatal(err)
	}
	if uid, ok, err := SharedKernel(socket); uid != 61801 || !ok || err != nil {
		t.Errorf("set up: %d %v %v", uid, ok, err)
	}
	info, err := os.Stat(filepath.Dir(socket))
	if err != nil || info.Mode() != fs.ModeDir|fs.ModeSetgid|0o710 {
		t.Errorf("its folder: %v %v", info.Mode(), err)
	}
	link := Shared(root, 8)
	if err := os.Symlink(t.TempDir(), filepath.Dir(link)); err != nil {
		t.Fatal(err)
	}
	if err := MakeShared(link, 61801, 61802); !errors.Is(err, ErrUntrusted) {
		t.Errorf("a link: %v", err)
	}
	if _, ok, err := SharedKernel(link); ok || !errors.Is(err, ErrUntrusted) {
		t.Errorf("a link: %v %v", ok, err)
	}
}
