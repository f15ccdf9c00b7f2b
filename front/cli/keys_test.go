package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A kernel that a person starts in the background has the keys that the settings
// look for, and nothing else.
func TestKeysOfADetachedKernel(t *testing.T) {
	environ := []string{"MINE=1", "ANTHROPIC_API_KEY=2", "OPENAI_API_KEY=3", "LD_PRELOAD=4", "=5", "MINEX=6"}
	for _, test := range []struct {
		why, settings string
		want          []string
	}{
		{"a variable that is named", `{"connections":{"a":{"api":"openai","keyEnv":"MINE"},"b":{"api":"anthropic","keyEnv":"MINE"}}}`, []string{"MINE=1"}},
		{"that of the API", `{"connections":{"a":{"api":"anthropic"}}}`, []string{"ANTHROPIC_API_KEY=2"}},
		{"none for another address", `{"connections":{"a":{"api":"openai","url":"http://localhost:1"}}}`, nil},
		{"none where the key ring has it", `{"connections":{"a":{"api":"openai","keyRing":"a"}}}`, nil},
		{"no connection", `{}`, nil},
		{"settings with a mistake", `{"connections":{"a":{"api":"anthropic"}}`, nil},
		{"no settings", "", nil},
	} {
		file := filepath.Join(t.TempDir(), "config.json")
		if test.settings != "" {
			if err := os.WriteFile(file, []byte(test.settings), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := keyVariables(file, environ); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.why, got, test.want)
		}
	}
}
