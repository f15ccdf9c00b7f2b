package program

import (
	"os"
	"regexp"
	"testing"

	"assent/job"
)

// What the page shows is what programs may write.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```scheme\n(.*?)```").FindAllSubmatch(page, -1)
	if len(examples) < 4 {
		t.Fatalf("%d examples", len(examples))
	}
	host := map[string]job.Settled{`{"command":"rm -rf build"}`: no}
	for _, example := range examples {
		got, err := play(t, &answers{of: host}, string(example[1]), func(o *Options) {
			o.Tools = append(o.Tools, job.Tool{Kind: job.SystemTool, Name: "grep", Needs: []string{"pattern"}},
				job.Tool{Kind: job.FileMutateTool, Name: "write", Needs: []string{"path", "content"}})
		})
		if err != nil || !got.OK {
			t.Errorf("%s\n%+v, %v", example[1], got, err)
		}
	}
}
