package drawn

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		name, in string
		width    int
		want     []string
	}{
		{"short", "a b", 10, []string{"a b"}},
		{"at blanks", "one two three", 8, []string{"one two", "three"}},
		{"blank at the edge", "12345678 x", 8, []string{"12345678", "x"}},
		{"no blank", "abcdefghijkl", 8, []string{"abcdefgh", "ijkl"}},
		{"wide", "日本語日本語", 8, []string{"日本語日", "本語"}},
		{"leading blanks", "         x", 8, []string{"        ", " x"}},
	} {
		if diff := cmp.Diff(test.want, Wrap(test.in, test.width)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}

func TestInk(t *testing.T) {
	if got := Block.Of(true, "x"); got != "\x1b[1;31mx\x1b[0m" {
		t.Errorf("painted: %q", got)
	}
	if got := Block.Of(false, "x"); got != "x" {
		t.Errorf("unpainted: %q", got)
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{"a\nb\tc": "a␊b c", "日本語": "日本…", "abcdef": "abcde…"} {
		if got := OneLine(in, 5); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// A text that comes as one long line is broken in a time that grows with it.
func TestWrapOfALongLine(t *testing.T) {
	lines := Wrap(strings.Repeat("x", 4<<20), 40)
	if len(lines) != 4<<20/40+1 {
		t.Errorf("%d lines", len(lines))
	}
}

// Whatever comes in, nothing goes out that steers a terminal, and lines are as
// wide as they are counted.
func FuzzDraw(f *testing.F) {
	f.Add("a\tb\x1b[2J\r\n\u202e日本\xff")
	f.Fuzz(func(t *testing.T, text string) {
		d := Draw(text)
		for _, r := range d.Text + OneLine(text, 20) {
			if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' || r == '\u200b' {
				t.Fatalf("%q: %q in %q", text, r, d.Text)
			}
		}
		if !utf8.ValidString(d.Text) || len(d.At) != len(text)+1 || d.At[len(text)] != Columns(d.Text) {
			t.Errorf("%q: %q with %v", text, d.Text, d.At)
		}
	})
}
