package approval

import (
	"path"
	"slices"
	"strings"
)

// Allowlisted reports whether a person let this session read what the leaf
// reads (law §3, ruling 8): the cluster is read, the floor has spoken and does
// not block, and a key of the allowlist covers every path of the leaf. A leaf
// without paths, or with one that cannot be told, is not, and neither is one
// that a rule is against: the allowlist lifts only that a path lies outside.
func Allowlisted(leaf Leaf, session Session) bool {
	if leaf.Cluster() != Read || leaf.PolicyResult == None || leaf.PolicyResult == Block || leaf.Ruled || len(leaf.Paths) == 0 {
		return false
	}
	for _, p := range leaf.Paths {
		if !covered(p, session) {
			return false
		}
	}
	return true
}

// covered reports whether a key covers the path. A key covers itself and what
// lies under it (law §10); a key that is a fence, the workspace's ancestors
// included, covers itself alone (law ruling 8). Paths in the workspace need no
// key and have none.
func covered(p Path, session Session) bool {
	if !p.Outside() {
		return false
	}
	return slices.ContainsFunc(session.ReadAllowlist, func(text string) bool {
		key, ok := allowlistKey(text)
		return ok && (string(p) == key || under(string(p), key) && !fenced(key, session))
	})
}

// allowlistKey is the clean form of a key. Keys are prepared paths outside the
// workspace: one that is relative, or that climbs, was never stored by a
// person and covers nothing.
func allowlistKey(text string) (string, bool) {
	if !path.IsAbs(text) || strings.ContainsRune(text, 0) || slices.Contains(strings.Split(text, "/"), "..") {
		return "", false
	}
	return path.Clean(text), true
}

// MayRemember is what a person's allow of this leaf stores in the allowlist
// (law §10, ruling 8): each path of a read that the floor asked about or
// denied, absolute and outside, when the person wrote no comment. Nothing for
// any other cluster, never for writes, and nothing at all when one of the
// paths cannot be told or a rule is against the call. Paths of which only names
// were looked at are not stored: a key opens what is in a file. Paths that a key
// covers already are not repeated.
//
// It reads the answer of the leaf: call it with the leaf as it is after
// `approved` was written.
func MayRemember(leaf Leaf, session Session) []Path {
	if leaf.Cluster() != Read || leaf.Approved != Yes || !leaf.PolicyResult.Remainder() || leaf.Ruled || leaf.ApprovalComment.Value != "" {
		return nil
	}
	var keys []Path
	for _, p := range leaf.Paths {
		if !p.Known() {
			return nil
		}
		if p.Outside() && !slices.Contains(leaf.Names, p) && !covered(p, session) && !slices.Contains(keys, p) {
			keys = append(keys, p)
		}
	}
	return keys
}

// Opened is what a key of the allowlist opens for reading.
type Opened struct {
	Path  Path
	Below bool // and what lies under it
}

// Opens is what a person's yes to a waiting leaf, without a comment, opens for
// reading from then on, besides the call itself (see [MayRemember]).
func Opens(leaf Leaf, session Session) []Opened {
	leaf.Approved, leaf.ApprovalComment = Yes, Text{}
	var opened []Opened
	for _, p := range MayRemember(leaf, session) {
		opened = append(opened, Opened{p, !fenced(string(p), session)})
	}
	return opened
}

// Offer is the folder that the prompt of a leaf may offer to open for reading
// (law §10, ruling 8): the parent of what it reads, one level up, when another
// read outside the workspace that this session observed has the same parent.
// Such are the keys of the allowlist and the other reads that wait for a
// person; waiting is the session's queue. The leaf's own paths are no
// evidence, a denied read is none, nor is looking at names, and a fence is never
// offered.
//
// The law never installs an offer: only a person's keystroke writes the parent
// key, and then `approved`, in one transaction, parent first.
func Offer(leaf Leaf, waiting []Leaf, session Session) (Path, bool) {
	if !readPrompt(leaf, session) || len(leaf.Paths) == 0 || len(leaf.Names) > 0 {
		return "", false
	}
	var parent Path
	for i, p := range leaf.Paths {
		up, ok := FileReadParent(p, session)
		if !ok || i > 0 && up != parent {
			return "", false
		}
		parent = up
	}
	sibling := func(p Path) bool {
		up, ok := FileReadParent(p, session)
		return ok && up == parent && !slices.Contains(leaf.Paths, p)
	}
	content := func(l Leaf) []Path {
		return slices.DeleteFunc(slices.Clone(l.Paths), func(p Path) bool { return slices.Contains(l.Names, p) })
	}
	for _, text := range session.ReadAllowlist {
		if key, ok := allowlistKey(text); ok && sibling(Path(key)) {
			return parent, true
		}
	}
	for _, other := range waiting {
		if readPrompt(other, session) && slices.ContainsFunc(content(other), sibling) {
			return parent, true
		}
	}
	return "", false
}

// readPrompt reports whether the leaf is a read that a person is asked about
// because of where it lies.
func readPrompt(leaf Leaf, session Session) bool {
	return leaf.Cluster() == Read && leaf.PolicyResult.Remainder() && !leaf.Ruled && NeedsHuman(leaf, session)
}
