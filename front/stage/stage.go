// Package stage is a kernel for one play: the real one, in the process of whoever
// plays, with everything in a scratch folder that goes when the play ends. The
// player mints calls as the host and answers them as a person.
//
// Nothing of the person's own is read but what manages the machine, and nobody but
// the player has a role. Start reading at [Set].
package stage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"assent/approval"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/daemon"
	"assent/internal/place"
	"assent/job"
	"assent/kernel"
	"assent/plexus"
)

// Stage is a kernel for one play: its document and settings, a home, and a project to
// work in.
type Stage struct {
	// Person asks and answers as the person of the play.
	Person *client.Client
	// Session is where the calls are made.
	Session string

	dir    string // of all of it
	place  place.Place
	kernel *kernel.Kernel
	ends   context.CancelFunc
	ended  chan error
}

// Prop is a file of the project.
type Prop struct {
	Name, Text string
	Mode       os.FileMode
}

// player is who mints the calls of a play: the host, as for every agent that it runs
// itself.
var player = plexus.Writer{Role: plexus.Host, Name: "agent"}

// stagePolicy leaves the shipped floor as it is. A scanner that is installed would
// answer as well, and differently from machine to machine.
const stagePolicy = "version: 1\nscanner: off\n"

// Set begins a kernel in a scratch folder; version is what the program says it is.
func Set(ctx context.Context, version string, props []Prop) (_ *Stage, err error) {
	s := &Stage{ended: make(chan error, 1)}
	if s.dir, err = os.MkdirTemp("", "assent-try-"); err != nil {
		return nil, fmt.Errorf("making a scratch folder: %w", err)
	}
	if s.dir, err = filepath.EvalSymlinks(s.dir); err != nil {
		return nil, fmt.Errorf("making a scratch folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Strike())
		}
	}()
	s.place, err = place.Of(place.Env{
		ConfigHome: filepath.Join(s.dir, "config"), StateHome: filepath.Join(s.dir, "state"), RuntimeDir: filepath.Join(s.dir, "run"),
		Home: s.home(), UID: os.Getuid(),
	})
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{s.home(), s.Project(), s.place.Config} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("making a scratch folder: %w", err)
		}
	}
	props = append(props, Prop{s.place.PolicyFile(), stagePolicy, 0o600})
	for _, p := range props {
		name := p.Name
		if !filepath.IsAbs(name) {
			name = filepath.Join(s.Project(), name)
		}
		if err := os.WriteFile(name, []byte(p.Text), p.Mode); err != nil {
			return nil, fmt.Errorf("making a scratch folder: %w", err)
		}
	}
	token := rand.Text()
	made := make(chan *kernel.Kernel, 1)
	var life context.Context
	life, s.ends = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		s.ended <- daemon.Run(life, daemon.Options{
			Place: s.place, Version: version, Home: s.home(),
			Stage: &daemon.Stage{
				Token: token, Person: "you", Ready: func(k *kernel.Kernel) { made <- k },
				Env: []string{"HOME=" + s.home(), "PATH=" + os.Getenv("PATH"), "LC_ALL=C"},
			},
		})
	}()
	select {
	case s.kernel = <-made:
	case err := <-s.ended:
		s.ended <- err
		return nil, fmt.Errorf("starting a kernel in %s: %w", s.dir, err)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.Person = client.New(s.place.Socket, client.Options{Token: token})
	session, err := s.Person.CreateSession(ctx, wire.NewSession{
		ID: "try", Mode: approval.Auto.String(), Client: "a scripted agent", Workspace: s.Project(), Home: s.home(),
	})
	s.Session = session.ID
	return s, err
}

func (s *Stage) home() string { return filepath.Join(s.dir, "home") }

// Project is the folder that the agent works in.
func (s *Stage) Project() string { return filepath.Join(s.dir, "project") }

// Strike ends the kernel and takes away everything.
func (s *Stage) Strike() error {
	var err error
	if s.Person != nil {
		s.Person.Close()
	}
	if s.ends != nil {
		s.ends()
		err = <-s.ended
	}
	if s.place.Runtime != "" { // it may be elsewhere, where paths are long
		err = errors.Join(err, os.RemoveAll(s.place.Runtime))
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// kinds are those of the host's own tools that a play may use.
var kinds = map[string]job.Kind{
	"bash": job.SystemTool, "read": job.SystemTool, "list": job.SystemTool, "write": job.FileMutateTool, "edit": job.FileMutateTool,
}

// Call has the agent ask for a tool of the host, and gives the id of the call.
func (s *Stage) Call(ctx context.Context, tool, arguments string) (string, error) {
	row, err := s.kernel.Admit(ctx, kernel.NewCall{Session: s.Session, Kind: kinds[tool], Name: tool, Arguments: []byte(arguments)}, player)
	return row.ID, err
}

// Until waits until a call is as is wanted, and gives it then.
func (s *Stage) Until(ctx context.Context, call string, done func(wire.Job) bool) (wire.Job, error) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	for event, err := range s.Person.Watch(ctx, s.Session, 0) {
		if err != nil {
			return wire.Job{}, err
		}
		if event.Rows == nil {
			continue
		}
		job, err := s.Person.Job(ctx, s.Session, call)
		if err != nil || done(job) {
			return job, err
		}
	}
	return wire.Job{}, ctx.Err()
}

// limit is far longer than anything in a play takes by itself.
const limit = time.Minute
