package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/floor/effect"

	"github.com/google/go-cmp/cmp"
)

// on marks a part of a text, the n-th time it occurs.
func on(text, part, note string) mark {
	i := strings.Index(text, part)
	return mark{span: effect.Span{Start: i, End: i + len(part)}, note: note}
}

func TestOrigins(t *testing.T) {
	long := strings.Repeat("x", 500)
	tests := []struct {
		why, text string
		marks     func(text string) []mark
		want      string
	}{
		{"two on a line", "git status && rm -rf ~", func(s string) []mark {
			return []mark{on(s, "rm -rf ~", "b"), on(s, "git status", "a")}
		}, `
1 │ git status && rm -rf ~
  │ ^^^^^^^^^^ a
  │               ^^^^^^^^ b
`},
		{"one within the other", "sh -c 'rm x'", func(s string) []mark {
			return []mark{on(s, "rm x", "in"), on(s, s, "out")}
		}, `
1 │ sh -c 'rm x'
  │ ^^^^^^^^^^^^ out
  │        ^^^^ in
`},
		{"several lines", "ls\ncat <<E\nx\nE\n", func(s string) []mark {
			return []mark{on(s, "ls", "a"), on(s, "cat <<E\nx\nE", "b")}
		}, `
1 │ ls
  │ ^^ a
2 │ cat <<E
  │ ^^^^^^^… b
3 │ x
4 │ E
`},
		{"tabs", "\tcat\ta b", func(s string) []mark { return []mark{on(s, "a b", "r"), on(s, "cat\ta", "c")} }, `
1 │         cat     a b
  │         ^^^^^^^^^ c
  │                 ^^^ r
`},
		{"wide characters", "cat 日本 x", func(s string) []mark { return []mark{on(s, "日本", "w"), on(s, "x", "x")} }, `
1 │ cat 日本 x
  │     ^^^^ w
  │          ^ x
`},
		{"combining characters", "cat e\u0301 x", func(s string) []mark { return []mark{on(s, "e\u0301", "e"), on(s, "x", "x")} },
			"\n1 │ cat e\u0301 x\n  │     ^ e\n  │       ^ x\n"},
		{"what moves the cursor is shown", "echo \x1b[2J\x07 x", func(s string) []mark { return []mark{on(s, "x", "x")} }, `
1 │ echo ␛[2J␇ x
  │            ^ x
`},
		{"what turns text is shown", "a \u202e b", func(s string) []mark { return []mark{on(s, "b", "b")} }, `
1 │ a <U+202E> b
  │            ^ b
`},
		{"invalid UTF-8", "a \xff b", func(s string) []mark { return []mark{on(s, "\xff", "bad"), on(s, "b", "b")} }, `
1 │ a � b
  │   ^ bad
  │     ^ b
`},
		{"carriage return", "a\r\nb", func(s string) []mark { return []mark{on(s, "b", "b")} }, `
1 │ a␍
2 │ b
  │ ^ b
`},
		{"a long line", long + " y", func(s string) []mark { return []mark{on(s, "y", "far")} },
			"\n1 │ " + long[:400] + "\n  │ " + long[:100] + " y\n  │ " + strings.Repeat(" ", 101) + "^ far\n"},
		{"a long line with nothing in its middle", "a" + strings.Repeat(" ", 3000) + "y", func(s string) []mark { return []mark{on(s, "a", "a"), on(s, "y", "far")} },
			"\n1 │ a" + strings.Repeat(" ", 399) + "\n  │ ^ a\n  ┆\n  │ " + strings.Repeat(" ", 201) + "y\n  │ " + strings.Repeat(" ", 201) + "^ far\n"},
		{"outside of the text", "a", func(string) []mark { return []mark{{span: effect.Span{Start: 5, End: 9}, note: "no"}} }, `
1 │ a
`},
		{"many lines", strings.Repeat("\n", 50) + "b\n\n", func(s string) []mark { return []mark{on(s, "b", "b")} }, `
   ┆
51 │ b
   │ ^ b
   ┆
`},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			got := origins(test.text, test.marks(test.text), screen{})
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), got); diff != "" {
				t.Errorf("%q: (-want +got)\n%s", test.text, diff)
			}
		})
	}
}

// On a narrow screen the carets stand below what they are about, in whatever
// piece of the line it is.
func TestOriginsNarrow(t *testing.T) {
	text := "echo one two three four five six seven && rm -rf /srv/data"
	got := origins(text, []mark{
		on(text, "echo one two three four five six seven", "run echo one two three four five six seven: allow"),
		on(text, "/srv/data", "delete /srv/data: deny"),
	}, screen{width: 30})
	want := `
1 │ echo one two three four fi
  │ ^^^^^^^^^^^^^^^^^^^^^^^^^^
  │ run echo one two three
  │ four five six seven: allow
  │ ve six seven && rm -rf /sr
  │ ^^^^^^^^^^^^
  │                        ^^^
  │ delete /srv/data: deny
  │ v/data
  │ ^^^^^^
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Whatever the text, the explanation can be drawn and holds nothing that
// steers a terminal.
func FuzzOrigins(f *testing.F) {
	f.Add("git status && rm -rf ~", 0, 10)
	f.Add("a\tb\x1b[2J\r\n\u202e日本\xff", 1, 12)
	f.Add("", 0, 0)
	f.Fuzz(func(t *testing.T, text string, start, end int) {
		out := origins(text, []mark{{span: effect.Span{Start: start, End: end}, note: "n"}}, screen{})
		narrow := origins(text, []mark{{span: effect.Span{Start: start, End: end}, note: "a note that is longer than its row"}}, screen{width: 40})
		for line := range strings.Lines(narrow) {
			if got := columnsOf(strings.TrimSuffix(line, "\n")); got > 41 { // one more for "…"
				t.Fatalf("%d columns in %q", got, line)
			}
		}
		out += narrow
		for _, r := range out + oneLine(text, 20) {
			if r != '\n' && (r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' || r == '\u200b') {
				t.Fatalf("%q in %q", r, out)
			}
		}
	})
}

func TestColourOnlyOnATerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, w := range map[string]io.Writer{"a file": file, "nowhere": null, "memory": new(strings.Builder)} {
		if paintFor(w) {
			t.Errorf("%s is painted", name)
		}
	}
}
