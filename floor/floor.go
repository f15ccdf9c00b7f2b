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

import "assent/floor/paths"

// Call is a tool call as the agent emitted it, and where it would run.
type Call struct {
	// Name is the tool's name in the client's own spelling: "Bash", "Read",
	// "apply_patch", "mcp__server__tool".
	Name string
	// Arguments is the JSON object of the tool's arguments, as it came.
	Arguments []byte
	// Workspace, Cwd and Home are absolute paths. An empty Cwd is the
	// workspace; an empty Home is unknown.
	Workspace, Cwd, Home string
	// Vars holds further variables whose value is known: TMPDIR, USER.
	Vars map[string]string
	// Fold says that the file system ignores case.
	Fold bool
	// Facts are what was found out about the machine beforehand.
	Facts paths.Facts
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
	return p
}
