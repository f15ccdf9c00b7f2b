package cli

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

// stage is a kernel for one play, with everything in a scratch folder: its
// document and settings, a home, and a project to work in. Nothing of the person's
// own is read but what manages the machine.
type stage struct {
	dir     string // of all of it
	place   place.Place
	kernel  *kernel.Kernel
	person  *client.Client
	ends    context.CancelFunc
	ended   chan error
	session string
}

// prop is a file of the project.
type prop struct {
	name, text string
	mode       os.FileMode
}

// player is who mints the calls of a play: the host, as for every agent that it runs
// itself.
var player = plexus.Writer{Role: plexus.Host, Name: "agent"}

// stagePolicy leaves the shipped floor as it is. A scanner that is installed would
// answer as well, and differently from machine to machine.
const stagePolicy = "version: 1\nscanner: off\n"

// setStage begins a kernel in a scratch folder.
func setStage(ctx context.Context, props []prop) (_ *stage, err error) {
	s := &stage{ended: make(chan error, 1)}
	if s.dir, err = os.MkdirTemp("", "assent-try-"); err != nil {
		return nil, fmt.Errorf("making a scratch folder: %w", err)
	}
	if s.dir, err = filepath.EvalSymlinks(s.dir); err != nil {
		return nil, fmt.Errorf("making a scratch folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.strike())
		}
	}()
	s.place, err = place.Of(place.Env{
		ConfigHome: filepath.Join(s.dir, "config"), StateHome: filepath.Join(s.dir, "state"), RuntimeDir: filepath.Join(s.dir, "run"),
		Home: s.home(), UID: os.Getuid(),
	})
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{s.home(), s.project(), s.place.Config} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("making a scratch folder: %w", err)
		}
	}
	props = append(props, prop{s.place.PolicyFile(), stagePolicy, 0o600})
	for _, p := range props {
		name := p.name
		if !filepath.IsAbs(name) {
			name = filepath.Join(s.project(), name)
		}
		if err := os.WriteFile(name, []byte(p.text), p.mode); err != nil {
			return nil, fmt.Errorf("making a scratch folder: %w", err)
		}
	}
	token := rand.Text()
	made := make(chan *kernel.Kernel, 1)
	var life context.Context
	life, s.ends = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		s.ended <- daemon.Run(life, daemon.Options{
			Place: s.place, Version: version(), Home: s.home(),
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
	s.person = client.New(s.place.Socket, client.Options{Token: token})
	session, err := s.person.CreateSession(ctx, wire.NewSession{
		ID: "try", Mode: approval.Auto.String(), Client: "a scripted agent", Workspace: s.project(), Home: s.home(),
	})
	s.session = session.ID
	return s, err
}

func (s *stage) home() string    { return filepath.Join(s.dir, "home") }
func (s *stage) project() string { return filepath.Join(s.dir, "project") }

// strike ends the kernel and takes away everything.
func (s *stage) strike() error {
	var err error
	if s.person != nil {
		s.person.Close()
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

// call has the agent ask for a tool.
func (s *stage) call(ctx context.Context, kind job.Kind, name, arguments string) (string, error) {
	row, err := s.kernel.Admit(ctx, kernel.NewCall{Session: s.session, Kind: kind, Name: name, Arguments: []byte(arguments)}, player)
	return row.ID, err
}

// until waits until a call is asked about or settled, and gives it then.
func (s *stage) until(ctx context.Context, call string, done func(wire.Job) bool) (wire.Job, error) {
	ctx, stop := context.WithTimeout(ctx, stageLimit)
	defer stop()
	for event, err := range s.person.Watch(ctx, s.session, 0) {
		if err != nil {
			return wire.Job{}, err
		}
		if event.Rows == nil {
			continue
		}
		job, err := s.person.Job(ctx, s.session, call)
		if err != nil || done(job) {
			return job, err
		}
	}
	return wire.Job{}, ctx.Err()
}

// stageLimit is far longer than anything in a play takes by itself.
const stageLimit = time.Minute
