package place

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTrail(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"config", "dot/assent", "real/deep"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"config/assent": "../dot/assent", "dot/assent/policy.yaml": root + "/real/first.yaml", "real/first.yaml": "second.yaml",
		"loop": "loop", "odd": "deep/../second.yaml", "deep": "real/deep", "real/second.yaml": "none",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string][]string{
		"dot/other.yaml":            {"dot/other.yaml"},
		"config/assent/config.json": {"config/assent/config.json", "dot/assent/config.json"},
		"config/assent/policy.yaml": {"config/assent/policy.yaml", "dot/assent/policy.yaml", "real/first.yaml", "real/second.yaml", "real/none"},
		"odd":                       {"odd", "second.yaml", "real/second.yaml", "real/none"}, // ".." is of where the link leads
		"loop/x":                    {"loop/x"},
	} {
		var got []string
		for _, p := range Trail(filepath.Join(root, path)) {
			got = append(got, strings.TrimPrefix(p, root+"/"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", path, diff)
		}
	}
}
