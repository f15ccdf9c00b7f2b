package kernel

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"time"

	"assent/approval"
	"assent/floor"
	"assent/job"
	"assent/plexus"
	"assent/remainder"
	"assent/senses"
)

// Document is the part of [plexus.Store] that the kernel uses.
type Document interface {
	Apply(context.Context, plexus.Tx) (plexus.Rev, error)
	Open(ctx context.Context, session string) (plexus.Snapshot, error)
	Unsettled(context.Context) ([]string, plexus.Rev, error)
	OpenSequences(context.Context) ([]plexus.JobName, error)
	Job(ctx context.Context, session, id string) (plexus.JobSnapshot, error)
	Latest(ctx context.Context, session string) (map[string]plexus.Register, error)
	Head(context.Context) (plexus.Head, error)
	Trusted(context.Context) error
	Watch(context.Context, plexus.Rev, plexus.Filter) iter.Seq2[[]plexus.Row, error]
	SetPresence(session, key, value string)
	Revisions(ctx context.Context, session, name string) ([]plexus.Register, error)
	BriefsBefore(ctx context.Context, before plexus.Rev, session string, wanted func(plexus.Job) bool, f func(plexus.JobSnapshot) bool) error
	Stored(agent string) (st plexus.Stored, whole bool)
	StoredOfAll() map[string]plexus.Stored
	Free() (bytes int64, known bool)
}

// Errors of the kernel's life.
var (
	// ErrClosed: the kernel is closed.
	ErrClosed = errors.New("the kernel is closed")
	// errCancelled is why an attempt was stopped.
	errCancelled = errors.New("cancelled")
)

// Classifier answers in mode auto what no person has to (law §9).
type Classifier interface {
	// Vote is one attempt. An error is a failed one; it is tried again.
	Vote(context.Context, Question) (remainder.Vote, error)
}

// Question is what a classifier is asked.
type Question struct {
	Session string
	Leaf    approval.Leaf
	View    approval.Session
	Attempt int    // from 1
	Cwd     string // where the call starts

	facts   plexus.Session
	choices remainder.Choices
	program string // the text that a person wrote for the session or for all
}

// Program is what the classifier runs (law §9). The zero value is the program that
// ships.
type Program struct {
	Name, Text string
	// Err is why the program that was chosen cannot be had. Every attempt fails then;
	// no other program takes its place (law ruling 17).
	Err error
	// Files are where it is kept, by all names that are known: no call may change it.
	Files []string
}

// Policies tell by which policies a call is judged.
type Policies interface {
	// Layers are those in force for a workspace, and what is wrong with any.
	// It looks at the files each time.
	Layers(workspace string) Layers
	// Notify has f called when files changed, until the returned function was
	// called. A workspace is looked after while somebody asked for it.
	Notify(workspace string, f func()) (stop func())
}

// Layers are policies in force.
type Layers struct {
	Floor floor.Floor
	// Before are those from before a text that was saved just now and may be half
	// of what is being written; nil for none. What they restrict still is.
	Before *floor.Floor
	// Errors say which files could not be used, and why.
	Errors []string
	// Unknown says that a policy could not be read and what it denied is not
	// known either: nothing is allowed.
	Unknown bool
	// Missing says that there is no operator's policy and never was one.
	Missing bool
}

// RefusedSource is the [Settings.Source] of the strictest settings, where the
// text that has others was broken from the start.
const RefusedSource = "refused"

// Settings are what a person sets for the whole kernel (law §6).
type Settings struct {
	// Source is another one for each text that the settings were read from. What
	// the document has of them stays as long as that is the same, and gives way
	// to what was saved since. It is "" while the text is broken: these are from
	// before, and whatever is read next was saved since. [RefusedSource] is that
	// of settings for which nothing was ever read: nothing of the document's stays.
	Source string
	// DefaultPolicy is the mode that sessions start with where the document
	// names none.
	DefaultPolicy     approval.Mode
	StandingAutoAllow approval.Terms
	AutoCoverDeny     approval.CoverDeny
	// Slots is speculativePolicyProcessingTools: how many evaluations of the
	// floor run at a time. Less than 1 is the law's default, 2.
	Slots int
	// Program is autoModeJudge, Connections the connections to models that are set up,
	// nil for none; JudgeConnection and JudgeModel are which of them the classifier
	// asks, "" where nothing was chosen.
	Program                     Program
	Connections                 remainder.Connections
	JudgeConnection, JudgeModel string
	// AgentFolders are folders in which an agent's session may work wherever the
	// agent was started: absolute, or from the home folder ("~/src").
	AgentFolders []string
	// AgentBytes is how much an agent may have in the document. Less than 1 is
	// [DefaultAgentBytes].
	AgentBytes int64
	// Reserve is how much of the disk stays free of what agents begin. Less than 1 is
	// [DefaultReserve].
	Reserve int64
}

// defaultSlots is speculativePolicyProcessingTools where nobody sets it (law §6).
const defaultSlots = 2

// Options are what a kernel runs with. Document is needed, all else has a
// default.
type Options struct {
	Document Document
	// Registry says what runs here; what it does not know is external, and all
	// is when it is nil.
	Registry *job.Registry
	// Limit is how long a body may take, 0 for as long as it likes, which is
	// so for all when Limit is nil.
	Limit func(kind job.Kind, name string) time.Duration
	// Policies may be nil: then the shipped floor answers alone.
	Policies Policies
	// Classifier answers instead of the program and the connections of Settings.
	Classifier Classifier
	// ClassifierLimit is how long one attempt may take, 2 min when 0. One that
	// takes longer has failed, and a person is asked.
	ClassifierLimit time.Duration
	Settings        Settings
	// Home is the home folder of whom the kernel is for, which the sessions of
	// agents have: that of the process when empty.
	Home string
	// Own are the daemon's own files and folders, which no call may touch.
	Own []string
	// ScannerFiles are files of the scanner of commands, which no call may change.
	// They are asked for with every call: a scanner may be installed at any time.
	ScannerFiles func() []string
	// Processes are the daemon's own, which no call may end.
	Processes []int
	// Vars are the variables whose values the floor may know; [senses.Vars]
	// when nil.
	Vars map[string]string
	// Prepare adds to a call what is known of the machine, for the floor that
	// will judge it: [senses.CompleteFor] when nil. A scanner's report is added
	// here.
	Prepare func(context.Context, *floor.Floor, floor.Call) floor.Call
	// JudgeLimit is how long one evaluation may take, 10 s when 0. What takes
	// longer is a block (law ruling 7).
	JudgeLimit time.Duration
	// After has f called in its own goroutine when d has passed, until stop
	// was called: [time.AfterFunc] when nil.
	After func(d time.Duration, f func()) (stop func() bool)
	// Now is the clock by which grants end: [time.Now] when nil.
	Now func() time.Time
	// NewID makes ids: random when nil.
	NewID func() string
	// Name is who writes as the host, "kernel" when empty.
	Name string
}

// judgeLimit is far more than the floor needs for the largest call that is
// admitted.
const judgeLimit = 10 * time.Second

// classifierLimit is longer than three answers of a model take (law ruling 17),
// and short for a person who is not asked before.
const classifierLimit = 2 * time.Minute

func (o Options) withDefaults() Options {
	if o.Registry == nil {
		o.Registry = new(job.Registry)
	}
	if o.Limit == nil {
		o.Limit = func(job.Kind, string) time.Duration { return 0 }
	}
	if o.Policies == nil {
		o.Policies = shippedOnly{}
	}
	if o.Home == "" {
		o.Home = homeOfOwner()
	}
	if o.Vars == nil {
		o.Vars = senses.Vars()
	}
	if o.Prepare == nil {
		o.Prepare = func(_ context.Context, f *floor.Floor, call floor.Call) floor.Call {
			return senses.CompleteFor(f, call)
		}
	}
	if o.JudgeLimit <= 0 {
		o.JudgeLimit = judgeLimit
	}
	if o.ClassifierLimit <= 0 {
		o.ClassifierLimit = classifierLimit
	}
	if o.After == nil {
		o.After = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	if o.Name == "" {
		o.Name = "kernel"
	}
	return o
}

type shippedOnly struct{}

func (shippedOnly) Layers(string) Layers         { return Layers{} }
func (shippedOnly) Notify(string, func()) func() { return func() {} }
