package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Script is one text of the collection.
type Script struct {
	Name string // file/reason
	Text string
	// Quiet scripts look as if they did something and do nothing.
	Quiet bool
}

// Scripts reads the collection: every *.txtar in dir is a group, every file in
// it ("-- name --", as in txtar) a script named for its reason. The newline before the next name belongs to
// the archive and not to the script.
func Scripts(dir string) ([]Script, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	var scripts []Script
	seen := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		group := strings.TrimSuffix(filepath.Base(file), ".txtar")
		_, rest, _ := strings.Cut("\n"+string(data), "\n-- ")
		for part := range strings.SplitSeq(rest, "\n-- ") {
			head, text, ok := strings.Cut(part, " --\n")
			if !ok || strings.Contains(head, "\n") {
				return nil, fmt.Errorf("%s: no script after %q", file, part)
			}
			name := group + "/" + head
			if seen[name] {
				return nil, fmt.Errorf("two scripts are called %s", name)
			}
			seen[name] = true
			scripts = append(scripts, Script{Name: name, Text: text, Quiet: group == "quiet"})
		}
	}
	if len(scripts) == 0 {
		return nil, fmt.Errorf("no scripts in %s", dir)
	}
	return scripts, nil
}
