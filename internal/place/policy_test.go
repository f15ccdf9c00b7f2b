package place

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDanglingLink(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	os.Symlink(at("none"), at("file"))
	os.Symlink(at("none"), at("folder"))
	os.Mkdir(at("real"), 0o700)
	os.Symlink(at("real"), at("good"))
	for _, row := range []struct{ why, path, want string }{
		{"the file itself", "file", "file"},
		{"a folder it is in", "folder/policy.yaml", "folder"},
		{"a folder further up", "folder/.assent/policy.yaml", "folder"},
		{"nothing of the name", "real/policy.yaml", ""},
		{"behind a link that leads somewhere", "good/policy.yaml", ""},
	} {
		want := row.want
		if want != "" {
			want = at(want)
		}
		if got := DanglingLink(at(row.path)); got != want {
			t.Errorf("%s: %q, want %q", row.why, got, want)
		}
	}
}

func TestReadPolicyReadsFilesOnly(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadPolicy(file); err != nil || text == nil {
		t.Errorf("an empty file: %v, %v; want a text that is empty", text, err)
	}
	if err := os.Truncate(file, MaxPolicy+1); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, dir, os.DevNull, filepath.Join(dir, "none")} {
		if text, err := ReadPolicy(path); err == nil {
			t.Errorf("%s was read: %d bytes", path, len(text))
		}
	}
}
