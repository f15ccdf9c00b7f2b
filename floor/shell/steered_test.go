package shell

import (
	"fmt"
	"strings"
	"testing"

	"assent/floor/commands"
	"assent/floor/effect"
)

// Looking for what steers which command is work like any other, and has an end.
func TestSteeredEnds(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, ">w%d;", i)
	}
	for i := range 300 {
		fmt.Fprintf(&b, "cd d%d;make;npm t;", i)
	}
	effects := Effects(b.String(), testPlace(), commands.Default())
	for _, e := range effects {
		if e.Kind == effect.Opaque && e.Target == "too much to follow" {
			return
		}
	}
	t.Error("it was followed to the end")
}

// The write of a file that is obeyed stands in the text before the command, or
// somewhere in it where the command is run again or beside the rest.
func TestSteeredOrder(t *testing.T) {
	for text, want := range map[string]bool{
		"echo x > conftest.py; pytest":                            true,
		"pytest; echo x > conftest.py":                            false,
		"pytest; echo x > conftest.py; pytest":                    true,
		"pytest > conftest.py":                                    true,
		"pytest | tee conftest.py":                                true,
		"until false; do pytest; echo x > conftest.py; done":      true,
		"f() { pytest; echo x > conftest.py; }; f":                true,
		"coproc pytest; echo x > conftest.py":                     true,
		"for i in 1 2; do bash -c pytest; cp a conftest.py; done": true,
		"if pytest; then echo x > conftest.py; fi":                false,
		"pytest || { echo x > conftest.py; pytest; }":             true,
		"trap pytest EXIT; echo x > conftest.py":                  true,
		"x() { echo y > conftest.py; }; x; pytest":                true,
		"x() { echo y > conftest.py; }; pytest":                   false,
	} {
		if got := strings.Contains(tell(text), " obeys "); got != want {
			t.Errorf("%s: %v, want %v\n%s", text, got, want, tell(text))
		}
	}
}
