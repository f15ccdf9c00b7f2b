package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"assent/approval"
	"assent/plexus"
	"assent/session"
)

// Keys of presence (law §7): what is true now and is told, not stored.
const (
	// PolicyError says what is wrong with the policies, of a session or, for
	// those of the machine, of the kernel. It stays until an evaluation with
	// good ones.
	PolicyError = "policyError"
	// DocumentError says that the document cannot be written: calls are
	// refused, and nothing is allowed.
	DocumentError = "documentError"
	// Progress and the id of a leaf tell how far its body is.
	Progress = "progress/"
)

// background is for what is written whatever happens to who asked for it.
var background = context.Background()

// trouble publishes that the document fails, or, with nil, that it does not.
func (k *Kernel) trouble(err error) {
	text := ""
	if err != nil {
		text = Fault(err)
	}
	k.Document.SetPresence("", DocumentError, text)
}

// Fault is what people are told of a document that fails.
func Fault(err error) string {
	if errors.Is(err, plexus.ErrReplaced) {
		return err.Error() + `. Nothing is allowed. Find out who did that; then "assent down", put back the file that is right, and "assent up"`
	}
	if errors.Is(err, plexus.ErrMemory) {
		return err.Error() + `. Nothing is allowed, and nothing is known to be wrong with the document. Make room in memory; then "assent down" and "assent up"`
	}
	if errors.Is(err, plexus.ErrTampered) {
		return err.Error() + `. Nothing is allowed. Find out who wrote to the file; then "assent down", move it away, and "assent up" begins a new one`
	}
	return err.Error()
}

// NoOperatorPolicy is the policyError of a machine where nobody wrote a policy
// (law §7). Nothing is wrong there: it is shown as a fact and not as an error.
const NoOperatorPolicy = "there is no operator policy; the shipped floor answers"

// policyError is what the layers have to say for themselves.
func (l *Layers) policyError() string {
	if len(l.Errors) == 0 && l.Missing {
		return NoOperatorPolicy
	}
	return strings.Join(l.Errors, "\n")
}

// policyError publishes what is wrong with the policies of the session.
func (o *owner) policyError(l Layers) { o.k.Document.SetPresence(o.id, PolicyError, l.policyError()) }

// policyChanged publishes what is wrong with the policies of the machine.
func (k *Kernel) policyChanged() {
	l := k.Policies.Layers("")
	k.Document.SetPresence("", PolicyError, l.policyError())
}

// unpublish takes back what is told of the session.
func (o *owner) unpublish() {
	o.k.Document.SetPresence(o.id, PolicyError, "")
	o.k.Document.SetPresence(o.id, DocumentError, "")
}

// configured is the register that holds what settings the document took last,
// so that only what changed in them is written: what a person wrote into the
// document since then stays, also over a restart with the same settings.
var configured = plexus.HostRegister("settings")

// standing are the settings that the document has too: those the license
// reads, and the mode of new sessions (law §6).
type standing struct {
	DefaultPolicy     approval.Mode  `json:"defaultPolicy"`
	StandingAutoAllow approval.Terms `json:"standingAutoAllow"`
	AutoCoverDeny     bool           `json:"autoCoverDeny"`
	JudgeConnection   string         `json:"judgeConnection,omitzero"`
	JudgeModel        string         `json:"judgeModel,omitzero"`
	Source            string         `json:"source,omitzero"` // [Settings.Source]
}

// Configure takes settings, at the start and whenever they change. What the
// license reads of them goes into the document; a mode of new sessions that the
// document has gives way to one that was set since, and all that it has to a
// text that was saved since, whatever that said before. Where that fails, what is in
// the document stays in force: call it again.
func (k *Kernel) Configure(ctx context.Context, set Settings) error {
	k.slots.resize(set.Slots)
	k.configuring.Lock()
	defer k.configuring.Unlock()
	k.mu.Lock()
	k.set = set
	k.mu.Unlock()
	err := k.settle(ctx)
	k.rechosen()
	return err
}

// settle writes what the license reads of the settings. configuring is held.
func (k *Kernel) settle(ctx context.Context) error {
	k.mu.Lock()
	set := k.set
	k.mu.Unlock()
	latest, err := k.Document.Latest(ctx, "")
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	now := standing{set.DefaultPolicy, set.StandingAutoAllow, set.AutoCoverDeny == approval.Cover, set.JudgeConnection, set.JudgeModel, set.Source}
	was := standing{AutoCoverDeny: true} // of a document that nobody has set anything in
	known := json.Unmarshal([]byte(latest[configured].Value), &was) == nil
	// All that the document has gives way to a text that was saved since.
	saved := !known || now.Source == RefusedSource || now.Source != "" && was.Source != now.Source
	if !saved && was == now {
		return nil
	}
	writes := []plexus.Row{plexus.Register{Name: configured, Value: plexus.Value(now)}}
	change := func(name, value, unset string) {
		if there := cmp.Or(latest[name].Value, unset); there != value {
			writes = append(writes, plexus.Register{Name: name, Value: value})
		}
	}
	if saved || was.StandingAutoAllow != now.StandingAutoAllow {
		change(plexus.StandingAutoAllow, plexus.Value(now.StandingAutoAllow), plexus.Value(approval.Terms{}))
	}
	if there := cmp.Or(latest[plexus.DefaultPolicy].Value, `""`); (saved || was.DefaultPolicy != now.DefaultPolicy) &&
		there != `""` && there != plexus.Text(now.DefaultPolicy.String()) {
		writes = append(writes, plexus.Register{Name: plexus.DefaultPolicy, Value: `""`})
	}
	if saved || was.AutoCoverDeny != now.AutoCoverDeny {
		change(plexus.AutoCoverDeny, plexus.Bool(now.AutoCoverDeny), plexus.True)
	}
	if saved || was.JudgeConnection != now.JudgeConnection || was.JudgeModel != now.JudgeModel {
		change(plexus.JudgeConnection, plexus.Text(now.JudgeConnection), `""`)
		change(plexus.JudgeModel, plexus.Text(now.JudgeModel), `""`)
	}
	_, err = k.Document.Apply(ctx, plexus.Tx{Writer: plexus.Writer{Role: plexus.Host, Name: "config"}, Writes: writes})
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}

// DefaultPolicy is the mode a new session starts in (law §6, ruling 10): the
// document's, or where that is empty the one of the settings.
func (k *Kernel) DefaultPolicy(ctx context.Context) (approval.Mode, error) {
	latest, err := k.Document.Latest(ctx, "")
	if err != nil {
		return approval.Manual, err
	}
	var mode approval.Mode
	if r, ok := latest[plexus.DefaultPolicy]; ok && r.Value != `""` {
		err := json.Unmarshal([]byte(r.Value), &mode)
		return mode, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.set.DefaultPolicy, nil
}

// Assign sets the mode of a session: its standing policy and, where there is a
// live turn, that turn's overlay; every waiting leaf is answered anew (law
// §6). The sessions below follow (see [Followed]). With remember it becomes the
// default of new sessions too. An unattended session keeps the mode it was admitted
// with.
func (k *Kernel) Assign(ctx context.Context, id, mode string, remember bool, by plexus.Writer) (Followed, error) {
	followed, err := k.assign(ctx, id, mode, remember, by)
	if err != nil {
		return Followed{}, fmt.Errorf("set mode: %w", err)
	}
	return followed, nil
}

func (k *Kernel) assign(ctx context.Context, id, mode string, remember bool, by plexus.Writer) (Followed, error) {
	if !k.enter() {
		return Followed{}, ErrClosed
	}
	defer k.leave()
	parsed, err := approval.ParseMode(mode)
	if err != nil {
		return Followed{}, err
	}
	k.talking.Lock() // what is made below meanwhile has the one mode or the other
	defer k.talking.Unlock()
	registers, err := look(ctx, k, id, func(o *owner) []session.Register { return o.m.Assign(parsed) })
	if err != nil {
		return Followed{}, err
	}
	var writes []plexus.Row
	for _, r := range registers {
		writes = append(writes, plexus.Register{Session: id, Name: r.Name, Value: r.Value})
	}
	if len(writes) == 0 {
		return Followed{}, plexus.ErrAdmitted
	}
	if remember {
		writes = append(writes, plexus.Register{Name: plexus.DefaultPolicy, Value: plexus.Text(parsed.String())})
	}
	// The document says whether they may.
	if _, err = k.Document.Apply(ctx, plexus.Tx{Writer: by, Writes: writes}); err != nil {
		return Followed{}, err
	}
	followed, err := k.follow(ctx, id, parsed, by)
	if err != nil {
		return Followed{}, fmt.Errorf("the session is in mode %s, but not all that follow it are: %w", parsed, err)
	}
	return followed, nil
}
