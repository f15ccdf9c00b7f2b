package imports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"assent/internal/place"
)

// largest is larger than a configuration is, in bytes.
const largest = 8 << 20

// names are the files of a client with rules in them, below the folder of its
// configuration.
var names = map[string][]string{
	"claude":   {"settings.json", "settings.local.json"},
	"codex":    {"config.toml", "rules/*.rules"},
	"gemini":   {"settings.json", "policies/*.toml"},
	"opencode": {"config.json", "opencode.json", "opencode.jsonc"},
}

// projectOnly are those that count in a project alone.
var projectOnly = []string{"settings.local.json"}

// inRoot are those that stand in the folder of the project itself, too.
var inRoot = map[string][]string{"opencode": {"opencode.json", "opencode.jsonc"}}

// Find reads the files that a client has in the folder of its configuration. In
// a project, root is the project's.
func Find(client, folder, root string, project bool) ([]File, error) {
	var patterns []string
	if project {
		for _, name := range inRoot[client] {
			patterns = append(patterns, filepath.Join(escape(root), name))
		}
	}
	for _, name := range names[client] {
		if project || !slices.Contains(projectOnly, name) {
			patterns = append(patterns, filepath.Join(escape(folder), name))
		}
	}
	var files []File
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			text, _, err := place.Read(p, largest, "configuration")
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", p, err)
			}
			files = append(files, File{p, string(text), project})
		}
	}
	return files, nil
}

// Looked are the places where Find looks, for people.
func Looked(client string) []string { return names[client] }

// escape makes a folder a pattern that is that folder.
func escape(folder string) string {
	var out []byte
	for i := range len(folder) {
		if c := folder[i]; c == '*' || c == '?' || c == '[' || c == '\\' {
			out = append(out, '\\')
		}
		out = append(out, folder[i])
	}
	return string(out)
}

// Write makes a file that is not there yet.
func Write(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there: it is not written over; name another file, or move it away", file)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
