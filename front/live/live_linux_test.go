package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// programs is the variable that names the folder of the clients' programs.
const programs = "ASSENT_TEST_CLIENTS"

// installed is a program in that folder.
func installed(t *testing.T, path string) string {
	t.Helper()
	dir := os.Getenv(programs)
	if dir == "" {
		t.Skip(programs + " is not set: make test-clients installs the clients and runs this")
	}
	program := filepath.Join(dir, "node_modules", filepath.FromSlash(path))
	if _, err := os.Stat(program); err != nil {
		t.Skipf("this client is not installed: %v", err)
	}
	return program
}

// policy is what the person of the tests has written.
const policy = `version: 1
scanner: off
run:
  allow: [touch allowed*]
  block: [{match: touch never*, message: Not on this machine.}]
write:
  allow: [./allowed*]
mcp:
  allow: [desk/mark]
  block: [desk/wipe]
`

// desk is a person's machine: a home, a project, assent in a folder of programs.
type desk struct {
	home, project, bin string
	env                []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	dir, err := os.MkdirTemp("", "live") // short: sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			os.RemoveAll(dir)
		} else {
			t.Logf("it is all in %s", dir)
		}
	})
	d := &desk{home: filepath.Join(dir, "home"), project: filepath.Join(dir, "home", "project"), bin: filepath.Join(dir, "bin")}
	d.env = []string{
		"HOME=" + d.home, "PATH=" + os.Getenv("PATH"), "SHELL=/bin/sh", "TERM=xterm", "LC_ALL=C.UTF-8", "TMPDIR=" + dir,
	}
	d.write(t, filepath.Join(d.project, ".git", "HEAD"), "ref: refs/heads/main\n")
	d.write(t, filepath.Join(d.project, ".git", "config"), "[core]\n\tbare = false\n")
	for _, name := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(d.project, ".git", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.write(t, filepath.Join(d.home, ".config", "assent", "policy.yaml"), policy)
	build := exec.Command("go", "build", "-o", d.bin+"/", "./cmd/assent", "./cmd/assent-hook")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	t.Cleanup(func() { d.assent(t, "down") })
	return d
}

func (d *desk) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// assent runs a command as the person, in a window of theirs.
func (d *desk) assent(t *testing.T, args ...string) string {
	t.Helper()
	w := inWindow(t, d.project, d.env, append([]string{filepath.Join(d.bin, "assent")}, args...)...)
	w.wait(t)
	return w.all()
}

// connect puts the hook into the configuration of a client.
func (d *desk) connect(t *testing.T, client string, more ...string) {
	t.Helper()
	if said := d.assent(t, append([]string{"connect", client}, more...)...); !strings.Contains(said, " is new:") && !strings.Contains(said, " is changed:") {
		t.Fatalf("assent connect %s: %s", client, said)
	}
}

// ran says whether a call ran: each makes a file.
func (d *desk) ran(t *testing.T, file string) bool {
	t.Helper()
	_, err := os.Lstat(filepath.Join(d.project, file))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return err == nil
}

// kill kills the kernel, and returns when it is dead.
func (d *desk) kill(t *testing.T) {
	t.Helper()
	var status struct {
		Kernel struct {
			PID int `json:"pid"`
		} `json:"kernel"`
	}
	said := d.assent(t, "status", "--json")
	if err := json.Unmarshal([]byte(said), &status); err != nil || status.Kernel.PID <= 1 {
		t.Fatalf("assent status --json: %v\n%s", err, said)
	}
	fd, err := unix.PidfdOpen(status.Kernel.PID, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
		t.Fatal(err)
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(longest.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n != 1 {
			t.Fatalf("the kernel does not die: %v", err)
		}
		return
	}
}

// watching is a person who looks at what waits.
type watching struct {
	*window
	from int
}

// asked waits for the next call that waits for the person.
func (w *watching) asked(t *testing.T) string {
	t.Helper()
	var e struct {
		Event  string `json:"event"`
		Number int64  `json:"number"`
	}
	w.line(t, &w.from, func(line string) bool {
		e.Event = ""
		return json.Unmarshal([]byte(line), &e) == nil && e.Event == "asked"
	})
	return strconv.FormatInt(e.Number, 10)
}

// play is the one conversation that every client must get right. The model asks
// for one call after the other, and each makes a file if it runs.
func play(t *testing.T, d *desk, m *model, client *window) {
	t.Helper()
	expect := func(why, file string, ran bool, request string, told ...string) {
		t.Helper()
		if got := d.ran(t, file); got != ran {
			t.Errorf("%s: ran is %v, want %v\nthe client says\n%s", why, got, ran, client.all())
		}
		for _, text := range told {
			if !strings.Contains(request, text) {
				t.Errorf("%s: the model is not told %q:\n%s", why, text, request)
			}
		}
	}
	m.next(t, client)

	m.shell("touch never-by-policy") // no kernel runs yet: the hook starts one
	expect("the floor blocks it", "never-by-policy", false, m.next(t, client), "Policy prohibits this tool use", "Not on this machine")

	m.shell("touch allowed-by-policy")
	expect("the floor allows it", "allowed-by-policy", true, m.next(t, client))

	look := &watching{window: inWindow(t, d.project, d.env, filepath.Join(d.bin, "assent"), "watch")}
	m.shell("touch refused-by-person")
	number := look.asked(t)
	expect("it waits", "refused-by-person", false, "")
	if said := d.assent(t, "deny", number, "--comment", "rather in another folder"); !strings.Contains(said, "denied") {
		t.Fatalf("assent deny: %s", said)
	}
	expect("the person says no", "refused-by-person", false, m.next(t, client), "User refused this tool use", "rather in another folder")

	m.shell("touch held-for-person")
	number = look.asked(t)
	expect("it waits", "held-for-person", false, "")
	if said := d.assent(t, "allow", number, "--whole"); !strings.Contains(said, "allowed") {
		t.Fatalf("assent allow: %s", said)
	}
	expect("the person says yes", "held-for-person", true, m.next(t, client))

	look.end(t) // it would start a kernel too
	d.kill(t)
	m.shell("touch allowed-by-the-next")
	expect("the kernel was killed, and the hook starts another", "allowed-by-the-next", true, m.next(t, client))

	d.kill(t)
	program := filepath.Join(d.bin, "assent")
	if err := os.Rename(program, program+".away"); err != nil {
		t.Fatal(err)
	}
	m.shell("touch allowed-by-nobody")
	expect("no kernel runs and none can be started", "allowed-by-nobody", false, m.next(t, client), "the kernel does not run and cannot be started")
	if err := os.Rename(program+".away", program); err != nil {
		t.Fatal(err)
	}

	m.end()
	if status := client.wait(t); status != 0 {
		t.Errorf("the client ends with %d; it says\n%s", status, client.all())
	}
	if d.ran(t, "never-by-policy") || d.ran(t, "refused-by-person") || d.ran(t, "allowed-by-nobody") {
		t.Error("a call that was refused ran in the end")
	}
}
