package floor_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"assent/approval"
	"assent/floor"
)

// surface is one line of a table of command lines, with the reason that its
// group is named for.
type surface struct {
	at              int
	reason, command string
}

// readSurface reads a table: command lines, one a line, in groups that a line
// "# reason" opens.
func readSurface(t *testing.T, name string) []surface {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []surface
	seen := map[string]int{}
	reason := ""
	lines := bufio.NewScanner(f)
	for at := 1; lines.Scan(); at++ {
		line := lines.Text()
		if r, is := strings.CutPrefix(line, "# "); is {
			reason = r
			continue
		}
		if line == "" {
			continue
		}
		if reason == "" {
			t.Errorf("%s:%d: a command line without a reason", name, at)
		}
		if first, twice := seen[line]; twice {
			t.Errorf("%s:%d: %q stands there before, at line %d", name, at, line, first)
		}
		seen[line] = at
		out = append(out, surface{at, reason, line})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(out) < 400 {
		t.Errorf("%s: %d lines, want at least 400", name, len(out))
	}
	return out
}

// shippedAlone judges a command line by the shipped floor, with nothing known
// of the machine.
func shippedAlone(t *testing.T, f *floor.Floor, command string) floor.Verdict {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	return f.Judge(floor.Call{Name: "Bash", Arguments: arguments, Workspace: "/home/user/project", Cwd: "/home/user/project", Home: "/home/user"})
}

// What the shipped floor lets pass in silence (policy §3): looking around, and
// building and testing with the project's own tools. A tired developer is
// asked about none of it.
func TestSilent(t *testing.T) {
	var f floor.Floor
	for _, s := range readSurface(t, "testdata/surface/silent.txt") {
		if v := shippedAlone(t, &f, s.command); v.Result != approval.Allow {
			t.Errorf("silent.txt:%d: %s: %s\n\tgot %v: %s", s.at, s.reason, s.command, v.Result, v.Message)
		}
	}
}

// What is never silent: running code that was just written or fetched, writing
// in the tree beyond build products, changing anything outside of it, reaching
// a network, printing secrets.
func TestLoud(t *testing.T) {
	var f floor.Floor
	for _, s := range readSurface(t, "testdata/surface/loud.txt") {
		if v := shippedAlone(t, &f, s.command); v.Result == approval.Allow {
			t.Errorf("loud.txt:%d: %s: %s\n\tgot allow", s.at, s.reason, s.command)
		}
	}
}
