package paths

import "math"

// Whole says of a folder that all of it was looked through, at any depth.
const Whole = math.MaxInt

// Listed reports whether so many levels below a folder were looked through:
// the folder itself was, or one above it and deep enough.
func (f *Facts) Listed(dir string, levels int) bool {
	if len(f.Folders) == 0 || dir == "" {
		return false
	}
	for up := 0; ; up++ {
		if n, ok := f.Folders[dir]; ok && (n == Whole || levels != Whole && n-up >= levels) {
			return true
		}
		if dir == "/" {
			return false
		}
		dir = parent(dir)
	}
}

// GlobFolder is the folder in which a glob starts to choose, and over how many
// levels it does. A "**" may be any number of them.
func GlobFolder(glob string) (dir string, levels int) {
	segs, ok := globSegments(glob)
	if !ok {
		return "", Whole
	}
	for len(segs) > 0 && segs[0].plain {
		dir += "/" + segs[0].exact.name
		segs = segs[1:]
	}
	if dir == "" {
		dir = "/"
	}
	return dir, len(segs)
}

// Unfold replaces every wildcard of a glob that stands for a folder by a name
// that no pattern has: what then still matches is spelled out.
func Unfold(glob string) string {
	segs, ok := globSegments(glob)
	if !ok {
		return glob
	}
	const nobody = "\u2400" // the picture of a NUL
	out := ""
	at := 0
	for i := range segs {
		// The segments of the text itself, which a doubled slash may shift.
		for glob[at] == '/' {
			at++
		}
		end := at
		for end < len(glob) && glob[end] != '/' {
			end++
		}
		if segs[i].plain || i == len(segs)-1 {
			out += "/" + glob[at:end]
		} else {
			out += "/" + nobody
		}
		at = end
	}
	return out
}
