// Package floor judges a tool call by policy: it tells what the call would do
// as a list of effects, finds the rule that answers each of them, and gives
// the strictest answer (policy §2). It is pure: no I/O, no clock, no network.
// Whatever must be known of the machine comes in with the [Call].
//
// The floor never decides what happens with its answer; that is the law's
// work (package approval).
//
// Start reading at [Floor.Judge].
package floor

import (
	"assent/approval"
	"assent/floor/effect"
	"assent/floor/paths"
)

// Call is a tool call as the agent emitted it, and where it would run.
type Call struct {
	// Name is the tool's name in the client's own spelling: "Bash", "Read",
	// "apply_patch", "mcp__server__tool".
	Name string
	// Client is whose tool that is, as its session says: "opencode". It can make an
	// answer stricter, never milder: whoever asks says it of itself.
	Client string
	// Arguments is the JSON object of the tool's arguments, as it came.
	Arguments []byte
	// Workspace, Cwd and Home are absolute paths. An empty Cwd is the
	// workspace; an empty Home is unknown. A workspace of "/" is none: what may
	// be silent in a project is not silent on a whole machine.
	Workspace, Cwd, Home string
	// Vars holds further variables whose value is known: TMPDIR, USER.
	Vars map[string]string
	// Fold says that the file system ignores case.
	Fold bool
	// Facts are what was found out about the machine beforehand.
	Facts paths.Facts
	// Scan is what a scanner said about the command, if one was asked.
	Scan Scan
}

// Place is where the call happens, as package paths wants it.
func (c Call) Place() *paths.Place {
	p := &paths.Place{
		Workspace: c.Workspace,
		Cwd:       c.Cwd,
		Home:      c.Home,
		Vars:      c.Vars,
		Fold:      c.Fold,
		Facts:     c.Facts,
	}
	if p.Cwd == "" {
		p.Cwd = p.Workspace
	}
	if p.Workspace == "/" {
		p.Workspace = ""
	}
	return p
}

// Floor is the layers of policy that judge together (policy §2). The zero
// value judges by the shipped floor alone.
type Floor struct {
	// Operator answers first; where none of its rules matches an effect, the
	// shipped floor answers.
	Operator *Policy
	// Managed and Project only make results stricter.
	Managed, Project *Policy
	// Base replaces the shipped floor, for tests.
	Base *Policy
	// Own are further files of assent itself that no call may touch, besides
	// the policies' own: absolute paths.
	Own []string
	// OwnLinks are the links on the way to those: they alone, and not what is behind
	// them.
	OwnLinks []string
	// ScannerFiles are files of the scanner of commands, and where its program
	// would be looked for: who writes there has another scanner. Absolute paths.
	ScannerFiles []string
	// Processes are assent's own, which no command may end: the kernel's.
	Processes []int
}

// base is the policy that answers where the operator does not.
func (f *Floor) base() *Policy {
	if f.Base != nil {
		return f.Base
	}
	return ShippedPolicy()
}

// Judge tells what a call would do and what the policies say about it. It
// never fails: what goes wrong while judging is a block with a message (law
// ruling 7).
func (f *Floor) Judge(call Call) (v Verdict) {
	defer f.rescue(call.Name, &v)
	place := call.Place()
	effects, text := effects(&call, place)
	return f.judge(&call, place, effects, text)
}

// JudgeEffects judges effects that were told before, of a call whose text is
// given.
func (f *Floor) JudgeEffects(call Call, effects []effect.Effect, text string) (v Verdict) {
	defer f.rescue(call.Name, &v)
	return f.judge(&call, call.Place(), effects, text)
}

func (f *Floor) rescue(name string, v *Verdict) {
	if r := recover(); r != nil {
		const message = "The floor failed while judging this call. It is refused; please report it."
		*v = Verdict{
			Result:  approval.Block,
			Cluster: approval.ClusterOf(name),
			Hatch:   true,
			Message: message,
			Effects: []Judged{{Effect: effect.Effect{Kind: effect.Opaque, Target: "judging failed"}, Result: approval.Block, Rule: failed, Message: message}},
		}
	}
}

var failed = &RuleRef{Layer: Shipped, Default: true, Text: "what fails while judging is refused"}
