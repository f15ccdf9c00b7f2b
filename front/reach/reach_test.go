package reach

import "testing"

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
