package paths

import "strings"

// AnyName reports whether a name fits one of several globs with "|" between
// them, in which only "*" and "?" are special; case does not count.
func AnyName(globs, name string) bool {
	folded := Fold(name)
	for g := range strings.SplitSeq(globs, "|") {
		s, err := parseSegment(g)
		if err != nil || s.match(folded, true) || s.match(name, false) {
			return true
		}
	}
	return false
}

// Within reports whether a clean path is a folder's own, or lies in it.
func Within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// AnyPart reports whether a path has a part that fits one of the globs: it is a
// file of that name, or lies in a folder of it.
func AnyPart(globs, abs string) bool {
	for part := range strings.SplitSeq(strings.TrimPrefix(abs, "/"), "/") {
		if AnyName(globs, part) {
			return true
		}
	}
	return false
}

// MayName reports whether what the pattern matches may have a name that fits
// one of the globs, or hold something that does. Only a pattern for names of
// one ending ("*.key") is taken to mean files.
func (pt Pattern) MayName(globs string) bool {
	if pt.c == nil || pt.c.set != nil {
		return true
	}
	for _, segs := range pt.c.alts {
		if len(segs) == 0 {
			return true
		}
		last := &segs[len(segs)-1]
		_, tail := last.fixed()
		if last.deep || last.plain || !last.wildStart() || strings.IndexByte(tail, '.') < 0 {
			return true
		}
		for g := range strings.SplitSeq(globs, "|") {
			s, err := parseSegment(g)
			if err != nil || s.meets(last, true) {
				return true
			}
		}
	}
	return false
}

// Expands reports whether the shell may expand a glob to the path or, for a
// tree, to a folder above it. Where that cannot be told it may.
func Expands(glob, abs string, tree bool) bool {
	rest := strings.TrimPrefix(abs, "/")
	for part := range strings.SplitSeq(strings.TrimPrefix(glob, "/"), "/") {
		if rest == "" || part == "**" {
			return true // the path is above what the glob names, or at any depth
		}
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if part != "" && !shellMatch(part, name) {
			return false
		}
	}
	return tree || rest == ""
}
