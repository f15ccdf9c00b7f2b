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
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/job"
	"assent/plexus"
	"assent/session"
)

// Why a session or a call is not taken.
var (
	// ErrTooLarge: more than the kernel keeps.
	ErrTooLarge = errors.New("too large")
	// ErrPlace: a folder is not absolute, or is none.
	ErrPlace = errors.New("not an absolute path of a folder")
)

// NewSession is a session to be made.
type NewSession struct {
	ID   string // made when empty
	Seat approval.Seat
	// Mode is the permission mode by name; empty is the default (law §6). An
	// unattended session needs auto or yolo.
	Mode      string
	Client    string
	Workspace string // absolute, an existing folder
	Cwd       string // the same; the workspace when empty
	Home      string // the same; unknown when empty
	// Parent is the session whose agent started this one. The child has its
	// seat, and its mode, which it follows unless a person names another; grants
	// are not handed down.
	Parent string
	Facts  string // a JSON object with whatever else its client knows, or ""
	// Folder is where the agent that asks was started, as the system knows it:
	// what it names as the workspace is that or lies in it. "" when not known.
	Folder string

	started string       // the call of the parent's that started it, or ""
	also    []plexus.Row // written at once with it
}

// CreateSession makes a session. An agent may ask for one, and has no say in
// its mode, seat and home, and little in its workspace; the session is its own,
// and so must the parent be.
func (k *Kernel) CreateSession(ctx context.Context, s NewSession, by plexus.Writer) (plexus.Session, error) {
	row, err := k.createSession(ctx, s, by)
	if err != nil {
		return plexus.Session{}, fmt.Errorf("create session: %w", err)
	}
	return row, nil
}

func (k *Kernel) createSession(ctx context.Context, s NewSession, by plexus.Writer) (plexus.Session, error) {
	if !k.enter() {
		return plexus.Session{}, ErrClosed
	}
	defer k.leave()
	if s.Parent != "" { // who counts its children is alone with them
		k.talking.Lock()
		defer k.talking.Unlock()
	}
	return k.makeSession(ctx, s, by)
}

// makeSession needs talking where the session has a parent.
func (k *Kernel) makeSession(ctx context.Context, s NewSession, by plexus.Writer) (plexus.Session, error) {
	switch by.Role {
	case plexus.Host, plexus.Human:
	case plexus.Agent:
		if s.Mode != "" || s.Seat != approval.Attended {
			return plexus.Session{}, fmt.Errorf("an agent chooses neither its mode nor whether a person looks on: %w", plexus.ErrRole)
		}
		if s.Parent != "" {
			if err := k.admits(ctx, s.Parent, by); err != nil {
				return plexus.Session{}, fmt.Errorf("parent %q: %w", s.Parent, err)
			}
		}
	case plexus.Nobody:
		return plexus.Session{}, plexus.ErrRole
	}
	if s.ID == "" {
		s.ID = k.NewID()
	}
	if s.ID == noID {
		return plexus.Session{}, errNoID
	}
	if s.Cwd == "" {
		s.Cwd = s.Workspace
	}
	for _, place := range []struct {
		what string
		path *string
	}{{"workspace", &s.Workspace}, {"cwd", &s.Cwd}, {"home", &s.Home}} {
		if *place.path == "" && place.what == "home" {
			continue
		}
		if climbs(*place.path) {
			return plexus.Session{}, fmt.Errorf("%s %q has .. in it: %w", place.what, *place.path, ErrPlace)
		}
		if err := folder(*place.path); err != nil {
			return plexus.Session{}, fmt.Errorf("%s %q: %w", place.what, *place.path, err)
		}
		*place.path = filepath.Clean(*place.path)
	}
	if by.Role == plexus.Agent {
		var err error
		if s, err = k.bounded(s); err != nil {
			return plexus.Session{}, err
		}
	}
	if len(s.Client) > maxClient {
		return plexus.Session{}, fmt.Errorf("the client's name has %d bytes, %d are the most: %w", len(s.Client), maxClient, ErrTooLarge)
	}
	mode, seat, err := k.admitMode(ctx, s)
	if err != nil {
		return plexus.Session{}, err
	}
	row := plexus.Session{
		ID: s.ID, Seat: seat, Client: s.Client,
		Workspace: s.Workspace, Cwd: s.Cwd, Home: s.Home, Parent: s.Parent, Facts: s.Facts,
	}
	// The mode an unattended session is admitted with is the host's to write.
	writes := []plexus.Row{row, plexus.Register{Session: s.ID, Name: plexus.StandingPolicy, Value: plexus.Text(mode.String())}}
	if by.Role == plexus.Agent {
		writes = append(writes, belonging(s.ID, by))
	}
	if r := real(s.Workspace); r != s.Workspace {
		writes = append(writes, plexus.Register{Session: s.ID, Name: realWorkspace, Value: plexus.Text(r)})
	}
	if r := real(s.Cwd); r != s.Cwd {
		writes = append(writes, plexus.Register{Session: s.ID, Name: realCwd, Value: plexus.Text(r)})
	}
	if s.Parent != "" {
		kin, err := k.below(ctx, s)
		if err != nil {
			return plexus.Session{}, fmt.Errorf("parent %q: %w", s.Parent, err)
		}
		writes = append(writes, kin...)
		if s.Mode != "" {
			writes = append(writes, plexus.Register{Session: s.ID, Name: ownMode, Value: plexus.True})
		}
	}
	writes = append(writes, s.also...)
	more := plexus.Stored{Sessions: 1, Empty: 1}
	for _, w := range writes {
		more.Bytes += plexus.Bytes(w)
	}
	done, err := k.allot(by, more)
	if err != nil {
		return plexus.Session{}, err
	}
	defer done()
	err = k.having(s.Parent, by, func() error {
		_, err := k.Document.Apply(ctx, plexus.Tx{Writer: k.host, Writes: writes})
		return err
	})
	return row, err
}

// admitMode is the mode and the seat of a new session.
func (k *Kernel) admitMode(ctx context.Context, s NewSession) (approval.Mode, approval.Seat, error) {
	name, seat := s.Mode, s.Seat
	switch {
	case s.Parent != "":
		parent, err := k.View(ctx, s.Parent)
		if err != nil {
			return 0, 0, fmt.Errorf("parent %q: %w", s.Parent, err)
		}
		seat = parent.Seat
		if name == "" {
			name = parent.CurrentPolicy.String()
		}
	case name == "":
		mode, err := k.DefaultPolicy(ctx)
		if err != nil {
			return 0, 0, err
		}
		name = mode.String()
	}
	if seat == approval.Unattended {
		mode, err := approval.AdmitUnattended(name)
		return mode, seat, err
	}
	mode, err := approval.ParseMode(name)
	return mode, seat, err
}

func folder(path string) error {
	if !filepath.IsAbs(path) {
		return ErrPlace
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPlace, err)
	}
	if !info.IsDir() {
		return ErrPlace
	}
	return nil
}

// NewCall is a call to be admitted.
type NewCall struct {
	Session string
	ID      string // made when empty
	Parent  string // a sequence of the session, or ""
	Ord     int64  // place among its siblings
	// Kind is [job.Foreign] for a call of a client's own, the only one an agent
	// may mint. A sequence holds other jobs and is no call.
	Kind      job.Kind
	Name      string // the tool, as the client spells it
	Arguments []byte // one JSON object, or empty
	// Facts is a JSON object with what else the client said, or "". Its member cwd
	// is the folder the call starts in, where that is not the session's: a client's
	// shell goes about.
	Facts string
}

// Admit mints a leaf (law §1). It authorizes nothing; what becomes of it is
// read in the document. On return it is durable.
func (k *Kernel) Admit(ctx context.Context, c NewCall, by plexus.Writer) (plexus.Job, error) {
	if !k.enter() {
		return plexus.Job{}, fmt.Errorf("admit call: %w", ErrClosed)
	}
	defer k.leave()
	if c.ID == "" {
		c.ID = k.NewID()
	}
	row := plexus.Job{
		Session: c.Session, ID: c.ID, Parent: c.Parent, Ord: c.Ord,
		Kind: string(c.Kind), Name: c.Name, Arguments: string(c.Arguments), Facts: c.Facts,
	}
	err := checkCall(c)
	if err == nil {
		var done func()
		if done, err = k.allot(by, plexus.Stored{Bytes: plexus.Bytes(row), Open: 1, Waiting: 1}); err == nil {
			defer done()
			err = k.admits(ctx, c.Session, by)
		}
	}
	if err == nil {
		err = k.having(c.Session, by, func() error {
			_, err := k.Document.Apply(ctx, plexus.Tx{Writer: by, Writes: []plexus.Row{row}})
			return err
		})
	}
	if err != nil {
		return plexus.Job{}, fmt.Errorf("admit call: %w", err)
	}
	return row, nil
}

// noID is an id that no path of HTTP leads to: what is called so could be neither
// answered nor cancelled.
const noID = "/"

var errNoID = fmt.Errorf("%q is no id: %w", noID, plexus.ErrValue)

// maxClient is longer than the name of any client. It stands in lists and on cards.
const maxClient = 200

// maxName is longer than the name of any tool.
const maxName = 1024

func checkCall(c NewCall) error {
	switch {
	case c.ID == noID:
		return errNoID
	case c.Name == "" && !c.Kind.Sequence():
		return fmt.Errorf("the tool has no name: %w", plexus.ErrValue)
	case len(c.Name) > maxName:
		return fmt.Errorf("the tool's name has %d bytes, %d are the most: %w", len(c.Name), maxName, ErrTooLarge)
	case len(c.Facts) > job.MaxArguments:
		return fmt.Errorf("the facts have %d bytes, %d are the most: %w", len(c.Facts), job.MaxArguments, ErrTooLarge)
	}
	if cwd := cwdIn(c.Facts); cwd != "" && (!filepath.IsAbs(cwd) || strings.ContainsRune(cwd, 0) || climbs(cwd)) {
		return fmt.Errorf("cwd %q: %w", cwd, ErrPlace)
	}
	return job.CheckArguments(c.Arguments)
}

// climbs: a part of a path is "..", which leads elsewhere behind a link than its text
// says.
func climbs(path string) bool { return slices.Contains(strings.Split(path, "/"), "..") }

// cwdIn is the folder that the facts of a call name, "" for none. What is no
// text there is a folder that no call starts in.
func cwdIn(facts string) string {
	if facts == "" {
		return ""
	}
	var f struct {
		Cwd jsontext.Value `json:"cwd"`
	}
	if json.Unmarshal([]byte(facts), &f) != nil || len(f.Cwd) == 0 {
		return ""
	}
	var cwd string
	if json.Unmarshal(f.Cwd, &cwd) != nil || cwd == "" {
		return "no text"
	}
	return cwd
}

// Cancel cancels a leaf, a sequence with all in it or, with "", what is under
// way in the session (law §2, ruling 4). What is under way in the sessions that were
// started by one of those calls goes with it, also where that call is settled: it
// is part of what was asked. With "" that is so for all sessions below this one, also
// for those that a client made there. It returns when all of that is durable: what runs has
// been told to end then, and nothing begins any more. Of a job that is settled, or
// cancelled before, and has started no session it says so: [plexus.ErrCompleted],
// [plexus.ErrCancelled].
func (k *Kernel) Cancel(ctx context.Context, id, what string, by plexus.Writer) error {
	reached, err := k.cancel(ctx, id, what, by)
	if what != "" && (err == nil && !reached || by.Role == plexus.Agent && errors.Is(err, plexus.ErrRole)) {
		if over := k.over(ctx, id, what, by); over != nil {
			err = over
		}
	}
	if err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	return nil
}

// over says of a job that nothing of it can be cancelled any more; an agent hears
// that of its own.
func (k *Kernel) over(ctx context.Context, id, what string, by plexus.Writer) error {
	snap, err := k.Document.Job(ctx, id, what)
	if err != nil || by.Role == plexus.Agent && snap.Job.Writer != by {
		return nil // what is wrong with it is said elsewhere
	}
	_, cancelled := snap.Fields[plexus.Cancelled]
	_, completed := snap.Fields[plexus.Completed]
	switch {
	case cancelled:
		return fmt.Errorf("%s was cancelled before: %w", what, plexus.ErrCancelled)
	case completed:
		return fmt.Errorf("%s is settled, and nothing of it is left to be cancelled: %w", what, plexus.ErrCompleted)
	}
	return nil
}

// cancel reports whether there was something to cancel.
func (k *Kernel) cancel(ctx context.Context, id, what string, by plexus.Writer) (reached bool, err error) {
	if by.Role == plexus.Nobody {
		return false, plexus.ErrRole
	}
	job := session.JobID(what)
	may := func(o *owner) error {
		if minter, ok := o.minters[job]; by.Role == plexus.Agent && (!ok || minter != by) {
			return plexus.ErrRole // an agent cancels what it minted
		}
		return nil
	}
	if err := k.do(ctx, id, func(o *owner) (*wait, error) { return nil, may(o) }); err != nil {
		return false, err
	}
	// What it started comes first: somebody who is cut off in between sees a call
	// that is not cancelled, and asks again. Whatever fails there keeps the call itself
	// from nothing.
	started, before := k.cancelStarted(ctx, id, what)
	reached = started
	leaves := make(chan int, 1)
	err = k.do(ctx, id, func(o *owner) (*wait, error) {
		if err := may(o); err != nil {
			return nil, err
		}
		o.step(session.CancelAsked{Job: job, By: by.String()})
		left := o.m.Cancelling(job)
		leaves <- len(left)
		return &wait{
			about: func(job session.JobID) bool { return slices.Contains(left, job) },
			done: func() (bool, error) {
				for len(left) > 0 && !o.m.IsCancelling(left[len(left)-1]) {
					left = left[:len(left)-1]
				}
				return len(left) == 0, nil
			},
		}, nil
	})
	if err != nil {
		return reached, errors.Join(before, err)
	}
	started, after := k.cancelStarted(ctx, id, what) // and what it started meanwhile
	return reached || started || <-leaves > 0, errors.Join(before, after)
}
