package shell_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assent/floor/commands"
	"assent/floor/effect"
	"assent/floor/paths"
	"assent/floor/shell"
	"assent/floor/shell/oracle"
)

// TestMain prepares the worlds only when a test asks for them and removes them
// at the end.
func TestMain(m *testing.M) {
	code := m.Run()
	bash.close()
	os.Exit(code)
}

// bash is real bash in as many worlds as tests run at the same time.
var bash realBash

type realBash struct {
	once sync.Once
	dir  string
	kit  *oracle.Kit
	pool chan *oracle.World
	err  error
}

// scriptLimit is how long a script may take: they need milliseconds, the rest
// is for a busy machine.
const scriptLimit = 60 * time.Second

func (b *realBash) open() {
	if b.dir, b.err = os.MkdirTemp("", "oracle"); b.err != nil {
		return
	}
	sub := func(name string) string {
		dir := filepath.Join(b.dir, name)
		if err := os.Mkdir(dir, 0o755); err != nil && b.err == nil {
			b.err = err
		}
		return dir
	}
	if b.kit, b.err = oracle.NewKit(sub("kit")); b.err != nil {
		return
	}
	n := runtime.GOMAXPROCS(0)
	b.pool = make(chan *oracle.World, n)
	for i := range n {
		w, err := b.kit.NewWorld(sub(fmt.Sprint("w", i)))
		if err != nil {
			b.err = err
			return
		}
		b.pool <- w
	}
}

func (b *realBash) close() {
	if b.dir != "" {
		os.RemoveAll(b.dir)
	}
}

// world hands out a world for the time of the test. In CI every layer must be
// there; elsewhere a missing one is told.
func (b *realBash) world(t *testing.T) *oracle.World {
	t.Helper()
	b.once.Do(b.open)
	if b.err != nil {
		t.Fatalf("real bash is not to be had: %v", b.err)
	}
	if b.kit.Missing != "" {
		if os.Getenv("CI") != "" {
			t.Fatal(b.kit.Missing)
		}
		t.Log(b.kit.Missing)
	}
	w := <-b.pool
	t.Cleanup(func() { b.pool <- w })
	return w
}

func run(t *testing.T, w *oracle.World, text string) oracle.Record {
	t.Helper()
	return runBy(t, w, "bash", text)
}

func runBy(t *testing.T, w *oracle.World, sh, text string) oracle.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), scriptLimit)
	defer cancel()
	r, err := w.RunBy(ctx, sh, text)
	if err != nil {
		t.Fatalf("script:\n%s\n%v", text, err)
	}
	return r
}

// places are what the floor may know of a world: only where links lead, or
// which files and folders there are as well. What happens must be told with
// either.
func places(w *oracle.World) []*paths.Place {
	links, files, folders := oracle.Tree(filepath.Join(w.Root, "tree"))
	var all paths.Facts
	all.Links, all.Files, all.Dirs = links, map[string]string{}, map[string]bool{}
	for _, f := range files {
		all.Files[f] = ""
	}
	for _, d := range folders {
		all.Dirs[d] = true
	}
	at := func(f paths.Facts) *paths.Place {
		return &paths.Place{Workspace: w.Work, Cwd: w.Work, Home: w.Home, Vars: map[string]string{"TMPDIR": w.Temp}, Facts: f}
	}
	return []*paths.Place{at(paths.Facts{Links: links}), at(all)}
}

// tally counts how well scripts were told, to tell following from giving up.
type tally struct {
	mu      sync.Mutex
	scripts int
	worst   map[oracle.Cover][]string
}

func (c *tally) add(name string, worst oracle.Cover) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.worst == nil {
		c.worst = map[oracle.Cover][]string{}
	}
	c.scripts++
	c.worst[worst] = append(c.worst[worst], name)
}

// check prints the share of scripts with a fact that only an opaque effect
// covers and fails above the limit, in percent.
func (c *tally) check(t *testing.T, limit int) {
	t.Helper()
	if c.scripts == 0 {
		t.Error("no script was checked")
		return
	}
	opaque := c.worst[oracle.Opaque]
	share := 100 * len(opaque) / c.scripts
	t.Logf("%d scripts: %d told, %d by an unknown path or word, %d only by an opaque effect (%d %%), %d untold",
		c.scripts, len(c.worst[oracle.Told]), len(c.worst[oracle.Loose]), len(opaque), share, len(c.worst[oracle.Untold]))
	if testing.Verbose() {
		slices.Sort(opaque)
		t.Logf("only by an opaque effect:\n%s", strings.Join(opaque, "\n"))
	}
	if share > limit {
		t.Errorf("%d %% of the scripts are covered only by opaque effects, want at most %d %%", share, limit)
	}
}

// checkTold runs a script by a real shell and compares what happened with what
// the reader tells of the text.
func checkTold(t *testing.T, w *oracle.World, know *commands.Knowledge, sh, text string, c *tally) oracle.Record {
	t.Helper()
	rec := runBy(t, w, sh, text)
	worst := oracle.Told
	for i, place := range places(w) {
		effects := shell.Effects(text, place, know)
		got, untold := told(rec, effects, text)
		worst = min(worst, got)
		if untold != "" {
			with := [...]string{"only the links", "the whole tree"}[i]
			t.Errorf("not told, with %s known:\n%sscript:\n%s\neffects:\n%sfacts:\n%sstderr:\n%s", with, untold, text, showEffects(effects), showFacts(rec.Facts), rec.Errors)
			break
		}
	}
	c.add(t.Name(), worst)
	return rec
}

// told compares what happened with what was told; untold shows what was not.
func told(rec oracle.Record, effects []effect.Effect, text string) (worst oracle.Cover, untold string) {
	worst = oracle.Told
	for _, f := range rec.Facts {
		got := f.Covered(effects, origin(f, text))
		worst = min(worst, got)
		if got == oracle.Untold {
			untold += "  " + f.String() + "\n"
		}
	}
	for _, v := range rec.Env {
		name, _, _ := strings.Cut(v, "=")
		if !shell.Steers(name) {
			continue
		}
		if !slices.ContainsFunc(effects, func(e effect.Effect) bool {
			return e.Kind == effect.Env && (e.Target == name || strings.Contains(e.Target, "…")) || e.Kind == effect.Opaque && e.Command == nil
		}) {
			worst = oracle.Untold
			untold += "  a program is given " + v + "\n"
		}
	}
	return worst, untold
}

// Tags are words of composed scripts that occur only once in the text: what
// has one among its words, or in the name of its file, comes from there.
var tags = regexp.MustCompile(`(at|out)[0-9]{3}`)

// origin is where in the text a fact comes from, -1 when it cannot be told.
func origin(f oracle.Fact, text string) int {
	for _, s := range append([]string{filepath.Base(f.Path)}, f.Args...) {
		if tag := tags.FindString(s); tag != "" && strings.Count(text, tag) == 1 {
			return strings.Index(text, tag)
		}
	}
	return -1
}

func showEffects(effects []effect.Effect) string {
	var b strings.Builder
	for _, e := range effects {
		fmt.Fprintf(&b, "  %s %q", e.Kind, e.Target)
		if e.Path.Known() {
			fmt.Fprintf(&b, " path=%s", e.Path.Abs)
		}
		if e.Command != nil {
			fmt.Fprintf(&b, " of %s (%s)", e.Command.Program, e.Command.Class)
		}
		for _, flag := range []struct {
			set  bool
			name string
		}{{e.Meta, "meta"}, {e.Tree, "tree"}, {e.Path.Glob, "glob"}, {e.Own, "own"}, {e.Certainty == effect.Maybe, "maybe"}, {e.Privileged, "privileged"}} {
			if flag.set {
				b.WriteString(" " + flag.name)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func showFacts(facts []oracle.Fact) string {
	var b strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&b, "  %s\n", f)
	}
	return b.String()
}

// TestRealBash runs every script of testdata/oracle. What bash really runs,
// reads and writes must be among the effects. A script that does nothing in
// real bash is a mistake in the script, except for the quiet ones, which must
// do nothing.
func TestRealBash(t *testing.T) {
	scripts, err := oracle.Scripts("testdata/oracle")
	if err != nil {
		t.Fatal(err)
	}
	if len(scripts) < 300 {
		t.Errorf("%d scripts, want at least 300", len(scripts))
	}
	know := commands.Default()
	var c tally
	t.Run("scripts", func(t *testing.T) {
		for i, s := range scripts {
			if testing.Short() && i%10 > 0 {
				continue
			}
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				w := bash.world(t)
				rec := checkTold(t, w, know, "bash", w.Expand(s.Text), &c)
				if rec.Traced && s.Quiet != (len(rec.Facts) == 0) {
					t.Errorf("in real bash the script does %d things (quiet: %v)\n%s\n%s", len(rec.Facts), s.Quiet, showFacts(rec.Facts), rec.Errors)
				}
			})
		}
	})
	c.check(t, 18) // a command hidden in text that arithmetic reads is told no other way
}
