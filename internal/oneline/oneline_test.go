package oneline

import (
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"
)

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":[1,"b\n"]}`:              `{"a":[1,"b\n"]}`,
		`"über 日本 🙂"`:                  `"über 日本 🙂"`,
		"\"a\u2028b\u2029\"":           `"a\u2028b\u2029"`,
		"\"\u0085\u009b\x7f\"":         `"\u0085\u009b\u007f"`,
		"\"\u202e\u2066\ufeff\u200d\"": `"\u202e\u2066\ufeff\u200d"`,
		"\"\U000e0041\"":               `"\udb40\udc41"`,
		"\"\xff\xed\xa0\x80\"":         "\"\ufffd\ufffd\ufffd\ufffd\"",
		`"\ud800"`:                     `"\ud800"`,
	} {
		if got := string(JSON([]byte(in))); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// The text says the same, on one line, without anything that is not seen.
func TestSameValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "value")
		text, err := json.Marshal(map[string]string{want: want})
		if err != nil {
			t.Skip(err)
		}
		text = JSON(text)
		if strings.ContainsFunc(string(text), func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }) {
			t.Fatalf("%q holds what is not seen", text)
		}
		var got map[string]string
		if err := json.Unmarshal(text, &got); err != nil || got[want] != want {
			t.Fatalf("%s: %q, %v, want %q", text, got, err, want)
		}
	})
}
