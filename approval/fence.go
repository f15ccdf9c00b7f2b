package approval

import (
	"path"
	"regexp"
	"strings"
)

// A fence is a folder too wide to be opened by one keystroke (law §10, ruling
// 8): it is never offered, and as a key of the allowlist it opens only
// itself.

// volumeRoot matches the places where systems mount volumes: macOS, removable
// media on Linux, drives under WSL.
var volumeRoot = regexp.MustCompile(`^(?:/Volumes/[^/]+|/mnt/[A-Za-z]|/(?:run/)?media/[^/]+(?:/[^/]+)?)$`)

// homeFolder matches homes and what holds them, on the system's volume or on
// another. /var/home and /usr/home are where /home points on some systems.
var homeFolder = regexp.MustCompile(`^(?:/Volumes/[^/]+|/System/Volumes/Data|/mnt/[A-Za-z]|/var|/usr)?/(?:home|Users)(?:/[^/]+)?$`)

// fenced reports whether an absolute, clean path is a fence.
func fenced(p string, session Session) bool {
	// macOS resolves /tmp, /var and /etc to folders of /private.
	if rest, ok := strings.CutPrefix(p, "/private"); ok && (rest == "" || rest[0] == '/') {
		if rest == "" || strings.Count(rest, "/") == 1 {
			return true
		}
	}
	if strings.Count(p, "/") < 2 || volumeRoot.MatchString(p) || homeFolder.MatchString(p) {
		return true
	}
	for _, kept := range append([]string{session.Workspace, session.Home}, session.Volumes...) {
		if path.IsAbs(kept) && under(path.Clean(kept), p) {
			return true
		}
	}
	return false
}

// FileReadParent is the folder a prompt might offer for a read of p: its
// parent, unless that is a fence (law §10, ruling 8). Nothing for a path that
// is relative, and so in the workspace, or that cannot be told.
func FileReadParent(p Path, session Session) (Path, bool) {
	if !p.Outside() {
		return "", false
	}
	parent := path.Dir(string(p))
	if fenced(parent, session) {
		return "", false
	}
	return Path(parent), true
}
