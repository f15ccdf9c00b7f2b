package cli

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the expected output of scripts anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"assent": func() { os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// The scripts say what the command line does, as a session would.
func TestScripts(t *testing.T) {
	var files []string
	for _, pattern := range []string{"testdata/script/*.txtar", "testdata/*.txtar"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatal("no scripts")
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("TMPDIR", filepath.Join(env.WorkDir, "tmp"))
			env.Setenv("USER", "user")
			for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
				env.Setenv(name, "")
			}
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "xterm")
			env.Defer(func() { endKernel(t, home) })
			return errors.Join(os.MkdirAll(home, 0o755), os.MkdirAll(filepath.Join(env.WorkDir, "tmp"), 0o755))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"beside":  beside,
			"repeat":  repeat,
			"bytes":   rawBytes,
			"rawword": rawWord,

			"longword": longWord,
			"anyhow":   anyhow,
			"answers":  answers,
			"killed":   killed,
			"halted":   halted,
			"goeson":   goesOn,
			"logged":   logged,
		},
		Condition: condition,
	})
}

// exits CODE COMMAND...: the command ends with that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		e, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// anyhow COMMAND...: the command ends, well or not.
func anyhow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: anyhow COMMAND...")
	}
	if err := ts.Exec(args[0], args[1:]...); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			ts.Fatalf("%v", err)
		}
	}
}

// beside: a hook stands beside the program, and the client has settings.
func beside(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: beside")
	}
	self, err := exec.LookPath("assent")
	ts.Check(err)
	hook := filepath.Join(filepath.Dir(self), "assent-hook")
	ts.Check(os.WriteFile(hook, []byte("#!/bin/sh\nexit 2\n"), 0o755))
	ts.Check(os.MkdirAll(ts.MkAbs("home/.claude"), 0o755))
	ts.Check(os.WriteFile(ts.MkAbs("home/.claude/settings.json"), []byte(ts.ReadFile("before.json")), 0o644))
}

// repeat FILE COUNT PREFIX TEXT SUFFIX: writes text many times.
func repeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 5 {
		ts.Fatalf("usage: repeat FILE COUNT PREFIX TEXT SUFFIX")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(args[2]+strings.Repeat(args[3], n)+args[4]), 0o644))
}

// rawword VARIABLE TEXT: sets a variable as bytes does a file.
func rawWord(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: rawword VARIABLE TEXT")
	}
	ts.Setenv(args[0], string(unquoted(ts, args[1])))
}

// longword VARIABLE: sets a variable to a word of 100,000 letters.
func longWord(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: longword VARIABLE")
	}
	ts.Setenv(args[0], strings.Repeat("x", 100_000))
}

// bytes FILE TEXT: writes a Go string literal without its quotes, for bytes
// that a script cannot hold.
func rawBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes FILE TEXT")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), unquoted(ts, args[1]), 0o644))
}

// unquoted are the bytes of a Go string literal without its quotes.
func unquoted(ts *testscript.TestScript, literal string) []byte {
	text, err := strconv.Unquote("`" + literal + "`")
	ts.Check(err)
	var b bytes.Buffer
	for rest := text; rest != ""; {
		r, multi, tail, err := strconv.UnquoteChar(rest, 0)
		ts.Check(err)
		if multi || r >= 0x80 && strings.HasPrefix(rest, `\u`) {
			b.WriteRune(r)
		} else {
			b.WriteByte(byte(r))
		}
		rest = tail
	}
	return b.Bytes()
}
