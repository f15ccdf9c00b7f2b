package oneline

import (
	"strings"
	"testing"

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
		if strings.ContainsFunc(string(text), Unseen) {
			t.Fatalf("%q holds what is not seen", text)
		}
		var got map[string]string
		if err := json.Unmarshal(text, &got); err != nil || got[want] != want {
			t.Fatalf("%s: %q, %v, want %q", text, got, err, want)
		}
	})
}

func TestUnseen(t *testing.T) {
	for _, r := range "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180e\u180f\u2065\u2800\u3164\uffa0\ufe0f\ufff0\ufff8\ue000\U0001d159\U000e0080\U000e0100\U000e01f0" +
		"\u00a0\u1680\u2003\u202f\u205f\u3000\u00ad\u061c\u200b\u2028\u202e\ufeff\u0000\u007f\u009b" {
		if !Unseen(r) {
			t.Errorf("U+%04X is taken for one that is seen", r)
		}
	}
	for _, r := range " a~é日\u0301🙂€\ufffd" {
		if Unseen(r) {
			t.Errorf("U+%04X is taken for one that is not seen", r)
		}
	}
}
