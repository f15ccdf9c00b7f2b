package shell

import "testing"

// Programs from the places of the system are known by their name.
func TestProgramNames(t *testing.T) {
	for _, c := range []struct {
		name, base string
		foreign    bool
	}{
		{"ls", "ls", false}, {"/bin/ls", "ls", false}, {"/usr/local/bin/x", "x", false}, {"/usr//bin/./ls", "ls", false},
		{"./ls", "./ls", true}, {"a/ls", "a/ls", true}, {"/tmp/ls", "/tmp/ls", true}, {"/usr/local/bin/../x", "/usr/local/bin/../x", true},
		{"/usr/bin/a/ls", "/usr/bin/a/ls", true}, {"/usr/bin", "/usr/bin", true}, {"/usr/binx/ls", "/usr/binx/ls", true}, {"", "", false},
	} {
		if base, foreign := program(c.name); base != c.base || foreign != c.foreign {
			t.Errorf("program(%q) = %q, %v", c.name, base, foreign)
		}
	}
}

func TestWordsThatMayBePaths(t *testing.T) {
	for word, want := range map[string]bool{"./x": true, "/x": true, "a/b": true, "~": true, ".env": true, "x": false, "-x": false, "--a/b": false, "": false} {
		if got := pathLike(word); got != want {
			t.Errorf("pathLike(%q) = %v", word, got)
		}
	}
}
