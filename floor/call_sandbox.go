package floor

import (
	"slices"
	"strings"

	"assent/floor/effect"
)

// Members of a shell tool's arguments that take the command out of what the
// client keeps it in, or give it more rights. A client that does not know such
// a member ignores it, one that does obeys: they count by the words of their
// names, whoever sent them.
var (
	accountWords = set("sudo", "root", "admin", "administrator", "superuser", "elevated", "elevate", "privileged")
	rightsWords  = set("elevation", "escalated", "escalate", "escalation", "privilege", "privileges", "capabilities")
	sandboxWords = set("sandbox", "sandboxed", "unsandboxed", "nosandbox", "dangerously", "bypass", "unsafe", "unrestricted", "unconfined", "isolation", "yolo", "permission", "permissions",
		"network", "networking", "internet", "confined", "jail")
	elsewhereWords = set("host", "hostname", "remote", "server", "container", "pod", "machine", "vm", "docker", "image", "ssh", "environment")
	// kept are the values with which the client keeps the command where it was.
	kept = set("default", "usedefault", "inherit", "auto", "workspacewrite", "readonly", "restricted", "sandboxed", "strict", "on", "enabled", "no", "false", "local", "localhost")
	// positive names say that the sandbox is on: false takes it away.
	positive = set("sandbox", "sandboxed", "usesandbox", "sandboxenabled", "enablesandbox", "insandbox", "runinsandbox", "isolation", "confined")
)

// noteWords are the words with which a name ends that says something about the
// call: for people, for the client's bookkeeping, how long to wait and how much
// of the output to keep. They change nothing about what is run.
var noteWords = set(
	"description", "explanation", "justification", "reason", "reasoning", "rationale", "summary", "title", "goal", "purpose", "thought", "thoughts", "comment", "note", "notes",
	"message", "label", "intent", "conclusion", "progress", "risk",
	"id", "ids", "timeout", "ms", "millis", "milliseconds", "seconds", "secs", "sec", "minutes", "wait", "delay", "background", "blocking", "async", "tty", "login",
	"limit", "tokens", "chars", "bytes", "lines", "encoding", "rule")

// modes are the ways to wait for a command.
var modes = set("sync", "async", "detached", "detach", "background", "foreground", "interactive", "normal", "default", "auto", "wait")

// other is a member that no table names: an escalation, another command, a
// file, a note, or something that nobody knows and that may change what runs.
func (s *shellCall) other(m *member, depth int) {
	words := nameWords(m.name)
	any := func(of map[string]bool) bool {
		return slices.ContainsFunc(words, func(w string) bool { return of[w] })
	}
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	switch {
	case any(sandboxWords):
		if !s.keeps(m, positive[argumentName(m.name)]) {
			s.leaves(m.name, "the command leaves the client's sandbox by "+shown(m.name))
		}
	case any(accountWords), any(rightsWords):
		if !s.keeps(m, false) {
			s.leaves(m.name, "more rights are asked for by "+shown(m.name))
			s.user = s.user || any(accountWords)
		}
	case any(elsewhereWords):
		if !s.keeps(m, false) {
			s.r.opaque(m.name, "the command runs somewhere else")
		}
	case m.value.plain(), noteWords[last], last == "mode" && modes[argumentName(m.value.text)]:
		// A number, a switch or a note.
	case shellWords[last] && last != "shell":
		s.commands(m, false, depth)
	default:
		if !pathWords[last] {
			s.r.opaque(m.name, "what "+shown(m.name)+" changes about the command is not known")
		}
		o := openReading{r: s.r}
		o.value(m.name, words, &m.value, 0)
	}
}

// leaves adds what no rule for the command and no grant answers: that it is
// taken out of where the person's client keeps it.
func (s *shellCall) leaves(arg, why string) {
	s.r.add(effect.Effect{Kind: effect.Opaque, Target: why, Arg: arg, Unconfined: true})
}

// keeps reports whether the value of such a member changes nothing. With on,
// true says that the sandbox stays.
func (s *shellCall) keeps(m *member, on bool) bool {
	switch m.value.kind {
	case 'f':
		return !on
	case 't':
		return on
	case 'n':
		return true
	case '"':
		text := argumentName(strings.TrimSpace(m.value.text))
		if on && (text == "false" || text == "no") {
			return false
		}
		return kept[text] || on && text == "true"
	}
	return false
}
