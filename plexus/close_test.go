package plexus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A document that is closed leaves none of its files open.
func TestCloseLeavesNoFileOpen(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(filepath.Join(dir, "document"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, host, 0, Session{ID: "s"})
	if _, err := s.Sessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("open files are not listed here")
	}
	for _, e := range entries {
		if name, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.HasPrefix(name, dir) {
			t.Error("still open:", name)
		}
	}
}
