package card

import "strings"

// Bare reports whether a word can stand on the command line of any shell as it is.
// Agents choose the ids of sessions, too.
func Bare(word string) bool {
	return word != "" && !strings.HasPrefix(word, "-") && !strings.ContainsFunc(word, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.:@/", r))
	})
}

// Revoke is the command that takes a grant back: of a kind of calls, or of a path
// for reading; session is "" for one that counts in all of them.
func Revoke(kind, path, session string) string {
	name := kind
	if path != "" {
		name = quoted(path)
	}
	if session == "" {
		return "assent grant revoke " + name
	}
	return "assent grant revoke " + name + " --session " + quoted(session)
}

// quoted is a word for the command line of a shell.
func quoted(word string) string {
	if Bare(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
