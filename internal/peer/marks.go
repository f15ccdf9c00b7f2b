package peer

import (
	"bytes"
	"slices"
)

// BodyMark is the variable that the kernel sets in every body.
const BodyMark = "ASSENT_BODY"

// marks are the variables that say "an agent runs this": ours, and those that
// common clients set for the commands they run. Any value counts. They cost an
// agent nothing to remove; they catch whatever does not try.
var marks = []string{
	BodyMark,
	"AI_AGENT",          // a convention of several clients
	"ANTIGRAVITY_AGENT", // Antigravity
	"AUGMENT_AGENT",     // Augment
	"CLAUDECODE",        // Claude Code
	"CODEX_CI",          // Codex
	"CODEX_SANDBOX",     // Codex
	"CODEX_THREAD_ID",   // Codex
	"CURSOR_AGENT",      // Cursor
	"GEMINI_CLI",        // Gemini CLI
	"OPENCODE",          // OpenCode
}

// markIn finds a mark in an environment as /proc tells it: NAME=VALUE, each
// ended by a NUL.
func markIn(environ []byte) string {
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		name, _, ok := bytes.Cut(entry, []byte("="))
		if ok && slices.Contains(marks, string(name)) {
			return string(name)
		}
	}
	return ""
}
