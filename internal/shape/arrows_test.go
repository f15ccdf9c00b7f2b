package shape

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "assent"
)

// rule is what the sources of a package may do.
type rule struct {
	// imports are the packages of ours it may import.
	imports []string
	// pure: no I/O, no clock, no randomness, no logging.
	pure bool
}

// arrows is the table of ARCHITECTURE.md. An arrow may only point down the
// list there. A package that is not in it fails the test: say where it
// belongs first.
var arrows = map[string]rule{
	"approval":       {pure: true},
	"floor/effect":   {pure: true},
	"floor/paths":    {pure: true, imports: []string{"floor/effect"}},
	"floor/commands": {pure: true, imports: []string{"floor/effect", "floor/paths", "internal/outline"}},
	"floor/shell":    {pure: true, imports: []string{"floor/effect", "floor/paths", "floor/commands"}},
	"floor":          {pure: true, imports: []string{"approval", "floor/effect", "floor/paths", "floor/commands", "floor/shell", "internal/misread", "internal/oneline", "internal/outline", "internal/spell"}},
	"scheme":         {pure: true},
	"remainder":      {pure: true, imports: []string{"approval", "scheme"}},
	"internal/place": {},
	"plexus":         {imports: []string{"approval", "internal/place"}},
	"session":        {pure: true, imports: []string{"approval"}},
	"job":            {imports: []string{"approval", "session"}},
	"toolkit":        {imports: []string{"approval", "job", "internal/offspring"}},
	"model":          {imports: []string{"remainder", "model/scripted"}},
	"model/scripted": {},                                                                                  // only tests run it
	"turn":           {pure: true, imports: []string{"approval", "session", "job", "remainder", "model"}}, // of the last two the values alone
	"tirith":         {imports: []string{"approval", "internal/offspring"}},
	"scan":           {imports: []string{"approval", "floor", "tirith", "internal/place", "internal/peer"}},
	"senses":         {imports: []string{"floor", "floor/effect", "floor/paths", "internal/place"}},
	"kernel":         {imports: []string{"approval", "floor", "floor/effect", "senses", "plexus", "session", "job", "remainder", "internal/place"}},
	// Its tests run the host's own bodies, asked for by a model by a script.
	"agent":              {imports: []string{"approval", "floor", "session", "job", "remainder", "model", "model/scripted", "plexus", "kernel", "turn", "toolkit"}},
	"program":            {imports: []string{"job", "scheme", "approval", "kernel", "plexus", "toolkit"}}, // its tests have a kernel of their own
	"internal/peer":      {},
	"internal/offspring": {imports: []string{"internal/peer"}},
	"internal/config":    {imports: []string{"approval", "model", "internal/misread", "internal/spell", "internal/place"}},

	// The server's tests speak to it as its client does.
	"front/api":        {imports: []string{"approval", "plexus", "job", "kernel", "internal/oneline", "front/api/wire", "front/api/client"}},
	"front/api/client": {imports: []string{"front/api/wire"}},
	"front/api/wire":   {},

	"front/tui":    {imports: []string{"approval", "plexus", "front/api/client", "front/api/wire", "front/card", "front/prompt"}},
	"front/prompt": {pure: true, imports: []string{"approval", "front/api/wire", "front/card", "internal/drawn"}},
	"front/card":   {pure: true, imports: []string{"approval", "front/api/wire", "internal/drawn", "internal/oneline"}},

	"front/notify": {imports: []string{"internal/drawn", "internal/peer"}},
	"front/reach":  {imports: []string{"internal/place"}},
	// The hook's tests have a kernel of their own.
	"front/hook":      {imports: []string{"front/api/wire", "front/api", "front/api/client"}},
	"cmd/assent-hook": {imports: []string{"front/hook", "front/reach"}},
	"front/connect":   {imports: []string{"internal/place"}},
	// Its tests have a kernel of their own.
	"front/gateway": {imports: []string{"internal/offspring", "front/api/client", "front/api/wire", "front/hook", "front/api"}},
	"front/doctor":  {imports: []string{"front/connect", "internal/place"}},
	"front/imports": {imports: []string{"approval", "floor", "floor/effect", "front/connect", "internal/place"}},
	"front/daemon":  {imports: []string{"model", "model/scripted", "agent", "turn", "approval", "floor", "senses", "tirith", "scan", "plexus", "job", "toolkit", "program", "kernel", "internal/place", "internal/config", "internal/peer", "internal/offspring", "front/api", "front/api/client", "front/api/wire"}},
	"front/stage":   {imports: []string{"approval", "plexus", "job", "kernel", "internal/place", "front/daemon", "front/api/client", "front/api/wire"}},
	"front/cli":     {imports: []string{"model", "remainder", "front/reach", "approval", "floor", "floor/effect", "floor/paths", "floor/commands", "senses", "scan", "scheme", "plexus", "internal/drawn", "internal/misread", "internal/oneline", "internal/spell", "internal/place", "internal/config", "internal/peer", "front/daemon", "front/api", "front/api/client", "front/api/wire", "front/card", "front/prompt", "front/tui", "front/stage", "front/notify", "front/connect", "front/doctor", "front/imports", "front/gateway"}},
	"cmd/assent":    {imports: []string{"front/cli"}},

	// Only tests run these.
	"front/live":                  {},
	"floor/shell/oracle":          {imports: []string{"floor/effect", "floor/paths", "floor/commands", "floor/shell"}},
	"floor/shell/oracle/recorder": {},
	"internal/shape":              {},
	"internal/outline":            {pure: true},
	"internal/spell":              {pure: true},
	"internal/misread":            {pure: true},
	"internal/oneline":            {pure: true},
	"internal/drawn":              {pure: true, imports: []string{"internal/oneline"}},
}

// forbidden are the packages that reach out of the process, tell the time or
// roll dice.
var forbidden = []string{"os", "os/exec", "os/signal", "os/user", "net", "net/http", "net/rpc", "net/smtp", "net/textproto", "io/ioutil", "path/filepath",
	"syscall", "unsafe", "plugin", "log", "log/slog", "log/syslog", "math/rand", "math/rand/v2", "crypto/rand", "testing", "runtime/pprof", "runtime/trace"}

// calls are the functions of allowed packages that are forbidden.
var calls = map[string][]string{
	"time":    {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"fmt":     {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"runtime": {"GC", "Gosched"},
}

func TestArrows(t *testing.T) {
	seen := make(map[string]bool)
	for _, file := range sources(t) {
		dir := path.Dir(file)
		seen[dir] = true
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range check(file, text) {
			t.Error(wrong)
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %d packages were found: is this the tree?", len(seen))
	}
}

// The check is shown wrong sources, so that its silence means something.
func TestArrowsFindWhatIsWrong(t *testing.T) {
	tests := []struct{ why, file, text, want string }{
		{"an arrow up", "floor/effect/x.go", `import _ "assent/floor"`, "must not import assent/floor"},
		{"the law knows nothing of ours", "approval/x.go", `import _ "assent/floor/effect"`, "must not import assent/floor/effect"},
		{"a front is imported", "floor/x.go", `import _ "assent/front/cli"`, "must not import assent/front/cli"},
		{"I/O", "floor/paths/x.go", `import "os"; var _ = os.Args`, `is pure and must not import os`},
		{"a clock", "approval/x.go", `import "time"; var _ = time.Now()`, "is pure and must not use time.Now"},
		{"a clock by another name", "approval/x.go", `import t "time"; var _ = t.Now()`, "is pure and must not use time.Now"},
		{"a dot import", "approval/x.go", `import . "time"; var _ = Now()`, "must not dot-import time"},
		{"output", "floor/x.go", `import "fmt"; func f() { fmt.Println() }`, "is pure and must not use fmt.Println"},
		{"a place nobody told of", "utils/x.go", ``, "has no place in the table of arrows"},
		{"fine", "floor/paths/x.go", `import _ "assent/floor/effect"`, ""},
		{"a duration is no clock", "approval/x.go", `import "time"; var _ = time.Second`, ""},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			got := strings.Join(check(test.file, []byte("package x\n"+test.text+"\n")), "\n")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("%s: got %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// check tells what is wrong with one source file. Test files may do I/O and
// look at neighbours, but they too import nothing from a front.
func check(file string, text []byte) (wrong []string) {
	dir := path.Dir(file)
	test := strings.HasSuffix(file, "_test.go")
	say := func(format string, args ...any) {
		wrong = append(wrong, file+": "+dir+" "+fmt.Sprintf(format, args...))
	}
	r, ok := arrows[dir]
	if !ok {
		say("has no place in the table of arrows")
		return wrong
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	named := make(map[string]string)
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return []string{err.Error()}
		}
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		named[name] = imported
		ours, found := strings.CutPrefix(imported, module+"/")
		switch {
		case !found:
		case ours == dir && test: // its own package, from outside
		case test && !strings.HasPrefix(ours, "front/") && !strings.HasPrefix(ours, "cmd/"):
		case !slices.Contains(r.imports, ours):
			say("must not import %s", imported)
		}
		if !r.pure || test {
			continue
		}
		if slices.Contains(forbidden, imported) {
			say("is pure and must not import %s", imported)
		}
		if name == "." {
			say("must not dot-import %s", imported)
		}
	}
	if !r.pure || test {
		return wrong
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(calls[named[x.Name]], s.Sel.Name) {
				say("is pure and must not use %s.%s", named[x.Name], s.Sel.Name)
			}
		}
		return true
	})
	return wrong
}

// TestTheHookIsLean: the program that is started before every call of every
// agent links no UI, no database, no YAML, no library of flags and no HTTP of the
// whole web.
func TestTheHookIsLean(t *testing.T) {
	allowed := []string{"golang.org/x/sys/", "github.com/go-json-experiment/json"}
	// net and os/user bring the C library with them, which takes as long to load as
	// everything else.
	heavy := []string{"net", "os/user", "net/http", "html", "database/sql", "flag", "log/slog", "encoding/json", "text/template", "regexp", "testing", "runtime/pprof"}
	byDir := make(map[string][]string)
	for _, file := range sources(t) {
		byDir[path.Dir(file)] = append(byDir[path.Dir(file)], file)
	}
	seen := make(map[string]bool)
	var visit func(dir string)
	visit = func(dir string) {
		if seen[dir] {
			return
		}
		seen[dir] = true
		for _, file := range byDir[dir] {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range f.Imports {
				imported, _ := strconv.Unquote(spec.Path.Value)
				ours, found := strings.CutPrefix(imported, module+"/")
				switch {
				case found:
					visit(ours)
				case slices.Contains(heavy, imported):
					t.Errorf("%s links %s into the hook", file, imported)
				case strings.Contains(imported, ".") && !slices.ContainsFunc(allowed, func(a string) bool { return strings.HasPrefix(imported, a) }):
					t.Errorf("%s links %s into the hook", file, imported)
				}
			}
		}
	}
	visit("cmd/assent-hook")
	if !seen["front/hook"] || !seen["front/reach"] || !seen["internal/place"] {
		t.Errorf("only %v were looked at", seen)
	}
}

// sources are the Go files of the tree, by their slash path.
func sources(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ".go") {
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
