package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/go-json-experiment/json"

	"assent/internal/peer"
	"assent/internal/place"
	"assent/plexus"
)

// StartError is the key of presence under which the kernel's session says what
// is strange about its start: somebody may have arranged it.
const StartError = "startError"

// remember looks back before anybody is let in: which agents an earlier kernel
// knew, whether this one was started by an agent, and whether its settings are
// read from where they were.
func remember(ctx context.Context, gate *peer.Gate, document *plexus.Store, at place.Place, log *slog.Logger) (*agents, error) {
	a := &agents{document: document, gate: gate, boot: peer.Boot()}
	err := a.remember(ctx, at, log)
	if errors.Is(err, plexus.ErrTampered) { // it allows nothing, and people are told by it
		log.Error("who asked before is not known", "error", err)
		err = nil
	}
	return a, err
}

func (a *agents) remember(ctx context.Context, at place.Place, log *slog.Logger) error {
	if err := a.recall(ctx); err != nil {
		return err
	}
	var strange []string
	switch agent, err := a.gate.Starter(); {
	case err != nil: // then it does not know itself either, and nobody is a person
		log.Warn("who started the kernel cannot be told", "error", err)
	case agent:
		strange = append(strange, "an agent started this kernel")
	}
	if err := a.keep(ctx); err != nil {
		return err
	}
	moved, err := settled(ctx, a.document, filesOf(at))
	if err != nil {
		return err
	}
	strange = append(strange, moved...)
	for _, what := range strange {
		log.Warn(what)
	}
	a.document.SetPresence("", StartError, strings.Join(strange, "\n"))
	return nil
}

// files are what the environment of whoever starts a kernel decides over.
type files struct {
	Config string `json:"config"`
	Policy string `json:"policy"`
}

func filesOf(p place.Place) files { return files{p.ConfigFile(), p.PolicyFile()} }

// settingsFrom is the register that says where an earlier kernel read its
// settings and the policy.
var settingsFrom = plexus.HostRegister("files")

// settled says what is read from somewhere else than before, and writes down
// where that is now.
func settled(ctx context.Context, document *plexus.Store, now files) (moved []string, err error) {
	latest, err := document.Latest(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("where the settings were: %w", err)
	}
	var was files
	r, known := latest[settingsFrom]
	if known {
		if err := json.Unmarshal([]byte(r.Value), &was); err != nil {
			return nil, fmt.Errorf("where the settings were: %w", err)
		}
		if was == now {
			return nil, nil
		}
	}
	for _, f := range []struct{ what, was, now string }{{"the settings", was.Config, now.Config}, {"the policy", was.Policy, now.Policy}} {
		if known && f.was != f.now {
			moved = append(moved, fmt.Sprintf("%s came from %s when the kernel ran before, and now from %s", f.what, f.was, f.now))
		}
	}
	_, err = document.Apply(ctx, plexus.Tx{Writer: host, Writes: []plexus.Row{plexus.Register{Name: settingsFrom, Value: plexus.Value(now)}}})
	if err != nil {
		return nil, fmt.Errorf("where the settings are: %w", err)
	}
	return moved, nil
}
