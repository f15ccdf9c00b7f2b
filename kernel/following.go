package kernel

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"assent/approval"
	"assent/plexus"
	"assent/session"
)

// A session begins in the mode that the one above it has at that moment, and follows
// it from then on, until a person gives it a mode of its own: whoever takes a mode
// back means what works below, too. The modes of those that follow are written, and
// not only read from the session above: so what is decided on an old mode is refused
// by the document, as in one session.

// ownMode says of a session that a person gave it a mode when it was made. One that
// was given a mode later says so itself: a person wrote that.
var ownMode = plexus.HostRegister("ownMode")

// overlays is how the registers of the modes of turns begin.
var overlays = plexus.Overlay("")

// Followed is what became of the sessions below one whose mode was set.
type Followed struct {
	Sessions int // that are in this mode, too
	// Own are those that keep theirs: a person gave it to them, or they are another
	// agent's. What is below these follows them.
	Own []string
}

// followMost is how many of them are written at once.
const followMost = 500

// follow sets the mode of all below a session that follow it, for a person who has set
// the mode of that. It needs talking.
func (k *Kernel) follow(ctx context.Context, id string, mode approval.Mode, by plexus.Writer) (Followed, error) {
	for tries := 10; ; tries-- {
		head, err := k.Document.Head(ctx)
		if err != nil {
			return Followed{}, err
		}
		writes, followed, err := k.followers(ctx, id, mode)
		if err != nil {
			return Followed{}, err
		}
		for some := range slices.Chunk(writes, followMost) {
			if _, err = k.Document.Apply(ctx, plexus.Tx{Writer: k.host.For(by), Seen: head.Rev, Writes: some}); err != nil {
				break
			}
		}
		if tries > 0 && errors.Is(err, plexus.ErrStale) {
			continue // a person may have given one a mode meanwhile
		}
		return followed, err
	}
}

// followers are the writes that bring all that follow a session to a mode.
func (k *Kernel) followers(ctx context.Context, id string, mode approval.Mode) (writes []plexus.Row, f Followed, err error) {
	above, err := k.Document.Latest(ctx, id)
	if err != nil {
		return nil, f, err
	}
	agent := above[plexus.SessionAgent].Value
	for next := []map[string]plexus.Register{above}; len(next) > 0; next = next[1:] {
		for _, name := range slices.Sorted(maps.Keys(next[0])) {
			child, ok := strings.CutPrefix(name, startedChild)
			if !ok {
				continue
			}
			theirs, err := k.Document.Latest(ctx, child)
			if err != nil {
				return nil, f, err
			}
			if hasOwnMode(theirs) || theirs[plexus.SessionAgent].Value != agent {
				f.Own = append(f.Own, child)
				continue
			}
			f.Sessions++
			next = append(next, theirs)
			registers := []session.Register{{Name: plexus.StandingPolicy, Value: plexus.Text(mode.String())}}
			if count(theirs, overlays) > 0 {
				registers, err = look(ctx, k, child, func(o *owner) []session.Register { return o.m.Assign(mode) })
				if err != nil {
					return nil, f, err
				}
			}
			for _, r := range registers {
				if theirs[r.Name].Value != r.Value {
					writes = append(writes, plexus.Register{Session: child, Name: r.Name, Value: r.Value})
				}
			}
		}
	}
	return writes, f, nil
}

// hasOwnMode says whether a person gave a session its mode.
func hasOwnMode(registers map[string]plexus.Register) bool {
	if _, ok := registers[ownMode]; ok {
		return true
	}
	for name, r := range registers {
		if (name == plexus.StandingPolicy || strings.HasPrefix(name, overlays)) && r.Writer.Role != plexus.Host {
			return true
		}
	}
	return false
}
