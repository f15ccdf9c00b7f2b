package notify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func found(name string) (string, error) { return "/usr/bin/" + name, nil }

// Nothing of a text is an option, markup or another line.
func TestTextIsMadeSafe(t *testing.T) {
	for _, test := range []struct {
		why, system string
		title, body string
		want        []string // the last two
	}{
		{"plain", "linux", "assent", "Bash make deploy", []string{"assent", "Bash make deploy"}},
		{"an option", "linux", "--hint=x", "-u critical", []string{"--hint=x", "-u critical"}},
		{"markup", "linux", "a", `<img src="http://x"> & <b>`, []string{"a", `&lt;img src="http://x"&gt; &amp; &lt;b&gt;`}},
		{"control", "linux", "a\x1b]0;x\x07", "b\nc\u202ed", []string{"a␛]0;x␇", "b␊c<U+202E>d"}},
		{"a script", "darwin", `" & (do shell script "x") & "`, `\" end`, []string{`" & (do shell script "x") & "`, `\" end`}},
	} {
		words, err := Notifier{System: test.system, Look: found}.words(test.title, test.body)
		if test.system == "linux" {
			if drawn := strings.NewReplacer("&lt;U+202E&gt;", "<U+202E>"); err == nil && test.why == "control" {
				words[len(words)-1] = drawn.Replace(words[len(words)-1])
			}
		}
		if err != nil || !slices.Equal(words[len(words)-2:], test.want) {
			t.Errorf("%s: %q, %v, want %q", test.why, words, err, test.want)
		}
		if len(words) > 2 && words[len(words)-3] != "--" {
			t.Errorf("%s: options do not end before the texts: %q", test.why, words)
		}
	}
	long, err := Notifier{System: "linux", Look: found}.words("x", strings.Repeat("y", 100_000))
	if err != nil || len(long[len(long)-1]) > 1000 {
		t.Error("a long text is told whole", err)
	}
	for _, n := range []Notifier{{System: "plan9"}, {System: "linux", Look: func(string) (string, error) { return "", os.ErrNotExist }}} {
		if _, err := n.words("a", "b"); !errors.Is(err, ErrNone) {
			t.Error(n.System, err)
		}
	}
}

// A hook gets the card, no token and the mark; what it says and how it ends is no
// matter to anybody.
func TestHook(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	n := Notifier{Env: []string{"PATH=" + os.Getenv("PATH"), "ASSENT_TOKEN_FILE=/secret", "OUT=" + out, "ASSENT_BODY=no"}}
	script := `cat >"$OUT"; echo; env | grep ^ASSENT_ >>"$OUT"; echo "$1" >>"$OUT"; echo noise; exit 3`
	if err := n.Hook(t.Context(), []string{"/bin/sh", "-c", script, "sh", "$(touch " + dir + "/shell)"}, []byte(`{"a":1}`)); err == nil {
		t.Error("a hook that fails is not told")
	}
	got, err := os.ReadFile(out)
	if want := `{"a":1}ASSENT_BODY=1` + "\n$(touch " + dir + "/shell)\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "shell")); err == nil {
		t.Error("a word went through a shell")
	}
	if err := n.Hook(t.Context(), nil, nil); err != nil {
		t.Error(err)
	}
	if err := n.Hook(t.Context(), []string{filepath.Join(dir, "none")}, nil); err == nil {
		t.Error("a program that is not there is not told")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := n.Hook(ended, []string{"/bin/sleep", "60"}, nil); err == nil {
		t.Error("it goes on")
	}
}
