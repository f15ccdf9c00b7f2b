package peer

import "strings"

// Process is one process and no other: its number together with the time it was
// started, so that a number that was given out again is another process.
type Process struct {
	PID int
	// Start is in clock ticks since boot. 0 is no process.
	Start uint64
}

// Ancestor is a process as it was seen.
type Ancestor struct {
	Process
	// UID is its real user.
	UID uint32
	// Name is the program's name as the process itself tells it. Never a proof.
	Name string
	// Group and Session are the numbers of its process group and session; a
	// number is not given out again while one process is in it.
	Group, Session int
	// Terminal is the number of the controlling terminal, 0 for none.
	Terminal int
	// Cgroup is its control group, "" when not known.
	Cgroup string
}

// leads says whether it is the leader of a session with a terminal, as a login
// shell or the shell of a terminal window is.
func (a Ancestor) leads() bool { return a.PID == a.Session && a.Terminal != 0 }

// Env is what could be read of an environment that was inherited.
type Env uint8

// What there is to know. The zero value is the doubtful one.
const (
	// Unread: the peer's environment could not be read.
	Unread Env = iota
	// Clean: it was read and has no mark, nor has any ancestor's that could be
	// read.
	Clean
	// Marked: the peer or an ancestor carries a mark of an agent.
	Marked
	// Hidden: the system does not let the kernel read it, as is so for a kernel
	// that runs as another user.
	Hidden
)

// Facts are what is known about the process at the other end. The zero value
// knows nothing and is a stranger.
type Facts struct {
	// Credentials: the socket says who connected.
	Credentials bool
	UID, GID    uint32
	// Lineage is the process that connected, its parent, and so on.
	Lineage []Ancestor
	// Whole: the lineage goes up to where there are no more parents, was read
	// without a change meanwhile, and the process was alive at the end.
	Whole bool
	// Pinned: the socket itself named the process in a way that survives its
	// number. Without it (Linux before 6.5), a process that ends between
	// connecting and being looked at could be taken for another one that got its
	// number in that moment.
	Pinned bool
	// Env tells of the marks, Mark names the one that was found.
	Env  Env
	Mark string
	// Login is the number of the login session (the audit session), which no
	// process without privileges can change; 0 when the system keeps none.
	Login uint32
	// Traced: a debugger is attached to the peer.
	Traced bool
}

// Process is who connected, the zero value when that is not known.
func (f Facts) Process() Process {
	if len(f.Lineage) == 0 {
		return Process{}
	}
	return f.Lineage[0].Process
}

// Descends says whether the peer is one of the processes or descends from one,
// as far as its lineage is known.
func (f Facts) Descends(of []Process) bool {
	for _, a := range f.Lineage {
		for _, p := range of {
			if a.Process == p && p.Start != 0 {
				return true
			}
		}
	}
	return false
}

// within says whether a control group is another or lies below it. The root
// holds everybody and says nothing.
func within(cgroup, of string) bool {
	return of != "" && of != "/" && (cgroup == of || strings.HasPrefix(cgroup, of+"/"))
}
