package peer

import "slices"

// Role is what a connection may do. The zero value is refused.
type Role uint8

// The roles of connections. The host's is not among them.
const (
	None  Role = iota // refused: another user, or nobody knows who
	Agent             // may admit calls and read its own receipts
	Human             // may answer
)

func (r Role) String() string {
	switch r {
	case Agent:
		return "agent"
	case Human:
		return "human"
	}
	return "none"
}

// Token is what a connection presented to prove a person.
type Token uint8

// The two cases. A token that is wrong, expired or revoked is none.
const (
	NoToken Token = iota
	Paired
)

// Body is a body the kernel started, or an agent that asked through a hook:
// whatever has one of its traits is an agent.
type Body struct {
	Process
	// Session and Group are numbers, 0 for none.
	Session, Group int
	// Cgroup is a control group that holds this body and nobody else, else "".
	Cgroup string
	// Login is the login session it is in, 0 when not known.
	Login uint32
}

// Known is what the kernel knows about itself and the agents.
type Known struct {
	// Owners are the users that may connect at all. Root is not one by itself.
	Owners []uint32
	// Kernel is the kernel's own process. What descends from it is a body's,
	// whoever started it: the kernel adopts the orphans of its bodies, and
	// people do not work below it.
	Kernel Process
	// Bodies are the bodies and the hooked agents.
	Bodies []Body
	// OwnLogin asks of a terminal that its login session is not one that an
	// agent is in. It tells apart what nothing else can, and refuses people who
	// work in another window of the same desktop session.
	OwnLogin bool
	// HiddenEnv takes an environment that is kept from the kernel for one without
	// marks. A kernel that runs as another user reads none; there it rests with
	// hooks to tell who is an agent. Without it a person needs a token there.
	HiddenEnv bool
}

// Why is the reason for a role.
type Why uint8

// The reasons. The zero value refuses.
const (
	Stranger      Why = iota // None: not one of the users
	Unknown                  // Agent: not all the facts are known
	UnderDebugger            // Agent: somebody else may hold its strings
	OfKernel                 // Agent: descends from the kernel
	OfBody                   // Agent: descends from a body or a hooked agent
	SharedSession            // Agent: in the terminal session of one
	SharedGroup              // Agent: in the process group of one
	SharedCgroup             // Agent: in the control group of one
	Marks                    // Agent: inherited the mark of one
	SharedLogin              // Agent: in the login session of one
	NoProof                  // Agent: no token and no terminal session of its own
	ByToken                  // Human: a paired token
	OwnTerminal              // Human: a terminal session of its own
)

var whys = [...]string{
	Stranger:      "another user",
	Unknown:       "not everything about the process is known",
	UnderDebugger: "a debugger is attached to the process",
	OfKernel:      "the process descends from the kernel",
	OfBody:        "the process descends from an agent",
	SharedSession: "the process is in the terminal session of an agent",
	SharedGroup:   "the process is in the process group of an agent",
	SharedCgroup:  "the process is in the control group of an agent",
	Marks:         "the process inherited the environment of an agent",
	SharedLogin:   "the process is in the login session of an agent",
	NoProof:       "the process has neither a terminal session of its own nor a paired token",
	ByToken:       "a paired token",
	OwnTerminal:   "a terminal session of its own",
}

func (w Why) String() string {
	if int(w) < len(whys) {
		return whys[w]
	}
	return whys[Stranger]
}

// RoleOf is the role of a connection, and why. Traces of an agent are looked
// for first and no token outweighs one; a person is what is left when there is
// none and something speaks for a person.
func RoleOf(f Facts, known Known, token Token) (Role, Why) {
	if !f.Credentials || !slices.Contains(known.Owners, f.UID) {
		return None, Stranger
	}
	if why, found := trace(f, known); found {
		return Agent, why
	}
	if token == Paired {
		return Human, ByToken
	}
	if f.Env == Hidden && !known.HiddenEnv {
		return Agent, Unknown
	}
	if !ownTerminal(f) {
		return Agent, NoProof
	}
	if known.OwnLogin && !ownLogin(f, known.Bodies) {
		return Agent, SharedLogin
	}
	return Human, OwnTerminal
}

// trace looks for whatever ties the peer to an agent. Not to know is a trace.
func trace(f Facts, known Known) (Why, bool) {
	if !f.Whole || len(f.Lineage) == 0 || known.Kernel.Start == 0 {
		return Unknown, true
	}
	if f.Traced {
		return UnderDebugger, true
	}
	if f.Descends([]Process{known.Kernel}) {
		return OfKernel, true
	}
	for _, b := range known.Bodies {
		if b.Start == 0 || b.PID == 0 {
			return Unknown, true // an agent that cannot be recognized
		}
		if f.Descends([]Process{b.Process}) {
			return OfBody, true
		}
	}
	// An ancestor in an agent's session, group or control group is the agent's
	// too: what it started since does not get away by moving on.
	for _, a := range f.Lineage {
		for _, b := range known.Bodies {
			if why, shares := b.shared(a); shares {
				return why, true
			}
		}
	}
	switch f.Env {
	case Marked:
		return Marks, true
	case Clean, Hidden:
	default:
		return Unknown, true
	}
	return Unknown, false
}

// shared says whether a process is in the session, the group or the control
// group of a body.
func (b Body) shared(a Ancestor) (Why, bool) {
	switch {
	case b.Session != 0 && a.Session == b.Session:
		return SharedSession, true
	case b.Group != 0 && a.Group == b.Group:
		return SharedGroup, true
	case within(a.Cgroup, b.Cgroup):
		return SharedCgroup, true
	}
	return Unknown, false
}

// ownTerminal says whether the peer's session has a terminal and its leader is
// among the peer's ancestors. What lost its parents in a session, as a
// double fork does, has a terminal but nobody who answers for it.
func ownTerminal(f Facts) bool {
	self := f.Lineage[0]
	return self.Terminal != 0 && slices.ContainsFunc(f.Lineage, func(a Ancestor) bool {
		return a.leads() && a.PID == self.Session && a.Terminal == self.Terminal && a.UID == self.UID
	})
}

func ownLogin(f Facts, bodies []Body) bool {
	return f.Login != 0 && !slices.ContainsFunc(bodies, func(b Body) bool { return b.Login == 0 || b.Login == f.Login })
}
