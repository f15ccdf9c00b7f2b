package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"os/user"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"assent/front/daemon"
	"assent/front/reach"
	"assent/internal/config"
	"assent/internal/place"
)

// Flags that the program gives itself.
const (
	flagReport = "report-start" // a detached kernel says what became of its start
	flagFor    = "serve-for"    // the user who may connect to a kernel of another user
	flagSocket = "serve-at"     // and where
)

type up struct {
	detach bool
	user   string
	owner  string

	report bool
	forUID int
	socket string
}

func newUp() *cobra.Command {
	u := &up{forUID: -1}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run the kernel",
		Long: `Run the kernel: the one process that owns the sessions, judges their calls and
keeps the document. Commands that need it start it by themselves; run it here
to see what it does. It ends with Ctrl-C or "assent down".

With --user, as root, it runs as another user, whose files and process an agent
of yours cannot touch. SECURITY.md says what each arrangement stops.`,
		Example: `  assent up
  assent up --detach
  sudo assent up --detach --user assent`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return u.run(cmd.Context(), cmd.OutOrStdout(), warnings(cmd))
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&u.detach, "detach", "d", false, "run it in the background, and return when it answers")
	f.StringVar(&u.user, "user", "", "run it as this `user`, apart from the one it is for (as root)")
	f.StringVar(&u.owner, "owner", "", "with --user: the `name` of whom it is for (default: who called sudo)")
	f.BoolVar(&u.report, flagReport, false, "")
	f.IntVar(&u.forUID, flagFor, -1, "")
	f.StringVar(&u.socket, flagSocket, "", "")
	for _, name := range []string{flagReport, flagFor, flagSocket} {
		_ = f.MarkHidden(name) // it is defined just above
	}
	return cmd
}

func (u *up) run(ctx context.Context, out io.Writer, warn warning) error {
	switch {
	case u.report:
		return u.reporting(ctx)
	case u.user != "":
		return u.apart(ctx, out)
	case u.owner != "":
		return usagef("--owner needs --user")
	}
	if u.forUID >= 0 {
		at, err := u.place()
		if err != nil {
			return err
		}
		return u.serve(ctx, at, newLines(out, stampShort), nil)
	}
	at, err := findKernel()
	if err != nil {
		return err
	}
	if at.Shared {
		return fmt.Errorf("root has set up a kernel for you that runs as user %d; it is not started from here", at.User)
	}
	if !u.detach {
		return u.serve(ctx, at.Place, newLines(out, stampShort), nil)
	}
	child, err := detached()
	if err != nil {
		return err
	}
	child.Env = append(child.Env, keyVariables(at.ConfigFile(), os.Environ())...)
	troubles, _ := settingsTroubles(at.ConfigFile())
	for _, trouble := range troubles {
		warn("%s", trouble)
	}
	return u.detached(ctx, out, at.Place, child)
}

// keyVariables are those of an environment in which the settings look for the keys of
// connections. Where a command or a hook starts a kernel there are none: that may be
// an agent's doing, and its environment is no person's word.
func keyVariables(file string, environ []string) (found []string) {
	for _, c := range config.Read(file).Config.Connections {
		for _, e := range environ {
			if name, _, _ := strings.Cut(e, "="); name != "" && name == c.Variable() && !slices.Contains(found, e) {
				found = append(found, e)
			}
		}
	}
	slices.Sort(found)
	return found
}

// brief is how long a kernel that is there may take to answer.
const brief = 15 * time.Second

// detached starts a kernel in the background. One that runs already is fine, if
// it answers, also where it was started a moment ago by somebody else.
func (u *up) detached(ctx context.Context, out io.Writer, p place.Place, child daemon.Child) error {
	if found, err := running(ctx, out, p); found {
		return err
	}
	starts, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pid, err := daemon.Detach(starts, child)
	if err != nil {
		if starts.Err() == nil {
			if found, there := running(ctx, out, p); found {
				return there
			}
		}
		return err
	}
	_, err = fmt.Fprintf(out, "The kernel is running (process %d). Its log is %s.\n", pid, tilde(p.LogFile()))
	return err
}

// running waits for the answer of a kernel that is there, and says whether one is.
func running(ctx context.Context, out io.Writer, p place.Place) (found bool, err error) {
	pid, held, err := place.Held(p.LockFile())
	if err != nil || !held {
		return false, nil // whoever starts one is told what is the matter
	}
	ctx, cancel := context.WithTimeout(ctx, brief)
	defer cancel()
	switch err := daemon.Await(ctx, p); {
	case isSilent(err):
		return true, hinted(err)
	case err != nil:
		return true, fmt.Errorf("%w; \"assent down\" ends it, and its log is %s", err, tilde(p.LogFile()))
	}
	_, err = fmt.Fprintf(out, "The kernel is running already (process %d).\n", pid)
	return true, err
}

// place is where a kernel serves that root started as another user.
func (u *up) place() (place.Place, error) {
	env := place.EnvOf(os.Getenv, os.Getuid())
	env.Socket = u.socket
	return place.Of(env)
}

// reporting is a kernel that somebody waits for who does not see its output.
func (u *up) reporting(ctx context.Context) error {
	report, err := daemon.NewReport()
	if err != nil {
		return usageError{err}
	}
	err = u.detachedHere(ctx, report)
	if err != nil {
		report.Failed(err)
	}
	return err
}

func (u *up) detachedHere(ctx context.Context, report daemon.Report) error {
	var p place.Place
	var err error
	if u.forUID >= 0 {
		p, err = u.place()
	} else {
		var at kernelAt
		at, err = findKernel()
		p = at.Place
	}
	if err != nil {
		return err
	}
	log, file, err := openLog(p)
	if err != nil {
		return err
	}
	defer file.Close()
	return u.serve(ctx, p, log, report.Ready)
}

// maxLog is how large a log may be when a kernel starts; the one before is
// kept beside it.
const maxLog = 8 << 20

func openLog(p place.Place) (*slog.Logger, *os.File, error) {
	own := p
	own.Runtime = p.State
	if err := place.Prepare(own, os.Geteuid()); err != nil {
		return nil, nil, err
	}
	path := p.LogFile()
	if info, err := os.Lstat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, nil, fmt.Errorf("log: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("log: %w", err)
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, nil, errors.Join(fmt.Errorf("log: %s is not a regular file", path), err, file.Close())
	}
	if err := debug.SetCrashOutput(file, debug.CrashOptions{}); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("log: %w", err), file.Close())
	}
	return newLines(file, stampLong), file, nil
}

// serve runs the kernel until somebody ends it.
func (u *up) serve(ctx context.Context, p place.Place, log *slog.Logger, ready func()) error {
	unsettle, err := daemon.Settle()
	if err != nil {
		return err
	}
	defer unsettle()
	// Writing to an output that is closed is an error and no end. (Ignored, it
	// would be ignored by what bodies run, too.)
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	stop := context.AfterFunc(ctx, func() { signal.Stop(asked) }) // the second one ends at once
	defer stop()
	go func() {
		select {
		case s := <-asked:
			cancel(fmt.Errorf("%v", s))
		case <-ctx.Done():
		}
	}()
	o := daemon.Options{Place: p, Version: version(), Ready: ready, Log: log, Follow: ready == nil}
	if u.forUID >= 0 {
		o.Owners = []uint32{uint32(u.forUID)}
		if owner, err := user.LookupId(strconv.Itoa(u.forUID)); err == nil {
			o.Home = owner.HomeDir
		}
	} else {
		o.Home = reach.Home(os.Getenv("HOME"), homeOfUser)
	}
	log.Info("starting", "version", version(), "process", os.Getpid())
	err = daemon.Run(ctx, o)
	switch {
	case err == nil:
		log.Info("ended")
	case errors.Is(err, place.ErrTaken):
		err = fmt.Errorf("%w; \"assent status\" tells of it, \"assent down\" ends it", err)
	default:
		log.Error("ended", "error", err)
	}
	return err
}

// account is a user of the machine.
type account struct {
	name     string
	uid, gid int
	home     string
}

func accountOf(word string) (account, error) {
	found, err := user.Lookup(word)
	if err != nil {
		if found, err = user.LookupId(word); err != nil {
			return account{}, usagef("there is no user %q", word)
		}
	}
	a := account{name: found.Username, home: found.HomeDir}
	var errs [2]error
	a.uid, errs[0] = strconv.Atoi(found.Uid)
	a.gid, errs[1] = strconv.Atoi(found.Gid)
	return a, errors.Join(errs[:]...)
}

// apart starts a kernel that runs as another user.
func (u *up) apart(ctx context.Context, out io.Writer) error {
	if os.Geteuid() != 0 {
		return usagef("--user needs root, as in: sudo assent up --user %s", u.user)
	}
	kernel, err := accountOf(u.user)
	if err != nil {
		return err
	}
	owner := u.owner
	for _, name := range []string{"SUDO_UID", "PKEXEC_UID"} {
		if owner == "" {
			owner = os.Getenv(name)
		}
	}
	if owner == "" {
		return usagef("say whom the kernel is for, with --owner USER")
	}
	person, err := accountOf(owner)
	if err != nil {
		return err
	}
	if err := separate(kernel, person); err != nil {
		return err
	}
	if info, err := os.Stat(kernel.home); err != nil || !info.IsDir() {
		return errors.Join(usagef("the user %s has no home folder to keep the document in: %s", kernel.name, kernel.home), err)
	}
	socket := place.Shared(place.SharedRoot, person.uid)
	if err := place.MakeShared(socket, kernel.uid, person.gid); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	args := []string{"up", "--" + flagFor, strconv.Itoa(person.uid), "--" + flagSocket, socket}
	env := []string{"HOME=" + kernel.home, "USER=" + kernel.name, "LOGNAME=" + kernel.name, "PATH=/usr/local/bin:/usr/bin:/bin"}
	if !u.detach {
		return become(kernel, self, append([]string{"assent"}, args...), env)
	}
	p, err := place.Of(place.Env{Home: kernel.home, UID: kernel.uid, Socket: socket})
	if err != nil {
		return err
	}
	return u.detached(ctx, out, p, daemon.Child{
		Path: self, Args: append(args, "--"+flagReport), Env: env,
		As: &syscall.Credential{Uid: uint32(kernel.uid), Gid: uint32(kernel.gid)},
	})
}

// separate says why two users would not be apart, if they would not.
func separate(kernel, person account) error {
	switch {
	case kernel.uid == 0:
		return usagef("the kernel does not run as root: it would give what it runs all there is")
	case person.uid == 0:
		return usagef("the kernel is not for root: from root nothing can be kept")
	case kernel.uid == person.uid:
		return usagef("%s is the user it is for: that sets nothing apart", kernel.name)
	}
	return nil
}

// become is another user's program from here on.
func become(a account, path string, args, env []string) error {
	if err := os.Chdir("/"); err != nil {
		return err
	}
	for _, step := range []error{syscall.Setgroups(nil), syscall.Setgid(a.gid), syscall.Setuid(a.uid)} {
		if step != nil {
			return fmt.Errorf("becoming user %s: %w", a.name, step)
		}
	}
	if err := daemon.KeepInherited(); err != nil {
		return err
	}
	if err := syscall.Exec(path, args, env); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("the user %s may not run %s: %w", a.name, path, err)
		}
		return fmt.Errorf("run %s: %w", path, err)
	}
	return nil
}
