// Package reach finds the kernel of whoever calls: where its socket is, who has
// to listen there, and whether nobody else could. It is what every program
// needs that asks the kernel, and links nothing that a hook would start slowly
// by.
//
// Start reading at [Find].
package reach

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"assent/internal/peer"
	"assent/internal/place"
)

// Kernel is where the kernel of whoever calls is, or would be.
type Kernel struct {
	place.Place
	// User runs the kernel: whoever calls, or who root set up.
	User uint32
	// Shared says that root set it up to run as another user: then nobody else
	// can start or end it.
	Shared bool
}

// Find follows from the environment, and from what root set up for this
// user.
func Find() (Kernel, error) {
	uid := os.Getuid()
	env := place.EnvOf(os.Getenv, uid)
	env.Home = Home(env.Home, user.Current)
	at := Kernel{User: uint32(uid)}
	shared := place.Shared(place.SharedRoot, uid)
	switch runs, ok, err := place.SharedKernel(shared); {
	case err != nil:
		return Kernel{}, fmt.Errorf("looking for the kernel: %w", err)
	case ok:
		env.Socket, at.User, at.Shared = shared, uint32(runs), true
	}
	var err error
	if at.Place, err = place.Of(env); err != nil {
		return Kernel{}, fmt.Errorf("looking for the kernel: %w", err)
	}
	return at, nil
}

// Trusted says whether the folder of the socket is what it should be: whoever
// can put a socket there can be told what was meant for the kernel.
func (at Kernel) Trusted() error {
	if at.Shared { // root made it; Find has looked
		return nil
	}
	err := place.Check(at.Runtime, int(at.User), place.Private)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder of the kernel's socket: %w", err)
	}
	return nil
}

// Verify looks at who listens before anything is said: the user that runs the
// kernel, and nobody who put a socket in its place.
func (at Kernel) Verify(conn net.Conn) error {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("the kernel is on no other socket than a unix socket")
	}
	uid, err := peer.User(c)
	if err != nil {
		return err
	}
	if uid != at.User && uid != 0 {
		return fmt.Errorf("user %d listens on %s, and not the kernel of user %d", uid, at.Socket, at.User)
	}
	return nil
}

// kept are the variables that a kernel takes over. What else is set where it
// happens to be started first, often by an agent, is not its business: marks
// of an agent, search paths of libraries, switches of the runtime, secrets.
var kept = []string{
	"HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
}

// Env is what a kernel takes over of an environment.
func Env(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return !slices.Contains(kept, name) && !strings.HasPrefix(name, "LC_")
	})
}

// Home is the home of the person: as the environment says, else as the
// user database does; "" when neither knows.
func Home(env string, current func() (*user.User, error)) string {
	if filepath.IsAbs(env) {
		return filepath.Clean(env)
	}
	if u, err := current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return filepath.Clean(u.HomeDir)
	}
	return ""
}
