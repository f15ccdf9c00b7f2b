//go:build unix

package place

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// What stands at a name may be exchanged for a pipe between any two looks: nothing
// waits for its other end, and nothing of it is read.
func TestAPipeInThePlaceOfAFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("text"), []byte("fine"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var turning sync.WaitGroup
	turning.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			// Either the pipe or the file comes to stand at the name.
			_ = syscall.Mkfifo(at("pipe"), 0o600)
			_ = os.Rename(at("pipe"), at("name"))
			_ = os.Link(at("text"), at("copy"))
			_ = os.Rename(at("copy"), at("name"))
			_ = os.Remove(at("copy"))
		}
	})
	read := 0
	for range 3000 {
		text, _, err := Read(at("name"), 100, "text")
		switch {
		case err == nil && string(text) == "fine":
			read++
		case err == nil:
			t.Fatalf("%q was read", text)
		case !errors.Is(err, ErrIrregular) && !errors.Is(err, os.ErrNotExist):
			t.Fatal(err)
		}
	}
	close(stop)
	turning.Wait()
	t.Logf("the file was read %d times", read)
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for _, row := range []struct {
		why  string
		make func(path string) error
		want string // in the error
	}{
		{"a file", func(p string) error { return os.WriteFile(p, []byte("12345"), 0o600) }, ""},
		{"an empty file", func(p string) error { return os.WriteFile(p, nil, 0o600) }, ""},
		{"a file too long", func(p string) error { return os.WriteFile(p, []byte("123456"), 0o600) }, "has 6 bytes: that is no text"},
		{"a folder", func(p string) error { return os.Mkdir(p, 0o700) }, "is not a regular file"},
		{"a pipe", func(p string) error { return syscall.Mkfifo(p, 0o600) }, "is not a regular file"},
		{"a link to a device", func(p string) error { return os.Symlink("/dev/zero", p) }, "is not a regular file"},
		{"nothing", func(string) error { return nil }, "no such file"},
	} {
		t.Run(row.why, func(t *testing.T) {
			path := filepath.Join(dir, strings.ReplaceAll(row.why, " ", "-"))
			if err := row.make(path); err != nil {
				t.Fatal(err)
			}
			text, _, err := Read(path, 5, "text")
			switch {
			case row.want == "" && (err != nil || text == nil):
				t.Errorf("got %q, %v", text, err)
			case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
				t.Errorf("got %q, %v, want %q", text, err, row.want)
			}
		})
	}
}
