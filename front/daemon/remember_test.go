package daemon

import (
	"path/filepath"
	"strings"
	"testing"

	"assent/plexus"
)

// A kernel that reads its settings from elsewhere than the one before says so,
// once: the environment of whoever starts it decides over that.
func TestSettingsFromElsewhere(t *testing.T) {
	document, err := plexus.Open(filepath.Join(t.TempDir(), "document"), plexus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer document.Close()
	mine, other := files{"/a/config.json", "/a/policy.yaml"}, files{"/b/config.json", "/a/policy.yaml"}
	for i, c := range []struct {
		now  files
		want string
	}{
		{mine, ""}, {mine, ""},
		{other, "the settings came from /a/config.json when the kernel ran before, and now from /b/config.json"},
		{other, ""},
		{files{"/b/config.json", "/c/policy.yaml"}, "the policy came from /a/policy.yaml"},
	} {
		moved, err := settled(t.Context(), document, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(moved, "|"); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) || strings.Contains(got, "|") {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
	if head, err := document.Head(t.Context()); err != nil || head.Rev != 3 {
		t.Errorf("written: %v, %v", head, err)
	}
}
