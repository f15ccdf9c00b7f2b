package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"assent/plexus"
	"assent/session"
)

// An agent acts in sessions of its own and says little about them. Otherwise it
// would say itself what is silent: reading inside the workspace is (law §10), and
// a session has a mode and grants.

var (
	// ErrBounds: an agent does not choose this.
	ErrBounds = errors.New("not for an agent to choose")
	// ErrOther: the session is another agent's.
	ErrOther = errors.New("the session belongs to another agent")
)

// bounded is a session as an agent may have it: its workspace within bounds,
// and the home folder of whom the kernel is for, whatever it says.
func (k *Kernel) bounded(s NewSession) (NewSession, error) {
	home := real(k.Home)
	if s.Home != "" && real(s.Home) != home {
		return NewSession{}, fmt.Errorf("home %q: %w: the home folder is %q; leave it out", s.Home, ErrBounds, k.Home)
	}
	s.Home = k.Home
	// As it really is: a link could lead elsewhere tomorrow.
	s.Workspace = real(s.Workspace)
	if why := outOfBounds(s.Workspace, home, s.Folder, k.agentFolders()); why != "" {
		return NewSession{}, fmt.Errorf("workspace %q: %w: %s", s.Workspace, ErrBounds, why)
	}
	return s, nil
}

// real is a path without links, itself where it cannot be followed.
func real(path string) string {
	if path == "" {
		return ""
	}
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}

// ofTheSystem are folders of the root that hold the system's things, or those
// of all users, and no work of anybody's.
var ofTheSystem = []string{
	"bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "media", "mnt", "nix", "opt", "proc", "root", "run", "sbin", "snap",
	"srv", "sys", "tmp", "usr", "var",
	"Applications", "Library", "Network", "System", "Users", "Volumes", "cores", "private",
}

// noFiles are folders of the root in which nothing is anybody's work: what the
// kernel of the system shows of itself and of every process.
var noFiles = []string{"dev", "proc", "sys"}

// outOfBounds says why a folder is no workspace for an agent's session, "" when
// it is one. Where the agent works is known by what it was started in; what it
// names has to be there.
func outOfBounds(workspace, home, started string, also []string) string {
	first, below, _ := strings.Cut(strings.TrimPrefix(workspace, "/"), "/")
	switch {
	case first == "":
		return "it is the whole file system"
	case home != "" && workspace == home:
		return "it is the home folder"
	case home != "" && within(home, workspace):
		return "it holds the home folder"
	case below == "" && slices.Contains(ofTheSystem, first), slices.Contains(noFiles, first):
		return "it is a folder of the system"
	case started != "" && !within(workspace, real(started)) && !slices.ContainsFunc(also, func(f string) bool { return within(workspace, f) }):
		return fmt.Sprintf("the agent was started in %q and works there and below, or in the agentFolders of config.json", started)
	}
	return ""
}

// agentFolders are those of the settings, as they really are.
func (k *Kernel) agentFolders() []string {
	var folders []string
	for _, f := range k.settings().AgentFolders {
		if rest, ok := strings.CutPrefix(f, "~"); ok && k.Home != "" {
			f = k.Home + rest
		}
		if filepath.IsAbs(f) {
			folders = append(folders, real(f))
		}
	}
	return folders
}

// within says whether a path is a folder or lies under it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// admits says whether an agent may act in a session, and lets it have one that
// is nobody's yet. Everybody else may.
func (k *Kernel) admits(ctx context.Context, id string, by plexus.Writer) error {
	if by.Role != plexus.Agent {
		return nil
	}
	if of, ok := k.belongs.Load(id); ok {
		return mine(of, by)
	}
	k.claiming.Lock()
	defer k.claiming.Unlock()
	latest, err := k.Document.Latest(ctx, id)
	if err != nil {
		return err
	}
	if r, ok := latest[plexus.SessionAgent]; ok {
		var of string
		if err := json.Unmarshal([]byte(r.Value), &of); err != nil {
			return fmt.Errorf("whose session it is: %w", err)
		}
		k.belongs.Store(id, of)
		return mine(of, by)
	}
	_, err = k.Document.Apply(ctx, plexus.Tx{Writer: k.host, Writes: []plexus.Row{belonging(id, by)}})
	if errors.Is(err, plexus.ErrNoSession) {
		return fmt.Errorf("%w: %q", plexus.ErrNoSession, id)
	}
	if err == nil {
		k.belongs.Store(id, by.Name)
	}
	return err
}

// Give lets an agent, by its name, have a session, whoever had it before. That
// is a person's to say. What another agent has under way there is cancelled: it would
// be answered by the mode and the grants of a session that is not its own any more.
func (k *Kernel) Give(ctx context.Context, id, agent string, by plexus.Writer) error {
	if !k.enter() {
		return fmt.Errorf("give session: %w", ErrClosed)
	}
	defer k.leave()
	if by.Role != plexus.Human && by.Role != plexus.Host || agent == "" {
		return fmt.Errorf("give session: %w", plexus.ErrRole)
	}
	to := plexus.Writer{Role: plexus.Agent, Name: agent}
	if err := k.give(ctx, id, to); err != nil {
		return fmt.Errorf("give session: %w", err)
	}
	// What another wrote as the one that had it is in the document by now.
	others, err := look(ctx, k, id, func(o *owner) (jobs []session.JobID) {
		for job, minter := range o.minters {
			if minter.Role == plexus.Agent && minter != to {
				jobs = append(jobs, job)
			}
		}
		return jobs
	})
	for _, job := range others {
		_, e := k.cancel(ctx, id, string(job), by)
		err = errors.Join(err, e)
	}
	if err != nil {
		return fmt.Errorf("give session: cancelling what another agent has under way there: %w", err)
	}
	return nil
}

func (k *Kernel) give(ctx context.Context, id string, to plexus.Writer) error {
	k.claiming.Lock()
	defer k.claiming.Unlock()
	_, err := k.Document.Apply(ctx, plexus.Tx{Writer: k.host, Writes: []plexus.Row{belonging(id, to)}})
	if err == nil {
		k.belongs.Store(id, to.Name)
	}
	return err
}

// having has something written of an agent that a session admits, unless the
// session was given to another meanwhile. Nobody gets it while that is written.
func (k *Kernel) having(id string, by plexus.Writer, write func() error) error {
	if by.Role == plexus.Agent {
		k.claiming.RLock()
		defer k.claiming.RUnlock()
		if of, ok := k.belongs.Load(id); ok {
			if err := mine(of, by); err != nil {
				return err
			}
		}
	}
	return write()
}

// below is what is written with a session below another: how deep it is, and with
// its parent that there is one more. Neither may be without end, whoever makes it. It
// needs talking.
func (k *Kernel) below(ctx context.Context, s NewSession) ([]plexus.Row, error) {
	theirs, err := k.Document.Latest(ctx, s.Parent)
	if err != nil {
		return nil, err
	}
	depth, err := k.depth(ctx, s.Parent, theirs)
	if err != nil {
		return nil, err
	}
	_, there := theirs[startedChild+s.ID] // that it exists is for the document to say
	switch {
	case depth >= maxDepth:
		return nil, fmt.Errorf("%d sessions above this one: %w", depth, ErrTooMany)
	case !there && count(theirs, startedChild) >= maxChildren:
		return nil, fmt.Errorf("%d sessions that this one started: %w", maxChildren, ErrTooMany)
	}
	return []plexus.Row{
		plexus.Register{Session: s.ID, Name: Depth, Value: plexus.Value(depth + 1)},
		plexus.Register{Session: s.Parent, Name: startedChild + s.ID, Value: plexus.Text(s.started)},
	}, nil
}

// depth is how many sessions are above one. Those of older documents do not say.
func (k *Kernel) depth(ctx context.Context, id string, registers map[string]plexus.Register) (depth int, err error) {
	if r, ok := registers[Depth]; ok {
		err := json.Unmarshal([]byte(r.Value), &depth)
		return depth, err
	}
	for ; depth < maxDepth; depth++ {
		id, err = look(ctx, k, id, func(o *owner) string { return o.facts.Parent })
		if err != nil || id == "" {
			return depth, err
		}
	}
	return depth, nil
}

func mine(of any, by plexus.Writer) error {
	if of != by.Name {
		return ErrOther
	}
	return nil
}

func belonging(id string, to plexus.Writer) plexus.Row {
	return plexus.Register{Session: id, Name: plexus.SessionAgent, Value: plexus.Text(to.Name)}
}

func homeOfOwner() string {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Clean(home)
}

// realWorkspace is the register that says where the workspace of a session
// really was when it was made, where that is not what it is called.
var realWorkspace = plexus.HostRegister("workspace")

// realCwd says the same of the folder that its commands start in.
var realCwd = plexus.HostRegister("cwd")

// lies is where the folders of a session really are: its workspace, and where its
// commands start.
type lies struct{ workspace, cwd string }

// reallyOf is where they were when the session was made.
func reallyOf(snap plexus.Snapshot) lies {
	workspace, cwd := snap.Session.Workspace, snap.Session.Cwd
	if r, ok := snap.Registers[realWorkspace]; ok {
		var really string
		if json.Unmarshal([]byte(r.Value), &really) == nil {
			workspace = really
		}
	}
	if r, ok := snap.Registers[realCwd]; ok {
		var really string
		if json.Unmarshal([]byte(r.Value), &really) == nil {
			return lies{workspace, really}
		}
	}
	// Without a link below the workspace.
	if rel, err := filepath.Rel(snap.Session.Workspace, cwd); err == nil && filepath.IsLocal(rel) {
		cwd = filepath.Join(workspace, rel)
	}
	return lies{workspace, cwd}
}
