package peer

import (
	"strconv"
	"strings"
)

// Hooked is the agent behind a connection that a hook made: more than the hook
// itself, which ends at once, and more than its parent, which may be a shell
// made for it.
//
// It is the outermost terminal session above the hook, by its leader and with
// all that is in it: an agent that a person started in a terminal shares it, and
// what else runs there cannot be told from the agent. The outermost, because an
// agent opens terminals of its own below that, and one that asks from such a
// terminal is no other agent. Two things that are above everybody are not taken
// for it where there is a terminal below them: a console of the machine, from
// which a whole desktop may have been started and which no program can open; and
// the first process, to which what lost its parents is given, unless the terminal
// session is its own.
//
// Where there is no terminal (an editor, a login without one) it is the outermost
// ancestor of the same user that is not the desktop or the service manager
// themselves.
//
// Facts that are not whole give a body that RoleOf cannot recognize, and with
// which nobody is a person; false says so.
func Hooked(f Facts) (Body, bool) {
	if !f.Whole || len(f.Lineage) == 0 {
		return Body{}, false
	}
	leader := -1
	for i, a := range f.Lineage {
		if a.leads() && (leader < 0 || !a.console() && !a.adopted(f.Lineage[i-1])) {
			leader = i
		}
	}
	if leader >= 0 {
		a := f.Lineage[leader]
		return Body{Process: a.Process, Session: a.Session, Cgroup: ownCgroup(f.Lineage[leader:]), Login: f.Login}, true
	}
	top := f.Lineage[0]
	for _, a := range f.Lineage[1:] {
		if a.UID != top.UID || a.PID == 1 || desktop(a.Cgroup) {
			break
		}
		top = a
	}
	return Body{Process: top.Process, Login: f.Login}, true
}

// noTerminal is the origin of what has no terminal above it, or has ended.
const noTerminal = "none"

// origin is the outermost terminal of a lineage as Hooked finds it, by the number of
// its session, which is known of one that lost its parents too.
func origin(lineage []Ancestor) (terminal string) {
	terminal = noTerminal
	for i, a := range lineage {
		if a.Terminal != 0 && (terminal == noTerminal || !a.console() && !(i > 0 && a.adopted(lineage[i-1]))) {
			terminal = strconv.Itoa(a.Session)
		}
	}
	return terminal
}

// ownCgroup is the control group of the first of a lineage where it is its own:
// that of a tab or a window which a terminal put its shell into, and in which
// everything stays that is started there, whatever becomes of its parents. One
// that whoever started it is in too holds more than the terminal.
func ownCgroup(lineage []Ancestor) string {
	own := lineage[0].Cgroup
	if len(lineage) < 2 || lineage[1].Cgroup == "" || within(lineage[1].Cgroup, own) {
		return ""
	}
	last := own[strings.LastIndexByte(own, '/')+1:]
	if !strings.HasSuffix(last, ".scope") || strings.HasPrefix(last, "session-") || last == "init.scope" {
		return ""
	}
	return own
}

// adopted says whether a process may have been given a child, instead of having
// started it.
func (a Ancestor) adopted(child Ancestor) bool { return a.PID == 1 && child.Session != a.Session }

// console says whether its terminal is one of the machine's own, as Linux
// numbers them (tty1, tty2): behind a keyboard, and nothing a program can open
// for itself. Serial lines, whose numbers follow, are not among them.
func (a Ancestor) console() bool {
	major, minor := a.Terminal>>8&0xfff, a.Terminal&0xff|a.Terminal>>12&0xfff00
	return major == 4 && minor < 64
}

// behind is the agent among those that are known that a peer belongs to: the
// outermost that it descends from, else one whose session, group or control group
// it shares, so that what lost its parents is still the same agent.
func behind(f Facts, bodies []Body) (Body, bool) {
	for i := len(f.Lineage) - 1; i >= 0; i-- {
		for _, b := range bodies {
			if b.Start != 0 && f.Lineage[i].Process == b.Process {
				return b, true
			}
		}
	}
	for i := len(f.Lineage) - 1; i >= 0; i-- {
		for _, b := range bodies {
			if _, shares := b.shared(f.Lineage[i]); shares {
				return b, true
			}
		}
	}
	return Body{}, false
}
