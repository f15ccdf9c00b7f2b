package oracle_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"assent/floor/effect"
	"assent/floor/shell/oracle"
)

// limit is how long a script may take: they need milliseconds, the rest is for
// a busy machine.
const limit = 30 * time.Second

// worlds prepares one world for every test that runs at the same time.
func worlds(t *testing.T) chan *oracle.World {
	t.Helper()
	kit, err := oracle.NewKit(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if kit.Missing != "" {
		if os.Getenv("CI") != "" {
			t.Fatal(kit.Missing)
		}
		t.Log(kit.Missing)
	}
	n := runtime.GOMAXPROCS(0)
	pool := make(chan *oracle.World, n)
	for range n {
		w, err := kit.NewWorld(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		pool <- w
	}
	return pool
}

func run(t *testing.T, w *oracle.World, text string) oracle.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	r, err := w.Run(ctx, w.Expand(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFacts pins what the two layers see.
func TestFacts(t *testing.T) {
	pool := worlds(t)
	w := <-pool
	for _, test := range []struct {
		name, script string
		kind         effect.Kind
		path         string // relative to the tree
		args         []string
	}{
		{"run", "alpha 'one two'", effect.Run, "", []string{"alpha", "one two"}},
		{"run-through-wrappers", "env nice alpha x", effect.Run, "", []string{"alpha", "x"}},
		{"run-with-empty-environment", "env -i @WORK@/tools/mytool x", effect.Run, "", []string{"@WORK@/tools/mytool", "x"}},
		{"run-in-background", "(alpha late &) ", effect.Run, "", []string{"alpha", "late"}},
		{"read-by-shell", "read x < a.txt", effect.Read, "work/a.txt", nil},
		{"read-by-program", "cat sub/c.txt", effect.Read, "work/sub/c.txt", nil},
		{"read-through-link", "cat secretlink", effect.Read, "home/.ssh/id_key", nil},
		{"write-by-shell", "cd sub; > x", effect.Write, "work/sub/x", nil},
		{"write-in-place", "sed -i s/a/b/ a.txt", effect.Write, "work/a.txt", nil},
		{"write-folder", "cd sub; mkdir new", effect.Write, "work/sub/new", nil},
		{"delete", "find sub -name c.txt -delete", effect.Delete, "work/sub/c.txt", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := run(t, w, test.script)
			if !r.Traced && test.kind == effect.Read {
				t.Skip("reads are seen by strace only")
			}
			for _, f := range r.Facts {
				if f.Kind != test.kind {
					continue
				}
				if test.args != nil && strings.Join(f.Args, "\x00") == w.Expand(strings.Join(test.args, "\x00")) ||
					test.path != "" && strings.HasSuffix(f.Path, "/tree/"+test.path) {
					return
				}
			}
			t.Errorf("script %q: want %s %s %q among %v", test.script, test.kind, test.path, test.args, r.Facts)
		})
	}
	t.Run("environment", func(t *testing.T) {
		r := run(t, w, "PAGER=x alpha; export TMPDIR=/y; beta")
		if got := strings.Join(r.Env, " "); got != "PAGER=x TMPDIR=/y" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("endless", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := w.Run(ctx, "while :; do :; done"); err == nil {
			t.Error("an endless script gave no error")
		}
	})
	t.Run("next-script-finds-the-tree-whole", func(t *testing.T) {
		run(t, w, "find . -delete")
		if r := run(t, w, "cat a.txt"); r.Output != "alpha\nbeta\ngamma\n" {
			t.Errorf("got %q, %s", r.Output, r.Errors)
		}
	})
}

// Tree tells without a world what the world really holds.
func TestTree(t *testing.T) {
	pool := worlds(t)
	w := <-pool
	base := filepath.Join(w.Root, "tree")
	links, files, folders := oracle.Tree(base)
	want := 0
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || path == base:
			return err
		case d.IsDir() && !slices.Contains(folders, path) && !strings.HasSuffix(path, "/tmp") && !strings.HasSuffix(path, "/empty"):
			t.Errorf("folder %s is not told", path)
		case d.Type().IsRegular() && !slices.Contains(files, path):
			t.Errorf("file %s is not told", path)
		case d.Type()&fs.ModeSymlink != 0:
			want++
			if to, err := filepath.EvalSymlinks(path); err != nil || to != links[path] {
				t.Errorf("link %s: got %s, want %s (%v)", path, links[path], to, err)
			}
		}
		return nil
	})
	if err != nil || want != len(links) {
		t.Errorf("%d links, want %d (%v)", len(links), want, err)
	}
}
