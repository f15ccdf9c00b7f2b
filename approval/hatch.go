package approval

import (
	"slices"
	"strings"
)

// commandKeys are the arguments by which bash tools take what they run, in
// lower case without separators.
var commandKeys = wordSet(`command commands cmd commandline chars input script`)

// HatchShape is the half of hatch that a pattern tells (law §3, ruling 11): a
// bash call whose decoded command has npx or bunx as a word (\bnpx\b,
// \bbunx\b). The other half, a run effect of npx or bunx, comes with the leaf
// (Leaf.RunsHatch).
//
// arguments is a JSON object, or empty for none. Arguments that cannot be
// read count as a hatch, and where no argument is known to be the command
// every text is searched: hatch only ever takes a grant away.
func HatchShape(name string, arguments []byte) bool {
	return ClusterOf(name) == Bash && hatchShape(arguments)
}

func hatchShape(arguments []byte) bool {
	inCommand, anywhere, known := false, false, false
	err := eachString(arguments, func(path []string, text string) {
		hit := hasWord(text, "npx") || hasWord(text, "bunx")
		anywhere = anywhere || hit
		if slices.ContainsFunc(path, func(key string) bool { return commandKeys[plainKey(key)] }) {
			known = true
			inCommand = inCommand || hit
		}
	})
	if err != nil {
		return true
	}
	if known {
		return inCommand
	}
	return anywhere
}

// Hatch reports whether the leaf is a hatch (law ruling 11): a bash call for
// which the pattern holds or the floor told a run of npx or bunx.
func (l *Leaf) Hatch() bool {
	return l.Cluster() == Bash && (l.RunsHatch || hatchShape(l.Arguments))
}

// hasWord reports whether \bword\b matches in text. As in the pattern, only
// ASCII letters, digits and the underscore are parts of words.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || !isWordByte(text[start-1])) && (end == len(text) || !isWordByte(text[end])) {
			return true
		}
		from = start + 1
	}
}
