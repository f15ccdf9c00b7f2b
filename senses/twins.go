package senses

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"assent/floor/effect"
)

// A file may have several names (hard links), and nothing at one of them tells the
// others. Where a call names a file that has more than one, the places are
// looked through in which a second name would matter: those of git's hooks and
// configuration, of what starts a shell, of keys. Such a name is noted as where
// the other leads, as a symlink's target is, so that both are judged. Stores of
// packages link thousands of files and none of those, so they stay quiet.

// maxTwins bounds how many entries of those places are looked at for one call.
const maxTwins = 5_000

// twin is a file with several names, at one of them that matters.
type twin struct {
	path string
	info fs.FileInfo
}

// several reports whether a file has more than one name.
func several(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && st.Nlink > 1
}

// twin notes the other name of a file that has several.
func (l *look) twin(p string, info fs.FileInfo) {
	if l.speaks == nil || !several(info) {
		return
	}
	if !l.sought {
		l.sought = true
		l.seek()
	}
	other := ""
	for _, t := range l.twins {
		switch {
		case t.path == p:
			return // it is judged by this name
		case other == "" && os.SameFile(t.info, info):
			other = t.path
		}
	}
	if other != "" {
		l.links[p] = other
	}
}

// seek looks through the places where a second name matters, the ones that
// matter most first.
func (l *look) seek() {
	left := maxTwins
	// walk looks at the files of one folder, at all of them or at those of which
	// some rule speaks, and returns the folders in it.
	walk := func(folder string, all bool) (folders []string) {
		if !path.IsAbs(folder) {
			return nil
		}
		folder, err := filepath.EvalSymlinks(folder) // a name that leads elsewhere would lead back
		if err != nil {
			return nil
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil
		}
		for _, e := range entries {
			if left--; left < 0 {
				return nil
			}
			p := strings.TrimSuffix(folder, "/") + "/" + e.Name()
			if e.IsDir() {
				if !heavy[e.Name()] && !quiet[e.Name()] {
					folders = append(folders, p)
				}
				continue
			}
			info, err := e.Info()
			if err == nil && several(info) && (all || l.speaks(effect.Write, p, true) || l.speaks(effect.Read, p, true)) {
				l.twins = append(l.twins, twin{p, info})
			}
		}
		return folders
	}
	home, work := l.home, l.workspace
	outside := home != "" && home != work // a file of the home folder is none of the workspace
	for _, d := range [...]string{".git", ".git/hooks", ".git/info"} {
		walk(path.Join(work, d), true)
	}
	if home != "" {
		for _, d := range [...]string{".ssh", ".gnupg", ".aws", ".config/git", ".config/assent", ".local/state/assent", ".local/bin"} {
			walk(path.Join(home, d), outside)
		}
	}
	hidden := func(folders []string, all bool) {
		for _, dir := range folders {
			if name := path.Base(dir); name[0] == '.' && name != ".git" {
				for _, sub := range walk(dir, all) {
					walk(sub, all)
				}
			}
		}
	}
	var own []string
	if home != "" {
		own = walk(home, outside)
	}
	hidden(walk(work, false), false)
	hidden(own, outside)
}

// quiet are hidden folders of much that steers nothing.
var quiet = map[string]bool{".cache": true, ".npm": true, ".pnpm-store": true, ".cargo": true, ".rustup": true, ".gradle": true, ".m2": true, ".nuget": true, ".local": true, ".tox": true, ".nox": true, ".mypy_cache": true, ".ruff_cache": true, ".pytest_cache": true, ".Trash": true}
