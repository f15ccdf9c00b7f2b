// Package effect is the vocabulary of the floor: what a tool call would do,
// told as a list of effects, each with its origin in the text of the call and
// how sure the floor is of it. The package decides nothing; it is data.
//
// Start reading at [Effect].
package effect

// Kind says what sort of thing would happen. The zero value is [Opaque]: what
// nobody classified is the kind that is never allowed by silence.
type Kind uint8

// The kinds, in the order of policy §1. MCP is the call of a tool of an MCP
// server as a whole; the paths and addresses in its arguments are effects of
// their own.
const (
	Opaque Kind = iota
	Run
	Read
	Write
	Delete
	Net
	Env
	MCP
	numKinds
)

var kindNames = [numKinds]string{"opaque", "run", "read", "write", "delete", "net", "env", "mcp"}

// String is the kind's name on the wire.
func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return "opaque"
}

// MarshalText writes the name used on the wire.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Span is a range of bytes in the text of the call: [Start, End). For a bash
// call the text is the command; for other tools spans are empty and Arg names
// the argument.
type Span struct{ Start, End int }

// Empty reports whether the span points at nothing.
func (s Span) Empty() bool { return s.End <= s.Start }

// Certainty tells an effect that will happen if the call runs from one that
// only might. The zero value is Sure, the stricter of the two.
type Certainty uint8

// A Maybe effect comes from a guess about a program nobody described: a word
// that looks like a path may be read by it. It can make a result stricter and
// never looser.
const (
	Sure Certainty = iota
	Maybe
)

// Class is what kind of work a described command does, as a fact and not as a
// verdict: policy rules name classes as "@look", "@build" and so on.
type Class string

// The closed list of classes. An empty class is Unknown.
const (
	Unknown   Class = ""          // nothing is known of the program or its subcommand
	Look      Class = "look"      // reads what its operands name and prints; nothing else
	Edit      Class = "edit"      // creates, changes or deletes exactly the files its operands name
	Build     Class = "build"     // builds, tests, lints or formats the tree with the project's own tools
	Wrap      Class = "wrap"      // only runs another command, which is judged on its own
	Code      Class = "code"      // runs code given as a file, as text or on standard input
	Install   Class = "install"   // installs or removes packages or tools
	Fetch     Class = "fetch"     // reads from a network
	Send      Class = "send"      // changes something beyond this machine
	Repo      Class = "repo"      // changes the state of a version-control repository
	Discard   Class = "discard"   // throws away uncommitted work or local history
	Rewrite   Class = "rewrite"   // rewrites or deletes shared history
	Cloud     Class = "cloud"     // changes a cloud account, a cluster or infrastructure
	Secret    Class = "secret"    // prints or exports secrets, tokens or keys
	Environ   Class = "environ"   // prints the whole environment
	Identity  Class = "identity"  // tells who runs the agent and on which machine
	Process   Class = "process"   // signals or controls other processes
	System    Class = "system"    // changes the machine: services, users, mounts, network, time
	Service   Class = "service"   // starts or stops local servers and containers
	Remote    Class = "remote"    // runs commands on another machine or in a container
	Privilege Class = "privilege" // runs something as another user
	Device    Class = "device"    // writes raw devices or file systems
	Persist   Class = "persist"   // makes something run later: crontab, at, login items
	UI        Class = "ui"        // opens an editor, pager or other screen that can run commands
	Agent     Class = "agent"     // starts or configures an agent or its permissions
)

// Classes lists every class, for checking data and policies.
var Classes = []Class{Look, Edit, Build, Wrap, Code, Install, Fetch, Send, Repo, Discard, Rewrite, Cloud, Secret,
	Environ, Identity, Process, System, Service, Remote, Privilege, Device, Persist, UI, Agent}

// Effect is one thing the call would do.
type Effect struct {
	Kind      Kind
	Certainty Certainty
	// Target is what the effect is about, ready to show and to match: a
	// prepared path, a host, a variable's name, the words of a command, a
	// "server/tool", or why the effect is opaque.
	Target string
	// Span is where in the call's text the effect comes from; Arg is the name
	// of the argument of a call that is not bash.
	Span Span
	Arg  string
	// Path holds what is known of the path of a read, write or delete.
	Path Path
	// Command is the command of a run effect, and for any other effect the
	// command that causes it. It is nil for what the shell itself does
	// (redirections) and for tools that are no commands.
	Command *Command
	// Option is the canonical spelling of the option that causes the effect,
	// empty when the command's nature or an operand does.
	Option string
	// Privileged says that the effect happens as another user (sudo).
	Privileged bool
	// Unconfined says that the call is taken out of where the person's client
	// keeps it, or given more rights.
	Unconfined bool
	// Meta says that a read only looks at names and attributes, not content.
	Meta bool
	// Tree says that the effect covers everything under the path.
	Tree bool
	// Below says that a tree is meant without the path itself, and not all of
	// it: what a search with conditions finds there.
	Below bool
	// Names says which of the files in a tree are meant, as globs of their
	// names with "|" between them; "" is all of them. Nothing in it is special
	// but "*" and "?", and a file that is meant fits one of them.
	Names string
	// Repository says that git looks for its repository from this folder on, other
	// than the one the call starts in.
	Repository bool
	// There says that what is written in a tree or by a glob is there already: no
	// file of another name is made.
	There bool
	// Product says that a build makes or cleans it, under a name of builds: nothing
	// is asked about it unless a rule speaks of that place.
	Product bool
	// Own says that a write or delete touches only a temporary file that the
	// same call made with mktemp.
	Own bool
	// Coverable says that an operator's own rule that names the command also
	// answers this opaque effect (inline code of an interpreter, an option
	// nobody described).
	Coverable bool
	// Steered says that the call itself writes what the command obeys: only a
	// rule that names the command answers that, one for all of its class does not.
	Steered bool
}

// ProgramItself stands as the option of a read that is the program being run,
// where it is run by its path.
const ProgramItself = "(program)"

// Path is a prepared path (policy §1): expanded, absolute, clean, symlinks of
// the existing part resolved. The zero value is the unknown path.
type Path struct {
	// Abs is the absolute path after resolution, "" when unknown. It may hold
	// glob characters when Glob is set: then it stands for a set of paths.
	Abs string
	// Rel is the path relative to the workspace, "." for the workspace itself,
	// "" when it is outside.
	Rel string
	// Named is the absolute path before symlinks were resolved, when it
	// differs from Abs.
	Named string
	Glob  bool
}

// Known reports whether it can be told where the path lies.
func (p Path) Known() bool { return p.Abs != "" }

// Inside reports whether the path is known to lie in the workspace.
func (p Path) Inside() bool { return p.Abs != "" && p.Rel != "" }

// Command is a simple command after its wrappers were peeled and its words
// were read with what is known of the program.
type Command struct {
	// Program is the base name for a program from a system place, the path as
	// written for any other, "" when it cannot be told.
	Program string
	// Sub holds the subcommand words in canonical spelling.
	Sub []string
	// Options holds every option present, in order.
	Options []Option
	// Operands holds the remaining words as text; an unknown part is shown as
	// "…" and a glob as written.
	Operands []string
	// Wrappers holds the programs that were peeled off, outermost first
	// ("sudo", "env", "xargs").
	Wrappers []string
	// Renamed holds the wrappers' options with which the words mean another
	// program than without: "conda run -n other tool".
	Renamed []Option
	Class   Class
	// Turned holds the options that make a look-up do more than look: "sed -i",
	// "find -delete". A rule that allows the look-up does not speak of them.
	Turned []string
	// Raised holds the options that gave the command its class. A rule that
	// leaves them out does not lift what is denied to that class.
	Raised []string
	// Brings says where files come into the tree whose names no word tells (a
	// pull, a checkout, an archive of a server): folders, or files whose content
	// comes from elsewhere. "/" stands for anywhere.
	Brings []string
	// Described says that the program has an entry in the command knowledge.
	Described bool
}

// Option is one option of a command as it was understood.
type Option struct {
	// Name is the canonical (long) spelling; Names are all of its spellings.
	Name   string
	Names  []string
	Value  string
	Valued bool
	// Renames says that with this option the operands name other things than
	// without: "npx -p other tool" does not run what "npx tool" runs.
	Renames bool
	// Elsewhere says that with this option the same words are about another
	// machine, cluster or account: "docker -H tcp://x ps".
	Elsewhere bool
}

// Has reports whether the option is present in any of its spellings.
func (c *Command) Has(spelling string) bool {
	for i := range c.Options {
		o := &c.Options[i]
		if o.Name == spelling {
			return true
		}
		for _, n := range o.Names {
			if n == spelling {
				return true
			}
		}
	}
	return false
}
