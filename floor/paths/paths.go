// Package paths prepares the paths of a call and compares them with the path
// patterns of a policy. It does no I/O: what is true of the machine comes in
// as [Facts], and what would have been worth knowing goes out as wants.
//
// Start reading at [Place.Prepare] and [Pattern.Relate].
package paths

// Place is where a call happens and what is known of the machine there.
type Place struct {
	Workspace string            // absolute, clean
	Cwd       string            // absolute, clean; where the call starts
	Home      string            // absolute, clean; "" when unknown
	Vars      map[string]string // further known variables: TMPDIR, USER
	Fold      bool              // the file system ignores case
	Own       []string          // files of assent itself, for the set @assent: its policies, its socket
	OwnLinks  []string          // links on the way to these, which lead elsewhere when they are replaced
	Scanner   []string          // files of the scanner of commands, for the set @scanner: its program, its socket
	Facts     Facts
}

// Facts are what is true of the machine, gathered outside before judging.
// The zero value knows nothing and assumes no symlinks and a trusted
// workspace without executable git configuration.
type Facts struct {
	// Links maps an absolute path that is a symlink to the absolute path it
	// resolves to.
	Links map[string]string
	// Files are absolute paths of files known to exist: a recursive read is
	// also judged for each of them under its root, and a glob is also expanded
	// with them.
	Files map[string]string
	// Dirs are absolute paths of folders known to exist: a cd into one of them
	// cannot fail.
	Dirs map[string]bool
	// Folders are absolute paths of folders that were looked through, and how
	// many levels of them, [Whole] for all: every file there of which a rule of a
	// person says something is among Files, and every link among Links. Where
	// nothing is said of a folder, nothing is known of what it lacks. What the
	// shipped rules say was looked for where a glob chooses, and not in trees
	// that searchers leave parts out of.
	Folders map[string]int
	// Changing says that among Files are also those of which any rule says
	// something that is about writing or deleting them.
	Changing bool
	// GitConfig is repository-controlled git configuration, lower-case keys, where
	// the call starts.
	GitConfig map[string]string
	// Repositories are absolute paths of folders in which git was looked for, with
	// the configuration that would be in force there; without any entry nothing
	// is known of the folder. Bare are the folders below the workspace that git
	// takes for a repository by what is in them, whatever they are called.
	Repositories map[string]map[string]string
	Bare         map[string]bool
	// Hidden are absolute paths of folders that could not be looked into, and of
	// what could not be looked at: links may be in there that nobody knows of.
	Hidden map[string]bool
	// GitSecrets says that the git configuration in force, the person's own
	// included, holds credentials.
	GitSecrets bool
	// GitRead says that somebody looked for them.
	GitRead bool
	// Secrets are absolute paths of files that hold credentials, whatever they are
	// called.
	Secrets map[string]bool
	// Untrusted says that the workspace's own configuration is not trusted.
	Untrusted bool
	// ServerUntrusted and ServerRoots tell of the MCP server that is called.
	ServerUntrusted bool
	ServerRoots     []string
}
