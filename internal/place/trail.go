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
	trail, _ := walk(path)
	return trail
}

// Links are the links on the way to what paths name, each by the folder that it
// really is in. Whoever puts another in the place of one changes what the path says.
func Links(paths []string) (all []string) {
	for _, p := range paths {
		_, links := walk(p)
		for _, link := range links {
			if !slices.Contains(all, link) {
				all = append(all, link)
			}
		}
	}
	return all
}

func walk(path string) (trail, links []string) {
	path = filepath.Clean(path)
	trail = []string{path}
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
		links = append(links, at)
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
	return trail, links
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
