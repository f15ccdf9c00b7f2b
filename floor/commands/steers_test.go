package commands

import "testing"

// The names of obeyed files: of a file anywhere, the end of a path, a folder.
func TestSteers(t *testing.T) {
	know, err := Parse("x.yaml", []byte("x:\n  class: build\n  obeys: x.ini x*.conf.? sub/x.toml .x/\n  commands:\n    y: {class: build}\n    z: {class: build, obeys: none}\n    w: {class: build, obeys: w.ini}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, sub string
		want      bool
	}{
		{"/p/x.ini", "", true},
		{"x.ini", "", true},
		{"/p/a/b/X.INI", "", true},
		{"/p/x.ini/a", "", false},
		{"/p/ax.ini", "", false},
		{"/p/xyz.conf.a", "", true},
		{"/p/xyz.conf.ab", "", false},
		{"/p/sub/x.toml", "", true},
		{"sub/x.toml", "", true},
		{"/p/x.toml", "", false},
		{"x.toml", "", false},
		{"/p/.x/a/b", "", true},
		{"/p/.x", "", false},
		{"", "", false},
		{"/", "", false},
		{"/p/x.ini", "y", true},
		{"/p/x.ini", "z", false},
		{"/p/x.ini", "w", false},
		{"/p/w.ini", "w", true},
	} {
		e := know.Lookup("x")
		if c.sub != "" {
			e = e.sub(c.sub)
		}
		if got := e.Steers(c.file); got != c.want {
			t.Errorf("%q of %q: %v", c.file, c.sub, got)
		}
	}
}

// A folder is where obeyed files are when their names say so.
func TestSteersWithin(t *testing.T) {
	know, err := Parse("x.yaml", []byte("x: {class: build, obeys: x.ini sub/x.toml .x/ a/b/}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]bool{"/p/sub": true, "/p/SUB": true, "/p/.x": true, "/p/a/b": true, "/p/a": true, "/p/b": false, "/p/x.ini": false, "/p": false, "/p/sub/y": false, "": false} {
		if got := know.Lookup("x").SteersWithin(folder); got != want {
			t.Errorf("%q: %v", folder, got)
		}
	}
}
