package shell

import (
	"strings"
	"testing"

	"assent/floor/commands"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

func TestTrim(t *testing.T) {
	for _, c := range []struct {
		text, pat string
		op        syntax.ParExpOperator
		want      string
	}{
		{"a.b.c", ".%*", syntax.RemSmallSuffix, "a.b"},
		{"a.b.c", ".%*", syntax.RemLargeSuffix, "a"},
		{"a/b/c", "%*/", syntax.RemSmallPrefix, "b/c"},
		{"a/b/c", "%*/", syntax.RemLargePrefix, "c"},
		{"abc", "%?", syntax.RemSmallPrefix, "bc"},
		{"abc", "x%*", syntax.RemSmallSuffix, "abc"},
		{"abc", "%*", syntax.RemSmallSuffix, "abc"},
		{"abc", "%*", syntax.RemLargeSuffix, ""},
		{"abc", "", syntax.RemLargePrefix, "abc"},
	} {
		pat := strings.NewReplacer("%*", commands.Star, "%?", commands.One).Replace(c.pat)
		if got := trim(c.text, pat, c.op); got != c.want {
			t.Errorf("%q without %q (%v) is %q, want %q", c.text, c.pat, c.op, got, c.want)
		}
	}
}

// match agrees with the obvious definition of stars and question marks.
func TestMatchIsObvious(t *testing.T) {
	var obvious func(pat, s string) bool
	obvious = func(pat, s string) bool {
		switch {
		case pat == "":
			return s == ""
		case strings.HasPrefix(pat, commands.Star):
			for i := 0; i <= len(s); i++ {
				if obvious(pat[2:], s[i:]) {
					return true
				}
			}
			return false
		case strings.HasPrefix(pat, commands.One):
			return s != "" && obvious(pat[2:], s[1:])
		}
		return s != "" && pat[0] == s[0] && obvious(pat[1:], s[1:])
	}
	rapid.Check(t, func(t *rapid.T) {
		pat := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "/", commands.Star, commands.One}), 0, 7).Draw(t, "pattern"), "")
		s := rapid.StringOfN(rapid.SampledFrom([]rune("ab/")), 0, 8, -1).Draw(t, "text")
		if got, want := match(pat, s), obvious(pat, s); got != want {
			t.Fatalf("match(%q, %q) = %v", pat, s, got)
		}
	})
}

func TestSecretNames(t *testing.T) {
	for name, want := range map[string]bool{
		"AWS_SECRET_ACCESS_KEY": true, "GITHUB_TOKEN": true, "db_password": true, "SSH_KEY": true, "GH_PAT": true, "DB_PASS": true, "API_KEYS": true,
		"PATH": false, "HOME": false, "KEYBOARD": false, "BYPASS": false, "COMPASS": false, "MONKEY": false,
	} {
		if got := secretName(name); got != want {
			t.Errorf("secretName(%q) = %v", name, got)
		}
	}
}
