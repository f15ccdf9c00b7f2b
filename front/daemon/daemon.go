package daemon

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"assent/approval"
	"assent/floor"
	"assent/front/api"
	"assent/front/api/wire"
	"assent/internal/config"
	"assent/internal/peer"
	"assent/internal/place"
	"assent/kernel"
	"assent/model"
	"assent/plexus"
	"assent/senses"
	"assent/tirith"
)

// Options of a daemon. Place is needed.
type Options struct {
	Place place.Place
	// Version is what the program says it is.
	Version string
	// Owners are the users that may connect; the daemon's own when empty. With
	// others the folder of the socket is theirs to enter, and must have been
	// made for that.
	Owners []uint32
	// Home is the home folder of the one it is for; the process's own when empty.
	Home string
	// Ready is called when the socket answers.
	Ready func()
	// Log is told what happens; nobody when nil.
	Log *slog.Logger
	// Follow has it told of the sessions too: calls that are decided, answers,
	// modes. The document has all of it anyway.
	Follow bool

	// Stage makes it the kernel of one program that plays both sides; nil for one
	// that is anybody's.
	Stage *Stage

	scanner *tirith.Tirith // that of a test; the machine's when nil

	folder func(peer.Body) string                            // what tests know of an agent's
	opened func(*plexus.Store, *kernel.Kernel, *config.File) // tests look at them
}

// Stage is how a program has a kernel of its own in its own process, with places of
// its own: it mints calls as the host, and is the only person.
type Stage struct {
	// Token is what the program's person presents, made anew for each kernel. Nobody
	// else has a role.
	Token string
	// Person is the name of that person.
	Person string
	// Env is what the environment of bodies is taken from.
	Env []string
	// Ready is called with the kernel when its socket answers.
	Ready func(*kernel.Kernel)
}

// of is the role of whoever connects to a stage.
func (s *Stage) of(net.Conn) api.Caller {
	return func(claim api.Claim) (plexus.Writer, error) {
		if s.Token == "" || claim.Agent || subtle.ConstantTimeCompare([]byte(claim.Token), []byte(s.Token)) != 1 {
			return plexus.Writer{}, errToken
		}
		return plexus.Writer{Role: plexus.Human, Name: s.Person}, nil
	}
}

// ConfigError is the key of presence under which the kernel's session says
// what is wrong with config.json.
const ConfigError = "configError"

// ConfigWarning is the key under which it says what was read there as something
// else than it says, a line each.
const ConfigWarning = "configWarning"

// closing is how long requests under way may take when the daemon ends.
const closing = 2 * time.Second

// Run is the whole life: it returns when ctx is done and everything is closed,
// or with what went wrong. Only one daemon has a place at a time: another one
// that is there is a [*place.TakenError].
func Run(ctx context.Context, o Options) (err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Ready == nil {
		o.Ready = func() {}
	}
	uid := os.Geteuid()
	shared := len(o.Owners) > 0
	if !shared {
		o.Owners = []uint32{uint32(uid)}
	}
	if err := prepare(o.Place, uid, shared); err != nil {
		return err
	}
	lock, err := place.Take(o.Place.LockFile())
	if err != nil {
		return err
	}
	var ends closers
	defer func() { err = errors.Join(err, ends.close()) }()
	ends.add(lock.Release)
	lock.Note(o.Place.Socket)

	document, err := plexus.Open(o.Place.StoreFile(), plexus.Options{})
	if err != nil {
		return err
	}
	ends.add(document.Close)
	policies, err := kernel.OpenPolicies(kernel.PolicyFiles{
		Operator: o.Place.PolicyFile(), Managed: place.ManagedPolicy, State: o.Place.LastPolicies(),
	})
	if err != nil {
		return err
	}
	ends.add(policies.Close)
	states := newSettings()
	file, err := config.Open(o.Place.ConfigFile(), states.put)
	if err != nil {
		return err
	}
	ends.add(file.Close)
	first := file.State()
	states.begin(first)
	environ := os.Environ()
	if o.Stage != nil {
		environ = o.Stage.Env
	}
	judge, err := openProgram(cmp.Or(o.Home, os.Getenv("HOME")), o.Place.Config, states.anew)
	if err != nil {
		return err
	}
	ends.add(judge.Close)
	connections := model.New(model.Keys{Env: lookUp(environ), Ring: model.Ring})
	if o.Stage != nil { // the key ring is a person's, and asks them
		connections = model.New(model.Keys{Env: lookUp(environ)})
	}
	connections.Set(first.Config.Connections)
	ends.add(connections.Close)
	tell(o.Log, document, first)
	late := &lateKernel{made: make(chan struct{})}
	registry, kit, err := bodies(first.Config, late, environ, o.Place.Running())
	if err != nil {
		return err
	}
	ends.add(func() error { kit.Close(); return nil })
	if err := turns(registry, late, document, connections, kit); err != nil {
		return err
	}
	scanner := scannerOf(o)
	var limit toolLimit
	limit.set(first.Config)
	k, err := kernel.Open(ctx, kernel.Options{
		Prepare: func(ctx context.Context, f *floor.Floor, call floor.Call) floor.Call {
			return scanner.Add(ctx, f, senses.CompleteFor(f, call))
		},
		Document:     document,
		Registry:     registry,
		Policies:     policies,
		Settings:     settingsOf(first, judge, connections),
		Limit:        limit.of,
		Home:         o.Home,
		Own:          []string{o.Place.Config, o.Place.State, o.Place.Runtime, o.Place.ConfigFile(), o.Place.PolicyFile()},
		Processes:    []int{os.Getpid()},
		ScannerFiles: scanner.Files,
	})
	late.k = k
	close(late.made)
	if err != nil {
		return err
	}
	ends.add(k.Close)
	if k.ProgramError(ctx) != nil {
		tell(o.Log, document, programTold(ctx, k, first))
	}
	configured := make(chan struct{})
	configuring, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(configured)
		states.follow(configuring, func(ctx context.Context, s config.State) error {
			limit.set(s.Config)
			connections.Set(s.Config.Connections)
			err := k.Configure(ctx, settingsOf(s, judge, connections)) // first: what is taken back holds at once
			tell(o.Log, document, programTold(ctx, k, s))
			kit.Set(toolsOf(s.Config))
			return err
		}, o.Log)
	}()
	ends.add(func() error { stop(); <-configured; return nil })

	if o.Follow {
		head, err := document.Head(ctx)
		if err != nil && !errors.Is(err, plexus.ErrTampered) {
			return err
		}
		following, stop := context.WithCancel(context.WithoutCancel(ctx))
		followed := make(chan struct{})
		go func() {
			defer close(followed)
			follow(following, document, head.Rev, o.Log)
		}()
		ends.add(func() error { stop(); <-followed; return nil })
	}
	gate := peer.NewGate(o.Owners, shared)
	remembered, err := remember(ctx, gate, document, o.Place, o.Log)
	if err != nil {
		return err
	}
	tokens, err := api.OpenTokens(ctx, document)
	if err != nil {
		return err
	}
	socket, err := listen(o.Place.Socket, shared)
	if err != nil {
		return err
	}
	if o.folder == nil {
		o.folder = peer.Folder
	}
	who := &callers{gate: gate, keep: remembered.keep, room: k.Room, folder: o.folder, paired: tokens.Holds, log: o.Log}
	ends.add(func() error { who.noting.Wait(); return nil })
	opts := api.Options{
		Kernel: k, Document: document,
		Role:    who.of,
		Agents:  who.admits,
		Why:     who.why,
		Origin:  new(peer.Origins).Of,
		Gone:    peer.Gone,
		Tokens:  tokens,
		AgentOf: who.agentOf,
		Standing: func(set api.Standing, write func() error) error {
			return states.alone(func() error {
				if err := write(); err != nil {
					return err
				}
				return keep(file, set)
			})
		},
		Servers: func(ctx context.Context, ask bool) []wire.ServerTools { return serversOf(ctx, kit, ask) },
		Scanner: func(ctx context.Context) wire.Scanner { return scannerStatus(ctx, scanner, policies) },
		Version: o.Version, Path: o.Place.StoreFile(), Config: o.Place.ConfigFile(), Policy: o.Place.PolicyFile(), Log: o.Log,
	}
	if o.Stage != nil {
		opts.Role, opts.Agents, opts.Why, opts.AgentOf = o.Stage.of, nil, nil, nil
	}
	front := api.New(opts)
	served := make(chan error, 1)
	go func() { served <- front.Serve(socket) }()
	guarding, unguard := context.WithCancel(ctx)
	unreachable := make(chan error, 1)
	go func() {
		defer close(unreachable)
		unreachable <- socket.guard(guarding, func() error { return prepare(o.Place, uid, shared) }, o.Log)
	}()
	ends.add(func() error {
		unguard()
		for range unreachable { // until it has ended
		}
		return nil
	})
	o.Log.Info("ready", "socket", o.Place.Socket, "document", o.Place.StoreFile())
	if o.opened != nil {
		o.opened(document, k, file)
	}
	o.Ready()
	if o.Stage != nil {
		o.Stage.Ready(k)
	}
	var lost error
	select {
	case err = <-served:
		if err == nil {
			err = errors.New("the socket was closed")
		}
		return fmt.Errorf("serve %s: %w", o.Place.Socket, err)
	case lost = <-unreachable:
	case <-ctx.Done():
	}
	unguard() // before the socket is closed
	o.Log.Info("ending", "why", cmp.Or(lost, context.Cause(ctx)))
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	err = front.Shutdown(limited)
	if errors.Is(err, context.DeadlineExceeded) {
		o.Log.Warn("requests were cut off")
		err = nil
	}
	if e := <-served; err == nil {
		err = e
	}
	return errors.Join(lost, err)
}

// closers close in the opposite order.
type closers []func() error

func (c *closers) add(f func() error) { *c = append(*c, f) }

func (c *closers) close() (err error) {
	for len(*c) > 0 {
		last := len(*c) - 1
		err = errors.Join(err, (*c)[last]())
		*c = (*c)[:last]
	}
	return err
}

// prepare makes and checks the folders. One that is shared was made by root
// for this user, and is only checked.
func prepare(p place.Place, uid int, shared bool) error {
	if shared {
		return place.PrepareShared(p, uid)
	}
	return place.Prepare(p, uid)
}

// programTold is a state that warns of the classifier's program, where that cannot run.
func programTold(ctx context.Context, k *kernel.Kernel, s config.State) config.State {
	if err := k.ProgramError(ctx); err != nil && ctx.Err() == nil {
		s.Config.Warnings = append(slices.Clip(s.Config.Warnings), err.Error()+": every attempt of the classifier fails, and a person is asked")
	}
	return s
}

// lookUp finds variables in an environment.
func lookUp(environ []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, line := range slices.Backward(environ) {
			if value, ok := strings.CutPrefix(line, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

// settingsOf are the settings of the kernel that a configuration gives.
func settingsOf(s config.State, judge *program, connections *model.Connections) kernel.Settings {
	c, from := s.Config, s.Source
	if !s.Good {
		from = kernel.RefusedSource
	}
	return kernel.Settings{
		Source:            from,
		DefaultPolicy:     c.DefaultPolicy,
		StandingAutoAllow: c.AutoAllow,
		AutoCoverDeny:     c.AutoCoverDeny,
		Program:           judge.read(c.AutoModeJudge),
		Connections:       connections,
		JudgeConnection:   c.JudgeConnection,
		JudgeModel:        c.JudgeModel,
		Slots:             c.Slots,
		AgentFolders:      c.AgentFolders,
		AgentBytes:        c.AgentBytes,
		Reserve:           c.Reserve,
	}
}

// tell says what is wrong with the configuration, to whoever looks and in the
// log.
func tell(log *slog.Logger, document *plexus.Store, s config.State) {
	text := ""
	if s.Err != nil {
		holds := "what it said before is in force"
		if !s.Good {
			holds = "the strictest settings are in force, for it has been so since the kernel started"
		}
		text = s.Err.Error() + "\nrefused whole: " + holds
		log.Error("config.json is refused whole: "+holds, "error", s.Err)
	} else {
		log.Info("settings", "defaultPolicy", s.Config.DefaultPolicy, "autoAllow", granted(s.Config), "autoCoverDeny", s.Config.AutoCoverDeny == 0)
	}
	for _, w := range s.Config.Warnings {
		log.Warn(w)
	}
	document.SetPresence("", ConfigError, text)
	document.SetPresence("", ConfigWarning, strings.Join(s.Config.Warnings, "\n"))
}

func granted(c config.Config) string {
	var names []string
	for _, g := range []struct {
		term approval.Term
		name string
	}{{c.AutoAllow.Write, "write"}, {c.AutoAllow.Bash, "bash"}, {c.AutoAllow.MCP, "mcp"}} {
		if end, ok := g.term.End(); ok {
			names = append(names, g.name+" until "+end.Format(time.RFC3339))
		} else if g.term == approval.Endless {
			names = append(names, g.name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ",")
}

// keep keeps in the file what a person set for the whole kernel.
func keep(file *config.File, set api.Standing) error {
	var errs []error
	if set.DefaultPolicy != nil {
		errs = append(errs, file.Set(config.DefaultPolicy, set.DefaultPolicy.String()))
	}
	if set.StandingAutoAllow != nil {
		errs = append(errs, file.Set(config.AutoAllow, *set.StandingAutoAllow))
	}
	if set.AutoCoverDeny != nil {
		errs = append(errs, file.Set(config.AutoCoverDeny, *set.AutoCoverDeny == approval.Cover))
	}
	if set.JudgeConnection != nil {
		errs = append(errs, file.Set(config.JudgeConnection, *set.JudgeConnection))
	}
	if set.JudgeModel != nil {
		errs = append(errs, file.Set(config.JudgeModel, *set.JudgeModel))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("it is in force, but config.json does not have it: %w", err)
	}
	return nil
}
