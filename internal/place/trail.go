package place

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxHops bounds how many links a name may lead through, as the system does.
const maxHops = 40

// Trail is every name by which what a path names is reached: itself and, link by
// link, where those on the way lead. Whoever changes a file by any of them changes
// what the path says.
func Trail(path string) []string {
	path = filepath.Clean(path)
	trail := []string{path}
	dir, rest := "/", strings.TrimPrefix(path, "/")
	hops := 0
	add := func(name string) {
		if !slices.Contains(trail, name) {
			trail = append(trail, name)
		}
	}
	for rest != "" && hops < maxHops {
		name, more, _ := strings.Cut(rest, "/")
		if name == ".." || name == "." || name == "" { // of what a link said
			if rest = more; name == ".." {
				dir = filepath.Dir(dir)
			}
			continue
		}
		at := filepath.Join(dir, name)
		target, err := os.Readlink(at)
		if err != nil { // no link, or nothing that can be looked at
			dir, rest = at, more
			continue
		}
		hops++
		if !filepath.IsAbs(target) {
			target = dir + "/" + target
		}
		whole := target + "/" + more
		add(filepath.Clean(whole))
		dir, rest = "/", strings.TrimPrefix(whole, "/")
	}
	if rest == "" {
		add(dir)
	}
	return trail
}

// Trails are the trails of paths.
func Trails(paths []string) (all []string) {
	for _, p := range paths {
		for _, name := range Trail(p) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
