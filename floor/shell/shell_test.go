package shell

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"assent/floor/commands"
	"assent/floor/effect"
	"assent/floor/paths"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the expected effects anew")

// A section of a file in testdata/effects is one case, named for its reason:
// lines that start with "@" say what is true there, then comes the text, then
// a line "=>" and what the text does, one effect a line.
const arrow = "=>\n"

// TestEffects tells the text of every case and compares.
func TestEffects(t *testing.T) {
	files, err := filepath.Glob("testdata/effects/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	know := commands.Default()
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for i := range ar.Files {
				f := &ar.Files[i]
				if seen[f.Name] {
					t.Errorf("two cases are named %s", f.Name)
				}
				seen[f.Name] = true
				t.Run(f.Name, func(t *testing.T) {
					head, want, _ := strings.Cut(string(f.Data), arrow)
					place, text := casePlace(t, head)
					effects := Effects(text, place, know)
					checkSpans(t, text, effects)
					got := describe(effects)
					if *update {
						f.Data = []byte(head + arrow + got)
						return
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s\n(-want +got)\n%s", text, diff)
					}
				})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// testPlace is where the texts of tests run when nothing else is said.
func testPlace() *paths.Place {
	return &paths.Place{Workspace: "/home/user/project", Cwd: "/home/user/project", Home: "/home/user"}
}

// casePlace reads the "@" lines of a case: @cwd DIR, @var NAME VALUE,
// @link PATH TARGET, @file PATH, @dir PATH, @git KEY VALUE, @untrusted.
func casePlace(t *testing.T, head string) (*paths.Place, string) {
	t.Helper()
	p := testPlace()
	add := func(m *map[string]string, k, v string) {
		if *m == nil {
			*m = map[string]string{}
		}
		(*m)[k] = v
	}
	for strings.HasPrefix(head, "@") {
		var line string
		line, head, _ = strings.Cut(head, "\n")
		key, rest, _ := strings.Cut(line[1:], " ")
		name, value, _ := strings.Cut(rest, " ")
		switch key {
		case "cwd":
			p.Cwd = rest
		case "var":
			add(&p.Vars, name, value)
		case "link":
			add(&p.Facts.Links, name, value)
		case "file":
			add(&p.Facts.Files, name, value)
		case "dir":
			if p.Facts.Dirs == nil {
				p.Facts.Dirs = map[string]bool{}
			}
			p.Facts.Dirs[name] = true
		case "git":
			add(&p.Facts.GitConfig, name, value)
		case "untrusted":
			p.Facts.Untrusted = true
		default:
			t.Fatalf("unknown line %q", line)
		}
	}
	return p, strings.TrimSuffix(head, "\n")
}

// checkSpans demands that every effect points into the text.
func checkSpans(t *testing.T, text string, effects []effect.Effect) {
	t.Helper()
	for _, e := range effects {
		if s := e.Span; s.Start < 0 || s.End > len(text) || s.Start > s.End {
			t.Errorf("%s %q points at %d to %d in a text of %d bytes", e.Kind, e.Target, s.Start, s.End, len(text))
		}
	}
}

// describe writes effects as lines: kind, target, then what else is to be said
// in braces. A path is shown as prepared; one that is not known has a "?".
func describe(effects []effect.Effect) string {
	var b strings.Builder
	for _, e := range effects {
		target := e.Target
		if strings.ContainsFunc(target, func(r rune) bool { return !strconv.IsPrint(r) }) {
			target = strconv.Quote(target)
		}
		fmt.Fprintf(&b, "%s %s", e.Kind, target)
		var more []string
		say := func(when bool, what string) {
			if when {
				more = append(more, what)
			}
		}
		switch e.Kind {
		case effect.Read, effect.Write, effect.Delete:
			say(!e.Path.Known() && !e.Own, "?")
			say(e.Path.Named != "", "named "+e.Path.Named)
			say(e.Path.Glob, "glob")
		case effect.Run:
			class := string(e.Command.Class)
			if class == "" {
				class = "unknown"
			}
			say(true, class)
			say(len(e.Command.Wrappers) > 0, "in "+strings.Join(e.Command.Wrappers, " "))
		}
		say(e.Certainty == effect.Maybe, "maybe")
		say(e.Meta, "meta")
		say(e.Tree, "tree")
		say(e.Own, "own")
		say(e.Privileged, "privileged")
		say(e.Coverable, "coverable")
		if len(more) > 0 {
			fmt.Fprintf(&b, "  {%s}", strings.Join(more, ", "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// tell is the effects of a text at the usual place, as lines.
func tell(text string) string { return describe(Effects(text, testPlace(), commands.Default())) }

// A text that is not told wholly must say so, whatever is wrong with it.
func TestTextsThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nul":                 {"ls\x00; rm x", "the text holds a NUL character"},
		"invalid-utf8":        {"ls \xff\xfe", "the text is not valid UTF-8"},
		"too-long-to-ask":     {"ls " + strings.Repeat("é", MaxText), "the text is longer than 10,000 characters"},
		"too-long-to-read":    {strings.Repeat("#", maxParse+1), "the text is too long to read"},
		"brackets":            {strings.Repeat("(", maxNest+1), "the text is nested too deep"},
		"braces":              {strings.Repeat("{ ", maxNest+1), "the text is nested too deep"},
		"substitutions":       {strings.Repeat("$(", maxNest) + "ls" + strings.Repeat(")", maxNest), "too much to follow"},
		"statements":          {strings.Repeat("a;", maxWork), "too much to follow"},
		"loops-in-loops":      {strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 20) + "x $i;" + strings.Repeat(" done;", 20), "too much to follow"},
		"wrappers":            {strings.Repeat("xargs ", 1600) + "ls", "too much to follow"},
		"calls-itself":        {"f() { f; }; f", "too much to follow"},
		"fork-bomb":           {":(){ :|:& };:", "a fork bomb"},
		"grows-without-end":   {"x=aaaaaaaa" + strings.Repeat("; x=$x$x$x$x$x$x$x$x", 12) + "; rm $x", "rm"},
		"open-quote":          {"echo 'a", "the text cannot be read as bash"},
		"open-here-document":  {"cat <<E\nls", "the text cannot be read as bash"},
		"too-many-words":      {"echo {1..9}{1..9}{1..9}{1..9}", "braces that become too many words"},
		"end-of-a-loop-alone": {"done", "the text cannot be read as bash"},
	} {
		t.Run(name, func(t *testing.T) {
			effects := Effects(c.text, testPlace(), commands.Default())
			checkSpans(t, c.text, effects)
			if got := describe(effects); !strings.Contains(got, c.want) {
				t.Errorf("want an effect with %q, got\n%s", c.want, got)
			}
		})
	}
}

// What is fine must stay free of opaque effects right up to the limits.
func TestTextsUpToTheLimits(t *testing.T) {
	for name, text := range map[string]string{
		"ten-thousand-characters": "echo " + strings.Repeat("é", MaxText-5),
		"some-brackets":           strings.Repeat("(", 20) + "ls" + strings.Repeat(")", 20),
		"many-words":              "echo {1..200}",
		"nothing":                 "",
		"only-a-comment":          "# ls",
		"blanks":                  " \n\t\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range Effects(text, testPlace(), commands.Default()) {
				if e.Kind == effect.Opaque {
					t.Errorf("opaque: %s", e.Target)
				}
			}
		})
	}
}

// Effects point at the words they come from.
func TestSpans(t *testing.T) {
	for name, c := range map[string]struct{ text, kind, at string }{
		"operand":                {"cat a b", "read b", "b"},
		"redirection":            {"echo x >out", "write out", ">out"},
		"in-a-substitution":      {"echo $(rm x)", "delete x", "x"},
		"text-of-sh-c":           {"sh -c 'ls; rm x'", "delete x", "x"},
		"text-with-quotes":       {`sh -c "ls; rm 'x'"`, "delete x", `'x'`},
		"known-standard-input":   {"echo rm x | sh", "delete x", "sh"},
		"text-from-a-variable":   {"c='rm x'; sh -c \"$c\"", "delete x", `"$c"`},
		"a-function-where-it-is": {"f() { rm x; }; f", "delete x", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range Effects(c.text, testPlace(), commands.Default()) {
				if fmt.Sprintf("%s %s", e.Kind, e.Target) == c.kind {
					if got := c.text[e.Span.Start:e.Span.End]; got != c.at {
						t.Errorf("%s points at %q, want %q", c.kind, got, c.at)
					}
					return
				}
			}
			t.Errorf("no effect %q in\n%s", c.kind, tell(c.text))
		})
	}
}

// The wire form of kinds is what the descriptions above are made of.
func TestKindsHaveNames(t *testing.T) {
	out, err := json.Marshal(effect.Delete)
	if err != nil || string(out) != `"delete"` {
		t.Errorf("%s, %v", out, err)
	}
}
