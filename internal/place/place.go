package place

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
)

// name is the folder of ours in each of the shared ones.
const name = "assent"

// SocketLimit is the longest path of a unix socket that every system here takes:
// sun_path holds 108 bytes on Linux and 104 on macOS and the BSDs, with the NUL
// that ends it. One number for all keeps the paths of one environment the same
// wherever a home folder is mounted.
const SocketLimit = 103

// Errors of an environment that names no place.
var (
	ErrNoHome   = errors.New("no home folder is known")
	ErrTooLong  = errors.New("path too long for a unix socket")
	ErrRelative = errors.New("not an absolute path")
)

// Env is what the places follow from.
type Env struct {
	// Home is the home folder, absolute.
	Home string
	// ConfigHome, StateHome and RuntimeDir are XDG_CONFIG_HOME, XDG_STATE_HOME
	// and XDG_RUNTIME_DIR. Empty and relative ones count as unset, as the XDG
	// base directory specification says.
	ConfigHome, StateHome, RuntimeDir string
	// UID is the user whose places they are.
	UID int
	// Short is a folder with a short path where everybody may make folders of
	// their own, for sockets whose path would be too long. Empty means /tmp.
	// It is not TMPDIR: that differs from program to program, and a daemon and
	// its clients would miss each other.
	Short string
	// Socket, when set, is the socket's path: for a daemon that runs as another
	// user, or a flag.
	Socket string
}

// EnvOf picks the variables out of a lookup such as os.Getenv.
func EnvOf(lookup func(string) string, uid int) Env {
	return Env{
		Home:       lookup("HOME"),
		ConfigHome: lookup("XDG_CONFIG_HOME"),
		StateHome:  lookup("XDG_STATE_HOME"),
		RuntimeDir: lookup("XDG_RUNTIME_DIR"),
		UID:        uid,
	}
}

// Place is where everything is. All paths are absolute and clean.
type Place struct {
	// Config holds what a person writes: config.json and policy.yaml.
	Config string
	// State holds what must survive: the document, the log, the lock.
	State string
	// Runtime holds the socket, and nothing that must survive.
	Runtime string
	// Socket is the daemon's unix socket.
	Socket string
}

// Of tells the places of an environment, without looking at the machine.
//
// The socket stands in the runtime folder: XDG_RUNTIME_DIR/assent, else a
// folder in the state folder. Where that path would be longer than
// [SocketLimit] the runtime folder is /tmp/assent-UID-HASH, the hash telling
// apart the environments of one user.
func Of(env Env) (Place, error) {
	config, err := base(env.ConfigHome, env.Home, ".config")
	if err != nil {
		return Place{}, fmt.Errorf("config folder: %w", err)
	}
	state, err := base(env.StateHome, env.Home, ".local/state")
	if err != nil {
		return Place{}, fmt.Errorf("state folder: %w", err)
	}
	p := Place{Config: config, State: state}
	if env.Socket != "" {
		if !filepath.IsAbs(env.Socket) {
			return Place{}, fmt.Errorf("socket %q: %w", env.Socket, ErrRelative)
		}
		p.Socket = filepath.Clean(env.Socket)
		p.Runtime = filepath.Dir(p.Socket)
		return p, fits(p.Socket)
	}
	p.Runtime = filepath.Join(state, "run")
	if filepath.IsAbs(env.RuntimeDir) {
		p.Runtime = filepath.Join(env.RuntimeDir, name)
	}
	p.Socket = filepath.Join(p.Runtime, socketName)
	if fits(p.Socket) == nil {
		return p, nil
	}
	short := env.Short
	if short == "" {
		short = "/tmp"
	}
	if !filepath.IsAbs(short) {
		return Place{}, fmt.Errorf("folder for short paths %q: %w", short, ErrRelative)
	}
	sum := sha256.Sum256([]byte(p.Runtime))
	p.Runtime = filepath.Join(short, name+"-"+strconv.Itoa(env.UID)+"-"+hex.EncodeToString(sum[:8]))
	p.Socket = filepath.Join(p.Runtime, socketName)
	return p, fits(p.Socket)
}

const socketName = "assent.sock"

// ConfigFile is the kernel's config.json (law §6).
func (p Place) ConfigFile() string { return filepath.Join(p.Config, "config.json") }

// PolicyFile is the operator's policy.
func (p Place) PolicyFile() string { return filepath.Join(p.Config, "policy.yaml") }

// StoreFile is the shared document.
func (p Place) StoreFile() string { return filepath.Join(p.State, "plexus.db") }

// LockFile is held by the one daemon. It stands beside the document and not
// beside the socket: what must not have two owners is the document.
func (p Place) LockFile() string { return filepath.Join(p.State, "kernel.lock") }

// LogFile is where a detached daemon writes.
func (p Place) LogFile() string { return filepath.Join(p.State, "kernel.log") }

// ScannerFile says where the scanner of commands was found once (law ruling 16).
func (p Place) ScannerFile() string { return filepath.Join(p.State, "scanner.json") }

// Running is the folder in which stands what the kernel runs.
func (p Place) Running() string { return filepath.Join(p.State, "running") }

// SharedRoot is where the sockets of kernels are that run as another user than
// the one they are for. Only root can make anything there, so no agent can
// put a socket of its own in a person's way.
const SharedRoot = "/run/assent"

// Shared is the socket of a kernel that runs as another user, for a user.
func Shared(root string, uid int) string {
	return filepath.Join(root, strconv.Itoa(uid), socketName)
}

// LastPolicies is the folder of the last good text of every policy.
func (p Place) LastPolicies() string { return filepath.Join(p.State, "policies") }

func base(xdg, home, under string) (string, error) {
	if filepath.IsAbs(xdg) {
		return filepath.Join(xdg, name), nil
	}
	if !filepath.IsAbs(home) {
		return "", ErrNoHome
	}
	return filepath.Join(home, under, name), nil
}

func fits(socket string) error {
	if len(socket) > SocketLimit {
		return fmt.Errorf("%s: %w: %d bytes, at most %d", socket, ErrTooLong, len(socket), SocketLimit)
	}
	return nil
}
