package paths

import "testing"

func TestAnyName(t *testing.T) {
	for _, tt := range []struct {
		globs, name string
		want        bool
	}{
		{"*.go", "main.go", true},
		{"*.go", "MAIN.GO", true},
		{"*.go", ".x.go", true},
		{"*.go", "main.got", false},
		{"*.ts|*.tsx", "a.tsx", true},
		{"*.ts|*.tsx", "a.js", false},
		{".e??", ".env", true},
		{"?env", ".env", true},
	} {
		if got := AnyName(tt.globs, tt.name); got != tt.want {
			t.Errorf("%s, %s: got %v", tt.globs, tt.name, got)
		}
	}
}

func TestAnyPart(t *testing.T) {
	for _, tt := range []struct {
		globs, path string
		want        bool
	}{
		{"*.go", "/a/main.go", true},
		{".git", "/a/.git/config", true},
		{".git", ".git/config", true},
		{"*.o", "/a/.git/config", false},
		{"a|*.o", "/b/a/c", true},
	} {
		if got := AnyPart(tt.globs, tt.path); got != tt.want {
			t.Errorf("%s, %s: got %v", tt.globs, tt.path, got)
		}
	}
}

func TestExpands(t *testing.T) {
	for _, tt := range []struct {
		why, glob, path string
		tree, want      bool
	}{
		{"name", "/w/*", "/w/a", false, true},
		{"leading-dot", "/w/*", "/w/.env", false, false},
		{"dot-asked-for", "/w/.*", "/w/.env", false, true},
		{"below", "/w/*", "/w/a/b", false, false},
		{"below-a-tree", "/w/*", "/w/a/b", true, true},
		{"below-a-hidden-folder", "/w/*", "/w/.a/b", true, false},
		{"in-a-folder", "/w/s*/x", "/w/src/x", false, true},
		{"other-name", "/w/s*/x", "/w/src/y", false, false},
		{"above", "/w/*/x", "/w/a", false, true},
		{"any-depth", "/w/**/x", "/w/a/b/x", false, true},
		{"escaped", `/w\*/*`, "/w*/a", false, true},
	} {
		if got := Expands(tt.glob, tt.path, tt.tree); got != tt.want {
			t.Errorf("%s: %s, %s: got %v", tt.why, tt.glob, tt.path, got)
		}
	}
}
