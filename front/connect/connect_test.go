package connect

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the goldens anew")

var setting = Setting{Program: "/home/you/bin/assent-hook", Name: "assent-NOTGUESSED"}

// The files: before, with the hook, and after the hook was taken out of it
// though something else was changed.
func TestGoldens(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < len(Clients) {
		t.Fatalf("only %v: %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			client, _, _ := strings.Cut(name, "-")
			c, ok := Find(client)
			if !ok {
				t.Fatalf("%s is no client", client)
			}
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts := make(map[string]string)
			for _, f := range a.Files {
				texts[f.Name] = string(f.Data)
			}
			got, err := c.With(texts["before"], setting)
			if err != nil {
				t.Fatal(err)
			}
			undone, err := c.Without(got)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				a.Files = []txtar.File{{Name: "before", Data: []byte(texts["before"])}, {Name: "connected", Data: []byte(got)}, {Name: "undone", Data: []byte(undone)}}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(texts["connected"], got); d != "" {
				t.Errorf("connected (-want +got):\n%s", d)
			}
			if d := cmp.Diff(texts["undone"], undone); d != "" {
				t.Errorf("undone (-want +got):\n%s", d)
			}
			if again, err := c.With(got, setting); err != nil || again != got {
				t.Errorf("a second time: %v\n%s", err, cmp.Diff(got, again))
			}
			if other, err := c.With(got, Setting{Program: setting.Program, Name: "assent-OTHER"}); err != nil || other != got {
				t.Errorf("a second time with another name: %v\n%s", err, cmp.Diff(got, other))
			}
			// The hook of an older place is replaced, not doubled.
			moved, err := c.With(got, Setting{Program: "/opt/assent-hook", Name: "x"})
			if err != nil || strings.Contains(moved, setting.Program) {
				t.Errorf("moved: %v\n%s", err, moved)
			}
		})
	}
}

// What is taken out leaves what was there, whatever its layout, where something
// of somebody else's is beside it.
func TestLayoutsComeBack(t *testing.T) {
	c, _ := Find("claude")
	for _, text := range []string{
		"{\"a\": 1\n}",
		"{\n\t\"a\": 1, // why\n\t/* b */\n}\n",
		"{\n  \"a\": 1 // why, and {[\"\n  // more\n}",
		"{\r\n  \"a\": \"x\\\"}\"\r\n}\r\n",
		"{\n  \"a\": 1,\n}\n",
		"{\n  \"hooks\": {\n    \"Stop\": []\n  },\n  \"a\": 1\n}\n",
		"{\n  \"hooks\": {\n    \"Stop\": [], // ours\n  }, // c\n  \"a\": 1\n}\n",
		"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]} // mine\n    ]\n  }\n}\n",
	} {
		with, err := c.With(text, setting)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if found, err := c.Hooks(with); err != nil || len(found) != len(c.events) {
			t.Errorf("%q: got %d hooks, %v:\n%s", text, len(found), err, with)
		}
		got, err := c.Without(with)
		if err != nil || got != text {
			t.Errorf("%q: got %q back (%v) from\n%s", text, got, err, with)
		}
	}
}

func TestRefusedTexts(t *testing.T) {
	for why, test := range map[string]struct{ client, text string }{
		"not an object":         {"claude", "[]"},
		"half a text":           {"claude", `{"hooks": {`},
		"two texts":             {"claude", `{} {}`},
		"hooks of another kind": {"claude", `{"hooks": []}`},
		"hooks twice":           {"claude", `{"hooks": {}, "hooks": {}}`},
		"an event twice":        {"codex", `{"hooks": {"PreToolUse": [], "PreToolUse": []}}`},
		"an event no list":      {"gemini", `{"hooks": {"BeforeTool": {}}}`},
		"no comma":              {"gemini", `{"a": 1 "b": 2}`},
		"an endless comment":    {"gemini", `{} /*`},
		"not UTF-8":             {"gemini", "{\"a\": \"\xff\"}"},
		"nested without end":    {"gemini", strings.Repeat("[", 1000)},
		"another's plugin":      {"opencode", "export const X = 1\n"},
	} {
		c, _ := Find(test.client)
		if got, err := c.With(test.text, setting); err == nil {
			t.Errorf("%s: got %q", why, got)
		}
	}
	c, _ := Find("claude")
	for _, program := range []string{"", "assent-hook", "/x\n/assent-hook"} {
		if got, err := c.With("{}", Setting{Program: program}); err == nil {
			t.Errorf("program %q: got %q", program, got)
		}
	}
}

// The units and the deadlines are those of the client.
func TestLimits(t *testing.T) {
	for _, c := range Clients {
		for _, e := range c.events {
			if e.answer >= e.waits {
				t.Errorf("%s %s: the hook answers after %s, and %s waits %s", c.Name, e.name, e.answer, c.Title, e.waits)
			}
		}
	}
	gemini, _ := Find("gemini")
	text, err := gemini.With("", setting)
	if err != nil || !strings.Contains(text, `"timeout": 3600000`) {
		t.Errorf("gemini: %v\n%s", err, text)
	}
	strange, err := gemini.With("", Setting{Program: "/a b/it's/assent-hook", Name: "x"})
	if err != nil || !strings.Contains(strange, `'/a b/it'\\''s/assent-hook' --deadline`) {
		t.Errorf("quoted: %v\n%s", err, strange)
	}
}

func TestFiles(t *testing.T) {
	uid := os.Getuid()
	for _, c := range Clients {
		t.Run(c.Name, func(t *testing.T) {
			dir := t.TempDir()
			file, keep := filepath.Join(dir, "client", "x", "settings"), filepath.Join(dir, "keep")
			do := func(change *Change, err error) {
				t.Helper()
				if err == nil {
					err = change.Apply()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			do(c.Connect(file, keep, uid, setting))
			do(c.Undo(file, keep, uid))
			if _, err := os.Lstat(file); !os.IsNotExist(err) {
				t.Errorf("the file was not there, and is: %v", err)
			}
			if c.plugin {
				return
			}
			odd := "{ \"hooks\" : { } , \"a\":1}"
			if err := os.WriteFile(file, []byte(odd), 0o640); err != nil {
				t.Fatal(err)
			}
			do(c.Connect(file, keep, uid, setting))
			info, err := os.Stat(file)
			if err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			// Of an older place, and again.
			do(c.Connect(file, keep, uid, Setting{Program: "/opt/assent-hook", Name: "y"}))
			do(c.Connect(file, keep, uid, Setting{Program: "/opt/assent-hook", Name: "z"}))
			do(c.Undo(file, keep, uid))
			if got, err := os.ReadFile(file); err != nil || string(got) != odd {
				t.Errorf("got %q back, %v", got, err)
			}
			do(c.Undo(file, keep, uid))

			link := filepath.Join(dir, "link")
			if err := os.Symlink(file, link); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Connect(link, keep, uid, setting); err == nil {
				t.Error("a link was taken")
			}
			if err := os.Link(file, filepath.Join(dir, "second")); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Connect(file, keep, uid, setting); err == nil {
				t.Error("a file with two names was taken")
			}
			if _, err := c.Connect(dir, keep, uid, setting); err == nil {
				t.Error("a folder was taken")
			}
		})
	}
}

func TestAChangeInBetweenIsNotLost(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	c, _ := Find("claude")
	change, err := c.Connect(file, filepath.Join(dir, "keep"), os.Getuid(), setting)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := change.Apply(); err == nil {
		t.Error("what was written in between is gone")
	}
}

func TestTheProgram(t *testing.T) {
	uid := os.Getuid()
	dir := t.TempDir()
	self := filepath.Join(dir, "assent")
	hook := filepath.Join(dir, Program)
	if err := os.WriteFile(self, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := Beside(self, uid); err == nil {
		t.Errorf("there is none, and got %s", got)
	}
	if err := os.WriteFile(hook, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := Beside(self, uid); err != nil || filepath.Base(got) != Program || !filepath.IsAbs(got) {
		t.Errorf("got %s, %v", got, err)
	}
	for _, mode := range []os.FileMode{0o757, 0o644} {
		if err := os.Chmod(hook, mode); err != nil {
			t.Fatal(err)
		}
		if got, err := Beside(self, uid); err == nil {
			t.Errorf("mode %04o: got %s", mode, got)
		}
	}
}

// Ours is what assent writes, of this version or an older one, and nothing that
// somebody made around its program.
func TestOurs(t *testing.T) {
	for _, row := range []struct {
		why, handler string
		want         bool
	}{
		{"without a place", `{"command":"/b/assent-hook --deadline 50s codex"}`, true},
		{"with a place", `{"command":"/b/assent-hook --socket /r/s --config '/a b/c' --state /s --deadline 50s codex"}`, true},
		{"a path with quotes", `{"command":"'/b/it'\\''s/assent-hook' codex"}`, true},
		{"words apart", `{"command":"/b/assent-hook","args":["--deadline","50s","codex"]}`, true},
		{"by hand", `{"command":"/b/assent-hook codex"}`, true},
		{"behind a pipe", `{"command":"tee /tmp/l | /b/assent-hook codex"}`, false},
		{"a wrapper", `{"command":"my-logger /b/assent-hook codex"}`, false},
		{"more behind", `{"command":"/b/assent-hook claude && rm codex"}`, false},
		{"a flag of another", `{"command":"/b/assent-hook --log x codex"}`, false},
		{"no whole path", `{"command":"assent-hook codex"}`, false},
		{"another client", `{"command":"/b/assent-hook claude"}`, false},
		{"an open quote", `{"command":"'/b/assent-hook codex"}`, false},
		{"a substitution", `{"command":"/b/assent-hook --state $(x) codex"}`, false},
	} {
		if got := ours(row.handler, "codex"); got != row.want {
			t.Errorf("%s: got %v", row.why, got)
		}
	}
}

// The place of the kernel stands in the command, and a connection from before it did
// becomes one.
func TestThePlaceStandsInTheCommand(t *testing.T) {
	said := setting
	said.Kernel = Kernel{"/run/user/7/assent/assent.sock", "/home/you/.config/assent", "/home/you/it's/assent"}
	for _, c := range Clients {
		before, err := c.With("", setting)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.With(before, said)
		if err != nil || !strings.Contains(got, "--socket") || !strings.Contains(got, said.Kernel.Socket) || strings.Count(got, Program) != strings.Count(before, Program) {
			t.Errorf("%s: %v\n%s", c.Name, err, got)
		}
		if again, err := c.With(got, said); err != nil || again != got {
			t.Errorf("%s, again: %v\n%s", c.Name, err, again)
		}
		bare, err := c.Without(got)
		if err != nil || strings.Contains(bare, Program) {
			t.Errorf("%s, out: %v\n%s", c.Name, err, bare)
		}
	}
	said.Kernel.State = "state"
	if _, err := Clients[0].With("", said); err == nil {
		t.Error("a relative folder is written")
	}
}

// A hook that would not run is not put in and called a success.
func TestHooksThatAreOff(t *testing.T) {
	for _, row := range []struct {
		client, text string
		off          bool
	}{
		{"claude", `{"disableAllHooks": true}`, true}, {"claude", `{"disableAllHooks": false}`, false}, {"claude", `{"allowManagedHooksOnly": true}`, true},
		{"gemini", `{"hooksConfig": {"enabled": false}}`, true}, {"gemini", `{"hooksConfig": {"enabled": true}}`, false},
		{"gemini", `{"hooksConfig": {"disabled": ["assent-NOTGUESSED"]}}`, true}, {"gemini", `{"hooksConfig": {"disabled": ["other"]}}`, false},
		{"codex", `{"disableAllHooks": true}`, false},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "settings.json")
		if err := os.WriteFile(file, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _ := Find(row.client)
		if _, err := c.Connect(file, filepath.Join(dir, "keep"), os.Getuid(), setting); (err != nil) != row.off {
			t.Errorf("%s %s: %v", row.client, row.text, err)
		}
	}
}
