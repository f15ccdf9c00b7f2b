package plexus

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// The tests run this binary again as another process, which dies, hits limits
// or has a size of its own. ASSENT_PLEXUS_CHILD names what it does.
const childVariable = "ASSENT_PLEXUS_CHILD"

var children = map[string]func(path string, out io.Writer) error{
	"open": func(path string, out io.Writer) error {
		s, err := Open(path, Options{})
		if err != nil {
			return err
		}
		defer s.Close()
		fmt.Fprintf(out, "%f\n", resident())
		return nil
	},
}

func TestMain(m *testing.M) {
	name, ok := os.LookupEnv(childVariable)
	if !ok {
		os.Exit(m.Run())
	}
	child, path, _ := strings.Cut(name, " ")
	out := bufio.NewWriter(os.Stdout)
	err := children[child](path, out)
	out.Flush()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is this binary as the child of that name. Its error goes to stderr.
func child(t testing.TB, name, path string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVariable+"="+name+" "+path)
	return cmd
}

func residentOfOpening(t testing.TB, path string) float64 {
	t.Helper()
	out, err := child(t, "open", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	mb, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		t.Fatal(err)
	}
	return mb
}
