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
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
// user. Database says what the user database has for the home folder.
func Find(database func() string) (Kernel, error) {
	return find(func(env string) string { return Home(env, database) })
}

func find(home func(env string) string) (Kernel, error) {
	uid := os.Getuid()
	env := place.EnvOf(os.Getenv, uid)
	env.Home = home(env.Home)
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

// ErrElsewhere: a kernel that is started here would be another one.
var ErrElsewhere = errors.New("the kernel does not run, and this environment (HOME, XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR) would start another one than the hook was set up for: start it with \"assent up\" in a terminal, or connect again")

// At is the kernel at a place that was said, whatever the environment says, and which
// one would be started here. What root set up goes first.
func At(socket, config, state string, database func() string) (at Kernel, starts bool, err error) {
	for _, path := range []string{socket, config, state} {
		if !filepath.IsAbs(path) {
			return Kernel{}, false, fmt.Errorf("looking for the kernel: %q: %w", path, place.ErrRelative)
		}
	}
	here, err := Find(database)
	if err == nil && here.Shared {
		return here, false, nil
	}
	at = Kernel{Place: place.Place{
		Config: filepath.Clean(config), State: filepath.Clean(state), Socket: filepath.Clean(socket), Runtime: filepath.Dir(filepath.Clean(socket)),
	}, User: uint32(os.Getuid())}
	return at, err == nil && here.Place == at.Place, nil
}

// Own is the kernel of the user whom this process belongs to, whatever HOME says; a
// user that the database does not know has the one of HOME. It says whether one that
// is started here is that.
func Own(database func() string) (at Kernel, starts bool, err error) {
	home := database()
	if !filepath.IsAbs(home) {
		at, err = Find(database)
		return at, true, err
	}
	if at, err = find(func(string) string { return filepath.Clean(home) }); err != nil {
		return at, false, err
	}
	here, err := Find(database)
	return at, err == nil && here.Place == at.Place, err
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

// Verify says whether the user who listens is the one who should, before anything
// is said: the user that runs the kernel, and nobody who put a socket in its
// place.
func (at Kernel) Verify(uid uint32) error {
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
func Home(env string, database func() string) string {
	if filepath.IsAbs(env) {
		return filepath.Clean(env)
	}
	if home := database(); filepath.IsAbs(home) {
		return filepath.Clean(home)
	}
	return ""
}

// Passwd is the home folder that /etc/passwd has for this user: what a program asks
// that starts too often for a library of all databases.
func Passwd() string {
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return ""
	}
	return homeIn(string(text), os.Getuid())
}

func homeIn(passwd string, uid int) string {
	for line := range strings.Lines(passwd) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(fields) == 7 && fields[2] == strconv.Itoa(uid) && !strings.HasPrefix(line, "#") {
			return fields[5]
		}
	}
	return ""
}
