package remainder

import (
	"strings"
	"testing"
)

// Effects are told whole or not at all.
func TestEffectsIn(t *testing.T) {
	for _, test := range []struct {
		why, explanation string
		want             string // of the last, "" for none
	}{
		{"all", `{"effects":[{"kind":"write","target":"a","result":"ask"},{"kind":"delete","target":"b","notes":["a tree","no link"],"result":"deny","rule":"shipped:x","says":"y"}]}`, "delete b (a tree; no link): deny"},
		{"some are left out", `{"effects":[{"kind":"write","target":"a"}],"more":1}`, ""},
		{"a target that may be cut", `{"effects":[{"kind":"write","target":"` + strings.Repeat("a", maxEffectTarget) + `…"}]}`, ""},
		{"a note that may be cut", `{"effects":[{"kind":"write","target":"a","notes":["` + strings.Repeat("a", maxEffectTarget) + `…"]}]}`, ""},
		{"nothing", "", ""},
		{"no explanation", `[1]`, ""},
	} {
		got := ""
		if all := EffectsIn(test.explanation); len(all) > 0 {
			got = all[len(all)-1].String()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.why, got, test.want)
		}
	}
}
