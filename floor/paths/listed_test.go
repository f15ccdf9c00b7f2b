package paths

import "testing"

func TestListed(t *testing.T) {
	f := Facts{Folders: map[string]int{"/w": 2, "/w/deep": Whole, "/": 1}}
	tests := []struct {
		why, dir string
		levels   int
		want     bool
	}{
		{"as deep as it was looked at", "/w", 2, true},
		{"deeper", "/w", 3, false},
		{"a folder of it", "/w/a", 1, true},
		{"below that", "/w/a", 2, false},
		{"all of a folder of which some is known", "/w", Whole, false},
		{"all", "/w/deep", Whole, true},
		{"all of a folder of it", "/w/deep/a/b", Whole, true},
		{"some of a folder of it", "/w/deep/a/b", 7, true},
		{"a name that begins alike", "/w/deeper", Whole, false},
		{"the top", "/", 1, true},
		{"elsewhere", "/x", 1, false},
		{"nowhere", "", 1, false},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			if got := f.Listed(test.dir, test.levels); got != test.want {
				t.Errorf("Listed(%q, %d): got %v, want %v", test.dir, test.levels, got, test.want)
			}
		})
	}
	if (&Facts{}).Listed("/w", 0) {
		t.Error("where nothing was looked at something is listed")
	}
}

func TestGlobFolder(t *testing.T) {
	tests := []struct {
		glob, dir string
		levels    int
	}{
		{"/w/*", "/w", 1},
		{"/w/a/s*/x", "/w/a", 2},
		{"/*", "/", 1},
		{`/w/a\*/b?`, "/w/a*", 1},
		{"/w/x", "/w/x", 0},
	}
	for _, test := range tests {
		if dir, levels := GlobFolder(test.glob); dir != test.dir || levels != test.levels {
			t.Errorf("GlobFolder(%q): got %q, %d, want %q, %d", test.glob, dir, levels, test.dir, test.levels)
		}
	}
}

func TestUnfold(t *testing.T) {
	tests := []struct{ glob, want string }{
		{"/w/*", "/w/*"},
		{"/w/s*/main.go", "/w/\u2400/main.go"},
		{"/w/*/?/*.key", "/w/\u2400/\u2400/*.key"},
		{`/w/a\*/x`, `/w/a\*/x`},
		{"/w//s*/x/", "/w/\u2400/x"},
	}
	for _, test := range tests {
		if got := Unfold(test.glob); got != test.want {
			t.Errorf("Unfold(%q): got %q, want %q", test.glob, got, test.want)
		}
	}
}
