package reach

import (
	"path/filepath"
	"testing"
)

func TestHomeIn(t *testing.T) {
	const passwd = "root:x:0:0:root:/root:/bin/sh\n# old:x:7:7::/home/old:/bin/sh\nada:x:7:7:Ada:/home/ada:/bin/sh\nagain:x:7:7::/home/again:/bin/sh\nshort:x:8:8:/home/short\nlast:x:9:9::/home/last:"
	for why, c := range map[string]struct {
		uid  int
		want string
	}{
		"root": {0, "/root"}, "the first of two": {7, "/home/ada"}, "a broken line": {8, ""}, "no newline at the end": {9, "/home/last"}, "nobody": {70, ""},
	} {
		if got := homeIn(passwd, c.uid); got != c.want {
			t.Errorf("%s: got %q, want %q", why, got, c.want)
		}
	}
}

// What a client sets in the environment of its hook leads to no other kernel.
func TestTheEnvironmentChoosesNoKernel(t *testing.T) {
	person, other := t.TempDir(), t.TempDir()
	database := func() string { return person }
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", person)
	own, starts, err := Own(database)
	if err != nil || !starts || own.State != filepath.Join(person, ".local/state/assent") {
		t.Fatalf("got %+v, %v, %v", own, starts, err)
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, other)
			at, starts, err := At(own.Socket, own.Config, own.State, database)
			if err != nil || starts || at.Place != own.Place {
				t.Errorf("said: got %+v, %v, %v", at, starts, err)
			}
			if name == "HOME" {
				if at, starts, err := Own(database); err != nil || starts || at.Place != own.Place {
					t.Errorf("not said: got %+v, %v, %v", at, starts, err)
				}
			}
		})
	}
	if at, starts, err := At(own.Socket, own.Config, own.State, database); err != nil || !starts || at != own {
		t.Errorf("here: got %+v, %v, %v", at, starts, err)
	}
	if _, _, err := At("assent.sock", own.Config, own.State, database); err == nil {
		t.Error("a relative path is taken")
	}
}
