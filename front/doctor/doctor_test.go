package doctor_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"assent/front/connect"
	"assent/front/doctor"
)

// bin is a folder with both programs in it.
var bin = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "doctor-test-")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", dir+"/", "./cmd/assent", "./cmd/assent-hook")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("go build: %w: %s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := bin(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// desk is a home with a project in it.
type desk struct {
	testing.TB
	dir, home, project string
	version            string // what the client's program says
	kernel             connect.Kernel
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{TB: t, dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "home/project")}
	d.write(filepath.Join(d.project, ".git/HEAD"), "ref: refs/heads/main\n")
	return d
}

func (d *desk) write(file, text string) {
	d.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) env(name string) string {
	switch name {
	case "HOME":
		return d.home
	case "SHELL":
		return "/bin/sh"
	}
	return ""
}

func client(t testing.TB, name string) connect.Client {
	t.Helper()
	c, ok := connect.Find(name)
	if !ok {
		t.Fatal(name)
	}
	return c
}

// connect is what assent connect writes, with a hook at that place.
func (d *desk) connect(name, hook string) (file, text string) {
	d.Helper()
	c := client(d, name)
	file = c.Personal(d.env)
	text, err := c.With("", connect.Setting{Program: hook, Name: "assent-TEST", Kernel: d.kernel})
	if err != nil {
		d.Fatal(err)
	}
	d.write(file, text)
	return file, text
}

func (d *desk) examine(name string, still bool) *doctor.Report {
	d.Helper()
	self, err := bin()
	if err != nil {
		d.Fatal(err)
	}
	r, err := doctor.Examine(d.Context(), client(d, name), doctor.Options{
		Getenv: d.env, Environ: []string{"HOME=" + d.home, "PATH=" + os.Getenv("PATH"), "SHELL=/bin/sh", "TMPDIR=" + d.dir, "LC_ALL=C"},
		UID: os.Getuid(), Workspace: d.project, Self: filepath.Join(self, "assent"), System: filepath.Join(d.dir, "system"), Still: still,
		LookPath: func(string) string {
			if d.version == "" {
				return ""
			}
			file := filepath.Join(d.dir, "client")
			if err := os.WriteFile(file, []byte("#!/bin/sh\necho '"+d.version+"'\n"), 0o700); err != nil {
				d.Fatal(err)
			}
			return file
		},
	})
	if err != nil {
		d.Fatal(err)
	}
	return r
}

func told(r *doctor.Report) string {
	var b strings.Builder
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "%s: %s: %s [%s]\n", c.Result, c.Name, c.What, c.Do)
	}
	return b.String()
}

func (d *desk) hook() string {
	d.Helper()
	dir, err := bin()
	if err != nil {
		d.Fatal(err)
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		d.Fatal(err)
	}
	return filepath.Join(dir, connect.Program)
}

func TestWhatIsWrongIsFound(t *testing.T) {
	replaced := func(old, with string) func(*desk, string, string) {
		return func(d *desk, file, text string) {
			if !strings.Contains(text, old) {
				d.Fatalf("%q is not in %s", old, text)
			}
			d.write(file, strings.ReplaceAll(text, old, with))
		}
	}
	beside := func(name, text string) func(*desk, string, string) {
		return func(d *desk, _, _ string) { d.write(filepath.Join(d.dir, name), text) }
	}
	for _, row := range []struct {
		why, client string
		change      func(d *desk, file, text string)
		want        string // a line begins so; "" for no hole
	}{
		{"as it was written", "claude", nil, ""},
		{"not connected", "claude", func(d *desk, file, _ string) { os.Remove(file) }, "hole: hook: assent is not asked"},
		{"a file that cannot be read", "claude", replaced(`"hooks"`, `"hooks`), "hole: configuration: "},
		{"another event", "claude", replaced("PreToolUse", "Stop"), "hole: hook: "},
		{"no guard of its settings", "claude", replaced("ConfigChange", "Stop"), "hole: hook: "},
		{"some tools alone", "claude", replaced(`"matcher": "*"`, `"matcher": "Bash"`), `hole: hook: at PreToolUse it is asked about "Bash" alone`},
		{"a failure that does not block", "claude", replaced(`"onFailure": "block"`, `"onFailure": "allow"`), "hole: failure: a hook that cannot start"},
		{"nobody waits", "claude", replaced(`"onFailure": "block"`, `"onFailure": "block", "async": true`), "hole: failure: it is asked, and nobody waits"},
		{"a limit that is over first", "claude", replaced(`"timeout": 3600`, `"timeout": 60`), "hole: time limit: at PreToolUse the client waits 1m0s, and the hook answers after 59m30s"},
		{"a limit that no timer holds", "claude", replaced(`"timeout": 3600`, `"timeout": 2147484`), "hole: time limit: at PreToolUse the limit"},
		{"no limit", "claude", replaced(`"timeout": 3600`, `"timeout": 0`), "hole: time limit: at PreToolUse the client waits 10m0s (the client's own)"},
		{"hooks off in the project", "claude", beside("home/project/.claude/settings.local.json", `{"disableAllHooks": true}`), "hole: switch: "},
		{"hooks off by a text", "claude", beside("home/project/.claude/settings.json", `{"disableAllHooks": "yes"} // x`), "hole: switch: "},
		{"hooks on", "claude", beside("home/project/.claude/settings.json", `{"disableAllHooks": false}`), ""},
		{"the machine's hooks alone", "claude", beside("system/etc/claude-code/managed-settings.json", `{"allowManagedHooksOnly": true}`), "hole: switch: "},
		{"a program that is not there", "claude", replaced("/assent-hook", "/no/assent-hook"), "hole: program: "},
		{"a program by its name", "codex", func(d *desk, file, text string) {
			d.write(file, strings.ReplaceAll(text, filepath.Dir(d.hook())+"/", ""))
		}, "hole: hook: assent is not asked"},
		{"no trust", "codex", nil, "hole: trust: the hook at PreToolUse is not trusted"},
		{"hooks off", "codex", beside("home/.codex/config.toml", "[features]\nhooks = false\n"), "hole: switch: "},
		{"a trust that cannot be read", "codex", beside("home/.codex/config.toml", "[features"), "hole: trust: "},
		{"trust of another", "codex", func(d *desk, file, _ string) {
			d.write(filepath.Join(d.home, ".codex/config.toml"), fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = \"sha256:00\"\n", file+":pre_tool_use:0:0"))
		}, "hole: trust: the hook at PreToolUse is another one"},
		{"as it was written", "gemini", nil, ""},
		{"seconds for milliseconds", "gemini", replaced(`"timeout": 3600000`, `"timeout": 3600`), "hole: time limit: at BeforeTool the client waits 3.6s, and the hook answers after 59m30s"},
		{"much too short", "gemini", replaced(`"timeout": 3600000`, `"timeout": 60`), "hole: time limit: at BeforeTool the client waits 60ms, and then the tool runs: its unit is milliseconds"},
		{"hooks off", "gemini", beside("home/project/.gemini/settings.json", `{"hooksConfig": {"enabled": false}}`), "hole: switch: "},
		{"this hook off", "gemini", beside("home/project/.gemini/settings.json", `{"hooksConfig": {"disabled": ["assent-TEST"]}}`), "hole: switch: "},
		{"another hook off", "gemini", beside("home/project/.gemini/settings.json", `{"hooksConfig": {"disabled": ["lint"]}}`), ""},
		{"no name", "gemini", replaced(`"name": "assent-TEST"`, `"name": ""`), "hole: switch: the hook at BeforeTool has no name"},
		{"as it was written", "opencode", nil, ""},
		{"another plugin", "opencode", func(d *desk, file, _ string) { d.write(file, "export const X = 1\n") }, "hole: hook: "},
		{"a plugin that was changed", "opencode", func(d *desk, file, text string) { d.write(file, text+"throw 1\n") }, "hole: hook: "},
	} {
		t.Run(row.client+" "+row.why, func(t *testing.T) {
			d := newDesk(t)
			file, text := d.connect(row.client, d.hook())
			if row.change != nil {
				row.change(d, file, text)
			}
			r := d.examine(row.client, true)
			got := told(r)
			if row.want == "" && r.Holes() > 0 || !strings.Contains("\n"+got, "\n"+row.want) {
				t.Errorf("want %q\n%s", row.want, got)
			}
			for _, c := range r.Checks {
				if c.Result == doctor.Hole && c.Do == "" {
					t.Errorf("nothing is to be done about: %s", c.What)
				}
			}
		})
	}
}

func TestTheClientsVersionCounts(t *testing.T) {
	for version, want := range map[string]string{
		"":                      "unknown: failure: ",
		"2.1.197 (Claude Code)": "limit: failure: ",
		"2.1.300 (Claude Code)": "ok: failure: ",
	} {
		d := newDesk(t)
		d.version = version
		d.connect("claude", d.hook())
		if got := told(d.examine("claude", true)); !strings.Contains("\n"+got, "\n"+want) {
			t.Errorf("%q: want %s\n%s", version, want, got)
		}
	}
}

// The real hook, its real kernel, each client.
func TestTheHookIsDriven(t *testing.T) {
	for _, c := range connect.Clients {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			// Nothing there is touched: it is the person's own.
			own := filepath.Join(d.dir, "own's")
			d.kernel = connect.Kernel{Socket: own + "/run/assent.sock", Config: own + "/config", State: own + "/state"}
			if c.Name == "claude" {
				d.version = "2.1.300"
			}
			d.connect(c.Name, d.hook())
			r := d.examine(c.Name, false)
			got := told(r)
			killed := map[string]string{"claude": "ok: it is killed: refused", "opencode": "ok: it is killed: refused"}[c.Name]
			if killed == "" {
				killed = "limit: it is killed: ran"
			}
			for _, want := range []string{
				"ok: must be refused: refused: exit code 2", "ok: its own settings: refused", "ok: must go through: ran", "ok: nobody answers: refused", "ok: it crashes: refused: exit code 2",
				killed, "ok: no kernel: refused: exit code 2", "ok: a bad message: refused: exit code 2",
			} {
				if !strings.Contains("\n"+got, "\n"+want) {
					t.Errorf("want %q\n%s", want, got)
				}
			}
			if _, err := os.Stat(r.Scratch); r.Scratch == "" || !os.IsNotExist(err) {
				t.Errorf("the scratch folder %q is there still: %v", r.Scratch, err)
			}
			if _, err := os.Lstat(own); !os.IsNotExist(err) {
				t.Errorf("the person's own kernel was asked: %v", err)
			}
			for _, place := range []string{".config/assent", ".local"} {
				if _, err := os.Stat(filepath.Join(d.home, place)); !os.IsNotExist(err) {
					t.Errorf("something of the person's was touched: %s: %v", place, err)
				}
			}
		})
	}
}

// A hook that refuses nothing, or fails, is found out by driving it.
func TestAHookThatLetsThroughIsFoundOut(t *testing.T) {
	for _, row := range []struct{ why, client, script, want string }{
		{"silence", "claude", "exit 0", "hole: must be refused: ran: exit code 0"},
		{"a failure", "codex", "echo no >&2; exit 1", "hole: must be refused: ran: exit code 1: no"},
		{"no reason", "codex", "exit 2", "hole: must be refused: ran: exit code 2"},
		{"another client's form", "gemini", `echo '{"permissionDecision":"deny"}'`, "hole: must be refused: ran: exit code 0"},
		{"an answer that never comes", "opencode", `echo '{"decision":"allow"}'`, "hole: must be refused: ran: exit code 0"},
	} {
		t.Run(row.client+" "+row.why, func(t *testing.T) {
			d := newDesk(t)
			hook := filepath.Join(d.dir, connect.Program)
			if err := os.WriteFile(hook, []byte("#!/bin/sh\n"+row.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			d.connect(row.client, hook)
			got := told(d.examine(row.client, false))
			for _, want := range []string{row.want, "hole: program: ", "unknown: live: "} {
				if !strings.Contains("\n"+got, "\n"+want) {
					t.Errorf("want %q\n%s", want, got)
				}
			}
		})
	}
}
